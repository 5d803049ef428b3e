"""What the runs of a trial show together: gains and risks by the worst run, the score by the mean with the bounds of all runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from hushtable.api.compare.axis import Axis
from hushtable.api.compare.cell import Cell, MeasureValue, Score, WorstAttack, WorstGain
from hushtable.api.compare.grid import EPSILON, Trial
from hushtable.api.compare.observation import Observation
from hushtable.evidence.finding import Finding, Risk, Subject
from hushtable.evidence.verdict import alarms, headline, is_alarm
from hushtable.measures.catalogue import main_model
from hushtable.privacy.guarantee import PROVISO, Assurance, Statement


def summarize(trial: Trial, runs: Sequence[Observation], axis: Axis, *, public: bool = False) -> Cell:
    """The cell of a trial, not yet judged; a run that failed makes the cell fail.

    Where the rows are not ``public``, a proof is worded with the condition that it rests on: it was not chosen by looking.
    """
    settings = dict(trial.settings)
    if trial.epsilon is not None:
        settings[EPSILON] = f"{trial.epsilon:g}"
    recipe = trial.recipe
    seconds = sum(run.seconds for run in runs)
    failed = next((run.failed for run in runs if run.failed), "")
    if failed:
        return Cell(
            id=trial.id, recipe=recipe.recipe, title=recipe.title, cite=recipe.cite, settings=settings, epsilon=trial.epsilon,
            runs=len(runs), seconds=seconds, failed=failed,
        )  # fmt: skip
    weakest = min(runs, key=lambda run: run.strictness)
    audits = [run.findings for run in runs]
    pooled = [finding for findings in audits for finding in findings]
    risks = {str(risk): worst_attack([f for f in pooled if f.risk is risk]) for risk in Risk}
    gains = {str(risk): worst_gain([f for f in pooled if f.risk is risk]) for risk in Risk}
    return Cell(
        id=trial.id,
        recipe=recipe.recipe,
        title=recipe.title,
        cite=recipe.cite,
        settings=settings,
        epsilon=trial.epsilon,
        delta=weakest.guarantee.delta,
        runs=len(runs),
        assurance=weakest.assurance,
        promise="; ".join(_worded(statement, public=public) for statement in weakest.statements) or "nothing",
        guarantee=weakest.guarantee,
        risk=worst_attack(pooled),
        risks={kind: worst for kind, worst in risks.items() if worst is not None},
        gain=worst_gain(pooled),
        gains={kind: worst for kind, worst in gains.items() if worst is not None},
        alarms=max(len(alarms(findings)) for findings in audits),
        tests=max(sum(f.p is not None for f in findings) for findings in audits),
        void=_once(reason for run in runs for reason in run.void),
        score=_score(audits, axis),
        measures=_measures(audits),
        rows=round(float(np.mean([run.rows for run in runs]))),
        seconds=seconds,
        notes=_once(note for run in runs for note in run.notes),
        gaps=_once(gap for run in runs for gap in run.gaps),
    )


def worst_attack(findings: Sequence[Finding]) -> WorstAttack | None:
    """The attack whose upper bound is largest: what nobody can rule out. None if no attack has a bound."""
    known = [f for f in findings if f.risk is not None and f.high is not None and f.value is not None]
    if not known:
        return None
    worst = max(known, key=lambda f: (f.high or 0.0, f.value or 0.0))
    return WorstAttack(worst.value or 0.0, worst.low, worst.high, worst.label, str(worst.risk))


def worst_gain(findings: Sequence[Finding]) -> WorstGain | None:
    """The worst gain that was measured, of attacks that raised an alarm if any did, and what cannot be excluded of any attack.

    They are of two attacks as a rule, by the rule of an audit's headline: attacks with too few attempts to say set neither, and
    releases that leak nothing read alike. None if no attack has a gain.
    """
    attacks = [f for f in findings if f.gain is not None]
    head = headline(attacks)
    if head is None or head.widest.gain is None:
        return None
    counted = [(f, f.gain) for f in attacks if f.gain is not None and f.risk is not None and f not in head.few]
    raised = [(f, gain) for f, gain in counted if is_alarm(f.p_adjusted)]
    worst, gained = max(raised or counted, key=lambda pair: pair[1].value)
    bound = head.widest.gain
    return WorstGain(
        max(0.0, gained.value), max(0.0, gained.low), max(0.0, head.high), worst.label, str(worst.risk), bool(raised),
        head.widest.label, bound.value, bound.outside, max(0.0, bound.high),
    )  # fmt: skip


def baseline(observations: Sequence[Observation], axis: Axis) -> float | None:
    """The score of the real rows; the mean where runs draw them anew."""
    findings = [axis.finding(one.findings) for one in observations]
    known = [axis.read(f.baseline) for f in findings if f is not None and f.baseline is not None]
    return float(np.mean(known)) if known else None


def _worded(statement: Statement, *, public: bool) -> str:
    if statement.evidence is Assurance.PROVEN and not public:
        return f"{statement.text} ({PROVISO})"
    return str(statement)


def _score(audits: Sequence[Sequence[Finding]], axis: Axis) -> Score | None:
    """The mean over runs, between the least and the largest bound of any run; None if some run has no score."""
    findings = [axis.finding(audit) for audit in audits]
    known = [f for f in findings if f is not None]
    if len(known) < len(findings):
        return None
    values = [axis.read(f.value or 0.0) for f in known]
    ends = [axis.read(end) for f in known for end in (f.low, f.high) if end is not None]
    every = values + ends
    # One run of a score without an interval has none: its own value twice would be a false one.
    return Score(float(np.mean(values)), *((min(every), max(every)) if len(every) > 1 else (None, None)))


def _measures(audits: Sequence[Sequence[Finding]]) -> dict[str, MeasureValue]:
    """Measures of the whole table, and of the target, the mean over runs."""
    measures: dict[str, MeasureValue] = {}
    for one in audits[0]:
        if one.subject is not Subject.UTILITY or one.value is None or (one.scope and not main_model(one)):
            continue
        if one.name not in measures:
            same = [f for findings in audits for f in findings if f.label == one.label]
            measures[one.name] = MeasureValue(_mean(f.value for f in same), _mean(f.baseline for f in same), str(one.better))
    return measures


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
