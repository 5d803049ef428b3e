"""Hierarchies at work: the levels of one column, and tables generalized to them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import MAXYEAR, UTC, datetime
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hushtable.errors import Fault, InputError
from hushtable.table.arrays import Array, Floats
from hushtable.table.cell import ANY_TEXT, ANYTHING, Cell, Interval, parse_interval, parse_set, split_interval
from hushtable.table.columns import DAY, MISSING_CODE, NUMBERS, Bounds, Column, Kind, Levels
from hushtable.table.hierarchy import DateTree, FileTree, Hierarchy, IntervalTree, PrefixTree, RoundTree

TINY = 1e-290
"""A domain narrower than this has no levels below ``*``: floats that small lose their digits."""


@dataclass(frozen=True, eq=False)
class Level:
    """One level of generalization: disjoint cells that cover the domain.

    ``points`` sorts the leaves (codes or numbers) and ``codes`` gives each its cell; with ``edges`` true the
    points are the lower ends of intervals instead.
    """

    cells: tuple[Cell, ...]
    points: Floats
    codes: NDArray[np.int32]
    edges: bool
    shares: Floats
    """For each cell, the share of the hierarchy's leaves (all lines of a file), or of the domain's width, under it."""

    def index(self, column: Column, array: Array) -> NDArray[np.int32]:
        """The cell of each value, ``MISSING_CODE`` where missing; values must be covered (``uncovered``)."""
        missing = column.is_missing(array)
        values = np.where(missing, self.points[0], array.astype(np.float64))
        side = np.clip(np.searchsorted(self.points, values, side="right") - 1, 0, len(self.points) - 1)
        if not self.edges and (strange := int((self.points[side] != values).sum())):
            raise InputError(Fault(f"hierarchy of {column.name}", "has no line for some values", strange))
        codes = self.codes[side].astype(np.int32)
        if not self.top:
            codes[missing] = MISSING_CODE
        return codes

    @property
    def top(self) -> bool:
        """Whether everything, missing values included, has become one cell."""
        return len(self.cells) == 1 and self.cells[0].anything


def build(column: Column) -> tuple[Level, ...]:
    """The levels above the values of a column, the last of them ``*``.

    Without a declared hierarchy one is derived from the domain: round intervals for numbers (5, 10, 20, 40, ... wide), calendar
    units for dates, doubling runs for ordinals, and ``*`` at once for categories.
    """
    hierarchy = column.hierarchy or derive(column)
    match hierarchy:
        case FileTree():
            levels = _file_levels(hierarchy, column)
        case RoundTree():
            levels = [_interval_level(column, cuts) for cuts in _round_cuts(column, hierarchy.widths)]
        case IntervalTree():
            if column.step is not None and hierarchy.widths[0] < column.step:
                reason = f"intervals of width {hierarchy.widths[0]:g} are finer than the column's own steps of {column.step:g}"
                raise InputError(reason, where=f"hierarchy of {column.name}")
            cuts = _cuts(column, hierarchy.widths[0])
            levels = [_interval_level(column, cuts[:: round(width / hierarchy.widths[0])]) for width in hierarchy.widths]
        case PrefixTree():
            levels = [_prefix_level(column, length) for length in hierarchy.lengths]
        case DateTree():
            levels = [_interval_level(column, _calendar(column, unit)) for unit in hierarchy.units]
        case None:
            levels = _runs(column) if column.kind is Kind.ORDINAL else []
        case _:
            raise TypeError(f"unknown hierarchy {hierarchy!r}")
    below = [level for level in levels if not level.top]
    return (*below, Level((ANYTHING,), np.zeros(1), np.zeros(1, np.int32), True, np.ones(1)))


def derive(column: Column) -> Hierarchy | None:
    """A hierarchy from the domain alone; it is as public, or as observed, as the domain is."""
    if column.kind is Kind.DATE:
        return DateTree(("month", "quarter", "year", "5 years", "decade"))
    if column.kind in (Kind.INTEGER, Kind.REAL):
        if column.bounds.observed:
            return IntervalTree(_round_widths(column))
        widths = _habitual(column)
        return RoundTree(widths) if widths else None
    return None


def derive_formerly(column: Column) -> Hierarchy | None:
    """The hierarchy that versions before 0.3 derived from a declared domain: for what they released."""
    if column.kind is Kind.DATE:
        return DateTree(("month", "quarter", "year", "decade"))
    if column.kind in (Kind.INTEGER, Kind.REAL) and not column.bounds.observed:
        bounds = column.bounds
        width = (bounds.high - bounds.low) or 1.0
        # Below the spacing of floats there is nothing to distinguish, and a width of zero would never grow.
        leaf = max(width / 64, column.step or 0.0, float(np.spacing(max(abs(bounds.low), abs(bounds.high)))))
        if column.kind is Kind.INTEGER:
            leaf = float(np.ceil(leaf))
        widths = []
        while leaf < width:
            widths.append(leaf)
            leaf *= 2
        return IntervalTree(tuple(widths)) if widths else None
    return None


def _habitual(column: Column) -> tuple[float, ...]:
    """Widths that nest and that people use: 5, 10, 20, 40, 80 for ages up to 120; 1000, 5000, 10000, ... for amounts.

    Up to the whole range a power of ten is doubled; below it there are its half, its tenth, and so on, some 100 leaves at most.
    """
    bounds = column.bounds
    span = bounds.high - bounds.low + (column.step or 0.0)
    # Below the spacing of floats there is nothing to distinguish, and as wide as a step is the value itself.
    least = max(span / 128, float(np.spacing(max(abs(bounds.low), abs(bounds.high)))))
    if span < TINY:
        return ()
    place = math.floor(math.log10(span))
    place -= span < 3 * float(f"1e{place}")
    if column.step is not None:
        # Every width is then a multiple of the steps, which are powers of ten.
        place = max(place, round(math.log10(column.step)))
    doubled = [float(f"{2**i}e{place}") for i in range(6)]
    parts = [float(f"{digit}e{place - down}") for down in (1, 2, 3) for digit in (5, 1)]
    widths = sorted(width for width in (*doubled, *parts) if least <= width < span and width > (column.step or 0.0))
    return tuple(widths)


def leaf_share(column: Column) -> float:
    """The share of the domain that one value is: one leaf of the hierarchy, one step of a grid, nothing of a continuum."""
    if isinstance(column.hierarchy, FileTree):
        return 1 / len(column.hierarchy.rows)
    if isinstance(column.domain, Levels):
        return 1 / max(len(column.domain.levels), 1)
    width = _span(column).high - _span(column).low
    return 1.0 if width <= 0 else (column.step or 0.0) / (width + (column.step or 0.0))


def _span(column: Column) -> Bounds:
    """The bounds that levels are cut from; those that were read off the rows are rounded outwards.

    An end of a range that is released must not be the age of the oldest person, whose row may have been suppressed, nor lead to
    it: numbers are rounded to the first of 1, 2, 10, 20, 100, ... that is as wide as their whole range.
    """
    bounds = column.bounds
    if not bounds.observed:
        return bounds
    if column.kind is Kind.DATE:
        low, high = (_floor(datetime.fromtimestamp(end, UTC), "decade") for end in (bounds.low, bounds.high))
        ends = low.timestamp(), high.replace(year=min(high.year + 10, MAXYEAR)).timestamp() - (column.step or 1)
    else:
        whole = _round_widths(column)[-1]
        ends = math.floor(bounds.low / whole) * whole, (math.floor(bounds.high / whole) + 1) * whole - (column.step or 0.0)
    return Bounds(min(ends[0], bounds.low), max(ends[1], bounds.high), observed=True)


def _round_widths(column: Column) -> tuple[float, ...]:
    """The first of 1, 2, 10, 20, 100, ... that is as wide as an observed range, and parts of it that nest, in some 1,000 leaves.

    Parts are those that people use: 20, 10, 5 and 1 of 100, or of 20. Of the range they give away no more than the whole does.
    """
    bounds, step = column.bounds, column.step or 0.0
    # Below the spacing of floats there is nothing to distinguish.
    finest = 1000 * float(np.spacing(max(abs(bounds.low), abs(bounds.high))))
    span = max((bounds.high - bounds.low) or 1.0, step, finest)
    place = 2 * math.floor(math.log10(span)) - 1
    while _round(place) < span:
        place += 1
    whole = _round(place)
    parts = (1, 5, 10, 20, 100, 200, 1000) if place % 2 == 0 else (1, 2, 4, 20, 40, 200, 400)
    # Divided and not multiplied: 0.1 is not three times 0.0333...
    widths = sorted(float(f"{whole / part:.12g}") for part in parts)
    return tuple(width for width in widths if width >= step) or (whole,)


def _round(place: int) -> float:
    """The numbers 1, 2, 10, 20, 100, ... by their places 0, 1, 2, ..., and 0.2, 0.1, ... below."""
    return float(f"{1 + place % 2}e{place // 2}")


def uncovered(column: Column, levels: Iterable[str]) -> list[str]:
    """Which of these values a file hierarchy has no line for."""
    if not isinstance(column.hierarchy, FileTree):
        return []
    known = {row[0] for row in column.hierarchy.rows}
    if column.kind in NUMBERS:
        numbers = {column.number(leaf) for leaf in known if is_number(column, leaf)}
        return [value for value in levels if column.number(value) not in numbers]
    return [value for value in levels if value not in known]


def read_cell(column: Column, text: str) -> Cell:
    """Read a generalized value: ``*``, a label of the hierarchy, a range, or a set; ValueError if it is none."""
    text = text.strip()
    if text == ANY_TEXT:
        return ANYTHING
    if isinstance(column.hierarchy, FileTree) and text in column.hierarchy.widest:
        return _leaf_cell(column, text, column.hierarchy.widest[text])
    if column.kind in NUMBERS:
        return Cell(text, _read_interval(column, text))
    if isinstance(column.base, Levels):
        return Cell(text, _read_members(text, column.base))
    raise ValueError("not a generalized value")


def _read_interval(column: Column, text: str) -> Interval:
    parts = None
    if not is_number(column, text):
        parts = split_interval(text, partial(is_number, column)) or parse_interval(text)
    if parts is None:
        point = column.number(text)
        span = Interval(point, point)
    else:
        low, high = (float(p) if p.endswith("inf") else column.number(p) for p in parts[:2])
        span = Interval(low, high, *parts[2:])
        span = span.closed(column.step) if column.step is not None else span
    if isinstance(column.base, Bounds) and (span.high < column.base.low or span.low > column.base.high):
        raise ValueError("outside the domain")
    return span


def _read_members(text: str, base: Levels) -> frozenset[str]:
    if text in base.index:
        return frozenset({text})
    members = parse_set(text)
    if members is None and text.endswith(ANY_TEXT):
        # One star masks the rest; where no level has the other stars in it, they mask one character each.
        prefixes = (text.removesuffix(ANY_TEXT), text.rstrip(ANY_TEXT))
        groups = (frozenset(level for level in base.levels if level.startswith(prefix)) for prefix in prefixes)
        members = next(filter(None, groups), None)
    if not members or not members <= base.index.keys():
        raise ValueError("not a set of levels of the domain")
    return members


def is_number(column: Column, text: str) -> bool:
    """Whether a text is a number (or a date) of the column."""
    try:
        column.number(text)
    except ValueError:
        return False
    return True


def _leaf_cell(column: Column, label: str, leaves: tuple[str, ...]) -> Cell:
    """The cell of a label: the values of the domain under it."""
    inside = [leaf for leaf in leaves if _is_leaf(column, leaf)]
    if not inside:
        raise ValueError("covers no value of the domain")
    if column.kind in NUMBERS:
        numbers = [column.number(leaf) for leaf in inside]
        return Cell(label, Interval(min(numbers), max(numbers)))
    return Cell(label, frozenset(inside))


def _is_leaf(column: Column, leaf: str) -> bool:
    """Whether a line of a hierarchy file is about a value of the domain."""
    base = column.base
    if isinstance(base, Levels):
        return leaf in base.index
    if column.kind in NUMBERS:
        return is_number(column, leaf) and (base is None or base.low <= column.number(leaf) <= base.high)
    return True


def _file_levels(tree: FileTree, column: Column) -> list[Level]:
    numeric = column.kind in NUMBERS
    rows = [row for row in tree.rows if _is_leaf(column, row[0])]
    if not rows:
        return []
    if numeric:
        leaves = np.array([column.number(row[0]) for row in rows], dtype=np.float64)
    else:
        index = {level: code for code, level in enumerate(column.levels)}
        leaves = np.array([index[row[0]] for row in rows], dtype=np.float64)
    order = np.argsort(leaves, kind="stable")
    faults, levels = [], []
    # The last level of the file, whatever its label, is ``*``.
    for depth, groups in enumerate(FileTree(tree.path, tuple(rows)).groups[:-1], 1):
        labels = {label: code for code, label in enumerate(groups)}
        codes = np.array([labels[rows[i][depth]] for i in order], dtype=np.int32)
        if numeric:
            faults += _runs_only(codes, list(groups), depth, tree.path)
        cells = tuple(_leaf_cell(column, label, under) for label, under in groups.items())
        # A label weighs as much as it has lines in the file: what a cell hides does not depend on who is in the table.
        shares = np.array([len(tree.groups[depth - 1][label]) for label in groups]) / len(tree.rows)
        levels.append(Level(cells, leaves[order], codes, False, shares))
    if faults:
        raise InputError(faults)
    return levels


def _runs_only(codes: NDArray[np.int32], labels: list[str], depth: int, path: str) -> list[Fault]:
    starts = codes[np.flatnonzero(np.diff(codes, prepend=-1))]
    repeated = {labels[c] for c in starts[np.flatnonzero(np.bincount(starts)[starts] > 1)]}
    reason = "does not cover consecutive numbers"
    return [Fault(f"hierarchy {path}", f"{label!r} on level {depth} {reason}") for label in sorted(repeated)]


def _interval_level(column: Column, cuts: Floats) -> Level:
    bounds = _span(column)
    ends = np.append(cuts[1:], bounds.high)
    spans = [Interval(a, b, False, i < len(cuts) - 1) for i, (a, b) in enumerate(zip(cuts, ends, strict=True))]
    cells = tuple(column.interval_cell(span) for span in spans)
    step = column.step or 0.0
    widths = np.array([b - a + (step if i == len(cuts) - 1 else 0.0) for i, (a, b) in enumerate(zip(cuts, ends, strict=True))])
    total = bounds.high - bounds.low + step
    shares = widths / total if total else np.ones(len(cuts))
    return Level(cells, cuts, np.arange(len(cuts), dtype=np.int32), True, shares)


def _cuts(column: Column, width: float) -> Floats:
    bounds = _span(column)
    count = max(1, int(np.ceil((bounds.high - bounds.low + (column.step or 0.0)) / width - 1e-12)))
    cuts = bounds.low + width * np.arange(count)
    if column.decimals is not None:
        # 0.1 + 6 * 0.1 is a little above 0.7, and the value 0.7 would fall below its own cut.
        cuts = np.round(cuts, column.decimals + 6)
    return np.asarray(cuts[cuts <= bounds.high], dtype=np.float64)


def _round_cuts(column: Column, widths: tuple[float, ...]) -> list[Floats]:
    """For each width the lower ends of its intervals: multiples of it, and the lower bound of the domain before the first.

    Those of wide intervals are taken from those of the narrowest, so that the same end is the same number on every level. What
    would be left of less than a quarter of a width at either end of the domain goes to its neighbour (120 is among 115-120, and
    not alone), on all wider levels too, so that they nest.
    """
    bounds, narrow = _span(column), widths[0]
    first, last = (math.floor(end / narrow + 1e-9) for end in (bounds.low, bounds.high))
    places = np.arange(first, last + 1)
    # 6 x 0.05 is a little above 0.3; 6 / 20 is not.
    ends = places / round(1 / narrow) if narrow < 1 else places * narrow
    ends[0] = bounds.low
    left, right = ends - bounds.low, bounds.high - ends + (column.step or 0.0)
    return [
        np.asarray(
            ends[(places % round(width / narrow) == 0) & (left >= width / 4) & (right >= width / 4) | (places == first)],
            dtype=np.float64,
        )
        for width in widths
    ]


def _calendar(column: Column, unit: str) -> Floats:
    bounds = _span(column)
    first = _floor(datetime.fromtimestamp(bounds.low, UTC), unit)
    if unit == "week":
        starts = np.arange(first.timestamp(), bounds.high + 1, 7 * DAY)
    else:
        months = {"month": 1, "quarter": 3, "year": 12, "5 years": 60, "decade": 120}[unit]
        stops = []
        year, month = first.year, first.month
        while year <= MAXYEAR and (moment := datetime(year, month, 1, tzinfo=UTC).timestamp()) <= bounds.high:
            stops.append(moment)
            year, month = year + (month - 1 + months) // 12, (month - 1 + months) % 12 + 1
        starts = np.array(stops)
    starts[0] = max(starts[0], bounds.low)
    if column.format is not None:
        # A format such as %Y cannot write every month: a cell begins where a value can lie.
        starts = starts[[i == 0 or column.number(column.write(start)) == start for i, start in enumerate(starts)]]
    return np.asarray(starts, dtype=np.float64)


def _floor(moment: datetime, unit: str) -> datetime:
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "week":
        return datetime.fromtimestamp(day.timestamp() - DAY * day.weekday(), UTC)
    month = {"month": day.month, "quarter": (day.month - 1) // 3 * 3 + 1}.get(unit, 1)
    length = {"decade": 10, "5 years": 5}.get(unit, 1)
    year = day.year // length * length
    return day.replace(year=max(year, 1), month=month, day=1)


def _prefix_level(column: Column, length: int) -> Level:
    groups: dict[str, list[int]] = {}
    for code, level in enumerate(column.levels):
        groups.setdefault(level[:length], []).append(code)
    codes = np.empty(len(column.levels), np.int32)
    for group, members in enumerate(groups.values()):
        codes[members] = group
    cells = tuple(
        Cell(
            prefix + "*" if any(len(column.levels[m]) > length for m in members) else prefix,
            frozenset(column.levels[m] for m in members),
        )
        for prefix, members in groups.items()
    )
    shares = np.bincount(codes, minlength=len(groups)) / len(codes)
    return Level(cells, np.arange(len(codes), dtype=np.float64), codes, False, shares)


def _runs(column: Column) -> list[Level]:
    levels, n, run = [], len(column.levels), 2
    while run < n:
        codes = (np.arange(n) // run).astype(np.int32)
        cells = tuple(column.set_cell(frozenset(column.levels[g * run : (g + 1) * run])) for g in range(codes[-1] + 1))
        levels.append(Level(cells, np.arange(n, dtype=np.float64), codes, False, np.bincount(codes) / n))
        run *= 2
    return levels
