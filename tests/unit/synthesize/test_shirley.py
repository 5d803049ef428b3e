"""Copula-Shirley as published: it runs, it claims, and it says what is wrong with the claim."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from hushtable.errors import InputError, MissingExtra, PlanError
from hushtable.pipeline.recipe import load
from hushtable.pipeline.run import release
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.noise import Entropy
from hushtable.privacy.vault import Vault
from hushtable.synthesize.published.copula_shirley import GAPS, CopulaShirley
from hushtable.table.columns import Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.synthesize.chains import chain, tau


def fitted(table, seed: int = 1, **knobs):
    vault = Vault.of(table, entropy=Entropy.seeded(seed), seed=seed)
    return CopulaShirley(**knobs).fit(vault, np.random.default_rng(seed))


def test_it_is_claimed_and_the_gaps_are_printed(small):
    released = release(small, load("copula-shirley"))
    assert released.guarantee.assurance is Assurance.CLAIMED
    assert released.guarantee.epsilon() == math.inf
    (claim,) = released.guarantee.claims
    assert "epsilon = 1" in claim.statement
    assert claim.gaps == GAPS
    assert len(GAPS) == 4
    assert released.table.rows == small.rows


def test_it_keeps_dependence_where_equal_values_are_spread():
    table = chain(1000)
    drawn = fitted(table, observed="spread", epsilon=10.0).sample(1000, np.random.default_rng(0))
    assert tau(drawn, "a", "b") > 0.4
    assert tau(drawn, "a", "x") == pytest.approx(0, abs=0.1)


def test_it_prints_values_of_the_rows_only(small):
    drawn = fitted(small).sample(500, np.random.default_rng(0))
    for name in ("height", "age", "pay"):
        values = drawn.floats(name)
        assert np.isin(values[~np.isnan(values)], small.floats(name)).all()


def test_a_condition_is_met_by_choosing(small):
    model = fitted(small, trees=1)
    drawn = model.sample(40, np.random.default_rng(0), {"sick": "yes", "town": "west"})
    assert drawn.rows == 40
    assert (set(drawn.strings("sick")), set(drawn.strings("town"))) == ({"yes"}, {"west"})
    with pytest.raises(InputError, match="draws no row with these values of town"):
        model.sample(40, np.random.default_rng(0), {"town": "east"})


def test_too_few_rows_and_columns_that_hardly_vary(small):
    with pytest.raises(InputError, match="at least two"):
        fitted(small.take(np.arange(3)))
    rare = {name: np.where(np.arange(40) == i, 1, 0).astype(np.int32) for i, name in enumerate(f"c{j}" for j in range(20))}
    columns = tuple(Column(name=n, kind=Kind.CATEGORY, domain=chain(4).schema["a"].domain) for n in rare)
    with pytest.raises(InputError, match="hardly varies"):
        fitted(Table(Schema(columns), rare))


def test_text_is_refused_by_name(small):
    schema = Schema((*small.schema.columns, Column(name="story", kind=Kind.TEXT)))
    with pytest.raises(PlanError, match="story"):
        CopulaShirley().plan(schema, None)


@pytest.mark.parametrize(
    ("knobs", "word"),
    [({"epsilon": 0.0}, "epsilon"), ({"ratio": 1.0}, "ratio"), ({"families": ("cubist",)}, "families"), ({"trees": -1}, "trees")],
)
def test_knobs_out_of_range_are_named(knobs, word):
    with pytest.raises(InputError, match=f"CopulaShirley.{word}"):
        CopulaShirley(**knobs)


def test_without_the_library_the_command_is_named(monkeypatch, small):
    monkeypatch.setitem(sys.modules, "pyvinecopulib", None)
    with pytest.raises(MissingExtra, match=r"pip install 'hushtable\[vine\]'"):
        fitted(small)
