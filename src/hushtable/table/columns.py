"""What a column is: a kind, a role, and a domain that is a public declaration.

Every column is one numpy array, and missing values have one code per kind:

=========  ==========================  =======================
kind       array                       missing
=========  ==========================  =======================
category   int32 codes into the levels  -1
ordinal    int32 codes, in order        -1
integer    int64                        the smallest int64
real       float64                      NaN
date       int64 seconds since 1970     the smallest int64
text, key  int32 codes into the table   -1
=========  ==========================  =======================

A generalized column of any kind is int32 codes into the cells of its domain, -1 for missing.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np

from hushtable.errors import InputError
from hushtable.table.arrays import Array, Floats, Mask
from hushtable.table.cell import ANY_TEXT, Cell, Interval, set_text
from hushtable.table.code_list import Dependency
from hushtable.table.hierarchy import Hierarchy
from hushtable.table.numbers import number_format

MISSING_CODE = -1
MISSING_INTEGER = int(np.iinfo(np.int64).min)
DAY = 86_400
EXACT = 2**53
"""Whole numbers up to here are exact as floats; no mean or draw can be trusted with longer ones."""


_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"([-+]?\d+)(?:\.0*)?", re.ASCII)


class Kind(StrEnum):
    """What the values are."""

    CATEGORY = "category"
    ORDINAL = "ordinal"
    INTEGER = "integer"
    REAL = "real"
    DATE = "date"
    TEXT = "text"
    KEY = "key"


class Role(StrEnum):
    """What a value may give away: who (identifier, quasi), what is to be kept private (secret), or neither."""

    IDENTIFIER = "identifier"
    QUASI = "quasi"
    SECRET = "secret"  # noqa: S105 - a role, not a password
    TARGET = "target"
    PLAIN = "plain"


class Facet(StrEnum):
    """What a schema says of a column: each facet is a person's declaration, or was read off the rows."""

    KIND = "kind"
    ROLE = "role"
    DOMAIN = "domain"
    MISSING = "missing"
    REQUIRED = "required"
    DECIMALS = "decimals"
    FORMAT = "format"
    HIERARCHY = "hierarchy"
    DETERMINED = "determined_by"


DRAFTED = frozenset(Facet) - {Facet.DOMAIN}
"""The facets that a drafter reads off the rows beside the domain, which carries a mark of its own."""

NUMBERS = frozenset({Kind.INTEGER, Kind.REAL, Kind.DATE})
CODED = frozenset({Kind.CATEGORY, Kind.ORDINAL})
FREE = frozenset({Kind.TEXT, Kind.KEY})


@dataclass(frozen=True)
class Levels:
    """The values a category may take, in order for an ordinal; ``observed`` if read off the rows."""

    levels: tuple[str, ...]
    observed: bool = False

    @cached_property
    def index(self) -> dict[str, int]:
        """Level to code."""
        return {level: code for code, level in enumerate(self.levels)}


@dataclass(frozen=True)
class Bounds:
    """The least and the greatest value; ``observed`` if read off the rows."""

    low: float
    high: float
    observed: bool = False


@dataclass(frozen=True)
class Cells:
    """The generalized values that a released column holds; ``base`` is the domain they generalize."""

    cells: tuple[Cell, ...]
    base: Levels | Bounds | None = None

    @property
    def observed(self) -> bool:
        """Whether the domain underneath was read off the rows."""
        return self.base is None or self.base.observed

    @cached_property
    def index(self) -> dict[str, int]:
        """Text to code."""
        return {cell.text: code for code, cell in enumerate(self.cells)}


Domain = Levels | Bounds | Cells


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of a schema. All of it is public: nothing here may be read off the rows unmarked."""

    name: str
    kind: Kind
    role: Role = Role.PLAIN
    domain: Domain | None = None
    """Levels or bounds; None until the rows are read (and then observed), always None for text and key."""
    missing: tuple[str, ...] = ()
    """Codes that mean a missing value here, beside those of the schema."""
    required: bool = False
    """Declared never to be missing: the domain then has no cell for it."""
    hierarchy: Hierarchy | None = None
    decimals: int | None = None
    """Digits after the point of a real column: values are read and written with that many."""
    format: str | None = None
    """How values are written. A date: strftime letters; when absent an ISO 8601 day, without a time. A number: the number 1234.56
    as it would stand here (``1.234,56``, ``1 234,56 €``); when absent with a point and without groups."""
    determined_by: Dependency | None = None
    """The column of which this one is a function, with the code list that says how (``table.code_list``)."""
    drafted: frozenset[Facet] = frozenset()
    """The facets beside the domain that were read off the rows."""

    def __post_init__(self) -> None:
        """Check that the domain fits the kind."""
        levels = isinstance(self.domain, Levels)
        bounds = isinstance(self.domain, Bounds)
        if levels and self.kind not in CODED:
            raise ValueError(f"a domain of levels does not fit kind {self.kind}")
        if bounds and self.kind not in NUMBERS:
            raise ValueError(f"a domain of bounds does not fit kind {self.kind}")
        if self.format is not None and self.kind in (Kind.INTEGER, Kind.REAL):
            number_format(self.format)

    @property
    def generalized(self) -> bool:
        """Whether its values are cells."""
        return isinstance(self.domain, Cells)

    @property
    def base(self) -> Levels | Bounds | None:
        """The domain of the values themselves, generalized or not."""
        return self.domain.base if isinstance(self.domain, Cells) else self.domain

    @property
    def observed(self) -> bool:
        """Whether its domain, if it has one, was read off the rows (or is not known yet)."""
        return self.kind not in FREE and (self.domain is None or self.domain.observed)

    @property
    def undeclared(self) -> frozenset[Facet]:
        """Every facet that was read off the rows: one more row could have made it another."""
        return self.drafted | {Facet.DOMAIN} if self.observed else self.drafted

    def marked(self, facets: frozenset[Facet]) -> Column:
        """The column with these facets, too, marked as read off the rows."""
        column = self._with_mark(observed=True) if Facet.DOMAIN in facets else self
        return replace(column, drafted=self.drafted | (facets & DRAFTED))

    def declared(self, facets: frozenset[Facet] = frozenset(Facet)) -> Column:
        """The column with these facets declared: somebody answers for it that they are public knowledge."""
        column = self._with_mark(observed=False) if Facet.DOMAIN in facets else self
        return replace(column, drafted=self.drafted - facets)

    def _with_mark(self, *, observed: bool) -> Column:
        if self.base is None:
            return self
        base = replace(self.base, observed=observed)
        return replace(self, domain=replace(self.domain, base=base) if isinstance(self.domain, Cells) else base)

    @property
    def numeric(self) -> bool:
        """Whether its array holds numbers, not codes."""
        return self.kind in NUMBERS and not self.generalized

    @property
    def coded(self) -> bool:
        """Whether its array holds codes into levels or cells."""
        return self.generalized or self.kind in CODED

    @property
    def valued(self) -> bool:
        """Whether its array holds single values that can be compared: numbers or levels, neither cells nor free text."""
        return not self.generalized and (self.numeric or self.kind in CODED)

    @property
    def levels(self) -> tuple[str, ...]:
        """The texts its codes stand for."""
        if isinstance(self.domain, Levels):
            return self.domain.levels
        if isinstance(self.domain, Cells):
            return tuple(cell.text for cell in self.domain.cells)
        raise TypeError(f"column {self.name!r} ({self.kind}) has no levels")

    @property
    def bounds(self) -> Bounds:
        """The declared or observed bounds."""
        if isinstance(self.domain, Bounds):
            return self.domain
        raise TypeError(f"column {self.name!r} ({self.kind}) has no bounds")

    @property
    def step(self) -> float | None:
        """The grid its numbers lie on; None for a real without declared decimals."""
        if self.kind is Kind.INTEGER:
            return 1
        if self.kind is Kind.DATE:
            return 1 if self.timed else DAY
        return None if self.decimals is None else 10.0**-self.decimals

    @property
    def timed(self) -> bool:
        """Whether a date carries a time of day."""
        return self.format is not None and any(letter in self.format for letter in ("%H", "%I", "%X", "%c", "%T"))

    @property
    def shows_values(self) -> bool:
        """Whether an error message may quote a value of this column."""
        return self.kind not in FREE and self.role not in (Role.SECRET, Role.IDENTIFIER)

    def is_missing(self, array: Array) -> Mask:
        """Which entries are missing."""
        if self.kind is Kind.REAL and not self.generalized:
            return np.isnan(array.astype(np.float64, copy=False))
        return np.asarray(array == (MISSING_INTEGER if self.numeric else MISSING_CODE), dtype=np.bool_)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of its array."""
        if not self.numeric:
            return np.dtype(np.int32)
        return np.dtype(np.float64 if self.kind is Kind.REAL else np.int64)

    def outside(self, array: Array, words: int | None = None) -> Mask:
        """Which entries are neither missing nor in the domain; ``words`` is the number of texts of a text or key column."""
        if isinstance(self.domain, Bounds):
            strange = (array < self.domain.low) | (array > self.domain.high)
        else:
            strange = (array < 0) | (array >= (len(self.levels) if words is None else words))
        return np.asarray(strange & ~self.is_missing(array), dtype=np.bool_)

    def floats(self, array: Array) -> Floats:
        """The numbers as floats, NaN where missing."""
        values = array.astype(np.float64)
        if self.kind is not Kind.REAL:
            values[self.is_missing(array)] = np.nan
        return values

    def from_floats(self, values: Floats) -> Array:
        """Back from floats: on the grid, inside the bounds, NaN to missing."""
        if self.kind is Kind.INTEGER and isinstance(self.domain, Bounds) and max(-self.domain.low, self.domain.high) > EXACT:
            reason = "holds whole numbers beyond 2^53, with which nothing exact can be computed: declare it a category or a key"
            raise InputError(reason, where=f"column {self.name}")
        missing = np.isnan(values)
        values = np.where(missing, 0.0, values)
        if self.step is not None:
            values = np.round(values / self.step) * self.step
        if isinstance(self.domain, Bounds):
            values = np.clip(values, self.domain.low, self.domain.high)
        if self.kind is Kind.REAL:
            if self.decimals is not None:
                values = np.round(values, self.decimals)
            return np.where(missing, np.nan, values)
        result = values.astype(np.int64)
        if self.kind is Kind.DATE and self.format is not None:
            # Where the format leaves out the day, a date is what its text says.
            written, inverse = np.unique(result, return_inverse=True)
            result = np.array([int(self.number(self.write(v))) for v in written.tolist()], np.int64)[inverse]
        result[missing] = MISSING_INTEGER
        return result

    def number(self, text: str) -> float:
        """Read one number or date as the column writes it; ValueError says what it is not."""
        text = text.strip()
        if self.kind is Kind.DATE:
            return self._seconds(text)
        return self.plain_number(text if self.format is None else number_format(self.format).plain(text))

    def plain_number(self, text: str) -> float:
        """Read one number that is written with a point and without groups, whatever the column's own format."""
        if not _NUMBER.fullmatch(text):
            raise ValueError(f"{text!r} is not a number")
        value = float(text)
        if not math.isfinite(value):
            raise ValueError("not finite")
        if self.kind is Kind.INTEGER:
            if not value.is_integer():
                raise ValueError(f"{text!r} is not a whole number")
            # Not through the float where the digits stand there: above 2^53 it would be another number.
            whole = int(match.group(1)) if (match := _WHOLE.fullmatch(text)) else int(value)
            if abs(whole) >= 2**63:
                raise ValueError("beyond 64 bits")
            return whole
        return (value if self.decimals is None else round(value, self.decimals)) + 0.0

    def _seconds(self, text: str) -> int:
        moment = datetime.strptime(text, self.format) if self.format else datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = math.floor(moment.timestamp())
        if self.format is None and seconds % DAY:
            raise ValueError("a date with a time of day needs a format")
        return seconds

    def write(self, value: float) -> str:
        """Write one number or date the way the column is written."""
        if math.isinf(value):
            return str(float(value))
        if self.kind is Kind.DATE:
            moment = datetime.fromtimestamp(int(value), UTC)
            # strftime writes the year 800 as "800", which strptime does not read.
            form = re.sub(r"%[Y%]", lambda m: f"{moment.year:04d}" if m[0] == "%Y" else "%%", self.format or "%Y-%m-%d")
            return moment.strftime(form)
        if self.kind is Kind.INTEGER:
            plain = str(int(value))
        else:
            plain = repr(float(value)) if self.decimals is None else f"{value:.{self.decimals}f}"
        return plain if self.format is None else number_format(self.format).write(plain)

    def interval_cell(self, span: Interval) -> Cell:
        """A cell for an interval, written in the column's own way."""
        if self.step is not None:
            span = span.closed(self.step)
        low, high = self.write(span.low), self.write(span.high)
        if self.kind is Kind.DATE:
            # A format such as %Y-%m has no day: the ends are what their text says.
            ends = [value if math.isinf(value) else self.number(self.write(value)) for value in (span.low, span.high)]
            span = Interval(ends[0], ends[1])
        if span.low == span.high:
            return Cell(low, span)
        return Cell(f"{'(' if span.open_low else '['}{low}, {high}{')' if span.open_high else ']'}", span)

    def value_cell(self, value: Any) -> Cell:
        """A cell for one value of its array alone."""
        if self.coded:
            return self.set_cell(frozenset([self.levels[int(value)]]))
        return self.interval_cell(Interval(float(value), float(value)))

    def set_cell(self, levels: frozenset[str]) -> Cell:
        """A cell for a set of levels, written in the order of the domain."""
        base = self.base
        order = base.index if isinstance(base, Levels) else {}
        ordered = sorted(levels, key=lambda level: order.get(level, 0))
        bare = len(ordered) == 1 and ordered[0] != ANY_TEXT
        return Cell(ordered[0] if bare else set_text(ordered), levels)

    def generalize(self, cells: tuple[Cell, ...]) -> Column:
        """The same column holding these cells."""
        return replace(self, domain=Cells(cells, self.base))
