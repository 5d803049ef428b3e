"""The audit of a recipe in two worlds: run all of it many times with and without a canary, and guess which was which.

Jagielski, Ullman and Oprea, Auditing differentially private machine learning, 2020; Nasr and others, Tight auditing of
differentially private machine learning, 2023. The relation to what is stated: a lower bound above the stated value refutes it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hushtable.audits.mechanism import bounds, scores
from hushtable.audits.mechanism.guessing import judge
from hushtable.audits.mechanism.watch import Heard, watched
from hushtable.audits.mechanism.worlds import CANARIES, Worlds, group_size, worlds
from hushtable.display import Progress, silent
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

LEDGER, VOID, CLAIM, NOBODY = "the ledger", "the ledger, whose proof is void", "a publication's claim", "nobody"
"""Who states an epsilon. Only the first is a proof, and only of it may be said that epsilon is "at most" so much."""

Keep = Callable[[str, Callable[[], dict[str, Any]]], dict[str, Any]]


def audit(
    recipe: Recipe,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    relation: Relation | None = None,
    canaries: Sequence[str] = (),
    runs: int | None = None,
    seed: int | None = None,
    kept: Keep = lambda name, make: make(),
    progress: Progress = silent,
) -> list[dict[str, Any]]:
    """A line for each canary, as plain values: what is stated, the bounds, and whether they refute it.

    ``seed`` makes the runs, noise included, reproducible; secret samples then amplify nothing, and are accounted for like that.
    """
    names = tuple(canaries) or tuple(CANARIES)
    if runs is not None and runs < 2 * 2:
        raise InputError(
            f"a guesser is picked on one half of the runs and judged on the other: at least 4, got {runs}", where="runs"
        )
    relation = relation or recipe.relation
    pairs = [worlds(name, relation, k=group_size(recipe)) for name in dict.fromkeys(names)]
    lines = []
    for pair in pairs:
        one = _Audited(recipe, pair, epsilon, delta, runs, seed, len(pairs), progress)
        lines.append(kept(f"canary-{pair.name}", one.line))
    return lines


class _Audited:
    """One canary."""

    def __init__(
        self, recipe: Recipe, pair: Worlds, epsilon: float | None, delta: float | None, runs: int | None, seed: int | None,
        tests: int, progress: Progress,
    ) -> None:  # fmt: skip
        self.recipe, self.pair, self.epsilon, self.runs, self.seed, self.tests = recipe, pair, epsilon, runs, seed, tests
        self.delta = default_delta(pair.within.schema.size) if delta is None else delta
        self.progress = progress
        self.rivals = {True: self._held(pair.without), False: self._held(pair.within)}

    def line(self) -> dict[str, Any]:
        """Plan, time, run and judge."""
        told: dict[str, Any] = {"canary": self.pair.name, "told": self.pair.told, "rows": self.pair.within.rows}
        try:
            self._plan()
        except HushError as error:
            word = "refused before a row was read, as it must be" if self.pair.undeclared else "not tested"
            return told | {"verdict": word, "refuted": False, "why": str(error)}
        try:
            made, seconds = self._first()
        except HushError as error:
            return told | {"verdict": "not tested", "refuted": False, "why": str(error)}
        here = stated(made.guarantee, self.epsilon, dict(made.result))
        runs = self.runs or budgeted(seconds)
        start = time.perf_counter()
        inside = here["source"] in (LEDGER, VOID)
        within, without = (self._observed(is_in, runs, inside=inside) for is_in in (True, False))
        also = next((name for name in ("mu", "rho") if here[name] is not None), None)
        # Two limits for each of the guessers that are judged, on all canaries of this report.
        tail = LEVEL / 2 / (self.tests * (2 if also else 1))
        found = judge(within, without, delta=self.delta, tail=tail, also=also)
        found |= {"runs": runs, "seconds": round(time.perf_counter() - start, 3), "seconds_per_run": round(seconds, 5)}
        nothing = sum(scores.REFUSED in run for run in (*within, *without))
        claims = [claim.statement for claim in made.guarantee.claims]
        return told | here | found | {"unreleased": nothing, "claims": claims} | verdict(here, found)

    def _plan(self) -> None:
        """Refusals that do not depend on the rows are no observation."""
        budget = None if self.epsilon is None else Budget(self.epsilon, self.delta)
        plan(self.recipe, self.pair.within.schema, budget=budget, unit=self.pair.unit, seeded=self.seed is not None)

    def _first(self) -> tuple[Release, float]:
        """The first run that ends in a release, and how long a run takes."""
        reason: HushError | None = None
        for number in range(40):
            try:
                self._run(number % 2 == 0, number)
                start = time.perf_counter()
                made, _ = self._run(number % 2 == 0, number)
                return made, time.perf_counter() - start
            except HushError as error:
                reason = error
        assert reason is not None
        raise reason

    def _observed(self, within: bool, runs: int, *, inside: bool) -> list[scores.Features]:
        found = []
        for number in range(runs):
            try:
                found.append(scores.features(*self._run(within, number), self.pair, inside=inside))
            except HushError as error:
                found.append(scores.refused(error))
            self.progress(f"{self.pair.name}, {'with' if within else 'without'} the canary", (number + 1) / runs)
        return found

    def _run(self, within: bool, number: int) -> tuple[Release, Heard]:
        heard = Heard(rival=self.rivals[within], sign=1 if within else -1)
        seed = None if self.seed is None else (self.seed * 1_000_003 + number) * 2 + within
        made = release(
            self.pair.within if within else self.pair.without,
            watched(self.recipe, heard),
            epsilon=self.epsilon,
            delta=None if self.epsilon is None else self.delta,
            unit=self.pair.unit,
            seed=seed,
            entropy=SYSTEM if seed is None else seeded(seed),
            unproven=True,
        )
        return made, heard

    def _held(self, table: Table) -> Table:
        """A world as a vault would hold it: the columns that are released, the rows that may count."""
        if any(step.learns_domains for step in self.recipe.steps):
            table = with_defaults(table, self.pair.unit.by)
        names = table.schema.released
        return Vault.of(table, unit=self.pair.unit, seed=0)._table.select(names)


def seeded(seed: int) -> Entropy:
    """Reproducible noise, without the detours that many small draws pay for."""
    words = np.random.PCG64(seed).random_raw
    return Entropy(lambda count: np.asarray(words(count), np.uint64), secure=False)


def stated(guarantee: Guarantee, asked: float | None, result: dict[str, Any]) -> dict[str, Any]:
    """What is put to the test: the ledger's price where all was paid for, else the publication's claim or what was asked for.

    A seed takes the proof of a release away, but not from an audit, whose guessers do not use it.
    """
    ledger = Ledger(guarantee.ledger)
    told: dict[str, Any] = {
        "relation": str(guarantee.unit.relation),
        "unit": str(guarantee.unit),
        "public": list(guarantee.assumed),
    }
    if ledger.paid and not ledger.culprits:
        fresh = replace(guarantee, voids=tuple(void for void in guarantee.voids if void is not Void.SEEDED_NOISE))
        void = bool(fresh.all_voids)
        epsilon = ledger.epsilon(guarantee.delta, tight=True) if void else fresh.epsilon()
        rho = ledger.rho() if void else fresh.rho()
        return told | {
            "source": VOID if void else LEDGER,
            "epsilon_stated": epsilon,
            "delta": guarantee.delta,
            "rho": rho if math.isfinite(rho) else None,
            "mu": bounds.gaussian_mu(rho) if math.isfinite(rho) and _gaussian(ledger) else None,
        }
    claimed = [r["claimed_epsilon"] for r in result.values() if isinstance(r, dict) and "claimed_epsilon" in r]
    epsilon = asked if asked is not None else max(claimed, default=None)
    if epsilon is None:
        raise InputError("states no epsilon: say which one to test with --epsilon", where="audit-mechanism")
    own = bool(guarantee.claims) and (not claimed or max(claimed) == epsilon)
    told |= {"source": CLAIM if own else NOBODY, "epsilon_stated": float(epsilon), "delta": guarantee.delta}
    return told | {"claimed": float(max(claimed)) if claimed else None, "rho": None, "mu": None}


def verdict(stated: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """Refuted where a lower bound lies above what is stated; never more than "not refuted" where it does not.

    Where not even guesses that are all right could have refuted it, so few runs say nothing at all.
    """
    epsilon = stated["epsilon_stated"]
    if found["epsilon_lb"] > epsilon:
        word = "the claimed " if stated["source"] == CLAIM else ""
        asked = f" ({whose(stated)})" if stated["source"] in (NOBODY, VOID) else ""
        told = f"refuted: epsilon is at least {found['epsilon_lb']:.3g}, not {word}{epsilon:.3g}{asked}"
        return {"refuted": True, "verdict": told}
    for name, kind in (("mu", "the Gaussian noise that the ledger writes down: mu"), ("rho", "zCDP: rho")):
        if stated[name] is not None and found.get(f"{name}_lb", 0.0) > stated[name]:
            told = f"refuted as {kind} is at least {found[f'{name}_lb']:.3g}, not {stated[name]:.3g}"
            return {"refuted": True, "verdict": told}
    reached = f"not refuted (at least {found['epsilon_lb']:.3g}{',' if stated['source'] == LEDGER else ';'} {whose(stated)})"
    if found["ceiling"] > epsilon:
        return {"refuted": False, "verdict": reached}
    able = [name for name in ("mu", "rho") if stated[name] is not None and found.get(f"{name}_ceiling", 0.0) > stated[name]]
    if able:
        return {"refuted": False, "verdict": f"{reached}, though so few runs could have refuted it by {able[0]} alone"}
    return {"refuted": False, "too_few": True, "verdict": _too_few(stated, found)}


def whose(stated: Mapping[str, Any]) -> str:
    """What is said of the epsilon under test, by whom; "at most" only where it is proven."""
    epsilon = f"{stated['epsilon_stated']:.3g}"
    if stated["source"] == LEDGER:
        return f"at most the stated {epsilon}"
    if stated["source"] == VOID:
        return f"the ledger adds up to {epsilon}, but its proof is void"
    if stated["source"] == CLAIM:
        return f"claimed {epsilon}"
    claimed = stated.get("claimed")
    return f"asked about {epsilon}; " + (f"its publication claims {claimed:.3g}" if claimed else "the recipe states none")


def _too_few(stated: dict[str, Any], found: dict[str, Any]) -> str:
    most = f"{whose(stated)}; these could show no more than {found['ceiling']:.3g}"
    if "guesses" in found:
        return f"too few guesses to refute: the audit in two worlds can show more ({most})"
    judged = bounds.needed(stated["epsilon_stated"], stated["delta"], found["tail"])
    many = "more than anybody can make" if judged is None else f"at least {2 * judged:,}"
    return f"too few runs to refute: {many} are needed ({most})"


def _gaussian(ledger: Ledger) -> bool:
    """Whether all that was paid for is Gaussian noise on the whole table, wide enough to be as good as continuous."""
    telling = [e for e in ledger.paid if getattr(e.event, "sensitivity", 1) > 0]
    return all(isinstance(e.event, DiscreteGaussian) and e.event.sigma >= 1 and e.rate == 1 for e in telling)


def budgeted(seconds: float) -> int:
    """As many runs in each world as fit into the time of a canary, between ``FEWEST`` and ``MOST``."""
    return int(min(MOST, max(FEWEST, SECONDS / (2 * max(seconds, 1e-6))))) // 20 * 20
