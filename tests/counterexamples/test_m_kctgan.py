"""M-KCTGAN groups coordinates by k records, and leads back from them by a network that was trained on raw records.

So a value that a single person has comes out of the release if that person was there, and does not if they were not: grouping
protects nobody. The certified twin learns everything from the grouped table, in which the value does not stand.
"""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.anonymize.microaggregate.geodesic import Geodesic
from hushtable.encode.embed_decoded import EmbedDecoded
from hushtable.pipeline.recipe import Recipe, load
from hushtable.pipeline.run import release
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.preserve import Form
from hushtable.synthesize.sequential.sequential import Sequential
from hushtable.table.columns import Bounds, Column, Kind, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

pytestmark = pytest.mark.neural
K = 5
OLD = 100
"""The age of one person, beyond which nobody else is."""


def island(age):
    """A town, and five people far away from it who are alike in all but the age of one."""
    rng = np.random.default_rng(0)
    town = np.column_stack([rng.normal(40, 8, 200).clip(18, 70), rng.normal(0, 1, (200, 2))])
    away = np.column_stack([np.full(K, 60), rng.normal(12, 0.1, (K, 2))])
    away[0, 0] = age
    points = np.concatenate([town, away])
    columns = (
        Column(name="age", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(0, 120), required=True),
        Column(name="x", kind=Kind.REAL, role=Role.QUASI, domain=Bounds(-20.0, 20.0), decimals=1, required=True),
        Column(name="y", kind=Kind.REAL, role=Role.QUASI, domain=Bounds(-20.0, 20.0), decimals=1, required=True),
    )
    arrays = {c.name: c.from_floats(points[:, i]) for i, c in enumerate(columns)}
    return Table(Schema(columns), arrays)


# The network that draws is exchanged for trees, which need fewer rows: it only ever sees what was grouped.
DECODED = {"method": "tsne", "hidden": (64, 64), "batch": 64, "epochs": 150, "name": "z"}
PUBLISHED = (EmbedDecoded(spans=True, **DECODED), Geodesic(k=K), Sequential())
CERTIFIED = (Geodesic(k=K), EmbedDecoded(**DECODED), Sequential())


def released(steps, age):
    return release(island(age), Recipe(recipe="checked", steps=steps), rows=2_000, seed=0, allow_copies="a counterexample")


@pytest.mark.parametrize(("name", "steps"), [("m-kctgan", PUBLISHED), ("m-kctgan-certified", CERTIFIED)])
def test_these_are_the_steps_of_the_recipe(name, steps):
    kinds = [type(step) for step in load(name).steps if type(step).__name__ not in ("Modes", "Gan")]
    assert kinds == [type(step) for step in steps[:-1]]


def test_the_published_form_shows_the_age_of_one_person_only_if_they_are_there():
    there, gone = (released(PUBLISHED, age) for age in (OLD, 60))
    assert (there.table["age"] > 90).sum() >= 5
    assert not (gone.table["age"] > 90).any()
    assert not there.guarantee.promises
    assert there.guarantee.assurance is Assurance.CLAIMED
    assert any("raw records" in gap for claim in there.guarantee.claims for gap in claim.gaps)


def test_the_certified_twin_never_shows_it():
    there = released(CERTIFIED, OLD)
    assert not (there.table["age"] > 90).any()
    (promise,) = there.guarantee.promises
    assert (promise.form, promise.value) == (Form.DERIVED, K)
