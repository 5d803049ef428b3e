"""A trained autoregressive network as arrays: draws, exact conditions and likelihoods, without PyTorch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numba import njit

from hushtable.encode.coarse import Nested
from hushtable.errors import InputError
from hushtable.pipeline.step import Arrays, Given, given_arrays
from hushtable.table.arrays import Array, Floats, Integers, Mask, Singles
from hushtable.table.columns import Column
from hushtable.table.schema import Schema
from hushtable.table.table import Table

RAREST, SURE = 1000, 100
"""A condition on columns that are not drawn first must hold in one draw of so many; and how many hold before that is judged."""


class Cells(Protocol):
    """A column as the network takes it."""

    @property
    def column(self) -> Column:
        """The column."""
        ...

    @property
    def fields(self) -> int:
        """How many codes say where a value lies."""
        ...

    @property
    def values(self) -> float:
        """How many values the column has."""
        ...

    @property
    def pieces(self) -> int:
        """How many of them the network distinguishes."""
        ...

    def codes(self, array: Array) -> Sequence[Integers]:
        """The codes of each value."""
        ...

    def decode(self, first: Integers, second: Integers, rng: np.random.Generator, /) -> Array:
        """A value of these codes."""
        ...

    def arrays(self) -> dict[str, Array]:
        """What it is rebuilt from, given the column."""
        ...

    def shares(self, array: Array) -> Floats:
        """For each value, its share of the draws from its codes."""
        ...


class Walk(Protocol):
    """Rows on their way through a network, field by field."""

    def chances(self) -> Singles:
        """Of the cells of the next field, given the codes of those before it: rows x cells."""
        ...

    def add(self, codes: Integers) -> None:
        """What the next field is, in each row."""
        ...

    def kept(self, rows: Mask) -> Walk:
        """Some of the rows, as far as they have come."""
        ...


@dataclass(eq=False)
class Headed:
    """A walk through a network of one masked layer and a head for each field."""

    weights: dict[str, Singles]
    inputs: Singles
    at: int = 0
    last: Integers | None = None

    @classmethod
    def of(cls, weights: dict[str, Singles], rows: int, fields: int) -> Self:
        """At its beginning."""
        width = weights["0/embedding"].shape[1] if "0/embedding" in weights else 0
        return cls(weights, np.zeros((rows, width * (fields - 1)), np.float32))

    def chances(self) -> Singles:
        """Of the cells of the next field."""
        first = self.weights[f"{self.at}/first"]
        inner: Singles = self.inputs[:, : len(first)] @ first
        inner += self.weights[f"{self.at}/offset"]
        np.maximum(inner, 0, out=inner)
        return head_chances(self.weights, self.at, inner, self.last)

    def add(self, codes: Integers) -> None:
        """What the next field is, in each row."""
        if (embedding := self.weights.get(f"{self.at}/embedding")) is not None:
            self.inputs[:, self.at * embedding.shape[1] : (self.at + 1) * embedding.shape[1]] = embedding[codes]
        self.at, self.last = self.at + 1, codes

    def kept(self, rows: Mask) -> Headed:
        """Some of the rows."""
        return replace(self, inputs=self.inputs[rows], last=None if self.last is None else self.last[rows])


def head_chances(weights: Mapping[str, Singles], at: int, inner: Singles, before: Integers | None) -> Singles:
    """Of the cells of a field, from what its head gets, where the field before it has these codes."""
    logits: Singles = inner @ weights[f"{at}/head"]
    logits += weights[f"{at}/bias"]
    if (known := weights.get(f"{at}/known")) is not None:
        logits += known[before]
    logits -= logits.max(axis=1, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=1, keepdims=True)
    return logits


@dataclass(frozen=True, eq=False)
class Cellwise:
    """Columns in the order in which they are drawn, each in cells and, where it has any, parts of cells: the fields of a row."""

    chunk: ClassVar[int] = 8192
    """Rows that go through the network together."""

    schema: Schema
    nested: Sequence[Cells] = field(repr=False)
    """The cells of each column, in the order in which columns are drawn."""
    weights: dict[str, Singles] = field(repr=False)
    """What field ``j`` needs, as ``j/...``: ``embedding`` of its cells; from the embeddings of the fields before it to its hidden
    units ``first`` and ``offset``, from those to its logits ``head`` and ``bias``; for a part ``known``, by the cell it is in."""
    rows: int
    training: dict[str, Any]
    """Losses by epoch, on the rows it was trained on and on those left out."""

    @property
    def order(self) -> tuple[str, ...]:
        """Columns as they are drawn."""
        return tuple(cells.column.name for cells in self.nested)

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """``n`` rows, by default as many as it was trained on; what is given is given exactly.

        Columns drawn first are fixed. A row in which another column does not come out as given is dropped and another one drawn;
        a condition that holds in fewer than one draw of 1,000 is refused.
        """
        rows = self.rows if n is None else n
        arrays = given_arrays(self.schema, given, rows)
        fixed: dict[int, int] = {}
        for name, own, cells in zip(self.order, self._fields(), self.nested, strict=True):
            if name in arrays and rows:
                fixed |= {at: int(codes[0]) for at, codes in zip(own, cells.codes(arrays[name][:1]), strict=False)}
        codes = self._drawn(rows, fixed, rng)
        for name, own, cells in zip(self.order, self._fields(), self.nested, strict=True):
            if name not in arrays:
                part = codes[:, own[1]] if len(own) > 1 else np.zeros(rows, np.int64)
                arrays[name] = cells.decode(codes[:, own[0]], part, rng)
        return Table(self.schema, {name: arrays[name] for name in self.schema.names})

    def log_likelihood(self, table: Table, spread: float = 1e-3) -> Floats:
        """The log-probability of each row, in nats: its mean over rows not trained on distinguishes learning from memorizing.

        So that a value that nobody holds is not impossible, each column gets this part of one more row than it was trained on,
        spread evenly over all its values. A number counts where it is read into a cell, not also in a range around it.
        """
        chances, total = self._of_cells(table), np.zeros(table.rows)
        for cells, chance in zip(self.nested, chances.T, strict=True):
            own = chance * cells.shares(table[cells.column.name])
            total += np.log((own * self.rows + spread / cells.values) / (self.rows + spread))
        return total

    def loss(self, table: Table, spread: float = 1e-3) -> float:
        """Minus the mean log-probability of the cells that the network distinguishes, in nats: what it is trained to lower."""
        parts = np.array([cells.pieces for cells in self.nested])
        chances = (self._of_cells(table) * self.rows + spread / parts) / (self.rows + spread)
        return -float(np.log(chances).sum(axis=1).mean())

    def _of_cells(self, table: Table) -> Floats:
        """For each row and column in order, the chance of the value's cell and part given the columns before."""
        codes = fields_of(self.nested, table)
        found = np.empty(codes.shape)
        for start in range(0, len(codes), self.chunk):
            part = codes[start : start + self.chunk]
            walk = self._walk(len(part))
            for at, own in enumerate(part.T):
                found[start : start + self.chunk, at] = walk.chances()[np.arange(len(part)), own]
                walk.add(own)
        return np.multiply.reduceat(found, [own[0] for own in self._fields()], axis=1)

    def _fields(self) -> list[tuple[int, ...]]:
        """The fields of each column."""
        found, start = [], 0
        for cells in self.nested:
            found.append(tuple(range(start, start + cells.fields)))
            start += cells.fields
        return found

    def _drawn(self, rows: int, fixed: Mapping[int, int], rng: np.random.Generator) -> Integers:
        """The codes of so many rows in which these fields are so."""
        count = sum(cells.fields for cells in self.nested)
        leading = next(at for at in range(count + 1) if at not in fixed)
        parts, kept, drawn = [np.empty((0, count), np.int64)], 0, 0
        while kept < rows:
            size = min(self.chunk, rows - kept) if leading == len(fixed) else self.chunk
            parts.append(self._chunk(size, fixed, leading, rng)[: rows - kept])
            kept, drawn = kept + len(parts[-1]), drawn + size
            if kept < rows and drawn >= SURE * RAREST and kept * RAREST < drawn:
                later = [
                    name for name, own in zip(self.order, self._fields(), strict=True) if own[0] in fixed and own[0] >= leading
                ]
                raise InputError(
                    f"fewer than one draw in {RAREST:,} has this {', '.join(later)}. The columns drawn first can be fixed at any "
                    f"value: here {', '.join(self.order)}, in this order; the knob order gives another",
                    where="given",
                )
        return np.concatenate(parts)

    def _chunk(self, rows: int, fixed: Mapping[int, int], leading: int, rng: np.random.Generator) -> Integers:
        """Those of so many draws that are as they are to be: exactly, for a row is kept with the chance of what is fixed in it."""
        count = sum(cells.fields for cells in self.nested)
        codes = np.zeros((rows, count), np.int64)
        walk = self._walk(rows)
        for at in range(count):
            if at < leading:
                codes[:, at] = fixed[at]
            else:
                chances = walk.chances()
                uniform = rng.random(len(codes), np.float32)
                if at in fixed:
                    kept = uniform < chances[:, fixed[at]]
                    codes, walk = codes[kept], walk.kept(kept)
                    codes[:, at] = fixed[at]
                else:
                    codes[:, at] = _picked(chances, uniform)
            walk.add(codes[:, at])
        return codes

    def _walk(self, rows: int) -> Walk:
        """So many rows, of which nothing is known yet."""
        return Headed.of(self.weights, rows, sum(cells.fields for cells in self.nested))

    def result(self) -> dict[str, Any]:
        """The order, the size of the network and how its training went; the losses are means over thousands of rows."""
        return {"order": list(self.order), "weights": sum(array.size for array in self.weights.values()), "training": self.training}

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """Weights, cells and their counts; no row can be put together from them."""
        arrays: Arrays = {f"weights/{name}": array for name, array in self.weights.items()}
        for place, cells in enumerate(self.nested):
            arrays |= {f"cells/{place}/{name}": array for name, array in cells.arrays().items()}
        values = {"schema": self.schema.portable().dump(), "order": self.order, "rows": self.rows, "training": self.training}
        return values, arrays

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        schema = Schema.parse(values["schema"])

        def under(prefix: str) -> Arrays:
            return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}

        nested = [Nested.from_arrays(schema[name], under(f"cells/{place}/")) for place, name in enumerate(values["order"])]
        return cls(schema, nested, under("weights/"), int(values["rows"]), values["training"])


def fields_of(nested: Sequence[Cells], table: Table) -> Integers:
    """The rows of a table in the fields of these columns: rows x fields."""
    columns: list[Array] = []
    for cells in nested:
        columns.extend(cells.codes(table[cells.column.name])[: cells.fields])
    return np.stack(columns, axis=1)


@njit(cache=True)
def _picked(chances: Singles, uniform: Singles) -> Integers:  # pragma: no cover - compiled
    """For each row the cell in which a uniform number falls; never one without a chance."""
    picked = np.zeros(len(chances), np.int64)
    for row in range(len(chances)):
        running = np.float32(0)
        for cell in range(chances.shape[1]):
            if chances[row, cell] > 0:
                picked[row] = cell
                running += chances[row, cell]
                if running > uniform[row]:
                    break
    return picked
