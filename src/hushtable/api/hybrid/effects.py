"""What an axis of the grid does: means of its levels, and differences between cells that are alike but for it.

Cells that are made of one sample of one anonymized table share its luck, so intervals count such groups of cells, not cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from hushtable.api.compare.cell import Estimate
from hushtable.api.hybrid.grid import AXES, Place, Stage, Value
from hushtable.api.hybrid.metrics import METRICS
from hushtable.pipeline.hybrid import NONE

if TYPE_CHECKING:
    from hushtable.api.hybrid.result import HybridCell

FEWEST = 3
"""Groups without which nothing is said about the spread between them."""
STAGE = "stage"
SAMPLE = ("anonymizer", "k", "beta", "sampling")
"""What decides which rows a generator is trained on; and the budget, where that is the anonymizer's."""
Grouped = tuple[object, float]
"""The group that a number belongs to, and the number."""


@dataclass(frozen=True, kw_only=True)
class Level:
    """The mean of a metric over all hybrids at one value of an axis."""

    axis: str
    value: Value
    metric: str
    mean: Estimate
    cells: int
    groups: int
    """The samples that these cells are made of."""

    def to_json(self) -> dict[str, Any]:
        """As ``hybrid.json`` holds it."""
        named = {"axis": self.axis, "value": self.value, "metric": self.metric, "cells": self.cells, "groups": self.groups}
        return named | self.mean.to_json()


@dataclass(frozen=True, kw_only=True)
class Effect:
    """By how much a metric differs between two values of an axis, mean over pairs of cells that are alike in all else.

    The interval is Student's over groups of pairs that share a sample. It is about the mean of *these* cells on this table and
    this split; groups that differ in truth make it wider, not wrong.
    """

    axis: str
    start: Value
    stop: Value
    metric: str
    difference: Estimate
    """The value at ``stop`` less that at ``start``; without ends where there are too few groups."""
    pairs: int
    groups: int
    """The samples, or pairs of samples, that these pairs are made of."""

    def to_json(self) -> dict[str, Any]:
        """As ``hybrid.json`` holds it."""
        named = {"axis": self.axis, "start": self.start, "stop": self.stop, "metric": self.metric}
        return named | {"pairs": self.pairs, "groups": self.groups} | self.difference.to_json()


def mean_of(grouped: Sequence[Grouped]) -> tuple[Estimate, int]:
    """The mean over groups of the means inside them, with Student's interval at 95 % if there are enough; and their number."""
    inside: dict[object, list[float]] = {}
    for group, value in grouped:
        inside.setdefault(group, []).append(value)
    means = [float(np.mean(values)) for values in inside.values()]
    middle = float(np.mean(means))
    if len(means) < FEWEST:
        return Estimate(middle), len(means)
    radius = float(stdtrit(len(means) - 1, 0.975)) * float(np.std(means, ddof=1)) / math.sqrt(len(means))
    return Estimate(middle, middle - radius, middle + radius), len(means)


def sample_of(place: Place, axis: str = "") -> tuple[Value, ...]:
    """The sample that a cell is made of, whatever its value on one axis."""
    own = place if _budgeted(place) else replace(place, epsilon=None)
    return tuple(own.on(one) for one in (*SAMPLE, "epsilon") if one != axis)


def _budgeted(place: Place) -> bool:
    """Whether its budget is that of an anonymizer, which then samples by itself; else it is that of its generator."""
    return place.epsilon is not None and place.sampling is None


def varied(cells: Iterable[HybridCell]) -> dict[str, list[Value]]:
    """The axes on which hybrids differ, with their values, numbers in their order."""
    hybrids = [cell.place for cell in cells if cell.place.stage is Stage.HYBRID]
    found: dict[str, list[Value]] = {}
    for axis in AXES:
        values = list(dict.fromkeys(place.on(axis) for place in hybrids if place.on(axis) is not None))
        if axis == "sampling":
            values = [value for value in values if value != NONE]
        if len(values) > 1:
            found[axis] = sorted(values, key=float) if all(isinstance(v, (int, float)) for v in values) else values  # type: ignore[arg-type]
    return found


def levels(cells: Sequence[HybridCell]) -> list[Level]:
    """The mean of every metric at every value of every axis."""
    result = []
    for axis, values in varied(cells).items():
        for value in values:
            there = [cell for cell in cells if cell.place.stage is Stage.HYBRID and cell.place.on(axis) == value]
            for metric in METRICS:
                numbers = [(sample_of(cell.place), cell.metrics[metric].value) for cell in there if metric in cell.metrics]
                if numbers:
                    mean, groups = mean_of(numbers)
                    result.append(Level(axis=axis, value=value, metric=metric, mean=mean, cells=len(numbers), groups=groups))
    return result


def effects(cells: Sequence[HybridCell]) -> list[Effect]:
    """The effect of every axis on every metric, between any two of its values; and of the stages."""
    result = [one for axis, values in varied(cells).items() for one in _along(cells, axis, values)]
    return result + list(_stages(cells))


def _along(cells: Sequence[HybridCell], axis: str, values: Sequence[Value]) -> Iterator[Effect]:
    drawn = [cell.place.sampling for cell in cells if cell.place.stage is Stage.HYBRID]
    samplings = list(dict.fromkeys(sampling for sampling in drawn if sampling not in (None, NONE)))
    by_place: dict[Place, HybridCell] = {}
    for cell in cells:
        if cell.place.stage is Stage.HYBRID:
            for place in _stands(cell.place, axis, samplings):
                by_place.setdefault(place, cell)
    for start, stop in combinations(values, 2):
        pairs = [
            (_shared(place, axis, cell, other), cell, other)
            for place, cell in by_place.items()
            if place.on(axis) == start and (other := by_place.get(_moved(place, axis, stop))) is not None
        ]
        for metric in METRICS:
            known = [
                (group, b.metrics[metric].value - a.metrics[metric].value)
                for group, a, b in pairs
                if metric in a.metrics and metric in b.metrics
            ]
            if known:
                yield _effect(axis, (start, stop), metric, known)


def _shared(place: Place, axis: str, one: HybridCell, other: HybridCell) -> tuple[Value, ...]:
    """What a pair has in common with others that share its luck: what is not sampled is the same for every way to sample."""
    unsampled = axis == "beta" and NONE in (one.place.sampling, other.place.sampling)
    return sample_of(replace(place, sampling=None) if unsampled else place, axis)


def _stands(place: Place, axis: str, samplings: Sequence[Value]) -> list[Place]:
    """Where a cell stands in pairs along an axis: without a sample it is the whole of every way to sample.

    Of generators one may spend a budget that the other has none of; of several budgets the first is paired.
    """
    if axis == "generator" and not _budgeted(place):
        return [replace(place, epsilon=None)]
    if axis == "beta" and place.sampling == NONE:
        return [_moved(place, "sampling", sampling) for sampling in samplings] or [place]
    return [place]


def _moved(place: Place, axis: str, value: Value) -> Place:
    return replace(place, **{axis: value})  # type: ignore[arg-type]


def _stages(cells: Sequence[HybridCell]) -> Iterator[Effect]:
    """From the original to the anonymized tables and on to the hybrids made of them; and from generators alone to hybrids."""
    original = next((cell for cell in cells if cell.place.stage is Stage.ORIGINAL), None)
    ways = {cell.place.transition for cell in cells if cell.place.stage is Stage.HYBRID}
    middle = [cell for cell in cells if cell.place.stage is Stage.ANONYMIZED and cell.place.transition in ways]
    generated = [cell for cell in cells if cell.place.stage is Stage.GENERATED]
    for metric in METRICS:
        before = None if original is None else original.metrics.get(metric)
        for stop, reached in ((Stage.ANONYMIZED, middle), (Stage.GENERATED, generated)):
            after = [(sample_of(cell.place), cell.metrics[metric].value) for cell in reached if metric in cell.metrics]
            if before is not None and after:
                steps = [(group, value - before.value) for group, value in after]
                yield _effect(STAGE, (str(Stage.ORIGINAL), str(stop)), metric, steps)
        onward = [
            (sample_of(cell.place), mean - cell.metrics[metric].value)
            for cell in middle
            if metric in cell.metrics and (mean := _after(cell, cells, metric)) is not None
        ]
        if onward:
            yield _effect(STAGE, (str(Stage.ANONYMIZED), str(Stage.HYBRID)), metric, onward)
        over = [
            (sample_of(cell.place), cell.metrics[metric].value - one.metrics[metric].value)
            for cell in cells
            if cell.place.stage is Stage.HYBRID and metric in cell.metrics
            if (one := alone(cell.place, cells)) is not None and metric in one.metrics
        ]
        if over:
            yield _effect(STAGE, (str(Stage.GENERATED), str(Stage.HYBRID)), metric, over)


def alone(place: Place, cells: Sequence[HybridCell]) -> HybridCell | None:
    """The generator of a hybrid by itself: with the same budget, where it spends one."""
    same = [cell for cell in cells if cell.place.stage is Stage.GENERATED and cell.place.generator == place.generator]
    return next((cell for cell in same if cell.place.epsilon in (None, place.epsilon)), None)


def _effect(axis: str, between: tuple[Value, Value], metric: str, differences: Sequence[Grouped]) -> Effect:
    difference, groups = mean_of(differences)
    start, stop = between
    return Effect(
        axis=axis, start=start, stop=stop, metric=metric, difference=difference, pairs=len(differences), groups=groups
    )  # fmt: skip


def _after(anonymized: HybridCell, cells: Sequence[HybridCell], metric: str) -> float | None:
    """The mean over the hybrids that are made of an anonymized table."""
    here = anonymized.place
    values = [
        cell.metrics[metric].value
        for cell in cells
        if cell.place.stage is Stage.HYBRID
        and (cell.place.anonymizer, cell.place.k, cell.place.transition) == (here.anonymizer, here.k, here.transition)
        and metric in cell.metrics
    ]
    return float(np.mean(values)) if values else None
