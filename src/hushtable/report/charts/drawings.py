"""Drawings of what a measure brings to be drawn. Each is made from plain values, and only if all of them are there."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.evidence.finding import Finding
from hushtable.report.charts import plots
from hushtable.report.charts.plots import LETTER, WIDTH, Scale, from_zero, svg, text, titled
from hushtable.report.html import Child, Html, element
from hushtable.report.words import fit, number, share
from hushtable.table import lenient

BARS = 12
"""So many columns are drawn as bars."""
WIDE = 400.0


def special(finding: Finding) -> Html | None:
    """The drawing that belongs to the detail of a finding; None if it holds nothing of a known shape."""
    return queries(finding) or groups(finding) or importance(finding)


def queries(finding: Finding) -> Html | None:
    """Relative errors by the share of rows that a question asks for."""
    at, ours, base = (_numbers(finding.detail, key) for key in ("selectivity", "relative", "baseline"))
    points = [(x, y, b) for x, y, b in zip(at, ours, base, strict=False) if x is not None and x > 0]
    if len(points) < 2 or len(at) != len(ours):
        return None
    left, top, bottom = 46.0, 12.0, 170.0
    low, high = (math.log10(f(x for x, _, _ in points)) for f in (min, max))
    along = Scale(low, high if high > low else low + 1, left + 6, WIDE - 10)
    up = from_zero([v for _, y, b in points for v in (y, b) if v is not None], bottom, top, least=0.01)
    marks: list[Child] = [plots.share_grid(up, left, WIDE)]
    for colour, pick in (("real", 2), ("release", 1)):
        known = [(along(math.log10(p[0])), y) for p in points if (y := p[pick]) is not None]
        path = "M" + "L".join(f"{x:.2f} {up(y):.2f}" for x, y in known)
        marks.append(
            element("path", class_=f"curve thick line-{colour}{' dash5' if colour == 'real' else ''}", d=path) if known else None
        )
    for x, y, b in points:
        title = f"questions about {share(x)} of the rows: off by {share(y)}, for fresh real rows {share(b)}"
        dot = element("circle", class_="release", cx=along(math.log10(x)), cy=up(y), r=3.5) if y is not None else None
        square = (
            element("rect", class_="real", x=along(math.log10(x)) - 3, y=up(b) - 3, width=6, height=6) if b is not None else None
        )
        marks.append(titled(title, square, dot))
    ticks = [10.0**p for p in range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)] or [points[0][0], points[-1][0]]
    marks += [
        text(along(math.log10(t)), bottom + 15, share(t), anchor="end" if along(math.log10(t)) > WIDE - 40 else "middle")
        for t in ticks
    ]
    marks.append(
        text((left + WIDE) / 2, bottom + 31, "share of the rows that is asked for (log scale)", anchor="middle", class_="small")
    )
    label = f"{finding.name} by the share of rows asked for: " + "; ".join(f"{share(x)}: {share(y)}" for x, y, _ in points)
    caption = (
        "How far the median question is off, by how many rows it asks for. Round, solid: release. Square, dashed: fresh real rows."
    )
    return _figure(finding, svg(WIDE, bottom + 34, label, marks), caption)


def groups(finding: Finding) -> Html | None:
    """Groups of people by their size: how far the release lies from each, above the same for fresh rows of the group."""
    names = finding.detail.get("groups")
    rows, ours, base = (_numbers(finding.detail, key) for key in ("rows", "distance", "baseline"))
    if not isinstance(names, list) or not len(names) == len(rows) == len(ours):
        return None
    base = base if len(base) == len(rows) else [None] * len(rows)
    drawn = [(str(n), r, v, b) for n, r, v, b in zip(names, rows, ours, base, strict=True) if r and r > 0 and v is not None]
    if len(drawn) < 2:
        return None
    left, top, bottom = 40.0, 12.0, 190.0
    sizes = [math.log10(r) for _, r, _, _ in drawn]
    low, high = math.floor(min(sizes) * 4) / 4, math.ceil(max(sizes) * 4) / 4
    along = Scale(low, high if high > low else low + 1, left + 10, WIDE - 12)
    up = from_zero([v for _, _, y, b in drawn for v in (y, b) if v is not None], bottom, top, least=0.01)
    marks: list[Child] = [
        element("line", class_="axis" if t == 0 else "grid", x1=left, x2=WIDE, y1=up(t), y2=up(t)) for t in up.ticks()
    ]
    marks += [text(left - 5, up(t) + 4, number(t), anchor="end") for t in up.ticks()]
    for name, size, y, b in drawn:
        x = along(math.log10(size))
        title = f"{name}, {number(round(size))} rows: {number(y)}" + (
            f", fresh rows of the group {number(b)}" if b is not None else ""
        )
        rule = element("line", class_="whisker open thin", x1=x, x2=x, y1=up(y), y2=up(b)) if b is not None else None
        tick = element("line", class_="baseline", x1=x - 4, x2=x + 4, y1=up(b), y2=up(b)) if b is not None else None
        marks.append(titled(title, rule, tick, element("circle", class_="release", cx=x, cy=up(y), r=4)))
    ticks = [t for p in range(8) for t in (10.0**p, 3 * 10.0**p) if low <= math.log10(t) <= high] or [10**low, 10**high]
    marks += [text(along(math.log10(t)), bottom + 15, number(round(t)), anchor="middle") for t in ticks]
    marks.append(text((left + WIDE) / 2, bottom + 31, "training rows in the group (log scale)", anchor="middle", class_="small"))
    worst = max(drawn, key=lambda f: f[2] - (f[3] or 0.0))
    label = (
        f"{finding.name}: {number(len(drawn))} groups by size; furthest from its real self is {worst[0]} with {number(worst[2])}"
    )
    caption = (
        "Each dot is a group: how far its columns in the release lie from its real ones. Tick: the same for fresh real rows of the "
        "group, which is what its size alone explains."
    )
    return _figure(finding, svg(WIDE, bottom + 34, label, marks), caption)


def importance(finding: Finding) -> Html | None:
    """What gives the release away, column by column."""
    names, sizes = finding.detail.get("columns"), _numbers(finding.detail, "importance")
    if not isinstance(names, list) or len(names) != len(sizes):
        return None
    columns = sorted(((str(n), s) for n, s in zip(names, sizes, strict=True) if s is not None), key=lambda pair: -pair[1])[:BARS]
    if not columns or columns[0][1] <= 0:
        return None
    left, row = 116.0, 18.0
    scale = from_zero([max(s, 0.0) for _, s in columns], left, WIDTH - 44, least=1e-9)
    bars = [
        titled(
            f"{name}: {number(size)}",
            text(left - 8, i * row + 12, fit(name, left - 10, LETTER), anchor="end"),
            element("rect", class_="release", x=left, y=i * row + 3, width=max(scale(max(size, 0.0)) - left, 0.5), height=11),
            text(WIDTH, i * row + 12, number(size, 2), anchor="end", class_="small"),
        )
        for i, (name, size) in enumerate(columns)
    ]
    label = f"Columns that give the release away, for {finding.name}: " + ", ".join(f"{n} {number(s)}" for n, s in columns[:5])
    caption = "The columns that give the release away: how much worse the model becomes without that column."
    return _figure(finding, svg(WIDTH, len(columns) * row, label, bars), caption)


def _figure(finding: Finding, drawing: Html, caption: str) -> Html:
    return element("figure", drawing, element("figcaption", element("strong", finding.label), f" {caption}"), class_="plot")


def _numbers(detail: Mapping[str, Any], key: str) -> Sequence[float | None]:
    """A list of numbers; None in place of what is not one, and nothing at all if there is no list."""
    values = detail.get(key)
    return [lenient.finite(x) for x in values] if isinstance(values, list) else []
