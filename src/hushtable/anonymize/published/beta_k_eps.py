"""(beta, k, epsilon0)-anonymization as it was published: sample, microaggregate, Laplace noise per group."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from hushtable.anonymize.anonymized import Anonymized
from hushtable.anonymize.microaggregate import diverse, mdav
from hushtable.anonymize.microaggregate.diverse import Demand
from hushtable.anonymize.microaggregate.space import Centre, Scale, Space, representatives
from hushtable.anonymize.people import records, require_people
from hushtable.pipeline.step import Core, Plan, check_knobs, chosen
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.guarantee import Claim
from hushtable.privacy.noise import Entropy, discrete_laplace, laplace_scale
from hushtable.privacy.preserve import Effect, Promise, Syntactic
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Array, Mask
from hushtable.table.columns import Column
from hushtable.table.schema import Schema
from hushtable.table.table import Table

_WHY = "the groups, and the width of the noise, are read off the rows unprotected"
GRID = 1 << 24
"""Noise is drawn in whole parts of a column's width divided by this."""

GAPS = (
    "one record can re-form every group, so the averages move by far more than the sensitivity of a record over k "
    "(records on the corners of a square: by more than 0.7 of its side, for every k)",
    "each group is protected with epsilon0 and the whole is said to be too, which is parallel composition over parts that "
    "the rows themselves decide",
    "sampling at beta makes ln(1 + beta (e^epsilon0 - 1)) of epsilon0, which is more than beta epsilon0 for every beta below 1",
    "the sensitivity of a record is computed from the sampled rows, whose extremes then show in the noise",
    "the theorem is for a sample of a fixed size, the algorithm keeps each row with probability beta, and then the number of "
    "rows is private too",
    "all iterations are charged as one",
    "beta, k and epsilon0 were picked from curves computed on the rows",
    "categories and ordinals are replaced by the mode and the median of their group, without noise",
)


@dataclass(frozen=True, kw_only=True)
class BetaKEps(Core):
    """(beta, k, epsilon0)-anonymization, algorithm 7 as printed. Its differential privacy is a claim whose proof fails.

    In each iteration every row is kept with probability beta, the kept rows are grouped by MDAV into groups of at least k,
    and a group's numbers become their mean plus Laplace noise of scale DeltaD/(epsilon0 k). DeltaD, the L1 sensitivity of a
    record, is read off the sample: columns are brought to unit range on it, so it is the number of columns that vary.
    One draw is shared by the members of a group, so k-anonymity holds over all released columns; k counts sampled rows, or
    persons where people hold several. The source does not say what becomes of earlier iterations: here their rows stand below
    one another.
    One row can change every group and the noise itself, so epsilon is infinite; ``blocks`` is the form that holds.
    """

    beta: float = 0.5
    """The probability with which a row is kept in an iteration."""
    k: int = 10
    """The least number of records in a group."""
    epsilon0: float = 1.0
    """The epsilon that the publication says each group is protected with."""
    steps: int = 1
    """How many times a sample is drawn and protected."""
    columns: tuple[str, ...] = ()
    """The columns to release, all when empty; the others are left out."""

    def __post_init__(self) -> None:
        """All in range."""
        check_knobs(
            self,
            beta=(0 < self.beta <= 1, "must lie in (0, 1]"),
            k=(self.k >= 2, "must be at least 2"),
            epsilon0=(1e-6 <= self.epsilon0 <= 1e6, "must lie between 1e-6 and 1e6"),
            steps=(self.steps >= 1, "must be at least 1"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that have no average; states the publication's claim, and the gaps in its proof."""
        columns = self._columns(schema)
        epsilon = self.beta * self.epsilon0
        claim = f"differential privacy with epsilon = beta epsilon0 = {epsilon:g} and k-anonymity with k = {self.k}"
        caveats = ["k counts the sample", "l and t are not promised: look at them"]
        if self.steps > 1:
            caveats.append(f"a person may have a row in each of the {self.steps} iterations, so {self.k} rows may be fewer people")
        return Plan(
            schema=schema.select(columns),
            events=(Raw(_WHY),),
            effect=Effect.EDIT_ROWS,
            promises=(Promise(kind=Syntactic.K_ANONYMITY, value=self.k, quasi=columns),),
            claims=(Claim(claim, GAPS),),
            caveats=tuple(caveats),
        )

    def fit(self, vault: Vault, rng: np.random.Generator) -> Anonymized:
        """Sample, group and add noise, ``steps`` times."""
        table = vault.open(Raw(_WHY), _WHY)
        table = table.select(self._columns(table.schema))
        parts = []
        for step in range(self.steps):
            sampled = table.take(np.flatnonzero(_coins(vault, table.rows, self.beta, rng)))
            require_people(sampled, self.k, f"beta-k-eps, a sample of {self.beta:g}")
            parts.append(self._protected(sampled, vault.entropy))
            vault.report((step + 1) / self.steps)
        result = {"beta": self.beta, "k": self.k, "epsilon0": self.epsilon0, "claimed_epsilon": self.beta * self.epsilon0}
        persons = None if table.persons is None else np.concatenate([part.persons for part in parts])
        return Anonymized(replace(Table.concat(parts), persons=persons), result)

    def _protected(self, table: Table, entropy: Entropy) -> Table:
        space = Space.of(table, table.schema.names, Scale.STANDARD)
        first, place = records(table, table.schema.names)
        own = space.take(first)
        formed = mdav.partition(own.numbers, own.codes, own.weights, self.k)
        groups = diverse.merge(space, table, formed[place], (), Demand(k=self.k))
        widths = {c.name: _width(c, table[c.name]) for c in table.schema if c.numeric}
        scale = sum(width > 0 for width in widths.values()) / (self.epsilon0 * self.k)
        columns = []
        for column in table.schema:
            centres = representatives(column, table[column.name], groups, Centre.MEAN)
            if widths.get(column.name):
                noise = discrete_laplace(laplace_scale(scale * GRID), int(groups.max()) + 1, entropy) / GRID
                centres = column.from_floats(column.floats(centres) + noise[groups] * widths[column.name])
            columns.append((column, centres))
        return table.with_columns(*columns)

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        what = "a column that can be averaged (no text, key or generalized one)"
        return chosen(schema, self.columns, schema.names, "beta-k-eps", what, lambda column: column.valued)


def _coins(vault: Vault, rows: int, beta: float, rng: np.random.Generator) -> Mask:
    limit = math.floor(beta * 2.0**64)
    return np.ones(rows, bool) if limit >= 2**64 else vault.coins(rows, rng) < np.uint64(limit)


def _width(column: Column, array: Array) -> float:
    """The range of the values as they are in the sample, which is what was printed."""
    values = column.floats(array)
    present = values[~np.isnan(values)]
    return float(present.max() - present.min()) if len(present) else 0.0
