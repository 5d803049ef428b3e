"""Tables of measures: each with its meaning, direction, range and baseline; and of columns, with a measure in each."""

from __future__ import annotations

from collections.abc import Sequence

from hushtable.report.everything import judged, verdict
from hushtable.report.html import Cell, Child, Html, element, join, table
from hushtable.report.reading import Reading
from hushtable.report.words import firsts, sentence


def measured_table(readings: Sequence[Reading], *, label: str) -> Html:
    """One row per measure of the whole table: what it means, where it can lie, and what it is here."""
    between = any(r.interval() for r in readings)
    heads = ["Measure and verdict", "Value", *(["Interval"] if between else []), "Baseline", "Range", "What it means"]
    rows: list[list[Child | Cell]] = [
        [
            judged(r), Cell(value(r), r.value), *([r.interval()] if between else []), Cell(baseline(r), r.baseline),
            "; ".join(part for part in (r.reach, r.direction) if part), _meaning(r),
        ]
        for r in readings
    ]  # fmt: skip
    return table(heads, rows, label=label, numbers=range(1, 3 + between), class_="findings judged measured")


def by_scope(readings: Sequence[Reading], *, label: str, scope: str) -> Html:
    """One row per column, pair, model or group; a measure in each column, its baseline beside it. One measure alone is judged."""
    names = list(dict.fromkeys(r.name for r in readings))
    if len(names) == 1:
        return _one(readings, label=label, scope=scope)
    scopes = list(dict.fromkeys(r.scope for r in readings))
    found = {(r.scope, r.name): r for r in readings}
    rows: list[list[Child | Cell]] = [[one, *(_cell(found.get((one, name))) for name in names)] for one in scopes]
    heads = [scope, *(_head(name, names) for name in names)]
    return table(heads, rows, label=label, numbers=range(1, len(heads)), class_="pivot")


def directions(readings: Sequence[Reading]) -> str:
    """Which way is good for each of the measures, where they lie, and what the second number is, for a line above their table."""
    told = [f"{r.name} ({'; '.join(p for p in (r.direction, r.reach) if p)})" for r in firsts(readings, lambda r: r.name)]
    base = " The small number is the baseline." if any(r.baseline is not None for r in readings) else ""
    return f"{'; '.join(told)}.{base}"


def value(reading: Reading) -> str:
    """The value in its unit, or that there is none."""
    return "not computed" if reading.value is None else reading.told(reading.value)


def baseline(reading: Reading) -> str:
    """The baseline in its unit; empty if there is none."""
    return "" if reading.baseline is None else reading.told(reading.baseline)


def _one(readings: Sequence[Reading], *, label: str, scope: str) -> Html:
    between = any(r.interval() for r in readings)
    heads = [f"{scope} and verdict", "Value", *(["Interval"] if between else []), "Baseline", "Note"]
    rows: list[list[Child | Cell]] = [
        [
            join(element("span", r.scope), verdict(r)), Cell(value(r), r.value), *([r.interval()] if between else []),
            Cell(baseline(r), r.baseline), sentence(r.note),
        ]
        for r in readings
    ]  # fmt: skip
    return table(heads, rows, label=label, numbers=range(1, 3 + between), class_="findings judged")


def _cell(reading: Reading | None) -> Child | Cell:
    if reading is None or reading.value is None:
        return Cell(element("span", "–", title=reading.note if reading else None), None)
    base = element("small", f" {baseline(reading)}") if reading.baseline is not None else None
    return Cell(join(element("span", value(reading)), base), reading.value)


def _head(name: str, names: Sequence[str]) -> str:
    """A name without what all of them begin with."""
    starts = {other.rpartition(": ")[0] for other in names}
    return name.rpartition(": ")[2] if len(starts) == 1 else name


def _meaning(reading: Reading) -> Html:
    meaning = sentence(reading.metric.meaning) if reading.metric else None
    return join(
        element("p", meaning) if meaning else None, element("p", sentence(reading.note), class_="soft") if reading.note else None
    )
