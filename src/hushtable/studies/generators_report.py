"""The report of the study of private generators: table 5.1, curves by epsilon, and what the publication says of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from hushtable.errors import InputError
from hushtable.evidence.finding import Better
from hushtable.measures.composite_models import SVC_ROWS
from hushtable.studies.composite_table import PUBLISHED
from hushtable.studies.curves import Line, curves
from hushtable.studies.report import (
    Figure,
    Grid,
    Number,
    Numbers,
    Report,
    Section,
    Statement,
    Statements,
    Verdict,
    over_runs,
    refusals,
)
from hushtable.studies.study import slug
from hushtable.studies.verdicts import Runs, all_of, best, spoken, surely_better, worst

MEASURES = {
    "g": ("G", "correlations and classifiers together, 0 for a copy of the rows"),
    "g_plus": ("G+", "G and the distance of the columns' distributions"),
    "mu": ("mu", "how far the correlations lie apart, divided by the number of pairs of columns"),
    "delta": ("delta", "how differently classifiers perform, each tested on the table it was trained on"),
    "nu": ("nu", "mean total variation of the columns, 0 to 1"),
    "score": ("score", "mean of accuracy, recall and F1 of three classifiers, trained and tested on the synthetic rows"),
    "there": ("score on real rows", "the same classifiers, trained on the synthetic rows and tested on real ones"),
}
DRAWN = ("g", "g_plus", "score", "there")
NOTES = (
    "Lower is better for G, G+, mu, delta and nu. alpha = beta = gamma = 1.",
    "Gauss (the hybrid DPCopula) and Vine (Copula-Shirley) run as published. What their sources claim is not proven (Gauss) or "
    "does not hold (Vine): their epsilon is infinite, and that they lie below a proven method says nothing for them.",
    "PrivBayes and NPGauss spend pure epsilon, as published, for one record replaced; NPGauss with the sensitivity put right. "
    "mst, aim, vine-certified and privbayes are proven with a delta of at most 1e-6, for a record added or removed.",
    "mu divides a root of a sum of squares by the number of pairs, so it shrinks as columns are added: with fifteen columns "
    "G is nearly delta alone.",
    "delta and the score of the synthetic rows are measured on the table that was trained on, as published: a generator may "
    "make up rows whose class is easy to guess and score well. On real rows that does not help; the generators have seen them.",
    f"Classifiers are scikit-learn's with its defaults, recall and F1 are of the rarer class; support vectors learn from at "
    f"most {SVC_ROWS:,} rows. The publication drops rows with missing values; here they are kept.",
)


@dataclass(frozen=True, kw_only=True)
class Extent:
    """What is run: the data sets, the epsilons, how often, and how many rows of each set at most."""

    names: tuple[str, ...]
    epsilons: tuple[float, ...]
    runs: int
    rows: int | None = None

    def with_runs(self, runs: int | None) -> Extent:
        """The same with as many runs, if a number is given."""
        if runs is not None and runs < 1:
            raise InputError("needs at least one run", where="study")
        return self if runs is None else replace(self, runs=runs)


class Method(Protocol):
    """A method of the study."""

    @property
    def name(self) -> str:
        """In the files."""

    @property
    def shown(self) -> str:
        """On the page."""

    @property
    def published(self) -> bool:
        """Whether it is one of the publication's."""


Results = Mapping[str, Mapping[str, Any]]


def report(extent: Extent, sets: tuple[str, ...], methods: Sequence[Method], skipped: Sequence[str], results: Results) -> Report:
    """All of it: first what has numbers in the publication, then a section for each data set."""
    sections = [_points(results)]
    for name in sets:
        sections.append(_data(extent, name, methods, results))
    return Report(
        title="Private generators by epsilon",
        source="A. Galloni, Evaluating synthetic data generators in the context of differential privacy, dissertation, 2025",
        lead="Four private generators of the publication and four of ours, by epsilon, under the scores G (correlations and "
        "classifiers) and G+ (the distributions of columns as well). The curves of the publication have no printed numbers; table "
        "5.1, which shows what G does not see, has.",
        sections=tuple(sections),
        notes=NOTES,
        skipped=(*skipped, *refusals(results)),
    )


def _points(results: Results) -> Section:
    draws = [one for name, one in results.items() if name.startswith("points-") and "refused" not in one]
    numbers = [
        Number.over([draw[way][key] for draw in draws], data="500 points", method=way, measure=MEASURES[key][0], published=printed)
        for way, row in PUBLISHED.items()
        for key, printed in row.items()
    ]
    note = (
        "The data, their number and the bins are not given: points were chosen that keep what the text says of them (correlation "
        "0.9). The published numbers are of one draw; the intervals are those of the mean of ours."
    )
    table = Numbers(title="Table 5.1: metrics and scores of a synthetic data set", numbers=tuple(numbers), note=note)
    return Section(
        title="What G does not see",
        parts=(table,),
        lead="A set of points is turned, moved, and replaced by others of the same moments: G notices the last alone, G+ all.",
    )


def _data(extent: Extent, name: str, methods: Sequence[Method], results: Results) -> Section:
    def runs(method: Method, epsilon: float, key: str) -> list[float]:
        names = [f"{name}-{slug(method.name)}-{epsilon:g}-{run}" for run in range(extent.runs)]
        return [results[one][key] for one in names if key in results.get(one, {})]

    real = results.get(f"{name}-real", {})
    figures = []
    for key in DRAWN:
        places = {m.name: place for side in (True, False) for place, m in enumerate(m for m in methods if m.published is side)}
        lines = [
            Line(
                name=m.shown,
                points=list(_means((e, runs(m, e, key)) for e in extent.epsilons)),
                colour=places[m.name],
                dashed=not m.published,
            )
            for m in methods
        ]
        level = ("real rows", real["score"]) if key in ("score", "there") and "score" in real else None
        drawn = curves(f"{MEASURES[key][0]} by epsilon on {name}", lines, "epsilon", log=True, level=level)
        caption = f"{MEASURES[key][1]}. Solid: as published. Dashed: ours."
        figures.append(Figure(name=f"{name}-{key}", title=MEASURES[key][0], caption=caption, drawn=drawn))
    heads = ("method", *(f"epsilon {e:g}" for e in extent.epsilons))
    grids = [
        Grid(
            title=f"{label}: {meaning}",
            heads=heads,
            rows=tuple((m.shown, *(_shown(runs(m, e, key)) for e in extent.epsilons)) for m in methods),
        )
        for key, (label, meaning) in MEASURES.items()
    ]
    ends = [{m.name: runs(m, e, "score") for m in methods if m.published} for e in (extent.epsilons[0], extent.epsilons[-1])]
    return Section(title=name, parts=(_said(*ends), *figures, *grids), lead=_lead(real))


def _said(least: Runs, most: Runs) -> Statements:
    """What the publication says of the score, at the smallest and at the largest epsilon."""
    rises = []
    for name, values in most.items():
        falls = surely_better(least[name], values, Better.HIGHER)
        up = surely_better(values, least[name], Better.HIGHER)
        rises.append(Verdict.CONTRADICTED if falls else Verdict.CONFIRMED if up else Verdict.UNDECIDED)
    without = {name: values for name, values in most.items() if name != "PrivBayes, degree 2"}
    return Statements(
        title="Section 4.4.2",
        statements=(
            Statement(
                says="At higher values of epsilon all methods perform more reliably: the average of the accuracy metrics rises.",
                verdict=all_of(rises),
                because=f"At the smallest epsilon: {spoken(least)}; at the largest: {spoken(most)}.",
            ),
            Statement(
                says="PrivBayes is the best performing method and NPGauss the worst.",
                verdict=all_of([best("PrivBayes, degree 3", without, Better.HIGHER), worst("NPGauss", most, Better.HIGHER)]),
                because=f"Score at the largest epsilon: {spoken(most)}.",
            ),
        ),
    )


def _means(points: Iterable[tuple[float, list[float]]]) -> Iterable[tuple[float, float]]:
    for epsilon, values in points:
        middle, _, _ = over_runs(values)
        if middle is not None:
            yield epsilon, middle


def _shown(values: Sequence[float]) -> str:
    middle, low, high = over_runs(values)
    if middle is None:
        return "-"
    return f"{middle:.3f}" + ("" if low is None or high is None else f" ({low:.3f} to {high:.3f})")


def _lead(real: Mapping[str, Any]) -> str:
    if "rows" not in real:
        return ""
    return (
        f"{real['rows']:,} rows, {real['columns']} columns; the class is {real['target']}. Classifiers trained and tested on the "
        f"real rows score {real['score']:.3f}, with an accuracy of {real['accuracy']:.3f}."
    )
