"""The shapes of values, each by itself, and the kinds that noisy counts of them speak for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hushtable.encode import kinds
from hushtable.encode.kinds import FORMATS, SHAPES, Kinds, Shapes, shape, voted
from hushtable.table.columns import Bounds, Facet, Kind, Role
from hushtable.table.defaults import plain_text, with_defaults
from hushtable.table.io import read
from hushtable.table.schema import Schema


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("007", "7"), ("35.10000", "35.1"), ("35.0", "35"), ("1e3", "1000"), (" abc ", "abc"), ("3/4/2024", "03/04/2024"),
        ("2024-01-31 07:05", "2024-01-31"), ("2024-01-31T07:05:01", "2024-01-31"), ("-0", "0"), (".5", "0.5"),
        ("12345678901234567890", "1.2345678901234567e+19"),
    ],
)  # fmt: skip
def test_a_cell_is_read_by_itself(text, plain):
    assert plain_text(text) == plain
    assert plain_text(plain) == plain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7", kinds.WHOLE), ("7.5", kinds.NUMBERS), ("abc", kinds.OTHER), ("1e+19", kinds.OTHER),
        *((form, 3 + place) for place, form in enumerate(["2024-01-31", "31.12.2024", "31/12/2024", "12/31/2024", "2024/12/31"])),
        ("03/04/2024", SHAPES - 1), ("99/99/2024", kinds.OTHER),
    ],
)  # fmt: skip
def test_shapes(text, expected):
    assert shape(text) == expected


def counts(**shapes: int) -> np.ndarray:
    actual = np.zeros(SHAPES + 1)
    places = {"other": 0, "whole": 1, "number": 2, "either": SHAPES - 1, "missing": SHAPES}
    for name, count in shapes.items():
        actual[places[name] if name in places else 3 + int(name.removeprefix("f"))] = count
    return actual


@pytest.mark.parametrize(
    ("seen", "kind"),
    [
        (counts(whole=1000, missing=500), (Kind.INTEGER, None)),
        (counts(whole=900, number=100), (Kind.REAL, None)),
        (counts(whole=995, number=5), (Kind.INTEGER, None)),
        (counts(whole=800, other=200), (Kind.CATEGORY, None)),
        (counts(f0=1000), (Kind.DATE, FORMATS[0])),
        (counts(either=900, f3=90), (Kind.DATE, "%m/%d/%Y")),
        (counts(either=900, f2=90), (Kind.DATE, "%d/%m/%Y")),
        (counts(whole=100), None),
    ],
)
def test_the_vote(seen, kind):
    assert voted("x", seen, 10.0) == kind


def test_a_code_by_its_name_is_no_number():
    assert voted("zip_code", counts(whole=1000), 10.0) == (Kind.CATEGORY, None)


def table():
    rows = {
        "number": ["7", "abc", "8.5", "", "9"],
        "day": ["31/12/2024", "01/02/2024", "x", "12/31/2024", "?"],
        "name": list("abcde"),
    }
    return with_defaults(read(pd.DataFrame(rows)))


def test_defaults_do_not_depend_on_other_rows():
    plain = table()
    assert all(plain.schema[name].kind is Kind.CATEGORY for name in plain.schema.names)
    assert plain.schema["name"].role is Role.IDENTIFIER
    assert plain.schema["number"].role is Role.PLAIN
    assert plain.schema.missing == ()
    assert plain.strings("number").tolist() == ["7", "abc", "8.5", None, "9"]
    assert Shapes("day").answer(plain).sum() == 5
    assert Shapes("day").answer(plain)[-1] == 1


def test_texts_become_numbers_and_days_one_by_one():
    plain = table()
    actual = Kinds(plain.schema, {"number": (Kind.REAL, None), "day": (Kind.DATE, "%d/%m/%Y"), "name": (Kind.CATEGORY, None)})
    cast = actual.apply(plain)
    assert cast.schema["number"].domain == Bounds(-(2**53), 2**53, observed=True)
    np.testing.assert_array_equal(cast.floats("number"), [7, np.nan, 8.5, np.nan, 9])
    assert cast.missing("day").tolist() == [False, False, True, True, True]
    assert cast.strings("day")[:2].tolist() == ["2024-12-31", "2024-02-01"]


def test_only_what_was_drafted_is_put_back():
    schema = Schema.parse(
        "columns: {r: {kind: real, role: target, decimals: 5, domain: [0, 9], observed: [decimals]}, "
        "d: {kind: date, format: '%Y-%m-%d %H:%M', domain: ['2020-01-01 00:00', '2020-12-31 00:00'], observed: [format]}}"
    )
    before = read(pd.DataFrame({"r": ["1.5", "2"], "d": ["2020-02-03 07:05", "2020-02-04 00:00"]}), schema)
    after = with_defaults(before)
    assert after.schema["r"].decimals is None
    assert after.schema["r"].role is Role.TARGET
    assert after.schema["r"].undeclared == {Facet.DECIMALS}
    assert after.strings("d").tolist() == ["2020-02-03", "2020-02-04"]
    declared = before.declared()
    assert with_defaults(declared) is declared


def test_spans_of_time_are_written_the_same_whatever_else_their_column_holds():
    hours = pd.Series(pd.to_timedelta([3, 4, 5], unit="h"))
    texts = [
        read(pd.DataFrame({"x": column, "y": range(len(column))})).strings("x")[:3].tolist() for column in (hours, [*hours, "x"])
    ]
    assert texts[0] == texts[1]
