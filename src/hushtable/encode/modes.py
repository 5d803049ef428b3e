"""Numbers and dates as a mode and a place in it: what a network takes in place of numbers with several peaks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hushtable.encode.beside import beside, numbers, rewritten, without
from hushtable.numerics.gaussians import Gaussians
from hushtable.numerics.mixing import mixed
from hushtable.pipeline.step import Arrays, Coder, Plan, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Floats, Integers
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

_WHY = "reads the rows to fit the modes of their numbers"
PLACE = "place"
REACH = 0.99
"""How far from its centre a mode reaches, as a part of four standard deviations."""
FEWEST = 5
"""So many rows share a spike at least, however small the table."""
POOLS = 500
"""Neighbouring values are taken together for the fit, into so many of about equally many rows."""
WORTH = 4_000.0
"""All rows together count for at most so many in the fit: more would split every peak into as many modes as there may be."""
BLOCK = 100_000


@dataclass(frozen=True, kw_only=True)
class Modes(Coder):
    """Write a number or date as one of the modes of a Gaussian mixture, and its place in that mode, from -1 to 1.

    The mode stands under the column's own name, the place under ``NAME:place``. Modes are fitted by variational Bayes; the mode
    of a value is drawn by its posterior, and its place is (value - mean) / (4 deviations), as in CTGAN (Xu, Skoularidou,
    Cuesta-Infante and Veeramachaneni 2019). Unlike there, values that many rows share (40 hours a week, a gain of 0) are modes of
    their own without width, and values that no mode reaches share one mode that spans the column, so that every value comes
    back as it was. The draw is a function of the row alone, so one row stays one row (stability 1). A missing value is a missing
    mode. The modes are read off the rows, which makes every later epsilon infinite.
    """

    modes: int = 10
    """The most modes of a column, beside its spikes."""
    light: float = 0.005
    """Modes of at most this part of the values are left out."""
    spike: float = 0.05
    """A value that at least this part of the rows share is a mode of its own."""
    columns: tuple[str, ...] = ()
    """The columns to write so; when empty, every number and date."""

    def __post_init__(self) -> None:
        """Room for one mode."""
        check_knobs(
            self,
            modes=(1 <= self.modes <= 100, "must be 1 to 100"),
            light=(0 <= self.light < 1, "must be at least 0 and below 1"),
            spike=(0 < self.spike <= 1, "must be above 0 and at most 1"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that are no numbers. How many modes there are is known once it is fitted."""
        columns = self._columns(schema)
        if not columns:
            return Plan(schema=schema, stability=1)
        encoded = _encoded(schema, dict.fromkeys(columns, self.modes))
        return Plan(schema=encoded, events=(Raw(_WHY),), stability=1)

    def fit(self, vault: Vault, rng: np.random.Generator) -> Moded:
        """Fit the modes of every column; ``rng`` is not used."""
        columns = self._columns(vault.schema)
        if not columns:
            return Moded(vault.schema, {})
        return self.modes_of(vault.open(Raw(_WHY), _WHY), vault.report)

    def modes_of(self, table: Table, report: Callable[[float], None] = lambda share: None) -> Moded:
        """The code for a table that was opened."""
        columns, modes = self._columns(table.schema), {}
        for number, name in enumerate(columns, 1):
            modes[name] = self._modes(table.schema[name], table.floats(name))
            report(number / len(columns))
        return Moded(table.schema, modes)

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        return numbers(schema, self.columns, "modes")

    def _modes(self, column: Column, values: Floats) -> Mixture:
        present = values[~np.isnan(values)]
        distinct, counts = np.unique(present, return_counts=True)
        few = len(distinct) <= self.modes
        heavy = counts >= max(FEWEST, 0 if few else self.spike * len(present))
        spikes, share = distinct[heavy], counts[heavy] / max(len(present), 1)
        rest, counts = distinct[~heavy], counts[~heavy]
        if not len(rest):
            # A column without a value has one mode, which no row has.
            if not len(spikes):
                spikes, share = np.array([column.bounds.low], np.float64), np.ones(1)
            return Mixture(spikes, np.zeros(len(spikes)), share)
        fitted = Gaussians.fitted(*_pooled(rest, counts), self.modes, self.light, narrow=(column.step or 0.0) / 4)
        # Reals of one value have no width at all: such a mode is a spike.
        scales = np.where(fitted.deviations > np.abs(fitted.means) * 1e-12, 4 * fitted.deviations, 0.0)
        weights = fitted.weights * counts.sum() / len(present)
        mixture = Mixture.of((spikes, fitted.means), (np.zeros(len(spikes)), scales), (share, weights))
        far = ~mixture.reaches(rest).any(axis=1)
        if far.any():
            low, high = float(column.bounds.low), float(column.bounds.high)
            wide = np.array([(low + high) / 2]), np.array([(high - low) / 2 / REACH]), np.array([counts[far].sum() / len(present)])
            mixture = Mixture.of(*((one, other) for one, other in zip(mixture.parts, wide, strict=True)))
        return mixture


@dataclass(frozen=True, eq=False)
class Mixture:
    """The modes of a column, by rising centre."""

    centres: Floats
    scales: Floats
    """Four standard deviations; 0 for a spike."""
    weights: Floats

    @classmethod
    def of(cls, *parts: tuple[Floats, Floats]) -> Self:
        """Centres, scales and weights of two kinds, sorted together."""
        centres, scales, weights = (np.concatenate(part) for part in parts)
        order = np.argsort(centres, kind="stable")
        return cls(centres[order], scales[order], weights[order])

    @property
    def parts(self) -> tuple[Floats, Floats, Floats]:
        """Centres, scales and weights."""
        return self.centres, self.scales, self.weights

    def places(self, values: Floats) -> Floats:
        """Of each value in each mode; 0 in a spike."""
        return (values[:, None] - self.centres) / np.where(self.scales > 0, self.scales, np.inf)

    def reaches(self, values: Floats) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which modes each value may have: a spike has its own value only."""
        return np.where(self.scales > 0, np.abs(self.places(values)) <= REACH + 1e-9, values[:, None] == self.centres)

    def code(self, values: Floats, lots: Floats) -> tuple[Integers, Floats]:
        """For each value a mode, drawn by the posterior with a number in [0, 1), and its place there."""
        places, reach = self.places(values), self.reaches(values)
        # A spike takes its value whole; what none reaches is put at the nearest end.
        spiked = reach & (self.scales == 0)
        reach = np.where(spiked.any(axis=1, keepdims=True), spiked, reach)
        log = np.log(self.weights / np.where(self.scales > 0, self.scales, 1.0)) - 8 * places**2
        log = np.where(reach, log, -np.inf)
        lost = ~reach.any(axis=1)
        away = np.abs(values[lost, None] - self.centres) - REACH * self.scales
        log[lost] = np.where(away == away.min(axis=1, keepdims=True), 0.0, -np.inf)
        chances = np.exp(log - log.max(axis=1, keepdims=True)).cumsum(axis=1)
        modes = (chances <= lots[:, None] * chances[:, -1:]).sum(axis=1)
        return modes, np.clip(places[np.arange(len(values)), modes], -REACH, REACH)


@dataclass(frozen=True, eq=False)
class Moded:
    """The fitted coder: the modes of each column."""

    original: Schema
    modes: dict[str, Mixture]
    stability: int = 1

    @property
    def schema(self) -> Schema:
        """With a mode and a place for each of these columns."""
        return _encoded(self.original, {name: len(mixture.centres) for name, mixture in self.modes.items()})

    def apply(self, table: Table) -> Table:
        """Numbers to modes and places."""
        schema, arrays = self.schema, dict(table.arrays)
        keys = row_keys(table) if self.modes else np.zeros(0, np.uint64)
        for number, (name, mixture) in enumerate(self.modes.items(), 1):
            values = table.floats(name)
            known = np.flatnonzero(~np.isnan(values))
            lots = (mixed(keys + np.uint64(number)) >> np.uint64(11)).astype(np.float64) * 2.0**-53
            codes, places = np.full(table.rows, -1, np.int32), np.zeros(table.rows)
            for start in range(0, len(known), BLOCK):
                some = known[start : start + BLOCK]
                codes[some], places[some] = mixture.code(values[some], lots[some])
            arrays[name], arrays[f"{name}:{PLACE}"] = codes, places
        return Table(schema, {name: arrays[name] for name in schema.names}, table.texts, persons=table.persons)

    def undo(self, table: Table, rng: np.random.Generator) -> Table:
        """Modes and places to numbers, on the column's grid and inside its bounds; ``rng`` is not used."""
        back = []
        for name, mixture in self.modes.items():
            if name not in table.schema:
                continue  # a core may release some of the columns only
            codes = table[name].astype(np.int64)
            values = mixture.centres[codes]
            if f"{name}:{PLACE}" in table.schema:
                values = values + mixture.scales[codes] * table[f"{name}:{PLACE}"]
            column = self.original[name]
            back.append((column, column.from_floats(np.where(codes < 0, np.nan, values))))
        return without(table, [f"{name}:{PLACE}" for name in self.modes], back)

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """The original columns, and the modes of each."""
        arrays: Arrays = {}
        for name, mixture in self.modes.items():
            arrays |= {f"{name}: centres": mixture.centres, f"{name}: scales": mixture.scales, f"{name}: weights": mixture.weights}
        return {"schema": self.original.portable().dump(), "columns": list(self.modes)}, arrays

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        modes = {
            str(name): Mixture(*(arrays[f"{name}: {part}"] for part in ("centres", "scales", "weights")))
            for name in values["columns"]
        }
        return cls(Schema.parse(values["schema"]), modes)


def _pooled(values: Floats, counts: Integers) -> tuple[Floats, Floats]:
    """Means of neighbouring values, and how much each is worth."""
    total = int(counts.sum())
    pools = (np.cumsum(counts) - 1) * POOLS // total
    pools = np.unique(pools, return_inverse=True)[1]
    held = np.bincount(pools, counts).astype(np.float64)
    means = np.bincount(pools, counts / held[pools] * values)
    return means.astype(np.float64), held * min(1.0, WORTH / total)


def row_keys(table: Table) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """A number for each row that depends on its values alone: what is drawn by it, another row does not change."""
    keys = np.zeros(table.rows, np.uint64)
    for column in table.schema:
        array = table[column.name]
        if column.numeric:
            # On a grid, so that a value that was computed back is still the same.
            low, high = float(column.bounds.low), float(column.bounds.high)
            grid = column.step or (high - low) * 2.0**-30 or 1.0
            array = np.nan_to_num(np.round((column.floats(array) - low) / grid), nan=-1.0).clip(-1, 2.0**62)
        keys = mixed(keys + array.astype(np.int64).view(np.uint64))
    return keys


def _encoded(schema: Schema, modes: dict[str, int]) -> Schema:
    """The schema with a category of so many modes, and a place beside it, for each of these columns."""
    new = {}
    for name, count in modes.items():
        column = schema[name]
        levels = Levels(tuple(str(number) for number in range(1, count + 1)), observed=column.observed)
        mode = rewritten(column, Kind.CATEGORY, levels)
        # Of a number that is to be predicted, the mode is.
        role = Role.PLAIN if column.role is Role.TARGET else column.role
        place = Column(name=f"{name}:{PLACE}", kind=Kind.REAL, role=role, domain=Bounds(-1.0, 1.0, column.observed), required=True)
        new[name] = (mode, place)
    return beside(schema, new, "modes")
