"""A grid of hybrids in words: numbers with their units, what survives where, and how to read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hushtable.report.words import interval, number, sentence

if TYPE_CHECKING:
    from hushtable.api.compare.cell import Estimate
    from hushtable.api.hybrid.grid import Place, Value
    from hushtable.api.hybrid.hypotheses import Hypothesis
    from hushtable.api.hybrid.metrics import Metric
    from hushtable.api.hybrid.result import HybridCell, HybridGrid

SHOWN = ("singling-out", "inference", "gain", "score", "discriminator")
"""The metrics that are drawn along every axis; all are in the tables."""
TITLES = {
    "anonymizer": "By anonymizer",
    "k": "By k",
    "beta": "By beta, the share of rows that stay",
    "sampling": "By sampling",
    "transition": "By transition",
    "order": "By order",
    "generator": "By generator",
    "epsilon": "By epsilon",
}
STAGES = (("original", "original"), ("anonymized", "anonymized"), ("hybrid", "hybrid"), ("generated", "generator alone"))
"""The stages in the order of the pipeline, and what they are called."""
SIGNS = {"confirmed": "✓", "contradicted": "✗", "undecided": "?"}
TONES = {"confirmed": "calm", "contradicted": "alarm", "undecided": "open"}


def plain_value(metric: Metric, value: float | None) -> str:
    """A value of a metric without its unit: of 100 people where it is a share of people."""
    return number(value if value is None or not metric.people else 100 * value, 2 if metric.people else 3)


def unit(metric: Metric) -> str:
    """What a value of a metric is of (so many of 100 people), and which way is better."""
    way = "higher is better" if metric.better == "higher" else "lower is better"
    return f"of 100, {way}" if metric.people else way


def with_ends(metric: Metric, estimate: Estimate | None) -> str:
    """A value and its interval."""
    if estimate is None:
        return number(None)
    factor = 100.0 if metric.people else 1.0
    ends = [None if end is None else factor * end for end in (estimate.low, estimate.high)]
    shown = interval(*ends)
    return f"{plain_value(metric, estimate.value)} ({shown})" if shown else plain_value(metric, estimate.value)


def named(value: Value) -> str:
    """A value of an axis."""
    return number(value) if not isinstance(value, str) else value


def axes_of(place: Place) -> str:
    """Where a cell stands, in a few words."""
    parts = [
        f"k {place.k}" if place.k is not None else "",
        f"beta {place.beta:g}" if place.beta is not None else "",
        place.sampling if place.sampling not in (None, "none") else "",
        f"{place.transition} transition" if place.transition not in (None, "none") else "",
    ]
    budget = f"epsilon {place.epsilon:g}" if place.epsilon is not None else ""
    return ", ".join(filter(None, [*parts, budget]))


def levels_table(grid: HybridGrid, names: Sequence[str] = ()) -> tuple[list[str], list[list[str]]]:
    """The mean of every metric, or of those named, at every value of every axis: heads, and a line for each value."""
    metrics = {name: metric for name, metric in grid.metrics.items() if not names or name in names}
    heads = ["axis", "value", "cells", *(metric.label for metric in metrics.values())]
    lines = []
    for axis, values in grid.values.items():
        for value in values:
            found = {name: grid.level(axis, value, name) for name in metrics}
            cells = max((one.cells for one in found.values() if one), default=0)
            means = [plain_value(metrics[name], one.mean.value if one else None) for name, one in found.items()]
            lines.append([axis, named(value), number(cells), *means])
    return heads, lines


def surviving(grid: HybridGrid) -> list[tuple[str, str, list[HybridCell]]]:
    """Every promise that some hybrid still has: its evidence, its words, and the hybrids that have it, the strongest first."""
    groups: dict[tuple[str, str], list[HybridCell]] = {}
    for cell in grid.hybrids:
        groups.setdefault((str(cell.assurance), cell.promise), []).append(cell)
    ranked = sorted(groups.items(), key=lambda item: (-item[1][0].strength, -len(item[1])))
    return [(evidence, promise, cells) for (evidence, promise), cells in ranked]


def which(grid: HybridGrid, cells: list[HybridCell]) -> str:
    """What distinguishes some hybrids from the others: their values on the axes on which they have not all."""
    parts = []
    for axis in ("anonymizer", "k", "beta", "sampling", "transition", "order", "generator", "epsilon"):
        here, there = (dict.fromkeys(cell.place.on(axis) for cell in some) for some in (cells, grid.hybrids))
        if len(here) < len(there):
            parts.append(f"{axis} {', '.join(named(value) for value in here if value is not None)}")
    return "; ".join(parts) or "all"


def decided(one: Hypothesis) -> str:
    """A statement with its verdict, as a sentence."""
    return f"{sentence(one.statement).removesuffix('.')}: {one.verdict}."


def others(grid: HybridGrid, one: Hypothesis) -> str:
    """What the same difference is of other metrics; empty if there are none."""
    metrics = grid.metrics
    parts = [
        f"{metrics[effect.metric].label} {_signed(metrics[effect.metric], effect.difference)}"
        + (f" ({named(effect.start)} to {named(effect.stop)})" if len(one.decided_by) > 1 else "")
        for effect in one.beside
        if effect.metric in metrics
    ]
    return f"Beside it, which decides nothing: {'; '.join(parts)}." if parts else ""


def _signed(metric: Metric, difference: Estimate) -> str:
    factor = 100.0 if metric.people else 1.0
    shown = [None if end is None else _fixed(factor * end, metric) for end in (difference.value, difference.low, difference.high)]
    ends = "" if shown[1] is None else f" ({shown[1]} to {shown[2]})"
    return f"{shown[0]}{ends}"


def _fixed(value: float, metric: Metric) -> str:
    """A difference with its sign, all of one metric with the same decimals."""
    return f"{value:+.{2 if metric.people else 3}f}".replace("-", "−")


def reading(grid: HybridGrid) -> list[tuple[str, str]]:
    """The words of the page that a comparison does not have."""
    lines = [(metric.label.capitalize(), f"{metric.meaning}; {unit(metric)}.") for metric in grid.metrics.values()]
    return [
        *lines,
        (
            "Intervals of differences",
            "cells that are alike but for one part are paired; the mean difference has Student's interval at 95 % over the samples "
            "that the pairs are made of. It is about the cells of this grid, on this table and this split.",
        ),
        (
            "Change",
            "how much better a hybrid is than its generator alone, in percent of that; positive is better. The formula of the "
            "source, (pipeline - alone) / alone, is negative where a risk falls, while its tables print improvements as positive: "
            "here the sign follows from which way is better. There is no change where the generator alone has no risk that could "
            "be distinguished from none.",
        ),
        (
            "Original, anonymized, hybrid",
            "the training rows as they are; anonymized and brought back, without sample and generator; all of it. A generator "
            "alone was trained on the raw rows.",
        ),
        (
            "What survives",
            "derived k-anonymity is that of the table a generator was trained on: linking by the named columns succeeds with "
            "probability at most 1/k, and nothing else is promised. After a sample of single rows it is a k-map, which holds while "
            "nobody knows who was sampled; a transition that draws raw values leaves nothing.",
        ),
    ]
