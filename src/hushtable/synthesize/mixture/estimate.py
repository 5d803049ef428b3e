"""From noisy sums to the cells of a mixture. All of it is post-processing: it sees the noisy numbers and their noise only.

Cells lie in a hierarchy (all records, a class, a leaf of the class). Where the noise is as large as what sets a cell apart from
the one above it, the cell is drawn to that one (James and Stein 1961, the positive part), so that small cells do no harm.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hushtable.numerics.simplex import on_simplex, without_missing
from hushtable.synthesize.mixture.integer_encoding import STEPS, Field, IntegerEncoding
from hushtable.synthesize.mixture.model import Mixture
from hushtable.synthesize.mixture.trees import Tree
from hushtable.table.arrays import Floats, Integers, Mask


@dataclass(frozen=True, eq=False)
class Sums:
    """Noisy sums of cells: how many records each has, and the sum of their coordinates, in records."""

    encoding: IntegerEncoding
    counts: Floats
    sums: Floats
    noise: float
    """The standard deviation of the noise of one coordinate, in records."""

    def pooled(self, groups: Integers, number: int) -> Sums:
        """Cells added up; the noise is that of the largest group."""
        member = np.zeros((number, len(groups)))
        member[groups, np.arange(len(groups))] = 1.0
        wider = float(np.sqrt(member.sum(axis=1).max(initial=1.0)))
        return Sums(self.encoding, member @ self.counts, member @ self.sums, self.noise * wider)


def read(encoding: IntegerEncoding, answer: Integers, weight: int, scale: float) -> Sums:
    """Cells of a noisy answer: their counts estimated from all columns that count records, each by its precision.

    ``scale`` is the standard deviation of the noise of a coordinate, in steps. The coordinates of a counted column add up
    to the number of records, with as much noise as it has codes.
    """
    rows = answer.reshape(-1, encoding.dimension + 1).astype(np.float64)
    sums = rows[:, 1:] / STEPS
    estimates, precision = [rows[:, 0] / weight], [float(weight**2)]
    for f, span in zip(encoding.fields, encoding.spans, strict=True):
        if f.counted:
            estimates.append(sums[:, span].sum(axis=1))
            precision.append(STEPS**2 / f.width)
    counts = np.average(np.stack(estimates), axis=0, weights=precision)
    return Sums(encoding, counts, sums, scale / STEPS)


def count_noise(encoding: IntegerEncoding, weight: int, noise: float) -> float:
    """The standard deviation of the noise of a count that ``read`` estimates, from that of a coordinate; in records."""
    precision = weight**2 + sum(STEPS**2 / f.width for f in encoding.fields if f.counted)
    return float(noise * STEPS / np.sqrt(precision))


def shares(f: Field, sums: Floats, counts: Floats, noise: float, above: Floats, allowed: Mask | None = None) -> Floats:
    """Cells by codes: shares of a counted column, drawn to those above where the noise is large beside them."""
    rows = np.maximum(counts, 1.0)[:, None]
    if allowed is not None:
        blocked: Mask = ~np.any(allowed, axis=1)
        allowed = allowed | blocked[:, None]
        above = np.where(allowed, above, 0.0) + 1e-9 * allowed
        above = above / above.sum(axis=1, keepdims=True)
        sums = np.where(allowed, sums, 0.0)
    apart = sums / rows - above
    if allowed is not None:
        apart = np.where(allowed, apart, 0.0)
    free = f.width if allowed is None else allowed.sum(axis=1, keepdims=True)
    error = np.maximum(free - 1, 0) * (noise / rows) ** 2
    mixed = above + _shrinkage((apart**2).sum(axis=1, keepdims=True), error, counts[:, None] > noise) * apart
    if allowed is not None:
        # Far below zero, so that the nearest shares are zero there.
        mixed = np.where(allowed, mixed, -10.0)
    return on_simplex(mixed)


def numbers(f: Field, sums: Floats, counts: Floats, noise: float, above: Floats) -> Floats:
    """Cells by mean and spread of the place, and the share that is missing; drawn to those above likewise."""
    rows = np.maximum(counts, 1.0)
    gone = np.zeros(len(rows)) if f.column.required else np.clip(sums[:, 2] / rows, 0.0, 1.0)
    there = np.maximum(rows * (1 - gone), 1.0)
    mean = np.clip((sums[:, 0] / there + 1) / 2, 0.0, 1.0)
    square = np.clip(sums[:, 1] / there + 0.5, 0.0, 1.0)
    spread = np.sqrt(np.clip(square - (2 * mean - 1) ** 2, 1e-4, 1.0)) / 2
    own = np.stack([mean, spread, gone], axis=1)
    # Where nearly all are missing little is known of the others, and much of how many are missing.
    error = np.stack([0.25 * (noise / there) ** 2, 0.25 * (noise / there) ** 2, (noise / rows) ** 2], axis=1)
    factor = _shrinkage((own - above) ** 2, error, (counts > noise)[:, None])
    return np.asarray(above + factor * (own - above), dtype=np.float64)


def flat(f: Field) -> Floats:
    """What is assumed of a column of which nothing is known: all codes equally likely, or the middle of the domain."""
    if f.counted:
        return np.full((1, f.width), 1.0 / f.width)
    return np.array([[0.5, 0.3, 0.0 if f.column.required else 0.05]])


def _shrinkage(square: Floats, error: Floats, counted: Mask) -> Floats:
    """The factor for a difference of which so much of the square is noise; 0 where a cell has no count to speak of."""
    return np.where(counted, np.maximum(1 - error / np.maximum(square, 1e-300), 0.0), 0.0)


def of_tree(tree: Tree, sums: Sums, rows: int, summary: dict[str, Any]) -> Mixture:
    """Cells of leaves and classes, each drawn to its class and that to the whole."""
    encoding, classes = tree.encoding, tree.encoding.classes
    leaf, label = np.divmod(np.arange(tree.cells), classes)
    whole, by_class = sums.pooled(np.zeros(tree.cells, np.int64), 1), sums.pooled(label, classes)
    shared: dict[str, Floats] = {}
    numeric: dict[str, Floats] = {}
    for f, span, codes in zip(encoding.fields, encoding.spans, encoding.code_spans, strict=True):
        top = _fitted(f, span, whole, flat(f))
        middle = _fitted(f, span, by_class, np.repeat(top, classes, axis=0))
        fitted = _without_missing(f, span, whole, _fitted(f, span, sums, middle[label], tree.allowed[leaf][:, codes]))
        (shared if f.counted else numeric)[f.column.name] = fitted
    if encoding.target:
        shared[encoding.target] = np.eye(classes)[label]
    weights = np.maximum(sums.counts, 0.0) + 1e-9
    if encoding.target and without_missing(encoding.schema[encoding.target], by_class.counts[-1], by_class.noise):
        weights *= label < classes - 1
    return Mixture(encoding.schema, weights / weights.sum(), shared, numeric, rows, summary)


def of_groups(sums: Sums, rows: int, summary: dict[str, Any], *, shrink: bool) -> Mixture:
    """Cells of public sizes, each drawn to the whole (``shrink``), or as the noisy sums have it."""
    encoding, cells = sums.encoding, len(sums.counts)
    whole = sums.pooled(np.zeros(cells, np.int64), 1)
    shared: dict[str, Floats] = {}
    numeric: dict[str, Floats] = {}
    for f, span in zip(encoding.fields, encoding.spans, strict=True):
        above = np.repeat(_fitted(f, span, whole, flat(f)), cells, axis=0)
        cell = sums if shrink else replace(sums, noise=0.0)
        (shared if f.counted else numeric)[f.column.name] = _without_missing(f, span, whole, _fitted(f, span, cell, above))
    return Mixture(encoding.schema, sums.counts / sums.counts.sum(), shared, numeric, rows, summary)


def _without_missing(f: Field, span: slice, whole: Sums, fitted: Floats) -> Floats:
    """What was fitted to cells, without missing values where all of them together show none."""
    if not without_missing(f.column, float(whole.sums[0, span][-1]), whole.noise):
        return fitted
    fitted = np.column_stack([fitted[:, :-1], np.zeros(len(fitted))])
    if not f.counted:
        return fitted
    fitted[:, :-1] += fitted.sum(1, keepdims=True) == 0
    return np.asarray(fitted / fitted.sum(1, keepdims=True))


def _fitted(f: Field, span: slice, sums: Sums, above: Floats, allowed: Mask | None = None) -> Floats:
    if f.counted:
        return shares(f, sums.sums[:, span], sums.counts, sums.noise, above, allowed)
    return numbers(f, sums.sums[:, span], sums.counts, sums.noise, above)
