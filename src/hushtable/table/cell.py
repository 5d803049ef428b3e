"""Generalized values: an interval, a set of levels, or anything at all (``*``).

A cell stands for the set of values it covers. Two cells match when their sets meet, and are
equal when their sets are equal; the text is only how the set is written.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

ANY_TEXT = "*"

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?inf"
_DATE = r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?"
_POINT = f"(?:{_DATE}|{_NUMBER})"
_BRACKETS = re.compile(rf"^([\[\]\(])\s*({_POINT})\s*[,;]\s*({_POINT})\s*([\]\[\)])$")
_DASH = re.compile(rf"^({_POINT})\s*(?:-|–|\.\.|to)\s*({_POINT})$")
_ONE_SIDED = re.compile(rf"^(<=|>=|<|>|≤|≥)\s*({_POINT})$")
_AND_ABOVE = re.compile(rf"^({_POINT})\s*\+$")


@dataclass(frozen=True, slots=True)
class Interval:
    """The numbers between ``low`` and ``high``; each end belongs to it unless it is open."""

    low: float
    high: float
    open_low: bool = False
    open_high: bool = False

    def __post_init__(self) -> None:
        """Refuse an empty interval."""
        if math.isnan(self.low) or math.isnan(self.high) or self.low > self.high:
            raise ValueError(f"an interval needs low <= high, got {self.low} and {self.high}")
        if self.low == self.high and (self.open_low or self.open_high):
            raise ValueError(f"the interval at {self.low} is empty")

    def closed(self, step: float) -> Interval:
        """The same set written with closed ends, for values that lie on multiples of ``step``."""
        low, high = self.low, self.high
        if math.isfinite(low):
            near, exact = _nearest(low, step)
            low = _multiple(near + self.open_low if exact else math.ceil(low / step), step)
        if math.isfinite(high):
            near, exact = _nearest(high, step)
            high = _multiple(near - self.open_high if exact else math.floor(high / step), step)
        return Interval(low, high)

    def __contains__(self, value: float) -> bool:
        """Whether the number lies inside."""
        above = value > self.low if self.open_low else value >= self.low
        below = value < self.high if self.open_high else value <= self.high
        return above and below


def _nearest(value: float, step: float) -> tuple[int, bool]:
    """The nearest multiple of the step, and whether the value is that multiple but for the rounding of floats."""
    ratio = value if step == 1 else value / step
    near = round(ratio)
    return near, abs(ratio - near) <= 1e-9 + 4e-16 * abs(near)


def _multiple(count: int, step: float) -> float:
    """``count`` steps; below 1 by division, because 3 * 0.1 is not 0.3 but 3 / 10 is."""
    return count * step if step >= 1 else count / round(1 / step)


@dataclass(frozen=True, slots=True)
class Cell:
    """A generalized value. ``span`` is an interval, a set of levels, or None for anything."""

    text: str
    span: Interval | frozenset[str] | None

    @property
    def anything(self) -> bool:
        """True for the cell that covers the whole domain, missing values included."""
        return self.span is None


ANYTHING = Cell(ANY_TEXT, None)


def either(one: Cell, other: Cell) -> Cell:
    """A cell for a text that stands for two groups (a label on two levels of a hierarchy): it covers both."""
    if one.span == other.span:
        return one
    if isinstance(one.span, Interval) and isinstance(other.span, Interval):
        return Cell(one.text, Interval(min(one.span.low, other.span.low), max(one.span.high, other.span.high)))
    if isinstance(one.span, frozenset) and isinstance(other.span, frozenset):
        return Cell(one.text, one.span | other.span)
    return Cell(one.text, None)


def set_text(levels: Iterable[str]) -> str:
    """Write a set of levels as ``{a, b}``, quoting the levels that hold a comma or a brace."""
    quoted = ('"' + v.replace('"', '""') + '"' if re.search(r'[,"{}\r\n]|^\s|\s$', v) else v for v in levels)
    return "{" + ", ".join(quoted) + "}"


def parse_set(text: str) -> frozenset[str] | None:
    """Read ``{a, b}``; None if the text is no such set."""
    if not (text.startswith("{") and text.endswith("}")):
        return None
    try:
        row = next(csv.reader([text[1:-1]], skipinitialspace=True, strict=True), [])
    except csv.Error:
        return None
    return frozenset(v.strip() for v in row)


def parse_interval(text: str) -> tuple[str, str, bool, bool] | None:
    """Split the usual ways to write a range into (low, high, open_low, open_high).

    Understood: ``[20, 30)``, ``[20, 30[``, ``]20, 30]``, ``20-29``, ``20..29``, ``<20``, ``>=90``, ``90+``.
    """
    text = text.strip()
    if match := _BRACKETS.match(text):
        left, low, high, right = match.groups()
        return low, high, left in "](", right in "[)"
    if match := _DASH.match(text):
        return match.group(1), match.group(2), False, False
    if match := _ONE_SIDED.match(text):
        return _one_sided(*match.groups())
    if match := _AND_ABOVE.match(text):
        return match.group(1), "inf", False, False
    return None


def split_interval(text: str, is_end: Callable[[str], bool]) -> tuple[str, str, bool, bool] | None:
    """As ``parse_interval``, for ends written in a way of their own, commas and all; brackets and signs only."""
    if (match := re.match(r"(<=|>=|<|>|≤|≥)\s*(.+)$", text)) and is_end(match.group(2)):
        return _one_sided(*match.groups())
    if text[:1] in tuple("[(]") and text[-1:] in tuple("])["):
        for comma in re.finditer(r"\s*[,;]\s*", text):
            low, high = text[1 : comma.start()].strip(), text[comma.end() : -1].strip()
            if all(end in ("-inf", "inf") or is_end(end) for end in (low, high)):
                return low, high, text[0] in "](", text[-1] in "[)"
    return None


def _one_sided(sign: str, point: str) -> tuple[str, str, bool, bool]:
    if sign[0] in "<≤":
        return "-inf", point, False, sign == "<"
    return point, "inf", sign == ">", False
