"""The first screen of an audit: four questions, each answered in one sentence with one number.

What was promised, what attacks gained and what the release costs are three kinds of evidence; they are shown side by side and
never added up. The last answer, whether to publish, is the rule of ``evidence.verdict.publish``; here it is put into words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hushtable.evidence.finding import Finding
from hushtable.evidence.verdict import Decision, Evidence, Ground, Publish, Reason, Tone, is_large, publish
from hushtable.measures.cost import Cost, cost
from hushtable.privacy.guarantee import LARGE, Assurance, rounded_up
from hushtable.report import attacks
from hushtable.report import findings as show
from hushtable.report.causes import not_tried, who_gains
from hushtable.report.words import number, sentence, share

EXCESS = "more on people in the table than on people outside it"
SHOWN = 4
"""So many attacks are named one by one."""


@dataclass(frozen=True)
class Answer:
    """One of the four: the question, its number or word, a sentence, and where the page says more."""

    question: str
    figure: str
    text: str
    tone: str
    """A tone of a verdict, or the kind of assurance of a promise."""
    mark: str = ""
    """What kind of evidence it is."""
    where: str = ""
    """The section that says more."""
    reasons: tuple[str, ...] = ()


def answers(evidence: Evidence) -> list[Answer]:
    """The four, in the order in which they are asked."""
    return [promised(evidence), attacked(evidence), accuracy(evidence.findings), published(evidence)]


def promised(evidence: Evidence) -> Answer:
    """What the card of the release promises, and how it is known."""
    question = "What is promised?"
    if evidence.stated is None:
        return Answer(
            question, "not known", "The card of the audited release is not known, so its promise is not shown.", Tone.OPEN
        )
    word = evidence.stated.assurance
    text = " ".join((evidence.stated.sentences()[0], *evidence.exposed))
    return Answer(question, evidence.stated.figure, text, word, word, "guarantee")


def attacked(evidence: Evidence) -> Answer:
    """What the worst attack gained; without an alarm, the most that any of them may have gained."""
    question = "What did attacks achieve?"
    tested = evidence.tested
    if evidence.void and tested:
        line = f"what {attacks.count_of(tested)} gained does not count, because the audit is void"
        return Answer(question, "void", sentence(line), Tone.ALARM, "measured", "figures")
    if evidence.alarms:
        worst, head = evidence.alarms[0], evidence.headline
        line = f"{attacks.gaining(tested)} {EXCESS}; the worst is “{worst.label}”"
        if head is None or worst.risk is None:
            between = f" (interval {show.interval(worst)})" if show.interval(worst) else ""
            return Answer(
                question, show.value(worst), sentence(line + between), Tone.ALARM, "measured", attacks.anchor_of(worst)
            )  # fmt: skip
        line += f": {attacks.achieved(worst)}"
        if head.widest is not worst:
            line += f"; none hits more than {show.people(head.high)}"
        return Answer(
            question, show.most(head), sentence(line) + allowed(evidence), Tone.ALARM, "measured", attacks.anchor_of(worst)
        )  # fmt: skip
    if tested:
        line, head = f"{attacks.gaining(tested)} {EXCESS}, beyond chance", evidence.headline
        if head is None:
            return Answer(question, "no excess", sentence(line), Tone.OPEN, "measured", "figures")
        line += f"; {attacks.excluded(head)}"
        return Answer(question, show.most(head), sentence(line) + allowed(evidence), Tone.OPEN, "measured", "figures")
    if evidence.attacked:
        return Answer(question, "not tested", "No attack was tested against people outside the table.", Tone.OPEN, "measured")
    return Answer(question, "nothing", "No attack was run: this report is on utility alone.", Tone.OPEN)


def allowed(evidence: Evidence) -> str:
    """What the proof allows beside what was measured, as a sentence of its own; empty where nothing is proven."""
    if evidence.allowed is None:
        return ""
    count = show.points(rounded_up(evidence.allowed, 3))
    return f" The proof allows any attack whatever at most {count} more of 100 than if they were not in it."


def accuracy(findings: Sequence[Finding]) -> Answer:
    """What a model loses by learning from the release; where nothing is predicted, how far the tables lie apart."""
    question = "What does it cost in accuracy?"
    price = cost(findings)
    finding = price.finding
    if finding is None:
        return Answer(question, "not known", "Nothing about its utility was measured.", Tone.OPEN)
    gone = f"; {show.value(price.missing)} of the columns are not in it" if price.missing is not None else ""
    if price.by_model:
        figure, line, where = *_score(price, finding, gone), "downstream"
    else:
        base = f"; for fresh real rows it is {show.baseline(finding)}" if finding.baseline is not None else ""
        meaning = show.meaning_of(finding) or finding.note
        worst = f" ({worst})" if (worst := show.worst(finding, findings)) else ""
        figure, line = show.value(finding), f"{finding.name} is {show.value(finding)}{worst}{base} ({meaning}){gone}"
        where = str(show.page_of(finding) or "")
    untested = f" No model was tested: {sentence(price.untested)}" if price.untested else ""
    return Answer(question, figure, sentence(line) + untested, price.tone, "measured", where)


def _score(price: Cost, finding: Finding, gone: str) -> tuple[str, str]:
    """The change in the score of a model, and the sentence about it."""
    score = finding.name.rpartition(": ")[2]
    between = f" (interval {show.interval(finding)})" if show.interval(finding) else ""
    line = (
        f"a model that learnt from the release predicts {finding.scope or 'the target'} of real people with an {score} of "
        f"{number(finding.value)}{between}; one that learnt from the real rows has {number(finding.baseline)}{gone}"
    )
    if score == "AUC":
        line += " (1 is perfect, 0.5 is guessing)"
    if price.unpredictable:
        line += "; nobody can predict it from these columns, so this says little"
    return f"{_signed((finding.value or 0.0) - (finding.baseline or 0.0))} {score}", line


def published(evidence: Evidence) -> Answer:
    """The decision of ``publish``, with the reasons that it rests on here."""
    decision = publish(evidence)
    text, reasons = _WORDS[decision.answer](evidence, decision)
    return Answer(
        "Should it be published?", decision.answer, sentence(text), decision.tone, "a fixed rule", "words", tuple(reasons)
    )


Worded = tuple[str, list[str]]
"""The sentence of an answer, and its reasons as sentences."""


def _void(evidence: Evidence, decision: Decision) -> Worded:
    return "Nothing that this audit says about safety counts, for or against", [sentence(r.text) for r in decision.reasons]


def _untested(evidence: Evidence, decision: Decision) -> Worded:
    text = "No attack was tested against people outside the table" if evidence.attacked else "No attack was run"
    return text, [*_reasons(decision), "Attack it first: hush audit, with rows that the release never saw."]


def _refused(evidence: Evidence, decision: Decision) -> Worded:
    text = "a condition does not hold"
    if evidence.alarms:
        text = f"{attacks.gaining(evidence.tested)} more on people in the table than chance explains"
    return text, [line for line in (who_gains(evidence), *_reasons(decision), *_too_few(evidence)) if line]


def _examined(evidence: Evidence, decision: Decision) -> Worded:
    doubts = [text for ground in Ground if (text := _doubt(ground, decision.on(ground), evidence))]
    return f"No attack gained more than chance explains, but {', and '.join(doubts)}", _limits(evidence, decision)


def _unpromised(evidence: Evidence, decision: Decision) -> Worded:
    text = (
        f"none of {attacks.count_of(evidence.tested)} gained more than chance explains, but no theorem and no measurement limits "
    )
    return f"{text}what other attacks may gain", _limits(evidence, decision)


def _unopposed(evidence: Evidence, decision: Decision) -> Worded:
    text = (
        f"its guarantee is {evidence.assurance}, and none of {attacks.count_of(evidence.tested)} gained more than chance explains"
    )
    return text, _limits(evidence, decision)


_WORDS = {
    Publish.VOID: _void,
    Publish.UNTESTED: _untested,
    Publish.REFUSE: _refused,
    Publish.EXAMINE: _examined,
    Publish.UNPROMISED: _unpromised,
    Publish.NO_OBJECTION: _unopposed,
}


def _doubt(ground: Ground, reasons: Sequence[Reason], evidence: Evidence) -> str:
    """All doubts of one kind, to follow "but"; empty if there is none."""
    if not reasons:
        return ""
    findings = [reason.finding for reason in reasons if reason.finding is not None]
    if ground is Ground.HOLDERS:
        return "it is not sure who holds which rows"
    if ground is Ground.IDENTIFIERS:
        return ", and ".join(finding.note for finding in findings)
    if ground is Ground.SUSPICIOUS:
        which = f"{findings[0].label} is" if len(findings) == 1 else f"{number(len(findings))} other numbers are"
        return f"{which} worse than for fresh real rows"
    if ground is Ground.WIDE and evidence.headline is not None:
        return attacks.excluded(evidence.headline)
    if ground is Ground.WEAK_EPSILON:
        return "an epsilon this large promises little"
    if ground is Ground.FIDELITY:
        return f"{share(findings[0].value)} of the released rows break rules that the real rows follow"
    return "what is verified covers only some of the columns that others may know" if ground is Ground.PARTIAL else ""


def _reasons(decision: Decision) -> list[str]:
    """Failed conditions, then the worst attacks or numbers, the first ones by name."""
    outcomes = [reason.outcome for reason in decision.on(Ground.FAILED) if reason.outcome is not None]
    lines = [f"{outcome.expression} fails: {sentence(outcome.reason)}" for outcome in outcomes]
    alarms, suspicious = decision.on(Ground.ALARM), decision.on(Ground.SUSPICIOUS)
    lines += [f"{r.finding.label}: {sentence(r.finding.note)}" for r in (*alarms, *suspicious)[:SHOWN] if r.finding is not None]
    if len(alarms) > SHOWN:
        lines.append(f"And {number(len(alarms) - SHOWN)} more, each in the section of its kind.")
    return lines + [_impossible(r.finding) for r in decision.on(Ground.FIDELITY) if r.finding is not None]


def _impossible(finding: Finding) -> str:
    """How many rows cannot be, which rule is broken most often, and what helps: about its use, not about privacy."""
    line = f"Fitness for use, not privacy: {share(finding.value)} of the released rows break rules that the real rows follow"
    if finding.baseline is not None:
        line += f" ({share(finding.baseline)} of fresh real rows do)"
    if worst := finding.detail.get("worst"):
        line += f"; most often “{worst}”, in {share(finding.detail.get('worst share'))}"
    known = "Rules that everybody knows can be declared in the schema (zeros, determined_by); a model then draws no such row"
    return f"{line}. {known}."


def _limits(evidence: Evidence, decision: Decision) -> list[str]:
    """What finding nothing does not mean here: what is promised, which attacks were not run, what would have been noticed."""
    held = [outcome.expression for outcome in evidence.outcomes if outcome.holds]
    lines = [f"These conditions hold: {', '.join(held)}."] if held else []
    lines += [*_reasons(decision), _scope(evidence), *filter(None, [not_tried(evidence)])]
    if evidence.untried:
        kinds = ", ".join(attacks.RISKS[risk][0].lower() for risk in evidence.untried)
        lines.append(f"Not attacked: {kinds}. Not knowing is not the same as finding nothing.")
    lines.append(sentence(f"This is not a proof of safety: {attacks.noticed(evidence)}"))
    if (coarse := evidence.coarse) is not None and not decision.on(Ground.WIDE):
        lines.append(sentence(f"With so few people {attacks.excluded(coarse)}"))
    lines += _too_few(evidence)
    price = accuracy(evidence.findings)
    if price.tone == Tone.ALARM:
        lines.append(f"Whether it is still worth publishing is another question: accuracy is far from real ({price.figure}).")
    return lines


def _too_few(evidence: Evidence) -> list[str]:
    """Which attacks are not in the headline."""
    return [sentence(attacks.too_few(head))] if (head := evidence.headline) is not None and head.few else []


def _scope(evidence: Evidence) -> str:
    """Against which attacks the promise holds."""
    stated = evidence.stated
    if evidence.assurance is Assurance.PROVEN and stated is not None:
        return (
            "The guarantee is a theorem about the recipe: it also holds against attacks that were not tried, and allows what any "
            f"of them concludes to become {stated.factor()} times as likely."
        )
    if evidence.assurance is Assurance.VERIFIED:
        return "The guarantee was measured on this table, and says nothing about attackers who know more than it assumes."
    if stated is not None and stated.assurance is Assurance.PROVEN and is_large(stated.epsilon):
        return f"Its epsilon is above {number(LARGE)}: a guarantee on paper that protects hardly anybody."
    if stated is not None and stated.assurance is Assurance.CLAIMED:
        return "A publication claims more, but a gap in its proof is known."
    return "An attack that was not tried may succeed: only a guarantee limits all of them."


def _signed(change: float) -> str:
    """A difference with its sign; nothing that would round to zero has one."""
    text = number(round(change, 3))
    return text if change < 0 or text == "0" else f"+{text}"
