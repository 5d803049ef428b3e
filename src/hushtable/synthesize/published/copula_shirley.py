"""Copula-Shirley as published (Gambs et al. 2021): noisy distribution functions from one half of the rows, a vine from the other.

The proof fails where the vine is fitted: its trees, families and parameters are estimated from the records of one half without
noise. The certified twin is the step ``vine`` (recipe ``vine-certified``).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hushtable.errors import InputError, PlanError
from hushtable.pipeline.step import Core, Plan, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.guarantee import Claim
from hushtable.privacy.noise import discrete_laplace, laplace_scale
from hushtable.privacy.preserve import Effect
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula.vine import Steps, VineModel
from hushtable.synthesize.copula.vine_fit import FAMILIES, fit_vine
from hushtable.table.arrays import Floats
from hushtable.table.columns import FREE, Column
from hushtable.table.schema import Schema
from hushtable.table.table import Table

_WHY = "the vine is fitted to one half of the rows without noise, at the distinct values of the other half"
GRID = 1 << 16
"""Noise is drawn in whole parts of a row divided by this."""
SENSITIVITY = 2
"""Of a histogram, for one record replaced by another."""
SPLITS = 1000
"""How many splits are drawn before giving up."""

GAPS = (
    "the vine is not noised: its trees, families and parameters are fitted to the records of one half, and a noisy distribution "
    "function applied to a raw record does not make it private; that the halves are disjoint protects nobody in that half",
    "the bins of the histograms are the distinct values of the rows, and what is generated is taken from them: a value that "
    "one person has is printed only if that person is there",
    "each column is given the whole epsilon, so that d columns cost d epsilon",
    "the split is drawn again until every column shows two values in the half, which reads the rows without paying for it",
)


class Observed(StrEnum):
    """Where a value stands on the step that its distribution function makes there."""

    UPPER = "upper"
    SPREAD = "spread"


@dataclass(frozen=True, kw_only=True)
class CopulaShirley(Core):
    """Copula-Shirley, as printed and as its authors' code runs. Its differential privacy is a claim whose proof fails.

    The rows are split at random. In one half the distinct values of each column are counted, Laplace noise of scale 2/epsilon
    is added to each count, and negative counts become zero: noisy distribution functions. They turn the other half into
    pseudo-observations, to which a regular vine is fitted (maximum spanning trees by Kendall's tau, families by AIC). Rows are
    drawn from the vine and inverted onto the values seen. Levels of a category stand in their declared order, missing last.
    Gambs, Ladouceur, Laurent and Roy-Gaumond 2021. Epsilon is infinite; ``vine`` is the form that holds.
    """

    extra: ClassVar[str] = "vine"
    epsilon: float = 1.0
    """The epsilon that the publication says the whole is protected with."""
    ratio: float = 0.5
    """The share of the rows that the vine is fitted to; the others make the distribution functions."""
    families: tuple[str, ...] = ("gaussian", "frank", "clayton", "gumbel")
    """Pair copulas to choose from, with independence: gaussian, student, clayton, gumbel, frank, joe, bb1, bb6, bb7, bb8, tll."""
    trees: int = 0
    """How many trees the vine has, 0 all; beyond them columns are independent. The time grows with the pairs in the trees."""
    observed: Observed = Observed.UPPER
    """upper: a value's pseudo-observation is the upper end of its step, as published, which distorts the vine where many values are
    equal; spread: evenly on the step, which does not."""

    def __post_init__(self) -> None:
        """All in range."""
        check_knobs(
            self,
            epsilon=(1e-6 <= self.epsilon <= 1e6, "must lie between 1e-6 and 1e6"),
            ratio=(0 < self.ratio < 1, "must lie between 0 and 1"),
            families=(set(self.families) <= set(FAMILIES), f"must be some of {', '.join(FAMILIES)}"),
            trees=(self.trees >= 0, "must not be negative"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses texts and keys; states the publication's claim, and the gaps in its proof."""
        texts = [c.name for c in schema if c.kind in FREE]
        if texts:
            raise PlanError(f"copula-shirley: {', '.join(texts)} has no values to count; declare its levels, or leave it out")
        claim = f"differential privacy with epsilon = {self.epsilon:g} from end to end"
        return Plan(
            schema=schema,
            events=(Raw(_WHY),),
            # What it generates are values of single rows as they stand, so an earlier k-anonymity is gone.
            effect=Effect.CONDITIONAL,
            claims=(Claim(claim, GAPS),),
            caveats=("what is generated are values that single rows have, column by column",),
        )

    @property
    def scale(self) -> float:
        """Of the Laplace noise on each count of each column."""
        return SENSITIVITY / self.epsilon

    def fit(self, vault: Vault, rng: np.random.Generator) -> VineModel:
        """Split, count, add noise, and fit the vine."""
        table = vault.open(Raw(_WHY), _WHY)
        ranked = {c.name: _ranked(c, table) for c in table.schema}
        varying = [name for name, x in ranked.items() if table.rows and (x != x[0]).any()]
        for_vine, for_counts = self._split(table.rows, [ranked[name] for name in varying], rng)
        columns, observations = {}, {}
        for name, x in ranked.items():
            points, first, counts = np.unique(x[for_counts], return_index=True, return_counts=True)
            noise = discrete_laplace(laplace_scale(self.scale * GRID), len(counts), vault.entropy) / GRID
            columns[name] = Steps.of(table[name][for_counts][first], np.clip(counts + noise, 0.0, len(for_counts)))
            under = np.concatenate([[0.0], columns[name].ends])
            place = np.searchsorted(points, x[for_vine], side="right")
            observations[name] = under[place]
            if self.observed is Observed.SPREAD:
                low = under[np.maximum(place - 1, 0)]
                observations[name] = low + rng.random(len(place)) * (under[place] - low)
        vault.report(0.1)
        vine = ""
        if len(varying) > 1:
            vine = fit_vine(np.column_stack([observations[name] for name in varying]), self.families, self.trees)
        summary = {
            "claimed_epsilon": self.epsilon,
            "noise_scale": dict.fromkeys(columns, round(self.scale, 6)),
            "rows_of_the_vine": len(for_vine),
            "rows_of_the_counts": len(for_counts),
        }
        return VineModel(table.schema, columns, tuple(varying) if vine else (), vine, table.rows, summary)

    def _split(self, rows: int, columns: list[Floats], rng: np.random.Generator) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows for the vine and rows for the counts, drawn again until each column has two values among the latter."""
        cut = round(self.ratio * rows)
        if min(cut, rows - cut) < 2:
            raise InputError(f"both parts of the rows need at least two of them, and there are {rows}", where="copula-shirley")
        for _ in range(SPLITS):
            order = rng.permutation(rows)
            if all((x[order[cut:]] != x[order[cut]]).any() for x in columns):
                return order[:cut], order[cut:]
        raise InputError(
            f"in none of {SPLITS} splits has every column two values in the part that is counted; leave out what hardly varies",
            where="copula-shirley",
        )


def _ranked(column: Column, table: Table) -> Floats:
    """Numbers in the order of the values: numbers as they are, levels as declared, missing last."""
    array = table[column.name]
    return np.where(column.is_missing(array), np.inf, array.astype(np.float64))
