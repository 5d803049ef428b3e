"""What text, Markdown and page of a report share: published numbers and ours as words, and why some cannot be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from string import ascii_lowercase

from hushtable.report.charts.beside import Beside
from hushtable.report.words import NOTHING, interval, number, sentence
from hushtable.studies.report import Number, Numbers, Report, Verdict, reasons

HEADS = ("data", "method", "measure", "published", "ours", "interval", "comparable?")
LEGEND = "published | ours | interval of ours (95 %) | whether the two measure the same"
SUMMARY = ("study", "source", "numbers", "comparable", "in our interval", "ours as good", "findings")


def line(one: Number, why: Sequence[str]) -> list[str]:
    """One number under ``HEADS``; ``why`` are the reasons of its table, which are lettered."""
    return [
        one.data,
        one.method,
        one.measure,
        NOTHING if one.published is None else number(float(one.published)),
        NOTHING if one.ours is None else number(float(one.ours)),
        interval(one.low, one.high) or NOTHING,
        comparable(one, why),
    ]


def comparable(one: Number, why: Sequence[str]) -> str:
    """Yes, or no with the letter of the reason."""
    if one.comparable:
        return "yes"
    if one.why_not:
        return f"no ({letter(why.index(one.why_not))})"
    return "only ours" if one.published is None and one.ours is not None else "no result"


def lettered(part: Numbers) -> list[str]:
    """Why numbers of a table cannot be compared, a line for each reason."""
    return [f"({letter(place)}) {sentence(why)}" for place, why in enumerate(reasons(part.numbers))]


def letter(place: int) -> str:
    """One letter for each of the first 26, then two."""
    return ascii_lowercase[place % 26] * (1 + place // 26)


def panels(part: Numbers) -> dict[str, list[Beside]]:
    """What can be drawn of a table: for each data set and measure the numbers that can be compared, if there are several."""
    drawn = [one for one in part.numbers if one.comparable]
    found = {}
    for (data, measure), group in groupby(sorted(drawn, key=_panel), key=_panel):
        lines = [
            Beside(o.method, o.published, o.ours, o.low, o.high) for o in group if o.published is not None and o.ours is not None
        ]
        if len(lines) > 1:
            found[f"{data}: {measure}"] = lines
    return found


def _panel(one: Number) -> tuple[str, str]:
    return one.data, one.measure


def counted(report: Report) -> list[str]:
    """How a study ended, under ``SUMMARY`` from the third column on."""
    numbers = [one for one in report.numbers if one.published is not None]
    agree = [one.agrees for one in numbers if one.agrees is not None]
    good = [one.as_good for one in numbers if one.as_good is not None]
    said = [one.verdict for one in report.statements]
    verdicts = [f"{said.count(verdict)} {verdict}" for verdict in Verdict if said.count(verdict)]
    return [
        number(len(numbers)),
        number(sum(one.comparable for one in numbers)),
        f"{sum(agree)} of {len(agree)}" if agree else NOTHING,
        f"{sum(good)} of {len(good)}" if good else NOTHING,
        ", ".join(verdicts) or NOTHING,
    ]


def summary(reports: Mapping[str, Report]) -> list[list[str]]:
    """A line for each study."""
    return [[name, report.source.partition(", ")[0], *counted(report)] for name, report in reports.items()]
