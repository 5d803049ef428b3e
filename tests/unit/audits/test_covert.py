"""Leaks that are planted in part: exactly what is said is copied, and a larger leak holds a smaller one."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from hushtable.api.certify import certify
from hushtable.audits import covert
from hushtable.audits.power import parts
from hushtable.audits.rare import RareValues
from hushtable.data.people import people
from hushtable.evidence import harness
from hushtable.evidence.case import Case
from hushtable.table.table import Table

N = 200


@pytest.fixture(scope="module")
def sides() -> list[Table]:
    table = people(3 * N, seed=6)
    table = table.select(table.schema.released)
    return [table.take(np.arange(i * N, i * N + N)) for i in range(3)]


def same(one: Table, other: Table, names: list[str]) -> np.ndarray:
    """Which rows of the first equal some row of the second on these columns."""
    rows = [list(zip(*(table.strings(name) for name in names), strict=True)) for table in (one, other)]
    return np.array([row in set(rows[1]) for row in rows[0]])


def test_a_handful_is_copied_whole(sides):
    train, _, fresh = sides
    whom = np.arange(N)[::-1]
    release = covert.handful(train, fresh, 7, np.random.default_rng(0), whom)
    assert same(release, train.take(whom[:7]), list(train.schema.names)).sum() == 7
    assert same(release, fresh, list(train.schema.names)).sum() == N - 7


def test_a_part_of_a_row_is_copied_and_the_rest_stays(sides):
    train, _, fresh = sides
    names = sorted(train.schema.names, key=lambda name: -len(np.unique(train[name])))
    less, more = (covert.partial(train, fresh, share, np.random.default_rng(0)) for share in (0.1, 0.3))
    copied = [same(release, train, names[:4]) for release in (less, more)]
    assert [int(one.sum()) for one in copied] == [20, 60]
    assert copied[1][copied[0]].all()
    assert all(np.array_equal(more.strings(name), fresh.strings(name)) for name in names[4:])


def test_the_rarest_values_are_written_together(sides):
    train, _, fresh = sides
    release = covert.rarest(train, fresh, 1.0, np.random.default_rng(0))
    changed = np.array([release.strings(name) != fresh.strings(name) for name in train.schema.names]).sum(axis=0)
    assert changed.max() <= 2
    assert changed.mean() > 1


def test_digests_and_texts_are_those_of_training_people(sides):
    rng = np.random.default_rng(0)
    train, _, fresh = (covert.named(table, rng) for table in sides)
    digests = {hashlib.sha256(word.encode()).hexdigest() for word in train.strings(covert.IDENTIFIER)}
    assert sum(word in digests for word in covert.hashed(train, fresh, 0.25, rng).strings(covert.IDENTIFIER)) == N // 4
    texts = {word.upper() for word in train.strings(covert.TEXT)}
    respelled = covert.respelled(train, fresh, 0.25, rng).strings(covert.TEXT)
    assert sum(word.replace("  ", " ") in texts for word in respelled) == N // 4


def test_what_would_be_noticed_in_part_is_said(sides):
    train, control, fresh = sides
    audits = {"rare-values": RareValues()}
    case = Case(train, fresh, control)
    seen = parts(case, audits, harness.run(case, audits), shares=(0.02, 0.3), repeats=1)
    assert set(seen) == {"four columns copied", "the two rarest values copied"}
    assert seen["four columns copied"] == 0.3
    # Where nobody can be told apart, nothing is noticed, and that is said too.
    few = Case(*(table.select(["sex", "smoker"]) for table in (train, fresh, control)))
    assert set(parts(few, audits, harness.run(few, audits), repeats=1).values()) == {None}
    assert parts(case, {}, []) == {}


def test_every_risk_model_makes_the_audit_rise_that_is_meant_for_it():
    certificate = certify(people(900, seed=2), models=["handful", "partial", "rare", "digests", "texts"], quick=True)
    assert [curve.title for curve in certificate.curves] == [
        "handful outliers",
        "handful at random",
        "partial",
        "rare",
        "digests",
        "texts",
    ]
    rises = {curve.model: {line.name for line in curve.lines if line.verdict == "rises"} for curve in certificate.curves}
    assert "exposed records" in rises["handful"]
    assert "rare combinations" in rises["partial"]
    assert "rare values" in rises["rare"]
    assert rises["digests"] == {"identifiers published"}
    assert {"texts published", "membership AUC by longest run"} <= rises["texts"]
