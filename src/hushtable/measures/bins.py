"""Columns cut into bins, once for all measures: levels as they are, numbers at quantiles of the training rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from hushtable.table.arrays import Floats, Integers, Mask
from hushtable.table.columns import Column
from hushtable.table.table import Table

if TYPE_CHECKING:
    from hushtable.evidence.case import Case


@dataclass(frozen=True, eq=False)
class Bins:
    """One column cut for counting: levels as they are, numbers at quantiles of a reference table; missing is last.

    Levels that the reference table has not are one bin before the last; so are numbers beyond a least or largest value that is
    a spike, which no bin of theirs borders on.
    """

    column: Column
    edges: Floats
    labels: list[str]
    known: int
    """Bins of values that the reference table may hold."""
    spiked: tuple[bool, bool] = (False, False)
    """Whether the first bin, and the last, is a single value, so that what lies beyond does not belong to it."""

    def codes(self, table: Table) -> Integers:
        """The bin of each row."""
        array = table[self.column.name]
        if self.column.numeric:
            values = table.floats(self.column.name)
            cells = np.clip(np.searchsorted(self.edges, values, side="right") - 1, 0, len(self.edges) - 2)
            if len(self.labels) > self.known + 1:
                cells[self.beyond(values)] = self.known
            return np.where(np.isnan(values), len(self.labels) - 1, cells)
        index = {label: code for code, label in enumerate(self.labels[: self.known])}
        words = table.words(self.column.name)
        own = np.array([index.get(str(w), self.known) for w in words] + [len(self.labels) - 1])
        return own[array.astype(np.int64)]

    def beyond(self, values: Floats) -> Mask:
        """Which numbers lie beyond a least or largest value that is a spike."""
        low, high = self.spiked
        return np.asarray(((values < self.edges[0]) & low) | ((values >= self.edges[-1]) & high), np.bool_)

    def mass(self, table: Table) -> Floats:
        """The share of rows in each bin."""
        return np.bincount(self.codes(table), minlength=len(self.labels)) / max(table.rows, 1)


def binned(table: Table, name: str, bins: int, others: Iterable[Table] = ()) -> Bins:
    """Bins of a column, from the reference table; ``others`` are further tables that will be counted in them."""
    column = table.schema[name]
    if not column.numeric:
        words = [str(word) for word in table.words(name)]
        strange = any({str(word) for word in other.words(name)} - set(words) for other in others)
        others_bin = ["other levels"] if strange else []
        return Bins(column, np.empty(0), [*words, *others_bin, "missing"], len(words))
    values = table.floats(name)
    present = values[~np.isnan(values)]
    cuts, spike = quantiles(present, bins)
    # A value that holds two quantiles is a spike: it gets a bin of its own, which ends right above it.
    edges = np.unique(np.concatenate([cuts, above(column, cuts[spike])]))
    spans = [f"{column.write(a)} to {column.write(b)}" for a, b in pairwise(edges)]
    result = Bins(column, edges, [*spans, "missing"], len(spans), (bool(spike[0]), bool(spike[-1])))
    if any(result.beyond(other.floats(name)).any() for other in others):
        return replace(result, labels=[*spans, "other values", "missing"])
    return result


def quantiles(present: Floats, bins: int) -> tuple[Floats, Mask]:
    """Values at the quantiles, and which of them hold two at least."""
    cuts = np.quantile(present, np.linspace(0, 1, bins + 1), method="lower") if len(present) else np.zeros(2)
    same = np.diff(cuts) == 0
    return cuts, np.append(same, False) | np.append(False, same)


def above(column: Column, values: Floats) -> Floats:
    """The next value there can be."""
    return np.round(values + column.step, column.decimals or 0) if column.step else np.nextafter(values, np.inf)


@dataclass(frozen=True, eq=False)
class Coded:
    """All compared columns of the three tables in the bins of the training rows."""

    bins: Mapping[str, Bins]
    codes: Mapping[str, Mapping[str, Integers]]
    """By table (train, release, control), then by column: the bin of each row."""

    def size(self, name: str) -> int:
        """How many bins a column has, the one for missing values included."""
        return len(self.bins[name].labels)

    def counts(self, which: str, name: str) -> Integers:
        """The rows of a table in each bin of a column."""
        return np.bincount(self.codes[which][name], minlength=self.size(name))

    def mass(self, which: str, name: str) -> Floats:
        """The share of rows of a table in each bin of a column."""
        return self.counts(which, name) / max(len(self.codes[which][name]), 1)


def tables(case: Case) -> dict[str, Table]:
    """The three tables as a measure of utility reads them: a generalized cell is a value drawn from it."""
    return {"train": case.train, "release": case.ordinary(), "control": case.control}


@dataclass(frozen=True)
class Fresh:
    """Control rows as a baseline, scaled to what as many fresh rows as the release has would show.

    Two samples of one distribution, of n and of m rows, differ by chance by sqrt(1/n + 1/m) times what depends on neither, as the
    rows grow, for whatever is a norm of the difference of their empirical distributions (van der Vaart and Wellner 1996, section
    3.7). A control of few rows thus lies far from the training rows, which would excuse a bad release of many; ``ratio`` takes
    that away. It is at most 1: a release of few rows is not excused for being small.

    Where cells are many and rows few, distances of shares are near their bound of 1 and the law overstates how fast they shrink, so
    that it errs on the strict side: with a control of a quarter of the rows the baseline of a total variation is about 7 % too
    low where there are as many cells as rows, 20 % with five times as many, and right with a quarter as many.
    """

    ratio: float

    @classmethod
    def of(cls, case: Case) -> Fresh:
        """From the rows of the three tables."""
        train, release, control = (1 / case.tables[which].rows for which in ("train", "release", "control"))
        return cls(min(1.0, float(np.sqrt((train + release) / (train + control)))))

    def near(self, best: float, value: float) -> float:
        """A number that would be ``best`` without chance."""
        return best + (value - best) * self.ratio

    @property
    def note(self) -> str:
        """What a reader must know; empty where nothing was scaled."""
        return "; the baseline of the control rows is scaled to the number of released rows" if self.ratio < 1 else ""


def coded(case: Case, bins: int) -> Coded:
    """The three tables cut into at most so many bins, made once for all measures that ask for the same number."""

    def make() -> Coded:
        cuts = {name: binned(case.train, name, bins, others=(case.ordinary(), case.control)) for name in case.columns}
        codes = {which: {name: cut.codes(table) for name, cut in cuts.items()} for which, table in tables(case).items()}
        return Coded(cuts, codes)

    coded: Coded = case.once(("coded", bins), make)
    return coded
