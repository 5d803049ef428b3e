"""Public constraints on a row, written as people write them, and rows that keep them.

::

    age in 0..120
    months >= 0
    cigarettes = 0 if smoke = NO
    amount <= 5000 if purpose in {repairs, vacation} and status is not missing

A comparison, or a range of numbers, and after ``if`` the tests under which it is asked for: those of ``table.rules``. A missing
value breaks no constraint, unless it is asked whether it is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hushtable.errors import PlanError
from hushtable.pipeline.possible import only_possible
from hushtable.table.arrays import Array
from hushtable.table.broken import breaks
from hushtable.table.columns import Bounds, Column
from hushtable.table.rules import Comparison, Reader, Sign, Zero, tokens
from hushtable.table.schema import Schema
from hushtable.table.table import Table

_OPPOSITE = {
    Sign.BELOW: Sign.AT_LEAST,
    Sign.AT_LEAST: Sign.BELOW,
    Sign.ABOVE: Sign.AT_MOST,
    Sign.AT_MOST: Sign.ABOVE,
    Sign.EQUAL: Sign.UNEQUAL,
    Sign.UNEQUAL: Sign.EQUAL,
    Sign.MISSING: Sign.PRESENT,
    Sign.PRESENT: Sign.MISSING,
}


@dataclass(frozen=True)
class Constraint:
    """What is asked of a row, and when."""

    text: str
    asked: tuple[Comparison, ...]
    """One comparison, or the two ends of a range; all must hold."""
    tests: tuple[Comparison, ...] = ()
    """It is asked of rows that meet them all."""

    @property
    def zeros(self) -> tuple[Zero, ...]:
        """The combinations that no row has who keeps it."""
        return tuple(Zero((*self.tests, *_opposite(asked))) for asked in self.asked)


def _opposite(asked: Comparison) -> tuple[Comparison, ...]:
    if asked.sign is Sign.AMONG:
        return tuple(Comparison(asked.column, Sign.UNEQUAL, (value,)) for value in asked.values)
    return (Comparison(asked.column, _OPPOSITE[asked.sign], asked.values, asked.other),)


def read_constraints(texts: Sequence[str], schema: Schema, step: str) -> tuple[Constraint, ...]:
    """Every text as a constraint on rows of this schema; one PlanError for all that cannot be read or kept."""
    columns = {column.name: column for column in schema}
    constraints, faults = [], []
    for text in texts:
        try:
            constraints.append(_parse(text, columns))
        except ValueError as error:
            faults.append(f"{text!r}: {error}")
    if faults:
        raise PlanError("\n".join(f"{step}: the constraint {fault}" for fault in faults))
    return tuple(dict.fromkeys(constraints))


def _parse(text: str, columns: Mapping[str, Column]) -> Constraint:
    words = tokens(text)
    cut = words.index(("word", "if")) if ("word", "if") in words else len(words)
    asked = _asked(words[:cut], columns)
    tests = []
    if cut < len(words):
        reader = Reader(words[cut + 1 :], columns)
        tests.append(reader.test())
        while reader.rest:
            reader.take("word", "and", "expected 'and' between two tests")
            tests.append(reader.test())
    for test in (*asked, *tests):
        _require_known(test, columns)
    for one in asked:
        _require_possible(one, columns[one.column])
    return Constraint(text, asked, tuple(tests))


def _asked(words: list[tuple[str, str]], columns: Mapping[str, Column]) -> tuple[Comparison, ...]:
    """One comparison, or the two of ``column in low..high``."""
    if len(words) > 2 and words[-2] == ("word", "in") and ".." in words[-1][1]:
        low, _, high = words[-1][1].partition("..")
        ends = ((">=", low), ("<=", high))
        return tuple(Reader([*words[:-2], ("sign", sign), ("word", end)], columns).test() for sign, end in ends)
    reader = Reader(words, columns)
    asked = reader.test()
    if reader.rest:
        raise ValueError(
            f"expected 'if' or the end, got {reader.rest[0][1]!r}: of two things that are asked for, make two constraints"
        )
    return (asked,)


def _require_known(test: Comparison, columns: Mapping[str, Column]) -> None:
    """Levels that were read off the rows are all that there are for a network."""
    for name in (test.column, test.other):
        if name and columns[name].generalized:
            raise ValueError(f"{name} is generalized, and a constraint is on exact values")
    if test.other and not columns[test.column].numeric:
        raise ValueError(f"only numbers are compared with another column, and {test.column} is {columns[test.column].kind}")
    column = columns[test.column]
    odd = [value for value in test.values if not column.numeric and value not in column.levels]
    if odd:
        raise ValueError(f"{', '.join(map(repr, odd))} is no level of {column.name}; it has {', '.join(column.levels)}")


def _require_possible(asked: Comparison, column: Column) -> None:
    if asked.sign is Sign.MISSING and column.required:
        raise ValueError(f"{column.name} is declared never to be missing")
    if not asked.values or not isinstance(column.domain, Bounds):
        return
    low, high = float(column.domain.low), float(column.domain.high)
    numbers = numbers_of(column, asked)
    holds = {
        Sign.BELOW: low < numbers[0],
        Sign.AT_MOST: low <= numbers[0],
        Sign.ABOVE: high > numbers[0],
        Sign.AT_LEAST: high >= numbers[0],
        Sign.UNEQUAL: low < high or low != numbers[0],
    }
    if not holds.get(asked.sign, any(low <= number <= high for number in numbers)):
        raise ValueError(f"no value of {column.name}, which is declared from {column.write(low)} to {column.write(high)}, keeps it")


def numbers_of(column: Column, test: Comparison) -> list[float]:
    """The values of a test of a number."""
    return [column.number(value) for value in test.values]


def kept(table: Table, constraints: Sequence[Constraint], draw: Callable[[int], Table]) -> tuple[Table, dict[str, Any]]:
    """As many rows as the table has, which keep the constraints, and what became of the others.

    Numbers that break one are put at the nearest that does not, which says nothing about people: constraints are public. Rows that
    still break one are drawn again.
    """
    zeros = [zero for constraint in constraints for zero in constraint.zeros]
    return only_possible(moved(table, constraints), zeros, lambda rows: moved(draw(rows), constraints))


def moved(table: Table, constraints: Sequence[Constraint]) -> Table:
    """The rows, with the numbers that break a constraint where they keep it."""
    for constraint in constraints:
        for asked, zero in zip(constraint.asked, constraint.zeros, strict=True):
            broken = breaks(table, zero)
            column = table.schema[asked.column]
            if not broken.any() or asked.sign is Sign.PRESENT or (not column.numeric and asked.sign is not Sign.MISSING):
                continue
            array = table[asked.column].copy()
            array[broken] = _nearest(table, column, asked)[broken]
            table = Table(table.schema, {**{name: table[name] for name in table.schema.names}, asked.column: array})
    return table


def _nearest(table: Table, column: Column, asked: Comparison) -> Array:
    """For each row the value nearest to its own that keeps what is asked."""
    if asked.sign is Sign.MISSING:
        return column.from_floats(np.full(table.rows, np.nan)) if column.numeric else np.full(table.rows, -1, column.dtype)
    values = table.floats(column.name)
    wanted = table.floats(asked.other)[:, None] if asked.other else np.array(numbers_of(column, asked))[None]
    wanted = np.broadcast_to(wanted, (table.rows, wanted.shape[1]))
    nearest = np.take_along_axis(wanted, np.abs(wanted - values[:, None]).argmin(1)[:, None], 1)[:, 0]
    if asked.sign in (Sign.BELOW, Sign.ABOVE, Sign.UNEQUAL):
        # The next value on the column's grid; where it has none, one a little further.
        step = column.step or 1e-6
        nearest = nearest + (-step if asked.sign is Sign.BELOW else step)
    return column.from_floats(nearest)
