"""The ladders of the columns, as a browser without script has them: what is shown, what is built, and that all can be undone."""

from __future__ import annotations

import json
import re
from html import unescape
from urllib.parse import urlencode

import pytest

import hushtable as ht
from hushtable.studio.words import levels as said
from hushtable.table.columns import Kind, Levels
from hushtable.table.hierarchy import DateTree, FileTree, IntervalTree
from tests.unit.studio.ladders import HOSTILE


def number(client, name):
    return list(client.studio.workspace.roles()).index(name)


def schema(client):
    return ht.Schema.load(client.studio.workspace.schema)


def page(client, run, name, **query):
    more = "".join(f"&{key}={value}" for key, value in query.items())
    return run(client.get(f"levels?column={number(client, name)}{more}"))


def put(client, run, text):
    """Another schema, as if a person had edited it."""
    ht.Schema.parse(text, folder=client.studio.workspace.folder)
    client.studio.workspace.change_schema(text, "columns", "edited")


def test_a_ladder_shows_values_with_counts_and_what_each_level_leaves(ladders, run):
    shown = page(ladders, run, "age", beside="yes").text
    tree = ht.hierarchy(ht.read(ladders.studio.workspace.table, schema(ladders)), "age")
    assert said.headline("age", len(tree.levels) - 1, "derived") in shown
    for group in tree.levels[-2]:
        assert f"{group.label} <span" in unescape(shown)
    by_itself = ht.evaluate(ht.read(ladders.studio.workspace.table, schema(ladders)), {}, k=2, settings={"columns": ("age",)})
    for choice in by_itself.choices.along({}, "age"):
        assert said.leaves({"classes": choice.classes, "alone": choice.alone}) in shown
    assert "hush hierarchy town.csv --schema town.studio/schema.yaml --column age" in shown


def test_values_of_few_people_are_counted_until_asked_for_which_is_noted(ladders, run):
    first = page(ladders, run, "region")
    assert "alert(1)" not in first.text
    assert said.hidden(1) in unescape(first.text)
    second = run(ladders.send(first.form("show_values")))
    assert HOSTILE not in second.text
    assert HOSTILE in unescape(second.text)
    assert said.FEW in unescape(second.text)
    entry = ladders.studio.workspace.journal.read()[-1]
    assert entry.change == said.looked("region")
    hidden = run(ladders.send(second.form("hide_values")))
    assert "alert(1)" not in hidden.text


@pytest.mark.parametrize(
    ("column", "way", "fields", "made"),
    [
        ("age", "intervals", {"widths": "5, 10, 20"}, IntervalTree((5.0, 10.0, 20.0))),
        ("since", "dates", {"unit": "year"}, DateTree(("year",))),
    ],
)
def test_a_builder_is_saved_in_the_schema_and_can_be_undone(ladders, run, column, way, fields, made):
    before = ladders.studio.workspace.schema_text()
    first = page(ladders, run, column)
    form = first.form("build", way=way)
    form.fields.pop("unit", None)
    done = run(ladders.send(form, **fields))
    assert schema(ladders)[column].hierarchy == made
    assert unescape(said.spec(made.spec())) in done.text
    back = run(ladders.send(done.form("undo")))
    assert ladders.studio.workspace.schema_text() == before
    run(ladders.send(back.form("redo")))
    assert schema(ladders)[column].hierarchy == made


def test_prefixes_are_suggested_for_codes_and_frequency_is_marked(ladders, run):
    first = page(ladders, run, "code")
    assert first.form("build", way="prefix").fields["lengths"] == "3, 2, 1"
    run(ladders.send(first.form("build", way="prefix"), lengths="2"))
    assert schema(ladders)["code"].hierarchy.spec() == {"prefix": ["2"]}
    run(ladders.send(page(ladders, run, "region").form("build", way="frequency"), least="10"))
    region = schema(ladders)["region"]
    assert isinstance(region.hierarchy, FileTree)
    assert "hierarchy" in region.drafted
    assert re.fullmatch(r"hierarchies/region-\d+\.csv", region.hierarchy.path)
    assert (ladders.studio.workspace.folder / region.hierarchy.path).stat().st_mode & 0o077 == 0
    run(ladders.send(page(ladders, run, "region").form("build", way="derived")))
    assert schema(ladders)["region"].hierarchy is None


@pytest.mark.parametrize(
    ("column", "way", "fields", "fault"),
    [
        ("age", "intervals", {"widths": "ten"}, said.NO_WIDTHS),
        ("age", "intervals", {"widths": "10, 15"}, "is no multiple"),
        ("region", "prefix", {"lengths": "2, 4"}, "must fall"),
        ("region", "frequency", {"least": "0"}, "at least 1"),
        ("age", "prefix", {"lengths": "2"}, "prefixes are of codes"),
    ],
)
def test_what_cannot_be_built_is_said_beside_its_field_and_changes_nothing(ladders, run, column, way, fields, fault):
    before = ladders.studio.workspace.schema_text()
    form = next(f for f in page(ladders, run, column).forms() if f.action.endswith("levels/build"))
    got = run(ladders.send(form, way=way, **fields))
    assert got.status == 422
    assert fault in unescape(got.text)
    assert said.headline(column, 0, "derived").split(" can")[0] in got.text
    assert ladders.studio.workspace.schema_text() == before


def file_form(client, run, name):
    shown = page(client, run, "region")
    entries, _ = client.studio.files.listing(client.studio.files.root, (".csv",))
    return shown.form("build", way="file"), next(entry.id for entry in entries if entry.name == name)


def test_a_hierarchy_file_that_leaves_values_out_names_them_first(ladders, run):
    form, own = file_form(ladders, run, "regions.csv")
    got = run(ladders.send(form, file=own))
    assert got.status == 422
    assert said.orphans(1, ["Ulm"]) in unescape(got.text)
    done = run(ladders.send(got.form("build", way="file"), file=own, fill="yes"))
    tree = schema(ladders)["region"].hierarchy
    assert ("Ulm", "Ulm", "*") in tree.rows
    assert ("Kiel", "north", "*") in tree.rows
    # What was read by hand may still be a rare value of somebody: its group is named odd, and that is shown.
    assert "north" in done.text
    form, own = file_form(ladders, run, "other.csv")
    assert said.NOT_OF_THIS in run(ladders.send(form, file=own)).text


def test_a_file_outside_of_the_start_folder_is_not_read(ladders, run):
    form, _ = file_form(ladders, run, "regions.csv")
    assert run(ladders.send(form, file="../../etc/passwd")).status == 422


def move(client, run, shown, labels, **fields):
    """Mark these lines and move them."""
    places = re.findall(r'name="item" value="(\d+)" id="[^"]*" aria-label="([^"]*),', shown.text)
    marked = [place for place, label in places if unescape(label) in labels]
    assert len(marked) == len(labels)
    form = shown.form("levels/move")
    body = [(name, value) for name, value in {**form.fields, **fields}.items() if name != "item"]
    body += [("item", place) for place in marked]
    got = run(client.ask("POST", form.action, urlencode(body).encode()))
    return run(client.get(got.headers["location"])) if got.status == 303 else got


def test_values_are_moved_to_groups_level_by_level_and_one_by_one_undone(ladders, run):
    shown = move(ladders, run, page(ladders, run, "region"), ["Kiel", "Bremen"], label="north")
    rows = {row[0]: row[1:] for row in schema(ladders)["region"].hierarchy.rows}
    assert rows["Kiel"] == rows["Bremen"] == ("north", "*")
    assert rows["Ulm"] == ("Ulm", "*")
    to = re.search(r'value="(\d+)">north \(2\)', shown.text).group(1)
    shown = move(ladders, run, shown, ["Berlin"], to=to)
    assert dict(row[:2] for row in schema(ladders)["region"].hierarchy.rows)["Berlin"] == "north"
    second = page(ladders, run, "region", level=2)
    shown = move(ladders, run, second, ["north", "Jena"], label="all of the north")
    rows = {row[0]: row[1:] for row in schema(ladders)["region"].hierarchy.rows}
    assert rows["Berlin"] == ("north", "all of the north", "*")
    assert rows["Jena"] == ("Jena", "all of the north", "*")
    run(ladders.send(shown.form("levels/remove")))
    assert {len(row) for row in schema(ladders)["region"].hierarchy.rows} == {3}
    for _ in range(3):
        shown = run(ladders.send(page(ladders, run, "region").form("undo")))
    assert dict(row[:2] for row in schema(ladders)["region"].hierarchy.rows)["Berlin"] == "Berlin"
    changes = [entry.change for entry in ladders.studio.workspace.journal.read()]
    assert said.moved("region", 2, 1) in changes
    assert [change for change in changes if "Kiel" in change or "north" in change] == []


@pytest.mark.parametrize(
    ("labels", "fields", "fault"),
    [
        ([], {"label": "north"}, said.NOTHING_MARKED),
        (["Kiel"], {"label": ""}, said.NO_LABEL),
        (["Kiel"], {"label": "*"}, said.NO_LABEL),
        (["Kiel"], {"label": "Ulm", "to": ""}, None),
        (["Kiel"], {"at": "99", "label": "north"}, said.CHANGED_MEANWHILE),
        (["Kiel"], {"to": "77"}, said.CHANGED_MEANWHILE),
        (["Kiel"], {"level": "9", "label": "north"}, said.CHANGED_MEANWHILE),
    ],
)
def test_a_move_that_makes_no_sense_changes_nothing(ladders, run, labels, fields, fault):
    before = ladders.studio.workspace.schema_text()
    got = move(ladders, run, page(ladders, run, "region"), labels, **fields)
    if fault is None:
        # Into the group of another value, which is there: Ulm and Kiel are then called Ulm.
        assert dict(row[:2] for row in schema(ladders)["region"].hierarchy.rows)["Kiel"] == "Ulm"
        return
    assert got.status == 422
    assert fault in unescape(got.text)
    assert ladders.studio.workspace.schema_text() == before


def test_an_order_is_changed_with_up_and_down(ladders, run):
    shown = page(ladders, run, "grade")
    assert run(ladders.send(shown.form("levels/order"), up="2")).status == 200
    assert schema(ladders)["grade"].levels == ("low", "high", "mid")
    assert schema(ladders)["grade"].kind is Kind.ORDINAL
    assert isinstance(schema(ladders)["grade"].domain, Levels)
    shown = page(ladders, run, "grade")
    run(ladders.send(shown.form("levels/order"), down="0"))
    assert schema(ladders)["grade"].levels == ("high", "low", "mid")
    assert run(ladders.send(page(ladders, run, "grade").form("levels/order"), up="0")).status == 422


def test_a_run_takes_the_hierarchies_that_its_schema_names(ladders, run):
    move(ladders, run, page(ladders, run, "region"), ["Kiel", "Bremen"], label="north")
    workspace = ladders.studio.workspace
    frozen = workspace.freeze(workspace.numbered("runs"))
    assert ht.Schema.load(frozen)["region"].hierarchy == schema(ladders)["region"].hierarchy


def test_addresses_and_choices_hold_no_value(ladders, run):
    shown = move(ladders, run, page(ladders, run, "region"), ["Kiel"], label="secret label")
    addresses = re.findall(r'(?:href|action|data-load)="([^"]*)"', shown.text)
    assert [a for a in addresses if "Kiel" in a or "secret" in a] == []
    assert "Kiel" not in json.dumps(ladders.studio.workspace.project.choices)


def test_without_columns_that_others_may_know_there_is_nothing_to_do(ladders, run):
    put(ladders, run, ladders.studio.workspace.schema_text().replace("role: quasi", "role: plain"))
    assert said.NONE in run(ladders.get("levels")).text
    assert run(ladders.get("explorer")).status == 200


def test_a_schema_that_does_not_fit_the_rows_can_be_undone_here(ladders, run):
    folder = ladders.studio.workspace.folder
    (folder / "hierarchies" / "short-1.csv").write_text("Kiel;north;*\n")
    text = re.sub(r"(  region: .*?role: quasi)", r"\1, hierarchy: hierarchies/short-1.csv", ladders.studio.workspace.schema_text())
    ladders.studio.workspace.change_schema(text, "columns", "edited")
    shown = run(ladders.get("levels"))
    assert "has no line" in shown.text
    assert said.VALUES in run(ladders.send(shown.form("levels/undo"))).text
