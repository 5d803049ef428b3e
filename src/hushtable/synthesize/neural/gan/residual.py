"""A generator that starts from paid tables: rows of theirs, some columns of which it draws anew, given the others, and again.

A column is drawn by the logits of the tables and what a small network adds to them, given noise and the columns that are held.
Where it adds nothing, rows are those of the tables. Columns that others depend on in the tables are always held: they are the
condition. Everything here is numpy, so a saved model draws without PyTorch.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hushtable.errors import InputError
from hushtable.pipeline.step import Arrays, Given
from hushtable.synthesize.histogram_cells import given_cells, table_of
from hushtable.synthesize.neural.gan.forbidden import Forbidden, broken
from hushtable.synthesize.neural.gan.start import Start
from hushtable.synthesize.refined import systematic
from hushtable.table.arrays import Floats, Integers, Mask, Singles
from hushtable.table.schema import Schema
from hushtable.table.table import Table

NOISE = 16
"""Random numbers that a row is made from, beside its condition."""
SWEEPS = 4
"""How often half of the columns are drawn anew."""
EMBEDDED = 8
"""The most numbers that stand for the level of a column in a condition."""
POOL = 4
"""Rows drawn for each that leaves, before raking."""
PART, MOST = 1 << 13, 50_000
"""Rows drawn at a time, and rows that leave at a time."""
TRIES = 100
"""How often rows that break a constraint are drawn again."""


@dataclass(frozen=True, eq=False)
class Condition:
    """What the generator is given: which columns are always held, and vectors that stand for levels, random and not of rows."""

    places: tuple[int, ...]
    """The columns that are always held, by place."""
    vectors: tuple[Singles, ...]
    """For each column, levels x numbers."""

    @classmethod
    def random(cls, start: Start, rng: np.random.Generator) -> Self:
        """Hold the columns that another depends on."""
        places = tuple(start.schema.names.index(name) for name in start.parents)
        return cls(places, tuple(rng.normal(size=(size, min(size, EMBEDDED))).astype(np.float32) for size in start.sizes))

    @property
    def width(self) -> int:
        """Numbers of a condition."""
        return sum(vectors.shape[1] for vectors in self.vectors)

    def masks(self, rows: int, rng: np.random.Generator, fixed: Collection[int] = ()) -> Mask:
        """Which columns of each row are held: every other one on average, and those that always are."""
        held = rng.random((rows, len(self.vectors))) < 0.5
        held[:, [*self.places, *fixed]] = True
        return held

    def embed(self, cells: Integers, held: Mask) -> Singles:
        """The numbers of the columns that are held; zero for the others."""
        columns = zip(self.vectors, cells.T, held.T, strict=True)
        return np.concatenate([vectors[column] * kept[:, None] for vectors, column, kept in columns], axis=1)


@dataclass(frozen=True, eq=False)
class Residual:
    """The fitted generator: a model. ``layers`` are weights and biases in turn, of dense layers with ReLU between them."""

    start: Start
    condition: Condition
    layers: tuple[Singles, ...]
    summary: dict[str, Any]
    forbidden: Forbidden = ()
    """Combinations of cells that public constraints exclude: rows that have one are drawn again."""

    @property
    def schema(self) -> Schema:
        """Of the tables it samples."""
        return self.start.schema

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """``n`` rows, by default the noisy number of rows.

        ``given`` fixes columns exactly: what they are conditioned on is drawn from the tables under it. Rows are raked to the
        tables only where nothing is given.
        """
        rows = self.start.network.total if n is None else n
        fixed = given_cells(self.schema, given)
        parts = [min(MOST, rows - at) for at in range(0, rows, MOST)] or [0]
        cells = np.concatenate([self._part(part, rng, fixed) for part in parts])
        return table_of(self.schema, dict(zip(self.schema.names, cells.T, strict=True)))

    def _part(self, rows: int, rng: np.random.Generator, fixed: dict[str, int]) -> Integers:
        if fixed or not rows:
            return self._allowed(rows, rng, fixed)
        pool = self._allowed(POOL * rows, rng, {})
        order = np.lexsort(pool.T[[*reversed(range(pool.shape[1])), *self.condition.places[:1]]])
        picked = order[systematic(self.start.raked(pool, rows)[order], rows, rng)]
        return np.asarray(pool[rng.permutation(picked)])

    def _allowed(self, rows: int, rng: np.random.Generator, fixed: dict[str, int]) -> Integers:
        """Rows without forbidden combinations; InputError where hardly any is without."""
        cells = self.draw(rows, rng, fixed)
        for _ in range(TRIES if self.forbidden else 0):
            odd = np.flatnonzero(broken(self.forbidden, cells))
            if not len(odd):
                return cells
            cells[odd] = self.draw(len(odd), rng, fixed)
        if self.forbidden and broken(self.forbidden, cells).any():
            raise InputError("hardly any row keeps the constraints under what is given", where="constraints")
        return cells

    def draw(self, rows: int, rng: np.random.Generator, fixed: dict[str, int]) -> Integers:
        """Rows as the network makes them."""
        cells = self.start.draw(rows, rng, fixed) if rows else np.zeros((0, len(self.schema)), np.int64)
        places = [self.schema.names.index(name) for name in fixed]
        for part in np.array_split(np.arange(rows), max(1, -(-rows // PART))):
            for _ in range(SWEEPS):
                held = self.condition.masks(len(part), rng, places)
                logits = self.start.logits(cells[part]) + self._added(cells[part], held, rng)
                for place, span in enumerate(spans(self.start.sizes)):
                    drawn = np.argmax(logits[:, span] + rng.gumbel(size=logits[:, span].shape), axis=1)
                    cells[part, place] = np.where(held[:, place], cells[part, place], drawn)
        return cells

    def _added(self, cells: Integers, held: Mask, rng: np.random.Generator) -> Floats:
        hidden = np.concatenate(
            [rng.normal(size=(len(cells), NOISE)).astype(np.float32), self.condition.embed(cells, held)], axis=1
        )
        pairs = list(zip(self.layers[::2], self.layers[1::2], strict=True))
        for number, (weights, biases) in enumerate(pairs, 1):
            hidden = hidden @ weights.T + biases
            hidden = np.maximum(hidden, 0) if number < len(pairs) else hidden
        return hidden.astype(np.float64)

    def result(self) -> dict[str, Any]:
        """What was asked for, and the noise: functions of the knobs and of what was released."""
        return self.summary

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """The tables, the fixed vectors and the weights."""
        values, arrays = self.start.parts()
        arrays |= {f"layer/{place}": layer for place, layer in enumerate(self.layers)}
        arrays |= {f"vectors/{place}": vectors for place, vectors in enumerate(self.condition.vectors)}
        masks = [{str(place): np.flatnonzero(mask).tolist() for place, mask in parts.items()} for parts in self.forbidden]
        own = {"condition": list(self.condition.places), "layers": len(self.layers), "summary": self.summary, "forbidden": masks}
        return values | own, arrays

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        start = Start.from_parts(values, arrays)
        condition = Condition(tuple(values["condition"]), tuple(arrays[f"vectors/{place}"] for place in range(len(start.sizes))))
        layers = tuple(arrays[f"layer/{place}"] for place in range(values["layers"]))
        forbidden = tuple(
            {int(place): np.isin(np.arange(start.sizes[int(place)]), cells) for place, cells in parts.items()}
            for parts in values["forbidden"]
        )
        return cls(start, condition, layers, values["summary"], forbidden)


def spans(sizes: tuple[int, ...]) -> Iterator[slice]:
    """Where the cells of each column are, one column behind the other."""
    end = 0
    for size in sizes:
        yield slice(end, end + size)
        end += size
