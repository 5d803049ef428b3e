"""A release leaves determined columns out of its model by itself: which ones, what its card says, and how that is verified."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import hushtable as ht
from hushtable.errors import InputError
from hushtable.pipeline.recipe import load
from hushtable.pipeline.release import file_hash
from hushtable.pipeline.structure import with_structure
from hushtable.pipeline.verify import verify
from hushtable.privacy.unit import Budget, Unit
from hushtable.synthesize.marginal.walls import code_walls, walls
from hushtable.table.code_list import LISTED
from hushtable.table.columns import Role
from hushtable.table.determined import departs
from hushtable.table.schema import Schema
from tests.contract.test_structure import GROUPS, SCHEMA, people

BUDGET = Budget(1.0, 1e-6)
BARE = SCHEMA.with_determined("group", "code").with_determined("density", "area")


def step(recipe: str, schema: Schema, budget: Budget | None = BUDGET, **knobs: object):
    """The step that is put in front."""
    named = load(recipe).set(knobs) if knobs else load(recipe)
    found = [s for s in with_structure(named, schema, budget, Unit()).steps if type(s).__name__ == "Determined"]
    assert len(found) == 1
    return found[0]


def test_a_model_with_walls_keeps_groups_of_codes_and_no_other():
    assert step("aim", SCHEMA).keep == ("group",)
    assert step("mst", SCHEMA).keep == ("group",)
    assert step("privbayes", SCHEMA).keep == ()


def test_a_column_that_a_knob_names_or_that_is_the_target_stays():
    assert step("sequential", SCHEMA, None, order=("density",)).keep == ("density",)
    target = SCHEMA.with_columns(ht.Schema.parse("columns: {density: {kind: integer, role: target, domain: [0, 500]}}")["density"])
    target = target.with_determined("density", "area", {"north": "12", "south": "340"})
    assert step("privbayes", target).keep == ("density",)


def test_a_list_that_is_not_given_is_paid_for_with_a_budget_and_read_without():
    paid, read = step("aim", BARE), step("sequential", BARE, None)
    assert (paid.discover, paid.read, paid.spends) == (("group", "density"), (), True)
    assert (read.discover, read.read, read.spends) == ((), ("group", "density"), False)


def test_a_recipe_stays_as_it_is_where_nothing_is_determined_or_no_model_draws():
    plain = Schema.parse("columns: {a: {kind: category, domain: [x, y]}, b: {kind: category, domain: [x, y]}}")
    assert with_structure(load("aim"), plain, BUDGET, Unit()) == load("aim")
    assert with_structure(load("k-anonymity"), SCHEMA, None, Unit()) == load("k-anonymity")
    once = with_structure(load("aim"), SCHEMA, BUDGET, Unit())
    assert with_structure(once, SCHEMA, BUDGET, Unit()) == once


def test_the_step_stands_before_the_generator_of_a_chain_and_after_what_learns_domains():
    names = [type(s).__name__ for s in with_structure(load("mdav-sequential"), SCHEMA, None, Unit()).steps]
    assert names == ["Microaggregate", "Determined", "Sequential"]


def test_walls_leave_only_the_pairs_of_a_list():
    pair = SCHEMA.select(["code", "group"])
    assert list(code_walls(pair)) == [("code", "group")]
    mask = walls(pair, 1000)["code", "group"]
    assert mask.shape == (13, 4)
    assert (~mask).sum(axis=1).tolist() == [1] * 13
    assert [pair["group"].levels[place] for place in mask[:12].argmin(axis=1)] == list(GROUPS.values())
    assert not mask[12, 3], "of a missing code the group is missing"
    turned = SCHEMA.select(["group", "code"])
    assert (walls(turned, 1000)["group", "code"] == mask.T).all()
    assert walls(pair, 40) == {}, "there is room for no more cells"


def test_what_a_list_decides_is_not_measured():
    result = ht.release(people(), "mst", epsilon=1.0).result["mst"]
    assert "group x code" not in result["measured"]
    assert len(result["measured"]) == 3, "a tree of five columns beside the target, of which a list joins two"


def test_rows_that_differ_from_a_list_are_counted_for_whoever_holds_them_and_the_release_follows_the_list():
    table = people()
    wrong = table["group"].copy()
    wrong[:7] = (wrong[:7] + 1) % 3
    release = ht.release(table.with_column(SCHEMA["group"], wrong), "aim", epsilon=1.0)
    assert any("in 7 rows group is not what code determines" in text for text in release.warnings)
    assert not any(mask.any() for mask in departs(release.table).values())
    assert "in 7 rows" not in json.dumps(release.card())


def test_a_card_names_every_list_and_another_list_or_another_value_is_found(tmp_path):
    release = ht.release(people(), "mst", epsilon=1.0)
    stated = [text for text in release.guarantee.public if text.startswith(LISTED)]
    lists = ["code -> group", "area -> density", "first -> half", "group -> rate"]
    assert [text.removeprefix(LISTED).split(",")[0] for text in stated] == lists
    folder = ht.save(release, tmp_path / "out")
    assert not verify(folder).faults
    _edited(folder, "schema.yaml", "north: 12", "north: 13")
    assert any(fault.where == "public" and "area -> density" in fault.reason for fault in verify(folder).faults)
    assert any(fault.where == "determined_by" and "density" in fault.reason for fault in verify(folder).faults)


def test_a_row_that_was_changed_is_found(tmp_path):
    folder = ht.save(ht.release(people(), "mst", epsilon=1.0), tmp_path / "out")
    text = (folder / "data.csv").read_text().splitlines()
    place = next(i for i, line in enumerate(text) if ",north," in line)
    _edited(folder, "data.csv", text[place], text[place].replace(",12,", ",13,"))
    assert [fault.where for fault in verify(folder).faults] == ["determined_by"]


def _edited(folder, name: str, old: str, new: str) -> None:
    """A file changed by somebody who knows how to write its hash."""
    path = folder / name
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    card = json.loads((folder / "card.json").read_text())
    card["hashes"][name] = file_hash(path)
    (folder / "card.json").write_text(json.dumps(card))


def test_a_learnt_list_leaves_with_the_release_is_paid_for_and_verified(tmp_path):
    release = ht.release(people().under(BARE), "mst", epsilon=3.0)
    assert [entry.step for entry in release.guarantee.ledger].count("determined") == 2
    assert release.guarantee.epsilon() <= 3.0
    learnt = release.result["determined"]["learnt"]
    assert release.table.schema["group"].determined_by.index == learnt["group"]["codes"]
    assert not any("code -> group" in text for text in release.guarantee.public)
    assert not any(mask.any() for mask in departs(release.table).values())
    folder = ht.save(release, tmp_path / "out")
    assert not verify(folder).faults
    drawn = ht.draw(ht.save_model(release, tmp_path / "it.model"), 100, seed=1)
    assert not any(mask.any() for mask in departs(drawn.table).values())


def test_what_is_fixed_is_the_determining_column_or_a_group_that_the_model_has(tmp_path):
    release = ht.release(people(), "aim", epsilon=1.0)
    model = ht.save_model(release, tmp_path / "it.model")
    groups = ht.draw(model, 50, {"group": "g1"}, seed=1).table
    assert set(groups.strings("group")) == {"g1"}
    assert not any(mask.any() for mask in departs(groups).values())
    codes = ht.draw(model, 50, {"code": "c05"}, seed=1).table
    assert set(codes.strings("group")) == {"g1"}
    with pytest.raises(InputError, match="It follows from area: fix that"):
        ht.draw(model, 50, {"density": "12"}, seed=1)


def test_a_determined_target_that_is_fixed_is_drawn_until_it_follows():
    schema = SCHEMA.with_columns(Schema.parse("columns: {ill: {kind: category, domain: ['no', 'yes']}}")["ill"])
    schema = schema.with_columns(Schema.parse("columns: {group: {kind: category, role: target, domain: [g0, g1, g2]}}")["group"])
    release = ht.release(people().under(schema.with_determined("group", "code", GROUPS)), "privbayes", epsilon=1.0)
    table = release.require_fitted().draw(40, 1, {"group": "g2"})
    assert table.rows == 40
    assert set(table.strings("group")) == {"g2"}
    assert not any(mask.any() for mask in departs(table).values())


WIDE = {f"c{i:03d}": f"g{i % 4}" for i in range(80)}


def wide(rows: int = 1500) -> ht.Table:
    """Many codes in few groups, on which another column depends."""
    rng = np.random.default_rng(1)
    codes = rng.choice(list(WIDE), rows)
    groups = [WIDE[code] for code in codes]
    other = [str(min(9, 2 * int(group[1]) + rng.integers(0, 3))) for group in groups]
    schema = Schema.parse(
        f"columns: {{code: {{kind: category, domain: {list(WIDE)}, required: true}}, group: {{kind: category, domain: "
        "[g0, g1, g2, g3], required: true}, other: {kind: integer, domain: [0, 9], required: true}}"
    )
    return ht.read(pd.DataFrame({"code": codes, "group": groups, "other": other}), schema.with_determined("group", "code", WIDE))


@pytest.mark.parametrize("recipe", ["privbayes", "independent", "dpcopula-marginals"])
def test_where_codes_are_many_a_private_model_without_walls_sees_their_groups(recipe, tmp_path):
    table = wide()
    assert step(recipe, table.schema).within == ("group",)
    assert step("aim", table.schema).within == ()
    assert step("sequential", table.schema, None).within == ()
    release = ht.release(table, recipe, epsilon=3.0, unit=Unit(relation=load(recipe).relation))
    assert not departs(release.table)["group"].any()
    assert len(set(release.table.strings("code"))) > 40
    assert [entry.step for entry in release.guarantee.ledger].count("determined") == 1
    assert any("code is drawn within its group" in caveat for caveat in release.guarantee.caveats)
    assert not verify(ht.save(release, tmp_path / "out")).faults
    drawn = ht.draw(ht.save_model(release, tmp_path / "it.model"), 80, {"group": "g2"}, seed=1).table
    assert set(drawn.strings("group")) == {"g2"}
    assert not departs(drawn)["group"].any()


def test_codes_that_a_knob_names_stay_in_the_model():
    schema = wide().schema
    target = schema.with_columns(replace(schema["code"], role=Role.TARGET))
    assert step("privbayes", target).within == ()
