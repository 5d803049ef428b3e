"""Findings on a line: a dot with whiskers for the interval and a tick for the baseline; and bars beside real rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from hushtable.evidence.finding import Finding, Subject
from hushtable.evidence.verdict import measured, sure, upper, verdict
from hushtable.report import findings as show
from hushtable.report import words
from hushtable.report.charts.plots import Scale, from_zero, svg, text, titled
from hushtable.report.html import Child, Html, element
from hushtable.report.words import fit, number, share

WIDTH = 400.0
ROW = 46.0
BOLD = 13.0
LEFT, NAMES, RIGHT = 8.0, 112.0, WIDTH - 12
ARROW = LEFT + 10
"""Where a scale begins that leaves room for what lies below it."""
HUNDRED = (0.0, 0.25, 0.5, 0.75, 1.0)


def dots(findings: Sequence[Finding], label: str) -> Html:
    """One line per finding, all on one scale that begins at zero, and for what is about privacy ends at 1 on every page.

    Findings without a value are left to the table.
    """
    known = [f for f in findings if f.value is not None]
    least = 1.0 if any(f.subject is Subject.PRIVACY for f in known) else 0.01
    scale = from_zero([x for f in known for x in show.numbers(f)], LEFT, RIGHT, least=least)
    bottom = ROW * len(known)
    write = share if all(map(show.is_percent, known)) else number
    return svg(WIDTH, bottom + 20, label, _axis(scale, bottom, write=write), [_dot(f, scale, i * ROW) for i, f in enumerate(known)])


def gains(findings: Sequence[Finding], label: str) -> Html:
    """One line per attack: what it gains in points, from 0 to 100 on every page. An arrow marks what lies below."""
    known = [f for f in findings if f.value is not None]
    scale, bottom = Scale(0.0, 1.0, ARROW, RIGHT), ROW * len(known)
    return svg(
        WIDTH, bottom + 20, label, _axis(scale, bottom, ticks=HUNDRED, write=show.points),
        [_gain(f, scale, i * ROW) for i, f in enumerate(known)],
    )  # fmt: skip


def versus(findings: Sequence[Finding], label: str) -> Html:
    """For each finding a bar for the release with its interval, and under it a bar for the real rows."""
    known = [f for f in findings if f.value is not None]
    scale = from_zero([x for f in known for x in (*show.numbers(f), *real_interval(f))], NAMES, RIGHT)
    tall = 64.0
    bottom = tall * len(known)
    return svg(WIDTH, bottom + 20, label, _axis(scale, bottom), [_bars(f, scale, i * tall) for i, f in enumerate(known)])


def in_words(finding: Finding) -> str:
    """All numbers of a finding in one line."""
    line = f"{finding.label}: {show.amount(finding, finding.value)}"
    if between := show.interval(finding):
        line += f" (interval {between})"
    if finding.baseline is not None:
        line += f", baseline {show.baseline(finding)}"
    if real := real_interval(finding):
        line += f" (interval {words.interval(*real, percent=show.is_percent(finding))})"
    return line


def gain_in_words(finding: Finding) -> str:
    """The gain and the residual risk of an attack in one line."""
    if finding.gain is None:
        return in_words(finding)
    return (
        f"{finding.label}: {show.gained(finding)} more of 100 (interval {show.gained_between(finding)}), residual risk "
        f"{show.value(finding)}"
    )


def real_interval(finding: Finding) -> list[float]:
    """The ends of the interval around the baseline; none if the finding does not have them."""
    ends = [finding.detail.get(f"baseline_{end}") for end in ("low", "high")]
    known = [float(end) for end in ends if isinstance(end, (int, float)) and math.isfinite(end)]
    return known if finding.baseline is not None and len(known) == 2 else []


def _dot(finding: Finding, scale: Scale, top: float) -> Html:
    assert finding.value is not None
    y = top + 30
    tone = verdict(finding).tone
    whiskers = baseline = None
    if finding.low is not None and finding.high is not None:
        whiskers = element("line", class_=f"whisker {tone}", x1=scale(finding.low), x2=scale(finding.high), y1=y, y2=y)
    if finding.baseline is not None:
        at = scale(finding.baseline)
        baseline = element("line", class_="baseline", x1=at, x2=at, y1=y - 9, y2=y + 9)
    return titled(
        in_words(finding),
        text(LEFT, top + 14, fit(finding.label, WIDTH - 72, BOLD), class_="name"),
        text(RIGHT, top + 14, show.value(finding), anchor="end", class_="name"),
        _grid(scale, y - 9, y + 9),
        element("line", class_="grid", x1=LEFT, x2=RIGHT, y1=y, y2=y),
        baseline,
        whiskers,
        element("circle", class_=f"dot {tone}", cx=scale(finding.value), cy=y, r=5),
    )


def _gain(finding: Finding, scale: Scale, top: float) -> Html:
    value, low, high = measured(finding) or 0.0, sure(finding), upper(finding)
    y, tone = top + 30, verdict(finding).tone
    whiskers = below = None
    if low is not None and high is not None:
        whiskers = element("line", class_=f"whisker {tone}", x1=_from_zero(scale, low), x2=_from_zero(scale, high), y1=y, y2=y)
    if min(value, value if low is None else low) < 0:
        tip, back = LEFT, ARROW - 4
        below = element("path", class_="grid", d=f"M{back},{y - 4} L{tip},{y} L{back},{y + 4}", fill="none")
    return titled(
        gain_in_words(finding),
        text(LEFT, top + 14, fit(finding.label, WIDTH - 72, BOLD), class_="name"),
        text(RIGHT, top + 14, show.gained(finding) or show.value(finding), anchor="end", class_="name"),
        _grid(scale, y - 9, y + 9, HUNDRED),
        element("line", class_="grid", x1=ARROW, x2=RIGHT, y1=y, y2=y),
        below,
        whiskers,
        element("circle", class_=f"dot {tone}", cx=_from_zero(scale, value), cy=y, r=5),
    )


def _from_zero(scale: Scale, value: float) -> float:
    return scale(min(1.0, max(0.0, value)))


def _bars(finding: Finding, scale: Scale, top: float) -> Html:
    assert finding.value is not None
    zero = scale(0.0)
    marks: list[Child] = [
        _grid(scale, top + 20, top + 58),
        text(LEFT, top + 14, fit(finding.scope or finding.name, WIDTH - 20, BOLD), class_="name"),
        text(LEFT, top + 33, f"release {number(finding.value)}"),
        _bar(zero, scale(finding.value), top + 21, "release"),
    ]
    if finding.baseline is not None:
        marks.append(text(LEFT, top + 52, f"real rows {number(finding.baseline)}"))
        marks.append(_bar(zero, scale(finding.baseline), top + 40, "real"))
    if finding.low is not None and finding.high is not None:
        marks.append(_whisker(scale(finding.low), scale(finding.high), top + 29.5))
    if real := real_interval(finding):
        low, high = real
        marks.append(_whisker(scale(low), scale(high), top + 48.5))
    return titled(in_words(finding), marks)


def _whisker(low: float, high: float, y: float) -> list[Html]:
    ends = {"x1": low, "x2": high, "y1": y, "y2": y}
    return [element("line", class_="halo", **ends), element("line", class_="whisker over", **ends)]


def _bar(zero: float, end: float, y: float, colour: str) -> Html:
    return element("rect", class_=colour, x=min(zero, end), y=y, width=abs(end - zero), height=17)


def _grid(scale: Scale, top: float, bottom: float, ticks: Sequence[float] = ()) -> list[Html]:
    """Upright lines behind one row only, so that they do not run through the names."""
    return [
        element("line", class_="axis" if t == 0 else "grid", x1=scale(t), x2=scale(t), y1=top, y2=bottom)
        for t in ticks or scale.ticks()
    ]


def _axis(scale: Scale, bottom: float, ticks: Sequence[float] = (), write: Callable[[float], str] = number) -> list[Html]:
    marks = []
    for tick in ticks or scale.ticks():
        x = scale(tick)
        anchor = "end" if x > RIGHT - 10 else None if x < LEFT + 10 else "middle"
        marks.append(text(x, bottom + 12, write(tick), anchor=anchor, class_="small"))
    return marks
