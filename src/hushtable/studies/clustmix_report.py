"""The report of the study of mixtures of records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hushtable.evidence.finding import Better
from hushtable.studies.charts import GREY, Line, dots
from hushtable.studies.clustmix_published import CLUSTMIX, DPGAN, DPMERF, LOST, MNIST, OURS, PATEGAN, SOURCE, TABLE, WHY_NOT
from hushtable.studies.lines import REAL, SHORT, Lines
from hushtable.studies.releases import DRAWN
from hushtable.studies.report import (
    Figure,
    Grid,
    Number,
    Numbers,
    Part,
    Report,
    Section,
    Statement,
    Statements,
    Verdict,
    over_runs,
    refusals,
)
from hushtable.studies.study import slug
from hushtable.studies.verdicts import best, spoken
from hushtable.synthesize.published.clustmix import GAPS

PROVEN, CLAIMED = "#2f6fb5", "#c9591f"
NOTES = (
    "AUC is the area under the ROC curve, on real rows that were held out, of boosted trees that learned from the release; 0.5 is "
    "guessing. The publication has LightGBM; here it is scikit-learn's histogram boosting. Images are judged by accuracy.",
    "averages are ClustMix as published: its noisy averages are learned from as they are, as vectors, and the held-out rows become "
    "vectors in the same way. (codes) writes a category as one number, which gives the number of features that the publication "
    "states; how it wrote them is not said. (levels) has a coordinate for each level. Noise that leads out of the range of a "
    "number is cut off.",
    "clustmix, rows is the table that hushtable releases: each average becomes a row with one level in each category.",
    "epsilon is 1 everywhere but for ADS-GAN, which has none. ClustMix claims it with delta = 1/n, DP-GAN and PATE-GAN as "
    "published claim it too, and that does not hold: their numbers are not those of private methods. Where epsilon is proven, "
    "delta is 1e-5.",
    f"The recipe ads-gan refines what its network draws; the line '{DRAWN[2:]}' is the same network without that. Images "
    "are not refined.",
    "dp-merf and the GANs are implementations of our own. If one lies far from the published number, this study does not show why.",
    "The publication tuned every method by thirty runs on the training rows. Here all knobs are the defaults, but for sigma_max, "
    "which ClustMix picks on the training rows as published.",
    f"{OURS} is not in the publication, whose credit is card fraud: a second table, with no number beside ours.",
)


def report(found: Lines) -> Report:
    """Published numbers beside ours, for every data set of the publication and one more."""
    names = [*TABLE, *(name for name in found.data if name not in TABLE)]
    sections = [_section(found, name) for name in names if name in found.data]
    absent = [number for name in TABLE if name not in found.data for number in _numbers(found, name)]
    if absent:
        sections.append(Section(title="Not repeated", parts=(Numbers(title="Table 1, the other tasks", numbers=tuple(absent)),)))
    extent = "one run on few rows and with short training, to see that it works" if found.quick else f"{found.runs} runs"
    judged = Statements(title="What the source says", statements=tuple(_statements(found)))
    return Report(
        title="What classifiers learn from mixtures",
        source=SOURCE,
        lead=f"Mixtures of records and private generators at epsilon 1, by {extent}. Of the seven tasks of the publication Adult "
        "can be repeated, and MNIST with a sixteenth of its images.",
        sections=(*sections, Section(title="Statements", parts=(judged,))),
        notes=NOTES,
        skipped=(*found.skipped, *refusals(found.results)),
    )


def _measure(data: str) -> tuple[str, str]:
    return ("accuracy", "accuracy") if data == MNIST else ("auc", "AUC")


def _lines(found: Lines, data: str) -> list[str]:
    """Real rows, then every method that was run, or that is published."""
    methods = [name for name in found.methods if found.cells(data, name) or name in TABLE.get(data, {})]
    return [REAL, *found.of(data, methods)]


def _numbers(found: Lines, data: str) -> Iterator[Number]:
    key, name = _measure(data)
    for line in _lines(found, data):
        published = TABLE.get(data, {}).get(line.removesuffix(DRAWN))
        values = found.values(data, line, key)
        why = "" if published is None else WHY_NOT.get(data, SHORT if found.quick else "")
        if not values:
            why = why or found.why_none(data)
        yield Number.over(values, data=data, method=line, measure=name, published=published, better=Better.HIGHER, why_not=why)


def _section(found: Lines, data: str) -> Section:
    key, name = _measure(data)
    real = found.real(data)
    lead = ""
    if "rows" in real:
        lead = (
            f"{real['rows']:,} rows to learn from, {real['test']:,} held out, {real['columns']} columns; the class is "
            f"{real['target']}."
        )
    title = f"Table 1: {data}" if data in TABLE else data
    lines = [
        Line(line, found.values(data, line, key), TABLE.get(data, {}).get(line.removesuffix(DRAWN)), _colour(found, data, line))
        for line in _lines(found, data)
    ]
    drawn = dots(lines, f"{name} on {data}", name, low=0.5, key={"proven": PROVEN, "not proven": CLAIMED})
    parts: tuple[Part, ...] = (
        Numbers(title=title, numbers=tuple(_numbers(found, data))),
        Figure(name=slug(data), title=title, caption="A dot for each run of ours, a diamond for what was published.", drawn=drawn),
        _released(found, data),
    )
    return Section(title=data, parts=parts, lead=lead)


def _colour(found: Lines, data: str, line: str) -> str:
    proofs = [cell["proven"] for cell in found.cells(data, line) if "proven" in cell]
    if not proofs:
        return GREY
    return PROVEN if proofs[0].startswith("epsilon") else CLAIMED


def _released(found: Lines, data: str) -> Grid:
    rows = []
    for name in found.methods:
        made = [cell for cell in found.cells(data, name) if "released" in cell]
        if made:
            rows.append((name, f"{_mean(made, 'released'):,.0f}", f"{_mean(made, 'seconds'):.1f}", str(made[0]["proven"])))
        elif found.cells(data, name):
            rows.append((name, "-", "-", "refused"))
    return Grid(title=f"Releases of {data}", heads=("method", "rows released", "cpu s", "what is proven"), rows=tuple(rows))


def _mean(cells: list[Mapping[str, Any]], key: str) -> float:
    middle, _, _ = over_runs([float(cell[key]) for cell in cells])
    return middle or 0.0


def _statements(found: Lines) -> Iterator[Statement]:
    private = (CLUSTMIX, DPGAN, PATEGAN, DPMERF)
    runs = {name: found.values("adult", name, "auc") for name in private}
    known = {name: values for name, values in runs.items() if values}
    lost = ", ".join(f"{name} {value}" for name, value in LOST.items())
    yield Statement(
        says="classifiers that learn from ClustMix predict significantly better than those of differentially private methods",
        verdict=best(CLUSTMIX, known, Better.HIGHER),
        because=f"AUC on adult: {spoken(known) or 'there is no number of ours'}. Published losses over seven tasks: {lost}",
    )
    yield Statement(
        says="ClustMix is (1, 1/n) differentially private",
        verdict=Verdict.CONTRADICTED,
        because=f"by counterexample: {GAPS[0]}",
    )
