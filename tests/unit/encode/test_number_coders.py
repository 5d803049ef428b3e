"""What the coders of numbers have in common: they stand before any core, after any anonymizer, and lead back."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.anonymize.lattice.generalize import Generalize
from hushtable.checks import example
from hushtable.encode.bins import Bins
from hushtable.encode.digits import Digits
from hushtable.encode.modes import Modes
from hushtable.encode.ranks import Ranks
from hushtable.errors import GuaranteeRefused
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.run import release
from hushtable.pipeline.store import load, save
from hushtable.privacy.preserve import Form
from hushtable.synthesize.marginal.independent import Margins
from hushtable.synthesize.sequential.sequential import Sequential

CODERS = (Modes(), Ranks(), Digits())


def made(*steps, table=None, **options):
    table = example(300) if table is None else table
    return release(table, Recipe(recipe="checked", steps=steps), seed=1, allow_copies="a test", **options)


@pytest.mark.parametrize("coder", CODERS)
def test_generalized_columns_are_left_to_the_core_and_their_promise_holds(coder):
    released = made(Generalize(k=5), coder, Sequential())
    assert released.table.schema.names == example().schema.names
    assert released.table.schema["age"].generalized
    assert {promise.form for promise in released.guarantee.promises} == {Form.DERIVED}


@pytest.mark.parametrize("coder", CODERS)
def test_a_determined_column_follows_what_was_drawn(coder):
    table = example(300)
    listed = table.schema.with_determined("sick", "town", {"north": "no", "south": "yes", "east": "no", "west": "no", "": "no"})
    released = made(coder, Sequential(), table=table.under(listed))
    assert np.array_equal(released.table["sick"] == 1, released.table["town"] == 1)


@pytest.mark.parametrize("coder", CODERS)
def test_a_saved_model_leads_back(coder, tmp_path):
    released = made(coder, Sequential())
    drawn = load(save(released, tmp_path / "it.model")).draw(40, seed=2)
    assert drawn.table.schema.names == example().schema.names
    assert drawn.table.schema["born"] == example().schema["born"]


def test_digits_are_free_under_differential_privacy_and_the_others_are_refused():
    private = made(Digits(), Margins(), epsilon=1.0, delta=1e-6)
    assert private.guarantee.epsilon() <= 1
    for coder in (Modes(), Ranks()):
        with pytest.raises(GuaranteeRefused, match="infinite"):
            made(coder, Bins(), Margins(), epsilon=1.0, delta=1e-6)
