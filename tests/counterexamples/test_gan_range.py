"""Networks whose numbers are scaled by the rows print the one person at the end of the range; certified ones do not (no. 10)."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="networks need torch")

from hushtable.encode.bins import Bins
from hushtable.pipeline.recipe import Recipe, load
from hushtable.pipeline.run import release
from hushtable.privacy.noise import Entropy
from hushtable.synthesize.neural.gan.pate import Pate
from hushtable.synthesize.neural.gan.private import PrivateGan
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table

pytestmark = pytest.mark.neural
SCHEMA = Schema(
    (
        Column(name="pay", kind=Kind.REAL, domain=Bounds(0.0, 1000.0), decimals=3, required=True),
        Column(name="ill", kind=Kind.CATEGORY, domain=Levels(("no", "yes")), required=True),
    )
)


def town(canary: float) -> Table:
    """A hundred people who earn less than 100, and one more."""
    rng = np.random.default_rng(0)
    pay, ill = np.append(np.round(rng.uniform(0, 100, 100), 3), canary), rng.integers(0, 2, 101)
    return Table(SCHEMA, {"pay": pay, "ill": ill.astype(np.int32)})


@pytest.mark.parametrize("name", ["dpgan", "pate-gan"])
def test_the_scale_of_the_numbers_ends_at_the_canary(name):
    """Declared bounds or not: by the publication numbers are scaled by what the rows hold."""
    ends = []
    for canary in (50.0, 987.654):
        recipe = load(name).quick()
        released = release(town(canary), recipe, seed=0, allow_copies="generated")
        ends.append(float(max(span.high for span in released.fitted.model.layout.spans if span.column.numeric)))
    assert ends[0] <= 100
    assert ends[1] == 987.654, "one person's pay, to the last digit"


def test_modes_fitted_to_the_rows_reach_for_the_canary():
    """DP-CTGAN: the modes that numbers are drawn from, and with them the largest number that can be, follow one person."""
    ends = []
    for canary in (50.0, 987.654):
        released = release(town(canary), load("dp-ctgan").quick(), seed=0, allow_copies="generated")
        code = next(code for code in released.fitted.codes if hasattr(code, "apply"))
        places = code.apply(town(canary))
        top = Table.concat([places] * 20)
        ends.append(float(code.undo(top, np.random.default_rng(0))["pay"].max()))
    assert ends[0] < 200 < 500 < ends[1]


@pytest.mark.parametrize("step", [PrivateGan(steps=1, width=4), Pate(rounds=1, queries=4, steps=1)])
def test_a_certified_release_does_not_show_how_extreme_the_canary_is(step):
    """The same noise and the same seed: two canaries in one bin of the declared domain give one release, bit by bit."""
    recipe = Recipe(recipe="certified", steps=(Bins(bins=4), step))
    one, two = (
        release(town(canary), recipe, epsilon=1.0, delta=1e-6, seed=0, entropy=Entropy.seeded(0), unproven=True).table
        for canary in (800.0, 987.654)
    )
    assert np.array_equal(one["pay"], two["pay"])
    assert np.array_equal(one["ill"], two["ill"])
