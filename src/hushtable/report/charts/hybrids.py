"""Drawings of a grid of hybrids: means along its axes, its stages, risk against utility, and a map of all cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hushtable.report.charts.ground import tick_texts
from hushtable.report.charts.plots import Scale, svg, text, titled
from hushtable.report.compare_text import anchor
from hushtable.report.html import Child, Html, element
from hushtable.report.hybrid_text import STAGES, axes_of, named, plain_value, with_ends
from hushtable.report.words import fit, wide

if TYPE_CHECKING:
    from hushtable.api.compare.cell import Estimate
    from hushtable.api.hybrid.grid import Value
    from hushtable.api.hybrid.metrics import Metric
    from hushtable.api.hybrid.result import HybridCell, HybridGrid

WIDTH, HEIGHT = 190.0, 132.0
LETTER = 11.0
LEFT, TOP, BOTTOM = 36.0, 10.0, 104.0
HUES = 6
SHORT = {"original": "raw", "anonymized": "anon.", "hybrid": "hybrid", "generated": "alone"}
"""What stages are called under a point."""
CELL = 22.0
Point = tuple[str, "Estimate", str, bool]
"""What stands under a point, its value, what it says on hovering, and whether it is what others are held against."""


def along(grid: HybridGrid, axis: str, name: str) -> Html:
    """The mean of a metric at every value of an axis, with its interval."""
    metric, points = grid.metrics[name], list[Point]()
    for value in grid.values[axis]:
        level = grid.level(axis, value, name)
        if level is not None:
            words = f"{axis} {named(value)}: {metric.label} {with_ends(metric, level.mean)}, {level.cells} cells"
            points.append((named(value), level.mean, words, False))
    return _points(metric, points, f"{metric.label} by {axis}", joined=all(isinstance(v, (int, float)) for v in grid.values[axis]))


def stages(grid: HybridGrid, name: str) -> Html:
    """A metric from the original to the hybrid, mean over all releases of a stage; and of the generators alone."""
    metric, points = grid.metrics[name], list[Point]()
    for stage, words in STAGES:
        value = grid.stage(stage, name)
        if value is not None:
            points.append((SHORT[stage], value, f"{words}: {metric.label} {with_ends(metric, value)}", stage == "generated"))
    return _points(metric, points, f"{metric.label} by stage", joined=True)


def _points(metric: Metric, points: Sequence[Point], label: str, *, joined: bool) -> Html:
    """Points side by side with their intervals; up is larger, whichever way is better."""
    factor = 100.0 if metric.people else 1.0
    ends = [factor * end for _, one, _, _ in points for end in (one.value, one.lower, one.upper)]
    scale = _scale(ends, least=1.0 if metric.people else 0.02, zero=metric.people)
    ticks = scale.ticks(4)
    marks: list[Child] = [
        element("line", class_="axis" if tick == 0 else "grid", x1=LEFT, x2=WIDTH, y1=scale(tick), y2=scale(tick)) for tick in ticks
    ]
    marks += [text(LEFT - 5, scale(tick) + 4, shown, anchor="end") for tick, shown in zip(ticks, tick_texts(ticks), strict=True)]
    step = (WIDTH - LEFT) / max(len(points), 1)
    places = [(LEFT + (i + 0.5) * step, scale(factor * one.value)) for i, (_, one, _, _) in enumerate(points)]
    if joined:
        line = [place for place, point in zip(places, points, strict=True) if not point[3]]
        marks.append(element("path", class_="curve stroke0", d="M" + "L".join(f"{x:.2f} {y:.2f}" for x, y in line)))
    for (x, y), (under, one, words, apart) in zip(places, points, strict=True):
        bar = None
        if one.low is not None and one.high is not None:
            bar = element("line", class_="reach stroke0", x1=x, x2=x, y1=scale(factor * one.low), y2=scale(factor * one.high))
        dot = element("circle", class_="ring stroke5" if apart else "hue0", cx=x, cy=y, r=4 if apart else 3.5)
        area = element("rect", class_="hover", x=x - step / 2, y=TOP, width=step, height=BOTTOM - TOP)
        marks.append(titled(words, bar, dot, area))
        marks += _under(under, x, step)
    return svg(WIDTH, HEIGHT, f"{label}: {'; '.join(words for _, _, words, _ in points)}", marks)


def _under(words: str, x: float, room: float) -> list[Child]:
    """A name under its point, on two lines where it has two words."""
    lines = [line if wide(line, LETTER) <= room + 2 else f"{line[:5]}." for line in words.split(" ", 1)]
    return [text(x, BOTTOM + 14 + 12 * i, line, anchor="middle") for i, line in enumerate(lines)]


def _scale(values: Sequence[float], *, least: float, zero: bool) -> Scale:
    """Upwards over all values, at least so long; from zero where that means something."""
    low, high = min([*values, *([0.0] if zero else [])], default=0.0), max([*values, *([0.0] if zero else [])], default=1.0)
    short = least - (high - low)
    if short > 0:
        low, high = (low, high + short) if zero and low >= 0 else (low - short / 2, high + short / 2)
    room = 0.06 * (high - low)
    return Scale(low if zero and low == 0 else low - room, high + room, BOTTOM, TOP)


def transitions(grid: HybridGrid) -> list[str]:
    """The ways back of the hybrids, in the order of the grid."""
    return list(dict.fromkeys(str(cell.place.transition) for cell in grid.hybrids))


def mark(x: float, y: float, place: int, *, filled: bool, radius: float = 4.0) -> Html:
    """A shape and a colour for each transition; filled where attacks raised an alarm."""
    look = f"hue{place % HUES}" if filled else f"ring stroke{place % HUES}"
    r = radius
    corners = (
        (),
        ((0.0, -1.2 * r), (1.2 * r, 0.0), (0.0, 1.2 * r), (-1.2 * r, 0.0)),
        ((0.0, -1.2 * r), (1.1 * r, 0.9 * r), (-1.1 * r, 0.9 * r)),
        ((-r, -r), (r, -r), (r, r), (-r, r)),
    )[place % 4]
    if not corners:
        return element("circle", class_=look, cx=x, cy=y, r=r)
    steps = "L".join(f"{x + right:.2f} {y + down:.2f}" for right, down in corners)
    return element("path", class_=look, d=f"M{steps}Z")


def scatter(grid: HybridGrid, axes: tuple[str, str], cells: Sequence[HybridCell], label: str) -> Html:
    """Risk (to the left is better) against utility (up is better): hybrids by their transition, their generators alone as crosses.

    All drawings of one pair of metrics have the same scales.
    """
    width, height, left, top, bottom = 300.0, 220.0, 42.0, 22.0, 184.0
    across, up = (grid.metrics[name] for name in axes)
    drawn = [
        cell for cell in grid.cells if cell.place.stage in ("hybrid", "generated") and all(name in cell.metrics for name in axes)
    ]
    xs, ys = ([cell.metrics[name].value * (100 if grid.metrics[name].people else 1) for cell in drawn] for name in axes)
    flat = _scale(xs, least=1.0 if across.people else 0.02, zero=across.people)
    along_x = Scale(flat.low, flat.high, left + 6, width - 8)
    tall = _scale(ys, least=0.02, zero=up.people)
    upwards = Scale(tall.low, tall.high, *((bottom, top) if up.better == "higher" else (top, bottom)))
    marks: list[Child] = _frame(along_x, upwards, (left, width - 4, top, bottom))
    way = "" if up.better == "higher" else " (lower is up)"
    marks.append(text(0, 11, fit(f"{up.label}{way}", width, LETTER), class_="small"))
    marks.append(
        text(width - 4, height - 4, f"{across.label}{', of 100 people' if across.people else ''}", anchor="end", class_="small")
    )
    ways = transitions(grid)

    def at(cell: HybridCell) -> tuple[float, float]:
        x, y = (cell.metrics[name].value * (100 if grid.metrics[name].people else 1) for name in axes)
        return along_x(x), upwards(y)

    for cell in cells:
        if all(name in cell.metrics for name in axes):
            spot = mark(*at(cell), ways.index(str(cell.place.transition)), filled=bool(cell.alarms), radius=_radius(cell))
            marks.append(_linked(grid, cell, spot, axes, promise=True))
    for alone in {one.id: one for cell in cells if (one := grid.alone(cell)) is not None and one in drawn}.values():
        x, y = at(alone)
        cross = element("path", class_="cross", d=f"M{x - 5:.2f} {y:.2f}H{x + 5:.2f}M{x:.2f} {y - 5:.2f}V{y + 5:.2f}")
        marks.append(_linked(grid, alone, cross, axes))
    return _group((width, height), label, marks, "plane")


def _radius(cell: HybridCell) -> float:
    """Larger the more rows stayed."""
    return 2.6 + 2.0 * (1.0 if cell.place.beta is None else cell.place.beta)


def _frame(along_x: Scale, upwards: Scale, box: tuple[float, float, float, float]) -> list[Child]:
    left, right, top, bottom = box
    marks: list[Child] = []
    rows, columns = upwards.ticks(5), along_x.ticks(6)
    for tick, shown in zip(rows, tick_texts(rows), strict=True):
        marks.append(element("line", class_="grid", x1=left, x2=right, y1=upwards(tick), y2=upwards(tick)))
        marks.append(text(left - 5, upwards(tick) + 4, shown, anchor="end"))
    for tick, shown in zip(columns, tick_texts(columns), strict=True):
        marks.append(element("line", class_="axis" if tick == 0 else "grid", x1=along_x(tick), x2=along_x(tick), y1=top, y2=bottom))
        marks.append(text(along_x(tick), bottom + 15, shown, anchor="middle"))
    return marks


def _linked(grid: HybridGrid, cell: HybridCell, drawn: Html, names: Sequence[str], *, promise: bool = False) -> Html:
    """A mark that says its numbers, and leads to its line of the table."""
    numbers = "; ".join(f"{grid.metrics[n].label} {with_ends(grid.metrics[n], cell.metrics.get(n))}" for n in names)
    left = f"; promised: {cell.promise}" if promise else ""
    words = f"{cell.place.generator or ''} {cell.place.order or ''} {axes_of(cell.place)}: {numbers}{left}"
    ranked = grid.comparison.cell(cell.id)
    href = None if ranked is None else f"#{anchor(ranked)}"
    return element("a", element("title", " ".join(words.split())), drawn, href=href, class_="mark")


def heat(grid: HybridGrid, name: str) -> Html:
    """Every hybrid as a square: samples of anonymized tables downwards, transitions, orders and generators to the right.

    The better, the paler: what leaks, or is of no use, is dark.
    """
    metric = grid.metrics[name]
    rows = list(dict.fromkeys(_row(cell) for cell in grid.hybrids))
    columns = sorted(dict.fromkeys(_column(cell) for cell in grid.hybrids), key=_order(grid))
    known = [cell.metrics[name].value for cell in grid.hybrids if name in cell.metrics]
    best, worst = (max(known), min(known)) if metric.better == "higher" else (min(known), max(known))
    left, top = 118.0, 62.0
    marks: list[Child] = []
    for cell in grid.hybrids:
        x, y = left + CELL * columns.index(_column(cell)), top + CELL * rows.index(_row(cell))
        value = cell.value(name)
        dark = 0.0 if value is None or best == worst else abs(value - best) / abs(worst - best)
        square = element(
            "rect", class_="unknown" if value is None else "release", x=x, y=y, width=CELL - 1.5, height=CELL - 1.5,
            fill_opacity=round(0.06 + 0.9 * dark, 2),
        )  # fmt: skip
        marks.append(_linked(grid, cell, square, (name,)))
    marks += [text(left - 6, top + CELL * i + 15, fit(" ".join(row), left - 8, LETTER), anchor="end") for i, row in enumerate(rows)]
    marks += _heads(columns, left, top)
    width, height = left + CELL * len(columns) + 4, top + CELL * len(rows) + 4
    label = f"{metric.label} of every hybrid, from {plain_value(metric, best)} (pale, best) to {plain_value(metric, worst)} (dark)"
    return _group((width, height), label, marks, "heat")


def _group(size: tuple[float, float], label: str, marks: Sequence[Child], class_: str) -> Html:
    """A drawing whose marks are links: a group, not an image."""
    width, height = size
    return element("svg", marks, viewBox=f"0 0 {width:g} {height:g}", role="group", aria_label=label, class_=class_)


def _row(cell: HybridCell) -> tuple[str, ...]:
    place = cell.place
    several = "" if place.anonymizer == "k-anonymity" else str(place.anonymizer)
    sample = "" if place.sampling in (None, "none") else f"{str(place.sampling)[:5].removesuffix('o')}."
    share = "" if place.beta is None else f"{place.beta:g}"
    budget = f"e{place.epsilon:g}" if place.epsilon is not None else ""
    return tuple(filter(None, (several, f"k{place.k}", share, sample, budget)))


def _column(cell: HybridCell) -> tuple[str, str, str]:
    return str(cell.place.generator), str(cell.place.order or ""), str(cell.place.transition)


def _order(grid: HybridGrid) -> Callable[[tuple[str, str, str]], tuple[int, ...]]:
    """By generator, then by order, then by transition, each as in the grid."""
    values: list[list[Value]] = [
        list(dict.fromkeys(cell.place.on(axis) for cell in grid.hybrids)) for axis in ("generator", "order", "transition")
    ]
    return lambda column: tuple(
        next((i for i, value in enumerate(known) if str(value or "") == part), -1)
        for part, known in zip(column, values, strict=True)
    )


def _heads(columns: Sequence[tuple[str, str, str]], left: float, top: float) -> list[Child]:
    """Generator and order over the columns that share them, and the first letters of the transition over each."""
    marks: list[Child] = []
    for level, y in ((1, 14.0), (2, 31.0)):
        start = 0
        for i in range(1, len(columns) + 1):
            if i == len(columns) or columns[i][:level] != columns[start][:level]:
                x, across = left + CELL * start, CELL * (i - start)
                words = columns[start][level - 1].upper() if level == 2 else columns[start][0]
                marks.append(text(x + across / 2 - 1, y, fit(words, across - 2, LETTER), anchor="middle"))
                marks.append(element("line", class_="axis", x1=x + 1, x2=x + across - 3, y1=y + 4, y2=y + 4))
                start = i
    marks += [
        titled(way, text(left + CELL * i + CELL / 2 - 1, top - 6, _short(way), anchor="middle"))
        for i, (_, _, way) in enumerate(columns)
    ]
    return marks


def _short(way: str) -> str:
    """The first letters of a transition, and of its density."""
    return "".join(word[:3] if i == 0 else word[0] for i, word in enumerate(way.split()))


def key(grid: HybridGrid, name: str) -> str:
    """What pale and dark stand for."""
    metric = grid.metrics[name]
    known = [cell.metrics[name].value for cell in grid.hybrids if name in cell.metrics]
    ends = (max(known), min(known)) if metric.better == "higher" else (min(known), max(known))
    best, worst = (plain_value(metric, end) for end in ends)
    return f"{metric.label}: {best} is palest, {worst} darkest{', of 100 people' if metric.people else ''}"


def legend(grid: HybridGrid) -> Html:
    """Transitions by colour and shape, alarms by filling, generators alone as crosses."""
    entries = []
    for i, way in enumerate(transitions(grid)):
        entries.append(element("li", svg(14, 14, way, titled(way, mark(7, 7, i, filled=False)), class_="sample"), way))
    cross = svg(14, 14, "cross", element("path", class_="cross", d="M2 7H12M7 2V12"), class_="sample")
    filled = svg(14, 14, "filled", titled("filled", mark(7, 7, 0, filled=True)), class_="sample")
    entries += [element("li", filled, "filled: attacks raised an alarm"), element("li", cross, "the generator alone")]
    return element("ul", entries, class_="legend", aria_label="Transitions by colour and shape")
