"""What came out of a study: published numbers beside ours, what its source says and what we find, tables and figures.

Values only; ``report_text``, ``report_markdown`` and ``report_page`` show them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy.stats import t as student

from hushtable.api.hybrid.hypotheses import Verdict as Verdict
from hushtable.evidence.finding import Better, Finding
from hushtable.report.html import Html


@dataclass(frozen=True, kw_only=True)
class Number:
    """One published number and ours."""

    data: str
    method: str
    measure: str
    published: float | None = None
    """As printed in the source; None where we have a number and the source has none."""
    ours: float | None = None
    """None where we have none: ``why_not`` says why."""
    low: float | None = None
    high: float | None = None
    """The interval of ours, where there is one."""
    better: Better | None = None
    """Which way is good, where one is."""
    why_not: str = ""
    """Why the two cannot be compared; empty where they can. The same words for numbers that share the reason."""

    @classmethod
    def over(cls, values: Sequence[float], **named: Any) -> Self:
        """The mean of some runs with the t interval of 95 %; one run alone has no interval."""
        ours, low, high = over_runs(values)
        return cls(ours=ours, low=low, high=high, **named)

    @classmethod
    def found(cls, finding: Finding | None, **named: Any) -> Self:
        """The value of a finding with its own interval."""
        if finding is None or finding.value is None:
            return cls(**named)
        return cls(ours=finding.value, low=finding.low, high=finding.high, **named)

    @property
    def comparable(self) -> bool:
        """Whether both numbers are there and measure the same."""
        return self.published is not None and self.ours is not None and not self.why_not

    @property
    def agrees(self) -> bool | None:
        """Whether the published number lies in our interval; None where they cannot be compared, or there is no interval."""
        if not self.comparable or self.low is None or self.high is None:
            return None
        assert self.published is not None
        return self.low <= self.published <= self.high

    @property
    def as_good(self) -> bool | None:
        """Whether ours is at least as good as the published one; None where they cannot be compared."""
        if not self.comparable or self.better is None:
            return None
        assert self.ours is not None
        assert self.published is not None
        return self.ours >= self.published if self.better is Better.HIGHER else self.ours <= self.published


def over_runs(values: Sequence[float]) -> tuple[float | None, float | None, float | None]:
    """Mean and t interval of 95 % over runs; what is no number is left out, and one run has no interval."""
    known = np.array([value for value in values if not math.isnan(value)], float)
    if not len(known):
        return None, None, None
    middle = float(known.mean())
    if len(known) == 1:
        return middle, None, None
    reach = float(student.ppf(0.975, len(known) - 1) * known.std(ddof=1) / math.sqrt(len(known)))
    return middle, middle - reach, middle + reach


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """A published table, or part of one: its numbers beside ours."""

    title: str
    """As the source names it: "Table 4.1: Adult"."""
    numbers: tuple[Number, ...]
    note: str = ""
    """What a reader must know of this table in particular."""


@dataclass(frozen=True, kw_only=True)
class Statement:
    """Something that a source says in words, and what we find."""

    says: str
    verdict: Verdict
    because: str
    """Our numbers, with intervals."""


@dataclass(frozen=True, kw_only=True)
class Statements:
    """What a source says in words, beside what we find."""

    title: str
    statements: tuple[Statement, ...]


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A plain table of ours."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A drawing."""

    name: str
    """Of its file, without an ending; no other figure of the study has it."""
    title: str
    caption: str
    drawn: Html = field(repr=False)
    """An svg element whose colours are attributes, as it also stands alone."""


Part = Numbers | Statements | Grid | Figure


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a report."""

    title: str
    parts: tuple[Part, ...]
    lead: str = ""
    """What is done here, and what comes out, in a few sentences."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """What came out of a study."""

    title: str
    source: str
    """The publication that it repeats."""
    lead: str
    """What is repeated, on what, and what comes out, in a few sentences."""
    sections: tuple[Section, ...]
    notes: tuple[str, ...] = ()
    """What a reader of the numbers must know."""
    skipped: tuple[str, ...] = ()
    """What was left out or refused, each with its reason."""

    @property
    def parts(self) -> list[Part]:
        """Of all sections."""
        return [part for section in self.sections for part in section.parts]

    @property
    def numbers(self) -> list[Number]:
        """Of all tables."""
        return [number for part in self.parts if isinstance(part, Numbers) for number in part.numbers]

    @property
    def statements(self) -> list[Statement]:
        """Of all sections."""
        return [statement for part in self.parts if isinstance(part, Statements) for statement in part.statements]

    @property
    def figures(self) -> list[Figure]:
        """Of all sections."""
        return [part for part in self.parts if isinstance(part, Figure)]

    def to_json(self) -> dict[str, Any]:
        """Plain values; of figures the names."""
        return {
            "title": self.title,
            "source": self.source,
            "lead": self.lead,
            "sections": [
                {"title": section.title, "lead": section.lead, "parts": [_part(part) for part in section.parts]}
                for section in self.sections
            ],
            "notes": list(self.notes),
            "skipped": list(self.skipped),
        }


def reasons(numbers: Iterable[Number]) -> list[str]:
    """Why numbers cannot be compared, each reason once, in the order in which they come."""
    return list(dict.fromkeys(number.why_not for number in numbers if number.why_not))


def refusals(results: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """The tasks that were refused, by title, each reason once."""
    why = dict.fromkeys((one["title"], one["refused"]) for one in results.values() if "refused" in one)
    return tuple(f"{title}: {reason}" for title, reason in why)


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part, Numbers):
        named = ("data", "method", "measure", "published", "ours", "low", "high", "better", "why_not")
        rows = [{key: getattr(number, key) for key in named} | {"comparable": number.comparable} for number in part.numbers]
        return {"kind": "numbers", "title": part.title, "note": part.note, "numbers": rows}
    if isinstance(part, Statements):
        said = [{"says": one.says, "verdict": str(one.verdict), "because": one.because} for one in part.statements]
        return {"kind": "statements", "title": part.title, "statements": said}
    if isinstance(part, Grid):
        return {"kind": "grid", "title": part.title, "note": part.note, "heads": part.heads, "rows": part.rows}
    return {"kind": "figure", "title": part.title, "caption": part.caption, "name": part.name}
