"""The report of the study of private generators: all numbers by epsilon, the figures, and what the publication says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hushtable.api.store import Result
from hushtable.evidence.finding import Better
from hushtable.measures.composite_models import SVC_ROWS
from hushtable.studies.generators_page import figure
from hushtable.studies.report import Figure, Grid, Report, Section, Statement, Statements, Verdict, refusals
from hushtable.studies.verdicts import all_of, best, spoken, surely_better, worst

if TYPE_CHECKING:
    from hushtable.studies.generators import Method

SOURCE = (
    "A. Galloni, I. Lendak, Differentially private copulas, DAG and hybrid methods: a comprehensive data utility study, ICCCI 2023 "
    "(chapter 4 of A. Galloni, Evaluating synthetic data generators in the context of differential privacy, dissertation, Eötvös "
    "Loránd University 2025)"
)
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
NUMERIC = "credit_card_default"
"""The table that the publication calls Default Credit, whose columns are numbers but one."""
NOTES = (
    "The publication prints no numbers, only curves (figures 4.1 to 4.4 of the dissertation): there is nothing to set beside ours "
    "but what it says of them.",
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
    f"most {SVC_ROWS:,} rows. The publication drops rows with missing values; here they are kept. Its fourth table, of a bank, is "
    f"not public.",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Found:
    """The results, and how to find them."""

    results: Mapping[str, Result]
    methods: Sequence[Method]
    epsilons: Sequence[float]
    runs: int
    name: Callable[[str, str, float, int], str]
    """Of the task of a data set, method, epsilon and run."""

    def values(self, data: str, method: str, epsilon: float, key: str) -> list[float]:
        """A measure in each run that was not refused."""
        own = (self.results.get(self.name(data, method, epsilon, run), {}) for run in range(self.runs))
        return [one[key] for one in own if key in one]

    def curves(self, data: str, key: str) -> dict[str, dict[float, list[float]]]:
        """By method and epsilon the values of the runs."""
        return {m.name: {e: self.values(data, m.name, e, key) for e in self.epsilons} for m in self.methods}


def report(found: Found, data: Sequence[str], skipped: Sequence[str]) -> Report:
    """Figures and all numbers of each data set, then what the publication says."""
    times = "One run" if found.runs == 1 else f"Means over {found.runs} runs"
    said = tuple(statement for name in data for statement in _about(found, name)) + tuple(_across(found, data))
    return Report(
        title="Private generators by epsilon",
        source=SOURCE,
        lead=f"{times}. In the figures the methods of the publication are solid and ours dashed.",
        sections=(
            *(_section(found, name) for name in data),
            Section(title="What the publication says", parts=(Statements(title="Chapter 4 of the dissertation", statements=said),)),
        ),
        notes=NOTES,
        skipped=(*skipped, *refusals(found.results)),
    )


def _section(found: Found, data: str) -> Section:
    real = found.results.get(f"{data}-real", {})
    drawn, ours = [], {method.name: method.shown for method in found.methods}
    for key in DRAWN:
        curves = {ours[name]: runs for name, runs in found.curves(data, key).items()}
        title, meaning = MEASURES[key]
        level = real.get("score") if key in ("score", "there") else None
        published = [method.shown for method in found.methods if method.published]
        drawn.append(Figure(name=f"{data}-{key}", title=title, caption=meaning, drawn=figure(title, curves, published, level)))
    lead = ""
    if "score" in real:
        lead = (
            f"{real['rows']:,} rows, {real['columns']} columns; the class is {real['target']}. Classifiers trained and tested on "
            f"the real rows score {real['score']:.3f}, with an accuracy of {real['accuracy']:.3f}."
        )
    return Section(title=data, parts=(*drawn, *(_grid(found, data, key) for key in MEASURES)), lead=lead)


def _grid(found: Found, data: str, key: str) -> Grid:
    rows = []
    for method in found.methods:
        values = found.curves(data, key)[method.name].values()
        rows.append((method.shown, *(_cell(runs) for runs in values)))
    title, meaning = MEASURES[key]
    return Grid(title=f"{title}: {meaning}", heads=("epsilon", *(f"{e:g}" for e in found.epsilons)), rows=tuple(rows))


def _cell(runs: Sequence[float]) -> str:
    if not runs:
        return "-"
    return f"{np.mean(runs):.3f}" + (f" ± {np.std(runs):.3f}" if len(runs) > 1 else "")


def _about(found: Found, data: str) -> Iterator[Statement]:
    """What is said of each table, of the methods of the publication."""
    theirs = [method.name for method in found.methods if method.published]
    first, last = found.epsilons[0], found.epsilons[-1]
    if len(theirs) > 1:
        yield _domination(found, data, theirs)
    for key, better, what in (("score", Better.HIGHER, "the score rises"), ("mu", Better.LOWER, "correlations are kept better")):
        ends = {m: (found.values(data, m, first, key), found.values(data, m, last, key)) for m in theirs}
        yield Statement(
            says=f"{data}: {what} with epsilon, for all methods.",
            verdict=all_of(_improves(*pair, better) for pair in ends.values()),
            because=f"at {first:g}: {spoken({m: a for m, (a, _) in ends.items()})}; at {last:g}: "
            f"{spoken({m: b for m, (_, b) in ends.items()})}",
        )
    bayes, gauss = (next((m for m in theirs if m.startswith(some)), None) for some in ("PrivBayes", "NPGauss"))
    if bayes and gauss:
        # Two degrees of one method are no rivals.
        rivals = [m for m in theirs if m == bayes or not m.startswith("PrivBayes")]
        each = [{m: found.values(data, m, e, "score") for m in rivals} for e in found.epsilons]
        verdicts = [v for runs in each for v in (best(bayes, runs, Better.HIGHER), worst(gauss, runs, Better.HIGHER))]
        yield Statement(
            says=f"{data}: in the score PrivBayes is the best and NPGauss the worst.",
            verdict=all_of(verdicts),
            because=f"at {first:g}: {spoken(each[0])}; at {last:g}: {spoken(each[-1])}",
        )


def _domination(found: Found, data: str, theirs: Sequence[str]) -> Statement:
    """One method dominates if it has the least G at every epsilon; that is sure if it is sure at each of them."""
    each = {e: {m: v for m in theirs if (v := found.values(data, m, e, "g"))} for e in found.epsilons}
    winners = {e: min(runs, key=lambda m: float(np.mean(runs[m]))) for e, runs in each.items() if runs}
    names = set(winners.values())
    verdict = Verdict.CONFIRMED if len(names) > 1 else Verdict.UNDECIDED
    if len(names) == 1 and all(best(next(iter(names)), runs, Better.LOWER) is Verdict.CONFIRMED for runs in each.values()):
        verdict = Verdict.CONTRADICTED
    least = ", ".join(f"{winner} at {e:g}" for e, winner in winners.items())
    return Statement(
        says=f"{data}: no algorithm clearly dominates the others in G.", verdict=verdict, because=f"the least G: {least}"
    )


def _across(found: Found, data: Sequence[str]) -> Iterator[Statement]:
    """What is said of the tables beside one another."""
    if NUMERIC not in data or len(data) < 2:
        return
    theirs = [method.name for method in found.methods if method.published]
    means = {m: {d: [v for runs in found.curves(d, "g")[m].values() for v in runs] for d in data} for m in theirs}
    known = {m: own for m, own in means.items() if all(own.values())}
    holds = [max(own, key=lambda d: float(np.mean(own[d]))) == NUMERIC for own in known.values()]
    verdict = Verdict.CONFIRMED if holds and all(holds) else Verdict.CONTRADICTED if holds else Verdict.UNDECIDED
    yield Statement(
        says="All algorithms perform worst (in G) on the table that consists of numbers, Default Credit.",
        verdict=verdict,
        because="; ".join(f"{m}: " + ", ".join(f"{d} {np.mean(v):.3g}" for d, v in own.items()) for m, own in known.items()),
    )


def _improves(before: Sequence[float], after: Sequence[float], better: Better) -> Verdict:
    if surely_better(after, before, better):
        return Verdict.CONFIRMED
    return Verdict.CONTRADICTED if surely_better(before, after, better) else Verdict.UNDECIDED
