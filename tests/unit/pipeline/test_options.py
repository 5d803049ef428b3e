"""The options of a release: checked when they are made, plain values in a file, the same by keyword and whole."""

from __future__ import annotations

from dataclasses import fields

import pytest
import yaml

import hushtable as ht
from hushtable.errors import InputError
from hushtable.pipeline.options import ReleaseFields, ReleaseOptions
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Relation, Unit

WHOLE = ReleaseOptions(
    epsilon=1.5, delta=0.0, unit=Unit(relation=Relation.REPLACE_ONE, rows=3, by="who"), rows=20, seed=4, unproven=True,
    learn_domain=True,
)  # fmt: skip


@pytest.mark.parametrize("options", [WHOLE, ReleaseOptions()])
def test_options_go_through_yaml(options):
    assert ReleaseOptions.from_json(yaml.safe_load(yaml.safe_dump(options.to_json()))) == options


def test_keywords_are_the_fields():
    assert set(ReleaseFields.__annotations__) == {field.name for field in fields(ReleaseOptions)}


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"rows": 1}, "rows"),
        ({"rows": 2.5}, "rows"),
        ({"seed": -1}, "seed"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": 1e9}, "epsilon"),
        ({"epsilon": 1.0, "delta": 1.0}, "delta"),
        ({"delta": 1e-6}, "delta"),
    ],
)
def test_what_is_out_of_range_is_refused_when_options_are_made(given, where):
    with pytest.raises(InputError) as error:
        ReleaseOptions(**given)
    assert [fault.where for fault in error.value.faults] == [where]


def test_an_unknown_option_in_a_file_is_named():
    with pytest.raises(InputError, match=r"no option epsilom \(did you mean 'epsilon'\?\); there are .*epsilon"):
        ReleaseOptions.from_json({"epsilom": 1})


def test_noise_for_tests_is_not_saved():
    with pytest.raises(InputError, match="cannot be saved"):
        ReleaseOptions(entropy=Entropy.seeded(1)).to_json()


def test_options_given_whole_by_keyword_and_as_both_make_the_same_release(small):
    whole = ht.release(small, "mdav", ReleaseOptions(seed=3), k=4)
    keywords = ht.release(small, "mdav", k=4, seed=3)
    both = ht.release(small, "mdav", ReleaseOptions(seed=9), k=4, seed=3, unit=None)
    assert whole.table.frame().equals(keywords.table.frame())
    assert whole.table.frame().equals(both.table.frame())
