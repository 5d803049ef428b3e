"""Public constraints: read as people write them, refused by name, kept by every row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hushtable.errors import PlanError
from hushtable.synthesize.neural.gan.constraints import kept, moved, read_constraints
from hushtable.synthesize.neural.gan.gan import Gan
from hushtable.table.broken import breaks_any
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table

SCHEMA = Schema(
    (
        Column(name="age", kind=Kind.INTEGER, domain=Bounds(-20, 150)),
        Column(name="smoke", kind=Kind.CATEGORY, domain=Levels(("NO", "YES", "not any more"))),
        Column(name="cigarettes", kind=Kind.INTEGER, domain=Bounds(0, 60)),
        Column(name="spent if any", kind=Kind.REAL, domain=Bounds(0.0, 100.0)),
        Column(name="since", kind=Kind.DATE, domain=Bounds(0, 10**9), required=True),
    )
)
TEXTS = (
    "age in 0..120",
    "cigarettes = 0 if smoke = NO",
    "cigarettes is missing if smoke = not any more and age < 18",
    "smoke in {NO, YES} if age < 12",
    '"spent if any" <= cigarettes if cigarettes is not missing',
    "since > 1980-01-01",
)


def people(rows: int = 4000, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    arrays = {
        "age": rng.integers(-20, 151, rows),
        "smoke": rng.integers(-1, 3, rows).astype(np.int32),
        "cigarettes": rng.integers(0, 61, rows),
        "spent if any": rng.uniform(0, 100, rows),
        "since": rng.integers(0, 10**4, rows) * 86400,
    }
    return Table(SCHEMA, arrays)


def test_every_row_keeps_them_and_rows_that_did_stay():
    constraints = read_constraints(TEXTS, SCHEMA, "gan")
    zeros = [zero for constraint in constraints for zero in constraint.zeros]
    before = people()
    broken = breaks_any(before, zeros)
    assert 0.5 < broken.mean() < 1
    after = moved(before, constraints)
    for name in SCHEMA.names:
        assert np.array_equal(after[name][~broken], before[name][~broken])
    table, result = kept(before, constraints, lambda rows: people(rows, seed=1))
    assert table.rows == before.rows
    assert not breaks_any(table, zeros).any()
    # Only levels that may not be are drawn again; numbers are moved.
    assert 0 < result["impossible"] < 0.2 * result["drawn"]


def test_numbers_move_to_the_nearest_that_is_allowed():
    constraints = read_constraints(("age in 0..120", "cigarettes in {10, 20}", "since > 1980-01-01"), SCHEMA, "gan")
    before = people(400)
    after = moved(before, constraints)
    assert np.array_equal(after["age"], before["age"].clip(0, 120))
    assert np.array_equal(after["cigarettes"], np.where(before["cigarettes"] <= 15, 10, 20))
    assert after["since"].min() == 3653 * 86400


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("height > 3", "there is no column 'height'"),
        ("smoke = sometimes", "'sometimes' is no level of smoke"),
        ("smoke in 1..2", "smoke is a category and has no order"),
        ("smoke = 3", "'3' is no level of smoke"),
        ("age = NO", "'NO' is no value of age"),
        ("age in 200..300", "no value of age, which is declared from -20 to 150, keeps it"),
        ("age > 150", "keeps it"),
        ("since is missing", "since is declared never to be missing"),
        ("age in 0..120 and smoke = NO", "age"),
        ("age > 3 and smoke = NO", "expected 'if' or the end"),
        ("age > 3 if", "expected a column"),
        ("age > 3 if smoke = NO or age = 2", "smoke"),
        ("age", "expected a sign after 'age'"),
        ("", "expected a column"),
        ("smoke = cigarettes", "smoke"),
    ],
)
def test_what_cannot_be_read_or_kept_is_refused_by_name(text, reason):
    with pytest.raises(PlanError, match=reason) as error:
        Gan(constraints=(text,)).plan(SCHEMA, None)
    assert repr(text) in str(error.value)


def test_all_faults_are_listed_at_once_and_what_is_public_is_said():
    with pytest.raises(PlanError) as error:
        Gan(constraints=("height > 3", TEXTS[0], "smoke = often")).plan(SCHEMA, None)
    assert "height" in str(error.value)
    assert "often" in str(error.value)
    assert TEXTS[0] not in str(error.value)
    assert [text for text in Gan(constraints=TEXTS).plan(SCHEMA, None).public if "age in 0..120" in text]


def test_levels_read_off_the_rows_are_all_there_are():
    observed = SCHEMA.with_columns(replace(SCHEMA["smoke"], domain=Levels(("NO", "YES"), observed=True)))
    with pytest.raises(PlanError, match="no level of smoke"):
        read_constraints(("smoke = perhaps",), observed, "gan")
