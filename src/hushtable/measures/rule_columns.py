"""Rules of whole columns: one that follows from another, two that are ordered or equal, values that are missing together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushtable.measures.rule import Follows, Kind, Never
from hushtable.measures.rule_cells import Axis
from hushtable.measures.safe_histogram import FEW
from hushtable.table.arrays import Floats, Integers, Mask
from hushtable.table.determined import most_common
from hushtable.table.rules import Comparison, Sign, Zero
from hushtable.table.table import Table

NAMED = 6
"""Of more columns that are missing together so many are named."""
FIRST = 2000
"""So many rows are looked at before all of them: most pairs of columns follow no rule, and show it soon."""
COMMON = 0.5
"""A column follows from another only if this share of the rows has a value of the other that ``FEW`` rows have at least."""
FAR = 0.1
"""Columns that are hardly ever equal are ordered for a reason if by chance this share of the rows would break the order."""
STEPS = 0.5
"""Where a number is cut into fewer ranges than this share of its values, each of one value of the other column, ranges say it."""


@dataclass(frozen=True, eq=False)
class Grouped:
    """A column as groups of equal values; missing is a value. Rows are sorted only where a rule seems to hold."""

    name: str
    codes: Integers
    numeric: bool

    @classmethod
    def of(cls, table: Table, name: str) -> Grouped:
        """Of one column of a table."""
        numeric, array = table.schema[name].numeric, table[name]
        codes = np.unique(array, return_inverse=True)[1] if numeric else array.astype(np.int64) + 1
        return cls(name, codes.astype(np.int64, copy=False), numeric)

    @cached_property
    def order(self) -> Integers:
        """The rows, those of a group beside one another."""
        return np.argsort(self.codes, kind="stable")

    @cached_property
    def starts(self) -> Integers:
        """Where each group begins in them."""
        return np.flatnonzero(np.diff(self.codes[self.order], prepend=-1))

    @property
    def sizes(self) -> Integers:
        """Rows of each group."""
        return np.diff(self.starts, append=len(self.codes))


def together(table: Table, names: Sequence[str], least: float) -> tuple[list[Never], list[str]]:
    """Columns that are missing in the same rows, all of one pattern in one rule, and the first column of each pattern.

    Only what is missing often enough that chance would seldom put it into the same rows counts.
    """
    patterns: dict[bytes, list[str]] = {}
    for name in names:
        missing = table.missing(name)
        if 0 < missing.sum() < table.rows:
            patterns.setdefault(missing.tobytes(), []).append(name)
    rules = []
    for first, *others in patterns.values():
        count = int(table.missing(first).sum())
        expected = 2 * count * (table.rows - count) / table.rows
        if others and expected >= least:
            signs = [(Sign.MISSING, Sign.PRESENT), (Sign.PRESENT, Sign.MISSING)]
            zeros = tuple(Zero((Comparison(first, a), Comparison(name, b))) for name in others for a, b in signs)
            rules.append(Never(kind=Kind.TOGETHER, expected=expected, zeros=zeros, words=_some_missing([first, *others])))
    return rules, [group[0] for group in patterns.values()]


def _some_missing(names: Sequence[str]) -> str:
    if len(names) == 2:
        return f"only one of {names[0]} and {names[1]} is missing"
    rest = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"only some of {', '.join(names[:NAMED])}{rest} are missing"


def dependence(table: Table, one: Grouped, other: Grouped, least: float) -> Follows | None:
    """The rule that the other column follows from the one, if it does and chance does not explain it.

    A column of nearly unique values determines everything and says nothing: most rows must share their value with others.
    """
    first = slice(0, FIRST)
    if not _single(one.codes[first], other.codes[first]):
        return None
    sizes = one.sizes
    common = sizes >= FEW
    if len(sizes) < 2 or sizes[common].sum() < COMMON * table.rows or len(other.starts) < 2:
        return None
    lined = other.codes[one.order]
    if (np.minimum.reduceat(lined, one.starts) != np.maximum.reduceat(lined, one.starts)).any():
        return None
    shares = other.sizes / table.rows
    expected = float((sizes - 1).sum() * (1 - (shares**2).sum()))
    if expected < least:
        return None
    due = lined[one.starts]
    if one.numeric and 1 + int((np.diff(due) != 0).sum()) < STEPS * len(sizes):
        return None
    rows = one.order[one.starts[common]]
    givens, values = (table.take(rows).strings(name).tolist() for name in (one.name, other.name))
    pairs = tuple(zip(givens, values, strict=True))
    missing = bool(table.missing(other.name).any())
    zeros = tuple(zero for given, value in pairs for zero in _others(one.name, given, other.name, value, missing=missing))
    return Follows(
        kind=Kind.DEPENDENCE, expected=expected, source=one.name, column=other.name, values=pairs, zeros=zeros
    )  # fmt: skip


def declared(table: Table, name: str) -> Follows:
    """The rule that a column is what the schema says that another one determines; of the values that the rows have."""
    by = table.schema[name].determined_by
    assert by is not None
    pairs = tuple((given or None, value or None) for given, value in most_common(table, name, by.source).index.items())
    _, counts = np.unique(table[name], return_counts=True)
    expected = table.rows * float(1 - ((counts / max(table.rows, 1)) ** 2).sum())
    return Follows(kind=Kind.DEPENDENCE, expected=expected, source=by.source, column=name, values=pairs, zeros=())


def order(table: Table, a: str, b: str, least: float) -> Never | None:
    """The rule that one number is never above the other, or that they are equal, if chance does not explain it."""
    one, two = table.floats(a), table.floats(b)
    if _both_ways(one[:FIRST], two[:FIRST]):
        return None
    both = ~np.isnan(one) & ~np.isnan(two)
    one, two = one[both], two[both]
    if not len(one) or _both_ways(one, two):
        return None
    if (one > two).any():
        a, b, one, two = b, a, two, one
    ranked = np.sort(two)
    above = float(np.searchsorted(ranked, one, side="left").sum()) / len(one)
    equal = float(np.searchsorted(ranked, one, side="right").sum()) / len(one) - above
    if (one == two).all():
        return _ordered(a, b, Sign.UNEQUAL, len(one) - equal, least, f"{a} is not {b}")
    if not (one == two).any() and equal >= least:
        return _ordered(a, b, Sign.AT_LEAST, above + equal, max(least, FAR * len(one)), f"{a} is not below {b}")
    # Numbers of different units may be in order everywhere without a reason (hours and euros); those of one touch.
    touching = int(((one == two) & (one != 0)).sum()) >= FEW
    return _ordered(a, b, Sign.ABOVE, above, least if touching else max(least, FAR * len(one)), f"{a} is above {b}")


def excluded(one: Axis, other: Axis, rule: Never) -> Mask:
    """The pairs of cells of two number columns that a rule of their order excludes altogether."""
    test = rule.zeros[0].tests[0]
    lower, upper = (one, other) if test.column == one.name else (other, one)
    (floor, _), (_, ceiling) = _limits(lower), _limits(upper)
    mask = floor[:, None] >= ceiling[None, :]
    if test.sign is Sign.UNEQUAL:
        (_, top), (bottom, _) = _limits(lower), _limits(upper)
        mask |= top[:, None] <= bottom[None, :]
    return mask if lower is one else mask.T


def _limits(axis: Axis) -> tuple[Floats, Floats]:
    """The least value of each cell and the least that is above it; NaN for cells that are no range."""
    rest = [np.nan, np.nan]
    return np.array([-np.inf, *axis.edges, *rest]), np.array([*axis.edges, np.inf, *rest])


def _ordered(a: str, b: str, sign: Sign, expected: float, least: float, words: str) -> Never | None:
    if expected < least:
        return None
    return Never(kind=Kind.ORDER, expected=expected, zeros=(Zero((Comparison(a, sign, other=b),)),), words=words)


def _both_ways(one: Floats, two: Floats) -> bool:
    """Whether either is above the other somewhere."""
    return bool((one < two).any() and (one > two).any())


def _single(one: Integers, other: Integers) -> bool:
    """Whether each value of the one comes with a single value of the other."""
    last = np.zeros(int(one.max(initial=0)) + 1, np.int64)
    last[one] = other
    return bool((last[one] == other).all())


def _others(one: str, given: str | None, other: str, value: str | None, *, missing: bool) -> Iterator[Zero]:
    """That a value comes with any other than its own."""
    first = Comparison(one, Sign.MISSING) if given is None else Comparison(one, Sign.EQUAL, (given,))
    if value is None:
        yield Zero((first, Comparison(other, Sign.PRESENT)))
        return
    yield Zero((first, Comparison(other, Sign.UNEQUAL, (value,))))
    if missing:
        yield Zero((first, Comparison(other, Sign.MISSING)))
