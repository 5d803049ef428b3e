"""The report of the study of prior knowledge in GANs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from hushtable.evidence.finding import Better
from hushtable.studies.constraints_published import (
    ABOVE_REAL,
    ADULT,
    BNGAN_F1,
    CREDIT,
    LEARNT,
    LEVELS,
    LIGHTGBM,
    LINEAR,
    PEARSON,
    PLAIN,
    PRIVATE,
    PROTECTED,
    SCALE,
    SD2011,
    SOURCE,
    UNPROCESSED,
)
from hushtable.studies.constraints_statements import statements
from hushtable.studies.lines import REAL, SHORT, Lines
from hushtable.studies.releases import DRAWN
from hushtable.studies.report import Grid, Number, Numbers, Report, Section, Statements, refusals

MAJORITY = "majority class"
SIMILARITY = "Pearson similarity (numbers)"
TWINS = {
    "DP-PCGAN": "dp-pcgan-certified",
    "DP-CSGAN": "dp-csgan-certified",
    "DP-BNGAN": "dp-bngan-certified",
    "DPGAN": "dpgan-certified",
    "PATEGAN": "pate-gan-certified",
}
"""The certified forms of ours; ADSGAN has no differential privacy to certify."""
ZLOTY = 100.0
"""A published RMSE of income above this is in zloty."""
OUTLIER = (
    "One of those held out has a recorded body mass index of 450, which no model knows from the others: for a linear one that "
    "person alone can decide the RMSE."
)
NOTES = (
    "The recipes ctgan, pcgan, csgan, bngan and ads-gan refine what their networks draw; the source does not. Lines that end in "
    f"'{DRAWN[2:]}' are the same trained network without that.",
    "LightGBM and XGBoost are scikit-learn's histogram boosting with the settings that those have by default; linear is a logistic "
    "regression, and a ridge regression for incomes.",
    "Credit is German Credit cut to age, sex, job (a number), housing, savings, checking account, amount, duration, purpose and "
    "class: the six categories and four numbers that the source counts.",
    "Of SD2011 the code -8, not asked or not told, is read as missing, and incomes that are missing are neither learnt nor tested. "
    "The source says that it did no pre-processing: its constraint that non-smokers smoke 0 cigarettes then contradicts the table, "
    "where 3,711 of 3,713 have -8.",
    "Widths, rates and epochs of the networks are not given: ours are those of the recipes, and were not chosen on these tables.",
    "In table 4.7 the methods of the source only claim epsilon 1 (DP-BNGAN 2, ADSGAN none) with delta one over the number of rows; "
    "their certified twins prove the same. AUC is beside their accuracy, because the majority class alone is more accurate than "
    "most.",
    "Of table 4.6 the line of the real rows is that of the people held out: what chance leaves.",
)


def report(found: Lines) -> Report:
    """Published numbers beside ours, table by table."""
    extent = "one run on some of the rows with short training, to see that it works" if found.quick else f"{found.runs} runs"
    judged = Statements(title="What the source says", statements=tuple(statements(found)))
    return Report(
        title="Prior knowledge in GANs",
        source=SOURCE,
        lead=f"GANs that are given constraints, correlations or a Bayesian network, on three tables, by {extent}. In the source "
        "only BNGAN teaches more about Adult than that most people earn little.",
        sections=(
            Section(title="Table 4.5: what learners learn", parts=tuple(_learnt(found, data) for data in LEARNT)),
            Section(title="Table 4.6: associations that are kept", parts=tuple(_associations(found, data) for data in LEVELS)),
            Section(
                title="Table 4.7: with differential privacy",
                parts=(*(_protected(found, data) for data in PROTECTED), _proven(found)),
            ),
            Section(title="Constraints", parts=(_broken(found),)),
            Section(title="Statements", parts=(judged,)),
        ),
        notes=NOTES,
        skipped=(*found.skipped, *refusals(found.results)),
    )


def _learnt(found: Lines, data: str) -> Numbers:
    numbers: list[Number] = []
    for line in (*found.of(data, PLAIN), REAL):
        method = line.removesuffix(DRAWN)
        for learner, published in LEARNT[data].items():
            numbers += _scores(found, data, line, learner, published[method])
        if data == ADULT and line != REAL:
            known = BNGAN_F1 if method == "BNGAN" else None
            numbers.append(_number(found, data, line, "F1, LightGBM", (LIGHTGBM, "F1"), known))
    return Numbers(title=f"Table 4.5: {data}", numbers=(*numbers, *_majority(found, data)), note=_note(found, data))


def _protected(found: Lines, data: str) -> Numbers:
    learner = LINEAR if data == SD2011 else LIGHTGBM
    numbers: list[Number] = []
    for method in PRIVATE:
        for line in found.of(data, [one for one in (method, TWINS.get(method)) if one]):
            published = PROTECTED[data].get(line.removesuffix(DRAWN))
            numbers += _scores(found, data, line, learner, published)
            if data != SD2011:
                numbers.append(_number(found, data, line, f"AUC, {learner}", (learner, "AUC"), None))
    return Numbers(title=f"Table 4.7: {data}", numbers=(*numbers, *_majority(found, data)), note=_note(found, data))


def _scores(found: Lines, data: str, line: str, learner: str, published: float | None) -> Iterator[Number]:
    """Accuracy; or the RMSE in zloty and in standard deviations, the published one beside that which it is."""
    if data != SD2011:
        yield _number(found, data, line, f"accuracy, {learner}", (learner, "accuracy"), published)
        return
    zloty = published is not None and published > ZLOTY
    keys = learner, "RMSE"
    yield _number(found, data, line, f"RMSE in zloty, {learner}", keys, published if zloty else None, Better.LOWER)
    scale = found.real(data).get("spread", 1.0)
    name = f"RMSE over the standard deviation, {learner}"
    yield _number(found, data, line, name, keys, None if zloty else published, Better.LOWER, scale=scale)


def _associations(found: Lines, data: str) -> Numbers:
    numbers = []
    shown: Mapping[str, tuple[str, Mapping[str, float]]] = {
        "Cramer levels kept (categories)": ("levels", LEVELS[data]), SIMILARITY: ("pearson", PEARSON[data]),
    }  # fmt: skip
    for line in (*found.of(data, PLAIN), REAL):
        for name, (key, published) in shown.items():
            numbers.append(_number(found, data, line, name, (key,), published.get(line.removesuffix(DRAWN))))
    return Numbers(title=f"Table 4.6: {data}", numbers=tuple(numbers))


def _number(
    found: Lines,
    data: str,
    line: str,
    measure: str,
    keys: tuple[str, ...],
    published: float | None,
    better: Better = Better.HIGHER,
    scale: float = 1.0,
) -> Number:
    values = [value / scale for value in found.values(data, line, *keys)]
    why = _why_not(found, data, line, measure, published) if published is not None else ""
    if not values:
        why = why or found.why_none(data)
    return Number.over(values, data=data, method=line, measure=measure, published=published, better=better, why_not=why)


def _why_not(found: Lines, data: str, line: str, measure: str, published: float) -> str:
    if measure.startswith("RMSE over"):
        return SCALE
    if data == SD2011 and measure == SIMILARITY:
        return UNPROCESSED
    if data == CREDIT and line.removesuffix(DRAWN) in PRIVATE and published > LEARNT[CREDIT][LIGHTGBM][REAL]:
        return ABOVE_REAL
    return SHORT if found.quick else ""


def _majority(found: Lines, data: str) -> list[Number]:
    share = found.real(data).get("majority")
    return [] if share is None else [Number(data=data, method=MAJORITY, measure="accuracy", ours=share, better=Better.HIGHER)]


def _note(found: Lines, data: str) -> str:
    real = found.real(data)
    if not real:
        return ""
    counted = (
        f"{real['rows']:,} rows to learn from, {real['test']:,} held out, {real['columns']} columns, among them {real['target']}"
    )
    if "spread" in real:
        return f"{counted}, to be predicted. Incomes have a standard deviation of {real['spread']:.0f} zloty. {OUTLIER}"
    share = real["majority"]
    error = math.sqrt(share * (1 - share) / real["test"])
    return (
        f"{counted}, to be predicted. Who always says the commonest class is right in {share:.3f} of the cases. With so many "
        f"people held out an accuracy has a standard error of about {error:.3f} beside what runs show."
    )


def _proven(found: Lines) -> Grid:
    lines = (*PRIVATE, *TWINS.values())
    rows = tuple((data, *line) for data in found.data for line in found.proofs(data, lines))
    return Grid(title="What is proven", heads=("data", "method", "proven", "cpu s"), rows=rows)


def _broken(found: Lines) -> Grid:
    rows = [(data, text, f"{count:,}") for data in found.data for text, count in found.real(data).get("broken", {}).items()]
    return Grid(
        title="What the constraints say of the real rows",
        heads=("data", "constraint", "real rows that break it"),
        rows=tuple(rows),
        note="A missing value breaks no constraint. Rows that PCGAN draws keep them all: numbers are put at the nearest value that "
        "does.",
    )
