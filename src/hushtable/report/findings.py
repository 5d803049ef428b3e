"""How a finding is written: its numbers in their unit, its direction and range, its verdict as shape and words."""

from __future__ import annotations

from collections.abc import Sequence

from hushtable.evidence.finding import Finding
from hushtable.evidence.measure import Measure, Page
from hushtable.evidence.verdict import Headline, Tone, Verdict, is_few, is_tested, little_left, surely_worse, verdict
from hushtable.measures.catalogue import metric
from hushtable.measures.worst import worst_part
from hushtable.report import words
from hushtable.report.html import Html, element, join

SHAPES = {Tone.ALARM: "■", Tone.WATCH: "◧", Tone.CALM: "□", Tone.OPEN: "–"}
"""Squares: circles, diamonds and triangles stand for kinds of assurance."""


def page_of(finding: Finding) -> Page | None:
    """The part of a report that it belongs to; None for what is not a known measure of utility."""
    known = metric(finding.name)
    return known.page if isinstance(known, Measure) else None


def meaning_of(finding: Finding) -> str:
    """What it means, in one line without a full stop; empty for a metric of another package."""
    known = metric(finding.name)
    return "" if known is None else known.meaning.removesuffix(".")


def is_percent(finding: Finding) -> bool:
    """Whether it is shown in percent: a residual risk always is."""
    known = metric(finding.name)
    return finding.risk is not None or (known is not None and known.share)


def amount(finding: Finding, value: float | None) -> str:
    """A number in the unit of the finding."""
    return words.share(value) if is_percent(finding) else words.number(value)


def value(finding: Finding) -> str:
    """The value in its unit, or that there is none."""
    return "not computed" if finding.value is None else amount(finding, finding.value)


def baseline(finding: Finding) -> str:
    """The baseline in its unit; empty if there is none."""
    return "" if finding.baseline is None else amount(finding, finding.baseline)


def interval(finding: Finding) -> str:
    """The interval in its unit; empty if there is none."""
    return words.interval(finding.low, finding.high, percent=is_percent(finding))


def gained(finding: Finding) -> str:
    """Its gain in points: so many more of 100 people in the table than of 100 outside it. Empty if it has none."""
    return "" if finding.gain is None else points(finding.gain.value)


def gained_between(finding: Finding) -> str:
    """The interval of its gain in points; empty if it has none."""
    return "" if finding.gain is None else f"{points(finding.gain.low)} to {points(finding.gain.high)}"


def points(share: float) -> str:
    """A difference of shares in percentage points, with no more digits than people can be counted by."""
    return words.number(round(100 * share, 2))


def people(*shares: float) -> str:
    """One share as people count, "5.3 of 100", or two as a range."""
    return f"{' to '.join(map(points, shares))} of 100"


def beyond(*shares: float) -> str:
    """A gain, or the two ends of one, in a sentence: "5.3 more of 100 people in the table than of 100 outside it"."""
    fewer = max(shares) < 0
    count = " to ".join(points(-share if fewer else share) for share in shares)
    return f"{count} {'fewer' if fewer else 'more'} of 100 people in the table than of 100 outside it"


def most(head: Headline) -> str:
    """What the worst attack gains, in a few words: a range where something is sure, else only that it is no more."""
    return f"≤ {people(head.high)}" if head.alarm is None else people(head.low, head.high)


def remark(finding: Finding) -> str:
    """What to keep in mind when its numbers are read; empty if nothing."""
    if little_left(finding):
        return "little left to gain"
    unsure = finding.risk is not None and is_few(finding) and not surely_worse(finding)
    return "too few attempts to say" if unsure else ""


def direction(finding: Finding) -> str:
    """Which way is good."""
    return f"{finding.better} is better" if finding.ideal is None else f"{words.number(finding.ideal)} is best"


def worst(finding: Finding, findings: Sequence[Finding]) -> str:
    """The worst part beside a mean (worst: occupation 0.12); empty where the parts are not known."""
    part = worst_part(finding, findings)
    return "" if part is None else f"worst: {words.shortened(part.scope)} {amount(finding, part.value)}"


def reach(finding: Finding) -> str:
    """The range that it can lie in; empty if it is not known."""
    low, high = (0.0, 1.0) if finding.risk else finding.span or (None, None)
    if low is not None and high is not None:
        return f"{amount(finding, low)} to {amount(finding, high)}"
    if low is not None:
        return f"{amount(finding, low)} and up"
    return f"up to {amount(finding, high)}" if high is not None else ""


def direction_and_reach(finding: Finding, between: str = ", ") -> str:
    """Both, as far as they are known."""
    return between.join(part for part in (direction(finding), reach(finding)) if part)


def numbers(finding: Finding) -> list[float]:
    """Everything that a drawing of it must hold."""
    return [x for x in (finding.value, finding.low, finding.high, finding.baseline) if x is not None]


def sensitivity(finding: Finding, planted: float | None) -> str:
    """Which planted leak it notices; empty if none was planted. ``planted`` is the largest share that was."""
    if finding.detectable is not None:
        return f"would have noticed a leak of {words.share(finding.detectable)}"
    missed = is_tested(finding) and planted is not None
    return f"would have missed even a leak of {words.share(planted)}" if missed else ""


def verdict_words(finding: Finding, planted: float | None = None) -> str:
    """The verdict and its remark; on a finding that saw nothing also what it would have noticed, if leaks were planted."""
    noticed = "" if planted is None or surely_worse(finding) else sensitivity(finding, planted)
    return "; ".join(part for part in (verdict(finding).words, remark(finding), noticed) if part)


def verdict_line(finding: Finding, planted: float | None = None) -> Html:
    """The verdict with its shape."""
    return marked(Verdict(verdict(finding).tone, verdict_words(finding, planted)))


def marked(judged: Verdict) -> Html:
    """Shape and words of a verdict."""
    shape = element("span", SHAPES[judged.tone], aria_hidden="true")
    return element("p", shape, f" {judged.words}", class_=f"verdict {judged.tone}")


def judged(finding: Finding, planted: float | None = None) -> Html:
    """The name of a finding, and under it the verdict."""
    return join(element("span", finding.label), verdict_line(finding, planted))
