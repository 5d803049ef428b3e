"""The last steps: the checklist, the card's words, the zip; and that a stranger's zip can do no harm."""

from __future__ import annotations

import hashlib
import json
import stat
import struct
import zipfile
from dataclasses import replace

import pytest

import hushtable as ht
from hushtable.api.publish import Item, State
from hushtable.errors import GuaranteeRefused, InputError
from hushtable.evidence.condition import Outcome
from hushtable.pipeline import bundle
from hushtable.pipeline.release import load_card, load_table

ABOUT = {"title": "A town", "contact": "data@example.org", "licence": "CC BY 4.0", "purpose": "teaching: statistics"}


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """A release, its audit and the file that it was made from."""
    folder = tmp_path_factory.mktemp("town")
    train, control = ht.hold_out(ht.people(400, seed=1), 0.3, seed=0)
    ht.write(train, folder / "train.csv")
    released = ht.release(train, "independent", epsilon=1.0)
    ht.save(released, folder / "release")
    report = ht.audit(train, released, control, only=["linkability"], card=load_card(folder / "release"), seed=0)
    report.save(folder / "audit")
    return folder


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def states(found):
    return {check.item: check.state for check in found.checks}


def test_every_item_holds_where_all_is_done(town, tmp_path):
    folder = ht.describe(town / "release", tmp_path / "described", **ABOUT)
    source = (town / "train.csv", digest(town / "train.csv"))
    found = ht.checklist(folder, audit=town / "audit", source=source)
    expected = dict.fromkeys(Item, State.HOLDS)
    if found.decision.answer.name != "NO_OBJECTION":
        expected[Item.DECISION] = State.OPEN
    assert states(found) == expected


def test_what_is_missing_is_open_and_needs_a_name_and_a_reason(town, tmp_path):
    found = ht.checklist(town / "release")
    assert not found.refused
    assert {check.item for check in found.answerable} == {
        Item.AUDITED, Item.COUNTS, Item.GATES, Item.DECISION, Item.UNCHANGED,
    }  # fmt: skip
    assert found[Item.DESCRIBED].reasons == tuple(f"the card lacks {name}" for name in ("contact", "licence", "purpose"))
    for more in ({}, {"by": "Ann"}, {"reason": "a test"}, {"by": " ", "reason": " "}):
        with pytest.raises(GuaranteeRefused, match="a name and a reason"):
            ht.publish(town / "release", tmp_path / "out.zip", **more)
    assert not list(tmp_path.iterdir())
    made = ht.publish(town / "release", tmp_path / "out.zip", by="Ann", reason="a test")
    assert (made.by, made.reason) == ("Ann", "a test")
    assert ht.verify(tmp_path / "out.zip").holds


@pytest.mark.parametrize(
    ("change", "item"),
    [
        (lambda report, folder: (replace(report, void=("the control is the table",)), None), Item.COUNTS),
        (lambda report, folder: (replace(report, gates=[Outcome("k>=10", False, "there is none")]), None), Item.GATES),
        (
            lambda report, folder: (replace(report, card=replace(report.card, plain={"hashes": {"data.csv": "0"}})), None),
            Item.AUDITED,
        ),
        (lambda report, folder: (report, (folder / "train.csv", "0" * 64)), Item.UNCHANGED),
        (lambda report, folder: (report, (folder / "gone.csv", "0" * 64)), Item.UNCHANGED),
    ],
)
def test_what_fails_is_refused_whoever_answers_for_it(town, tmp_path, change, item):
    report, source = change(ht.read_audit(town / "audit"), town)
    found = ht.checklist(town / "release", audit=report, source=source)
    assert found[item].state is State.FAILS
    assert found[item].reasons
    with pytest.raises(GuaranteeRefused, match="nothing is published"):
        ht.publish(town / "release", tmp_path / "out.zip", audit=report, source=source, by="Ann", reason="a test")


def test_a_private_file_in_the_folder_is_refused(town, tmp_path):
    folder = ht.describe(town / "release", tmp_path / "release", title="Another")
    (folder / "audit.json").write_text("{}")
    found = ht.checklist(folder)
    assert found[Item.ALONE].state is State.FAILS
    assert found[Item.VERIFIED].state is State.FAILS
    with pytest.raises(InputError, match="was not released"):
        bundle.pack(folder, tmp_path / "out.zip")
    assert not (tmp_path / "out.zip").exists()


def test_a_described_release_has_the_same_rows_and_other_words(town, tmp_path):
    folder = ht.describe(town / "release", tmp_path / "one", **ABOUT)
    assert ht.verify(folder).holds
    card, before = load_card(folder), load_card(town / "release")
    assert {card["data_title"], card["contact"], card["licence"], card["purpose"]} == set(ABOUT.values())
    assert card["guarantee"] == before["guarantee"]
    assert card["hashes"]["data.csv"] == before["hashes"]["data.csv"]
    assert load_table(folder).schema.about == ABOUT
    assert all(text in (folder / "card.html").read_text() for text in ABOUT.values())
    again = ht.describe(folder, tmp_path / "two", title="Another")
    assert load_card(again)["data_title"] == "Another"
    assert load_card(again)["contact"] == ABOUT["contact"]
    assert ht.verify(again).holds
    (folder / "data.csv").write_text("x\n1\n")
    with pytest.raises(InputError, match="not described anew"):
        ht.describe(folder, tmp_path / "three", title="A third")


def test_the_same_release_makes_the_same_zip_of_its_own_files_alone(town, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one = bundle.pack(town / "release", tmp_path / "a" / "town.zip")
    other = bundle.pack(town / "release", tmp_path / "b" / "town.zip")
    assert one.sha256 == other.sha256 == digest(one.path)
    with zipfile.ZipFile(one.path) as archive:
        names = {entry.filename for entry in archive.infolist()}
    assert names == {f"town/{file.name}" for file in one.files}
    assert {file.name for file in one.files} == {*load_card(town / "release")["hashes"], "card.json"}
    for file in one.files:
        assert file.sha256 == digest(town / "release" / file.name)
    assert one.to_json()["sha256"] == one.sha256
    with pytest.raises(InputError, match="exists already"):
        bundle.pack(town / "release", one.path)
    with pytest.raises(InputError, match=r"ends in \.zip"):
        bundle.pack(town / "release", tmp_path / "town.tar")
    with pytest.raises(InputError, match="lies inside the release"):
        bundle.pack(town / "release", town / "release" / "own.zip")


def test_a_zip_that_was_changed_is_found_out(town, tmp_path):
    path = bundle.pack(town / "release", tmp_path / "town.zip").path
    repacked(path, tmp_path / "more.zip", lambda name, data: (name, data + b"1,2\n" if name.endswith("data.csv") else data))
    assert any("hash differs" in str(fault) for fault in ht.verify(tmp_path / "more.zip").faults)
    # The same files without a folder around them are a release too.
    repacked(path, tmp_path / "flat.zip", lambda name, data: (name.partition("/")[2], data))
    assert ht.verify(tmp_path / "flat.zip").holds


def repacked(path, target, change):
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in archive.infolist():
            name, data = change(entry.filename, archive.read(entry))
            new.writestr(name, data)


NAMES = (
    "../escaped.csv", "town/../../escaped.csv", "/tmp/escaped.csv", "town\\..\\escaped.csv", "C:/escaped.csv", "town/audit.json",
    "town/hierarchies/../data.csv", "town/data.csv/../card.html", "town/run.py",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_that_lead_out_or_are_no_release_are_refused(town, tmp_path, name):
    path = bundle.pack(town / "release", tmp_path / "town.zip").path
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(name, "x")
    with pytest.raises(InputError) as refused:
        ht.verify(path)
    assert "leads out of the folder" in str(refused.value) or "no file that a release has" in str(refused.value)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["town.zip"]


def test_a_link_is_refused(town, tmp_path):
    path = bundle.pack(town / "release", tmp_path / "town.zip").path
    entry = zipfile.ZipInfo("town/mapping.csv")
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(entry, "/etc/passwd")
    with pytest.raises(InputError, match="is a link"):
        ht.verify(path)


def test_a_name_that_stands_twice_is_refused(town, tmp_path):
    path = bundle.pack(town / "release", tmp_path / "town.zip").path
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("town/data.csv", "x")
    with pytest.raises(InputError, match="twice"):
        ht.verify(path)


def test_what_swells_is_refused_before_it_is_unpacked(town, tmp_path, monkeypatch):
    path = bundle.pack(town / "release", tmp_path / "town.zip").path
    monkeypatch.setattr(bundle, "_unpack", lambda *_: pytest.fail("it was unpacked"))
    with pytest.raises(InputError, match="at most 1,000 are unpacked"), bundle.unpacked(path, largest=1_000):
        pass
    # A list that claims more than can be packed.
    whole = bytearray(path.read_bytes())
    place = whole.rindex(b"PK\x01\x02")
    struct.pack_into("<I", whole, place + 24, 1 << 31)
    (tmp_path / "lies.zip").write_bytes(whole)
    with pytest.raises(InputError, match="would swell"):
        ht.verify(tmp_path / "lies.zip")


def test_files_that_overlap_are_refused(town, tmp_path):
    path = bundle.pack(town / "release", tmp_path / "town.zip").path
    whole = bytearray(path.read_bytes())
    places, at = [], 0
    while (at := whole.find(b"PK\x01\x02", at)) >= 0:
        places.append(at)
        at += 4
    for place in places:
        struct.pack_into("<I", whole, place + 20, len(whole) // 2)
    (tmp_path / "lies.zip").write_bytes(whole)
    with pytest.raises(InputError, match="overlap"):
        ht.verify(tmp_path / "lies.zip")


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x05\x06" + b"\0" * 18])
def test_what_is_no_zip_of_a_release_is_refused(tmp_path, content):
    (tmp_path / "x.zip").write_bytes(content)
    with pytest.raises(InputError):
        ht.verify(tmp_path / "x.zip")


def test_a_list_is_plain_values(town):
    plain = json.loads(json.dumps(ht.checklist(town / "release").to_json()))
    assert [check["item"] for check in plain["checks"]] == [str(item) for item in Item if item is not Item.DESCRIBED] + [
        "described"
    ]
