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
FEW_LEVELS = 3
"""Up to so many levels are named even if they are all but one."""
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
        zero = Zero((_joined(one, found[0], counts @ sides[1]), _joined(other, found[1], sides[0] @ counts)))
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


def without_implied(table: Table, rules: Sequence[Never], given: Sequence[Never], least: float) -> list[Never]:
    """Rules, the strongest first, without those that others leave nothing to say.

    A rule says that a and b never meet. Let others say that b never meets c, and that a never meets q, where c and q are conditions
    on one column: whoever has a and b has neither c nor q. If by chance fewer than ``least`` rows have a and b and neither of
    these, the rule follows from the two (no child smokes, and nobody grown up is that small: so nobody that small smokes). The
    weakest are tried first. What is left out follows from what is left, and so does what followed from it. ``given`` are rules
    that stay whatever follows from them.
    """
    implied = _Implied(table, [*rules, *given], least)
    left = list(rules)
    for rule in reversed(rules):
        if implied.follows(rule):
            implied.remove(rule)
            left.remove(rule)
    return left


class _Implied:
    """The rows that meet each condition, eight to a byte, and which conditions never meet."""

    def __init__(self, table: Table, rules: Sequence[Never], least: float) -> None:
        self.table, self.rows, self.least = table, table.rows, least
        self.known: dict[Comparison, tuple[Array, int]] = {}
        self.apart: dict[str, dict[tuple[Comparison, Comparison], str]] = {}
        """For each column: the pairs of a condition on it and one on another column that never meet, and that column."""
        for rule in rules:
            for one, other in self._pairs(rule):
                self.apart.setdefault(one.column, {})[one, other] = other.column

    def remove(self, rule: Never) -> None:
        """Nothing follows from it any more."""
        for one, other in self._pairs(rule):
            self.apart[one.column].pop((one, other), None)

    def follows(self, rule: Never) -> bool:
        """Whether it follows from one or two of the others."""
        a, b = rule.zeros[0].tests
        if any(self._within(a, c) and self._within(b, d) for c, d in self._apart(a.column, b.column) if (c, d) != (a, b)):
            return True
        chance = self._bits(a)[1] * self._bits(b)[1] / self.rows**2
        return any(chance * self._neither(c, q) < self.least for c in self._never(b, rule) for q in self._never(a, rule, c.column))

    def _never(self, test: Comparison, rule: Never, column: str = "") -> list[Comparison]:
        """Conditions on other columns than those of the rule that whatever meets the test never meets."""
        columns = [column] if column else set(self.apart.get(test.column, {}).values()) - rule.zeros[0].columns
        return [other for name in columns for one, other in self._apart(test.column, name) if self._within(test, one)]

    def _apart(self, column: str, other: str) -> list[tuple[Comparison, Comparison]]:
        """The conditions on two columns that never meet."""
        return [pair for pair, name in self.apart.get(column, {}).items() if name == other]

    def _within(self, test: Comparison, wider: Comparison) -> bool:
        """Whether all rows that meet the one condition on a column meet the other."""
        return test == wider or not (self._bits(test)[0] & ~self._bits(wider)[0]).any()

    def _neither(self, one: Comparison, other: Comparison) -> int:
        """How many rows meet neither of two conditions."""
        return self.rows - int(np.bitwise_count(self._bits(one)[0] | self._bits(other)[0]).sum())

    def _bits(self, test: Comparison) -> tuple[Array, int]:
        """The rows that meet it, and how many they are."""
        if test not in self.known:
            met = breaks(self.table, Zero((test,)))
            self.known[test] = np.packbits(met), int(met.sum())
        return self.known[test]

    def _pairs(self, rule: Never) -> Iterator[tuple[Comparison, Comparison]]:
        for zero in rule.zeros:
            one, other = zero.tests
            yield from ((one, other), (other, one))


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


def _joined(axis: Axis, conditions: Integers, counts: Floats) -> Comparison:
    """One condition, or several levels as a set: all but one, if no row has a level that is not named, as those that are not it.

    ``counts`` are the rows of each cell that meet the condition on the other column.
    """
    chosen: list[Comparison] = [axis.conditions[int(i)] for i in conditions]
    if len(chosen) == 1:
        return chosen[0]
    others = [axis.conditions[i] for i in np.setdiff1d(np.flatnonzero(axis.level), conditions).tolist()]
    if len(others) == 1 and len(chosen) > FEW_LEVELS and counts[-1] == 0:
        return Comparison(axis.name, Sign.UNEQUAL, others[0].values)
    return Comparison(axis.name, Sign.AMONG, tuple(value for condition in chosen for value in condition.values))
