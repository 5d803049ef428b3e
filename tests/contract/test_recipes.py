"""Every recipe that we ship runs on the bundled town with its defaults, is saved, and verifies as what its card says.

So does every table that is drawn from its saved model.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

import hushtable as ht
from hushtable.api.methods import everything
from hushtable.checks.tables import annotated
from hushtable.data.people import people
from hushtable.pipeline.recipe import load
from hushtable.pipeline.verify import verify
from hushtable.privacy.preserve import Form
from hushtable.privacy.unit import Unit
from hushtable.table.broken import breaks_any

IMPOSSIBLE = ("birth_date > 2010-01-01 and income is not missing", "last_visit < birth_date")
# Recipes that read text need a public model, which the town has not: tests/unit/language runs them on one made on the spot.
# Classifiers need a file of public texts: tests/unit/language runs them.
NAMES = [line["name"] for line in everything()["recipes"] if not any(hasattr(step, "pool") for step in load(line["name"]).steps)]
COMPOSED = [
    *("hybrid-pre-sequential", "hybrid-post-sequential", "hybrid-post-mondrian-sequential", "hybrid-pre-mdav-sequential"),
    *("hybrid-pre-local-suppression-sequential", "hybrid-pre-safe-k-sequential", "hybrid-post-safe-k-sequential"),
]


@pytest.fixture(scope="module")
def town():
    table = people(2000, seed=4)
    schema = table.schema.with_columns(replace(table.schema["height_cm"], decimals=None))
    return table.under(schema.with_zeros(*IMPOSSIBLE))


@pytest.mark.parametrize("name", [*NAMES, *COMPOSED])
def test_a_recipe_keeps_what_it_says(name, town, tmp_path, request):
    recipe = load(name).quick()
    if any(step.extra == "language" for step in recipe.steps):
        request.getfixturevalue("installed_models")
    if any(step.reads_text for step in recipe.steps):
        town = annotated(town)
    spends = any(step.spends for step in recipe.steps)
    # Some recipes hand out rows by design: they run, with a reason.
    release = ht.release(
        town, recipe, epsilon=1.0 if spends else None, unit=Unit(relation=recipe.relation), allow_copies="nobody in it exists"
    )
    ht.save(release, tmp_path / "out")
    verification = verify(tmp_path / "out")
    assert not verification.faults
    derived = any(promise.form is Form.DERIVED for promise in release.guarantee.promises)
    assert {one.where for one in verification.unchecked} == ({"promise"} if derived else set())
    assert release.guarantee.assurance is recipe.assurance
    assert str(recipe.assurance) in recipe.guarantee
    if spends and release.fitted is not None and name in NAMES:
        _draws(release, tmp_path)
    _follows_the_schema(release, town.schema, spends=spends)


def _follows_the_schema(release, schema, *, spends):
    """What is released is what the schema says: nothing missing where that is declared, no digits but those declared or meant.

    That values lie in their domains, on their grids and in their formats is checked when the saved table is read back.
    """
    table = release.table
    required = [column.name for column in table.schema if column.name in schema and schema[column.name].required]
    assert not [name for name in required if table.missing(name).any()]
    drawn = release.fitted is not None
    if drawn:
        assert not breaks_any(table, schema.zeros).any()
    if (drawn or spends) and "height_cm" in table.schema and table.schema["height_cm"].numeric:
        digits = [len(text.partition(".")[2]) for text in table.strings("height_cm") if text is not None]
        assert max(digits, default=0) <= 3


def _draws(release, folder):
    """The saved model of a private recipe draws releases that keep its guarantee and verify."""
    drawn = ht.draw(ht.save_model(release, folder / "it.model"), 50, {"sex": "female"}, seed=1)
    assert drawn.table.rows == 50
    assert set(drawn.table.strings("sex")) == {"female"}
    assert drawn.guarantee.assurance is release.guarantee.assurance
    assert drawn.guarantee.epsilon() == release.guarantee.epsilon()
    ht.save(drawn, folder / "drawn")
    verification = verify(folder / "drawn")
    assert not verification.faults
    assert not verification.unchecked
