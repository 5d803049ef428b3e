"""The table of methods: every recipe names its family and the evidence that its releases can have."""

from __future__ import annotations

from importlib.resources import files

import pytest
import yaml

from hushtable.api.methods import AUDIT_FAMILIES, FAMILIES, audit_family, by_family, describe, everything
from hushtable.errors import InputError
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline import registry
from hushtable.pipeline.recipe import Recipe
from hushtable.privacy.guarantee import Assurance

OWN = "recipe: mine\nsteps:\n- microaggregate: {k: 5}\n"


@pytest.mark.parametrize("name", recipes.names())
def test_every_recipe_file_names_a_known_family_and_its_assurance(name: str) -> None:
    written = yaml.safe_load((files("hushtable.recipes") / f"{name}.yaml").read_text(encoding="utf-8"))
    assert written["family"] in FAMILIES
    assert Assurance(written["assurance"]) is recipes.load(name).assurance
    assert (written["assurance"] == "none") == (written["family"] == "no promise")
    assert Recipe.parse(recipes.load(name).dump()) == recipes.load(name)


def test_every_recipe_is_listed_once_and_in_the_order_of_families() -> None:
    listed = by_family()
    assert list(listed) == [name for name in FAMILIES if name in listed]
    assert sorted(r.recipe for members in listed.values() for r in members) == recipes.names()


def test_a_line_says_name_title_family_assurance_and_guarantee() -> None:
    line = next(line for line in everything()["recipes"] if line["name"] == "aim")
    assert line == {
        "name": "aim",
        "title": "AIM: adaptive private marginals",
        "family": "differential privacy: models of noisy margins",
        "assurance": "proven",
        "guarantee": "(epsilon, delta)-differential privacy (proven)",
    }
    assert line.items() <= describe("aim").items()


def test_a_recipe_of_ones_own_belongs_to_the_others_and_has_no_evidence_until_it_says_so() -> None:
    recipe = Recipe.parse(OWN)
    assert (recipe.family, recipe.assurance) == ("others", Assurance.NONE)
    named = Recipe.parse(OWN + "family: mine\nassurance: verified\n")
    assert (named.family, named.assurance) == ("mine", Assurance.VERIFIED)
    assert Recipe.parse(named.dump()) == named


def test_an_assurance_that_is_none_of_the_four_is_refused() -> None:
    with pytest.raises(InputError, match="assurance is one of proven, claimed, verified, none, got 'certain'"):
        Recipe.parse(OWN + "assurance: certain\n")


def test_every_audit_has_a_family() -> None:
    assert {audit_family(name) for name in registry.AUDITS} == set(AUDIT_FAMILIES)
    with pytest.raises(InputError, match="there is no audit 'nobody'"):
        audit_family("nobody")
