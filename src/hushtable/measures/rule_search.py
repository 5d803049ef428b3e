"""All rules of a table: a search over pairs of columns that shares what each column needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from hushtable.measures import rule_columns
from hushtable.measures.rule import Follows, Never, Rule
from hushtable.measures.rule_cells import axis
from hushtable.measures.rule_columns import Grouped, dependence, excluded, order
from hushtable.measures.rule_pairs import impossible_pairs, without_broken, without_implied
from hushtable.table.columns import Kind
from hushtable.table.determined import departs
from hushtable.table.rules import Sign
from hushtable.table.table import Table

EXPECTED = 20.0
"""So many rows must be expected by chance where there is none."""
SHARE = 0.001
"""And this share of the rows: what an unrelated release would break in fewer rows is not worth a rule."""
LEVEL = 1e-3
"""And so many that in all but this share of tables no pair of conditions that was looked at would be empty by chance."""
SEARCHED = 2 / 3
"""Rules are found in this share of the rows, and must hold in the others: what only happened to hold often fails there."""
LEVELS = 1.25
"""A rule about a level and a value stands before one of ranges or missing values that is up to so much stronger."""
PAIRS = 5000
"""The most pairs of columns that are looked at; of more, some are drawn at random."""
MOST = 1000
"""The most rules, the strongest first."""


@dataclass(frozen=True)
class Found:
    """The rules of a table, the one that most rows would break by chance first."""

    rules: tuple[Rule, ...]
    pairs: int
    """How many pairs of columns were looked at."""
    of: int
    """How many there are."""


def find_rules(table: Table, names: Sequence[str], rng: np.random.Generator) -> Found:
    """Rules that all rows follow, though many would break them if columns had nothing to do with one another.

    Chance is measured by independent columns: of E expected rows there is none with probability exp(-E) at most. Where one
    person holds several rows, as many more are expected. Rules are found in a part of the rows and must hold in the rest, so that
    fresh rows break hardly any: a true rule is broken by nobody, and one that only happened to hold in n rows is broken by
    about one row in n. Nothing is computed for pairs of rows. What the schema says that a column determines is a rule in any case,
    if all rows follow it.
    """
    shuffled, part = rng.permutation(table.rows), int(SEARCHED * table.rows)
    valued = [name for name in names if table.schema[name].valued and table.schema[name].kind is not Kind.KEY]
    found = _Search(table.take(shuffled[:part]), table.take(shuffled[part:]), valued, rng).found()
    known = [rule_columns.declared(table, name) for name, rows in departs(table).items() if name in names and not rows.any()]
    declared = {(rule.source, rule.column): rule for rule in known if rule.source in names}
    others = [rule for rule in found.rules if not (isinstance(rule, Follows) and (rule.source, rule.column) in declared)]
    return replace(found, rules=tuple(sorted((*declared.values(), *others), key=_strongest)[:MOST]))


class _Search:
    """A search in some rows, with others to try on what was found."""

    def __init__(self, table: Table, rest: Table, names: Sequence[str], rng: np.random.Generator) -> None:
        self.table, self.rest = table, rest
        held = 1.0 if table.persons is None else table.rows / max(len(np.unique(table.persons)), 1)
        self.least = max(EXPECTED, SHARE * table.rows) * held
        self.missing, patterns = rule_columns.together(table, names, self.least)
        self.axes = {name: axis(table, name, missing=name in patterns) for name in names}
        self.groups = {name: Grouped.of(table, name) for name in names}
        self.all = list(combinations(names, 2))
        drawn = np.sort(rng.permutation(len(self.all))[:PAIRS])
        self.pairs = self.all if len(self.all) <= PAIRS else [self.all[i] for i in drawn]
        looked = sum(len(self.axes[a].conditions) * len(self.axes[b].conditions) for a, b in self.pairs)
        self.least = max(self.least, float(np.log(max(looked, 1) / LEVEL)) * held)

    def found(self) -> Found:
        """Every kind of rule; what follows from stronger ones is left out."""
        follows = {pair: self._dependences(*pair) for pair in self.pairs}
        # What is said of a column need not be said of its copy.
        copies = {b for (a, b), rules in follows.items() if len(rules) == 2 and self._alike(a, b)}
        together = [rule for rule in self.missing if self._holds(rule)]
        rules: list[Rule] = list(together)
        combined: list[Never] = []
        for a, b in self.pairs:
            ordered = self._order(a, b)
            rules += [*follows[a, b], *([ordered] if ordered else [])]
            if not follows[a, b] and not copies.intersection((a, b)):
                known = excluded(self.axes[a], self.axes[b], ordered) if ordered else None
                new = impossible_pairs(self.axes[a], self.axes[b], self.least, known)
                combined += [rule for one in new if (rule := without_broken(one, self.table, self.rest))]
        rules += without_implied(self.table, sorted(combined, key=_tellable), together, self.least)
        strongest = sorted((rule for rule in rules if rule.expected >= self.least), key=_strongest)[:MOST]
        scale = (self.table.rows + self.rest.rows) / self.table.rows
        whole = tuple(replace(rule, expected=rule.expected * scale) for rule in strongest)
        return Found(whole, len(self.pairs), len(self.all))

    def _holds(self, rule: Rule) -> bool:
        return not rule.broken(self.rest).any()

    def _alike(self, a: str, b: str) -> bool:
        return len(self.groups[a].starts) == len(self.groups[b].starts)

    def _dependences(self, a: str, b: str) -> list[Follows]:
        """Each of two columns that follows from the other."""
        rules = [dependence(self.table, self.groups[x], self.groups[y], self.least) for x, y in ((a, b), (b, a))]
        return [rule for rule in rules if rule is not None and self._holds(rule)]

    def _order(self, a: str, b: str) -> Never | None:
        columns = [self.axes[name].column for name in (a, b)]
        if not all(column.numeric for column in columns) or len({column.kind is Kind.DATE for column in columns}) > 1:
            return None
        rule = order(self.table, a, b, self.least)
        return rule if rule is not None and self._holds(rule) else None


def _tellable(rule: Never) -> tuple[float, str]:
    """Of two rules that say nearly the same, the one about a level says most to a reader."""
    levels = any(test.sign in (Sign.EQUAL, Sign.AMONG) for test in rule.zeros[0].tests)
    absent = any(test.sign in (Sign.MISSING, Sign.PRESENT) for test in rule.zeros[0].tests)
    return -rule.expected * (LEVELS if levels and not absent else 1.0), rule.text


def _strongest(rule: Rule) -> tuple[float, str]:
    return -rule.expected, rule.text
