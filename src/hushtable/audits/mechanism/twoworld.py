"""The audit of a recipe in two worlds: run all of it many times with and without a canary, and guess which was which.

Jagielski, Ullman and Oprea, Auditing differentially private machine learning, 2020; Nasr and others, Tight auditing of
differentially private machine learning, 2023. The relation to what is stated: a lower bound above the stated value refutes it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hushtable.audits.mechanism import bounds, scores
from hushtable.audits.mechanism.guessing import judge
from hushtable.audits.mechanism.lines import (
    CLAIM,
    LEDGER,
    NOBODY,
    VOID,
    Bounds,
    CanaryLine,
    Json,
    Stated,
    Verdict,
)
from hushtable.audits.mechanism.watch import Transcript, watched
from hushtable.audits.mechanism.worlds import CANARIES, Worlds, group_size, worlds
from hushtable.display import Progress, announce, silent
from hushtable.errors import HushError, InputError
from hushtable.pipeline.plan import plan
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.release import Release
from hushtable.pipeline.run import release
from hushtable.privacy.event import DiscreteGaussian
from hushtable.privacy.guarantee import Guarantee, Void
from hushtable.privacy.ledger import Ledger
from hushtable.privacy.noise import SYSTEM, Entropy
from hushtable.privacy.unit import Budget, Relation, default_delta
from hushtable.privacy.vault import Vault
from hushtable.table.defaults import with_defaults
from hushtable.table.table import Table

LEVEL = 0.05
"""One minus the confidence of all bounds of a report together."""
FEWEST, MOST, SECONDS = 60, 2000, 60.0
"""Runs in each world where they are not given: as many as fit into so many seconds for a canary."""

Stored = Callable[[str, Callable[[], Json]], Json]
"""Gives the plain value of this name: the stored one, or what the function makes."""


@dataclass(frozen=True, kw_only=True)
class TwoWorldOptions:
    """What of a recipe is tested, and how."""

    epsilon: float | None = None
    """What the recipe may spend, or what is claimed; what is tested where the ledger proves nothing."""
    delta: float | None = None
    """Its delta; the default of the table's size class when absent."""
    relation: Relation | None = None
    """Which tables are neighbours; what the recipe is proven for when absent."""
    canaries: Sequence[str] = ()
    """Canaries by name; all when empty."""
    runs: int | None = None
    """Runs in each world; as many as fit into a minute for each canary when absent."""
    seed: int | None = None
    """Makes the runs, noise included, reproducible; secret samples then amplify nothing, and are accounted for like that."""

    def __post_init__(self) -> None:
        """Enough runs to pick a guesser and to judge it."""
        if self.runs is not None and self.runs < 2 * 2:
            raise InputError(
                f"a guesser is picked on one half of the runs and judged on the other: at least 4, got {self.runs}", where="runs"
            )


def audit(
    recipe: Recipe,
    options: TwoWorldOptions,
    *,
    stored: Stored = lambda name, make: make(),
    progress: Progress = silent,
) -> list[CanaryLine]:
    """A line for each canary: what is stated, the bounds, and whether they refute it.

    With ``stored`` lines that were made before are read, and new ones written.
    """
    relation = options.relation or recipe.relation
    names = dict.fromkeys(options.canaries or CANARIES)
    pairs = [worlds(name, relation, k=group_size(recipe)) for name in names]
    audited = [_Audited(recipe, pair, options, len(pairs), progress) for pair in pairs]
    announce(progress, {pair.name: 1.0 for pair in pairs})
    lines = []
    for one in audited:
        lines.append(CanaryLine.from_json(stored(f"canary-{one.pair.name}", one.plain_line)))
        progress(one.pair.name, 1.0)
    return lines


class _Audited:
    """One canary."""

    def __init__(self, recipe: Recipe, pair: Worlds, options: TwoWorldOptions, tests: int, progress: Progress) -> None:
        self.recipe, self.pair, self.tests, self.progress = recipe, pair, tests, progress
        self.epsilon, self.runs, self.seed = options.epsilon, options.runs, options.seed
        self.delta = default_delta(pair.within.schema.size) if options.delta is None else options.delta
        self.rivals = {True: self._held(pair.without), False: self._held(pair.within)}

    def plain_line(self) -> Json:
        """The line as it is stored."""
        return self.line().to_json()

    def line(self) -> CanaryLine:
        """Plan, time, run and judge."""
        try:
            # Refusals that do not depend on the rows are no observation.
            budget = None if self.epsilon is None else Budget(self.epsilon, self.delta)
            plan(self.recipe, self.pair.within.schema, budget=budget, unit=self.pair.unit, seeded=self.seed is not None)
        except HushError as error:
            return self._untested("refused before a row was read, as it must be" if self.pair.undeclared else "not tested", error)
        try:
            result, seconds = self._first()
        except HushError as error:
            return self._untested("not tested", error)
        claim = stated(result.guarantee, self.epsilon, dict(result.result))
        runs = self.runs or budgeted(seconds)
        start = time.perf_counter()
        inside = claim.source in (LEDGER, VOID)
        within, without = (self._observed(is_in, runs, inside=inside) for is_in in (True, False))
        also = next((name for name in ("mu", "rho") if claim.of(name) is not None), None)
        # Two limits for each of the guessers that are judged, on all canaries of this report.
        tail = LEVEL / 2 / (self.tests * (2 if also else 1))
        shown = judge(within, without, delta=self.delta, tail=tail, also=also)
        return CanaryLine(
            canary=self.pair.name, description=self.pair.description, rows=self.pair.within.rows,
            verdict=verdict(claim, shown), stated=claim, bounds=shown, runs=runs,
            seconds=round(time.perf_counter() - start, 3), seconds_per_run=round(seconds, 5),
            unreleased=sum(scores.REFUSED in run for run in (*within, *without)),
            claims=tuple(claim.statement for claim in result.guarantee.claims),
        )  # fmt: skip

    def _untested(self, word: str, error: HushError) -> CanaryLine:
        return CanaryLine(
            canary=self.pair.name, description=self.pair.description, rows=self.pair.within.rows, verdict=Verdict(word),
            why=str(error),
        )  # fmt: skip

    def _first(self) -> tuple[Release, float]:
        """The first run that ends in a release, and how long a run takes."""
        reason: HushError | None = None
        for number in range(40):
            try:
                self._run(number % 2 == 0, number)
                start = time.perf_counter()
                result, _ = self._run(number % 2 == 0, number)
                return result, time.perf_counter() - start
            except HushError as error:
                reason = error
        assert reason is not None
        raise reason

    def _observed(self, within: bool, runs: int, *, inside: bool) -> list[scores.Features]:
        observed = []
        for number in range(runs):
            try:
                observed.append(scores.features(*self._run(within, number), self.pair, inside=inside))
            except HushError as error:
                observed.append(scores.refused(error))
            # First all runs with the canary, then all without.
            share = (number + 1) / runs / 2 + (0.0 if within else 0.5)
            self.progress(f"{self.pair.name}: {number + 1:,} of {runs:,} runs {'with' if within else 'without'} the canary", share)
        return observed

    def _run(self, within: bool, number: int) -> tuple[Release, Transcript]:
        transcript = Transcript(rival=self.rivals[within], sign=1 if within else -1)
        seed = None if self.seed is None else (self.seed * 1_000_003 + number) * 2 + within
        result = release(
            self.pair.within if within else self.pair.without,
            watched(self.recipe, transcript),
            epsilon=self.epsilon,
            delta=None if self.epsilon is None else self.delta,
            unit=self.pair.unit,
            seed=seed,
            entropy=SYSTEM if seed is None else seeded(seed),
            unproven=True,
        )
        return result, transcript

    def _held(self, table: Table) -> Table:
        """A world as a vault would hold it: the columns that are released, the rows that may count."""
        if any(step.learns_domains for step in self.recipe.steps):
            table = with_defaults(table, self.pair.unit.by)
        names = table.schema.released
        return Vault.of(table, unit=self.pair.unit, seed=0)._table.select(names).whole("two worlds are compared")


def seeded(seed: int) -> Entropy:
    """Reproducible noise, without the detours that many small draws pay for."""
    words = np.random.PCG64(seed).random_raw
    return Entropy(lambda count: np.asarray(words(count), np.uint64), secure=False)


def stated(guarantee: Guarantee, asked: float | None, result: Mapping[str, Any]) -> Stated:
    """What is put to the test: the ledger's price where all was paid for, else the publication's claim or what was asked for.

    A seed takes the proof of a release away, but not from an audit, whose guessers do not use it.
    """
    ledger = Ledger(guarantee.ledger)
    unit: Json = {
        "relation": str(guarantee.unit.relation), "unit": str(guarantee.unit), "public": tuple(guarantee.assumed),
        "delta": guarantee.delta,
    }  # fmt: skip
    if ledger.paid and not ledger.culprits:
        fresh = replace(guarantee, voids=tuple(void for void in guarantee.voids if void is not Void.SEEDED_NOISE))
        void = bool(fresh.all_voids)
        rho = ledger.rho() if void else fresh.rho()
        return Stated(
            source=VOID if void else LEDGER,
            epsilon=ledger.epsilon(guarantee.delta, tight=True) if void else fresh.epsilon(),
            rho=rho if math.isfinite(rho) else None,
            mu=bounds.gaussian_mu(rho) if math.isfinite(rho) and _gaussian(ledger) else None,
            **unit,
        )
    claimed = [r["claimed_epsilon"] for r in result.values() if isinstance(r, dict) and "claimed_epsilon" in r]
    epsilon = asked if asked is not None else max(claimed, default=None)
    if epsilon is None:
        raise InputError("states no epsilon: say which one to test with --epsilon", where="audit-mechanism")
    own = bool(guarantee.claims) and (not claimed or max(claimed) == epsilon)
    return Stated(source=CLAIM if own else NOBODY, epsilon=float(epsilon), claimed=float(max(claimed)) if claimed else None, **unit)


def verdict(stated: Stated, shown: Bounds) -> Verdict:
    """Refuted where a lower bound lies above what is stated; never more than "not refuted" where it does not.

    Where not even guesses that are all right could have refuted it, so few runs say nothing at all.
    """
    least, epsilon = shown.epsilon.value, stated.epsilon
    if least > epsilon:
        word = "the claimed " if stated.source == CLAIM else ""
        asked = f" ({whose(stated)})" if stated.source in (NOBODY, VOID) else ""
        return Verdict(f"refuted: epsilon is at least {least:.3g}, not {word}{epsilon:.3g}{asked}", refuted=True)
    for name, kind in (("mu", "the Gaussian noise that the ledger writes down: mu"), ("rho", "zCDP: rho")):
        other, value = shown.of(name), stated.of(name)
        if other is not None and value is not None and other.value > value:
            return Verdict(f"refuted as {kind} is at least {other.value:.3g}, not {value:.3g}", refuted=True)
    reached = f"not refuted (at least {least:.3g}{',' if stated.proven else ';'} {whose(stated)})"
    if shown.epsilon.ceiling > epsilon:
        return Verdict(reached)
    for name in ("mu", "rho"):
        other, value = shown.of(name), stated.of(name)
        if other is not None and value is not None and other.ceiling > value:
            return Verdict(f"{reached}, though so few runs could have refuted it by {name} alone")
    return Verdict(_too_few(stated, shown), too_few=True)


def whose(stated: Stated) -> str:
    """What is said of the epsilon under test, by whom; "at most" only where it is proven."""
    epsilon = f"{stated.epsilon:.3g}"
    if stated.source == LEDGER:
        return f"at most the stated {epsilon}"
    if stated.source == VOID:
        return f"the ledger adds up to {epsilon}, but its proof is void"
    if stated.source == CLAIM:
        return f"claimed {epsilon}"
    rest = f"its publication claims {stated.claimed:.3g}" if stated.claimed else "the recipe states none"
    return f"asked about {epsilon}; {rest}"


def _too_few(stated: Stated, shown: Bounds) -> str:
    most = f"{whose(stated)}; these could show no more than {shown.epsilon.ceiling:.3g}"
    if shown.tail is None:
        return f"too few guesses to refute: the audit in two worlds can show more ({most})"
    judged = bounds.needed(stated.epsilon, stated.delta, shown.tail)
    many = "more than anybody can make" if judged is None else f"at least {2 * judged:,}"
    return f"too few runs to refute: {many} are needed ({most})"


def _gaussian(ledger: Ledger) -> bool:
    """Whether all that was paid for is Gaussian noise on the whole table, wide enough to be as good as continuous."""
    telling = [e for e in ledger.paid if getattr(e.event, "sensitivity", 1) > 0]
    return all(isinstance(e.event, DiscreteGaussian) and e.event.sigma >= 1 and e.rate == 1 for e in telling)


def budgeted(seconds: float) -> int:
    """As many runs in each world as fit into the time of a canary, between ``FEWEST`` and ``MOST``."""
    return int(min(MOST, max(FEWEST, SECONDS / (2 * max(seconds, 1e-6))))) // 20 * 20
