"""The screen Columns: what it changes is held against the rows, kept so that it can be undone, noted, and shows no value."""

from __future__ import annotations

import csv
import json
import random
import re

import pytest

from hushtable.studio.studio import Studio
from hushtable.studio.words import columns as said
from hushtable.studio.worker import Worker
from hushtable.table.columns import Facet, Kind, Levels
from hushtable.table.schema import Schema
from tests.unit.studio.client import Client
from tests.unit.studio.conftest import PATIENT, open_table

ROWS = 240
SECRET = "Zwetschgenkompott"
"""Somebody's value, which no page may show."""


def make_survey(folder, wide=0):
    """A table of everything that is to be noticed."""
    draw = random.Random(4)
    rows = []
    for i in range(ROWS):
        town = draw.choice(["Bern", "Graz", "Ulm", "Metz"])
        rows.append(
            {
                "person_id": f"P{i:05d}", "age": draw.randrange(18, 90), "town": town, "town_code": "BGUM".index(town[0]),
                "hours": "N" if i % 20 == 0 else draw.randrange(0, 60), "score": -99 if i % 30 == 0 else draw.randrange(0, 40),
                "survey_weight": round(draw.uniform(0.5, 4), 3), "household_id": i // 3,
                "grade": "x" if i % 25 == 0 else draw.randrange(1, 5), "note": SECRET if i == 7 else draw.choice("abc"),
                **{f"q{j}": draw.randrange(3) for j in range(wide)},
            }
        )  # fmt: skip
    with (folder / "survey.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture
def window(tmp_path, run):
    make_survey(tmp_path)
    opened = Client(Studio(tmp_path, worker=Worker(PATIENT)))
    run(opened.enter())
    run(open_table(opened, "survey.csv"))
    yield opened
    run(opened.studio.close())


def place(window, name):
    return list(window.studio.workspace.roles()).index(name)


def schema(window):
    return Schema.load(window.studio.workspace.schema)


def row_form(page, action, window, name, **fields):
    return page.form(f"columns/{action}", column=str(place(window, name)), **fields)


def last(window):
    return window.studio.workspace.journal.read()[-1]


def test_a_role_is_changed_noted_undone_and_redone(window, run):
    page = run(window.get("columns"))
    before = window.studio.workspace.schema_text()
    page = run(window.send(row_form(page, "role", window, "town"), role="secret"))
    assert schema(window)["town"].role == "secret"
    assert Facet.ROLE not in schema(window)["town"].drafted
    assert last(window).change == said.set_role(["town"], "secret")
    # What the drafter wrote on top is still there.
    assert window.studio.workspace.schema_text().startswith("# Drafted from the data")
    page = run(window.send(page.form("columns/undo")))
    assert window.studio.workspace.schema_text() == before
    page = run(window.send(page.form("columns/redo")))
    assert schema(window)["town"].role == "secret"
    # Nothing is done by choosing what holds already.
    count = len(window.studio.workspace.journal.read())
    run(window.send(row_form(page, "role", window, "town"), role="secret"))
    assert len(window.studio.workspace.journal.read()) == count


def test_the_headline_follows_the_roles_and_names_what_the_others_do(window, run):
    text = run(window.get("columns/-/headline")).text
    assert "others may know" not in text
    page = run(window.get("columns"))
    names = [name for name, role in window.studio.workspace.roles().items() if role == "quasi"]
    assert all(name in text for name in names)
    for name in names:
        page = run(window.send(row_form(page, "role", window, name), role="plain"))
    text = run(window.get("columns/-/headline")).text
    assert "nobody could be recognised" in text
    assert "The other columns that would be released single out" in text
    assert "survey_weight" in text


def test_what_is_noticed_is_named_with_what_can_be_done(window, run):
    page = run(window.get("columns"))
    for text in (
        said.remark("words", ["N"], "", "integer"), said.remark("sentinels", ["-99"], "", "integer"),
        said.remark("weight", [], "", "real"), said.remark("household", [], "", "key"),
        said.remark("offer", ["x"], "", "category"), "It says the same as town",
    ):  # fmt: skip
        assert text in page.text, text
    assert SECRET not in page.text


def test_numbers_with_a_word_become_numbers_and_back(window, run):
    page = run(window.get("columns"))
    page = run(window.send(row_form(page, "offer", window, "grade", what="offer")))
    assert (schema(window)["grade"].kind, schema(window)["grade"].missing) == (Kind.INTEGER, ("x",))
    page = run(window.send(row_form(page, "offer", window, "score", what="sentinels")))
    own = schema(window)["score"]
    assert own.missing == ("-99",)
    assert own.bounds.low >= 0
    assert not own.required
    page = run(window.send(row_form(page, "offer", window, "hours", what="words")))
    assert schema(window)["hours"].kind is Kind.CATEGORY
    assert "N" in schema(window)["hours"].levels
    page = run(window.send(row_form(page, "offer", window, "survey_weight", what="weight")))
    assert window.studio.workspace.roles()["survey_weight"] == "identifier"
    assert said.remark("weight", [], "", "real") not in page.text


def test_a_kind_that_the_values_are_not_of_is_refused_in_its_line_without_a_value(window, run):
    page = run(window.get(f"columns?view=column&column={place(window, 'note')}"))
    got = run(window.post(page.form("columns/change"), kind="integer", label="Remark"))
    assert got.status == 422
    assert f'href="#field-column.{place(window, "note")}"' in got.text
    assert f'id="field-column.{place(window, "note")}"' in got.text
    assert "rows hold values of another form than whole numbers" in got.text
    assert 'value="Remark"' in got.text
    assert SECRET not in got.text
    assert schema(window)["note"].kind is not Kind.INTEGER


def test_a_domain_is_given_with_a_reason_and_not_without(window, run):
    number = place(window, "age")
    page = run(window.get(f"columns?view=column&column={number}"))
    form = page.form("columns/change")
    got = run(window.post(form, domain="given", low="0", high="120"))
    assert got.status == 422
    assert 'id="fault-reason"' in got.text
    run(window.send(form, domain="given", low="0", high="120", reason="Law on the census", label="Age in years"))
    own = schema(window)["age"]
    assert (own.bounds.low, own.bounds.high, own.undeclared) == (0, 120, frozenset())
    assert schema(window).declared_by == "age: Law on the census"
    assert [entry.reason for entry in window.studio.workspace.journal.read()][-2:] == ["Law on the census", ""]
    page = run(window.get("columns"))
    assert "Age in years" in page.text
    assert "0 to 120, declared public" in page.text
    # Rows beyond it are counted, and not shown.
    page = run(window.get(f"columns?view=column&column={number}"))
    got = run(window.post(page.form("columns/change"), high="30", reason="x"))
    assert got.status == 422
    assert "values outside the declared domain" in got.text
    run(window.send(page.form("columns/change"), domain="rows"))
    assert schema(window)["age"].observed


def test_values_are_given_one_on_a_line_and_none_is_shown_that_was_read(window, run):
    page = run(window.get(f"columns?view=column&column={place(window, 'town')}"))
    assert "Bern" not in page.text
    run(window.send(page.form("columns/change"), domain="given", levels="Bern\r\nGraz\r\nUlm\r\nMetz\r\nWien", reason="Code list"))
    assert schema(window)["town"].domain == Levels(("Bern", "Graz", "Ulm", "Metz", "Wien"))
    assert "Wien" in run(window.get(f"columns?view=column&column={place(window, 'town')}")).text


def test_many_are_declared_with_one_reason(window, run):
    page = run(window.get("columns"))
    form = page.form("columns/many")
    got = run(window.post(form, do="public"))
    assert got.status == 422
    assert 'href="#field-reason"' in got.text
    assert 'href="#field-every"' in got.text
    run(window.send(form, do="public", every="yes", reason="Questionnaire"))
    assert schema(window).undeclared == {}
    assert "more columns: Questionnaire" in schema(window).declared_by
    assert last(window).reason == "Questionnaire"
    page = run(window.get("columns?show=quasi"))
    run(window.send(page.form("columns/many"), do="role", every="yes", new_role="plain"))
    assert "quasi" not in window.studio.workspace.roles().values()


def test_a_data_dictionary_is_taken_where_it_agrees(window, run, tmp_path):
    said_of = {
        "AGE": {"type": "integer", "min": 0, "max": 120, "label": "Age in years"},
        "town": {"type": "category", "values": {"Bern": "", "Graz": ""}}, "shoe": {"type": "integer"},
    }  # fmt: skip
    (tmp_path / "codes.json").write_text(json.dumps(said_of))
    page = run(window.get("columns?view=dictionary"))
    assert "survey.csv" not in page.text[page.text.index("<main") :].split('id="content"')[1].split('id="command"')[0]
    (own,) = re.findall(r'name="file" value="([^"]+)" aria-label="[^"]*codes.json"', page.text)
    form = page.form("columns/dictionary")
    assert run(window.post(form, file=own)).status == 422
    page = run(window.send(form, file=own, reason="Census law"))
    assert schema(window)["age"].bounds.high == 120
    assert schema(window).declared_by == "data dictionary codes.json (Census law)"
    assert "Age in years" in page.text
    assert said.contradicted(1) in page.text
    assert "has 2 levels that it does not list" in page.text


def test_the_yaml_is_asked_for_and_its_faults_land_in_the_grid(window, run):
    # By its address alone nothing is shown.
    assert said.YAML_TITLE not in run(window.get("columns?view=yaml")).text
    page = run(window.get("columns"))
    page = run(window.send(page.form("columns/open_yaml")))
    assert last(window).change == said.OPENED_YAML
    text = window.studio.workspace.schema_text()
    form = page.form("columns/yaml")
    broken = text.replace("kind: integer", "kind: whole", 1).replace("role: secret", "role: hidden", 1)
    got = run(window.post(form, yaml=broken.replace("\n", "\r\n")))
    assert got.status == 422
    places = re.findall(r'href="#(field-column\.\d+)"', got.text)
    assert len(places) == 1 + ("role: secret" in text)
    assert all(f'id="{one}"' in got.text for one in places)
    assert "kind: whole" in got.text
    assert window.studio.workspace.schema_text() == text
    assert run(window.post(form, yaml="columns: [")).status == 422
    assert "no such column" in run(window.post(form, yaml=text + "  more: {kind: text}\n")).text
    run(window.send(form, yaml=text.replace("# Drafted", "# Read. Drafted")))
    assert window.studio.workspace.schema_text().startswith("# Read. Drafted")
    assert last(window).change == said.WROTE_YAML
    assert said.YAML_TITLE not in run(window.get("columns?view=yaml")).text


def test_of_many_columns_a_page_is_shown_and_any_is_found(tmp_path, run):
    make_survey(tmp_path, wide=120)
    window = Client(Studio(tmp_path, worker=Worker(PATIENT)))

    async def go():
        await window.enter()
        await open_table(window, "survey.csv")
        page = await window.get("columns")
        assert said.place(1, 50, 130) in page.text
        assert page.text.count('class="risks"') == 50
        far = await window.send(page.form("columns/find"), find="Q119")
        assert said.place(101, 130, 130) in far.text
        await window.send(row_form(far, "role", window, "q119"), role="target")
        assert (await window.get("columns?show=target")).text.count('class="risks"') == 1
        assert (await window.post(page.form("columns/find"), find="nowhere")).status == 422
        assert said.place(101, 130, 130) in (await window.get("columns?start=9999999")).text
        piece = re.search(r'data-load="([^"]*column=129[^"]*)"', far.text)
        assert said.ADDS in (await window.get(piece[1].replace("&amp;", "&"))).text
        await window.studio.close()

    run(go())


def test_a_column_that_is_gone_is_refused(window, run):
    page = run(window.get("columns"))
    for number in ("-1", "999", "x", "99999999999"):
        got = run(window.post(page.form("columns/role"), column=number, role="plain"))
        assert got.status == 422
        assert said.STRANGE_COLUMN in got.text


def test_what_is_noticed_of_many_columns_is_mended_in_all_of_them_at_once(client, run, town):
    draw = random.Random(1)
    lines = [",".join(str(draw.choice([1, 2, 3, 4, -98, -99])) for _ in range(5)) + f",{i % 7}" for i in range(200)]
    (town / "scales.csv").write_text("q1,q2,q3,q4,q5,visits\n" + "\n".join(lines) + "\n")
    run(open_table(client, "scales.csv"))
    page = run(client.get("columns"))
    assert said.alike(5) in page.text
    run(client.send(page.form("columns/offer", column="1", what="sentinels"), column="1"))
    page = run(client.get("columns"))
    page = run(client.send(page.form("columns/offer", column="0", what="sentinels", all="yes")))
    assert page.status == 200
    assert said.alike(5) not in page.text
    found = schema(client)
    assert [set(column.missing) for column in found] == [{"-98", "-99"}] * 5 + [set()]
    assert "Columns q1, q3, q4 and q5" in client.studio.workspace.journal.read()[-1].change
    page = run(client.send(page.form("columns/undo")))
    assert [bool(column.missing) for column in schema(client)] == [False, True, False, False, False, False]
