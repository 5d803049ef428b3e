"""Noisy marginals: counts of the cells of some columns with their noise, averaged and summed by precision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hushtable.errors import InputError
from hushtable.numerics import simplex
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.rows import public_rows
from hushtable.privacy.vault import Vault
from hushtable.synthesize.histogram_cells import usable_total
from hushtable.table.arrays import Floats, Mask
from hushtable.table.schema import Schema


@dataclass(frozen=True, eq=False)
class Measurement:
    """A noisy marginal. It was paid for; everything computed from it is post-processing."""

    columns: tuple[str, ...]
    counts: Floats
    """One axis per column."""
    sigma: float
    """Standard deviation of the noise of a cell."""

    def __post_init__(self) -> None:
        """One axis per column, finite counts, positive noise."""
        if self.counts.ndim != len(self.columns) or len(set(self.columns)) != len(self.columns):
            raise InputError(f"counts of {', '.join(self.columns)} need one axis per column", where="measurement")
        if not 0 < self.sigma < np.inf or not np.isfinite(self.counts).all():
            raise InputError(f"counts of {', '.join(self.columns)} need finite numbers and positive noise", where="measurement")


def noisy_total(measurements: Sequence[Measurement]) -> float:
    """The number of rows as estimated from the measurements: their sums, weighted by their precision; at least 1."""
    precision = [1 / (m.counts.size * m.sigma**2) for m in measurements]
    sums = [float(m.counts.sum()) for m in measurements]
    return max(1.0, float(np.dot(precision, sums)) / sum(precision)) if measurements else 1.0


def total_noise(measurements: Sequence[Measurement]) -> float:
    """The standard deviation of the noise of that number of rows."""
    return float(sum(1 / (m.counts.size * m.sigma**2) for m in measurements) ** -0.5)


def rows_of(vault: Vault, allowance: Allowance, measurements: Sequence[Measurement]) -> float:
    """The number of rows: the public one, or the estimate from the measurements (``usable_total``)."""
    if allowance.unit.fixes_rows:
        return float(max(public_rows(vault, allowance), 1))
    return usable_total(noisy_total(measurements), total_noise(measurements))


def without_missing(schema: Schema, measurements: Iterable[Measurement]) -> dict[tuple[str, ...], Mask]:
    """The cell of missing values of each column that has none to speak of, as a structural zero of the column.

    Of several marginals with a column the one says so in which the count of its missing values has the least noise.
    """
    known: dict[str, tuple[float, float, int]] = {}
    for measured in measurements:
        for axis, (name, size) in enumerate(zip(measured.columns, measured.counts.shape, strict=True)):
            missing = np.take(measured.counts, -1, axis)
            sigma = measured.sigma * missing.size**0.5
            if name not in known or sigma < known[name][1]:
                known[name] = float(missing.sum()), sigma, size
    absent = {name: size for name, (count, sigma, size) in known.items() if simplex.without_missing(schema[name], count, sigma)}
    return {(name,): np.arange(size) == size - 1 for name, size in absent.items()}


def combined(measurements: Iterable[Measurement], order: Mapping[str, int]) -> list[Measurement]:
    """One measurement for each set of columns, with its columns in ``order``: repeated ones are averaged by precision."""
    sums: dict[tuple[str, ...], tuple[Floats, float]] = {}
    for measured in measurements:
        columns = tuple(sorted(measured.columns, key=order.__getitem__))
        counts = measured.counts.transpose([measured.columns.index(name) for name in columns])
        weight = measured.sigma**-2
        total, weights = sums.get(columns, (np.zeros(counts.shape), 0.0))
        sums[columns] = (total + weight * counts, weights + weight)
    return [Measurement(columns, total / weight, weight**-0.5) for columns, (total, weight) in sums.items()]
