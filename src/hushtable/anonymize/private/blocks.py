"""Insensitive blocks: microaggregation in a public order, so that one record changes each block by one record only."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hushtable.anonymize.anonymized import Anonymized
from hushtable.errors import GuaranteeRefused, InputError
from hushtable.numerics.integers import GRID, Axes, axes_of, block_sizes, block_starts, in_order, writable
from hushtable.pipeline.step import Plan, PrivateCore, check_knobs, chosen
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event
from hushtable.privacy.preserve import Effect, Promise, Syntactic
from hushtable.privacy.query import Total
from hushtable.privacy.rows import public_rows, require_fixed_rows
from hushtable.privacy.unit import Relation
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table


@dataclass(frozen=True)
class BlockSums:
    """Sums of the records, in integers, over consecutive blocks of k in the public order; what is left over joins the last.

    *What one record can change.* Let one of n records be replaced. In the public total order, taking a record out moves
    those behind it one place forward and putting another in moves those behind that one place back, so between the two
    places everybody moves by one and elsewhere nobody moves. A block is a range of places, the same for both tables,
    because n is. So each block loses at most one record and wins at most one: its sum changes by the difference of two
    records, at most the diameter of the record space in L1 and in L2. With B = floor(n/k) blocks, Delta1 = B diam1 and
    Delta2 = sqrt(B) diam2. That the last block is larger plays no part: a sum does not depend on how many others are in it.
    Soria-Comas, Domingo-Ferrer, Sanchez and Martinez 2014.
    """

    columns: tuple[str, ...]
    k: int
    rows: int
    """The number of rows, which is public."""

    def answer(self, table: Table) -> Integers:
        """Block by block, the coordinates of all columns."""
        if table.rows != self.rows:
            raise InputError(f"blocks for {self.rows} rows were asked of another number of rows", where="blocks")
        axes = axes_of(table.schema, self.columns)
        order, starts = in_order(table, axes), block_starts(self.rows, self.k)
        sums = [np.add.reduceat(a.encode(table[a.column.name])[order], starts, axis=0) for a in axes]
        return np.concatenate(sums, axis=1).ravel()

    def largest(self, schema: Schema, rows: int) -> int:
        """All in one block, at the upper end."""
        return self.rows * GRID

    def sensitivity(self, schema: Schema, relation: Relation) -> tuple[float, float, int]:
        """As derived above; only for one record replaced by another."""
        if relation is not Relation.REPLACE_ONE:
            raise GuaranteeRefused("blocks: one record more or less moves every block; ask for --relation replace_one")
        blocks = len(block_starts(self.rows, self.k))
        diam1, square2 = diameter(axes_of(schema, self.columns))
        return blocks * diam1 * GRID, math.sqrt(blocks * square2) * GRID, 0


def diameter(axes: tuple[Axes, ...]) -> tuple[float, float]:
    """How far two records can be apart: L1, and L2 squared, in units of GRID."""
    return sum(a.change[0] for a in axes), sum(a.change[1] for a in axes)


@dataclass(frozen=True, kw_only=True)
class Blocks(PrivateCore):
    """Noisy means of blocks of at least k records: differential privacy, and k-anonymity over all columns.

    Records are written in integers (places in the declared bounds, one coordinate per level of a category), sorted along a
    Hilbert curve through the declared domain, and cut into consecutive blocks of k. Integer noise on the block sums
    (``BlockSums`` says how much one record changes them) makes them private; the rest is post-processing: each row of a
    block becomes the block's noisy mean, decoded. The noise of a mean goes with sqrt(n)/k^1.5, so k must be large.
    For one record replaced by another: the number of rows is public. On a secret sample of a fixed size, epsilon and
    delta are those of the sample amplified: ln(1 + beta (e^epsilon0 - 1)), beta delta0.
    """

    k: int = 0
    """The least number of records in a block; 0: chosen from the number of rows and the budget, for evenly spread records."""
    columns: tuple[str, ...] = ()
    """The columns to release, all when empty; the others are left out. The first ones weigh most in the order."""

    def __post_init__(self) -> None:
        """K is at least 2 if given."""
        check_knobs(
            self,
            k=(self.k == 0 or self.k >= 2, "must be at least 2, or 0 to be chosen"),
        )

    @property
    def relation(self) -> Relation:
        """The relation it is proven for."""
        return Relation.REPLACE_ONE

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns without bounds or levels, and any other relation than one record replaced by another."""
        columns = self._columns(schema)
        promise = Promise(kind=Syntactic.K_ANONYMITY, value=max(self.k, 2), quasi=columns)
        caveats = ["a row is the noisy average of a block: rare values and combinations are averaged away"]
        if not self.k:
            caveats.append(
                "the size of the blocks was chosen from the number of rows and the budget; it stands with what the recipe chose"
            )
        events: tuple[Event, ...] = ()
        if budget is not None:
            require_fixed_rows("blocks", budget)
            # The price does not depend on the number of rows, which a plan does not know: the noise grows with the change.
            events = (
                budget.event(Total(), schema),
                budget.event(BlockSums(columns, max(self.k, 2), max(self.k, 2)), schema),
            )
        return Plan(
            schema=schema.select(columns), events=events, effect=Effect.EDIT_ROWS, promises=(promise,), caveats=tuple(caveats),
            public=("an order of all records that could be, along a Hilbert curve through the declared domains",),
        )  # fmt: skip

    def fit(self, vault: Vault, rng: np.random.Generator) -> Anonymized:
        """Measure the block sums once; ``rng`` is not needed."""
        allowance = vault.paid()
        require_fixed_rows("blocks", allowance)
        columns = self._columns(vault.schema)
        axes = axes_of(vault.schema, columns)
        rows = public_rows(vault, allowance)
        k = self.k or best_k(rows, axes, allowance)
        if rows < k:
            raise InputError(f"k = {k} is larger than the number of rows ({rows})", where="blocks.k")
        sums = vault.spend(BlockSums(columns, k, rows), allowance)
        sizes = block_sizes(rows, k)
        means = sums.reshape(len(sizes), -1) / sizes[:, None] / GRID
        ends = np.cumsum([a.width for a in axes])
        arrays = {
            a.column.name: np.repeat(a.decode(means[:, end - a.width : end]), sizes) for a, end in zip(axes, ends, strict=True)
        }
        result = {"k": k, "blocks": len(sizes), "noise_of_a_mean": round(_noise(rows, k, axes, allowance) ** 0.5, 5)}
        if len(sizes) == 1:
            result["note"] = "one block: the budget is too small for these rows, and all of them are the same noisy average"
        return Anonymized(Table(vault.schema.select(columns), arrays), result)

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        return chosen(schema, self.columns, schema.names, "blocks", "a column with declared bounds or levels", writable)


def best_k(rows: int, axes: tuple[Axes, ...], allowance: Allowance) -> int:
    """The k with the least error for records spread evenly over the domain: the noise of a mean and the size of a block.

    A block of k of n records in d dimensions takes k/n of the cube, so its sides are (k/n)^(1/d), and a value in it lies
    (k/n)^(2/d)/12 off its mean in the square. All of that is public.
    """
    if rows < 2:
        raise InputError("blocks need at least two rows", where="blocks.k")
    # Evenly spaced in the logarithm: the error is flat around its least value.
    sizes = np.unique(np.geomspace(2, rows, 400).astype(np.int64))
    errors = [_noise(rows, int(k), axes, allowance) + (k / rows) ** (2 / len(axes)) / 12 for k in sizes]
    return int(sizes[int(np.argmin(errors))])


def _noise(rows: int, k: int, axes: tuple[Axes, ...], allowance: Allowance) -> float:
    """The variance of the noise on a coordinate of a block's mean, in units of GRID squared."""
    blocks = max(rows // k, 1)
    diam1, square2 = diameter(axes)
    if allowance.rho is not None:
        return blocks * square2 / (2 * allowance.rho) / k**2
    assert allowance.epsilon is not None
    return 2 * (blocks * diam1 / allowance.epsilon) ** 2 / k**2
