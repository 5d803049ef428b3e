"""The first screen of an audit: four questions, each answered in one sentence with one number.

What was promised, what attacks gained and what the release costs are three kinds of evidence; they are told side by side and
never added up. The last answer, whether to publish, is a rule over the other three that anybody can follow by hand. It never says
that a release is safe: an audit can only fail to find something.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hushtable.measures.catalogue import DOWNSTREAM, main_model
from hushtable.privacy.guarantee import LARGE
from hushtable.report import attacks, promise
from hushtable.report.reading import Reading, Tone
from hushtable.report.words import number, odds, sentence, share

OVERALL = ("mean pair TVD", "mean TVD", "association difference", "real or released: AUC")
"""What stands for the cost where nothing is predicted, the first that was measured."""
REASONS = 4
"""So many attacks are named one by one."""
COARSE, BLIND = 0.1, 0.5
"""An upper bound above the first is told even where nothing was found; above the second finding nothing says nothing."""
WEAK = 5.0
"""An epsilon above this is called weak: what is likely may be 150 times as likely."""
HARDLY = {"AUC": 0.55, "R2": 0.05}
"""Scores up to which a target is not to be predicted, whatever one learns from."""
RULE = (
    "a void audit cannot say; nor can one without attacks; not as it is if a condition fails or an attack gains more than chance "
    "explains; look closer if it is not sure who holds which rows, if the release has an identifier column, if only a number "
    "without a test is worse than for fresh rows, if some attack may still gain more than half, if epsilon is above 5, or if what "
    "is verified covers only some of the columns that others may know; nothing speaks against it if nothing was found and the "
    "promise is proven or verified; else nothing was found and nothing is promised. It never calls a release safe"
)
"""How the last answer comes about."""
NAMED = "identifier columns"
"""A finding that needs no test: whoever has the list behind such a column knows whose rows they are."""
KINDS = {"k_anonymity": "k", "k_map": "k", "l_diversity": "l", "t_closeness": "t"}


@dataclass(frozen=True)
class Answer:
    """One of the four: the question, its number or word, a sentence, and where the page says more."""

    question: str
    figure: str
    told: str
    tone: str
    """A tone of a verdict, or the kind of assurance of a promise."""
    mark: str = ""
    """What kind of evidence it is."""
    where: str = ""
    """The section that says more."""
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """All that the four answers rest on, as plain values."""

    readings: Sequence[Reading]
    card: Mapping[str, Any] | None = None
    power: Mapping[str, Any] | None = None
    gates: Sequence[Mapping[str, Any]] = ()
    void: Sequence[str] = ()
    assumed: Sequence[str] = ()
    """What is not sure about who holds which rows."""

    @property
    def tested(self) -> list[Reading]:
        """Attacks with an exact test, the worst first."""
        return sorted(
            (r for r in self.readings if r.subject == "privacy" and r.value is not None and r.tested), key=attacks.hardest
        )

    @property
    def alarms(self) -> list[Reading]:
        """Those that chance does not explain."""
        return [r for r in self.tested if r.surely_worse]

    @property
    def suspicious(self) -> list[Reading]:
        """Numbers without a test of their own that are worse than for fresh real rows."""
        return [r for r in self.readings if r.subject == "privacy" and r.value is not None and not r.tested and r.surely_worse]

    @property
    def attacked(self) -> bool:
        """Whether anything about privacy was asked at all."""
        return any(r.subject == "privacy" for r in self.readings)

    @property
    def assurance(self) -> str:
        """Proven, verified, claimed or none; of an epsilon too large to protect anybody, and of a claim, what else is verified."""
        if not self.card:
            return "none"
        word = promise.assurance(self.card)
        if word == "claimed" or (word == "proven" and promise.epsilon(self.card) > LARGE):
            rest = "claimed" if word == "claimed" else "none"
            return "verified" if (self.card.get("guarantee") or {}).get("promises") else rest
        return word

    @property
    def widest(self) -> Reading | None:
        """The attack whose upper bound is largest."""
        return max((r for r in self.readings if r.risk and r.high is not None), key=lambda r: r.high or 0.0, default=None)

    @property
    def doubts(self) -> list[str]:
        """Why it is worth a closer look though no attack succeeded."""
        told = ["it is not sure who holds which rows"] if self.assumed else []
        told += [r.note for r in self.readings if r.name == NAMED]
        if self.suspicious:
            told.append(f"{_few(self.suspicious)} worse than for fresh real rows")
        if self.widest is not None and (self.widest.high or 0.0) > BLIND:
            told.append(f"a gain of up to {share(self.widest.high)} cannot be excluded ({self.widest.label})")
        if self.assurance == "proven" and promise.epsilon(self.card or {}) > WEAK:
            told.append("an epsilon this large promises little")
        if self.assurance == "verified" and not promise.covers(self.card or {}):
            told.append("what is verified covers only some of the columns that others may know")
        return told


def answers(found: Evidence) -> list[Answer]:
    """The four, in the order in which they are asked."""
    return [promised(found), attacked(found), cost(found), publish(found)]


def promised(found: Evidence) -> Answer:
    """What the card of the release promises, and how it is known."""
    question = "What was promised?"
    if not found.card:
        return Answer(
            question, "not known", "The card of the audited release is not known, so its promise is not shown.", Tone.OPEN
        )
    word = promise.assurance(found.card)
    return Answer(question, _size(found.card, word), promise.sentences(found.card)[0], word, word, "guarantee")


def attacked(found: Evidence) -> Answer:
    """What the attack gained that chance explains least; without an alarm, the most that any of them may have gained."""
    question = "What was attacked, and what did it gain?"
    tested, risks = found.tested, [r for r in found.readings if r.risk and r.value is not None]
    if found.void and tested:
        told = f"Nothing that {attacks.count_of(tested)} gained counts, because the audit is void"
        return Answer(question, "void", sentence(told), Tone.ALARM, "measured", "figures")
    if found.alarms:
        worst = found.alarms[0]
        between = f" (interval {worst.interval()})" if worst.interval() else ""
        told = (
            f"{attacks.gaining(tested)} more on people in the table than on people outside it; the worst is {worst.label}{between}"
        )
        return Answer(question, worst.told(worst.value), sentence(told), Tone.ALARM, "measured", _section(worst))
    if tested:
        told = f"{attacks.gaining(tested)} more on people in the table than on people outside it"
        most = max((r for r in risks if r.high is not None), key=lambda r: r.high or 0.0, default=None)
        figure = "no excess" if most is None else f"≤ {share(most.high)}"
        told += "" if most is None else f"; the largest upper bound of a gain is that of {most.label}"
        return Answer(question, figure, sentence(told), Tone.OPEN, "measured", "figures")
    if found.attacked:
        return Answer(question, "not tested", "No attack brought a test against people outside the table.", Tone.OPEN, "measured")
    return Answer(question, "nothing", "No attack was run: this report is on utility alone.", Tone.OPEN)


def cost(found: Evidence) -> Answer:
    """What a model loses by learning from the release; where nothing is predicted, how far the tables lie apart."""
    question = "What does it cost in accuracy?"
    main = next((r for r in found.readings if main_model(r) and r.value is not None), None)
    lost = next((r for r in found.readings if r.name == "columns missing" and r.value), None)
    gone = f"; {lost.told(lost.value)} of the columns are not in it" if lost is not None else ""
    if main is not None and main.value is not None and main.baseline is not None:
        score = main.name.rpartition(": ")[2]
        between = f" (interval {main.interval()})" if main.interval() else ""
        told = (
            f"A model that learnt from the release predicts {main.scope or 'the target'} of real people with an {score} "
            f"of {number(main.value)}{between}; one that learnt from the real rows has {number(main.baseline)}{gone}"
        )
        if main.baseline <= HARDLY.get(score, -math.inf):
            told += "; nobody can predict it from these columns, so this says little"
        change = main.value - main.baseline
        return Answer(question, f"{_signed(change)} {score}", sentence(told), str(main.verdict.tone), "measured", "downstream")
    overall = next((r for name in OVERALL for r in found.readings if r.name == name and not r.scope and r.value is not None), None)
    if overall is not None:
        meaning = overall.metric.meaning if overall.metric else overall.note
        base = f"; for fresh real rows it is {overall.told(overall.baseline)}" if overall.baseline is not None else ""
        told = f"{overall.name} is {overall.told(overall.value)}{base} ({meaning}){gone}"
        why = next((r.note for r in found.readings if r.name.startswith(DOWNSTREAM.name) and r.value is None), "")
        tone = Tone.WATCH if gone and overall.verdict.tone == Tone.CALM else overall.verdict.tone
        unpredicted = f" No model was tested: {sentence(why)}" if why else ""
        return Answer(question, overall.told(overall.value), sentence(told) + unpredicted, str(tone), "measured", overall.page)
    return Answer(question, "not known", "Nothing about its utility was measured.", Tone.OPEN)


def publish(found: Evidence) -> Answer:
    """The rule of ``RULE``, with the reasons that it rests on here."""
    return replace(_ruled(found), mark="a fixed rule", where="words")


def _ruled(found: Evidence) -> Answer:
    question = "Should it be published?"
    if found.void:
        told = "Nothing it says about safety counts, for or against"
        return Answer(question, "This audit cannot say", sentence(told), Tone.ALARM, reasons=tuple(map(sentence, found.void)))
    failed = [gate for gate in found.gates if not gate.get("holds")]
    if not found.tested:
        told = "No attack was run that was tested against people outside the table" if found.attacked else "No attack was run"
        reasons = (*_gated(failed), *_suspected(found), "Attack it first: hush audit, with rows that the release never saw.")
        return Answer(question, "This report cannot say", sentence(told), Tone.OPEN, reasons=reasons)
    if failed or found.alarms:
        return _refused(question, found, failed)
    if found.doubts:
        told = f"No attack gained more than chance explains, but {', and '.join(found.doubts)}"
        return Answer(question, "Look closer first", sentence(told), Tone.WATCH, reasons=_open(found))
    if found.assurance in ("proven", "verified"):
        told = f"its promise is {found.assurance}, and none of {attacks.count_of(found.tested)} gained more than chance explains"
        return Answer(question, "Nothing speaks against it", sentence(told), Tone.CALM, reasons=_open(found))
    told = (
        f"none of {attacks.count_of(found.tested)} gained more than chance explains, and no theorem or measurement stands behind it"
    )
    return Answer(question, "Nothing was found, and nothing is promised", sentence(told), Tone.WATCH, reasons=_open(found))


def _refused(question: str, found: Evidence, failed: Sequence[Mapping[str, Any]]) -> Answer:
    alarms = found.alarms
    told = (
        f"{attacks.gaining(found.tested)} more on people in the table than chance explains"
        if alarms
        else "what was asked of it fails"
    )
    reasons = _gated(failed)
    reasons += [f"{r.label}: {sentence(r.note)}" for r in alarms[:REASONS]]
    if len(alarms) > REASONS:
        reasons.append(f"And {number(len(alarms) - REASONS)} more, each in the section of its kind.")
    return Answer(question, "Not as it is", sentence(told), Tone.ALARM, reasons=(*reasons, _remedy(found)))


def _gated(failed: Sequence[Mapping[str, Any]]) -> list[str]:
    return [f"{gate.get('expression', '')} fails: {sentence(str(gate.get('told', '')))}" for gate in failed]


def _remedy(found: Evidence) -> str:
    """What to try next, by what the release promises now."""
    tries = {
        "proven": "a smaller epsilon, for a proven bound limits what an attack gains and does not forbid it",
        "verified": "a larger k, or a promise about the secrets as well (l, t)",
        "claimed": "a recipe whose promise is proven or verified, for a claim does not bind",
    }.get(found.assurance, "a recipe that promises something: k-anonymity, or a privacy budget")
    return f"To try: {tries}; hush compare runs several on the same rows."


def _open(found: Evidence) -> tuple[str, ...]:
    """What finding nothing does not mean here: what is promised, what could not be looked at, what would have been noticed."""
    told = _suspected(found)
    if found.assurance == "proven":
        told.append(
            "The promise is a theorem about the recipe: it holds against attacks that were not tried as well, and allows each "
            f"to make what it concludes {odds(promise.epsilon(found.card or {}))} times as likely."
        )
    elif found.assurance == "verified":
        told.append("The promise was measured on this table, and says nothing about attackers who know more than it assumes.")
    elif found.card and promise.assurance(found.card) == "proven":
        told.append(f"Its epsilon is above {number(LARGE)}: a promise on paper that protects hardly anybody.")
    elif found.card and promise.assurance(found.card) == "claimed":
        told.append("A publication claims more, but a gap in its proof is known.")
    else:
        told.append("An attack that was not tried may succeed: only a promise binds all of them.")
    blind = [
        title
        for risk, (title, _) in attacks.RISKS.items()
        if not any(r.risk == risk and r.value is not None for r in found.readings)
    ]
    if blind:
        told.append(f"Not looked at: {', '.join(word.lower() for word in blind)}. Not knowing is not the same as finding nothing.")
    told.append(sentence(f"This is not a proof of safety: {attacks.noticed(found.tested, found.power)}"))
    if found.widest is not None and (found.widest.high or 0.0) > COARSE:
        told.append(f"With so few people a gain of up to {share(found.widest.high)} cannot be excluded ({found.widest.label}).")
    spent = cost(found)
    if spent.tone == Tone.ALARM:
        told.append(f"Whether it is still worth publishing is another question: accuracy is far from real ({spent.figure}).")
    held = [str(gate.get("expression", "")) for gate in found.gates if gate.get("holds")]
    return (*([f"What was asked of it holds: {', '.join(held)}."] if held else []), *told)


def _suspected(found: Evidence) -> list[str]:
    return [f"{r.label}: {sentence(r.note)}" for r in found.suspicious[:REASONS]]


def _size(card: Mapping[str, Any], word: str) -> str:
    if word == "proven" and math.isfinite(promise.epsilon(card)):
        return promise.short_epsilon(card)
    promises = (card.get("guarantee") or {}).get("promises") or []
    if word == "verified" and promises:
        kind = str(promises[0].get("kind"))
        return f"{KINDS.get(kind, kind.replace('_', '-'))} = {number(promises[0].get('value'))}"
    return "only a claim" if word == "claimed" else "nothing"


def _section(reading: Reading) -> str:
    return reading.risk.replace(" ", "-") if reading.risk in attacks.RISKS else "indicators"


def _few(readings: Sequence[Reading]) -> str:
    if len(readings) == 1:
        return f"{readings[0].label} is"
    return f"{number(len(readings))} other numbers are"


def _signed(change: float) -> str:
    """A difference with its sign; nothing that would round to zero has one."""
    text = number(round(change, 3))
    return text if change < 0 or text == "0" else f"+{text}"
