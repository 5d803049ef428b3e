"""How a column writes its numbers: the number 1234.56 as it would stand there, such as ``1.234,56``, ``1 234,56 €`` or ``$1,234``.

Numbers are kept as numbers whatever their format; it says how texts are read and how values are written back.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property

GROUPS = (".", ",", " ", "'", "’", "\u00a0", "\u202f")
"""Marks between groups of three digits, among them the two blanks that do not break."""
_SAMPLE = re.compile(rf"(?P<prefix>\D*?)1(?P<group>[{''.join(GROUPS)}]?)234(?:(?P<point>[.,])56)?(?P<suffix>\D*)")
_AFFIX = re.compile(r"[^\w]*(?:[A-Za-zł]{0,4})[^\w]*")


@dataclass(frozen=True)
class NumberFormat:
    """What stands around and between the digits."""

    group: str = ""
    point: str = "."
    prefix: str = ""
    suffix: str = ""

    @classmethod
    def parse(cls, sample: str) -> NumberFormat:
        """From the number 1234.56 (or 1234) in that format; ValueError if it is none."""
        match = _SAMPLE.fullmatch(sample)
        if match is None or (match["group"] and match["group"] == match["point"]):
            raise ValueError(f"{sample!r} is not a number format; expected the number 1234.56 as the column writes it: 1.234,56")
        point = match["point"] or ("," if match["group"] == "." else ".")
        if not all(_AFFIX.fullmatch(affix) for affix in (match["prefix"], match["suffix"])):
            raise ValueError(
                f"{sample!r} is not a number format: at most a short sign such as € or USD may stand around the number"
            )
        return cls(match["group"], point, match["prefix"], match["suffix"])

    def sample(self, *, decimals: bool) -> str:
        """The number 1234.56 (or 1234) in this format: what ``parse`` reads."""
        return f"{self.prefix}1{self.group}234{self.point + '56' if decimals else ''}{self.suffix}"

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        group, point = re.escape(self.group), re.escape(self.point)
        whole = rf"\d{{1,3}}(?:{group}\d{{3}})+|\d+" if self.group else r"\d+"
        prefix, suffix = (rf"(?:{re.escape(affix.strip())})?\s*" if affix.strip() else "" for affix in (self.prefix, self.suffix))
        exponent = r"(?:[eE][-+]?\d+)?"
        number = rf"(?P<whole>{whole})?(?:{point}(?P<part>\d*))?(?P<exponent>{exponent})"
        return re.compile(rf"\s*(?P<sign>[-+]?)\s*{prefix}(?P<inner>[-+]?){number}\s*{suffix}", re.ASCII)

    def plain(self, text: str) -> str:
        """The number with a point and nothing else; ValueError if the text is not in this format."""
        match = self._pattern.fullmatch(text.replace("−", "-"))
        if match is None or not (match["whole"] or match["part"]) or (match["sign"] and match["inner"]):
            raise ValueError(f"not a number as {self.sample(decimals=True)!r} writes them")
        whole = (match["whole"] or "0").replace(self.group, "") if self.group else match["whole"] or "0"
        part = f".{match['part']}" if match["part"] else ""
        return f"{match['sign'] or match['inner']}{whole}{part}{match['exponent']}"

    def write(self, plain: str) -> str:
        """A plain number in this format."""
        sign, digits = ("-", plain[1:]) if plain.startswith("-") else ("", plain)
        whole, dot, part = digits.partition(".")
        if self.group and whole.isdigit():
            whole = f"{int(whole):,}".replace(",", self.group)
        return f"{sign}{self.prefix}{whole}{self.point if dot else ''}{part}{self.suffix}"


@cache
def number_format(sample: str) -> NumberFormat:
    """The format that a sample shows; the same object for the same sample."""
    return NumberFormat.parse(sample)
