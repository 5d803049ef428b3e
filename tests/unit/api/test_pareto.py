"""The sheet of many k and limits, and a mapping put on new rows."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import hushtable as ht
from hushtable.api.pareto import BestChoice
from hushtable.checks import example
from hushtable.cli.pareto import _cell
from hushtable.data.people import people
from hushtable.errors import GuaranteeRefused, InputError
from hushtable.pipeline.card import Card
from hushtable.pipeline.release import load_table
from hushtable.pipeline.verify import verify
from hushtable.privacy import criteria
from hushtable.privacy.criteria import Counted
from hushtable.privacy.unit import Unit
from hushtable.report.card import card_page
from hushtable.table import io, trees
from tests.persons import FIVE, held


def test_a_sheet_says_what_single_releases_find(tmp_path):
    table = people(400, seed=5)
    sheet = ht.pareto(table, ks=(2, 5), limits=(0.05, 1.0))
    assert [(line.k, line.limit) for line in sheet.lines] == [(2, 0.05), (2, 1.0), (5, 0.05), (5, 1.0)]
    for line in sheet.lines:
        alone = ht.release(table, "k-anonymity", settings={"k": str(line.k), "limit": str(line.limit)}, seed=1)
        choice = alone.result["generalize"]
        assert line.value == pytest.approx(choice["search"]["value"], rel=1e-9)
        assert line.suppressed == choice["suppressed_rows"]
        assert line.optimal
    sheet.save(tmp_path / "sheet")
    assert "Do not publish" in (tmp_path / "sheet" / "pareto.html").read_text()
    assert json.loads((tmp_path / "sheet" / "pareto.json").read_text())["lines"] == [line.to_json() for line in sheet.lines]


@pytest.mark.parametrize("wrong", [{"ks": (1,)}, {"limits": (2.0,)}, {"ks": ()}, {"ks": (500,)}])
def test_a_sheet_refuses_what_makes_no_sense(wrong):
    with pytest.raises(InputError):
        ht.pareto(example(), **wrong)


@pytest.fixture
def applied(tmp_path):
    """A release of one half of a town, and the other half as a file."""
    table = people(1200, seed=5)
    ht.save(ht.release(table.take(np.arange(600)), "k-anonymity", settings={"k": "4"}, seed=1), tmp_path / "one")
    io.write(table.take(np.arange(600, 1200)), tmp_path / "new.csv")
    return tmp_path


def test_new_rows_get_the_same_mapping_and_a_promise_of_their_own(applied):
    changed = ht.apply(applied / "one", applied / "new.csv", seed=1)
    ht.save(changed, applied / "two")
    assert not verify(applied / "two").faults
    one, two = load_table(applied / "one"), load_table(applied / "two")
    for name in one.schema.quasi:
        if one.schema[name].generalized:
            assert set(two.strings(name)) <= {cell.text for cell in one.schema[name].domain.cells}
        else:
            assert not two.schema[name].generalized
    assert criteria.measure(two, two.schema.quasi)["k"] >= 4
    lines = (applied / "two" / "mapping.csv").read_text().splitlines()
    assert lines[0] == "column,value,released"
    assert len(lines) > 3


def test_a_mapping_that_cannot_be_built_again_is_refused(tmp_path):
    table = example(300)
    (tmp_path / "rows.csv").write_text("age\n" + "\n".join(str(int(a)) for a in table["age"]) + "\n")
    drafted = io.read(tmp_path / "rows.csv", io.draft(tmp_path / "rows.csv"))
    ht.save(ht.release(drafted, "k-anonymity", settings={"k": "9", "columns": "age", "levels": "age=3"}, seed=1), tmp_path / "r")
    with pytest.raises(InputError, match="read off the rows"):
        ht.apply(tmp_path / "r", tmp_path / "rows.csv")
    ht.save(ht.release(table, "mdav", seed=1), tmp_path / "m")
    with pytest.raises(InputError, match="was generalized"):
        ht.apply(tmp_path / "m", tmp_path / "rows.csv")
    ht.save(ht.release(table, "k-anonymity", settings={"local": "true"}, seed=1), tmp_path / "l")
    with pytest.raises(InputError, match="local recoding"):
        ht.apply(tmp_path / "l", tmp_path / "rows.csv")


def test_more_suppression_than_the_recipe_allows_is_refused_with_the_counts(applied):
    few = people(1200, seed=5).take(np.arange(600, 720))
    with pytest.raises(GuaranteeRefused, match=r"of 120 new rows \(.* %\) would be suppressed, more than the 5 %") as refused:
        ht.apply(applied / "one", few, seed=1)
    assert refused.value.exit_code == 3
    with pytest.raises(GuaranteeRefused, match=r"more than the 1 % that was allowed"):
        ht.apply(applied / "one", few, limit=0.01, seed=1)
    allowed = ht.apply(applied / "one", few, limit=1, seed=1)
    gone = allowed.result["generalize"]["suppressed_rows"]
    assert f"limit={math.ceil(100 * gone / 120) / 100}" in str(refused.value)
    assert [w for w in allowed.warnings if w.startswith(f"{gone} of 120 new rows")]
    with pytest.raises(InputError, match="limit: expected a share"):
        ht.apply(applied / "one", few, limit=5)


def test_levels_that_were_given_are_not_called_the_best(applied):
    changed = ht.apply(applied / "one", applied / "new.csv", seed=1)
    assert len(changed.result["generalize"]["search"]["fixed"]) == len(changed.result["generalize"]["columns"])
    page = card_page(Card.from_json(changed.card()))
    assert "The levels were given; nothing was searched" in page
    assert "this is proven" not in page


def test_persons_of_a_release_are_persons_of_new_rows_too(tmp_path):
    table, unit = held(FIVE), Unit(rows=5, by="pid")
    ht.save(ht.release(table.take(np.arange(300)), "k-anonymity", unit=unit, seed=1), tmp_path / "one")
    new = table.take(np.arange(300, 600))
    io.write(new, tmp_path / "new.csv")
    for rows in (new, tmp_path / "new.csv"):
        changed = ht.apply(tmp_path / "one", rows, seed=1)
        assert changed.guarantee.k() == 5
        assert changed.guarantee.promises[0].counted is Counted.PERSONS
    # Without the key five rows may all be one person's.
    assert ht.apply(tmp_path / "one", new.select(["age", "town", "ward", "tag"]), seed=1).guarantee.k() is None


@pytest.mark.parametrize(("optimal", "gap", "shown"), [(True, None, "%)"), (False, 0.25, "gap 0.25"), (False, None, "gap unknown")])
def test_the_console_shows_a_gap_that_is_not_known(optimal, gap, shown):
    choice = BestChoice(k=2, limit=0.0, value=0.5, suppressed=0, suppressed_share=0.0, optimal=optimal, gap=gap, levels={})
    assert _cell(choice).endswith(shown)


def test_a_release_of_an_earlier_version_is_applied_with_the_levels_that_it_had(tmp_path, monkeypatch):
    """Other levels are derived now: what the card says of the old ones decides."""
    table = example(400)
    with monkeypatch.context() as former:
        former.setattr(trees, "derive", trees.derive_formerly)
        ht.save(ht.release(table, "k-anonymity", settings={"k": "4", "levels": "age=3"}, seed=1), tmp_path / "old")
    then = {cell.text for cell in load_table(tmp_path / "old").schema["age"].domain.cells}
    now = ht.apply(tmp_path / "old", table, limit=1, seed=1).table.schema["age"]
    assert {cell.text for cell in now.domain.cells} <= then
    card = json.loads((tmp_path / "old" / "card.json").read_text())
    card["result"]["generalize"]["columns"]["age"]["ladder"][0]["cells"] += 1
    (tmp_path / "old" / "card.json").write_text(json.dumps(card))
    with pytest.raises(InputError, match="derived by another version"):
        ht.apply(tmp_path / "old", table, limit=1, seed=1)
