"""Columns that others determine: left out before a model is fitted, and computed again from what it draws."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from hushtable.errors import InputError, PlanError
from hushtable.pipeline.step import Arrays, Coder, Plan, Reads, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event, Raw
from hushtable.privacy.query import Histogram
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Array, Floats
from hushtable.table.code_list import LISTED, Dependency
from hushtable.table.columns import MISSING_CODE, Column, Facet, Levels
from hushtable.table.determined import determined, follow, most_common
from hushtable.table.schema import Schema
from hushtable.table.table import Table, histogram_sizes

_WHY = "which values go together in a column that another one determines is read off the rows"


@dataclass(frozen=True, kw_only=True)
class Determined(Coder):
    """Take out the columns that others determine (``determined_by`` in the schema), and compute them again from the drawn rows.

    With a declared code list both are functions of one row and of the list: nothing is paid, every generator keeps the dependency
    in all rows, and one row changes one row. A list that nobody declared is learnt from one noisy count of all pairs of values: a
    record lies in one cell of it (replacing it changes two), and the determined value is the one with the largest noisy count.
    Where codes are many, a model can be given their groups alone (``within``): a code is then drawn within its group by noisy
    counts of all codes, of which one record changes one (replaced, two). A release puts this step before every generator by
    itself, where the schema says that a column is determined by another.
    """

    keep: tuple[str, ...] = ()
    """Determined columns that the model sees all the same: groups of codes, with which other columns are counted with less noise,
    and columns that another step names. They are computed again like the others."""
    within: tuple[str, ...] = ()
    """Columns of groups that the model sees in place of the codes that determine them: codes are drawn within their group, by noisy
    counts that are paid for."""
    discover: tuple[str, ...] = ()
    """Determined columns whose code list is learnt from noisy counts, and paid for."""
    read: tuple[str, ...] = ()
    """Determined columns whose code list is read off the rows, which protects nothing."""
    share: float = 0.05
    """Its part of the budget relative to the other steps', spent only where there is something to count."""

    def __post_init__(self) -> None:
        """A positive share, and one way to learn each list."""
        both, twice = sorted(set(self.discover) & set(self.read)), sorted(set(self.keep) & set(self.within))
        check_knobs(
            self,
            read=(not both, f"has {', '.join(both)}, which is to be discovered"),
            within=(not twice, f"has {', '.join(twice)}, which is to be kept with its codes"),
        )

    @property
    def spends(self) -> bool:
        """Only where a list is to be learnt, or codes are counted."""
        return bool(self.discover or self.within)

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that nothing determines, and lists of which no pairs can be counted."""
        known = determined(schema)
        if strange := [name for name in (*self.keep, *self.within, *self.discover, *self.read) if name not in known]:
            raise PlanError(f"determined: no column determines {', '.join(strange)}; say by which with determined_by in the schema")
        learnt = {*self.discover, *self.read}
        if bare := [name for name, by in known.items() if by.codes is None and name not in learnt]:
            raise PlanError(f"determined: {', '.join(bare)} has no code list; name it in discover or read")
        sources = [known[name].source for name in self.within]
        if odd := [n for n in sources if n in known or sources.count(n) > 1 or not isinstance(schema[n].domain, Levels)]:
            raise PlanError(
                f"determined: {odd[0]} cannot be drawn within a group: it must have levels, one such group, and no source"
            )
        events: list[Event] = []
        for name in self.discover:
            try:
                histogram_sizes(schema, (known[name].source, name))
            except InputError as error:
                raise PlanError(f"determined: the code list of {name} cannot be learnt from counts ({error}); give it") from None
        if budget is not None:
            events += [part.event(query, schema) for query, part in self._paid(known, budget)]
        events += [Raw(_WHY)] if self.read else []
        caveats = tuple(
            f"{known[name].source} is drawn within its {name}: what it says of other columns beyond that is lost"
            for name in self.within
        )
        declared = [name for name in known if name not in learnt and Facet.DETERMINED not in schema[name].drafted]
        public = tuple(f"{LISTED}{known[name].words(name)}" for name in declared)
        left = _left(schema, known, self.keep, self.within)
        reads = Reads.MEMORY if self.read else Reads.COUNTS
        return Plan(schema=left, events=tuple(events), stability=1, public=public, caveats=caveats, reads=reads)

    def fit(self, vault: Vault, rng: np.random.Generator) -> Lists:
        """Learn the lists that are not known; ``rng`` is not used."""
        known, drowned = determined(vault.schema), dict[str, int]()
        paid = self._paid(known, vault.paid()) if self.spends else []
        for name, (query, part) in zip(self.discover, paid, strict=False):
            shape = histogram_sizes(vault.schema, query.columns)
            counts = vault.spend(query, part).reshape(shape)
            known[name] = _largest(vault.schema, known[name].source, name, counts)
            # About the largest that noise alone makes of so many cells.
            chance = part.deviation(query, vault.schema) * math.sqrt(2 * math.log(max(shape[1], 2)))
            drowned[name] = int((counts.max(axis=1) < chance).sum())
        if self.read:
            table = vault.open(Raw(_WHY), _WHY)
            known |= {name: most_common(table, name, known[name].source) for name in self.read}
        counted = zip(self.within, paid[len(self.discover) :], strict=True)
        within = {name: vault.spend(query, part).clip(0).astype(np.float64) for name, (query, part) in counted}
        return Lists(vault.schema, known, self.keep, within, drowned, self.read)

    def _paid(self, known: Mapping[str, Dependency], budget: Allowance) -> list[tuple[Histogram, Allowance]]:
        """The counts that are paid for, and what for each: pairs for the lists to discover, then codes to draw within groups."""
        pairs = [Histogram((known[name].source, name)) for name in self.discover]
        queries = [*pairs, *(Histogram((known[name].source,)) for name in self.within)]
        return list(zip(queries, budget.split([1.0] * len(queries)), strict=True)) if queries else []


@dataclass(frozen=True, eq=False)
class Lists:
    """The fitted coder: every code list, and which columns stay."""

    original: Schema
    known: Mapping[str, Dependency]
    """In an order in which each can be computed."""
    keep: tuple[str, ...] = ()
    within: Mapping[str, Floats] = field(default_factory=dict)
    """The groups that the model sees in place of codes, with a weight for each code and last for a missing one."""
    drowned: Mapping[str, int] = field(default_factory=dict)
    """The columns whose list was learnt, with the number of values for which the noise is larger than the count."""
    read: tuple[str, ...] = ()
    stability: int = 1

    @property
    def schema(self) -> Schema:
        """Without the columns that are left out."""
        return _left(self.original, self.known, self.keep, tuple(self.within), self.read)

    def result(self) -> dict[str, Any]:
        """The lists that were learnt: functions of noisy counts alone."""
        learnt = {name: {"determined_by": self.known[name].source, "codes": self.known[name].index} for name in self.drowned}
        lost = [
            f"for {count} of {len(self.known[name].index)} values of {self.known[name].source} the noise is larger than the rows: "
            f"what they say of {name} is little better than chance"
            for name, count in self.drowned.items()
            if count
        ]
        return ({"learnt": learnt} if learnt else {}) | ({"note": "; ".join(lost)} if lost else {})

    def apply(self, table: Table) -> Table:
        """Leave out what is determined."""
        schema = self.schema
        return Table(schema, {name: table[name] for name in schema.names}, persons=table.persons)

    def undo(self, table: Table, rng: np.random.Generator) -> Table:
        """Compute what is determined; where what determines it was not released, it is not either."""
        for name, weights in self.within.items():
            if name in table.schema:
                source = self.original[self.known[name].source]
                table = table.with_column(source, self._codes(table, name, weights, rng))
        for name, by in self.known.items():
            if by.source in table.schema:
                table = table.with_column(self._column(name), follow(table, self.original[name], by))
        return table.select([name for name in self.original.names if name in table.schema])

    def _codes(self, table: Table, name: str, weights: Floats, rng: np.random.Generator) -> Array:
        """For each row a code of its group, by the weights of the codes; any code where the list has none for the group."""
        column, source = self.original[name], self.original[self.known[name].source]
        cells = np.arange(len(weights), dtype=np.int32)
        cells[len(source.levels) :] = MISSING_CODE
        every = Table(self.original.select([source.name]), {source.name: cells})
        due, held = follow(every, column, self.known[name]), table[name]
        codes = np.empty(table.rows, np.int32)
        for value in np.unique(held):
            absent = bool(column.is_missing(np.array([value], column.dtype))[0])
            rows, fits = (np.flatnonzero(column.is_missing(some) if absent else some == value) for some in (held, due))
            fits = fits if len(fits) else np.arange(len(cells))
            chances = weights[fits] if weights[fits].sum() > 0 else np.ones(len(fits))
            codes[rows] = cells[rng.choice(fits, len(rows), p=chances / chances.sum())]
        return codes

    def _column(self, name: str) -> Column:
        """As it leaves: with the list that was paid for; a list that was read off the rows shows those of everybody."""
        return self.original[name] if name in self.read else replace(self.original[name], determined_by=self.known[name])

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """The columns, and every list; InputError where one was read off the rows."""
        if self.read:
            raise InputError(
                f"the model holds which values of {', '.join(self.read)} go with which, as the rows have them: give code lists in "
                "the schema ('codes'), and release again. Nothing was written",
                where="model",
            )
        lists = {name: [by.source, [list(pair) for pair in by.codes or ()]] for name, by in self.known.items()}
        schema = self.original.portable().dump()
        return {"schema": schema, "lists": lists, "keep": list(self.keep), "drowned": dict(self.drowned)}, dict(self.within)

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        lists = values["lists"].items()
        known = {str(n): Dependency(str(source), tuple((str(g), str(v)) for g, v in pairs)) for n, (source, pairs) in lists}
        return cls(Schema.parse(values["schema"]), known, tuple(values["keep"]), arrays, values["drowned"])


def _left(
    schema: Schema, known: Mapping[str, Dependency], keep: tuple[str, ...], within: tuple[str, ...], read: tuple[str, ...] = ()
) -> Schema:
    """The columns that the model sees; those that stay know their list, marked where it was read off the rows."""
    listed = [replace(schema[name], determined_by=known[name]) for name in keep]
    listed = [column.marked(frozenset({Facet.DETERMINED})) if column.name in read else column for column in listed]
    drawn = {known[name].source for name in within}
    seen = [name for name in schema.names if name not in drawn and (name not in known or name in keep or name in within)]
    return schema.with_columns(*listed).select(seen)


def _largest(schema: Schema, source: str, name: str, counts: np.ndarray[Any, Any]) -> Dependency:
    """The list in which every value determines the one that it has most often, by (noisy) counts of pairs."""
    given, held = (_texts(schema[column]) for column in (source, name))
    pairs = zip(given, counts.argmax(axis=1).tolist(), strict=True)
    return Dependency(source, tuple(sorted((text, held[place]) for text, place in pairs)))


def _texts(column: Column) -> list[str]:
    """What the cells of its histogram stand for; a last one for missing values unless it is required."""
    if column.coded:
        texts = list(column.levels)
    else:
        texts = [column.write(value) for value in range(int(column.bounds.low), int(column.bounds.high) + 1)]
    return texts if column.required else [*texts, ""]
