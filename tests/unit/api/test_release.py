"""A release made from a file: held out, released and saved by one call, and what is refused before a row is read."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import yaml

import hushtable as ht
from hushtable.api.release import ReleaseRequest
from hushtable.errors import InputError
from hushtable.pipeline.options import ReleaseOptions
from hushtable.privacy.unit import Unit
from tests.persons import FIVE, held


@pytest.fixture
def request_of(tmp_path, small) -> ReleaseRequest:
    ht.write(small, tmp_path / "data.csv")
    (tmp_path / "schema.yaml").write_text(small.schema.dump(), encoding="utf-8")
    return ReleaseRequest(
        data=tmp_path / "data.csv", schema=tmp_path / "schema.yaml", folder=tmp_path / "out", recipe="mdav", settings={"k": "3"},
        options=ReleaseOptions(seed=1),
    )  # fmt: skip


def test_one_call_holds_out_releases_and_saves(request_of, small):
    saved = ht.release_to_folder(replace(request_of, hold_out=0.3))
    assert saved.private is not None
    assert stat.S_IMODE(saved.private.stat().st_mode) == 0o700
    control = ht.read(saved.private / "control.csv", request_of.schema)
    assert saved.train_rows + control.rows == small.rows
    assert saved.used_rows == saved.train_rows
    assert saved.files == sorted(p.name for p in request_of.folder.iterdir())
    assert saved.to_json()["folder"] == str(request_of.folder)
    assert ht.verify(request_of.folder).holds


def test_a_model_is_saved_with_the_release_and_a_recipe_without_one_writes_nothing(request_of):
    with pytest.raises(InputError, match="no model"):
        ht.release_to_folder(replace(request_of, model=request_of.folder.with_name("it.model")))
    assert not request_of.folder.exists()
    model = request_of.folder.with_name("it.model")
    options = ReleaseOptions(epsilon=5.0)
    saved = ht.release_to_folder(replace(request_of, recipe="independent", settings={}, options=options, model=model))
    assert saved.model is not None
    assert ht.draw(saved.model, rows=5).table.rows == 5


def test_a_request_goes_through_yaml(request_of):
    whole = replace(request_of, hold_out=0.2, options=ReleaseOptions(epsilon=1.0, unit=Unit(by="who")), sign=Path("my.key"))
    for one in (request_of, whole, replace(whole, recipe=None, settings={}, best_of=("mst", "aim"))):
        assert ReleaseRequest.from_json(yaml.safe_load(yaml.safe_dump(one.to_json()))) == one
    with pytest.raises(InputError, match="no option recipes"):
        ReleaseRequest.from_json({"recipes": "mdav"})


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"recipe": None}, "name a recipe"),
        ({"best_of": ("mst",)}, "not both"),
        ({"recipe": None, "best_of": ("mst",)}, "needs --epsilon"),
        ({"recipe": None, "best_of": ("mst",), "options": ReleaseOptions(epsilon=1.0)}, "takes no --set"),
        ({"form": "xlsx"}, "csv, csv.gz or parquet"),
    ],
)
def test_what_cannot_be_done_is_refused_when_it_is_asked_for(request_of, change, reason):
    with pytest.raises(InputError, match=reason):
        replace(request_of, **change)


def test_an_output_that_exists_is_refused_before_the_rows_are_read(request_of):
    request_of.folder.mkdir()
    with pytest.raises(InputError, match="exists already"):
        ht.release_to_folder(replace(request_of, data=Path("nowhere.csv")))


VISITS = """
columns:
  pid: {kind: %s, role: %s}
  age: {kind: integer, domain: [0, 99], required: true}
  sex: {kind: category, domain: [f, m], required: true}
"""


def visits(persons: int, rows: int, kind: str = "key", role: str = "identifier") -> ht.Table:
    """So many rows, spread evenly over so many persons."""
    plain = {"pid": [f"p{i % persons}" for i in range(rows)], "age": [i % 99 for i in range(rows)], "sex": ["f", "m"] * (rows // 2)}
    return ht.read(pd.DataFrame(plain), ht.Schema.parse(VISITS % (kind, role)))


@pytest.mark.parametrize("persons", [1, 2, 60])
def test_with_a_budget_the_schema_alone_decides_who_can_be_a_person(persons):
    """A refusal that flips where one row more or less is dropped would give away how many there are."""
    released = ht.release(visits(persons, 60), "independent", epsilon=1.0, unit=Unit(by="pid"))
    said = [line for line in released.warnings if "rows would be dropped" in line]
    assert len(said) == (persons < 6)
    assert not any("would be dropped" in text for text in json.dumps(released.card()).splitlines())
    with pytest.raises(InputError, match="declares it as category with the role plain, so it is no key") as refused:
        ht.release(visits(persons, 60, "category", "plain"), "independent", epsilon=1.0, unit=Unit(by="pid"))
    assert "60" not in str(refused.value)
    # Whoever says how many rows a person holds means it.
    table = visits(persons, 60, "category", "plain").declared()
    assert ht.release(table, "independent", epsilon=1.0, unit=Unit(rows=2, by="pid"))


def test_without_a_budget_a_person_column_that_drops_most_rows_is_refused():
    with pytest.raises(InputError, match="97% of the 60 rows would be dropped"):
        ht.release(visits(2, 60), "mdav", k=2, unit=Unit(by="pid"), seed=1)


def test_the_best_of_several_warns_of_dropped_rows_too(request_of, tmp_path):
    table = visits(2, 60)
    ht.write(table, tmp_path / "visits.csv")
    table.schema.save(tmp_path / "visits.yaml")
    options = ReleaseOptions(epsilon=1.0, unit=Unit(by="pid"))
    asked = replace(
        request_of, data=tmp_path / "visits.csv", schema=tmp_path / "visits.yaml", recipe=None, settings={},
        best_of=("independent",), options=options,
    )  # fmt: skip
    assert any("rows would be dropped" in line for line in ht.release_to_folder(asked).release.warnings)


@pytest.mark.parametrize(
    ("recipe", "options"), [("mdav", {"k": 3, "allow_copies": "a test"}), ("mst", {"epsilon": 1.0, "delta": 1e-6})]
)
def test_a_key_that_repeats_is_named_where_nobody_says_who_holds_several_rows(recipe, options):
    table = held(FIVE).declared()
    made = ht.release(table, recipe, seed=1, **options)
    (said,) = [warning for warning in made.warnings if "repeat" in warning]
    assert said.endswith("counts rows, not people. Give --person pid --rows-per-person 5")
    assert "pid" not in json.dumps(made.card()["guarantee"])
    for other in (
        ht.release(table, recipe, seed=1, unit=Unit(by="pid", rows=5), **options),
        ht.release(held([1] * 300 + [2] * 10).declared(), recipe, seed=1, **options),
    ):
        assert not any("repeat" in warning for warning in other.warnings)
