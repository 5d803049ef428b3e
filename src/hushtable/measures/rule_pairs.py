"""Pairs of conditions that no row meets together, though by chance many would."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from hushtable.measures.rule import Kind, Never
from hushtable.measures.rule_cells import Axis
from hushtable.measures.safe_histogram import FEW
from hushtable.table.arrays import Array, Floats, Integers, Mask
from hushtable.table.broken import breaks
from hushtable.table.rules import Comparison, Sign, Zero
from hushtable.table.table import Table

SEVERAL = 12
"""At most so many rules of one pair of columns."""
CORNERS = 3
"""Of two columns of numbers: what is impossible about them is seldom more than a few corners, however finely they are cut."""


def impossible_pairs(one: Axis, other: Axis, least: float, known: Mask | None = None) -> Iterator[Never]:
    """Conditions on two columns that no row meets both of, though at least ``least`` would if the columns were independent.

    Every condition on the one is held against every condition on the other. Of what is impossible the combination that most rows
    would have is a rule, levels put together; then the one that most others would have, until less than ``least`` is left: a rule
    that follows from one that was named is not named again. ``known`` marks pairs of cells that another rule excludes already.

    Every single combination must be expected that often: many that are each too rare to tell would be empty by chance. The limit of
    a range is where at least ``FEW`` rows lie that meet the other condition, or on a coarse grid: it shows nobody's own value.
    """
    rows = len(one.codes)
    pairs = np.bincount(one.codes * other.cells + other.codes, minlength=one.cells * other.cells)
    counts: Floats = pairs.reshape(one.cells, other.cells).astype(np.float64)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / rows
    empty = _both(one, other, counts) == 0
    possible = empty & (_both(one, other, expected) >= least)
    if not possible.any():
        return
    possible &= _shown(one, other, counts) & _shown(other, one, counts.T).T
    left = expected if known is None else np.where(known, 0.0, expected)
    for _ in range(CORNERS if len(one.edges) and len(other.edges) else SEVERAL):
        gain = np.where(possible, _both(one, other, left), 0.0)
        if not (found := _best(one, other, gain)) or gain[np.ix_(*found)].sum() < least:
            return
        sides: list[Mask] = [np.any(a.atoms[chosen], axis=0) for a, chosen in zip((one, other), found, strict=True)]
        region = np.outer(*sides)
        zero = Zero((_joined(one, found[0]), _joined(other, found[1])))
        yield Never(kind=Kind.PAIR, expected=float(expected[region].sum()), zeros=(zero,))
        left = np.where(region, 0.0, left)


def without_broken(rule: Never, table: Table, rest: Table) -> Never | None:
    """The rule without the levels for which other rows break it; None if nothing is left that they do not break."""
    if not rule.broken(rest).any():
        return rule
    one, other = rule.zeros[0].tests
    for test, beside in ((one, other), (other, one)):
        if test.sign is not Sign.AMONG:
            continue
        singles = {value: Comparison(test.column, Sign.EQUAL, (value,)) for value in test.values}
        whole = [value for value, single in singles.items() if not breaks(rest, Zero((single, beside))).any()]
        if whole:
            left = replace(test, values=tuple(whole)) if len(whole) > 1 else singles[whole[0]]
            met = [int(breaks(table, Zero((condition,))).sum()) for condition in (left, beside)]
            zero = Zero((left, beside) if test is one else (beside, left))
            return replace(rule, zeros=(zero,), expected=met[0] * met[1] / table.rows)
    return None


def without_implied(table: Table, rules: Sequence[Never], least: float) -> list[Never]:
    """Rules, the strongest first, without those that stronger ones explain.

    Let a rule say that A and B never meet, and a stronger one that C and D never do, where all rows with B have D as well. Rows
    with A and C cannot have B then. Only of those with A and without C may one expect to have B; if fewer than ``least`` are
    expected, the rule says nothing that is not known (no child smokes, so nobody that small does).
    """
    bits = _Bits(table)
    left: list[Never] = []
    for rule in rules:
        if not any(bits.explains(other, rule, least) for other in left):
            left.append(rule)
    return left


class _Bits:
    """The rows that meet each condition, eight to a byte, found once."""

    def __init__(self, table: Table) -> None:
        self.table, self.rows = table, table.rows
        self.known: dict[Comparison, tuple[Array, int]] = {}

    def of(self, test: Comparison) -> tuple[Array, int]:
        """The rows that meet it, and how many they are."""
        if test not in self.known:
            met = breaks(self.table, Zero((test,)))
            self.known[test] = np.packbits(met), int(met.sum())
        return self.known[test]

    def explains(self, strong: Never, weak: Never, least: float) -> bool:
        """Whether the one rule leaves the other nothing to say."""
        c, d = strong.zeros[0].tests
        a, b = weak.zeros[0].tests
        pairs = [((a, b), (c, d)), ((a, b), (d, c)), ((b, a), (c, d)), ((b, a), (d, c))]
        return any(self._explains(*weak_, *strong_, least) for weak_, strong_ in pairs if weak_[1].column == strong_[1].column)

    def _explains(self, a: Comparison, b: Comparison, c: Comparison, d: Comparison, least: float) -> bool:
        (inner, count), (outer, _) = self.of(b), self.of(d)
        if (inner & ~outer).any():
            return False
        without = int(np.bitwise_count(self.of(a)[0] & ~self.of(c)[0]).sum())
        return without * count / self.rows < least


def _both(one: Axis, other: Axis, cells: Floats) -> Floats:
    """For every pair of conditions the sum over the cells that meet both."""
    return other.sums(one.sums(cells).T).T


def _shown(one: Axis, other: Axis, counts: Floats) -> Mask:
    """Whether the limits of the first column's conditions may be shown beside each condition of the second."""
    beyond = other.sums(counts[np.maximum(one.border, 0)].T).T
    return np.asarray(one.safe[:, None] | (beyond >= FEW), np.bool_)


def _best(one: Axis, other: Axis, gain: Floats) -> tuple[Integers, Integers] | None:
    """The conditions with the largest gain: one of each column, or one with several levels of the other."""
    if not (gain > 0).any():
        return None
    a, b = np.unravel_index(int(gain.argmax()), gain.shape)
    best, found = float(gain[a, b]), (np.array([a]), np.array([b]))
    across = np.where(other.level[None, :], gain, 0.0)
    if (sums := across.sum(axis=1)).max() > best:
        row = int(sums.argmax())
        best, found = float(sums[row]), (np.array([row]), np.flatnonzero(across[row] > 0))
    down = np.where(one.level[:, None], gain, 0.0)
    if (sums := down.sum(axis=0)).max() > best:
        column = int(sums.argmax())
        found = np.flatnonzero(down[:, column] > 0), np.array([column])
    return found


def _joined(axis: Axis, conditions: Integers) -> Comparison:
    """One condition, or several levels as a set."""
    chosen: list[Comparison] = [axis.conditions[int(i)] for i in conditions]
    if len(chosen) == 1:
        return chosen[0]
    return Comparison(axis.name, Sign.AMONG, tuple(value for condition in chosen for value in condition.values))
