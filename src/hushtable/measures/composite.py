"""Scores of a synthetic table that put several distances into one number: G = alpha mu + beta delta, and G+ = G + gamma nu.

mu is how far the correlations (phi_k) lie apart, delta how differently models perform that are trained and tested on the one
table and on the other (scores of classes, R2 of numbers, all between 0 and 1), nu the mean total variation of the columns. All are
0 for the same rows in the same order. They are measures of likeness only: they see the real rows and promise nothing about privacy.

A. Galloni, Evaluating synthetic data generators in the context of differential privacy, dissertation, Eotvos Lorand University
2025, chapters 3 to 5. What the text leaves open is said at each part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hushtable.errors import InputError
from hushtable.measures.bins import Bins, binned
from hushtable.measures.composite_models import FAMILIES, Performance, Task
from hushtable.measures.phik import few_levels, phik_matrix
from hushtable.table.arrays import Floats
from hushtable.table.columns import Role
from hushtable.table.table import Table

NORMS = ("pairs", "frobenius", "spectral")
CUTS = ("quantiles", "equal")
BINS = 20


@dataclass(frozen=True, kw_only=True)
class Composite:
    """The parts of both scores, and what they are made of."""

    mu: float
    delta: float
    nu: float
    alpha: float = 1.0
    beta: float = 1.0
    gamma: float = 1.0
    own: Mapping[str, Performance]
    """By target: models trained and tested on the synthetic table."""
    there: Mapping[str, Performance]
    """By target: the same models tested on real rows. No part of G; it cannot be had by rows that are easy to classify."""
    left_out: tuple[str, ...] = ()
    """Columns of too many levels for phi_k, which mu does not see."""

    @property
    def g(self) -> float:
        """G, from 0 (no difference) up."""
        return self.alpha * self.mu + self.beta * self.delta

    @property
    def g_plus(self) -> float:
        """G with the distance of the columns' distributions."""
        return self.g + self.gamma * self.nu

    def to_json(self) -> dict[str, Any]:
        """Plain numbers."""
        return {
            "mu": self.mu, "delta": self.delta, "nu": self.nu, "g": self.g, "g_plus": self.g_plus,
            "own": {target: p.to_json() for target, p in self.own.items()},
            "there": {target: p.to_json() for target, p in self.there.items()},
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class CompositeOptions:
    """How the parts of the scores are computed and weighed."""

    splits: int = 1
    """Random parts of each table that its models are tested on, to be averaged."""
    seed: int = 0
    weights: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """Alpha, beta and gamma."""
    norm: str = "pairs"
    """Of the difference of two matrices of correlations, see ``mu``."""
    models: Sequence[str] = FAMILIES
    """Families of ``composite_models``."""
    cut: str = "quantiles"
    """How numbers are cut for ``nu``."""
    bins: int = BINS
    """Bins of a number for ``nu``."""
    rows: int | None = None
    """The most rows of a table that the models see."""

    def __post_init__(self) -> None:
        """Known norms, cuts and families."""
        named = (("norm", [self.norm], NORMS), ("cut", [self.cut], CUTS), ("models", self.models or [""], FAMILIES))
        for where, values, known in named:
            strange = [one for one in values if one not in known]
            if strange:
                raise InputError(f"expected one of {', '.join(known)}, got {strange[0]!r}", where=where)


@dataclass(frozen=True, eq=False)
class Reference:
    """The real side, computed once for any number of synthetic tables."""

    table: Table
    correlated: tuple[str, ...]
    """The columns that mu sees."""
    correlations: Floats
    tasks: Mapping[str, Task]
    performance: Mapping[str, Performance]
    options: CompositeOptions

    @classmethod
    def of(cls, real: Table, targets: Sequence[str] | None = None, options: CompositeOptions | None = None) -> Reference:
        """``targets`` are the columns to predict, by default those with the role target.

        Only columns that hold numbers or levels count.
        """
        options = options or CompositeOptions()
        real = real.select([column.name for column in real.schema if column.valued])
        if targets is None:
            targets = [column.name for column in real.schema if column.role is Role.TARGET]
        if not targets:
            raise InputError("no column has the role target; name the columns to predict", where="targets")
        tasks = {target: Task.of(real, target, options.models) for target in targets}
        performance = {
            target: task.performance(real, splits=options.splits, seed=options.seed, rows=options.rows)[0]
            for target, task in tasks.items()
        }
        few = few_levels([real], real.schema.names)
        return cls(real, few, phik_matrix(real, few), tasks, performance, options)

    def compare(self, released: Table, *, there: bool = True) -> Composite:
        """All parts for one synthetic table with the same columns; ``there`` is whether models are tested on real rows too."""
        names, options = self.table.schema.names, self.options
        absent = [name for name in names if name not in released.schema or not released.schema[name].valued]
        if absent:
            raise InputError(f"the synthetic table has no column of values {', '.join(absent)}", where="composite score")
        performances = {
            target: task.performance(
                released, splits=options.splits, seed=options.seed, elsewhere=self.table if there else None, rows=options.rows
            )
            for target, task in self.tasks.items()
        }
        own = {target: pair[0] for target, pair in performances.items()}
        few = few_levels([released], self.correlated)
        places = [self.correlated.index(name) for name in few]
        return Composite(
            mu=mu(phik_matrix(released, few), self.correlations[np.ix_(places, places)], options.norm),
            delta=delta(own, self.performance), nu=nu(released, self.table, options.bins, options.cut),
            alpha=options.weights[0], beta=options.weights[1], gamma=options.weights[2],
            own=own, there={target: pair[1] for target, pair in performances.items() if pair[1] is not None},
            left_out=tuple(name for name in names if name not in few),
        )  # fmt: skip


def mu(one: Floats, other: Floats, norm: str = "pairs") -> float:
    """The 2-norm of the difference of two phi_k matrices, divided by the number of pairs of columns.

    The text names the L2 norm of the matrices and divides by the number of entries above the diagonal. ``pairs`` takes these
    entries, each pair once, so that it is the difference itself for two columns; ``frobenius`` takes all entries (a factor of
    the square root of 2), ``spectral`` the largest singular value. A pair without a correlation, because a column shows a
    single value, counts as uncorrelated. Any of them shrinks as columns are added: a mean difference d of all pairs of 15
    columns is a mu of d / 10.
    """
    gap = np.nan_to_num(one) - np.nan_to_num(other)
    pairs = len(gap) * (len(gap) - 1) / 2
    if not pairs:
        return 0.0
    if norm == "pairs":
        size = np.linalg.norm(gap[np.triu_indices(len(gap), 1)])
    else:
        size = np.linalg.norm(gap, "fro" if norm == "frobenius" else 2)
    return float(size / pairs)


def delta(one: Mapping[str, Performance], other: Mapping[str, Performance]) -> float:
    """The mean size of the differences of performance, over targets, models and scores; each is measured on its own table."""
    return float(np.mean([abs(one[t].values[key] - value) for t in other for key, value in other[t].values.items()]))


def nu(released: Table, real: Table, bins: int = BINS, cut: str = "quantiles") -> float:
    """The mean total variation of the columns, missing values being a bin.

    The text speaks of histograms and does not say how numbers are cut. ``quantiles`` cuts at those of the real column, so that
    every bin holds as many rows and no lone extreme decides; what lies beyond counts to the outermost bin. ``equal`` cuts the
    range of both tables into bins of one width, a common histogram: it alone reaches 1 where the ranges have nothing in common.
    """
    distances = []
    for name in real.schema.names:
        numeric = cut == "equal" and real.schema[name].numeric
        cells = _histogram(real, released, name, bins) if numeric else binned(real, name, bins, others=(released,))
        distances.append(float(np.abs(cells.mass(released) - cells.mass(real)).sum()) / 2)
    return float(np.mean(distances))


def _histogram(real: Table, released: Table, name: str, bins: int) -> Bins:
    """Bins of one width from the least to the largest value of both."""
    values = np.concatenate([real.floats(name), released.floats(name)])
    present = values[~np.isnan(values)]
    low, high = (float(present.min()), float(present.max())) if len(present) else (0.0, 1.0)
    edges = np.linspace(low, high, bins + 1)
    return Bins(real.schema[name], edges, [*(f"bin {i + 1}" for i in range(bins)), "missing"], bins)
