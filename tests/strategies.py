"""Hypothesis strategies for schemas, columns and the rows they allow: all kinds, and the odd texts that real files hold."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import strategies as st

from hushtable.table.cell import ANYTHING, Interval
from hushtable.table.columns import CODED, DAY, NUMBERS, Bounds, Column, Kind, Levels, Role
from hushtable.table.hierarchy import DATE_UNITS, DateTree, IntervalTree, PrefixTree
from hushtable.table.schema import Schema

ODD = (
    *(
        "no",
        "yes",
        "null",
        "~",
        "true",
        "1e5",
        "0x1F",
        "007",
        "1_000",
        "-",
        "- a",
        "-1",
        "<<",
        "=",
        "...",
        "---",
        "*",
        "&a",
        "!t",
        "?",
    ),
    *(
        "a: b",
        "a #b",
        "#",
        "'",
        '"',
        '"a"',
        "a\nb",
        "a\r\nb",
        "a\tb",
        "{a b}",
        "[1, 2]",
        "a, b",
        "%d",
        "@x",
        "`",
        "|",
        ">",
        ">50K",
    ),
    *(
        "é",
        "日本",
        "a\u2028b",
        "\u00a0x",
        "a\u0085b",
        "\ufeff",
        "a\\nb",
        "\x00",
        "🙂",
        "  a  b",
        "2020-01-01",
        "12:30",
        "1,5",
        "missing",
    ),
)
FORMATS = (None, "%d.%m.%Y", "%Y-%m", "%Y", "%Y-%m-%d %H:%M:%S", "%b %d, %Y", "%d/%m/%Y %H:%M")

# No lone surrogates: a text of a UTF-8 file cannot hold them.
plain_texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
texts = st.sampled_from(ODD) | plain_texts
values = texts.map(str.strip).filter(bool)
"""Texts as they stand in rows, where surrounding blanks do not count and an empty text is a missing value."""
names = texts | st.just("")


@st.composite
def domains(draw: st.DrawFn, kind: Kind, decimals: int | None = None, form: str | None = None) -> Levels | Bounds | None:
    """A declared or observed domain that fits the kind, or none."""
    observed = draw(st.booleans())
    if kind in CODED:
        return Levels(tuple(draw(st.lists(values, min_size=1, max_size=6, unique=True))), observed)
    if kind not in NUMBERS:
        return None
    if kind is Kind.INTEGER:
        ends = st.integers(-(2**63) + 1, 2**63 - 1) | st.integers(-100, 100)
    elif kind is Kind.DATE:
        ends = moments(form)
    else:
        ends = st.floats(-1e6, 1e6).map(lambda x: (x if decimals is None else round(x, decimals)) + 0.0)
    low, high = sorted(draw(st.tuples(ends, ends)))
    return Bounds(low, high, observed)


def moments(form: str | None) -> st.SearchStrategy[int]:
    """Seconds since 1970 that a date format can write."""
    column = Column(name="d", kind=Kind.DATE, format=form)
    first, last = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) for year in (1, 9999))
    seconds = st.integers(first, last) if column.timed else st.integers(first // DAY, last // DAY).map(lambda day: day * DAY)
    return seconds.map(lambda s: int(column.number(column.write(s))))


@st.composite
def columns(draw: st.DrawFn, name: str) -> Column:
    """A column of any kind, role and domain."""
    kind = draw(st.sampled_from(Kind))
    decimals = draw(st.none() | st.integers(0, 6)) if kind is Kind.REAL else None
    form = draw(st.sampled_from(FORMATS)) if kind is Kind.DATE else None
    domain = draw(st.none() | domains(kind, decimals, form))
    column = Column(
        name=name,
        kind=kind,
        role=draw(st.sampled_from(Role)),
        domain=domain,
        missing=tuple(draw(st.lists(texts, max_size=2))),
        required=draw(st.booleans()),
        hierarchy=draw(hierarchies(kind)),
        decimals=decimals,
        format=form,
    )
    if domain is not None and draw(st.booleans()):
        return column.generalize(draw(cells(column)))
    return column


def hierarchies(kind: Kind) -> st.SearchStrategy[object]:
    """A hierarchy that suits the kind, or none."""
    if kind in CODED:
        return st.none() | st.sampled_from([PrefixTree((4, 3, 1)), PrefixTree((1,))])
    if kind is Kind.DATE:
        grown = st.lists(st.sampled_from(DATE_UNITS[1:]), min_size=1, unique=True).map(
            lambda units: DateTree(tuple(sorted(units, key=DATE_UNITS.index)))
        )
        return st.none() | grown | st.just(DateTree(("week",)))
    if kind in NUMBERS:
        width = st.floats(1, 1e7) | st.sampled_from([1234567.0, 2.5, 1.0])
        ratios = st.lists(st.sampled_from([2, 5, 10]), max_size=3)
        return st.none() | st.builds(_widths, width, ratios)
    return st.none()


def _widths(first: float, ratios: list[int]) -> IntervalTree:
    widths = [first]
    for ratio in ratios:
        widths.append(widths[-1] * ratio)
    return IntervalTree(tuple(widths))


@st.composite
def cells(draw: st.DrawFn, column: Column) -> tuple[object, ...]:
    """Distinct generalized values of a column, as the column itself writes them."""
    domain = column.base
    if isinstance(domain, Levels):
        subsets = draw(st.lists(st.frozensets(st.sampled_from(domain.levels), min_size=1), min_size=1, max_size=4))
        collected = [column.set_cell(subset) for subset in subsets]
    else:
        assert isinstance(domain, Bounds)
        if column.kind is Kind.REAL:
            points = st.floats(domain.low, domain.high).map(lambda x: column.number(repr(x)))
        elif column.kind is Kind.DATE:
            points = st.integers(int(domain.low), int(domain.high)).map(lambda s: column.number(column.write(s - s % column.step)))
        else:
            points = st.integers(int(domain.low), int(domain.high))
        pairs = draw(st.lists(st.tuples(points, points), min_size=1, max_size=4))
        collected = [column.interval_cell(Interval(min(pair), max(pair))) for pair in pairs]
    return (*{cell.text: cell for cell in collected}.values(), *draw(st.sampled_from([(), (ANYTHING,)])))


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    """A schema of one to five columns."""
    drawn = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    return Schema(tuple(draw(columns(name)) for name in drawn), tuple(draw(st.lists(texts, max_size=2))))
