"""Recursive (c, l)-diversity as a promise: measured with its c, kept on the card, and refused without it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hushtable.privacy.guarantee import Guarantee
from hushtable.privacy.preserve import Promise, Syntactic, unmet
from hushtable.privacy.unit import Unit
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table

L = Promise(kind=Syntactic.L_DIVERSITY, value=2, quasi=("age",), secret="ill", variant="recursive", c=2.0)


def grouped(*classes: str) -> Table:
    """One class for each text, one row for each of its letters."""
    age = Column(name="age", kind=Kind.INTEGER, domain=Bounds(0, 99))
    ill = Column(name="ill", kind=Kind.CATEGORY, domain=Levels(tuple("abcd")))
    ages = np.repeat(np.arange(len(classes)), [len(c) for c in classes])
    return Table(Schema((age, ill)), {"age": ages, "ill": np.array(["abcd".index(x) for x in "".join(classes)], np.int32)})


@pytest.mark.parametrize(
    ("classes", "value", "c", "holds"),
    [
        (("aaab",), 2, 2.0, False),  # 3 < 2 * 1 does not hold
        (("aaabb",), 2, 2.0, True),
        (("aaab",), 2, 3.0, False),  # 3 < 3 * 1: less, not at most
        (("aaab",), 2, 3.1, True),
        (("aabbc",), 3, 2.0, False),  # 2 < 2 * 1
        (("aabbc",), 3, 2.5, True),
        (("aabbc", "ab"), 3, 2.5, False),
        (("aabbccd", "aabbc"), 3, 2.5, True),
    ],
)
def test_it_is_measured_with_its_c(classes, value, c, holds):
    assert (unmet(replace(L, value=value, c=c), grouped(*classes)) == "") is holds


def test_merging_classes_keeps_it():
    """r_1 of two classes together is at most the sum of both, and the tail at least: the inequality adds up."""
    rng = np.random.default_rng(0)
    holding = 0
    for _ in range(300):
        one, two = ("".join(rng.choice(list("abcd"), rng.integers(3, 12))) for _ in range(2))
        promise = replace(L, value=int(rng.integers(2, 4)), c=float(rng.uniform(0.5, 4)))
        if unmet(promise, grouped(one, two)) == "":
            holding += 1
            assert unmet(promise, grouped(one + two)) == ""
    assert holding > 30


def test_without_its_c_it_cannot_be_measured():
    assert "cannot be measured" in unmet(replace(L, c=0.0), grouped("ab"))


def test_the_card_keeps_it():
    guarantee = Guarantee(unit=Unit(), promises=(L, replace(L, variant="distinct", c=0.0)))
    document = guarantee.to_json()
    assert [p.get("c") for p in document["promises"]] == [2.0, None]
    assert Guarantee.from_json(document).promises == guarantee.promises
    assert str(L) == "recursive l-diversity with l = 2 and c = 2 for ill over age"
