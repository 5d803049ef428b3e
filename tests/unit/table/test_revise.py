"""A column as a person wants it instead: what is said is declared, what is read stays marked, and no value stands in an error."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.errors import InputError
from hushtable.table.columns import DRAFTED, Bounds, Column, Facet, Kind, Levels, Role
from hushtable.table.guess import Words
from hushtable.table.revise import freed, of_kind, of_role, public, reopened, with_bounds, with_levels, with_missing, words_of
from hushtable.table.schema import Schema
from hushtable.table.values import Raw

READ = Levels(("1", "2", "3", "N"), observed=True)
GRADE = Column(name="grade", kind=Kind.CATEGORY, role=Role.QUASI, domain=READ, drafted=DRAFTED)


def words(*some, counts=None):
    return Words("grade", some, np.array(counts or [10] * len(some)), 10 * len(some))


def test_words_beside_numbers_become_missing_codes():
    own = of_kind(GRADE, words("1", "2", "3", "N"), Kind.INTEGER)
    assert (own.kind, own.missing, own.role, own.domain) == (Kind.INTEGER, ("N",), Role.QUASI, None)
    assert Facet.KIND not in own.drafted
    assert {Facet.MISSING, Facet.FORMAT, Facet.ROLE} <= own.drafted
    assert freed(GRADE, words("1", "2", "3", "N")) == own
    assert freed(GRADE, words("2020-01-02", "2020-01-03", "2020-02-03", "n/a")).kind is Kind.DATE


@pytest.mark.parametrize("kind", [Kind.INTEGER, Kind.REAL, Kind.DATE])
def test_what_is_of_another_form_is_counted_and_not_quoted(kind):
    with pytest.raises(InputError) as refused:
        of_kind(GRADE, words("1", "2", "3", "Maria", counts=[9, 9, 9, 1]), kind)
    assert "Maria" not in str(refused.value)
    assert str(refused.value).startswith("column grade: ")
    with pytest.raises(InputError):
        freed(GRADE, words("1", "2", "3", "Maria", counts=[9, 9, 9, 1]))


def test_kinds_are_read_as_they_are_written():
    assert of_kind(GRADE, words("1,5", "2,25", "3,5"), Kind.REAL).format is not None
    assert of_kind(GRADE, words("1.5", "2.25"), Kind.REAL).decimals == 2
    with pytest.raises(InputError):
        of_kind(GRADE, words("1.5", "2.25"), Kind.INTEGER)
    assert of_kind(GRADE, words("high", "low", "medium"), Kind.ORDINAL).domain == Levels(("low", "medium", "high"), observed=True)
    assert of_kind(GRADE, words("10", "9", "x"), Kind.ORDINAL).domain == Levels(("9", "10", "x"), observed=True)
    assert of_kind(GRADE, words("a b"), Kind.TEXT).domain is None
    assert of_kind(GRADE, words("a"), Kind.CATEGORY) is GRADE


def test_missing_codes_leave_a_declared_domain_and_open_a_read_one():
    assert with_missing(GRADE, ["N"]).domain is None
    assert Facet.MISSING not in with_missing(GRADE, ["N"]).drafted
    given = with_levels(GRADE, ["1", "2", "3", "N"])
    assert not given.observed
    assert with_missing(given, ["N"]).domain == Levels(("1", "2", "3"))


def test_domains_are_given_or_refused():
    age = Column(name="age", kind=Kind.INTEGER, domain=Bounds(3, 9, observed=True))
    assert with_bounds(age, "0", "120").domain == Bounds(0, 120)
    assert reopened(age).domain is None
    for low, high in (("x", "1"), ("5", "1"), ("", "")):
        with pytest.raises(InputError):
            with_bounds(age, low, high)
    for wrong in (lambda: with_levels(age, ["a"]), lambda: with_levels(GRADE, []), lambda: with_levels(GRADE, ["a", "a"])):
        with pytest.raises(InputError):
            wrong()
    with pytest.raises(InputError):
        with_bounds(GRADE, "1", "2")


def test_what_is_declared_says_why():
    schema = Schema((GRADE, Column(name="x", kind=Kind.KEY, drafted=frozenset({Facet.KIND}))), ("?",), drafted=True)
    one = public(schema, ["grade"], "Code list")
    assert one.undeclared == {"x": frozenset({Facet.KIND})}
    assert one.declared_by == "grade: Code list"
    assert one.drafted
    both = public(one, ["x"], "Law", codes=True)
    assert (both.undeclared, both.drafted, both.declared_by) == ({}, False, "grade: Code list; x: Law")
    assert of_role(GRADE, Role.SECRET).role is Role.SECRET
    assert Facet.ROLE not in of_role(GRADE, Role.SECRET).drafted


def test_the_values_of_a_column_are_counted_without_missing_codes():
    schema = Schema((GRADE,), ("?",))
    found = words_of(schema, with_missing(GRADE, ["N"]), Raw.of(np.array(["1", "N", "?", "1", "", None], object)))
    assert (found.words, found.counts.tolist(), found.rows) == (("1",), [2], 6)
