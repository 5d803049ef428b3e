"""An audit in at most 25 lines, for a console: the verdict, what to do, the three risks, three measures of utility."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hushtable.evidence.finding import Finding, Subject
from hushtable.evidence.verdict import Publish, Tone, advice, headline, is_alarm, publish
from hushtable.privacy.guarantee import rounded_up
from hushtable.report import attacks, decision
from hushtable.report import findings as show
from hushtable.report.audit import key_figures
from hushtable.report.words import number, sentence, share, shortened

if TYPE_CHECKING:
    # The text shows the report and does not make it.
    from hushtable.api.audit_report import AuditReport

MOST = 25
"""So many lines at most, of ``WIDTH`` letters."""
WIDTH = 80
LABEL = 50
"""So many letters of the name of a measure."""
GATES, CAUTIONS, NUMBERS = 3, 2, 3
"""So many conditions, cautions and measures of utility are shown; the others are counted."""


@dataclass(frozen=True)
class Line:
    """One thing to say: what it is about, in the colour of its tone, and the words."""

    head: str
    text: str
    tone: Tone = Tone.OPEN
    whole: bool = False
    """Whether it may not be cut, as a path."""
    least: int = 1
    """So many lines it needs before others get more than one."""

    @property
    def plain(self) -> str:
        """As it is printed, without colours."""
        return f"{self.head}: {self.text}" if self.text else self.head

    @property
    def height(self) -> int:
        """How many lines of a console it takes."""
        return max(1, math.ceil(len(self.plain) / WIDTH))

    def cut(self, lines: int) -> Line:
        """The same in so many lines at most."""
        if self.whole or self.height <= lines:
            return self
        return Line(self.head, textwrap.shorten(self.text, lines * WIDTH - len(self.head) - 2, placeholder=" …"), self.tone)


def brief(report: AuditReport, folder: str) -> list[Line]:
    """The lines, the weightiest first, in so many lines of a console as there may be.

    Each begins with one; then the weighty ones get what they ask for, and what is left goes to those that lack least.
    """
    lines = [
        *_verdict(report), *_to_do(report), *_asked(report), *_cautions(report), *_gates(report), *_risks(report),
        *_untested(report), *_limits(report), *_utility(report), *_where(report, folder),
    ]  # fmt: skip
    heights = [line.height if line.whole else 1 for line in lines]
    while sum(heights) > MOST and len(lines) > 2:
        del lines[-2], heights[-2]
    for at, line in enumerate(lines):
        heights[at] += max(0, min(min(line.height, line.least) - heights[at], MOST - sum(heights)))
    for at in sorted(range(len(lines)), key=lambda at: lines[at].height):
        heights[at] += max(0, min(lines[at].height - heights[at], MOST - sum(heights)))
    return [line.cut(height) for line, height in zip(lines, heights, strict=True)]


def _verdict(report: AuditReport) -> list[Line]:
    evidence, raised = report.evidence, len(report.alarms)
    decided = publish(evidence)
    tests, head = sum(f.p is not None for f in report.findings), evidence.headline
    if evidence.void:
        return [Line("This audit is void", "; ".join(evidence.void), Tone.ALARM)]
    if not tests:
        return [Line(decided.answer, "No attack was tested against people outside the table.", decided.tone)]
    text = f"{raised} of {tests} tests raise an alarm" if raised else f"None of {tests} tests raises an alarm (no proof of safety)"
    if head is not None:
        amount = f"at most {show.beyond(head.high)}" if head.alarm is None else show.beyond(head.low, head.high)
        text += f"; attacks hit {amount}"
    lines = [Line(decided.answer, f"{text}.", decided.tone, whole=True)]
    if decided.answer is Publish.EXAMINE:
        lines.append(Line("Why", decision.published(evidence).text, Tone.WATCH, least=2))
    if evidence.stated is not None:
        proof = ""
        if evidence.allowed is not None:
            count = show.points(rounded_up(evidence.allowed, 3))
            proof = f"; it allows no attack at all more than {count} more of 100"
        text = " ".join((f"{evidence.stated.figure}{proof}.", *evidence.exposed))
        lines.append(Line(f"Promised, {evidence.stated.assurance}", text, least=2))
    return lines


def _to_do(report: AuditReport) -> list[Line]:
    return [Line("To do", f"{line}.", Tone.WATCH, least=4) for line in advice(report.evidence.advised)]


def _asked(report: AuditReport) -> list[Line]:
    return [Line("Asked", f"{report.sampled}.", Tone.WATCH, least=5)] if report.sampled else []


def _cautions(report: AuditReport) -> list[Line]:
    found = [*(f.note for f in report.evidence.identifiers), *report.assumed, *filter(None, [report.run.untried])]
    return _first([Line("Caution", f"{text}.", Tone.WATCH) for text in found], CAUTIONS, "cautions")


def _gates(report: AuditReport) -> list[Line]:
    failed_first = sorted(report.gates, key=lambda gate: gate.holds)
    lines = [
        Line(
            "Condition holds" if gate.holds else "Condition fails",
            f"{gate.expression}: {gate.reason}",
            Tone.CALM if gate.holds else Tone.ALARM,
        )
        for gate in failed_first
    ]
    return _first(lines, GATES, "conditions")


def _risks(report: AuditReport) -> list[Line]:
    """For each risk the worst attack: what it gains, and by all of them at most."""
    return [
        Line(attacks.RISKS[risk][0], _worst(own), Tone.ALARM if is_alarm(own[0].p_adjusted) else Tone.OPEN, least=2)
        for risk, own in report.attacks.items()
        if own
    ]


def _worst(own: Sequence[Finding]) -> str:
    worst, head = own[0], headline(own)
    amount = show.value(worst) if head is None else show.most(head)
    measured = f" {show.gained(worst)} ({show.gained_between(worst)})" if worst.gain else ""
    remark = f", {show.remark(worst)}" if show.remark(worst) else ""
    return f"{amount}; worst of {len(own)}: {worst.label}{measured}{remark}. {sentence(worst.note)}"


def _untested(report: AuditReport) -> list[Line]:
    """Where no attack was tested, what else was measured about privacy, such as by an audit of one's own."""
    if report.evidence.tested:
        return []
    own = [f for f in report.findings if f.subject is Subject.PRIVACY and f.risk is None and f.value is not None]
    lines = [Line(shortened(f.label, LABEL), f"{_measured(f)}. {sentence(f.note)}") for f in own if f.name != "coverage"]
    return _first(lines, NUMBERS, "numbers about privacy")


def _limits(report: AuditReport) -> list[Line]:
    """What the audit cannot say: attacks that are too small or were not run, and which leaks it would miss."""
    evidence, power = report.evidence, report.power
    few = () if evidence.headline is None else evidence.headline.few
    lines = [Line("Too few attempts to say", ", ".join(f.label for f in few))] if few else []
    lines += [Line("Attacked", f"{f.note}.") for f in report.findings if f.name == "coverage" and (f.value or 0.0) < 1]
    blind = [f for f in report.findings if f.subject is Subject.PRIVACY and f.value is None]
    lines += [Line(f"{number(len(blind))} could not be computed", f"{blind[0].label}: {blind[0].note}")] if blind else []
    if power is not None:
        seen = f"{share(power.smallest)} of the released rows" if power.smallest else f"none, not even {share(power.largest)}"
        parts = "".join(f". {line}" for line in attacks.power_of_parts(power))
        lines.append(Line("The smallest planted leak of whole rows that it notices", f"{seen}{parts}."))
    elif evidence.tested and not report.alarms and publish(evidence).answer is not Publish.VOID:
        lines.append(Line("Not tested", "how small a leak it would have noticed; --power tests it."))
    return lines


def _utility(report: AuditReport) -> list[Line]:
    useful = [f for f in key_figures(report.findings) if f.subject is Subject.UTILITY and f.value is not None]
    return [Line(shortened(f.label, LABEL), _measured(f)) for f in useful[:NUMBERS]]


def _measured(finding: Finding) -> str:
    between = f" ({show.interval(finding)})" if show.interval(finding) else ""
    base = f", real rows {show.baseline(finding)}" if finding.baseline is not None else ""
    return f"{show.value(finding)}{base}{between}; {show.direction(finding)}"


def _where(report: AuditReport, folder: str) -> list[Line]:
    return [
        Line(
            f"All {number(len(report.findings))} findings",
            f"{folder}/audit.html. It was computed from raw rows: do not publish it.",
            whole=True,
        )
    ]


def _first(lines: Iterable[Line], most: int, what: str) -> list[Line]:
    """The first so many, and how many there are besides."""
    shown = list(lines)
    rest = [Line(f"And {number(len(shown) - most)} more", f"{what}, in the report.")] if len(shown) > most else []
    return shown[:most] + rest
