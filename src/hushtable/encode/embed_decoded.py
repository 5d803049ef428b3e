"""Embedding with a way back that is learnt: coordinates on the manifold, and a network that leads from them to the columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from hushtable.encode.embed import Embed, Map, Method
from hushtable.encode.layout import Layout, Rows
from hushtable.encode.modes import Moded, Modes
from hushtable.errors import InputError
from hushtable.learn import network, training
from hushtable.numerics.manifold.ambient import Ambient, digests, distinct
from hushtable.pipeline.step import Arrays, Plan, check_knobs, chosen
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.guarantee import Claim
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Floats, Integers, Singles
from hushtable.table.columns import Bounds, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

_WHY = "reads the rows to learn coordinates, and a way back from them"
_NET = "hushtable.encode.decoder_net"
NEAREST = 5
"""A row that is not among those the coordinates were learnt from lies among so many that are nearest to it."""
BLOCK = 2_000
NARROW = 50
"""Columns that stay are given to the network if they have no more levels."""
PUBLISHED = Claim(
    "that the rows preserve privacy, because coordinates are grouped by at least k records before a network learns from them",
    (
        "the network that leads from coordinates back to columns is trained on the raw records: at the coordinates of a record "
        "that lies alone it repeats that record, whatever was grouped",
        "the coordinates themselves follow from all raw records, and a record more moves those of everybody",
    ),
)


@dataclass(frozen=True, kw_only=True)
class EmbedDecoded(Embed):
    """Replace columns by coordinates on the manifold that the records lie on; a network learns the way back to the columns.

    It promises nothing of itself: both maps are learnt from all rows that it is given. After a step that anonymizes, it sees the
    anonymized table only, and what that promises holds of what is drawn. With ``spans`` it comes first, the steps after it work on
    coordinates, and the way back waits for the end: what they promise is lost, because the way back was trained on raw records
    (M-KCTGAN as published: Garg 2025). The target stays as it is, beside the coordinates, and what stays is given to the
    network too (columns of up to 50 levels). Given both maps, one row stays one row (stability 1). Coordinates are learnt from at
    most ``sample`` distinct records; others are placed among the nearest of those. The network (2-128-256) has a softmax for each
    category, and for each number one of its modes and the place there; rows that come back are drawn from it, and only about
    what they were.
    """

    quick: ClassVar[Mapping[str, object]] = {"method": "pca", "epochs": 1, "batch": 128, "hidden": (4, 4)}
    extra: ClassVar[str] = "neural"

    method: Method = Method.TSNE
    """tsne, umap (needs an extra), isomap, lle or pca."""
    columns: tuple[str, ...] = ()
    """The columns to replace; all that are numbers or levels, but for the target, when empty."""
    neighbours: int = 30
    """For tsne the perplexity; else how many nearest records each record is linked to."""
    sample: int = 4_000
    """At most so many distinct records are what the coordinates are learnt from; all are what the way back is."""
    spans: bool = False
    """Whether the steps that follow all work on coordinates, and the way back is taken only after the last."""
    hidden: tuple[int, ...] = (128, 256)
    """The widths of the layers that lead back."""
    epochs: int = 60
    """The most times that the network sees each row."""
    batch: int = 256
    """Rows that it sees at a time."""
    rate: float = 3e-3
    """Its greatest learning rate, which rises and falls once."""

    def __post_init__(self) -> None:
        """As for an embedding; something to learn, and something to learn with."""
        super().__post_init__()
        check_knobs(
            self,
            sample=(self.sample >= 10, "must be at least 10"),
            hidden=(all(width >= 1 for width in self.hidden), "must be positive"),
            epochs=(self.epochs >= 1, "must be at least 1"),
            batch=(self.batch >= 1, "must be at least 1"),
            rate=(0 < self.rate < 1, "must lie between 0 and 1"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that are no numbers or categories, and names that are taken."""
        columns = self._columns(schema)
        encoded = self._encoded(schema, columns, np.empty((0, 0)))
        claims = (PUBLISHED,) if self.spans else ()
        return Plan(schema=encoded, events=(Raw(_WHY),), stability=1, lossy=True, spans=self.spans, claims=claims)

    def fit(self, vault: Vault, rng: np.random.Generator) -> Decoded:
        """Learn the coordinates, and the way back."""
        net = network(_NET, "a way back from an embedding")
        table = vault.open(Raw(_WHY), _WHY)
        if not table.rows:
            raise InputError("there are no rows to learn from", where="embed-decoded")
        columns = self._columns(table.schema)
        ambient = Ambient.of(table, columns, self.scale)
        points = ambient.points(table)
        first, point_of = distinct(digests(points))
        some = np.sort(rng.permutation(len(first))[: self.sample])
        known = points[first[some]]
        raw, extend, _ = self._learn(known, np.bincount(point_of)[some], rng)
        middle = (raw.max(axis=0) + raw.min(axis=0)) / 2
        size = float(np.abs(raw - middle).max()) or 1.0
        placed = Placed(ambient, known, (raw - middle) / size, extend, middle, size)
        vault.report(0.4)
        coordinates = placed.at(points)
        own = table.select(columns)
        modes = Modes().modes_of(own)
        layout = Layout.of(coded := modes.apply(own))
        narrow = [c.name for c in table.schema if c.name not in columns and (c.numeric or (c.coded and len(c.levels) <= NARROW))]
        beside = Layout.declared(table.schema.select(narrow)) if narrow else None
        rows, inputs = layout.encode(coded), _inputs(coordinates, table, beside)

        def report(share: float) -> None:
            vault.report(0.4 + 0.6 * share)

        weights, curve = net.fitted(layout, rows, inputs, self, int(rng.integers(2**31)), report)
        schema, unknown = self._encoded(table.schema, columns, coordinates), np.zeros(len(layout.numbers))
        code = Decoded(table.schema, schema, modes, layout, beside, tuple(weights), unknown, self.dimensions, tuple(curve), placed)
        return replace(code, spread=code.errors(inputs, rows))

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        default = tuple(column.name for column in schema if column.valued and column.role is not Role.TARGET)
        what = "a number, a date, a category or an ordinal (no text, key or generalized one)"
        return chosen(schema, self.columns, default, "embed-decoded", what, lambda column: column.valued)

    def _encoded(self, schema: Schema, columns: tuple[str, ...], coordinates: Floats) -> Schema:
        """Bounds that no row decides: coordinates are scaled into them."""
        encoded = super()._encoded(schema, columns, np.array([[-1.0] * self.dimensions, [1.0] * self.dimensions]))
        fresh = (replace(encoded[name], domain=Bounds(-1.0, 1.0)) for name in encoded.names[-self.dimensions :])
        return encoded.with_columns(*fresh).derived_from(schema)


@dataclass(frozen=True, eq=False)
class Placed:
    """The records that coordinates were learnt from, and how others are placed among them."""

    ambient: Ambient
    points: Floats
    coordinates: Floats
    extend: Map | None
    middle: Floats
    size: float

    def at(self, points: Floats) -> Floats:
        """Coordinates in [-1, 1]: those that were learnt, and for other records a place among the nearest."""
        known = {name: place for place, name in enumerate(digests(self.points))}
        places = np.array([known.get(name, -1) for name in digests(points)], np.int64)
        values = self.coordinates[places]
        new = np.flatnonzero(places < 0)
        if self.extend is not None:
            values[new] = (self.extend(points[new]) - self.middle) / self.size if len(new) else 0.0
            return values.clip(-1, 1)
        own = (self.points**2).sum(axis=1)
        for start in range(0, len(new), BLOCK):
            rows = new[start : start + BLOCK]
            squares = np.maximum((points[rows] ** 2).sum(axis=1)[:, None] + own - 2 * points[rows] @ self.points.T, 0.0)
            count = min(NEAREST, len(own))
            near = np.argpartition(squares, count - 1, axis=1)[:, :count]
            squares = np.take_along_axis(squares, near, axis=1)
            least = squares.min(axis=1, keepdims=True)
            # As far as twice the nearest distance counts for little.
            weights = np.exp(-(squares - least) / np.maximum(least, 1e-12))
            values[rows] = (weights[:, :, None] * self.coordinates[near]).sum(axis=1) / weights.sum(axis=1, keepdims=True)
        return values


@dataclass(frozen=True, eq=False)
class Decoded:
    """The fitted coder. One that was read from a file knows none of the records: it places every row in the middle."""

    original: Schema
    schema: Schema
    modes: Moded
    layout: Layout
    """Of what the network says."""
    beside: Layout | None
    """Of the columns that stay and are given to it."""
    weights: tuple[Singles, ...]
    """Of each layer, and its biases."""
    spread: Floats
    """By how much numbers differ from what the network says: their standard deviation."""
    dimensions: int
    curve: tuple[tuple[float, float | None], ...]
    placed: Placed | None = None
    stability: int = 1

    def result(self) -> dict[str, Any]:
        """How the way back was learnt."""
        if not self.curve:
            return {}
        return {"training": training(self.curve, len(self.curve))}

    def apply(self, table: Table) -> Table:
        """Coordinates of rows; all other columns stay."""
        fresh = self._coordinates
        values = np.zeros((table.rows, len(fresh)))
        if self.placed is not None:
            values = self.placed.at(self.placed.ambient.points(table))
        arrays = {name: table[name] for name in self.schema.names if name not in fresh}
        arrays |= {name: self.schema[name].from_floats(values[:, i]) for i, name in enumerate(fresh)}
        texts = {name: words for name, words in table.texts.items() if name in arrays}
        return Table(self.schema, arrays, texts, persons=table.persons)

    def undo(self, table: Table, rng: np.random.Generator) -> Table:
        """The columns, drawn at these coordinates, on each column's grid and inside its domain."""
        values = _inputs(np.column_stack([table.floats(name) for name in self._coordinates]), table, self.beside)
        codes, numbers = [], []
        for start in range(0, max(table.rows, 1), BLOCK):
            out = self._out(values[start : start + BLOCK])
            codes.append(_drawn(self.layout, out, rng))
            numbers.append(np.tanh(out[:, self.layout.numbers]) + self.spread * rng.normal(size=(len(out), len(self.spread))))
        decoded = self.layout.decode(Rows(np.concatenate(codes), np.concatenate(numbers).astype(np.float32)))
        own = self.modes.undo(decoded, rng)
        columns = {name: (table.schema[name], table[name]) for name in table.schema.names if name not in self._coordinates}
        columns |= {column.name: (column, own[column.name]) for column in own.schema}
        # A core may have left out some of the columns.
        names = [name for name in self.original.names if name in columns]
        schema = replace(self.original, columns=tuple(columns[name][0] for name in names))
        texts = {name: words for name, words in table.texts.items() if name in columns}
        return Table(schema, {name: columns[name][1] for name in names}, texts, persons=table.persons)

    def errors(self, inputs: Singles, rows: Rows) -> Floats:
        """The root mean squared error of each number that the network says of these."""
        total = np.zeros(len(self.layout.numbers))
        for start in range(0, len(inputs), BLOCK):
            out = np.tanh(self._out(inputs[start : start + BLOCK])[:, self.layout.numbers])
            total += ((rows.values[start : start + BLOCK] - out).astype(np.float64) ** 2).sum(axis=0)
        return np.asarray(np.sqrt(total / len(inputs)))

    def _out(self, values: Singles) -> Singles:
        last = len(self.weights) // 2 - 1
        for layer in range(last + 1):
            values = values @ self.weights[2 * layer].T + self.weights[2 * layer + 1]
            values = np.maximum(values, 0) if layer < last else values
        return values

    @property
    def _coordinates(self) -> tuple[str, ...]:
        return self.schema.names[-self.dimensions :]

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """The weights and the modes: no record, and none of the coordinates."""
        modes, arrays = self.modes.parts()
        names = [str(number) for number in range(len(self.weights))]
        values = {
            "original": self.original.portable().dump(),
            "schema": self.schema.portable().dump(),
            "modes": modes,
            "layout": self.layout.parts(),
            "beside": None if self.beside is None else self.beside.parts(),
            "dimensions": self.dimensions,
            "weights": len(names),
        }
        arrays = {f"modes: {name}": array for name, array in arrays.items()} | dict(zip(names, self.weights, strict=True))
        return values, arrays | {"spread": self.spread}

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        start = "modes: "
        modes = Moded.from_parts(values["modes"], {n.removeprefix(start): a for n, a in arrays.items() if n.startswith(start)})
        weights = tuple(arrays[str(number)] for number in range(values["weights"]))
        original, schema = Schema.parse(values["original"]), Schema.parse(values["schema"])
        layout, beside = (None if values[part] is None else Layout.from_parts(values[part]) for part in ("layout", "beside"))
        assert layout is not None
        return cls(original, schema, modes, layout, beside, weights, arrays["spread"], values["dimensions"], ())


def _inputs(coordinates: Floats, table: Table, beside: Layout | None) -> Singles:
    """What the network is given: coordinates, and the columns that stay, levels one by one; zeros where one is not there."""
    parts = [np.nan_to_num(coordinates).astype(np.float32)]
    if beside is not None:
        values = np.zeros((table.rows, beside.width), np.float32)
        if all(name in table.schema for name in beside.schema.names):
            rows = beside.encode(table)
            values[:, beside.numbers] = rows.values
            for place, span in enumerate(beside.spans):
                if span.levels:
                    values[np.arange(table.rows), span.choice.start + rows.codes[:, place]] = 1
        parts.append(values)
    return np.hstack(parts)


def _drawn(layout: Layout, out: Singles, rng: np.random.Generator) -> Integers:
    """For each span a level, by the softmax of its numbers."""
    codes = np.zeros((len(out), len(layout.spans)), np.int64)
    for place, span in enumerate(layout.spans):
        if span.levels > 1:
            logits = out[:, span.choice]
            chances = np.exp(logits - logits.max(axis=1, keepdims=True)).cumsum(axis=1)
            codes[:, place] = (chances <= rng.random((len(out), 1)) * chances[:, -1:]).sum(axis=1).clip(0, span.levels - 1)
    return codes
