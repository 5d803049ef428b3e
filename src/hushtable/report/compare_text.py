"""What a comparison says in words, for its page and its text."""

from __future__ import annotations

from collections.abc import Sequence

from hushtable.display import listed
from hushtable.evidence.verdict import STRENGTH
from hushtable.report.promise import ASSURANCES
from hushtable.report.ranking import alarms
from hushtable.report.trials import Trial, Trials
from hushtable.report.words import interval, number, sentence, share

WIDE = 0.2
"""A risk that may be larger than measured by more than this is hardly known."""


def ended(text: str) -> str:
    """Words with a full stop; they may begin with a name, which keeps its letters."""
    return f"{text.removesuffix('.')}."


def headline(read: Trials) -> list[str]:
    """The recommendation, a sentence each."""
    if read.words:
        return [sentence(words) for words in read.words]
    if read.chosen:
        return [f"Publish {read.chosen.id}."]
    return ["No release is recommended."]


def facts(read: Trials) -> list[tuple[str, str, str, str]]:
    """What is promised, what was attacked and what it is good for: a title, a value, what it is, and what it rests on."""
    trial = read.chosen
    if trial is None:
        return []
    shape, meaning = ASSURANCES[trial.assurance]
    unpaid = trial.assurance == "proven" and not read.made.get("public")
    attacked = trial.risk.value is not None
    bounded = trial.risk.high is not None
    about = f"{trial.risk.name or 'the worst attack'}; measured {trial.risk.told(percent=True)}"
    tested = f"{alarms(trial)} tests raised an alarm" if trial.tests else "no attack was tested"
    vague = bounded and (trial.risk.upper or 0.0) - (trial.risk.value or 0.0) > WIDE
    tested += "; so wide an interval says that little is known" if vague else ""
    spread = interval(trial.score.low, trial.score.high)
    real = f"; real rows {number(read.axis.baseline)}" if read.axis.baseline is not None else ""
    return [
        (
            "Promised",
            f"{shape} proven if named before looking" if unpaid else f"{shape} {trial.assurance}",
            trial.promise or "nothing",
            "Evidence: a theorem, which a choice by looking at private rows makes void." if unpaid else f"Evidence: {meaning}.",
        ),
        (
            f"Attacks gain{' at most' if bounded else ''}",
            share(trial.risk.upper) if attacked else "not attacked",
            about if attacked else "nothing is known about its risk",
            f"Evidence: measured. {tested}{'; the audit is void' if trial.void else ''}.",
        ),
        (
            "Good for",
            number(trial.score.value),
            f"{read.axis.label}{f'; interval {spread}' if spread else ''}{real}",
            f"Evidence: measured, {number(trial.runs)} run{'' if trial.runs == 1 else 's'}.",
        ),
    ]


def changes(read: Trials) -> list[str]:
    """What else would be chosen if something else were asked, beyond what the recommendation itself says."""
    chosen = read.chosen
    mentioned = [t for t, _ in read.others if t]
    rivals = [t for t in read.ran if t is not chosen and t.score.value is not None]
    told = []
    barred = _best([t for t in rivals if not t.fits and (chosen is None or read.better(t, chosen))], read)
    if barred and barred not in mentioned:
        missed = "; ".join(barred.misses) or "what was asked"
        told.append(f"{'A better' if chosen else 'The best'} score has {_named(barred, read)}, but it misses: {missed}")
    if chosen is None:
        return told
    near = [t for t in rivals if t.fits and _overlap(t, chosen)]
    if near:
        names = [t.id for t in near[:3]] + ([f"{number(len(near) - 3)} more"] if len(near) > 3 else [])
        told.append(f"Its score is within the noise of {listed(names)}: another run may order them otherwise")
    firmer = [t for t in (*mentioned, *rivals) if t.fits and STRENGTH[t.assurance] > STRENGTH[chosen.assurance]]
    firm = _best(firmer, read) if not set(map(id, firmer)) & set(map(id, mentioned)) else None
    if firm:
        unpaid = firm.assurance == "proven" and not read.made.get("public")
        told.append(
            f"If its promise must be {firm.assurance}: {_named(firm, read)}, against {number(chosen.score.value)}"
            + ("; it would be proven had it been named before looking" if unpaid else "")
        )
    upper = chosen.risk.upper
    safer = [t for t in rivals if t.fits and t.front and t.judged and upper is not None and (t.risk.upper or 0.0) < upper]
    safe = _best(safer, read)
    if safe and safe is not firm and safe not in mentioned:
        told.append(f"If less risk is worth more than score: {_named(safe, read)}, risk at most {share(safe.risk.upper)}")
    return told


def evidence(read: Trials) -> str:
    """That the kinds of evidence are never one number."""
    kinds = [word for word in ASSURANCES if any(t.assurance == word for t in read.ran)]
    rest = " A promise is not a place on this plane: it is the shape of the mark." if kinds else ""
    return f"Both axes are measured on this table.{rest}"


def reading(read: Trials) -> list[tuple[str, str]]:
    """The words of the page, and what each rests on."""
    axis = read.axis
    kept, fresh = read.table.get("train"), read.table.get("control")
    split = (
        f"Every release was made from the same {number(kept)} rows; the other {number(fresh)} are people outside, on whom attacks "
        "and models were tried."
        if kept and fresh
        else "Every release was made from the same rows, and tried on people outside them."
    )
    runs = read.made.get("runs")
    made = f"hushtable {read.made.get('hushtable', '')}, seed {read.made.get('seed', '')}"
    spent = f", in {number(read.made['seconds'])} seconds" if read.made.get("seconds") else ""
    return [
        *([("Made by", f"{made}{spent}")] if read.made else []),
        ("Rows", split),
        (
            "Risk",
            "of those whom an attack would not have hit anyway, the share it hits because they are in the table; the attack with "
            "the largest upper bound counts, the worst of all runs. Judged by the upper bound: not knowing is not passing.",
        ),
        (
            "Score",
            f"{axis.name}: {axis.meaning or axis.label}. {'Higher' if axis.higher else 'Lower'} is better; where it was "
            "constrained, the bad end of its interval counts."
            + (f" Each is the mean of {number(runs)} runs." if isinstance(runs, int) and runs > 1 else ""),
        ),
        *((f"{shape} {word}", meaning) for word, (shape, meaning) in ASSURANCES.items()),
        (
            "Alarms",
            "attacks that gained more on people in the table than chance explains, corrected for how many were tried on one "
            "release. One audit in twenty of a release that leaks nothing raises an alarm; with "
            f"{number(sum(t.runs for t in read.ran))} audits here chance alone may exclude safe releases, and does so oftener the "
            "more are tried.",
        ),
        (
            "Proven, verified, measured",
            "a proof holds against every attack, also those not yet thought of; what was verified holds for the columns named, in "
            "the table that comes out or, where that is said, in the one it was made from; what was measured holds for the attacks "
            "that were tried. They are never added up to one score.",
        ),
    ]


def untried(read: Trials) -> list[str]:
    """What the comparison cannot speak of."""
    target = read.table.get("target")
    runs = read.made.get("runs")
    told = [
        *read.notes,
        "Only these recipes and settings were tried; a setting between two of them may be better",
        f"Only one use was scored: {read.axis.label}"
        + (f"; a release that is good for {target} need not be good for other columns" if target else ""),
        "Only the attacks of this audit were tried; a measured risk of 0 is not a proof of safety",
    ]
    if isinstance(runs, int) and runs <= 1:
        told.append("Each release was made once, so how much it varies from run to run is not known")
    return told


def _named(trial: Trial, read: Trials) -> str:
    return f"{trial.id} ({read.axis.label} {number(trial.score.value)})"


def _best(trials: Sequence[Trial], read: Trials) -> Trial | None:
    """The best score of these."""
    best = None
    for trial in trials:
        if best is None or read.better(trial, best):
            best = trial
    return best


def _overlap(one: Trial, other: Trial) -> bool:
    """Whether the intervals of two scores meet; without intervals nothing is known."""
    ends = one.score.low, one.score.high, other.score.low, other.score.high
    if any(end is None for end in ends):
        return False
    low, high, least, most = (float(end) for end in ends if end is not None)
    return low <= most and least <= high
