"""The report of the study of risk metrics: table 4.3 beside ours, the curves, what metrics cost, and what the thesis says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushtable.api.certificate import Curve, Line
from hushtable.api.store import Result
from hushtable.evidence.confidence import Rate
from hushtable.studies import plasencia
from hushtable.studies import risk_metrics_published as published
from hushtable.studies import risk_metrics_statements as statements
from hushtable.studies.plasencia import SOURCE, TRANSFORMER, number, why_not
from hushtable.studies.plasencia_metrics import DCR, NEAR, RADIUS, RISKS
from hushtable.studies.report import Figure, Grid, Number, Numbers, Report, Section, Statements, refusals
from hushtable.studies.risk_curves import at, curves_of, drawn, line_of
from hushtable.studies.risk_metrics_published import LEAKY, OVERFIT, PRIVATE, SYNTHPOP
from hushtable.studies.study import slug

ENDS = {LEAKY: (0.0, 1.0), OVERFIT: (1.0, 2.0), SYNTHPOP: (1.0, 2.0), PRIVATE: (1.0, 100.0)}
"""No risk and the most, of each risk model: the share leaked, the overfit ratio, epsilon."""
TASKS = {
    LEAKY: ("leaky", "leaky"),
    OVERFIT: ("overfit RTF", "overfit"),
    SYNTHPOP: ("overfit synthpop", "overfit"),
    PRIVATE: ("private AIM", "private AIM"),
    "private, PATE-GAN": ("private PATE-GAN", "private PATE-GAN"),
    "size": ("overfit RTF", "size"),
    "outliers, RTF, ratio 1": ("outliers RTF", "outliers at overfit 1"),
    "outliers, RTF, ratio 1.6": ("outliers RTF", "outliers at overfit 1.6"),
    "outliers, synthpop, ratio 1": ("outliers synthpop", "outliers at overfit 1"),
    "outliers, synthpop, ratio 1.6": ("outliers synthpop", "outliers at overfit 1.6"),
}
"""For each curve the task that it is measured in, and its title there."""
FIGURES = {
    LEAKY: "Figure 4.2: leaked rows",
    OVERFIT: "Figure 4.3: an overfitted REaLTabFormer",
    SYNTHPOP: "Figure A.3: an overfitted synthpop",
    PRIVATE: "Figure 4.4: AIM by epsilon",
    "private, PATE-GAN": "Figure A.4: PATE-GAN by epsilon",
    "size": "Figure 4.8: more rows released",
    "outliers, RTF, ratio 1": "Figures 4.5, A.16 to A.18: outliers removed, REaLTabFormer",
    "outliers, RTF, ratio 1.6": "Figures 4.5, A.16 to A.18: outliers removed, overfitted REaLTabFormer",
    "outliers, synthpop, ratio 1": "Figures A.19 to A.21: outliers removed, synthpop",
    "outliers, synthpop, ratio 1.6": "Figures A.19 to A.21: outliers removed, overfitted synthpop",
}
NOTES = (
    "IMS is the share of released rows that equal a training row; DCR the score of the distance as published; attacks are residual "
    "risks (r - c)/(1 - c), c being their rate on people whom the generator never saw; DOMIAS is 2 AUC - 1.",
    "Linkability is the mean over splits of the columns with one neighbour, distance inference the mean over all columns, singling "
    "out the highest over numbers of columns. ML inference and GTCAP are about income (Adult) and the length of stay (Texas), from "
    "all other columns; GTCAP is the share of people about whom the strongest claim of the matching released rows is right.",
    "The overfit ratio is that of the loss of our network, or of the negative log-likelihood of our trees, on rows that were not "
    "trained on: it depends on how finely columns are cut, so equal ratios of two generators do not mean equal memory.",
    "Outliers are those of the local outlier factor under Gower's distance; in the thesis, in the space of a contrastive encoder.",
)


@dataclass(frozen=True, eq=False)
class Measured:
    """What was measured on one table."""

    title: str
    name: str
    results: Mapping[str, Result]
    runs: int

    @cached_property
    def curves(self) -> dict[str, Curve]:
        """Of all runs together, by the name of ``TASKS``."""
        found = {}
        for model, (task, title) in TASKS.items():
            curve = curves_of(self.of(task, "curves")).get(title)
            if curve is not None:
                found[model] = curve
        return found

    def of(self, task: str, key: str) -> list[Result]:
        """The results of a task that were not refused."""
        own = (self.results.get(f"{self.name}-{slug(task)}-{run}", {}) for run in range(self.runs))
        return [one for one in own if key in one]

    @cached_property
    def seconds(self) -> dict[str, float]:
        """The median over runs."""
        own = [one["seconds"] for one in self.of("seconds", "seconds")]
        return {metric: float(np.median([one[metric] for one in own])) for metric in own[0]} if own else {}

    def likeness(self, generator: str) -> list[Rate]:
        """How well its rows are distinguished from real ones, in each run."""
        own = self.of(f"likeness {generator}", "auc")
        return [Rate(one["auc"], one["low"], one["high"]) for one in own if one["auc"] is not None]


def report(
    results: Mapping[str, Result], here: Mapping[str, str], *, runs: int, skipped: Sequence[str], quick: str
) -> Report:  # fmt: skip
    """From the results of all tasks."""
    climbing = plasencia.climbing(quick=bool(quick)).recipe
    found = [Measured(title, name, results, runs) for title, name in here.items()]
    tables = [_table(model, {one.title: one for one in found}, climbing, quick) for model in ENDS]
    unmeasured = [
        f"{one.title}, {task}: {label}: {why}"
        for one in found
        for task, _ in dict.fromkeys(TASKS.values())
        for result in one.of(task, "unmeasured")
        for label, why in result["unmeasured"].items()
    ]
    return Report(
        title="Metrics of privacy under a risk that was put there",
        source=SOURCE,
        lead=f"Tables 4.3 and 4.4, figures 4.2 to 4.9 and those of the appendix: eight metrics along leaks of known size, the "
        f"overfit ratio of two generators, and the epsilon of private ones. REaLTabFormer is {TRANSFORMER} here, and "
        f"{climbing} where it is trained too far.",
        sections=(
            Section(title="Without inserted risk, and with the most", parts=tuple(tables)),
            Section(title="Curves", parts=tuple(figure for one in found for figure in _figures(one))),
            Section(
                title="Correlations of metrics, what they cost, and what rows are like",
                parts=(*(grid for one in found for grid in _correlations(one)), _seconds(found), _likeness(found)),
            ),
            Section(
                title="What the thesis says",
                parts=tuple(
                    Statements(title=f"Chapter 4, on {one.title}", statements=tuple(statements.about(one.title, one)))
                    for one in found
                ),
            ),
        ),
        notes=(*NOTES, *(f"In the source: {error}" for error in published.ERRORS)),
        skipped=(*skipped, *refusals(results), *dict.fromkeys(unmeasured)),
    )


def _table(model: str, found: Mapping[str, Measured], climbing: str, quick: str) -> Numbers:
    numbers: list[Number] = []
    generators = {OVERFIT: climbing, SYNTHPOP: "sequential", PRIVATE: "aim"}
    for data in (*found, *(one for one in published.DATA if one not in found)):
        for metric in RISKS:
            printed = published.TABLE_4_3.get((model, data, metric), (None, None))
            curve = found[data].curves.get(model) if data in found else None
            line = line_of(curve, metric)
            for level, value, word in zip(ENDS[model], printed, ("no risk", "most risk"), strict=True):
                own = at(line, level)
                why = why_not(data, generators.get(model, ""), quick) or ("" if own else "not measured here")
                numbers.append(
                    number([own] if own else [], data=data, method=model, measure=f"{metric}, {word}", published=value, why_not=why)
                )
    return Numbers(title=f"Table 4.3: {model}", numbers=tuple(numbers), note=_reached(model, found))


def _reached(model: str, found: Mapping[str, Measured]) -> str:
    """How far our generator was trained, where that is what is varied."""
    if model not in (OVERFIT, SYNTHPOP):
        return ""
    lines = {title: line_of(one.curves.get(model), DCR) for title, one in found.items()}
    reached = [f"{title} {', '.join(f'{level:.3g}' for level in line.levels)}" for title, line in lines.items() if line]
    return f"The overfit ratios that were reached: {'; '.join(reached)}. The nearest to 1 and 2 are in the table."


def _figures(one: Measured) -> list[Figure]:
    figures = []
    for model, heading in FIGURES.items():
        curve = one.curves.get(model)
        lines = {metric: line for metric in RISKS if (line := line_of(curve, metric)) is not None}
        if curve is not None and lines:
            name = slug(f"{one.name}-{model}").lower()
            private = model.startswith("private")
            caption = f"Metrics by {curve.along}, on {one.title}."
            figures.append(drawn(name, f"{heading}, {one.title}", caption, lines, along=curve.along, log=private))
    figures += [
        figure
        for model, number_ in ((LEAKY, "A.11"), (OVERFIT, "4.6"))
        if (figure := _by_knob(one, model, f"Figure {number_}: k neighbours", NEAR, "neighbours")) is not None
    ]
    radius = _by_knob(one, OVERFIT, "Figure 4.7: radius of GTCAP", RADIUS, "radius")
    return figures if radius is None else [*figures, radius]


def _by_knob(one: Measured, model: str, heading: str, metric: str, what: str) -> Figure | None:
    """A metric with its knob turned: the distance with ever more neighbours beside the closest record, GTCAP by radius."""
    curve = one.curves.get(model)
    if curve is None:
        return None
    lines: dict[str, Line] = {line.scope: line for line in curve.scopes if line.name == metric}
    closest = line_of(curve, DCR)
    if metric == NEAR and closest is not None:
        lines = {"1 nearest": closest, **lines}
    if not lines:
        return None
    name, caption = slug(f"{one.name}-{model}-{what}").lower(), f"By {curve.along}, on {one.title}."
    return drawn(name, f"{heading}, {one.title}", caption, lines, along=curve.along)


def _correlations(one: Measured) -> list[Grid]:
    grids = []
    for model, figure in ((LEAKY, "A.6"), (OVERFIT, "A.7"), (SYNTHPOP, "A.8")):
        matrix = statements.correlations(one.curves.get(model))
        if matrix:
            rows = tuple((a, *("-" if (r := matrix[a][b]) is None else f"{r:.2f}" for b in matrix)) for a in matrix)
            note = "Pearson's correlation over the levels; - where a metric does not vary."
            grids.append(Grid(title=f"Figure {figure}: {model}, {one.title}", heads=("metric", *matrix), rows=rows, note=note))
    return grids


def _seconds(found: Sequence[Measured]) -> Grid:
    heads, columns = ["metric"], []
    metrics = tuple(dict.fromkeys((*published.SECONDS, *RISKS)))
    ours = {one.title: one.seconds for one in found}
    for place, title in enumerate(published.DATA):
        heads.append(f"{title}, published")
        columns.append([f"{published.SECONDS[m][place]:g}" if m in published.SECONDS else "-" for m in metrics])
        if ours.get(title):
            heads.append(f"{title}, ours")
            columns.append([f"{ours[title][m]:.2g}" if m in ours[title] else "-" for m in metrics])
    rows = tuple((metric, *cells) for metric, *cells in zip(metrics, *columns, strict=True))
    note = "Seconds; ours of processor time, on fewer rows. Other machines and other code: read the ratios within a column."
    return Grid(title="Table 4.4: seconds of a metric", heads=tuple(heads), rows=rows, note=note)


def _likeness(found: Sequence[Measured]) -> Grid:
    rows = []
    for generator in statements.GENERATORS:
        cells = []
        for one in found:
            values = [rate.value for rate in one.likeness(generator)]
            cells.append(f"{np.mean(values):.3f}" if values else "-")
        rows.append((generator, *cells))
    note = "AUC of boosted trees that distinguish released rows from real ones: 0.5 is best. The thesis prints no numbers."
    return Grid(
        title="Figure 4.9: what rows are like", heads=("generator", *(one.title for one in found)), rows=tuple(rows), note=note
    )
