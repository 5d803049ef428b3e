"""The report of the study of contrastive attacks: the published tables beside ours, the curves, and what the thesis says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from hushtable.api.certificate import Curve
from hushtable.api.store import Result
from hushtable.evidence.confidence import Rate
from hushtable.studies import attacks_published as published
from hushtable.studies import risk_curves
from hushtable.studies.attacks_published import FIRST, INFERENCES, LINKS
from hushtable.studies.attacks_statements import about_leaks, about_releases, about_seconds
from hushtable.studies.plasencia import ADULT, CENSUS, SOURCE, TEXAS, TRANSFORMER, climbing, number, why_not
from hushtable.studies.releases import Method
from hushtable.studies.report import Figure, Grid, Number, Numbers, Part, Report, Section, Statements, refusals
from hushtable.studies.study import slug

ALL = (*FIRST, *LINKS, *INFERENCES)
NOTES = (
    "An attack's number is its residual risk (r - c)/(1 - c), c being its rate on people whom the generator never saw; 0 is no "
    "risk. Singling out is the highest over numbers of columns, linkability the mean over splits of the columns, inference the "
    "mean over all columns, each guessed from all others. The distance is the score as published, which can be negative.",
    "Neighbours are those of Gower's distance; the thesis scales numbers to unit variance and takes codes of levels for numbers "
    "in the score of the distance.",
    "The encoder has layers of 256 neurons, the thesis's 1,024.",
    "Seconds are of processor time; those of a contrastive attack hold the training of the encoder.",
)


def report(
    results: Mapping[str, Result],
    here: Mapping[str, str],
    methods: Sequence[Method],
    *,
    runs: int,
    skipped: Sequence[str],
    quick: str,
) -> Report:
    """From the results of all tasks."""
    found = {title: _found(results, name, methods, runs) for title, name in here.items()}
    seconds = {title: _seconds(results, name, methods, runs) for title, name in here.items()}
    curves = {title: _curves(results, name, runs) for title, name in here.items()}
    drawn = [_figure(title, curve, place) for title, own in curves.items() for place, curve in enumerate(own.values())]
    first = [
        _first(title, found.get(title, {}), methods, quick) for title in (*here, *(t for t in published.SECONDS if t not in here))
    ]
    others = [_others(title, found[title], methods, quick) for title in here]
    statements = (
        *about_releases(found),
        *about_leaks(curves),
        *about_seconds({title: own for title, own in seconds.items() if title in published.SECONDS}),
    )
    return Report(
        title="Contrastive attacks beside plain ones",
        source=SOURCE,
        lead=f"Tables 3.1 to 3.4 and figures 3.4 to 3.7: four attacks, plain and in the space of a contrastive encoder, on three "
        f"generators, along the overfit ratio, and on leaks of known size. REaLTabFormer is {TRANSFORMER} here, and "
        f"{climbing(quick=bool(quick)).recipe} where it is trained too far. "
        f"{_times(runs)} of every generator.",
        sections=(
            Section(title="Singling out and distances", parts=tuple(first)),
            Section(title="Linkability and inference", parts=tuple(others)),
            Section(title="Overfitting, and leaks of known size", parts=tuple(drawn)),
            Section(title="Time", parts=(_times_table(seconds),)),
            Section(title="What the thesis says", parts=(Statements(title="Chapter 3", statements=statements),)),
        ),
        notes=(*NOTES, *(f"In the source: {error}" for error in published.ERRORS)),
        skipped=(*skipped, *refusals(results)),
    )  # fmt: skip


def _times(runs: int) -> str:
    return "One run" if runs == 1 else f"{runs} runs"


def _made(results: Mapping[str, Result], name: str, method: Method, runs: int) -> list[Result]:
    own = (results.get(f"{name}-{slug(method.name)}-{run}", {}) for run in range(runs))
    return [one for one in own if "found" in one]


def _found(results: Mapping[str, Result], name: str, methods: Iterable[Method], runs: int) -> dict[str, dict[str, list[Rate]]]:
    """By method and metric a number for each run."""
    found: dict[str, dict[str, list[Rate]]] = {}
    for method in methods:
        own = _made(results, name, method, runs)
        found[method.name] = {
            metric: [Rate(*one["found"][metric]) for one in own if metric in one["found"]] for metric in ALL
        }  # fmt: skip
    return found


def _seconds(results: Mapping[str, Result], name: str, methods: Iterable[Method], runs: int) -> dict[str, float]:
    """The median over releases: what is compiled when it is first used does not count."""
    own = [one["seconds"] for method in methods for one in _made(results, name, method, runs)]
    return {metric: float(np.median([one[metric] for one in own])) for metric in ALL} if own else {}


def _curves(results: Mapping[str, Result], name: str, runs: int) -> dict[str, Curve]:
    models = ("overfit", "leaky", "noisy")
    own = (results.get(f"{name}-{model}-{run}", {}) for model in models for run in range(runs))
    return risk_curves.curves_of(one for one in own if "curves" in one)


def _first(title: str, found: Mapping[str, Mapping[str, list[Rate]]], methods: Sequence[Method], quick: str) -> Numbers:
    numbers = []
    for method in methods:
        printed = published.TABLE_3_1.get((title, method.name), (None,) * 4)
        numbers += [
            _number(title, method, metric, value, found, quick) for metric, value in zip(FIRST, printed, strict=True)
        ]  # fmt: skip
    # Where there is no table of ours, a method of ours alone has nothing to say.
    return Numbers(title=f"Table 3.1: {title}", numbers=tuple(n for n in numbers if found or n.published is not None))


def _others(title: str, found: Mapping[str, Mapping[str, list[Rate]]], methods: Sequence[Method], quick: str) -> Numbers:
    numbers = []
    for metrics, table in ((LINKS, published.TABLE_3_3), (INFERENCES, published.TABLE_3_4)):
        for method in methods:
            printed = table.get(method.name, (None,) * 2) if title == ADULT else (None,) * 2
            numbers += [_number(title, method, m, value, found, quick) for m, value in zip(metrics, printed, strict=True)]
    return Numbers(title=f"Tables 3.3 and 3.4: {title}", numbers=tuple(numbers))


def _number(
    title: str, method: Method, metric: str, printed: float | None, found: Mapping[str, Mapping[str, list[Rate]]], quick: str
) -> Number:  # fmt: skip
    own = found.get(method.name, {}).get(metric, [])
    why = why_not(title, method.recipe, quick) if printed is not None else ""
    return number(
        own,
        data=title,
        method=method.name,
        measure=metric,
        published=printed,
        why_not=why or ("" if own else "no value: see what was left out"),
    )


def _figure(title: str, curve: Curve, place: int) -> Figure:
    lines = {metric: line for metric in ALL if (line := risk_curves.line_of(curve, metric)) is not None}
    figures = {"overfit": "Figure 3.5", "leaky": "Figures 3.4, 3.6 and 3.7, no noise"}
    heading = figures.get(curve.model, f"Figures 3.4, 3.6 and 3.7, noise {curve.name}")
    return risk_curves.drawn(
        slug(f"{title}-{curve.model}-{place}").lower(), f"{heading}: {title}", f"Risk by {curve.along}.", lines, along=curve.along
    )


def _times_table(seconds: Mapping[str, Mapping[str, float]]) -> Part:
    heads, columns = ["attack"], []
    for title in (ADULT, TEXAS, CENSUS):
        heads.append(f"{title}, published")
        columns.append([_text(published.SECONDS[title].get(metric)) for metric in ALL])
        if title in seconds:
            heads.append(f"{title}, ours")
            columns.append([_text(seconds[title].get(metric)) for metric in ALL])
    rows = tuple((metric, *cells) for metric, *cells in zip(ALL, *columns, strict=True))
    note = "Other machines, other sizes of tables, other code: read the ratios within a column."
    return Grid(title="Tables 3.2, 3.3 and 3.4: seconds", heads=tuple(heads), rows=rows, note=note)


def _text(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}"
