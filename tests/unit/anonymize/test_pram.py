"""Post-randomization: the chain it says, and no level out of nowhere when the counts are to be kept."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushtable.anonymize.masking.pram import Pram
from hushtable.errors import InputError, PlanError
from hushtable.pipeline.run import release
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.vault import Vault
from hushtable.table.columns import Kind
from hushtable.table.table import Table
from tests.random_tables import tables
from tests.unit.privacy.cases import recipe

CODES = (Kind.CATEGORY, Kind.ORDINAL)


def randomized(step: Pram, table: Table, seed: int = 0) -> Table:
    return step.fit(Vault.of(table), np.random.default_rng(seed)).table


@settings(max_examples=25)
@given(tables(CODES), st.floats(0, 0.999), st.booleans(), st.integers(0, 2**32))
def test_missing_stays_missing_and_codes_stay_in_the_domain(table, keep, invariant, seed):
    out = randomized(Pram(keep=keep, invariant=invariant), table, seed)
    assert out.schema == table.schema
    for name in table.schema.names:
        np.testing.assert_array_equal(out.missing(name), table.missing(name))
        if invariant:
            assert set(out[name]) <= set(table[name])


@settings(max_examples=25)
@given(tables(CODES, width=2), st.floats(0, 0.999), st.integers(0, 2**32))
def test_no_level_appears_in_a_group_that_did_not_have_it(table, keep, seed):
    if len(table.schema) < 2:
        return
    out = randomized(Pram(keep=keep, within=("c0",), columns=("c1",)), table, seed)
    pairs = set(zip(table["c0"].tolist(), table["c1"].tolist(), strict=True))
    assert set(zip(out["c0"].tolist(), out["c1"].tolist(), strict=True)) <= pairs


def test_the_chain_is_published_where_it_is_public_only(small):
    open_chain = Pram(keep=0.7, invariant=False).fit(Vault.of(small), np.random.default_rng(0)).result()
    assert open_chain["each_other_level"] == {"town": pytest.approx(0.1), "school": pytest.approx(0.15)}
    from tests.tables import observed

    seen = Table(observed(small.schema), dict(small.arrays))
    assert Pram(keep=0.7, invariant=False).fit(Vault.of(seen), np.random.default_rng(0)).result()["each_other_level"] == {}
    assert "each_other_level" not in Pram(keep=0.7).fit(Vault.of(small), np.random.default_rng(0)).result()


def test_what_cannot_be_randomized_is_refused_by_name(small):
    with pytest.raises(PlanError, match="age"):
        Pram(columns=("age",)).plan(small.schema, None)
    with pytest.raises(PlanError, match="nowhere"):
        Pram(within=("nowhere",)).plan(small.schema, None)
    with pytest.raises(InputError, match=r"Pram\.keep"):
        Pram(keep=1.0)
    with pytest.raises(InputError, match=r"Pram\.within"):
        Pram(invariant=False, within=("sick",))


@pytest.mark.parametrize("invariant", [True, False])
def test_it_promises_nothing(small, invariant):
    guarantee = release(small, recipe(Pram(invariant=invariant)), seed=1).guarantee
    assert guarantee.assurance is Assurance.NONE
    assert not guarantee.private
