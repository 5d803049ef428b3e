"""What manifold anonymization leaves of a classifier: the study of Garg and Torra (2023), repeated.

Two questions are asked. *As published*: the whole table is anonymized, and a model learns from one part of the result and is tested
on another, so that rows of one group stand on both sides. *On real rows*: only the training rows are anonymized, and the model is
tested on rows that nobody touched (embedded by the map that was learnt from the others).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from hushtable.api.store import Result
from hushtable.errors import InputError
from hushtable.evidence.confidence import Rate, clopper_pearson
from hushtable.evidence.finding import Better
from hushtable.report.words import interval, number, share
from hushtable.studies.manifold_rows import BOOSTED, DIMENSIONS, METHODS, PUBLISHED, RAW, REAL, K, absent, load, row
from hushtable.studies.report import Grid, Number, Numbers, Report, Section, Statement, Statements, Verdict, refusals
from hushtable.studies.study import Scope, Study, Task, Work, slug

NAMES = ("breast_cancer", "tcga_breast", "digits", "madelon", "isolet", "mnist")
QUICK = ("breast_cancer", "tcga_breast", "digits")
PRINTED: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "Madelon": {
        "M-MDAV": (60.38, 60.30, 61.21),
        "M-ISOMDAV": (62.18, 62.25, 62.19, 0.28),
        "M-LLEMDAV": (59.23, 59.21, 59.23, 0.25),
    },
    "RNA": {"M-MDAV": (90.10, 90.12, 90.11), "M-ISOMDAV": (99.17, 99.18, 99.17, 0.43), "M-LLEMDAV": (58.12, 59.3, 58.13, 0.73)},
    "Gisette": {
        "M-MDAV": (69.21, 69.87, 69.18),
        "M-ISOMDAV": (77.79, 76.82, 77.78, 0.69),
        "M-LLEMDAV": (85.13, 86.10, 85.14, 0.64),
    },
}
"""Accuracy, precision, recall (%) and K-Stress of tables 3.1 and 3.2 of Garg 2025."""
BESIDE = {"madelon": "Madelon", "tcga_breast": "RNA", "digits": "Gisette", "mnist": "Gisette"}
"""Which published data set stands beside ours: Madelon is the same, the others are of the same kind."""
OTHER = "another data set of the same kind: the published one is not to be had"
SOURCE = (
    "S. Garg, V. Torra, K-anonymous privacy preserving manifold learning, SECRYPT 2023; S. Garg, Bridging AI and Privacy, thesis, "
    "Umea University 2025, tables 3.1 and 3.2"
)
COSTS = {"breast_cancer": 1.0, "tcga_breast": 1.0, "digits": 2.0, "madelon": 6.0, "isolet": 5.0, "mnist": 20.0}


def plan(scope: Scope) -> Work:
    """Every method on every data set that is at hand, and both questions. Nothing is random but what has a seed: one run."""
    names = QUICK if scope.quick else NAMES
    reasons = {name: absent(name, scope.data) for name in names}
    here = [name for name in names if reasons[name] is None]
    if not here:
        raise InputError("; ".join(filter(None, reasons.values())), where="data folder")
    skipped = tuple(f"{name}: {reason}" for name, reason in reasons.items() if reason)
    tasks = [
        Task(
            name=_task(name, method, asked),
            title=f"{name}: {method}, {asked}",
            make=partial(row, name, method, asked, scope.data),
            cost=COSTS.get(name, 1.0),
        )
        for name in here
        for method, asked in _asked()
    ]
    return Work(
        tasks=tasks,
        report=partial(report, names=here, skipped=skipped),
        identity=("manifold", K, DIMENSIONS, BOOSTED),
        tables=[load(name, scope.data).table for name in here],
    )


STUDY = Study(name="manifold", title="What anonymization on manifolds leaves of classifiers", source=SOURCE, plan=plan)


def _asked() -> Iterator[tuple[str, str]]:
    yield "none", RAW
    for method in METHODS:
        yield method, PUBLISHED
        yield method, REAL


def _task(name: str, method: str, asked: str) -> str:
    return slug(f"{name}-{method}-{asked}")


def report(results: Mapping[str, Result], *, names: Sequence[str], skipped: tuple[str, ...]) -> Report:
    """A table for each data set, the published numbers beside ours where there are any."""
    found = {
        (name, method, asked): one
        for name in names
        for method, asked in _asked()
        if "refused" not in (one := results[_task(name, method, asked)])
    }
    tables = tuple(_table(found, name) for name in names)
    return Report(
        title=STUDY.title,
        source=SOURCE,
        lead=_lead(found, names),
        sections=(
            Section(title="Classifiers", parts=tuple(one for one in (*tables, _chosen(found)) if one is not None)),
            *([Section(title="What the source says", parts=(said,))] if (said := _said(found, names)) else []),
        ),
        notes=(
            f"k = {K}; embeddings have {DIMENSIONS} dimensions, which the source does not say; all columns are quasi-identifiers.",
            "Madelon is the published set less its unlabelled part (2,600 of 4,400 rows).",
            "As published: the table is anonymized whole, so that rows of one group are learnt from and tested on. On real rows: "
            "only the rows to learn from are anonymized.",
            "K-Stress is as printed; with the best common factor of the new distances, scaled.",
            "The classifier is the one that does best on a quarter of the rows to learn from; boosted trees are left out where "
            f"there are more than {BOOSTED} classes. The interval of an accuracy is that of its test rows (Clopper and Pearson).",
        ),
        skipped=(*skipped, *refusals(results)),
    )


Found = Mapping[tuple[str, str, str], Result]


def accuracy(one: Result) -> Rate:
    """With the interval of the test rows."""
    return clopper_pearson(one["right"], one["tested"])


def _table(found: Found, name: str) -> Numbers:
    numbers: list[Number] = []
    for method, asked in _asked():
        if (one := found.get((name, method, asked))) is not None:
            label = "real rows" if asked == RAW else method if asked == PUBLISHED else f"{method}, tested on real rows"
            printed = PRINTED.get(BESIDE.get(name, ""), {}).get(method, ()) if asked == PUBLISHED else ()
            numbers += _numbers(name, label, one, printed)
    rows = next((f"{one['rows']:,} x {one['columns']}" for key, one in found.items() if key[0] == name), "")
    beside = f", beside {BESIDE[name]}" if name in BESIDE else ""
    which = {"Madelon": "Table 3.2: ", "RNA": "Table 3.1: ", "Gisette": "Table 3.1: "}.get(BESIDE.get(name, ""), "")
    return Numbers(title=f"{which}{name} ({rows}){beside}", numbers=tuple(numbers))


def _numbers(name: str, label: str, one: Result, printed: Sequence[float]) -> Iterator[Number]:
    right, percent = accuracy(one), 100.0
    ours = {
        "accuracy, %": (percent * right.value, percent * right.low, percent * right.high, Better.HIGHER),
        "precision, %": (percent * one["precision"], None, None, Better.HIGHER),
        "recall, %": (percent * one["recall"], percent * right.low, percent * right.high, Better.HIGHER),
        "K-Stress": (one.get("stress"), None, None, Better.LOWER),
        "K-Stress, scaled": (one.get("stress_scaled"), None, None, Better.LOWER),
    }
    for place, (measure, (value, low, high, better)) in enumerate(ours.items()):
        if value is not None:
            published = printed[place] if place < len(printed) else None
            why = OTHER if published is not None and name != "madelon" else ""
            yield Number(
                data=name, method=label, measure=measure, published=published, ours=value, low=low, high=high, better=better,
                why_not=why,
            )  # fmt: skip


def _chosen(found: Found) -> Grid | None:
    rows = [
        (name, method, asked, one["classifier"], number(one["seconds"]) if "seconds" in one else "")
        for (name, method, asked), one in found.items()
    ]
    heads = ("data", "method", "tested", "best classifier", "processor seconds of anonymizing")
    return Grid(title="Which classifier is best, and what anonymizing takes", heads=heads, rows=tuple(rows)) if rows else None


def _lead(found: Found, names: Sequence[str]) -> str:
    pairs = [
        (accuracy(one).value, accuracy(found[name, method, REAL]).value)
        for (name, method, asked), one in found.items()
        if asked == PUBLISHED and (name, method, REAL) in found
    ]
    start = f"Each of {len(names)} data sets is anonymized by each method, and classifiers learn from the result."
    if not pairs:
        return start
    whole, real = np.mean(pairs, axis=0)
    return (
        f"{start} Tested as published, on rows that were anonymized with those learnt from, they are right for {share(whole)} on "
        f"average; on real rows that nobody touched, for {share(real)}."
    )


def _said(found: Found, names: Sequence[str]) -> Statements | None:
    """Whether embedding first is better, on sets of the kinds of table 3.1."""
    parts, better, worse = [], [], []
    for name in names:
        keys = [(name, method, PUBLISHED) for method in ("M-MDAV", "M-ISOMDAV", "M-LLEMDAV")]
        if BESIDE.get(name, "Madelon") == "Madelon" or not all(key in found for key in keys):
            continue
        plain, *embedded = (accuracy(found[key]) for key in keys)
        best = max(embedded, key=lambda rate: rate.value)
        better.append(best.low > plain.high)
        worse.append(best.high < plain.low)
        ends = [f"{share(rate.value)} ({interval(rate.low, rate.high, percent=True)})" for rate in (plain, best)]
        parts.append(f"{name}: M-MDAV {ends[0]}, the better of the others {ends[1]}")
    if not parts:
        return None
    verdict = Verdict.CONFIRMED if all(better) else Verdict.CONTRADICTED if any(worse) else Verdict.UNDECIDED
    says = "M-MDAV alone lags behind M-ISOMDAV or M-LLEMDAV on high-dimensional data of gene expression and of digits (table 3.1)"
    one = Statement(says=says, verdict=verdict, because=f"Accuracy as published, on sets of the same kinds: {'; '.join(parts)}")
    return Statements(title="Whether to embed first", statements=(one,))
