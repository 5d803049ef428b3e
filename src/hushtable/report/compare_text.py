"""A comparison in words, for its page and its text: numbers with their intervals, the facts of the choice, how to read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hushtable.display import listed
from hushtable.privacy.guarantee import PROVISO
from hushtable.report.attacks import OF_WHOM
from hushtable.report.promise import ASSURANCES
from hushtable.report.words import interval, number, sentence, share

if TYPE_CHECKING:
    from hushtable.api.compare.axis import Axis
    from hushtable.api.compare.cell import Cell, Estimate, WorstAttack
    from hushtable.api.compare.comparison import Comparison

SHAPES = {**{word: shape for word, (shape, _) in ASSURANCES.items()}, "none": "■"}
"""Kinds of promise by shape. Marks are hollow where no attack raised an alarm, so that no promise needs a shape of its own."""


def ended(text: str) -> str:
    """Words with a full stop; they may begin with a name, which keeps its letters."""
    return f"{text.removesuffix('.')}."


def anchor(cell: Cell) -> str:
    """Where the line of a release is in the table of all."""
    return f"release-{cell.rank}"


def with_interval(estimate: Estimate | None, *, percent: bool = False) -> str:
    """A value and its interval."""
    if estimate is None:
        return number(None)
    value = share(estimate.value) if percent else number(estimate.value)
    ends = interval(estimate.low, estimate.high, percent=percent)
    return f"{value} ({ends})" if ends else value


def points(share_of: float) -> str:
    """A share as so many of 100 people."""
    return number(100.0 * share_of, 2)


def gained(worst: WorstAttack, *, by_gain: bool) -> str:
    """The worst that was measured, and the largest upper bound; a residual risk with its interval where there is no gain."""
    if not by_gain:
        return f"residual risk {with_interval(worst, percent=True)}"
    return f"{points(worst.value)} more of 100 people, at most {points(worst.upper)}"


def score(cell: Cell) -> str:
    """The score of a release without its interval."""
    return number(cell.score.value if cell.score else None)


def alarms(cell: Cell) -> str:
    """How many of its tests raised an alarm."""
    return f"{number(cell.alarms)} of {number(cell.tests)}" if cell.tests else "not tested"


def misses(cell: Cell) -> str:
    """Which conditions a release fails, and why; empty if it fails none."""
    return "; ".join(map(str, cell.misses))


def verdict(cell: Cell) -> str:
    """Whether a release meets the constraints."""
    return "meets all" if cell.fits else f"fails {misses(cell)}" if cell.misses else "does not meet all"


def setting(cell: Cell) -> str:
    """The knobs that were set."""
    return ", ".join(f"{knob} = {value}" for knob, value in cell.settings.items()) or "as it comes"


def in_one_line(cell: Cell, axis: Axis) -> str:
    """The numbers of a release in one line of text."""
    risk = gained(cell.worst, by_gain=cell.gain is not None) if cell.worst else "not attacked"
    if cell.worst and cell.worst.name:
        risk += f" ({cell.worst.name})"
    risk += f"; alarms: {alarms(cell)}"
    if cell.void:
        risk += "; the audit is void"
    return f"{cell.rank}. {cell.id}: {risk}; {axis.label} {with_interval(cell.score)}; {cell.assurance}; {verdict(cell)}"


def headline(comparison: Comparison) -> list[str]:
    """The recommendation, a sentence each."""
    if comparison.recommendation.words:
        return [sentence(words) for words in comparison.recommendation.words]
    return [f"Publish {comparison.best.id}." if comparison.best else "No release is recommended."]


def facts(comparison: Comparison) -> list[tuple[str, str, str, str]]:
    """What is promised, what was attacked and what it is good for: a title, a value, what it is, and what it rests on."""
    cell = comparison.best
    return [_promise_fact(cell, comparison), _risk_fact(cell), _score_fact(cell, comparison)] if cell else []


def _promise_fact(cell: Cell, comparison: Comparison) -> tuple[str, str, str, str]:
    shape, meaning = SHAPES[cell.assurance], ASSURANCES[cell.assurance][1]
    if comparison.unpaid(cell):
        kind = "proven if chosen before looking"
        keeps = "; the command keeps one" if comparison.recommendation.command else ""
        evidence = f"Evidence: a theorem. To choose it because of this page makes the proof void, as the rows are private{keeps}."
    else:
        kind, evidence = str(cell.assurance), f"Evidence: {meaning}."
    return "Promised", f"{shape} {kind}", cell.promise or "nothing", evidence


def _risk_fact(cell: Cell) -> tuple[str, str, str, str]:
    tests = f"{alarms(cell)} tests raised an alarm." if cell.tests else "No attack was tested."
    worst, gain = cell.worst, cell.gain
    if worst is None:
        return "Gain of attacks", "not attacked", "nothing is known about its risk", tests
    attack = f"the worst attack ({worst.name})" if worst.name else "the worst attack"
    if gain:
        title, value = "Gain of attacks, at most", f"{points(gain.upper)} of 100"
        bounded = f" ({gain.bounded_by})" if gain.bounded_by else ""
        about = f"so many more of 100 people in the table than outside it: the largest upper bound of any attack{bounded}"
        evidence = f"Measured: {points(gain.value)} more of 100, by {attack}. {tests}"
    else:
        title, value = "Risk" if worst.high is None else "Risk, at most", share(worst.upper)
        about = f"{attack} succeeds on this share {OF_WHOM}"
        evidence = f"Measured: {with_interval(worst, percent=True)}. {tests}"
    if worst.hardly_known:
        evidence += " The interval is so wide that little is known."
    if cell.void:
        evidence += " The audit is void."
    return title, value, about, evidence


def _score_fact(cell: Cell, comparison: Comparison) -> tuple[str, str, str, str]:
    axis = comparison.axis
    ends = interval(cell.score.low, cell.score.high) if cell.score else ""
    about = f"{axis.label}: {axis.meaning}" if axis.meaning else axis.label
    measured = f"Measured in {number(cell.runs)} run{'' if cell.runs == 1 else 's'}"
    if ends:
        measured += f", interval {ends}"
    if axis.baseline is not None:
        measured += f"; the real rows reach {number(axis.baseline)}"
    return "Utility", score(cell), about, f"{measured}."


def changes(comparison: Comparison) -> list[str]:
    """What else would be chosen if something else were asked, beyond what the recommendation itself says."""
    best, rivals = comparison.best, comparison.rivals
    lines = []
    if rivals.barred:
        missed = misses(rivals.barred) or "a condition"
        lines.append(f"{'A better' if best else 'The best'} score has {_named(rivals.barred, comparison)}, but it fails: {missed}")
    if rivals.near:
        names = [cell.id for cell in rivals.near[:3]]
        if len(rivals.near) > 3:
            names.append(f"{number(len(rivals.near) - 3)} more")
        lines.append(f"Its score is within the noise of {listed(names)}: another run may order them otherwise")
    if rivals.firmer and best:
        proviso = f"; it {PROVISO}" if comparison.unpaid(rivals.firmer) else ""
        promised = f"If its promise must be {rivals.firmer.assurance}"
        lines.append(f"{promised}: {_named(rivals.firmer, comparison)}, against {score(best)}{proviso}")
    if rivals.safer and rivals.safer.worst:
        bound = rivals.safer.worst.upper
        words = f"a gain of at most {points(bound)} of 100" if comparison.by_gain else f"risk at most {share(bound)}"
        lines.append(f"If less risk is worth more than score: {_named(rivals.safer, comparison)}, {words}")
    return lines


def _named(cell: Cell, comparison: Comparison) -> str:
    return f"{cell.id} ({comparison.axis.label} {score(cell)})"


def evidence(comparison: Comparison) -> str:
    """That the kinds of evidence are never one number."""
    measured = "Both axes are measured on this table."
    return f"{measured} A promise is not a place on this plane: it is the shape of the mark." if comparison.released else measured


def reading(comparison: Comparison) -> list[tuple[str, str]]:
    """The words of the page, and what each rests on."""
    axis, run, table = comparison.axis, comparison.run, comparison.table
    split = "Every release was made from the same rows, and tried on people outside them."
    if table.train and table.control:
        split = (
            f"Every release was made from the same {number(table.train)} rows; the other {number(table.control)} are people "
            "outside, on whom attacks and models were tried."
        )
    spent = f", in {number(run.seconds)} seconds" if run.seconds else ""
    averaged = f" Each is the mean of {number(run.runs)} runs." if run.runs is not None and run.runs > 1 else ""
    audits = sum(cell.runs for cell in comparison.released)
    return [
        *([("Made by", f"hushtable {run.version}, seed {run.seed}{spent}")] if run.version else []),
        ("Rows", split),
        _risk_reading(comparison),
        (
            "Score",
            f"{axis.name}: {axis.meaning or axis.label}. {'Higher' if axis.higher else 'Lower'} is better; where it was "
            f"constrained, the bad end of its interval counts.{averaged}",
        ),
        *((f"{SHAPES[word]} {word}", meaning) for word, (_, meaning) in ASSURANCES.items()),
        (
            "Alarms",
            "attacks that gained more on people in the table than chance explains, corrected for how many were tried on one "
            "release. One audit in twenty of a release that leaks nothing raises an alarm; with "
            f"{number(audits)} audits here chance alone may exclude safe releases, and does so oftener the more are tried.",
        ),
        (
            "Proven, verified, measured",
            "a proof holds against every attack, also those not yet thought of; what was verified holds for the columns named, in "
            "the table that comes out or, where that is said, in the one it was made from; what was measured holds for the attacks "
            "that were tried. They are never added up to one score.",
        ),
    ]


def _risk_reading(comparison: Comparison) -> tuple[str, str]:
    """What is meant by what attacks gain, or by the residual risk of a file that holds no gains."""
    judged = "Judged by the upper bound: what is not known to be small does not pass."
    if comparison.by_gain:
        return (
            "Gain",
            "on how many more of 100 people in the table than of 100 outside an attack succeeds (r - c). A mark sits at the worst "
            "that was measured, of attacks that raised an alarm if any did; its line ends at the largest upper bound of any "
            f"attack, the worst of all runs. {judged}",
        )
    return (
        "Risk",
        "this file was made by an earlier version and holds no gains, so the residual risk (r - c)/(1 - c) is shown: on what share "
        f"an attack succeeds {OF_WHOM}; the attack with the largest upper bound counts, the worst of all runs. {judged}",
    )


def untried(comparison: Comparison) -> list[str]:
    """What the comparison cannot speak of."""
    target, runs = comparison.table.target, comparison.run.runs
    other = f"; a release that is good for {target} need not be good for other columns" if target else ""
    lines = [
        *comparison.notes,
        "Only these recipes and settings were tried; a setting between two of them may be better",
        f"Only one use decides: {comparison.axis.label}{other}",
        "Only the attacks of this audit were tried; a measured risk of 0 is not a proof of safety",
    ]
    if runs is not None and runs <= 1:
        lines.append("Each release was made once, so how much it varies from run to run is not known")
    return lines
