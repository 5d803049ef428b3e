"""What planted leaks show about the audits: curves, whether they rise with the leak, their correlation, and their running times.

Plain numbers in, plain numbers out: ``certify`` measures, this judges.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from scipy.stats import rankdata

from hushtable.report.certify import certify_page
from hushtable.report.words import number
from hushtable.table.arrays import Array

Record = Mapping[str, Any]
"""A finding in a cell: audit, name, scope, value, low, high, better, p_adjusted."""


GOOD = ("rises", "stays", "")
"""Verdicts that need no attention."""


class Expect(StrEnum):
    """What a trustworthy metric does along a curve."""

    RISE = "rise"
    STAY = "stay"
    NOTHING = ""
    """Nothing is expected; the curve is only shown."""


@dataclass(frozen=True)
class Line:
    """One metric along one curve. Where a metric has several scopes, ``scope`` is empty and the numbers are their means."""

    audit: str
    name: str
    scope: str
    scopes: int
    levels: list[float]
    values: list[float]
    low: list[float]
    high: list[float]
    falling: bool
    """Whether a smaller value is the worse one."""
    verdict: str
    rho: float | None
    """Spearman's rank correlation of the level and the risk; None where the values do not vary."""

    @property
    def judged(self) -> bool:
        """Whether anything is expected of it."""
        return self.verdict != ""

    @property
    def as_expected(self) -> bool:
        """Whether it does what is expected of it, if anything is."""
        return self.verdict in GOOD

    @property
    def metric(self) -> str:
        """Its name, with the scope if it has one."""
        return f"{self.name}, {self.scope}" if self.scope else self.name


@dataclass(frozen=True)
class Correlation:
    """Pearson's correlations between metrics along a curve."""

    names: list[str]
    matrix: list[list[float | None]]
    """None where a metric does not vary."""


@dataclass(frozen=True)
class Curve:
    """A risk model at several levels, with what every audit said."""

    model: str
    name: str
    along: str
    """What the levels count."""
    expect: Expect
    lines: list[Line]
    """One for each metric."""
    scopes: list[Line]
    """One for each scope of each metric that has several."""
    correlation: Correlation

    @property
    def title(self) -> str:
        """Its name among all models."""
        return self.model if self.name == self.model else f"{self.model} {self.name}"


@dataclass(frozen=True)
class Certificate:
    """The whole study, aggregates only. It was computed from raw rows: it is not for publication."""

    rows: dict[str, int]
    table: int
    """Rows of the table that the parts were drawn from."""
    seed: int
    curves: list[Curve]
    seconds: dict[str, float]
    """Mean wall seconds of each audit on one release."""
    refused: dict[str, str] = field(default_factory=dict)
    """Audits that gave no value anywhere, with the reason they gave."""
    notes: dict[str, str] = field(default_factory=dict)
    """Of some risk models what must be known about them, or why they were left out."""

    @property
    def failing(self) -> list[tuple[str, str]]:
        """(curve, metric) of those that do not do what is expected of them."""
        return [(c.title, line.metric) for c in self.curves for line in c.lines if not line.as_expected]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        curves = [asdict(c) | {"title": c.title} for c in self.curves]
        return asdict(self) | {"curves": curves, "failing": [list(pair) for pair in self.failing]}

    def page(self) -> str:
        """As a page of its own."""
        return certify_page(self)

    def text(self) -> str:
        """For a terminal: a table for each curve, the metrics that fail, and the times."""
        parts = [describe_parts(self.rows, self.table)]
        for model in dict.fromkeys(c.model for c in self.curves):
            parts.append(_model_text([c for c in self.curves if c.model == model]))
        parts += [f"{model}: {note}" for model, note in self.notes.items()]
        failing: dict[str, list[str]] = {}
        for name, metric in self.failing:
            failing.setdefault(metric, []).append(name)
        parts += [f"! {metric} is not as expected on: {', '.join(names)}" for metric, names in failing.items()]
        parts += [f"never had a value: {label}: {why}" for label, why in self.refused.items()]
        seconds = sorted(self.seconds.items(), key=lambda pair: -pair[1])
        parts.append(_grid("seconds for one release", ("audit", "seconds"), [[name, f"{s:.2f}"] for name, s in seconds]))
        return "\n\n".join(parts) + "\n"


def describe_parts(rows: Mapping[str, int], table: int) -> str:
    """What the parts were, and how many rows were not used."""
    used = sum(rows.values())
    left = f"; {number(table - used)} of its {number(table)} rows were not used" if used < table else ""
    return f"three disjoint random parts of the table: {', '.join(f'{number(n)} {name}' for name, n in rows.items())}{left}"


def curve(model: str, name: str, along: str, expect: Expect, points: Sequence[tuple[float, Sequence[Record]]]) -> Curve:
    """Read a curve from the findings at each level."""
    levels = [level for level, _ in points]
    series: dict[tuple[str, str, str], list[Record]] = {}
    for _, records in points:
        for record in records:
            series.setdefault((record["audit"], record["name"], record["scope"]), []).append(record)
    # A metric without a value at some level has no curve.
    whole = {k: s for k, s in series.items() if len(s) == len(levels) and all(r["value"] is not None for r in s)}
    metrics: dict[tuple[str, str], dict[str, list[Record]]] = {}
    for (audit, label, scope), records in whole.items():
        metrics.setdefault((audit, label), {})[scope] = records
    lines = [_line(key, "" if len(s) > 1 else next(iter(s)), list(s.values()), levels, expect) for key, s in metrics.items()]
    several = {key: s for key, s in metrics.items() if len(s) > 1}
    scopes = [_line(key, scope, [records], levels, expect) for key, s in several.items() for scope, records in s.items()]
    return Curve(model, name, along, expect, lines, scopes, _correlation(lines))


def _line(key: tuple[str, str], scope: str, series: Sequence[Sequence[Record]], levels: list[float], expect: Expect) -> Line:
    """The line of one metric: the mean of its series, one series for each scope."""

    def mean(what: str) -> list[float]:
        numbers = [[r["value"] if r.get(what) is None else r[what] for r in one] for one in series]
        return [float(v) for v in np.mean(numbers, axis=0)]

    first = series[0][0]
    values, low, high = mean("value"), mean("low"), mean("high")
    falling = first["better"] == "higher"
    risks, least, most = values, low, high
    if falling:
        risks, least, most = [-v for v in values], [-v for v in high], [-v for v in low]
    # What knows no baseline compares nobody with anybody, and need not answer to a leak.
    compared = first.get("risk") is not None or first.get("baseline") is not None
    verdict = judged(risks, least, most, expect) if compared else ""
    return Line(*key, scope, len(series), levels, values, low, high, falling, verdict, spearman(levels, risks))


def judged(values: Sequence[float], low: Sequence[float], high: Sequence[float], expect: Expect) -> str:
    """Whether risks along a curve rise (or stay), as far as their intervals can show.

    Rises: the last interval lies above the first, and none lies wholly below an earlier one. Stays: all intervals meet the first.
    """
    if expect is Expect.NOTHING or len(values) < 2:
        return ""
    if expect is Expect.STAY:
        drifts = any(lo > high[0] or hi < low[0] for lo, hi in zip(low, high, strict=True))
        return "drifts" if drifts else "stays"
    if low[-1] <= high[0] or values[-1] <= values[0]:
        return "does not rise"
    peak = np.maximum.accumulate(low)
    return "falls in between" if any(hi < top for hi, top in zip(high, peak, strict=True)) else "rises"


def spearman(levels: Sequence[float], values: Sequence[float]) -> float | None:
    """The rank correlation, ties sharing their ranks; None where there is nothing to correlate."""
    return _pearson(rankdata(levels), rankdata(values))


def _pearson(one: Array, other: Array) -> float | None:
    one, other = (x - x.mean() for x in (np.asarray(one, float), np.asarray(other, float)))
    size = float(np.sqrt((one @ one) * (other @ other)))
    return float(np.clip(one @ other / size, -1, 1)) if size > 1e-15 else None


def _correlation(lines: Sequence[Line]) -> Correlation:
    risks = [np.array(line.values) * (-1 if line.falling else 1) for line in lines]
    return Correlation([line.metric for line in lines], [[_pearson(a, b) for b in risks] for a in risks])


def _model_text(curves: Sequence[Curve]) -> str:
    """One curve in full; of several, where each metric begins and ends."""
    first = curves[0]
    if len(curves) == 1:
        heads = ("metric", "audit", "first", "last", "interval", "rho", "verdict")
        return _grid(f"{first.name} ({first.along})", heads, [_row(line) for line in first.lines])
    metrics = dict.fromkeys((line.audit, line.name) for c in curves for line in c.lines)
    ends = [{(line.audit, line.name): _ends(line) for line in c.lines} for c in curves]
    rows = [[key[1], *(end.get(key, "-") for end in ends)] for key in metrics]
    return _grid(f"{first.model}: first and last of each ({first.along})", ("metric", *(c.name for c in curves)), rows)


def _ends(line: Line) -> str:
    return f"{line.values[0]:.3f} {line.values[-1]:.3f}{'' if line.as_expected else ' !'}"


def _row(line: Line) -> list[str]:
    many = f" (mean of {line.scopes})" if line.scopes > 1 else ""
    between = f"{line.low[-1]:.3f} to {line.high[-1]:.3f}"
    rho = "-" if line.rho is None else f"{line.rho:.2f}"
    return [line.metric + many, line.audit, f"{line.values[0]:.4f}", f"{line.values[-1]:.4f}", between, rho, line.verdict]


def _grid(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    rows = [heads, *rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(heads))]
    return "\n".join([title, *("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows)])
