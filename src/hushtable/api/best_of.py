"""The best of several private releases, chosen by a private score: trying many and keeping the best is not free.

A run picks one of the recipes at random, makes a release with it, and measures a score of its own with noise. How many runs are
made is random, and only the best is seen. That costs about twice one run, however many are made (Papernot and Steinke 2022,
theorem 2, with a logarithmic number of runs), or three times without a delta (Liu and Talwar 2019, geometric).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Unpack

import numpy as np

from hushtable.display import Progress, silent
from hushtable.encode.bins import Bins
from hushtable.errors import Fault, GuaranteeRefused, InputError, PlanError
from hushtable.pipeline import recipe as known_recipes
from hushtable.pipeline.options import ReleaseFields, ReleaseOptions
from hushtable.pipeline.plan import plan
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.release import Release
from hushtable.pipeline.run import release
from hushtable.pipeline.spending import Spending
from hushtable.privacy import accountant
from hushtable.privacy.allowance import Allowance, Noise
from hushtable.privacy.event import Approximate, BestOfRuns, Event
from hushtable.privacy.ledger import Entry, Ledger
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.privacy.vault import Vault, require_declared
from hushtable.table.arguments import require_tables
from hushtable.table.arrays import Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table

PAIRS = 60
"""The most pairs of columns that a score compares."""
BINS = 8
"""Into how many equal bins a score cuts a number."""
SCORED = 0.1
"""The score's part of what a run costs."""


@dataclass(frozen=True, eq=False)
class Misfit:
    """By how many rows the counts of pairs of columns differ from the expected ones, all pairs added up."""

    pairs: tuple[tuple[str, str], ...]
    expected: tuple[Integers, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """All that some pair has."""
        return tuple(dict.fromkeys(name for pair in self.pairs for name in pair))

    def answer(self, table: Table) -> Integers:
        """One number."""
        distances = (np.abs(table.counts(pair) - counts).sum() for pair, counts in zip(self.pairs, self.expected, strict=True))
        return np.array([sum(int(distance) for distance in distances)])

    def largest(self, schema: Schema, rows: int) -> int:
        """All rows where none was expected, in every pair."""
        return len(self.pairs) * rows + sum(int(np.abs(counts).sum()) for counts in self.expected)

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """A record lies in one cell of each pair, and a distance changes by no more than the counts do."""
        most = float(len(self.pairs) * (1 if relation is Relation.ADD_REMOVE else 2))
        return most, most, 0


@dataclass(frozen=True)
class Price:
    """What the whole costs, and what one run may spend."""

    whole: Event
    run: Budget
    """Of the release of a run."""
    score: Allowance
    eta: float
    gamma: float

    @classmethod
    def of(cls, budget: Budget, unit: Unit, mean: float) -> Price:
        """The largest runs that fit the budget, for this mean number of them."""
        if budget.delta == 0:
            each = budget.epsilon / accountant.GEOMETRIC * (1 - 1e-9)
            score = Allowance(unit=unit, epsilon=each * SCORED)
            return cls(Approximate(accountant.GEOMETRIC * each, 0.0), Budget(each * (1 - SCORED), 0.0), score, 1.0, 1 / mean)
        gamma = gamma_of(mean)
        low, high = 0.0, accountant.zcdp_rho(budget.epsilon, budget.delta)
        for _ in range(60):
            middle = (low + high) / 2
            fits = accountant.epsilon_of(BestOfRuns(middle, 0.0, gamma).cost(), budget.delta) <= budget.epsilon
            low, high = (middle, high) if fits else (low, middle)
        if not low:
            raise GuaranteeRefused(
                f"the best of about {mean:g} runs costs more than epsilon {budget.epsilon:g} at delta {budget.delta:g} before the "
                "first is made; ask for fewer runs or a larger epsilon"
            )
        rho = low * (1 - SCORED) * (1 - 1e-9)
        run = Budget(accountant.zcdp_epsilon(rho, budget.delta), budget.delta)
        return cls(BestOfRuns(low, 0.0, gamma), run, Allowance(unit=unit, rho=low * SCORED * (1 - 1e-9)), 0.0, gamma)

    def covers(self, ledger: Ledger) -> bool:
        """Whether a run spent no more than it was charged with."""
        if ledger.culprits:
            return False
        if isinstance(self.whole, BestOfRuns):
            return ledger.rho() <= self.whole.rho * (1 - SCORED) * (1 + 1e-12)
        return ledger.epsilon(0.0) <= self.run.epsilon * (1 + 1e-12)


def best_of(
    table: Table,
    recipes: Iterable[Recipe | str | Path] | Recipe | str | Path,
    options: ReleaseOptions | None = None,
    *,
    runs: float = 5.0,
    pairs: Sequence[tuple[str, str]] = (),
    progress: Progress = silent,
    **keywords: Unpack[ReleaseFields],
) -> Release:
    """The best of about ``runs`` private releases, each by one of the recipes picked at random; ``epsilon`` pays for all of it.

    Trying many and keeping the best is not free (Papernot and Steinke 2022): each run may spend about half of the budget.
    ``pairs`` are the columns whose joint counts a release is judged by; when empty, all pairs, or the first of them. How many
    runs were made stays secret, because the price rests on it. A recipe whose price does not add up over runs (one that reads
    rows unprotected, has a delta of its own, or a sample where that costs a delta) is refused.
    """
    require_tables(table=table)
    candidates = _loaded([recipes] if isinstance(recipes, (str, Path, Recipe)) else recipes)
    options = ReleaseOptions.of(options, keywords)
    if options.unproven or options.learn_domain:
        raise InputError("takes no --set, --unproven or --learn-domain; give recipe files with their knobs", where="--best-of")
    budget = options.budget(table.schema)
    if budget is None:
        raise InputError("needs --epsilon: the budget of the release and of the choice together", where="--best-of")
    unit, seed, entropy = options.unit, options.seed, options.entropy
    price = payable(table.schema, candidates, epsilon=budget.epsilon, delta=budget.delta, unit=unit, runs=runs)
    released = table.schema.select(table.schema.released)
    judged = _judged(released, pairs)
    coder = Bins(bins=BINS).fit(Vault.of(table.select(released.names)), np.random.default_rng(0))
    # One seed for all runs: from a seed of its own one could see which of them won, and the price rests on hiding that.
    each = replace(options, epsilon=price.run.epsilon, delta=price.run.delta, unproven=not entropy.secure)
    best: tuple[tuple[float, int], Release] | None = None
    # Neither the number of runs nor which one is at work is shown: the price rests on hiding both.
    progress(f"the best of about {runs:g} runs", 0.0)
    with Spending(Ledger([Entry("best-of", price.whole, "the best of several runs")]), budget):
        for _ in range(number_of_runs(price.eta, price.gamma, entropy)):
            recipe = candidates[int(entropy.below(len(candidates), 1)[0])]
            candidate = release(table, recipe, each, factor=1.0)
            if not price.covers(Ledger(candidate.guarantee.ledger)):
                raise GuaranteeRefused(f"a run of {recipe.recipe} spent more than it was charged with; nothing is released")
            vault = Vault.of(table, unit=unit, entropy=entropy, seed=seed).select(released.names).named("best-of").through(coder)
            # Counts of a table of another size would differ by the size alone, whatever the recipe.
            scored = candidate.table if options.rows is None or candidate.fitted is None else candidate.fitted.draw(None, seed)
            synthetic = coder.apply(_plain(scored, released))
            query = Misfit(judged, tuple(synthetic.counts(pair) for pair in judged))
            noise = Noise.GAUSSIAN if price.score.rho is not None else Noise.LAPLACE
            misfit = float(vault.measure(query, price.score.scale(query, vault.schema), noise)[0]) / len(judged)
            # A fresh coin where two scores are equal: the order of the runs must not matter.
            placed = (misfit, int(entropy.below(1 << 62, 1)[0]))
            if best is None or placed < best[0]:
                best = (placed, candidate)
    assert best is not None
    return _priced(best[1], best[0][0], price, budget, candidates, runs)


def _loaded(recipes: Iterable[Recipe | str | Path]) -> list[Recipe]:
    """The recipes; InputError names all that are none."""
    faults, loaded = list[Fault](), list[Recipe]()
    for one in recipes:
        try:
            loaded.append(one if isinstance(one, Recipe) else known_recipes.load(one))
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    return loaded


def payable(
    schema: Schema, recipes: Sequence[Recipe], *, epsilon: float, delta: float, unit: Unit | None = None, runs: float = 5.0
) -> Price:
    """The price of about so many runs of these recipes; refuses, before a row is read, those that have none."""
    if not recipes or runs <= 1:
        raise InputError("the best of several takes at least one recipe and more than one run", where="best-of")
    # The score queries the rows as the schema describes them, whatever a recipe learns for itself.
    require_declared(schema, schema.names, "best-of")
    price, unit = Price.of(Budget(epsilon, delta), unit or Unit(), runs), unit or Unit()
    for recipe in recipes:
        if not price.covers(plan(recipe, schema, budget=price.run, unit=unit, factor=1.0).ledger):
            raise PlanError(
                f"best-of: {recipe.recipe} has no price that adds up over runs: it reads rows unprotected, samples, or has a delta "
                "of its own"
            )
    return price


def _priced(best: Release, misfit: float, price: Price, budget: Budget, recipes: Sequence[Recipe], runs: float) -> Release:
    """The best release with the price of the whole in place of its own."""
    names = ", ".join(recipe.recipe for recipe in recipes)
    why = f"the best of about {runs:g} runs of {names}, by a private score"
    caveat = "how many runs were made is part of the secret: how long it took says something about it"
    guarantee = replace(
        best.guarantee,
        ledger=(Entry("best-of", price.whole, why),),
        delta=budget.delta,
        caveats=(*best.guarantee.caveats, caveat),
        budget=budget,
        bound=None,
    )
    summary = {"recipes": [recipe.recipe for recipe in recipes], "mean_runs": runs, "misfit_rows": round(misfit)}
    return replace(best, guarantee=guarantee, result={**best.result, "best-of": summary})


def _judged(schema: Schema, pairs: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    unknown = [name for pair in pairs for name in pair if name not in schema]
    if unknown:
        raise PlanError(f"best-of: there is no column {', '.join(map(repr, unknown))}; the release has {', '.join(schema.names)}")
    judged = tuple(pairs) or tuple(combinations(schema.names, 2))[:PAIRS]
    if not judged:
        raise PlanError("best-of: one column has no pairs to be judged by")
    return judged


def _plain(released: Table, schema: Schema) -> Table:
    """The release under the schema of the original; PlanError where it has other columns or values."""
    if any(name not in released.schema or released.schema[name].domain != schema[name].domain for name in schema.names):
        raise PlanError("best-of: a recipe releases other columns or domains than the table has, so its counts cannot be compared")
    return Table(schema, {name: released[name] for name in schema.names})


def gamma_of(mean: float) -> float:
    """The parameter of a logarithmic number of runs with this mean."""
    low, high = 1e-9, 1 - 1e-9
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if accountant.mean_of_random(0.0, middle) > mean else (low, middle)
    return high


def number_of_runs(eta: float, gamma: float, entropy: Entropy) -> int:
    """A logarithmic (eta 0) or geometric (eta 1) number of runs, at least one.

    The geometric one is drawn by coins that are exact but for the rounding of gamma to 2^-40 upwards, which is what its mean is
    then; the logarithmic one by inversion in floats, whose error the event pays as a delta.
    """
    if eta == 1.0:
        stop, runs = math.ceil(gamma * 2**40), 1
        while int(entropy.below(1 << 40, 1)[0]) >= stop:
            runs += 1
        return runs
    place = int(entropy.words(1)[0]) / 2.0**64
    runs, below, weight = 1, 0.0, (1 - gamma) / math.log(1 / gamma)
    while below + weight / runs <= place and weight > 1e-18:
        below += weight / runs
        runs, weight = runs + 1, weight * (1 - gamma)
    return runs
