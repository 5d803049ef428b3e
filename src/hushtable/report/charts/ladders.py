"""The lattice as a person can read it: each column a ladder of levels, the chosen rung filled; and what suppression buys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.report.charts.plots import Scale, from_zero, svg, text, titled
from hushtable.report.html import Child, Html, element, join
from hushtable.report.words import fit, number, share

WIDTH, NAMES, LOST, ROW = 720.0, 118.0, 96.0, 34.0
LETTER = 11.0
WITHHELD = "its loss would reveal the extremes of the rows"


def is_generalization(result: object) -> bool:
    """Whether a step's result is about levels."""
    columns = result.get("columns") if isinstance(result, Mapping) else None
    return (
        isinstance(columns, Mapping) and all(isinstance(c, Mapping) and "ladder" in c for c in columns.values()) and bool(columns)
    )


def section(result: Mapping[str, Any]) -> Html:
    """The search in words, and the ladders."""
    search = result.get("search") or {}
    return join(
        element("p", _search(result, search)),
        element(
            "figure",
            ladders(result["columns"]),
            element(
                "figcaption",
                "Each line shows the levels of one column, from its own values to * (any value). The filled level was released; "
                "under it is the number of its cells. The bar shows what the column lost: 0 % is nothing, 100 % is *, with "
                "suppressed rows counted. There is no bar where the domain was read off the rows.",
            ),
        ),
    )


def _search(result: Mapping[str, Any], search: Mapping[str, Any]) -> str:
    rows, gone = int(result.get("rows") or 0), int(result.get("suppressed_rows") or 0)
    suppressed = f"{number(gone)} of {number(rows)} rows ({share(gone / rows)})" if gone and rows else "no row"
    fixed = search.get("fixed") or []
    value, gap = search.get("value"), search.get("gap")
    loss = f"({search.get('loss')})" + ("" if value is None else f" {number(value)}")
    if len(fixed) == len(result["columns"]):
        return f"The levels were given; nothing was searched. {suppressed} suppressed. Loss {loss}."
    other = "No other choice that keeps the given levels" if fixed else "No other choice of levels"
    proof = (
        f"{other} loses less: this is proven."
        if search.get("optimal")
        else f"The search was stopped: another choice may lose {'less' if gap is None else f'up to {number(gap)} less'}."
    )
    tried = f"{number(search.get('checked'))} of {number(search.get('nodes'))} choices had to be tried."
    if result.get("local"):
        begun = f"It began with the best single level for each column, loss {loss}. {proof} {tried}"
        return f"Every group has levels of its own; {suppressed} suppressed. {begun}"
    return f"One level for each column; {suppressed} suppressed. Loss {loss}. {proof} {tried}"


def ladders(columns: Mapping[str, Mapping[str, Any]]) -> Html:
    """One row per column: rungs from the value to the star, then the bar of what was lost."""
    tallest = max(len(c["ladder"]) + 1 for c in columns.values())
    wide = (WIDTH - NAMES - LOST - 16) / tallest
    marks = [_ladder(name, column, i * ROW, wide) for i, (name, column) in enumerate(columns.items())]
    label = "; ".join(
        f"{name}: level {column['level']} of {column['height']}"
        + (f", {WITHHELD}" if column["lost"] is None else f", lost {share(column['lost'])}")
        for name, column in columns.items()
    )
    return svg(WIDTH, len(columns) * ROW, label, marks)


def _ladder(name: str, column: Mapping[str, Any], y: float, wide: float) -> Html:
    chosen = column["level"] if isinstance(column["level"], list) else [column["level"]]
    rungs: list[Child] = [text(NAMES - 8, y + 16, fit(name, NAMES - 10, LETTER), anchor="end", class_="name")]
    for level, (example, cells) in enumerate([("value", None), *((r["example"], r["cells"]) for r in column["ladder"])]):
        x = NAMES + level * wide
        filled = level in chosen
        word = f"{number(cells)} cell{'s' if cells != 1 else ''}" if cells else ("" if level else "as it is")
        rungs.append(
            titled(
                f"{name}, level {level}: {example or 'not shown'} {f'({word})' if word else ''}" + ("; released" if filled else ""),
                element("rect", class_="release" if filled else "unknown", x=x, y=y + 3, width=wide - 5, height=17, rx=3),
                text(
                    x + (wide - 5) / 2,
                    y + 15.5,
                    # The released one is bold, and bold letters are wider.
                    fit(example, wide - 12, LETTER * 1.12 if filled else LETTER),
                    anchor="middle",
                    class_="onfill" if filled else None,
                ),
                text(x + (wide - 5) / 2, y + 29, word, anchor="middle", class_="small") if filled else None,
            )
        )
    if column["lost"] is None:
        return titled(f"{name}: {WITHHELD}", *rungs)
    left = WIDTH - LOST
    rungs += [
        element("rect", class_="unknown", x=left, y=y + 6, width=LOST - 44, height=11),
        element("rect", class_="weaker", x=left, y=y + 6, width=(LOST - 44) * min(max(column["lost"], 0.0), 1.0), height=11),
        text(WIDTH, y + 15.5, share(column["lost"], 2), anchor="end", class_="small"),
    ]
    return titled(f"{name}: lost {share(column['lost'])}", *rungs)


def curves(fronts: Mapping[str, Sequence[Sequence[float]]], *, name: str) -> Html:
    """Loss against the share of rows suppressed, one line of dots for each name."""
    width, left, top, bottom, height = 440.0, 44.0, 26.0, 208.0, 240.0
    points = [point for front in fronts.values() for point in front]
    along = from_zero([p[1] for p in points], left, width - 70, least=0.01)
    up = from_zero([p[0] for p in points], bottom, top, least=1e-9)
    marks: list[Child] = [_grid(up, left, width - 70)]
    marks += [text(along(t), bottom + 15, f"{number(100 * t)} %", anchor="middle") for t in along.ticks(6)]
    for i, (word, front) in enumerate(fronts.items()):
        ordered = sorted(front, key=lambda p: p[1])
        steps = "".join(
            f"{'M' if j == 0 else 'H'}{along(s):.1f}{' ' if j == 0 else 'V'}{up(v):.1f}" for j, (v, s) in enumerate(ordered)
        )
        marks.append(element("path", class_=f"curve stroke{i % 6}", d=steps))
        for value, gone in ordered:
            title = f"{word}: loss {number(value)}, {share(gone)} suppressed"
            marks.append(titled(title, element("circle", class_=f"hue{i % 6}", cx=along(gone), cy=up(value), r=2.6)))
        if len(fronts) > 1:
            marks.append(text(along(ordered[-1][1]) + 7, up(ordered[-1][0]) + 4, word))
    marks.append(text((left + width - 70) / 2, height - 4, "rows suppressed", anchor="middle", class_="small"))
    marks.append(text(left - 36, top - 14, name, class_="small"))
    return svg(width, height, f"{name} against the share of rows suppressed", marks)


def _grid(scale: Scale, left: float, right: float) -> list[Html]:
    lines = []
    for tick in scale.ticks():
        y = scale(tick)
        lines.append(element("line", class_="axis" if tick == 0 else "grid", x1=left, x2=right, y1=y, y2=y))
        lines.append(text(left - 5, y + 4, number(tick), anchor="end"))
    return lines
