"""The report of the study of hybrids: tables A.1 to A.4, what the source says, and its figures as means with intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hushtable.api.hybrid.grid import Stage
from hushtable.api.hybrid.metrics import METRICS
from hushtable.api.hybrid.result import HybridCell, HybridGrid
from hushtable.evidence.finding import Better
from hushtable.studies.curves import Line, curves
from hushtable.studies.plasencia import ADULT, SOURCE
from hushtable.studies.report import Figure, Grid, Number, Numbers, Part, Report, Section, Statement, Statements, refusals

CHANGED = {
    "singling-out": "singling out",
    "inference": "inference",
    "discriminator": "ML efficacy (discriminator)",
    "tvd": "TVD",
    "wasserstein": "Wasserstein distance",
}
"""The metrics of the tables, and what the source calls them."""
RISKS = ("singling-out", "inference", "linkability")
UTILITY = ("score", "discriminator", "tvd")
NOTHING = "the generator alone leaks nothing here that could be measured, so that there is no whole to take a share of"
NOTES = (
    "A change is that against the generator alone, in percent of it, and positive is better whatever the metric, as the tables of "
    "the source print it. Its formula (5.3) gives a negative number where a risk falls.",
    "Risks are what attacks gain on people in the table over people outside (r - c), the mean over all ways of an attack. The "
    "total variation has its factor of one half here, which formula 5.2 of the source lacks; in a change it cancels.",
    "What the source calls ML efficacy is how well a model distinguishes released rows from real ones.",
    "No promise survives a conditional transition: it reads raw rows. After the others a k-anonymity derived from the anonymized "
    "table is left, or a k-map after a random sample. Nothing in the pipeline is differentially private, and the reading of the "
    "source as privacy for groups does not hold.",
    "The grid is of sequential trees (and, unless quick, of the autoregressive network) as this library runs them; the printed "
    "configurations have the generators of the source, unrefined.",
)


@dataclass(frozen=True)
class Configuration:
    """A configuration whose changes are printed, in percent: singling out, inference, ML efficacy, TVD, Wasserstein."""

    table: str
    k: int
    order: str
    transition: str
    sampling: str
    beta: float
    generator: str
    printed: tuple[float, float, float, float, float]

    @property
    def name(self) -> str:
        """Of its task."""
        return f"table-{self.table.rpartition(' ')[2]}"

    @property
    def words(self) -> str:
        """As people call it."""
        return f"k {self.k}, {self.order} {self.transition}, {self.sampling}, beta {self.beta:g}, {self.generator}"


CONFIGURATIONS = (
    Configuration("Table A.1", 5, "post", "uniform", "stratified", 1.0, "ctgan", (48.3, 52.1, -8.1, 27.8, -204.4)),
    Configuration("Table A.2", 20, "post", "uniform", "stratified", 1.0, "realtabformer", (61.5, 6.7, -42.6, -16.5, -412.6)),
    Configuration("Table A.3", 20, "pre", "uniform", "random", 0.5, "ctgan", (18.8, 64.6, -17.2, 16.0, -293.3)),
    Configuration("Table A.4", 10, "pre", "conditional", "stratified", 1.0, "tabddpm", (-42.8, -38.8, 7.9, 33.1, 46.9)),
)
"""The best overall, by singling out, by inference, and by ML efficacy."""
Results = Mapping[str, Mapping[str, Any]]


def report(why_not: str, skipped: Sequence[str], results: Results) -> Report:
    """The printed tables, then the grid."""
    whole = merged(results)
    sections = [Section(title="The printed configurations", parts=(_printed(why_not, results), _raw(results)), lead=LEAD)]
    if whole is not None:
        said = Statements(title="What section 5.3 says", statements=tuple(_said(whole)))
        parts: tuple[Part, ...] = (said, *_levels(whole), *_figures(whole), _stages(whole))
        lead = (
            f"{len(whole.hybrids)} hybrids, each attacked and measured on the same people; differences are those of paired cells."
        )
        sections.append(Section(title="The grid", parts=parts, lead=lead))
    return Report(
        title="Hybrids of anonymization and synthesis",
        source=f"{SOURCE}, chapter 5 and appendix A.4",
        lead="k-anonymity, a sample, a transition back to ordinary values before or after a generator: what each part does to risk "
        "and utility, and the four configurations whose numbers the source prints.",
        sections=tuple(sections),
        notes=NOTES,
        skipped=(*skipped, *refusals(results)),
    )


LEAD = (
    "Changes against the generator alone, in percent of it; positive is better. A share of a risk is defined only where the "
    "generator alone has a risk."
)


def merged(results: Results) -> HybridGrid | None:
    """One grid of all that were run; what several of them hold alike stands there once."""
    grids = [HybridGrid.from_json(one) for name, one in results.items() if name.startswith("grid-") and "cells" in one]
    if not grids:
        return None
    cells: dict[tuple[str, object], HybridCell] = {}
    for one in grids:
        cells |= {(cell.id, cell.place): cell for cell in one.cells}
    return HybridGrid(comparison=grids[0].comparison, cells=tuple(cells.values()))


def _hybrid_of(one: Configuration, results: Results) -> HybridCell | None:
    found = results.get(one.name, {})
    if "cells" not in found:
        return None
    return next(iter(HybridGrid.from_json(found).hybrids), None)


def _printed(why_not: str, results: Results) -> Numbers:
    numbers = []
    for one in CONFIGURATIONS:
        cell = _hybrid_of(one, results)
        for (metric, label), printed in zip(CHANGED.items(), one.printed, strict=True):
            ours = None if cell is None else cell.changes.get(metric)
            why = why_not if ours is not None or cell is None else NOTHING
            numbers.append(
                Number(
                    data=ADULT,
                    method=f"{one.table}: {one.words}",
                    measure=f"{label}, change in %",
                    published=printed,
                    ours=ours,
                    better=Better.HIGHER,
                    why_not=why,
                )
            )
    return Numbers(title="Tables A.1 to A.4", numbers=tuple(numbers))


def _raw(results: Results) -> Grid:
    """The values behind the changes, of the hybrid and of its generator alone."""
    rows = []
    for one in CONFIGURATIONS:
        found = results.get(one.name, {})
        cells = HybridGrid.from_json(found).cells if "cells" in found else ()
        for cell in cells:
            if cell.place.stage in (Stage.HYBRID, Stage.GENERATED):
                what = "hybrid" if cell.place.stage is Stage.HYBRID else "generator alone"
                rows.append((one.table, what, *(_number(cell, metric) for metric in CHANGED), cell.promise or cell.failed))
    return Grid(title="Their values", heads=("table", "release", *CHANGED.values(), "promise"), rows=tuple(rows))


def _number(cell: HybridCell, metric: str) -> str:
    known = cell.metrics.get(metric)
    if known is None:
        return "-"
    ends = "" if known.low is None or known.high is None else f" ({known.low:.3f} to {known.high:.3f})"
    return f"{known.value:.3f}{ends}"


def _said(grid: HybridGrid) -> Iterator[Statement]:
    for one in grid.hypotheses:
        yield Statement(says=one.statement, verdict=one.verdict, because=one.words)


def _levels(grid: HybridGrid) -> Iterator[Grid]:
    """The means behind figures 5.3 to 5.7, with their intervals."""
    for axis, values in grid.values.items():
        rows = []
        for value in values:
            levels = [grid.level(axis, value, metric) for metric in (*RISKS, *UTILITY)]
            shown = ["-" if one is None else _mean(one.mean.value, one.mean.low, one.mean.high) for one in levels]
            rows.append((f"{value:g}" if isinstance(value, (int, float)) else str(value), *shown))
        heads = (axis, *(METRICS[metric].label for metric in (*RISKS, *UTILITY)))
        yield Grid(title=f"Means by {axis} (figures 5.3 to 5.7)", heads=heads, rows=tuple(rows))


def _mean(value: float, low: float | None, high: float | None) -> str:
    return f"{value:.3f}" + ("" if low is None or high is None else f" ({low:.3f} to {high:.3f})")


def _figures(grid: HybridGrid) -> Iterator[Figure]:
    """Risk and utility along the axes that are numbers, a curve for each transition."""
    ways = list(dict.fromkeys(cell.place.transition for cell in grid.hybrids))
    for axis in ("k", "beta"):
        for metric in ("singling-out", "score"):
            lines = [
                Line(name=str(way), points=_along(grid, axis, metric, way), colour=place)
                for place, way in enumerate(ways)
            ]  # fmt: skip
            if any(len(line.points) > 1 for line in lines):
                label = f"{METRICS[metric].label} by {axis}"
                yield Figure(
                    name=f"{metric}-{axis}", title=f"{label.capitalize()}, by transition",
                    caption="Mean over all other settings of the grid.", drawn=curves(label, lines, axis, log=axis == "k"),
                )  # fmt: skip


def _along(grid: HybridGrid, axis: str, metric: str, way: str | None) -> list[tuple[float, float]]:
    points = []
    for value in grid.values.get(axis, []):
        cells = [
            cell.metrics[metric].value
            for cell in grid.select(transition=way)
            if cell.place.on(axis) == value and metric in cell.metrics
        ]
        if cells and isinstance(value, (int, float)):
            points.append((float(value), sum(cells) / len(cells)))
    return points


def _stages(grid: HybridGrid) -> Grid:
    """Figure 5.2: from the original to the hybrid."""
    rows = []
    for stage in Stage:
        values = [grid.stage(stage, metric) for metric in (*RISKS, *UTILITY)]
        rows.append((str(stage), *("-" if one is None else _mean(one.value, one.low, one.high) for one in values)))
    heads = ("stage", *(METRICS[metric].label for metric in (*RISKS, *UTILITY)))
    return Grid(title="From the original to the hybrid (figure 5.2)", heads=heads, rows=tuple(rows))
