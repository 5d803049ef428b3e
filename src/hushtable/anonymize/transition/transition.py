"""Transition: from a generalized table back to ordinary values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from hushtable.anonymize.anonymized import Anonymized
from hushtable.anonymize.transition.cover import Pools
from hushtable.anonymize.transition.leaves import NoisyLeaves, bandwidths, smoothed, statistics
from hushtable.anonymize.transition.ranges import evenly, middles, restored
from hushtable.errors import Fault, InputError, PlanError
from hushtable.pipeline.publish import own_domains
from hushtable.pipeline.step import Core, Plan, check_knobs, chosen
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.criteria import Classes
from hushtable.privacy.event import Event, Raw
from hushtable.privacy.preserve import Effect
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Array, Integers
from hushtable.table.code_list import Dependency
from hushtable.table.columns import MISSING_CODE, Cells, Column, Facet, Levels, Role
from hushtable.table.determined import determined, follow
from hushtable.table.schema import Schema
from hushtable.table.table import Table

_WHY = "transition reads the table"


class How(StrEnum):
    """How a generalized value becomes an ordinary one."""

    SINGLE = "single"
    UNIFORM = "uniform"
    CONDITIONAL = "conditional"
    NOISY = "noisy"


class Statistic(StrEnum):
    """The one value of a single transition."""

    MIDDLE = "middle"
    LEAF = "leaf"
    MODE = "mode"
    MEDIAN = "median"
    MEAN = "mean"


class Density(StrEnum):
    """How a conditional transition draws the raw values of a class."""

    HISTOGRAM = "histogram"
    KDE = "kde"
    MULTIVARIATE = "multivariate"


class Suppressed(StrEnum):
    """What becomes of rows whose quasi-identifiers are all ``*``."""

    DROP = "drop"
    DRAW = "draw"


_RAW = {
    Statistic.MODE: "reads the most frequent raw value under each generalized one",
    Statistic.MEDIAN: "reads the median of the raw values under each generalized one",
    Statistic.MEAN: "reads the mean of the raw values under each generalized one",
}
_DRAWS = "draws the raw values of the class"
_CAVEATS = {
    How.SINGLE: "one value stands for each range or group of values: it is no measurement, and what varied inside is gone",
    How.UNIFORM: "values were drawn evenly from ranges and groups, each column by itself: inside them nothing hangs together",
    How.CONDITIONAL: "values were drawn from the raw rows of each class, so rare values of real people come back as they were: "
    "this undoes what the generalization had hidden",
    How.NOISY: "inside ranges and groups each column follows its own noisy counts: there columns do not hang together",
}


@dataclass(frozen=True, kw_only=True)
class Transition(Core):
    """Generalized values become ordinary ones again; columns that are not generalized pass through.

    Makes no promise of its own, but decides what is left of an earlier one. ``single`` with middle or leaf is a function
    of the generalized value: k-anonymity is kept. ``uniform`` draws for each row by itself: k is kept as derived. Both
    read nothing but the table at hand and the public domain, so differential privacy is kept too. ``single`` with mode,
    median or mean and ``conditional`` read the raw rows again, and no promise survives. ``noisy`` draws from one noisy
    histogram of each column, paid for: on a differentially private table the whole stays so; one row changes one count
    of each histogram by one. ``*`` comes back as a value; only where raw or noisy counts say how often, as missing. What a public
    code list of the schema derives from a column that came back follows it again, unless it is a secret.
    """

    how: How = How.UNIFORM
    """single, uniform, conditional (the raw values of the class; no promise is left) or noisy (paid for)."""
    statistic: Statistic = Statistic.MIDDLE
    """For single: middle or leaf (the first value) of the range; mode, median or mean of the raw values under it."""
    density: Density = Density.HISTOGRAM
    """For conditional: histogram (each column by itself), kde (numbers smoothed) or multivariate (values of one raw row)."""
    suppressed: Suppressed = Suppressed.DROP
    """drop leaves out the rows whose quasi-identifiers are all ``*``; draw makes values up for them."""
    leaves: int = 64
    """For noisy: the most ranges in which a number or date is counted."""
    columns: tuple[str, ...] = ()
    """The columns to bring back; all generalized ones when empty."""
    share: float = 1.0
    """For noisy: its part of the budget relative to the other steps'."""

    def __post_init__(self) -> None:
        """At least two leaves, a positive share, and no knob that another way would need."""
        check_knobs(
            self,
            leaves=(self.leaves >= 2, "must be at least 2"),
            statistic=(self.statistic is Statistic.MIDDLE or self.how is How.SINGLE, "is for the single transition only"),
            density=(self.density is Density.HISTOGRAM or self.how is How.CONDITIONAL, "is for the conditional transition only"),
        )

    @property
    def spends(self) -> bool:
        """Only noisy leaves are paid for."""
        return self.how is How.NOISY

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses, by name, columns that do not exist or have no domain to come back to.

        Which columns an earlier step generalizes may not be known before it has read its rows: the others pass through.
        """
        columns = self._columns(schema)
        out = schema.with_columns(*(restored(schema[name]) for name in columns))
        caveats = [_CAVEATS[self.how]]
        if self.density is Density.MULTIVARIATE:
            caveats.append("what stands in a row for its generalized values comes together from one raw row")
        if self.suppressed is Suppressed.DROP:
            caveats.append("rows that were suppressed altogether are left out")
        # Where noisy answers decide which columns are generalized, all stand for them: the whole price is the same.
        paid = columns or (chosen(schema, self.columns, schema.names, "transition", "a column") if self.spends else ())
        events = (Raw(_WHY), *self._behind(out, paid, budget))
        moves = tuple(_listed(out, columns))
        return Plan(schema=out, events=events, adaptive=self.spends, effect=self._effect, moves=moves, caveats=tuple(caveats))

    @property
    def _effect(self) -> Effect:
        if self.how is How.SINGLE:
            return Effect.SINGLE_RAW if self.statistic in _RAW else Effect.SINGLE_PUBLIC
        # Noisy counts of the raw rows are no function of the table at hand: an earlier k is lost with them.
        return {How.UNIFORM: Effect.UNIFORM, How.CONDITIONAL: Effect.CONDITIONAL, How.NOISY: Effect.READ_RAW}[self.how]

    def _behind(self, schema: Schema, columns: tuple[str, ...], budget: Allowance | None) -> tuple[Event, ...]:
        """The queries of the raw rows behind the table at hand."""
        if not columns:
            return ()
        if self.how is How.CONDITIONAL:
            return (Raw(_DRAWS),)
        if self.how is How.SINGLE and self.statistic in _RAW:
            return (Raw(_RAW[self.statistic]),)
        if self.how is How.NOISY and budget is not None:
            parts = _own(budget).split([1.0] * len(columns))
            queries = [NoisyLeaves(schema[name], self.leaves).query for name in columns]
            return tuple(part.event(query, schema) for query, part in zip(queries, parts, strict=True))
        return ()

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        """Those that are generalized, of all or of the named ones."""
        named = chosen(schema, self.columns, schema.names, "transition", "a column")
        columns = tuple(name for name in named if schema[name].generalized)
        lost = [name for name in columns if schema[name].base is None]
        if lost:
            raise PlanError(f"transition: the values that {', '.join(lost)} generalizes are not known: declare the domain")
        return columns

    def fit(self, vault: Vault, rng: np.random.Generator) -> Anonymized:
        """Bring the values back; raw rows are read through the vault that the table came from, and written down there."""
        table = vault.open(Raw(_WHY), _WHY)
        columns = self._columns(table.schema)
        if not columns:
            return Anonymized(table, {"how": str(self.how), "columns": []})
        behind = self._effect not in (Effect.SINGLE_PUBLIC, Effect.UNIFORM)
        # A domain that was read off the raw rows must not come back through *: the table has its own.
        table = table if behind else own_domains(table)
        remaining = self._remaining(table)
        if behind:
            restored_columns = self._from_behind(remaining, columns, _origin(vault, table.schema, columns), rng)
        else:
            restored_columns = [self._from_cells(remaining.schema[name], remaining[name], rng) for name in columns]
        result = {"how": str(self.how), "columns": list(columns), "left_out": table.rows - remaining.rows}
        return Anonymized(_following(remaining.with_columns(*restored_columns), columns), result)

    def _remaining(self, table: Table) -> Table:
        if self.suppressed is Suppressed.DRAW or not table.schema.quasi:
            return table
        return table.take(~Classes(table, table.schema.quasi).suppressed)

    def _from_cells(self, column: Column, codes: Array, rng: np.random.Generator) -> tuple[Column, Array]:
        """From the cells and the public domain alone."""
        assert isinstance(column.domain, Cells)
        if column.observed and all(cell.anything for cell in column.domain.cells):
            # Nothing is public about this column, so nothing can be drawn. Whether it was ever missing was observed, too.
            return replace(restored(column), required=False), evenly(column, np.full_like(codes, MISSING_CODE), rng)
        if self.how is How.UNIFORM:
            return restored(column), evenly(column, codes, rng)
        return restored(column), middles(column, first=self.statistic is Statistic.LEAF)[codes.astype(np.int64)]

    def _from_behind(
        self, table: Table, columns: tuple[str, ...], origin: Vault, rng: np.random.Generator
    ) -> list[tuple[Column, Array]]:
        """From the raw rows, or from noisy counts of them."""
        if self.how is How.NOISY:
            parts = zip(columns, _own(origin.paid()).split([1.0] * len(columns)), strict=True)
            leaves = [(name, part, NoisyLeaves(origin.schema[name], self.leaves)) for name, part in parts]
            counted = [(name, each, origin.spend(each.query, part)) for name, part, each in leaves]
            return [(each.column, each.draw(table.schema[n], table[n], counts, rng)) for n, each, counts in counted]
        why = _DRAWS if self.how is How.CONDITIONAL else _RAW[self.statistic]
        raw = origin.open(Raw(why), why)
        if self.how is How.SINGLE:
            return [(raw.schema[name], statistics(table, name, raw, str(self.statistic))) for name in columns]
        # A class is what its rows have in common on all quasi-identifiers, generalized or not.
        others = tuple(n for n in table.schema.quasi if n not in columns and _alike(table.schema, raw.schema, n))
        pools = Pools.of(table, (*columns, *others), raw)
        joint = pools.draw(rng) if self.density is Density.MULTIVARIATE else None
        return [(raw.schema[name], self._drawn(table, name, raw, pools, joint, rng)) for name in columns]

    def _drawn(self, table: Table, name: str, raw: Table, pools: Pools, joint: Integers | None, rng: np.random.Generator) -> Array:
        """Raw values of each row's class; where its cells together cover nobody, of its cell; where that does, of the domain."""
        rows = pools.draw(rng) if joint is None else joint.copy()
        nobody = np.flatnonzero(rows < 0)
        rows[nobody] = pools.draw_alone(name, nobody, rng)
        column, values = table.schema[name], raw[name][rows]
        if self.density is Density.KDE and raw.schema[name].numeric:
            widths = bandwidths(pools, raw, name)[pools.classes]
            values = smoothed(column, table[name], raw.schema[name], values, widths, rng)
        lost = np.flatnonzero(rows < 0)
        values[lost] = evenly(column, table[name][lost], rng)
        return values


def _listed(schema: Schema, columns: tuple[str, ...]) -> dict[str, Dependency]:
    """The columns that a public code list derives from others that come back, and no secret: l and t speak of those as they are."""
    known, back = dict[str, Dependency](), set(columns)
    for name, by in determined(schema).items():
        column = schema[name]
        if by.source in back and by.codes is not None and Facet.DETERMINED not in column.drafted and column.role is not Role.SECRET:
            known[name] = by
            back.add(name)
    return known


def _following(table: Table, columns: tuple[str, ...]) -> Table:
    """The table in which these columns follow what came back, not what was generalized: a function of table and list."""
    for name, by in _listed(table.schema, columns).items():
        column = table.schema[name]
        values = follow(table, column, by)
        if not (column.required and column.is_missing(values).any()):
            table = table.with_column(column, values)
    return table


def _own(allowance: Allowance) -> Allowance:
    """What a share of epsilon and delta buys by itself: it adds up with a generalizer that pays a delta of its own."""
    return allowance if allowance.budget is None else Allowance.of(allowance.budget, allowance.unit)


def _origin(vault: Vault, schema: Schema, columns: tuple[str, ...]) -> Vault:
    """The vault of the raw rows; InputError names the columns that it does not hold as they were before."""
    if vault.origin is None:
        raise InputError("there are no raw rows behind this table: it was generalized before it came here", where="transition")
    raw = vault.origin.schema
    gone = [name for name in columns if not _alike(schema, raw, name)]
    if gone:
        raise InputError(
            [Fault(f"transition, column {name}", "is not in the raw rows, or has other values there") for name in gone]
        )
    return vault.origin


def _alike(schema: Schema, raw: Schema, name: str) -> bool:
    """Whether the raw rows hold the values that a column holds or generalizes."""
    if name not in raw or raw[name].generalized or raw[name].kind is not schema[name].kind:
        return False
    one, other = schema[name].base, raw[name].domain
    return not isinstance(one, Levels) or (isinstance(other, Levels) and one.levels == other.levels)
