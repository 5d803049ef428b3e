"""Whether a release should be published: a fixed rule over what was promised and what attacks found, with its reasons.

It never says that a release is safe: an audit can only fail to find something.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from hushtable.evidence.finding import Finding, Risk, Subject
from hushtable.evidence.known import ALL, QUASI
from hushtable.evidence.power import Power
from hushtable.evidence.verdict.cause import Cause, CauseKind, remedies
from hushtable.evidence.verdict.finding import Tone, is_alarm, is_tested, severity, surely_worse
from hushtable.evidence.verdict.headline import Headline, headline
from hushtable.evidence.verdict.promise import WEAK_EPSILON, binding_assurance, is_weak, proven_gain
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.stated import StatedGuarantee

if TYPE_CHECKING:
    # A condition is judged by the rules of this package.
    from hushtable.evidence.condition import Outcome

COARSE = 0.1
"""An upper bound above this is stated even where nothing was found: one more person in ten may be hit, for all that is known."""
BLIND = 0.25
"""An upper bound above this means that the audit was too small: one more person in four may be hit."""
BROKEN = 0.01
"""Fitness for use: beyond this share of rows that cannot be, more than among fresh real rows, a release is worth a closer look."""
RULES = "rules broken"
"""The finding that says how many there are."""
NAMED = "identifier columns"
"""A finding that needs no test: whoever has the list behind such a column knows whose rows they are."""

RULE = (
    "an audit that is void decides nothing, nor does one without a tested attack; do not publish it as it is if a condition fails "
    "or an attack gains more than chance explains, however much its attacker must hold for that; examine it further if it is not "
    "sure who holds which rows, if the release has an identifier column, if a number without a test is worse than for fresh rows, "
    f"if some attack may still hit more than {100 * BLIND:g} more of 100 people in the table than outside it, if epsilon is above "
    f"{WEAK_EPSILON:g}, if what is verified covers only some of the columns that others may know, or, for its use, if more than "
    f"{100 * BROKEN:g} % of its rows break rules that real rows follow; no reason is found to withhold it if the promise is proven "
    "or verified; else no leak was found, but there is no guarantee either. The rule never calls a release safe"
)
"""The rule of ``publish`` in words."""


class Publish(StrEnum):
    """The answers to "should it be published?"."""

    VOID = "Not decided: the audit is void"
    UNTESTED = "Not decided: no attack was tested"
    REFUSE = "Do not publish it as it is"
    EXAMINE = "Examine it further first"
    UNPROMISED = "No leak found, but no guarantee either"
    NO_OBJECTION = "No reason found to withhold it"


TONES = {
    Publish.VOID: Tone.ALARM,
    Publish.UNTESTED: Tone.OPEN,
    Publish.REFUSE: Tone.ALARM,
    Publish.EXAMINE: Tone.WATCH,
    Publish.UNPROMISED: Tone.WATCH,
    Publish.NO_OBJECTION: Tone.CALM,
}


class Ground(StrEnum):
    """The kinds of reasons for an answer."""

    VOID = "void"
    """The control is not what it should be; ``Reason.text`` says how."""
    FAILED = "failed condition"
    """A condition that was asked for does not hold (``Reason.outcome``)."""
    ALARM = "alarm"
    """An attack gained more than chance explains."""
    HOLDERS = "holders"
    """It is not sure who holds which rows."""
    IDENTIFIERS = "identifiers"
    """The release has a column that identifies people."""
    SUSPICIOUS = "suspicious"
    """A number without a test of its own is worse than for fresh real rows."""
    WIDE = "wide interval"
    """An attack may gain more than ``BLIND``: with so few people it cannot be excluded."""
    WEAK_EPSILON = "weak epsilon"
    """The proven epsilon is so large that it promises little."""
    PARTIAL = "partial cover"
    """What is verified covers only some of the columns that others may know."""
    FIDELITY = "broken rules"
    """Fitness for use, not privacy: it holds rows that cannot be (``Reason.finding``)."""


class Reach(StrEnum):
    """Who gains something: how much an attacker must hold for that. Each is a reason not to publish; cause and remedy differ."""

    NOBODY = "nobody"
    """No attack gained more than chance explains."""
    QUASI = "quasi"
    """Somebody who knows only the quasi-identifiers, and so whoever knows more."""
    LISTED = "listed"
    """Somebody who knows the columns that were named."""
    ALL = "all"
    """Only somebody who holds all released columns; with the quasi-identifiers alone they gain nothing beyond chance."""
    OTHERS = "others"
    """Somebody; what they must hold was not asked."""


@dataclass(frozen=True)
class Reason:
    """One reason, with what it rests on."""

    ground: Ground
    finding: Finding | None = None
    outcome: Outcome | None = None
    text: str = ""


@dataclass(frozen=True)
class Decision:
    """The answer, and the reasons for it, the weightiest first; none where nothing was found."""

    answer: Publish
    reasons: tuple[Reason, ...] = ()

    @property
    def tone(self) -> Tone:
        """How the answer is shown."""
        return TONES[self.answer]

    def on(self, ground: Ground) -> list[Reason]:
        """The reasons of one kind."""
        return [reason for reason in self.reasons if reason.ground is ground]


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """All that the decision rests on."""

    findings: Sequence[Finding]
    stated: StatedGuarantee | None = None
    """What the card of the release states; None if there is no card."""
    power: Power | None = None
    outcomes: Sequence[Outcome] = ()
    """What became of the conditions that were asked for."""
    void: Sequence[str] = ()
    """Why nothing that the audit says about safety counts."""
    assumed: Sequence[str] = ()
    """What is not sure about who holds which rows."""
    several_rows: bool = False
    """Whether people hold several rows, so that all numbers are about people and not about rows."""
    causes: Sequence[Cause] = ()
    """Why alarms were raised; empty in a file of a version that did not ask."""
    exposed: Sequence[str] = ()
    """What no promise may hide, in sentences: columns that left unchanged, and rows of real people that somebody allowed."""

    @property
    def assurance(self) -> Assurance:
        """The kind of evidence for the promise that counts."""
        return binding_assurance(self.stated)

    @property
    def private(self) -> list[Finding]:
        """Findings about privacy that have a value."""
        return [f for f in self.findings if f.subject is Subject.PRIVACY and f.value is not None]

    @property
    def tested(self) -> list[Finding]:
        """Attacks with an exact test, the worst first."""
        return sorted(filter(is_tested, self.private), key=severity)

    @property
    def alarms(self) -> list[Finding]:
        """Those that chance does not explain."""
        return [f for f in self.tested if is_alarm(f.p_adjusted)]

    @property
    def advised(self) -> Sequence[Cause]:
        """The causes with what would remove them; one that is not known where a file has alarms and no causes."""
        if self.causes or not self.alarms:
            return self.causes
        unknown = remedies(CauseKind.UNEXPLAINED, (), (), self.assurance)
        return [Cause(kind=CauseKind.UNEXPLAINED, alarms=tuple(f.label for f in self.alarms), remedies=unknown)]

    @property
    def reach(self) -> Reach:
        """How little an attacker must hold to gain something."""
        alarming, tried = ({f.known for f in some} for some in (self.alarms, self.tested))
        if not self.alarms:
            return Reach.NOBODY
        if QUASI in alarming:
            return Reach.QUASI
        if alarming - {"", ALL, QUASI}:
            return Reach.LISTED
        return Reach.ALL if ALL in alarming and "" not in alarming and QUASI in tried else Reach.OTHERS

    @property
    def suspicious(self) -> list[Finding]:
        """Numbers without a test of their own that are worse than for fresh real rows."""
        return [f for f in self.private if not is_tested(f) and surely_worse(f)]

    @property
    def attacked(self) -> bool:
        """Whether anything about privacy was asked at all."""
        return any(f.subject is Subject.PRIVACY for f in self.findings)

    @cached_property
    def headline(self) -> Headline | None:
        """What the worst attack gains; None if no attack has an upper bound."""
        return headline(self.findings)

    @property
    def widest(self) -> Finding | None:
        """The attack whose upper bound is largest, of those with enough attempts to say."""
        return None if self.headline is None else self.headline.widest

    @property
    def allowed(self) -> float | None:
        """What the proof allows any attack to gain; None where nothing is proven about people, or it is not sure who holds what."""
        return None if self.assumed else proven_gain(self.stated, several_rows=self.several_rows)

    @property
    def coarse(self) -> Headline | None:
        """The headline, if so much cannot be excluded that it is stated even where nothing was found (``COARSE``)."""
        return self.headline if self.headline is not None and self.headline.high > COARSE else None

    @property
    def identifiers(self) -> list[Finding]:
        """What was found of columns that name people."""
        return [f for f in self.findings if f.name == NAMED]

    @property
    def impossible(self) -> Finding | None:
        """What was found of rows that break rules of the real rows, if they are too many to be left unsaid."""
        known = (f for f in self.findings if f.name == RULES and f.value is not None)
        return next((f for f in known if (f.value or 0.0) - (f.baseline or 0.0) > BROKEN and surely_worse(f)), None)

    @property
    def smallest_leak(self) -> float | None:
        """The smallest planted leak that any test, or all of them together, noticed; None if none was noticed or none planted."""
        known = [f.detectable for f in self.tested if f.detectable is not None]
        if self.power is not None and self.power.smallest is not None:
            known.append(self.power.smallest)
        return min(known, default=None)

    @property
    def untried(self) -> list[Risk]:
        """The risks that no attack with a value is an instance of."""
        known = {f.risk for f in self.findings if f.value is not None}
        return [risk for risk in Risk if risk not in known]


def publish(evidence: Evidence) -> Decision:
    """The answer to "should it be published?", by the first of these that applies."""
    failed = [Reason(Ground.FAILED, outcome=outcome) for outcome in evidence.outcomes if not outcome.holds]
    alarms = [Reason(Ground.ALARM, finding) for finding in evidence.alarms]
    suspicious = [Reason(Ground.SUSPICIOUS, finding) for finding in evidence.suspicious]
    fidelity = [Reason(Ground.FIDELITY, evidence.impossible)] if evidence.impossible is not None else []
    if evidence.void:
        return Decision(Publish.VOID, tuple(Reason(Ground.VOID, text=text) for text in evidence.void))
    if not evidence.tested:
        return Decision(Publish.UNTESTED, (*failed, *suspicious, *fidelity))
    if failed or alarms:
        return Decision(Publish.REFUSE, (*failed, *alarms, *fidelity))
    if doubts := (*_doubts(evidence), *suspicious, *fidelity):
        return Decision(Publish.EXAMINE, doubts)
    if evidence.assurance in (Assurance.PROVEN, Assurance.VERIFIED):
        return Decision(Publish.NO_OBJECTION)
    return Decision(Publish.UNPROMISED)


def _doubts(evidence: Evidence) -> list[Reason]:
    """Why it is worth a closer look though no attack succeeded."""
    doubts = [Reason(Ground.IDENTIFIERS, finding) for finding in evidence.identifiers]
    if evidence.assumed:
        doubts.insert(0, Reason(Ground.HOLDERS))
    if evidence.headline is not None and evidence.headline.high > BLIND:
        doubts.append(Reason(Ground.WIDE, evidence.headline.widest))
    if evidence.assurance is Assurance.PROVEN and evidence.stated is not None and is_weak(evidence.stated.epsilon):
        doubts.append(Reason(Ground.WEAK_EPSILON))
    if evidence.assurance is Assurance.VERIFIED and evidence.stated is not None and not evidence.stated.covers_quasi:
        doubts.append(Reason(Ground.PARTIAL))
    return doubts
