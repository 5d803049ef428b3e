"""Curves of metrics along a planted leak, as ``certify`` measures them: over several runs, as drawings, and judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from hushtable.api.certificate import Correlation, Curve, Expect, Line, judged
from hushtable.evidence.confidence import Rate
from hushtable.studies import curves as drawings
from hushtable.studies.report import Figure, Verdict, over_runs

Plain = Mapping[str, Any]
REACH = 0.15
"""How far a level may be from the one that is asked for, as a share of it."""


def stored(curves: Iterable[Curve], unmeasured: Mapping[str, str]) -> dict[str, Any]:
    """What is kept of curves, and why metrics have no value anywhere."""
    return {"curves": [asdict(one) | {"title": one.title} for one in curves], "unmeasured": dict(unmeasured)}


def curves_of(runs: Iterable[Plain]) -> dict[str, Curve]:
    """The curves of some runs by title, those of one title put together."""
    found: dict[str, list[Curve]] = {}
    for plain in (plain for run in runs for plain in run["curves"]):
        found.setdefault(plain["title"], []).append(_curve(plain))
    return {title: together(curves) for title, curves in found.items()}


def together(curves: Sequence[Curve]) -> Curve:
    """One curve of several runs: where their levels are as many, means with t intervals; else the first."""
    first = curves[0]
    if len(curves) == 1:
        return first
    return replace(
        first,
        lines=[_mean([line for line in map(_finder(one), curves) if line is not None]) for one in first.lines],
        scopes=[_mean([line for line in map(_finder(one), curves) if line is not None]) for one in first.scopes],
    )


def line_of(curve: Curve | None, name: str, scope: str = "") -> Line | None:
    """The line of a metric, or of one scope of it."""
    if curve is None:
        return None
    return next((line for line in (*curve.lines, *curve.scopes) if line.name == name and line.scope == scope), None)


def at(line: Line | None, level: float) -> Rate | None:
    """The number at the level nearest to this one; None where none is near."""
    if line is None:
        return None
    place = int(np.abs(np.array(line.levels) - level).argmin())
    if abs(line.levels[place] - level) > REACH * max(level, 1.0):
        return None
    return Rate(line.values[place], line.low[place], line.high[place])


def rising(line: Line | None) -> Verdict:
    """Whether a metric rises with the leak. One that ends no higher than it began does not; between lies what is not known."""
    if line is None:
        return Verdict.UNDECIDED
    verdict = judged(line.values, line.low, line.high, Expect.RISE)
    if verdict == "rises":
        return Verdict.CONFIRMED
    fell = verdict == "falls in between" or line.values[-1] <= line.values[0]
    return Verdict.CONTRADICTED if fell else Verdict.UNDECIDED


def ends(line: Line) -> str:
    """Where a metric begins and ends, with intervals."""
    first, last = (f"{line.values[i]:.3g} ({line.low[i]:.3g} to {line.high[i]:.3g})" for i in (0, -1))
    return f"{first} at {line.levels[0]:.3g}, {last} at {line.levels[-1]:.3g}"


def drawn(name: str, title: str, caption: str, lines: Mapping[str, Line], *, along: str, log: bool = False) -> Figure:
    """Metrics over the levels of a leak, by the name they are to have."""
    return Figure(
        name=name,
        title=title,
        caption=caption,
        drawn=drawings.curves(
            title,
            [
                drawings.Line(
                    name=label,
                    points=list(zip(line.levels, line.values, strict=True)),
                    colour=place,
                    dashed=place >= len(drawings.COLOURS),
                    spreads=[f"({low:.3g} to {high:.3g})" for low, high in zip(line.low, line.high, strict=True)],
                )
                for place, (label, line) in enumerate(lines.items())
            ],
            along,
            log=log,
        ),
    )


def _curve(plain: Plain) -> Curve:
    kept = {key: plain[key] for key in ("model", "name", "along")}
    lines, scopes = ([Line(**line) for line in plain[key]] for key in ("lines", "scopes"))
    return Curve(
        **kept, expect=Expect(plain["expect"]), lines=lines, scopes=scopes, correlation=Correlation(**plain["correlation"])
    )


def _finder(wanted: Line) -> Any:
    return lambda curve: line_of(curve, wanted.name, wanted.scope)


def _mean(lines: Sequence[Line]) -> Line:
    first = lines[0]
    if len(lines) < 2 or len({len(line.levels) for line in lines}) > 1:
        return first
    means = [over_runs(values) for values in zip(*(line.values for line in lines), strict=True)]
    value, low, high = ([float(one[end] or 0.0) for one in means] for end in range(3))
    levels = [float(level) for level in np.mean([line.levels for line in lines], axis=0)]
    return replace(first, levels=levels, values=value, low=low, high=high)
