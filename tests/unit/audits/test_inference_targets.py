"""When a guess is right, what blind guessing achieves, and which columns are guessed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.audits.inference_targets import Knowledge, Secret, column_sets, knowledge, listed, secrets
from hushtable.checks import example
from hushtable.errors import InputError
from hushtable.evidence.case import Case
from hushtable.table.cell import ANYTHING
from hushtable.table.columns import DAY, Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

NAN = float("nan")


def secret(truth: list[float], offered: list[float], share: float = 0.05, margin: float = 0.0) -> Secret:
    return Secret("s", {"train": np.array(truth), "control": np.array(truth)}, np.array(offered), share, margin)


@pytest.mark.parametrize(
    ("truth", "guess", "right"),
    [
        (100, 105, True),
        (100, 95, True),
        (100, 105.1, False),
        (1000, -5, False),  # a rule that divides by the signed guess calls every negative guess right
        (-100, -104, True),
        (-100, 100, False),
        (0, 0, True),
        (0, 1e-9, False),
        (NAN, NAN, True),
        (NAN, 5, False),
        (5, NAN, False),
    ],
)
def test_a_number_is_right_within_a_share_of_the_truth(truth, guess, right):
    assert secret([truth], [1.0]).hits("train", np.array([guess])).tolist() == [right]


@given(
    st.lists(st.sampled_from([NAN, -3.0, 0.0, 1.0, 1.04, 1.05, 20.0, 21.0]), min_size=1, max_size=12),
    st.lists(st.sampled_from([NAN, -3.0, 0.0, 1.0, 1.05, 20.0, 21.0, 22.05]), min_size=1, max_size=12),
    st.sampled_from([0.0, 0.05]),
    st.sampled_from([0.0, 1.0]),
)
def test_blind_guessing_and_the_best_constant_are_counted_exactly(truth, offered, share, margin):
    result = secret(truth, offered, share, margin)
    every = np.array([[result.hits("train", np.full(len(truth), guess))[i] for guess in offered] for i in range(len(truth))])
    assert result.blind("train") == pytest.approx(every.mean(axis=1))
    # The best guess lies at the lower end of somebody's accepted values, or is "missing".
    ends = [*(np.array(truth) - share * np.abs(truth) - margin).tolist(), NAN]
    best = max(result.hits("train", np.full(len(truth), guess)).mean() for guess in ends)
    assert result.best_constant() == pytest.approx(best)


def _table(column: Column, values: list) -> Table:
    other = Column(name="other", kind=Kind.INTEGER, domain=Bounds(0, 9))
    arrays = {"other": np.arange(len(values)), column.name: np.array(values, column.dtype)}
    return Table(Schema((other, column)), arrays)


def test_levels_go_by_name_and_an_unknown_one_is_not_missing():
    column = Column(name="s", kind=Kind.CATEGORY, domain=Levels(("a", "b")))
    turned = replace(column, domain=Levels(("c", "b", "a")))
    case = Case(_table(column, [0, 1, -1]), _table(turned, [2, 0, -1]), _table(column, [1, 1]))
    result = Secret.of(case, "s", 0.05)
    assert result.hits("train", result.offered).tolist() == [True, False, True]
    assert result.blind("train").tolist() == pytest.approx([1 / 3, 0, 1 / 3])


def test_a_date_is_right_within_a_hundredth_of_the_range():
    column = Column(name="s", kind=Kind.DATE, domain=Bounds(0, 1000 * DAY))
    case = Case(_table(column, [500 * DAY, 500 * DAY]), _table(column, [510 * DAY, 511 * DAY]), _table(column, [0, DAY]))
    result = Secret.of(case, "s", 0.05)
    assert result.hits("train", result.offered).tolist() == [True, False]


def test_a_cell_of_the_release_is_read_as_a_value_drawn_from_it():
    column = Column(name="s", kind=Kind.CATEGORY, domain=Levels(("a", "b")))
    cells = column.generalize((column.set_cell(frozenset({"b"})), ANYTHING))
    case = Case(_table(column, [0, 1]), _table(cells, [0] * 4 + [1] * 6), _table(column, [1, 1]))
    offered = Secret.of(case, "s", 0.05).offered
    assert offered[:4].tolist() == [1.0] * 4
    assert set(offered[4:]) <= {0.0, 1.0}


@pytest.fixture
def case() -> Case:
    return Case(example(40, 0), example(30, 1), example(20, 2))


def test_secrets_and_targets_are_guessed_else_the_last_column(case):
    assert secrets(case, (), "x") == (("sick", "pay"), [])
    plain = [replace(c, role=Role.PLAIN) for c in case.train.schema]
    bare = Case(*(Table(replace(t.schema, columns=tuple(plain)), t.arrays) for t in case.tables.values()))
    assert secrets(bare, (), "x")[0] == ("pay",)
    assert [k.label for k in knowledge(bare, "pay")] == ["all other columns"]


def test_an_unreleased_secret_is_reported_and_an_unknown_one_refused(case):
    less = Case(case.train, case.release.select([n for n in case.columns if n != "sick"]), case.control)
    named, refused = secrets(less, (), "x")
    assert named == ("pay",)
    assert [(f.name, f.scope, f.value) for f in refused] == [("x", "sick", None)]
    assert "not in the release" in refused[0].note
    with pytest.raises(InputError, match="no column 'shoe'"):
        secrets(case, ("shoe",), "x")


def test_a_secret_in_free_text_is_reported(case):
    notes = Column(name="notes", kind=Kind.TEXT, role=Role.SECRET)

    def with_notes(table: Table) -> Table:
        schema = replace(table.schema, columns=(*table.schema.columns, notes))
        return Table(schema, {**table.arrays, "notes": np.zeros(table.rows, np.int32)}, {"notes": np.array(["x"], object)})

    named, refused = secrets(Case(*map(with_notes, case.tables.values())), (), "x")
    assert named == ("sick", "pay")
    assert "text" in refused[0].note


def test_knowledge_is_everything_the_quasi_columns_and_what_was_asked_for(case):
    result = knowledge(case, "sick", [("town", "pay"), ("sick", "age"), ("age", "height", "town", "school")])
    assert [k.scope for k in result] == ["sick", "sick from quasi columns", "sick from town, pay"]
    assert result[1].phrase == "knows age, height, town and school"
    assert result[0].phrase == "knows every column but sick"


def test_column_sets_are_read_in_the_order_of_the_table(case):
    assert column_sets(case, ("pay+age", "town"), "known") == [("age", "pay"), ("town",)]
    with pytest.raises(InputError, match="shoe"):
        column_sets(case, ("pay+shoe",), "known")


def test_many_columns_are_listed_shortly():
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(list("abcdefghij")) == "a, b, c, d and 6 more columns"
    assert Knowledge("s", "a", ("a",)).phrase == "knows a"
