"""The ladder explorer: every number is that of the library, whatever is clicked."""

from __future__ import annotations

import asyncio
import json
import re
from html import unescape

import pytest

import hushtable as ht
from hushtable.errors import InputError
from hushtable.studio.jobs import State
from hushtable.studio.words import explorer as said
from hushtable.studio.words import recipe as said_of_recipe
from tests.unit.studio.ladders import HOSTILE

MET = {"age": 3, "region": 1, "grade": 2, "code": 1, "since": 4}


def evaluated(client, levels, **demand):
    """What the library says of these levels."""
    workspace = client.studio.workspace
    return ht.evaluate(ht.read(workspace.table, ht.Schema.load(workspace.schema)), levels, **demand)


def look(client, run, levels):
    """Click levels; columns that are not named stay as they are."""
    form = run(client.get("explorer")).form("explorer/look")
    every = {**dict.fromkeys(MET, 0), **levels}
    return run(client.send(form, **{f"level.{name}": str(level) for name, level in every.items()}))


def cells(shown):
    """The figures by their names: of what is looked at, and of the current choice."""
    table = re.search(r"<table[^>]*consequence.*?</table>", shown.text, re.S).group(0)
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr[^>]*>(.*?)</tr>", table)[1:]]
    return {unescape(row[0]): [unescape(cell) for cell in row[1:]] for row in rows}


def plain(choice):
    return said.suppressed(choice.to_json())


@pytest.mark.parametrize("levels", [{}, {"age": 2}, MET])
def test_a_click_shows_what_evaluate_says(ladders, run, levels):
    shown = look(ladders, run, levels)
    choice = evaluated(ladders, levels).choice
    found = cells(shown)
    assert found[said.SMALLEST] == [f"{choice.k:,}"]
    assert found[said.ALONE] == [f"{choice.alone:,}"]
    assert found[said.SUPPRESSED] == [plain(choice)]
    assert found[said.MET] == [said.holds(choice.met)]
    assert unescape(said.verdict(choice.to_json(), {"limit": 0.05})) in unescape(shown.text)
    every = " ".join(f"--level {name}={level}" for name, level in choice.levels.items())
    assert f"hush evaluate town.csv --schema town.studio/schema.yaml {every} --k 5 --l 0 --t 1 --limit 0.05" in unescape(shown.text)
    assert "alert(1)" not in shown.text


def test_it_starts_at_the_lowest_level_of_all_columns_that_holds_and_says_so(ladders, run):
    shown = run(ladders.get("explorer"))
    heights = evaluated(ladders, {}).choice.levels
    tops = dict.fromkeys(heights, 0)
    while not (choice := evaluated(ladders, tops).choice).met:
        raised = {}
        for name, level in tops.items():
            try:
                evaluated(ladders, {name: level + 1})
            except InputError:
                raised[name] = level
            else:
                raised[name] = level + 1
        assert raised != tops
        tops = raised
    assert cells(shown)[said.SUPPRESSED] == [plain(choice)]
    assert cells(shown)[said.MET] == [said.HOLDS]
    assert said.start(max(tops.values()), met=True) in unescape(shown.text)
    # It is a part of Levels, which the rail marks.
    assert re.search(r'href="[^"]*/levels" aria-current="step"', shown.text)
    assert 'id="start"' not in look(ladders, run, MET).text


def test_the_current_choice_stands_beside_with_the_difference(ladders, run):
    shown = look(ladders, run, MET)
    shown = run(ladders.send(shown.form("explorer/current")))
    assert said.IS_CURRENT in shown.text
    shown = look(ladders, run, {"age": 0})
    here, now = evaluated(ladders, {**MET, "age": 0}).choice, evaluated(ladders, MET).choice
    found = cells(shown)
    assert found[said.SUPPRESSED][:2] == [plain(here), plain(now)]
    assert found[said.SUPPRESSED][2] == f"+{here.suppressed - now.suppressed:,}"
    back = run(ladders.send(shown.form("explorer/look", levels=json.dumps(MET))))
    assert said.IS_CURRENT in back.text


def test_neighbours_and_all_that_was_judged_come_at_once_without_script_and_piece_by_piece_with_it(ladders, run):
    look(ladders, run, MET)
    whole = run(ladders.get("explorer?all=yes"))
    around = evaluated(ladders, MET).around
    for rung in around:
        assert said.step(rung.column, rung.choice.levels[rung.column], up=rung.up) in whole.text
        assert plain(rung.choice) in whole.text
    shown = run(ladders.get("explorer"))
    pieces = [run(ladders.get(unescape(place))).text for place in re.findall(r'data-load="([^"]*)"', shown.text)]
    assert sum(piece.count('class="neighbour ') for piece in pieces) == len(around)
    assert pieces[-1].count("<tr") - 1 >= len(around) + 1
    assert said.JUDGED_TABLE in pieces[-1]
    assert f"levels {' '.join(map(str, evaluated(ladders, MET).choice.levels.values()))}" in pieces[-1]


def test_what_is_demanded_can_be_changed_and_what_cannot_be_is_refused(ladders, run):
    look(ladders, run, MET)
    form = run(ladders.get("explorer")).form("explorer/demand")
    shown = run(ladders.send(form, k="9", limit="0.2"))
    assert cells(shown)[said.SMALLEST] == [f"{evaluated(ladders, MET, k=9, limit=0.2).choice.k:,}"]
    for fields in ({"k": "1"}, {"k": "x"}, {"k": "100000"}, {"limit": "2"}, {"t": ""}):
        got = run(ladders.send(form, **fields))
        assert got.status == 422
        assert 'class="fault"' in got.text
    assert ladders.studio.workspace.chosen("explorer")["demand"]["k"] == 9


def test_a_choice_is_pinned_with_a_note_and_goes_stale_with_the_schema(ladders, run):
    shown = look(ladders, run, MET)
    assert run(ladders.send(shown.form("explorer/pin"))).status == 422
    shown = run(ladders.send(shown.form("explorer/pin"), note=f"good enough {HOSTILE}"))
    assert unescape(shown.text).count("good enough") >= 1
    assert HOSTILE not in shown.text
    entry = ladders.studio.workspace.journal.read()[-1]
    assert entry.reason.startswith("good enough")
    assert entry.command[:2] == ("hush", "evaluate")
    text = ladders.studio.workspace.schema_text()
    ladders.studio.workspace.change_schema(f"# another\n{text}", "columns", "edited")
    shown = run(ladders.get("explorer"))
    assert said.STALE in shown.text
    assert "good enough" not in run(ladders.send(shown.form("explorer/unpin"))).text


def test_levels_are_released_through_run_exactly_as_they_were_judged(ladders, run):
    unmet = look(ladders, run, {"age": 0, "region": 0, "grade": 0, "code": 0, "since": 0})
    assert said.not_released(evaluated(ladders, {}).choice.to_json(), {"limit": 0.05}) in unescape(unmet.text)
    assert "explorer/release" not in unmet.text
    shown = look(ladders, run, MET)
    at_recipe = run(ladders.send(shown.form("explorer/release")))
    assert said_of_recipe.QUESTION in at_recipe.text
    form = at_recipe.form("recipe/settings")
    assert json.loads(form.fields["set.generalize.levels"]) == [f"{name}={level}" for name, level in MET.items()]

    async def released():
        await ladders.post(form, hold_out="0", do="run", allow_copies="a test")
        (job,) = [job for job in ladders.studio.jobs.latest() if job.verb == "release"]
        while job.state.open:
            await asyncio.sleep(0.05)
        return job

    job = run(released())
    assert job.state is State.DONE, job.faults
    assert job.result["suppressed"] == evaluated(ladders, MET).choice.suppressed


def test_a_search_shows_its_proof_until_what_is_demanded_is_another(ladders, run):
    look(ladders, run, MET)

    async def searched():
        page = await ladders.get("explorer")
        await ladders.send(page.form("explorer/search"))
        return await ladders.until("explorer", "Proven:")

    shown = run(searched())
    (job,) = [job for job in ladders.studio.jobs.latest() if job.verb == "best_levels"]
    assert job.command[:2] == ("hush", "pareto")
    best = evaluated(ladders, job.result["levels"]).choice
    assert best.met
    assert best.loss == pytest.approx(job.result["value"])
    assert best.loss <= evaluated(ladders, MET).choice.loss
    assert said.IT_IS_THIS in look(ladders, run, job.result["levels"]).text
    form = shown.form("explorer/demand")
    assert said.OTHER_DEMANDS in run(ladders.send(form, k="7")).text


@pytest.mark.parametrize("levels", ["", "[]", '{"age": "x"}', '{"age": -1}', '{"age": 99999999}', "7"])
def test_levels_that_are_none_are_refused(ladders, run, levels):
    form = look(ladders, run, {}).form("explorer/look")
    assert run(ladders.send(form, levels=levels)).status == 422
