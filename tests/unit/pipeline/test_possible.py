"""What the schema declares to be impossible is never drawn, whatever the model; nothing is spent for it, and the card says it."""

from __future__ import annotations

import numpy as np
import pytest

import hushtable as ht
from hushtable.errors import InputError, PlanError
from hushtable.pipeline.possible import only_possible
from hushtable.pipeline.publish import rounded
from hushtable.table.broken import breaks_any
from hushtable.table.schema import Schema
from hushtable.table.table import Table

SCHEMA = Schema.parse(
    "columns: {a: {kind: integer, domain: [0, 9], required: true}, b: {kind: category, domain: [x, y], required: true}, "
    "c: {kind: real, domain: [0, 1]}}"
)


def drawn(rows: int, seed: int) -> Table:
    rng = np.random.default_rng(seed)
    arrays = {"a": rng.integers(0, 10, rows), "b": rng.integers(0, 2, rows).astype(np.int32), "c": rng.random(rows)}
    return Table(SCHEMA, arrays)


def test_rows_are_drawn_until_they_are_possible_in_the_proportions_of_the_model():
    zeros = SCHEMA.with_zeros("a < 5 and b = x").zeros
    seeds = iter(range(100))
    table, result = only_possible(drawn(4000, 99), zeros, lambda rows: drawn(rows, next(seeds)))
    assert table.rows == 4000
    assert not breaks_any(table, zeros).any()
    assert result["drawn"] - result["impossible"] >= 4000
    # A quarter of what is drawn is impossible; of the rest two thirds have the other level.
    assert abs((table["b"] == 1).mean() - 2 / 3) < 4 * np.sqrt(2 / 9 / 4000)
    assert abs(result["impossible"] / result["drawn"] - 0.25) < 0.03


def test_where_hardly_any_row_is_possible_there_are_fewer_and_the_card_says_so():
    table, result = only_possible(drawn(10, 0), SCHEMA.with_zeros("a >= 0").zeros, lambda rows: drawn(rows, 1))
    assert table.rows == 0
    assert result["drawn"] == 1000
    assert "10 were wanted" in result["note"]


@pytest.mark.parametrize("recipe", ["independent", "mst", "aim", "gaussian-copula"])
def test_a_release_has_no_impossible_row_and_says_what_it_assumed(recipe, tmp_path):
    table = drawn(400, 3)
    declared = table.under(SCHEMA.with_zeros("a < 5 and b = x"))
    epsilon = None if recipe == "gaussian-copula" else 1.0
    assert breaks_any(ht.release(table, recipe, epsilon=epsilon).table, declared.schema.zeros).any(), "the test can fail"
    release = ht.release(declared, recipe, epsilon=epsilon)
    assert not breaks_any(release.table, declared.schema.zeros).any()
    assert release.table.schema.zeros == declared.schema.zeros
    assert "that no record is: a < 5 and b = x" in release.guarantee.public
    assert release.result["zeros"]["drawn"] >= release.table.rows
    if epsilon:
        assert release.guarantee.epsilon() <= 1.0
        ht.save(release, tmp_path / "out")
        assert not ht.verify(tmp_path / "out").faults
        model = ht.save_model(release, tmp_path / "it.model")
        assert not breaks_any(ht.draw(model, 200, seed=1).table, declared.schema.zeros).any()
        with pytest.raises(InputError, match=r"possible|no row can have"):
            ht.draw(model, 20, {"a": "1", "b": "x"}, seed=1)


def test_zeros_that_leave_no_record_are_refused_before_a_row_is_read():
    table = drawn(100, 3).under(SCHEMA.with_zeros("a < 5", "a >= 5"))
    for recipe in ("mst", "aim", "mwem"):
        with pytest.raises(PlanError, match="no record is possible"):
            ht.release(table, recipe, epsilon=1.0)


def test_reals_have_the_digits_of_their_range_and_declared_decimals_stay():
    schema = Schema.parse("columns: {x: {kind: real, domain: [0, 250000]}, y: {kind: real, domain: [0, 1]}, z: {kind: real, "
    "domain: [0, 1], observed: [domain]}, w: {kind: real, domain: [0, 1], decimals: 7}}")  # fmt: skip
    value = np.array([0.12345678901, np.nan, 1.0])
    table = rounded(Table(schema, {"x": value * 100_000, "y": value, "z": value / 1000, "w": value}))
    assert table["x"][0] == 12346
    assert table["y"][0] == 0.12346
    assert table["z"][0] == 0.000123457, "by what the table holds, where bounds were read off other rows"
    assert table["w"][0] == value[0]
    assert np.isnan(table["x"][1])
    assert table["x"][2] == 100_000
