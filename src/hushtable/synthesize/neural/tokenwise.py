"""A trained causal transformer as arrays: draws, exact conditions and likelihoods, without PyTorch.

What a field made of itself, its keys and values, is kept for the fields after it, so that each field of a row goes through the
network once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numba import njit

from hushtable.pipeline.step import Arrays
from hushtable.synthesize.neural.cellwise import Cellwise, Walk, head_chances
from hushtable.table.arrays import Integers, Mask, Singles

LEAST_SPREAD = 1e-5
"""What is added to a variance before numbers are divided by its root, as PyTorch does."""


@dataclass(frozen=True, eq=False)
class Tokenwise(Cellwise):
    """Columns as tokens, in the order in which they are drawn, each given all before it by a causal transformer.

    Beside what field ``j`` has (``j/embedding``, ``j/head``, ``j/bias``, ``j/known``) the weights hold ``places``, one row for each
    field, and for layer ``i`` ``layer/i/into``, ``back``, ``wide`` and ``narrow``, outputs x inputs, each with its ``_offset``.
    """

    chunk: ClassVar[int] = 256

    heads: int
    """Attention heads of each layer."""

    def _walk(self, rows: int) -> Walk:
        return Attending.of(self.weights, self.heads, rows)

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """Weights, cells and their counts; no row can be put together from them."""
        values, arrays = super().parts()
        return {**values, "heads": self.heads}, arrays

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        plain = Cellwise.from_parts(values, arrays)
        return cls(plain.schema, plain.nested, plain.weights, plain.rows, plain.training, int(values["heads"]))


@dataclass(eq=False)
class Attending:
    """A walk through a causal transformer. Rows lie side by side in every array, so that all are treated alike at once."""

    weights: dict[str, Singles]
    heads: int
    keys: Singles
    values: Singles
    """Of the fields that went through: layers x fields x width x rows."""
    codes: list[Integers]
    """Of the fields that are known."""
    done: int = 0
    """How many fields have keys and values."""

    @classmethod
    def of(cls, weights: dict[str, Singles], heads: int, rows: int) -> Self:
        """At its beginning."""
        layers = sum(name.endswith("/into") for name in weights)
        room = (layers, *weights["places"].shape, rows)
        return cls(weights, heads, np.empty(room, np.float32), np.empty(room, np.float32), [])

    def chances(self) -> Singles:
        """Of the cells of the next field."""
        while self.done <= len(self.codes):
            inner = self._passed(self.done)
            self.done += 1
        return head_chances(self.weights, len(self.codes), _normed(inner).T, self.codes[-1] if self.codes else None)

    def add(self, codes: Integers) -> None:
        """What the next field is, in each row."""
        self.codes.append(codes)

    def kept(self, rows: Mask) -> Attending:
        """Some of the rows."""
        known = [codes[rows] for codes in self.codes]
        return replace(self, keys=self.keys[..., rows], values=self.values[..., rows], codes=known)

    def _passed(self, place: int) -> Singles:
        """What the last layer makes of a place: width x rows."""
        layers, _, width, rows = self.keys.shape
        inner = np.repeat(self.weights["places"][place][:, None], rows, axis=1)
        if place:
            inner += self.weights[f"{place - 1}/embedding"][self.codes[place - 1]].T
        for layer in range(layers):
            split = self._dense(layer, "into", _normed(inner))
            self.keys[layer, place], self.values[layer, place] = split[width : 2 * width], split[2 * width :]
            scores = _scores(split[:width], self.keys[layer, : place + 1], self.heads)
            shares = np.exp(scores, out=scores)
            inner += self._dense(layer, "back", _gathered(shares, self.values[layer, : place + 1]))
            wide = self._dense(layer, "wide", _normed(inner))
            inner += self._dense(layer, "narrow", np.maximum(wide, 0, out=wide))
        return inner

    def _dense(self, layer: int, name: str, inputs: Singles) -> Singles:
        outputs: Singles = self.weights[f"layer/{layer}/{name}"] @ inputs
        outputs += self.weights[f"layer/{layer}/{name}_offset"][:, None]
        return outputs


@njit(cache=True, fastmath=True)
def _normed(inputs: Singles) -> Singles:  # pragma: no cover - compiled
    """Each row less its mean, over its standard deviation; what a layer norm does beyond that is part of the next weights."""
    width, rows = inputs.shape
    mean, scale, outputs = np.zeros(rows, np.float32), np.zeros(rows, np.float32), np.empty_like(inputs)
    for at in range(width):
        for row in range(rows):
            mean[row] += inputs[at, row]
    for row in range(rows):
        mean[row] /= np.float32(width)
    for at in range(width):
        for row in range(rows):
            outputs[at, row] = inputs[at, row] - mean[row]
            scale[row] += outputs[at, row] * outputs[at, row]
    for row in range(rows):
        scale[row] = np.float32(1) / np.sqrt(scale[row] / np.float32(width) + np.float32(LEAST_SPREAD))
    for at in range(width):
        for row in range(rows):
            outputs[at, row] *= scale[row]
    return outputs


@njit(cache=True, fastmath=True)
def _scores(queries: Singles, keys: Singles, heads: int) -> Singles:  # pragma: no cover - compiled
    """How well each known key meets the query, less the best: heads x known x rows."""
    known, width, rows = keys.shape
    each = width // heads
    scale = np.float32(1) / np.sqrt(np.float32(each))
    scores = np.zeros((heads, known, rows), np.float32)
    for head in range(heads):
        largest = np.full(rows, np.float32(-np.inf))
        for at in range(known):
            for unit in range(head * each, (head + 1) * each):
                for row in range(rows):
                    scores[head, at, row] += queries[unit, row] * keys[at, unit, row]
            for row in range(rows):
                scores[head, at, row] *= scale
                largest[row] = max(largest[row], scores[head, at, row])
        for at in range(known):
            for row in range(rows):
                scores[head, at, row] -= largest[row]
    return scores


@njit(cache=True, fastmath=True)
def _gathered(shares: Singles, values: Singles) -> Singles:  # pragma: no cover - compiled
    """The means of the known values under these shares, which need not sum to one: width x rows."""
    known, width, rows = values.shape
    each = width // len(shares)
    outputs = np.zeros((width, rows), np.float32)
    for head in range(len(shares)):
        total = np.zeros(rows, np.float32)
        for at in range(known):
            for row in range(rows):
                total[row] += shares[head, at, row]
            for unit in range(head * each, (head + 1) * each):
                for row in range(rows):
                    outputs[unit, row] += shares[head, at, row] * values[at, unit, row]
        for unit in range(head * each, (head + 1) * each):
            for row in range(rows):
                outputs[unit, row] /= total[row]
    return outputs
