"""What the schema declares to be impossible is never drawn, whatever the model; nothing is spent for it, and the card says it."""

from __future__ import annotations

import json
import re
import shutil

import numpy as np
import pytest

import hushtable as ht
from hushtable.errors import InputError, PlanError
from hushtable.pipeline.possible import only_possible
from hushtable.pipeline.publish import rounded
from hushtable.pipeline.release import file_hash
from hushtable.synthesize.marginal.walls import require_possible, walls
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


def test_bounds_of_other_rows_do_not_cut_what_is_rounded():
    """Where rounding leads beyond bounds that were read off the rows, cutting there would write their last digits."""
    schema = Schema.parse("columns: {x: {kind: real, domain: [0, 99.9999987654], observed: [domain]}}")
    table = rounded(Table(schema, {"x": np.array([0.0, 99.9999961])}))
    assert table["x"][1] != 99.9999987654
    assert table["x"][1] == 99.9999961


def test_zeros_of_the_recipe_and_of_the_schema_that_leave_nothing_together_cost_nothing():
    schema = Schema.parse(
        "{zeros: ['a = x and b = u', 'a = x and b = v'], columns: {a: {kind: category, domain: [x, y], required: 'true'}, "
        "b: {kind: category, domain: [u, v], required: 'true'}}}"
    )
    table = Table(schema, {"a": np.array([0, 1] * 20, np.int32), "b": np.array([0, 0, 1, 1] * 10, np.int32)})
    with pytest.raises(PlanError, match="no record is possible"):
        ht.release(table, "aim", epsilon=1.0, zeros="a=y, b=u; a=y, b=v")
    assert ht.release(table, "aim", epsilon=1.0, zeros="a=y, b=u").result["zeros"]["impossible"] == 0


def test_walls_that_leave_nothing_once_a_domain_is_learnt_do_not_lose_what_was_paid_for():
    schema = Schema.parse("{zeros: [a = x], columns: {a: {kind: category, domain: [x], required: 'true'}}}")
    assert walls(schema, 100) == {}
    with pytest.raises(PlanError, match="no record is possible"):
        require_possible(schema, 100, "mst")


def test_verify_sees_zeros_that_differ_and_rows_that_break_them(tmp_path):
    declared = drawn(300, 3).under(SCHEMA.with_zeros("a < 5 and b = x"))
    ht.save(ht.release(declared, "mst", epsilon=1.0), tmp_path / "out")
    assert not ht.verify(tmp_path / "out").faults

    def edited(name, file, change):
        folder = tmp_path / name
        shutil.copytree(tmp_path / "out", folder)
        (folder / file).write_text(change((folder / file).read_text()))
        card = json.loads((folder / "card.json").read_text())
        card["hashes"][file] = file_hash(folder / file)
        (folder / "card.json").write_text(json.dumps(card))
        return [fault.where for fault in ht.verify(folder).faults]

    without = edited("without", "schema.yaml", lambda text: re.sub(r"zeros:\n  - .*\n", "", text))
    assert without == ["zeros"]
    assert "public" in edited("other", "schema.yaml", lambda text: text.replace("a < 5", "a < 4"))
    first = ["1" if name == "a" else "x" if name == "b" else "" for name in SCHEMA.names]
    row = dict(zip(SCHEMA.names, first, strict=True))
    lines = (tmp_path / "out" / "data.csv").read_text().splitlines()
    kept = dict(zip(SCHEMA.names, lines[1].split(","), strict=True))
    lines[1] = ",".join(row[name] or kept[name] for name in SCHEMA.names)
    assert edited("broken", "data.csv", lambda _: "\n".join(lines) + "\n") == ["zeros"]
