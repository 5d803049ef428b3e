from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from hushtable.anonymize.microaggregate.microaggregate import Microaggregate
from hushtable.checks import example
from hushtable.encode.embed_decoded import Decoded, EmbedDecoded
from hushtable.errors import InputError, PlanError
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.run import release
from hushtable.pipeline.store import SavedModel, load, save
from hushtable.privacy.preserve import Form
from hushtable.privacy.vault import Vault
from hushtable.synthesize.sequential.sequential import Sequential
from hushtable.table.columns import Bounds, Role

pytestmark = pytest.mark.neural
SMALL = {"method": "pca", "hidden": (32, 32), "batch": 64, "epochs": 60}


def fitted(table, **knobs):
    return EmbedDecoded(**SMALL | knobs).fit(Vault.of(table), np.random.default_rng(0))


@pytest.fixture(scope="module")
def table():
    return example(400)


@pytest.fixture(scope="module")
def code(table):
    return fitted(table)


def test_the_target_stays_beside_coordinates_in_fixed_bounds(table, code):
    coded = code.apply(table)
    assert coded.schema.names == ("pay", "y1", "y2")
    assert np.array_equal(coded["pay"], table["pay"])
    assert coded.schema["y1"].bounds == Bounds(-1.0, 1.0)
    assert max(np.abs(coded["y1"]).max(), np.abs(coded["y2"]).max()) == pytest.approx(1)
    assert not coded.schema.undeclared


def test_rows_come_back_nearer_than_by_chance(table, code):
    there = code.undo(code.apply(table), np.random.default_rng(0))
    assert there.schema == table.schema
    assert np.corrcoef(there["age"], table["age"])[0, 1] > 0.5
    assert (there["school"] == table["school"]).mean() > (
        np.random.default_rng(0).permutation(there["school"]) == table["school"]
    ).mean()
    assert there.missing("school").any()
    assert not there.missing("sick").any()


def test_columns_keep_their_distribution(table, code):
    there = code.undo(code.apply(table), np.random.default_rng(0))
    assert abs(there["height"].std() / table["height"].std() - 1) < 0.2
    assert abs(np.bincount(there["town"], minlength=4) - np.bincount(table["town"], minlength=4)).max() < 0.1 * table.rows


def test_what_stays_decides_what_comes_back(table):
    """Of two rows at one place, the network knows which class they are of."""
    schema = table.schema
    target = replace(schema["school"], role=Role.TARGET)
    classes = table.under(schema.with_columns(target, replace(schema["pay"], role=Role.PLAIN)))
    code = fitted(classes, columns=("age", "height"))
    coded = code.apply(classes)
    middle = coded.with_columns(*((coded.schema[name], np.zeros(coded.rows)) for name in ("y1", "y2")))
    ages = code.undo(middle, np.random.default_rng(0))["age"]
    means = [ages[classes["school"] == level].mean() for level in range(3)]
    assert means[0] < means[1] < means[2]


def test_rows_beyond_the_sample_lie_among_their_neighbours():
    table = example(80)
    whole, part = (fitted(table, method="tsne", epochs=1, sample=n).apply(table) for n in (80, 60))
    assert len(np.unique(part["y1"])) > 70
    assert np.abs(part["y1"]).max() <= 1
    assert not np.array_equal(whole["y1"], part["y1"])


def test_a_neighbour_that_is_nearest_decides_the_place():
    table = example(80)
    code = fitted(table, method="tsne", epochs=1)
    moved = table.with_column(table.schema["height"], table["height"] + 0.001)
    near, own = (np.column_stack([code.apply(t)[name] for name in ("y1", "y2")]) for t in (moved, table))
    assert np.abs(near - own).max() < 0.05


def test_it_is_rebuilt_without_any_record(table, code):
    values, arrays = code.parts()
    again = Decoded.from_parts(json.loads(json.dumps(values)), arrays)
    coded = code.apply(table)
    one, two = (c.undo(coded, np.random.default_rng(1)) for c in (code, again))
    assert all(np.array_equal(one[n], two[n], equal_nan=one[n].dtype.kind == "f") for n in one.schema.names)
    stored = np.concatenate([np.ravel(array).astype(np.float64) for array in arrays.values()])
    assert np.isin(table["height"], stored).mean() < 0.05
    # It places rows nowhere, which is enough to fix a column that stayed.
    assert not again.apply(table)["y1"].any()


def test_a_core_may_leave_columns_out(table, code):
    there = code.undo(code.apply(table).select(["y1", "y2"]), np.random.default_rng(0))
    assert there.schema.names == tuple(name for name in table.schema.names if name != "pay")


def made(*steps):
    return release(example(200), Recipe(recipe="checked", steps=steps), seed=0, allow_copies="a test")


QUICK = EmbedDecoded(**EmbedDecoded.quick)
SPANS = EmbedDecoded(spans=True, **EmbedDecoded.quick)


def test_a_promise_is_kept_after_grouping_and_lost_before_it():
    (promise,) = made(Microaggregate(k=4), QUICK, Sequential()).guarantee.promises
    assert (promise.form, promise.value) == (Form.DERIVED, 4)
    lost = made(SPANS, Microaggregate(k=4), Sequential())
    assert not lost.guarantee.promises
    assert lost.guarantee.claims
    assert lost.table.schema.names == example().schema.names


def test_a_saved_model_leads_back_and_fixes_the_target(tmp_path):
    released = made(SPANS, Microaggregate(k=4), Sequential())
    drawn = load(save(released, tmp_path / "m.model")).draw(30, seed=1, given={"pay": "1000"})
    assert drawn.table.schema.names == example().schema.names
    assert not drawn.guarantee.promises
    same = SavedModel.of(released).draw(30, seed=1, given={"pay": "1000"})
    assert np.array_equal(drawn.table["age"], same.table["age"])


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="no rows"):
        fitted(example().take(np.zeros(0, np.int64)))
    with pytest.raises(PlanError, match="no column"):
        EmbedDecoded(columns=("nothing",)).plan(example().schema, None)
    with pytest.raises(InputError, match="hidden"):
        EmbedDecoded(hidden=(0,))
    with pytest.raises(PlanError, match="y1"):
        EmbedDecoded(columns=("pay",)).plan(fitted(example(60), **EmbedDecoded.quick).schema, None)


@pytest.mark.parametrize("rows", [1, 2, 3, 5])
@pytest.mark.parametrize("method", ["tsne", "pca", "isomap"])
def test_few_rows(rows, method):
    few = example(rows)
    assert fitted(few, method=method, epochs=1).apply(few).rows == rows
