"""The Python face: knobs as arguments, frames in and out, what notebooks show, and estimators."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hushtable as ht
from hushtable.api.compare.axis import Axis
from hushtable.errors import GuaranteeRefused, InputError
from hushtable.pipeline import recipe as recipes
from hushtable.privacy.guarantee import Guarantee
from hushtable.privacy.preserve import Form, Promise, Syntactic
from hushtable.privacy.unit import Relation
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

NASTY = '<script>alert("x")</script>'


def table(rows: int = 200, *, observed: bool = False) -> Table:
    """Two numbers and two categories; the level of one is written to be misread as markup."""
    rng = np.random.default_rng(5)
    columns = (
        Column(name="age", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(17, 97, observed), required=True),
        Column(name="pay", kind=Kind.REAL, role=Role.QUASI, domain=Bounds(0.0, 9.0, observed), decimals=1, required=True),
        Column(
            name="ward", kind=Kind.CATEGORY, role=Role.SECRET, domain=Levels(("north", NASTY, "south"), observed), required=True
        ),
        Column(name="back", kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(("no", "yes"), observed), required=True),
    )
    schema = Schema(columns)
    arrays = {
        "age": rng.integers(17, 98, rows).astype(schema["age"].dtype),
        "pay": schema["pay"].from_floats(rng.uniform(0, 9, rows)),
        "ward": rng.choice(3, rows).astype(schema["ward"].dtype),
        "back": rng.choice(2, rows).astype(schema["back"].dtype),
    }
    return Table(schema, arrays)


def alike(one: Table, other: Table) -> bool:
    return one.frame().equals(other.frame())


# Knobs


@pytest.mark.parametrize("way", [{"k": 7}, {"settings": {"k": "7"}}, {"settings": {"microaggregate.k": 7}}])
def test_a_knob_is_the_same_by_name_by_text_and_by_value(way):
    released = ht.release(table(), "mdav", seed=1, **way)
    assert released.guarantee.promises[0].value == 7
    assert alike(released.table, ht.release(table(), recipes.load("mdav").set({"k": "7"}), seed=1).table)


@pytest.mark.parametrize("columns", [["age"], ("age",), {"age"}, "age"])
def test_a_list_of_columns_may_be_any_sequence(columns):
    released = ht.release(table(), "mdav", k=5, columns=columns, seed=1, allow_copies="nobody exists")
    assert released.guarantee.promises[0].quasi == ("age",)


def test_an_unknown_knob_is_refused_with_the_known_ones_and_every_fault_is_listed():
    with pytest.raises(InputError) as error:
        ht.release(table(), "mdav", kk=10, k=2.5)
    first, second = sorted(str(fault) for fault in error.value.faults)
    assert "whole number" in first
    assert "microaggregate.k" in second


# Frames


def test_a_frame_without_a_schema_is_read_under_a_drafted_one_that_says_so():
    read = ht.read(table().to_pandas())
    assert "drafted from the rows" in repr(read)
    assert "drafted" not in repr(ht.read(table().to_pandas(), table().schema))


@pytest.mark.parametrize("way", ["to_pandas", "to_polars", "to_arrow"])
def test_a_table_goes_to_a_frame_and_comes_back(way):
    frame = getattr(table(), way)()
    assert alike(ht.read(frame, table().schema), table())


def test_methods_are_frames_and_an_unknown_kind_is_refused():
    assert set(ht.methods().index) == set(recipes.names())
    assert set(ht.methods()["evidence"]) == {"proven", "verified", "claimed", "none"}
    assert "k" in ht.methods("steps").loc["microaggregate", "knobs"]
    assert "neighbours" in ht.methods("audits").loc["linkability", "knobs"]
    with pytest.raises(InputError, match="recipes, steps, audits"):
        ht.methods("attacks")


# Drawing again


def test_drawing_again_is_free_reproducible_and_fresh():
    released = ht.release(table(400), "independent", epsilon=50.0)
    spent = released.guarantee.to_json()["ledger"]
    one, same, other = released.draw(1000, seed=1), released.draw(1000, seed=1), released.draw(1000, seed=2)
    assert one.rows == 1000
    assert alike(one, same)
    assert not alike(one, other)
    assert released.guarantee.to_json()["ledger"] == spent
    shares = [np.bincount(t["ward"], minlength=3) / t.rows for t in (one, released.table)]
    assert np.abs(shares[0] - shares[1]).sum() < 0.15


def test_an_anonymized_table_cannot_be_drawn_from_and_a_table_has_two_rows():
    with pytest.raises(InputError, match="no model"):
        ht.release(table(), "mdav", seed=1).draw(10)
    with pytest.raises(InputError, match="at least two"):
        ht.release(table(), "sequential", seed=1).draw(1)


def test_what_is_promised_of_the_table_is_measured_again_on_every_draw():
    promise = Promise(kind=Syntactic.K_ANONYMITY, value=5, quasi=("age",))
    assert promise.form is Form.SYNTACTIC
    released = ht.release(table(), "sequential", seed=1)
    promised = replace(released, guarantee=replace(released.guarantee, promises=(promise,)))
    with pytest.raises(GuaranteeRefused, match="nothing is released"):
        promised.draw(40, 1)


# What a notebook shows


def things() -> dict[str, object]:
    released = ht.release(table(), "mdav", k=5, seed=1)
    train, control = ht.hold_out(table(), 0.3, seed=1)
    report = ht.audit(train, ht.release(train, "mdav", k=5, seed=1), control, only=["linkability"], gates=["alarms<1"])
    return {
        "table": table(),
        "schema": table().schema,
        "release": released,
        "guarantee": released.guarantee,
        "recipe": released.recipe,
        "report": report,
        "finding": report.findings[0],
    }


@pytest.fixture(scope="module")
def shown() -> dict[str, object]:
    return things()


@pytest.mark.parametrize("name", ["table", "schema", "release", "guarantee", "recipe", "report", "finding"])
def test_everything_shows_itself_without_a_script_and_escaped(shown, name):
    html = shown[name]._repr_html_()
    assert html.startswith('<div class="hush">')
    assert "<script" not in html
    assert html == ht.show(shown[name])._repr_html_()
    assert repr(ht.show(shown[name])) == repr(shown[name])


def test_a_table_shows_columns_and_counts_but_no_row():
    html = table()._repr_html_()
    assert "200 rows" in html
    assert "17 to 97" in html
    assert "north" not in html


def test_what_was_read_off_the_rows_is_counted_and_not_told():
    html = table(observed=True)._repr_html_()
    assert "17" not in html
    assert "97" not in html
    assert "read off the rows" in html


def test_a_release_shows_its_promise_and_its_first_rows(shown):
    html = shown["release"]._repr_html_()
    assert "verified" in html
    assert "&lt;script&gt;" in html
    assert html.count("<tr") == 6


def test_reports_and_guarantees_are_short_as_text(shown):
    assert repr(shown["guarantee"]) == "Guarantee(verified: k-anonymity, k = 5)"
    assert repr(shown["release"]) == (
        "Release(mdav: 200 rows, 4 columns; verified: k-anonymity, k = 5; 2 columns unchanged, 0 % of the rows alone on them)"
    )
    assert "conditions hold" in repr(shown["report"])
    assert len(repr(shown["report"])) < 120
    assert repr(Guarantee()) == "Guarantee(nothing is promised)"


def test_a_report_is_a_frame(shown):
    frame = shown["report"].frame()
    assert len(frame) == len(shown["report"].findings)
    assert set(shown["report"].frame(whole=True)["scope"]) <= {""}


@pytest.mark.parametrize("name", ["table", "schema", "release", "guarantee", "recipe", "report", "finding"])
def test_a_page_is_written_whole_and_what_was_read_off_raw_rows_is_its_owners(shown, name, tmp_path):
    path = tmp_path / "page.html"
    ht.show(shown[name], path)
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    public = name in ("release", "guarantee", "recipe")
    assert ("INTERNAL: computed from the raw rows, do not publish" in text) is not public
    assert bool(stat.S_IMODE(path.stat().st_mode) & 0o077) is public
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]


def test_what_is_not_known_is_not_shown():
    with pytest.raises(InputError, match="how to show a int"):
        ht.show(3)
    with pytest.raises(InputError, match="how to show a Axis"):
        ht.show(Axis("a name", "a label", "a meaning"))


# Estimators


@pytest.fixture
def frame() -> pd.DataFrame:
    return table().to_pandas()


def test_an_anonymizer_returns_a_frame_and_keeps_what_it_promises(frame):
    result = ht.Anonymizer("mdav", k=10, schema=table().schema, random_state=1)
    protected = result.fit_transform(frame)
    assert list(protected.columns) == list(frame.columns)
    assert protected.groupby(["age", "pay"]).size().min() >= 10
    assert result.guarantee_.promises[0].value == 10
    assert result.n_features_in_ == 4
    assert list(result.feature_names_in_) == list(frame.columns)


def test_a_synthesizer_spends_once_and_samples_often(frame):
    model = ht.Synthesizer("mst", epsilon=1.0, schema=table().schema).fit(frame)
    assert model.guarantee_.epsilon() <= 1.0
    assert model.sample(30, random_state=1).equals(model.sample(30, random_state=1))
    assert len(model.sample(30)) == 30
    assert len(model.sample()) == model.release_.table.rows
    assert len(model.guarantee_.ledger) == len(model.release_.guarantee.ledger)


def test_without_a_declared_domain_privacy_is_refused(frame):
    with pytest.raises(GuaranteeRefused, match="read off the rows"):
        ht.Synthesizer("mst", epsilon=1.0).fit(frame)


def test_a_domain_can_be_paid_for():
    many = pd.concat([table(4000).to_pandas()[["back", "ward"]]], ignore_index=True)
    model = ht.Synthesizer("mst", epsilon=5.0, learn_domain=True).fit(many)
    assert model.guarantee_.epsilon() <= 5.0
    assert any(entry.step == "learn-domain" for entry in model.guarantee_.ledger)


def test_the_same_state_gives_the_same_rows_and_another_does_not(frame):
    def made(state):
        return ht.Synthesizer("sequential", schema=table().schema, random_state=state).fit(frame).sample()

    assert made(1).equals(made(1))
    assert not made(1).equals(made(2))


def test_parameters_can_be_read_changed_and_cloned():
    from sklearn.base import clone

    result = ht.Anonymizer("mdav", k=10, random_state=3)
    copied = clone(result)
    assert copied is not result
    assert copied.get_params() == result.get_params() == {
        "recipe": "mdav", "epsilon": None, "delta": None, "schema": None, "unit": None, "learn_domain": False,
        "random_state": 3, "allow_copies": None, "k": 10,
    }  # fmt: skip
    assert copied.set_params(k=4).get_params()["k"] == 4
    assert result.get_params()["k"] == 10
    assert repr(result) == "Anonymizer(recipe='mdav', random_state=3, k=10)"
    with pytest.raises(InputError, match=r"microaggregate\.k"):
        result.set_params(kk=4, random_state=9)
    assert result.random_state == 3


def test_an_estimator_that_is_not_fitted_says_so(frame):
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    result = ht.Synthesizer("mst", epsilon=1.0)
    with pytest.raises(NotFittedError, match="call fit"):
        result.sample(3)
    with pytest.raises(NotFittedError):
        check_is_fitted(result)
    check_is_fitted(ht.Anonymizer("mdav", schema=table().schema).fit(frame))


def test_a_synthesizer_refuses_a_recipe_that_draws_nothing(frame):
    with pytest.raises(InputError, match="Anonymizer"):
        ht.Synthesizer("mdav", schema=table().schema).fit(frame)


# Units


def test_a_relation_given_as_text_is_the_relation():
    assert ht.Unit(relation="replace_one").relation is Relation.REPLACE_ONE
    with pytest.raises(InputError, match="add_remove, replace_one"):
        ht.Unit(relation="replace")


def test_a_relation_as_text_is_accounted_for_like_the_relation_itself():
    costs = [
        ht.release(table(), "independent", epsilon=1.0, unit=ht.Unit(relation=relation)).guarantee.to_json()
        for relation in ("replace_one", Relation.REPLACE_ONE)
    ]
    assert costs[0]["relation"] == costs[1]["relation"] == "replace_one"
    assert costs[0]["rho"] == pytest.approx(costs[1]["rho"], rel=0.05)


def test_a_release_folder_read_back_can_be_audited(tmp_path: Path):
    ht.save(ht.release(table(), "mdav", k=5, seed=1), tmp_path / "release")
    released, card = ht.read_release(tmp_path / "release", table().schema)
    assert released.rows == 200
    assert card.recipe == "mdav"
