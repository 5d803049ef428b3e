"""The rules for one finding: what is an alarm, which attack is the worst, what is worse than real rows and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from hushtable.evidence.finding import Better, Finding, Risk, Subject
from hushtable.table import lenient

LEVEL = 0.05
"""An alarm is a finding whose corrected p-value is at most this: one false alarm in twenty audits that should have none."""
ATTEMPTS = ("independent", "attempts", "control_attempts")
"""Where the detail of an attack says on how many attempts it rests."""
CLOSE = 0.02
"""Up to this much worse than real rows is "close to real": two points in a hundred seldom change what one concludes."""
OFF = 0.1
"""Up to this much worse is "noticeably off", beyond it "far from real": ten points in a hundred usually do change it."""
LITTLE = 0.9
"""An attack that succeeds on this share of the people outside has little left to gain: it says what is true of everybody."""
FEWEST = 100
"""An attack with fewer attempts on either side is too small to say: even if it hit nobody at all, 4 more of 100 could be hit."""


class Tone(StrEnum):
    """How a verdict is shown; always with its words, never by colour alone."""

    ALARM = "alarm"
    WATCH = "watch"
    CALM = "calm"
    OPEN = "open"


@dataclass(frozen=True)
class Verdict:
    """The judgement of one finding, from its own numbers alone."""

    tone: Tone
    words: str


UNCOMPUTED = Verdict(Tone.OPEN, "not computed")
NO_BASELINE = Verdict(Tone.OPEN, "no baseline to compare with")
WORSE_THAN_OUTSIDE = Verdict(Tone.ALARM, "worse than for people outside")
WORSE_THAN_FRESH = Verdict(Tone.ALARM, "worse than fresh rows")
NO_EXCESS = Verdict(Tone.OPEN, "no excess found (not a proof of safety)")
NO_INTERVAL = Verdict(Tone.OPEN, "no interval to judge it by")
AS_REAL = Verdict(Tone.CALM, "no worse than real rows")
WORSE_THAN_REAL = Verdict(Tone.WATCH, "worse than real rows")
NEAR_REAL = Verdict(Tone.CALM, "close to real")
NOTICEABLY_OFF = Verdict(Tone.WATCH, "noticeably off")
FAR_FROM_REAL = Verdict(Tone.ALARM, "far from real")
CLOSER_THAN_FRESH = Verdict(Tone.WATCH, "closer to these rows than fresh rows are")
LIKE_COPIES = Verdict(Tone.ALARM, "as close to these rows as near-copies")


def is_tested(finding: Finding) -> bool:
    """Whether it brought an exact test against people outside the table."""
    return finding.p_adjusted is not None


def is_alarm(p_adjusted: float | None, level: float = LEVEL) -> bool:
    """Whether chance does not explain a result with this p-value, which must be corrected for how many were tested."""
    return p_adjusted is not None and p_adjusted <= level


def alarms(findings: Sequence[Finding], level: float = LEVEL) -> list[Finding]:
    """Findings that chance does not explain, corrected for how many were tested."""
    return [f for f in findings if is_alarm(f.p_adjusted, level)]


def measured(finding: Finding) -> float | None:
    """What an attack achieves on people in the table beyond those outside it: its gain r - c; its risk where no gain is known.

    The residual risk (r - c)/(1 - c) is never smaller than the gain, so in its place it errs to the safe side.
    """
    return finding.value if finding.gain is None else finding.gain.value


def sure(finding: Finding) -> float | None:
    """The lower bound of what it achieves."""
    return finding.low if finding.gain is None else finding.gain.low


def upper(finding: Finding) -> float | None:
    """The upper bound of what it achieves."""
    return finding.high if finding.gain is None else finding.gain.high


def attempts(finding: Finding) -> float:
    """How many independent attempts an attack rests on, on the side that has fewer."""
    detail = {key: lenient.finite(finding.detail.get(key)) for key in ATTEMPTS}
    return min((count for count in detail.values() if count is not None), default=float(finding.n))


def is_few(finding: Finding) -> bool:
    """Whether an attack rests on too few attempts to say how much it gains. An alarm among them is one nevertheless."""
    return attempts(finding) < FEWEST


def little_left(finding: Finding) -> bool:
    """Whether an attack succeeds on nearly everybody outside too: what the release says about people in general, not about its own.

    It is shown apart. What it gains is counted like any other's, and an alarm is an alarm.
    """
    return finding.gain is not None and finding.gain.outside >= LITTLE


def severity(finding: Finding) -> tuple[bool, bool, bool, bool, float, float, float]:
    """A sort key, the worst first: alarms, then attacks before other numbers; of these by what is gained.

    Alarms by what is surely gained; the others by how much may be gained, those with too few attempts to say after those with
    enough, and those without a test last. Numbers that are no attacks have no common scale and go by their p-values.
    Every face of an audit (console, page, Markdown, notebook, demonstration) orders attacks by this key.
    """
    p, alarm, attack = finding.p_adjusted, is_alarm(finding.p_adjusted), finding.risk is not None
    size = (sure(finding) if alarm else upper(finding)) or 0.0
    return (
        not alarm, not attack, attack and not alarm and is_few(finding), p is None, -size if attack else 0.0,
        1.0 if p is None else p, -(measured(finding) or 0.0),
    )  # fmt: skip


def of_risk(findings: Sequence[Finding], risk: Risk) -> list[Finding]:
    """The attacks of one kind that have a value, the worst first."""
    return sorted((f for f in findings if f.risk is risk and f.value is not None), key=severity)


def worst_of(findings: Sequence[Finding], risk: Risk) -> Finding | None:
    """The attack of this kind that comes first by ``severity``; None if none has a value."""
    return next(iter(of_risk(findings, risk)), None)


def excess(finding: Finding) -> float | None:
    """How much worse it is than its baseline, in the bad direction; None if it has none."""
    finding = from_ideal(finding)
    if finding.value is None or finding.baseline is None:
        return None
    return finding.baseline - finding.value if finding.better is Better.HIGHER else finding.value - finding.baseline


def surely_worse(finding: Finding) -> bool:
    """Whether chance does not explain it: by its corrected test, else if its whole interval is worse than the baseline.

    A finding of utility without an interval goes by the p of its own test (and must be worse at all), else, on a scale that
    ends at 1, by whether it is further off than ``CLOSE``; on other scales there is nothing to judge it by.
    """
    if is_tested(finding):
        return is_alarm(finding.p_adjusted)
    finding = from_ideal(finding)
    baseline = finding.baseline if finding.baseline_bad is None else finding.baseline_bad
    if baseline is None or finding.value is None:
        return False
    end = finding.high if finding.better is Better.HIGHER else finding.low
    if end is None and finding.subject is Subject.UTILITY:
        off, p = excess(finding) or 0.0, own_p(finding)
        if p is not None:
            return off > 0 and p <= LEVEL
        return ends_at_one(finding) and off > CLOSE
    end = finding.value if end is None else end
    return end < baseline if finding.better is Better.HIGHER else end > baseline


def from_ideal(finding: Finding) -> Finding:
    """A finding whose best value lies inside its range, as the distance from that value, of which less is better."""
    best = finding.ideal
    if best is None or finding.value is None:
        return finding
    distances = {
        name: abs(number - best)
        for name in ("value", "low", "high", "baseline", "baseline_bad")
        if (number := getattr(finding, name)) is not None
    }
    if finding.low is not None and finding.high is not None:
        ends = sorted((distances["low"], distances["high"]))
        distances |= {"low": 0.0 if finding.low <= best <= finding.high else ends[0], "high": ends[1]}
    return replace(finding, **distances, better=Better.LOWER, ideal=None)


def verdict(finding: Finding) -> Verdict:
    """The judgement. That no excess was found is never called safe."""
    if finding.value is None:
        return UNCOMPUTED
    if finding.baseline is None and not is_tested(finding):
        return NO_BASELINE
    if finding.subject is Subject.PRIVACY:
        if not surely_worse(finding):
            return NO_EXCESS
        return WORSE_THAN_OUTSIDE if is_tested(finding) else WORSE_THAN_FRESH
    return _utility(finding)


def by_excess(finding: Finding) -> tuple[bool, bool, float]:
    """A sort key for numbers beside those of real rows: surely worse first, then by how much, last what has no value."""
    off = excess(finding)
    return not surely_worse(finding), off is None, -(off or 0.0)


def furthest(findings: Sequence[Finding]) -> Finding:
    """The one that lies furthest from real rows; numbers on scales without an end cannot be compared with others and come last."""
    return min(findings, key=by_distance)


def by_distance(finding: Finding) -> tuple[bool, bool, bool, float]:
    """A sort key for numbers on different scales, the furthest from real rows first; those on scales without an end come last."""
    return not ends_at_one(finding), *by_excess(finding)


def ends_at_one(finding: Finding) -> bool:
    """Whether it lies on a scale that ends at 1, so that one rule says how far is far."""
    return finding.span is not None and finding.span[1] == 1.0


def own_p(finding: Finding) -> float | None:
    """The p-value of its own test that the release is drawn as real rows are; None if it has none."""
    return lenient.finite(finding.detail.get("p"))


def _utility(finding: Finding) -> Verdict:
    off = excess(finding) or 0.0
    judged = finding.low is not None or finding.high is not None or own_p(finding) is not None
    if off > 0 and not judged and not ends_at_one(finding):
        return NO_INTERVAL
    if off <= 0 or (judged and not surely_worse(finding)):
        return AS_REAL
    if finding.ideal is not None and finding.value is not None and finding.value < finding.ideal:
        return CLOSER_THAN_FRESH if off <= OFF else LIKE_COPIES
    if not ends_at_one(finding):
        return WORSE_THAN_REAL
    if off <= CLOSE:
        return NEAR_REAL
    return NOTICEABLY_OFF if off <= OFF else FAR_FROM_REAL
