"""The screen Audit: the verdict, what each attacker gains, who is given away by which row, and that values stay hidden."""

from __future__ import annotations

import html
import json
import re
from itertools import pairwise

import pytest

from hushtable.api.report import read_audit
from hushtable.evidence.verdict import publish, severity
from hushtable.studio import words
from hushtable.studio.jobs import State
from hushtable.studio.studio import Studio
from hushtable.studio.words import audit as said
from hushtable.studio.worker import Worker
from hushtable.table import io
from tests.unit.studio.audited import attacked, released
from tests.unit.studio.client import Client
from tests.unit.studio.conftest import PATIENT, make_town, open_table


@pytest.fixture(scope="module")
def audited(tmp_path_factory, run, state):
    """A window on a studio whose table was released and attacked."""
    opened = Client(Studio(make_town(tmp_path_factory.mktemp("audited")), worker=Worker(PATIENT)))
    run(opened.enter())
    run(open_table(opened))
    opened.made = released(opened)
    opened.job = attacked(opened, opened.made)
    yield opened
    run(opened.studio.close())


@pytest.fixture
def started(monkeypatch):
    """Jobs are put in the queue and not run: what they would do is looked at."""
    monkeypatch.setattr("hushtable.studio.jobs.Jobs._next", lambda self: None)


def report_of(audited):
    return read_audit(audited.job.request["out"])


def test_without_a_release_the_way_to_one_is_offered(client, run):
    run(open_table(client))
    text = run(client.get("audit")).text
    assert said.NONE_YET in text
    assert f'href="{client.prefix}/run"' in text


def test_a_release_without_a_control_says_so_and_is_made_again_with_one(client, run, started):
    run(open_table(client))
    old = released(client, hold_out=None)
    page = run(client.get("audit"))
    assert said.NO_CONTROL in page.text
    assert said.START not in page.text
    run(client.send(page.form("audit/anew")))
    job = next(iter(client.studio.jobs.latest()))
    assert job.verb == "release"
    assert job.request == {**old.request, "folder": str(job.folder / "release"), "hold_out": 0.3}
    assert "--hold-out 0.3" in " ".join(client.studio.workspace.journal.read()[-1].command)
    # Nobody can start an audit of the first all the same.
    forged = page.form("audit/anew")
    forged.action = forged.action.replace("/anew", "/start")
    assert said.NO_CONTROL in run(client.send(forged)).text


def test_an_audit_is_started_with_its_conditions(audited, run, started):
    page = run(audited.get("audit?run=001"))
    assert said.START not in page.text
    del audited.studio.jobs.jobs[audited.job.id]
    try:
        page = run(audited.get("audit"))
        run(audited.send(page.form("audit/start"), gates="max_gain<0.05; k>=5", power="yes"))
        job = next(iter(audited.studio.jobs.latest()))
        assert (job.verb, job.name, job.state) == ("audit", "audit", State.QUEUED)
        assert job.request["gates"] == ["max_gain<0.05", "k>=5"]
        assert job.request["power"] is True
        text = " ".join(audited.studio.workspace.journal.read()[-1].command)
        assert "--train people.studio/runs/001/release.private/train.csv" in text
        assert "--known both --gate max_gain<0.05 --gate k>=5 --power --out people.studio/runs/001/audit" in text
        job.state = State.CANCELLED
    finally:
        audited.studio.jobs.jobs[audited.job.id] = audited.job
        audited.job.save()


def test_the_verdict_is_that_of_the_evidence_with_what_would_remove_each_alarm(audited, run):
    text = html.unescape(run(audited.get("audit")).text)
    evidence = report_of(audited).evidence
    assert evidence.causes
    assert publish(evidence).answer in text
    for cause in evidence.causes:
        assert cause.remedy[1:] in text
        assert all(label in text for label in cause.alarms)
    assert audited.job.result["answer"] == publish(evidence).answer
    strip = text[text.index('id="strip"') : text.index('id="faults"')]
    assert publish(evidence).answer in strip


@pytest.mark.parametrize("known", ["quasi", "all"])
def test_each_attacker_has_their_own_attacks_the_worst_first(audited, run, known):
    text = html.unescape(run(audited.get(f"audit?tab=attacks&known={known}")).text)
    attacks = sorted((f for f in report_of(audited).findings if f.risk and f.value is not None), key=severity)
    rows = re.findall(r"<tr[^>]*><td[^>]*><span>([^<]*)</span>", text)
    ours = [f.label for f in attacks if f.known in ("", known)]
    assert ours
    assert sorted(rows) == sorted(ours)
    others = [f.label for f in attacks if f.known not in ("", known)]
    assert others
    assert not set(others) & set(rows)
    for risk in {f.risk for f in attacks}:
        places = [rows.index(f.label) for f in attacks if f.risk is risk and f.label in rows and f.gain.outside < 0.9]
        assert all(a < b for a, b in pairwise(places))


def test_a_line_shows_both_sides_the_difference_and_its_interval(audited, run):
    text = html.unescape(run(audited.get("audit?tab=attacks&known=all")).text)
    worst = next(f for f in sorted(report_of(audited).findings, key=severity) if f.risk and f.known == "all")
    line = text[text.index(f"<span>{worst.label}</span>") :]
    inside, outside, gain, between = re.findall(r'<td class="num"[^>]*>([^<]*)</td>', line)[:4]
    assert float(inside.removesuffix(" %")) == pytest.approx(100 * (worst.gain.value + worst.gain.outside), abs=0.2)
    assert float(outside.removesuffix(" %")) == pytest.approx(100 * worst.gain.outside, abs=0.2)
    assert float(gain) == pytest.approx(100 * worst.gain.value, abs=0.2)
    low, high = between.split(" to ")
    assert float(low) <= float(gain) <= float(high)


def test_attacks_that_succeed_on_nearly_everybody_stand_apart(audited, run):
    general = [
        f for f in report_of(audited).findings if f.gain and f.gain.outside >= 0.9 and f.known == "all" and f.value is not None
    ]
    text = html.unescape(run(audited.get("audit?tab=attacks&known=all")).text)
    apart = "".join(re.findall(r'<details[^>]*class="apart".*?</details>', text, re.S))
    assert all(f"<span>{f.label}</span>" in apart for f in general)
    assert (said.general(len(general)) in text) == bool(general) or len({f.risk for f in general}) > 1


def test_choosing_columns_runs_again_what_depends_on_them(audited, run, started):
    page = run(audited.get("audit?tab=attacks&known=choose"))
    assert "person_id" not in re.findall(r'name="column" value="([^"]*)"', page.text)
    assert said.NO_COLUMNS in run(audited.send(page.form("audit/choose"))).text
    run(audited.send(page.form("audit/choose"), column="sex"))
    job = next(iter(audited.studio.jobs.latest()))
    assert (job.verb, job.name, job.request["known"]) == ("audit", "audit-2", ["sex"])
    # Measures of use do not depend on the attacker.
    assert set(job.request["only"]) <= {"identical-matches", "rare-values", "linkability"}
    assert job.request["only"]
    job.state = State.CANCELLED
    del audited.studio.jobs.jobs[job.id]
    (job.folder / "audit-2.job.json").unlink()


def test_attacks_of_who_knows_some_columns_are_shown_and_not_run_twice(audited, run):
    job = attacked(audited, audited.made, name="audit-2", only=("identical-matches",), known=["sex", "income"])
    try:
        page = run(audited.get("audit?tab=attacks&known=audit-2"))
        assert "sex, income" in html.unescape(page.text)
        form = page.form("audit/choose")
        got = run(audited.ask("POST", form.action, f"token={form.fields['token']}&run=001&column=sex&column=income".encode()))
        assert got.headers["location"].endswith("known=audit-2")
    finally:
        del audited.studio.jobs.jobs[job.id]
        (job.folder / "audit-2.job.json").unlink()


def values(audited):
    """What people hold that is long enough to be told from a word of the page."""
    table = io.read(audited.studio.workspace.table)
    return {v for name in ("person_id", "birth_date", "income") for v in table.strings(name) if v is not None and len(v) > 3}


def test_records_stand_beside_the_rows_that_give_them_away_without_a_value(audited, run):
    text = run(audited.get("audit?tab=people")).plain
    shown = text[text.index('id="content"') : text.index('id="command"')]
    assert [value for value in values(audited) if value in shown] == []
    report = report_of(audited)
    assert f'id="record-{report.records[0].row}"' in shown
    assert 'class="agrees"' in shown
    assert "9999-99-99" in shown
    plain = json.loads((audited.made.folder / "audit.people.json").read_text())
    kept = json.dumps([record["pairs"] for record in plain["records"]])
    assert [value for value in values(audited) if value in kept] == []


def test_values_are_shown_of_one_record_that_is_noted_and_hidden_again(audited, run):
    journal = audited.studio.workspace.journal
    page = run(audited.get("audit?tab=people"))
    row = int(re.search(r'id="show-(\d+)"', page.text).group(1))
    # An address alone shows nothing.
    assert 'class="record shown"' not in run(audited.get(f"audit?tab=people&row={row}&show=1")).text
    before = len(journal.read())
    page = run(audited.send(page.form("audit/show", row=str(row))))
    table = io.read(audited.made.folder / "release.private" / "train.csv")
    income = table.strings("income")[row - 1]
    record = page.text[page.text.index(f'id="record-{row}"') :]
    assert income is None or f"<code>{income}</code>" in record[: record.index("</li>")]
    assert page.text.count('class="record shown"') == 1
    (entry,) = journal.read()[before:]
    assert entry.change == said.shown("001", row)
    assert [value for value in values(audited) if value in entry.change] == []
    run(audited.send(page.form("audit/hide", row=str(row))))
    assert 'class="record shown"' not in run(audited.get("audit?tab=people")).text


def test_people_are_filtered_by_group_without_a_value_in_the_address(audited, run):
    plain = json.loads((audited.made.folder / "audit.people.json").read_text())
    for place, group in enumerate(plain["groups"]):
        text = run(audited.get(f"audit?tab=people&group={place}")).text
        rows = [int(row) for row in re.findall(r'id="record-(\d+)"', text)]
        assert rows == [record["row"] for record in plain["records"] if record["row"] in group["rows"]][:20]
    text = run(audited.get("audit?tab=people&group=999")).text
    assert 'id="record-' in text


def test_use_stands_beside_fresh_rows_columns_worst_first(audited, run):
    text = html.unescape(run(audited.get("audit?tab=use")).text)
    for title in said.USE_TITLES.values():
        assert f"<h2>{title}</h2>" in text
    report = report_of(audited)
    assert all(f.scope in text for f in report.findings if f.audit == "margins" and f.scope and f.value is not None)
    assert said.FRESH in text


def test_the_link_to_other_levels_is_there_for_generalized_releases_and_with_that_screen(audited, run, monkeypatch):
    from hushtable.studio import screens

    def tabs():
        return re.search(r'<nav[^>]*id="tabs".*?</nav>', run(audited.get("audit")).text, re.S).group()

    assert said.LEVELS not in tabs()
    monkeypatch.setitem(audited.made.result, "files", [*audited.made.result["files"], "mapping.csv"])
    assert f">{said.LEVELS}</a>" in tabs()
    monkeypatch.setattr(screens, "SCREENS", tuple(one for one in screens.SCREENS if one.name != "explorer"))
    assert said.LEVELS not in tabs()


@pytest.mark.parametrize("asked", ["run=999", "tab=nonsense", "known=../x", "group=-1", "start=99999999999999", "job=none"])
def test_an_address_of_nothing_shows_what_there_is(audited, run, asked):
    page = run(audited.get(f"audit?tab=people&{asked}"))
    assert page.status == 200
    assert "decided" in page.text


def test_a_form_about_no_release_is_refused(audited, run):
    page = run(audited.get("audit?tab=people"))
    assert words.NO_SUCH_RUN in run(audited.send(page.form("audit/show"), run="../001")).text
