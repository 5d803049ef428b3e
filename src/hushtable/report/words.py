"""Numbers and lists as a reader wants them."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import TypeVar

Item = TypeVar("Item")
NOTHING = "–"
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: object, digits: int = 3) -> str:
    """A number to some significant digits, without e-notation; whole numbers, which are counts, in full; else its text."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return _minus(f"{value:,}")
    return _minus(_real(value, digits)) if isinstance(value, float) else str(value)


def fixed(value: float, *, signed: bool = False) -> str:
    """Two decimals, so that a column of them can be read down; with a plus if it is a difference."""
    return _minus(f"{value:{'+' if signed else ''}.2f}") if math.isfinite(value) else NOTHING


def share(value: float | None, digits: int = 3) -> str:
    """A share as a percentage."""
    return NOTHING if value is None else f"{number(100.0 * value, digits)} %"


def p_value(p: float | None) -> str:
    """How likely chance does as much; never shown as impossible."""
    if p is None:
        return NOTHING
    return "below 10⁻³⁰⁰" if p < 1e-300 else number(p, 2)


def interval(low: float | None, high: float | None, *, percent: bool = False) -> str:
    """Both ends of an interval; empty if it has none."""
    if low is None or high is None:
        return ""
    return f"{number(100.0 * low)} to {number(100.0 * high)} %" if percent else f"{number(low)} to {number(high)}"


def runs(items: Iterable[object]) -> str:
    """Values with commas; a value that repeats is shown once with its count."""
    counted = [(number(key[1]), len(list(group))) for key, group in groupby(items, key=lambda item: (type(item), item))]
    return ", ".join(text if times == 1 else f"{text} × {times}" for text, times in counted)


def firsts(items: Iterable[Item], key: Callable[[Item], object]) -> list[Item]:
    """The first item of each kind, in their order."""
    first: dict[object, Item] = {}
    for item in items:
        first.setdefault(key(item), item)
    return list(first.values())


def sentence(text: str) -> str:
    """A note as a sentence of its own: a capital, unless it begins with a letter as a name (k-anonymity), and a full stop."""
    head = text[:1] if text[1:2] == "-" else text[:1].upper()
    return head + text[1:] + ("" if text.endswith(".") else ".")


def shortened(name: str, most: int = 40) -> str:
    """A name cut to so many letters, for a sentence that must stay one."""
    return name if len(name) <= most else name[: most - 1].rstrip() + "…"


def fit(text: str, width: float, size: float = 11) -> str:
    """Text cut to a width in pixels at a font size, by the usual widths of letters."""
    room = width / size
    if sum(map(_em, text)) <= room:
        return text
    used, fitting = 0.75, ""
    for char in text:
        used += _em(char)
        if used > room:
            break
        fitting += char
    return fitting.rstrip() + "…"


def wide(text: str, size: float = 11) -> float:
    """How many pixels text takes at a font size, by the usual widths of letters."""
    return size * sum(map(_em, text))


def _em(char: str) -> float:
    if unicodedata.combining(char):
        return 0.0
    if unicodedata.east_asian_width(char) in "WF":
        return 1.05
    if char in "iljtfrI.,:;'|! ":
        return 0.34
    return 0.9 if char in "mwMW@%<>=+" else 0.72 if char.isupper() else 0.6


def _real(value: float, digits: int) -> str:
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    if value == 0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    if size < -4 or size >= 15:
        return _power(value)
    if size >= digits - 1:
        return f"{value if value.is_integer() else round(value, digits - 1 - size):,.0f}"
    text = f"{value:.{digits - 1 - size}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _power(value: float) -> str:
    mantissa, exponent = f"{value:.1e}".split("e")
    power = "10" + str(int(exponent)).translate(_RAISED)
    mantissa = mantissa.removesuffix(".0")
    return power if mantissa == "1" else f"{mantissa} × {power}"


def _minus(text: str) -> str:
    return "−" + text[1:] if text.startswith("-") else text
