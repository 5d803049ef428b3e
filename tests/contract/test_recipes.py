"""Every recipe that we ship runs on the bundled town with its defaults, is saved, and verifies as what its card says.

So does every table that is drawn from its saved model.
"""

from __future__ import annotations

import pytest

import hushtable as ht
from hushtable.api.methods import everything
from hushtable.data.people import people
from hushtable.pipeline.recipe import load
from hushtable.pipeline.verify import verify
from hushtable.privacy.preserve import Form
from hushtable.privacy.unit import Unit

NAMES = [line["name"] for line in everything()["recipes"]]


@pytest.fixture(scope="module")
def town():
    return people(2000, seed=4)


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_keeps_what_it_says(name, town, tmp_path):
    recipe = load(name)
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
    if spends and release.fitted is not None:
        _draws(release, tmp_path)


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
