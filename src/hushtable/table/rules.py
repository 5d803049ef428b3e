"""Combinations of values that no row has, written as people write them.

::

    age < 15 and marital in {married, widowed}
    age < 15 and income is not missing
    admission > discharge

Each is a list of tests joined by ``and``; a row breaks it if it meets all of them (``table.broken``). A test compares a column
with a value, a set of values or another column, or asks whether its value is missing; no other test is met by a missing value.
Names and values stand in double quotes where they hold signs, commas or braces, or words of this language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from hushtable.errors import Fault
from hushtable.table.columns import CODED, FREE, Column, Kind, Levels


class Sign(StrEnum):
    """How a column is compared."""

    BELOW = "<"
    AT_MOST = "<="
    ABOVE = ">"
    AT_LEAST = ">="
    EQUAL = "="
    UNEQUAL = "!="
    AMONG = "in"
    MISSING = "is missing"
    PRESENT = "is not missing"


IMPOSSIBLE = "that no record is: "
"""What a card says before a combination that its models never draw, among what is public."""
ORDER = frozenset({Sign.BELOW, Sign.AT_MOST, Sign.ABOVE, Sign.AT_LEAST})
_SIGNS = {**{str(sign): sign for sign in Sign}, "==": Sign.EQUAL, "≤": Sign.AT_MOST, "≥": Sign.AT_LEAST, "≠": Sign.UNEQUAL}
_WORDS = frozenset({"and", "in", "is"})
_TOKEN = re.compile(
    r'\s*(?:(?P<quoted>"(?:[^"\\]|\\.)*")|(?P<sign><=|>=|!=|==|[<>=≤≥≠])|(?P<mark>[{},])|(?P<word>[^\s<>=!≤≥≠{},"]+))'
)
_BARE = re.compile(r"[^\W_][\w.+/%:-]*(?: [\w.+/%:-]+)*|[-+]?\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Comparison:
    """One comparison: of a column with values (as they are written in a file), with another column, or with nothing."""

    column: str
    sign: Sign
    values: tuple[str, ...] = ()
    other: str = ""

    def __str__(self) -> str:
        """As it is read."""
        if self.sign in (Sign.MISSING, Sign.PRESENT):
            return f"{_quote(self.column)} {self.sign}"
        values = ", ".join(map(_quote, self.values))
        right = _quote(self.other) if self.other else values
        return f"{_quote(self.column)} {self.sign} {f'{{{values}}}' if self.sign is Sign.AMONG else right}"


@dataclass(frozen=True)
class Zero:
    """A combination that no row has: a row breaks it if it meets every test. A structural zero of a contingency table."""

    tests: tuple[Comparison, ...]

    @property
    def columns(self) -> frozenset[str]:
        """The columns that it names."""
        return frozenset(name for test in self.tests for name in (test.column, test.other) if name)

    def __str__(self) -> str:
        """As it is read."""
        return " and ".join(map(str, self.tests))


def read_zeros(texts: Sequence[str], columns: Mapping[str, Column], where: str, faults: list[Fault]) -> tuple[Zero, ...]:
    """Every text as a combination; what cannot be read is added to the faults, each text with its reason."""
    zeros = []
    for text in texts:
        try:
            zeros.append(parse_zero(text, columns))
        except ValueError as error:
            faults.append(Fault(where, f"{text!r}: {error}"))
    return tuple(dict.fromkeys(zeros))


def parse_zero(text: str, columns: Mapping[str, Column]) -> Zero:
    """Read one combination; ValueError says what it is not.

    What stands on the right without quotation marks is a value of the column if it can be one, else the name of a column. Where
    levels were read off the rows, or are not known yet, any text may be one.
    """
    reader = Reader(tokens(text), columns)
    tests = [reader.test()]
    while reader.rest:
        reader.take("word", "and", "expected 'and' between two tests")
        tests.append(reader.test())
    return Zero(tuple(tests))


def tokens(text: str) -> list[tuple[str, str]]:
    """The words, signs, marks and quoted texts of a text, each with its kind; ValueError where it cannot be read."""
    tokens, at = [], 0
    text = text.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"cannot read {text[at : at + 20]!r}")
        tokens.append((str(match.lastgroup), str(match[str(match.lastgroup)])))
        at = match.end()
    return tokens


class Reader:
    """Takes tests from the front of a list of tokens."""

    def __init__(self, tokens: list[tuple[str, str]], columns: Mapping[str, Column]) -> None:
        self.rest, self.columns = tokens, columns

    def test(self) -> Comparison:
        """The next test."""
        name, _ = self.operand("a column")
        if name not in self.columns:
            raise ValueError(f"there is no column {name!r}; there are {', '.join(self.columns)}")
        column = self.columns[name]
        if column.kind in FREE:
            raise ValueError(f"{name} is {column.kind}, which is not compared")
        if self.next("word", "is"):
            negated = self.next("word", "not")
            self.take("word", "missing", "expected 'is missing' or 'is not missing'")
            return Comparison(name, Sign.PRESENT if negated else Sign.MISSING)
        if self.next("word", "in"):
            return Comparison(name, Sign.AMONG, self.members(column))
        if not self.rest or self.rest[0][0] != "sign":
            raise ValueError(f"expected a sign after {name!r}: {', '.join(Sign)}")
        sign = _SIGNS[self.rest.pop(0)[1]]
        if sign in ORDER and column.kind is Kind.CATEGORY:
            raise ValueError(f"{name} is a category and has no order: only =, != and in compare it")
        value, quoted = self.operand(f"a value of {name} or a column")
        if not quoted and value in self.columns and not is_value(column, value):
            _require_comparable(column, self.columns[value], sign)
            return Comparison(name, sign, other=value)
        return Comparison(name, sign, (_value(column, value),))

    def members(self, column: Column) -> tuple[str, ...]:
        """A set of values."""
        self.take("mark", "{", "expected a set, {a, b}, after 'in'")
        values = [_value(column, self.operand(f"a value of {column.name}")[0])]
        while self.next("mark", ","):
            values.append(_value(column, self.operand(f"a value of {column.name}")[0]))
        self.take("mark", "}", "expected '}' at the end of a set")
        return tuple(dict.fromkeys(values))

    def operand(self, what: str) -> tuple[str, bool]:
        """A name or a value, and whether it stood in quotation marks; words without them belong together up to a sign."""
        if self.rest and self.rest[0][0] == "quoted":
            return re.sub(r"\\(.)", r"\1", self.rest.pop(0)[1][1:-1]), True
        words = []
        while self.rest and self.rest[0][0] == "word" and self.rest[0][1] not in _WORDS:
            words.append(self.rest.pop(0)[1])
        if not words:
            raise ValueError(f"expected {what}" + (f", got {self.rest[0][1]!r}" if self.rest else " at the end"))
        return " ".join(words), False

    def next(self, kind: str, text: str) -> bool:
        """Whether this token comes next; it is then taken."""
        if self.rest and self.rest[0] == (kind, text):
            self.rest.pop(0)
            return True
        return False

    def take(self, kind: str, text: str, otherwise: str) -> None:
        """Take this token, or say what is expected."""
        if not self.next(kind, text):
            raise ValueError(otherwise)


def is_value(column: Column, text: str) -> bool:
    """Whether it is surely a value of the column."""
    if column.kind in CODED:
        return isinstance(column.base, Levels) and text in column.base.index
    try:
        column.number(text)
    except (ValueError, OverflowError):
        return False
    return True


def _value(column: Column, text: str) -> str:
    # Levels that nobody declared are those of the rows at hand: a release has fewer than the rows it was made of.
    open_ = column.kind in CODED and (column.base is None or column.base.observed)
    if open_ or is_value(column, text):
        return text
    what = f"no level of {column.name}" if column.kind in CODED else f"no value of {column.name}, which is {column.kind}"
    raise ValueError(f"{text!r} is {what}, nor the name of a column")


def _require_comparable(one: Column, other: Column, sign: Sign) -> None:
    coded = one.kind in CODED, other.kind in CODED
    dates = one.kind is Kind.DATE, other.kind is Kind.DATE
    if other.kind in FREE or coded[0] != coded[1] or dates[0] != dates[1]:
        raise ValueError(f"{one.name} is {one.kind} and {other.name} is {other.kind}: they cannot be compared")
    if coded[0] and sign in ORDER:
        raise ValueError(f"levels of {one.name} and {other.name} are only equal or not")


def _quote(text: str) -> str:
    if _BARE.fullmatch(text) and not _WORDS.intersection(text.split(" ")):
        return text
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'
