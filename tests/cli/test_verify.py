"""``hush verify``, ``keys`` and ``sign``: what is said, and the exit codes."""

from __future__ import annotations

import json

import pytest

from hushtable.pipeline.signature import PASSPHRASE


def words(town, out, recipe="mdav", *more):
    return ["release", town / "people.csv", "--schema", town / "schema.yaml", "--recipe", recipe, "--out", out, "--seed", 1, *more]


def test_what_was_checked_and_what_rests_on_trust_is_told(hush, town, tmp_path):
    assert hush(*words(town, tmp_path / "out"))[0] == 0
    code, out, _ = hush("verify", tmp_path / "out")
    assert code == 0
    assert out.startswith("ok")
    assert "rests on the word" in out
    assert "card.html" in out
    code, out, _ = hush("verify", tmp_path / "out", "--json")
    assert code == 0
    assert json.loads(out)["holds"] is True


def test_a_derived_promise_is_not_checkable(hush, town, tmp_path):
    assert hush(*words(town, tmp_path / "out", "mdav-sample"))[0] == 0
    code, out, complaint = hush("verify", tmp_path / "out")
    assert code == 4
    assert "not checkable: promise: k-map" in complaint
    assert not out.startswith("ok")
    code, out, _ = hush("verify", tmp_path / "out", "--json")
    assert code == 4
    plain = json.loads(out)
    assert (plain["holds"], plain["faults"], plain["unchecked"][0]["where"]) == (False, [], "promise")


def test_faults_come_before_what_is_not_checkable(hush, town, tmp_path):
    assert hush(*words(town, tmp_path / "out", "mdav-sample"))[0] == 0
    (tmp_path / "out" / "stray.txt").write_text("x")
    code, _, complaint = hush("verify", tmp_path / "out")
    assert code == 3
    assert "stray.txt" in complaint


def test_a_release_is_signed_and_its_author_known(hush, town, tmp_path):
    code, shown, _ = hush("keys", "--out", tmp_path / "me")
    assert code == 0
    assert "me.pub" in shown
    out, key, public = tmp_path / "out", tmp_path / "me.key", tmp_path / "me.pub"
    assert hush(*words(town, out, "mdav", "--sign", key))[0] == 0
    code, shown, _ = hush("verify", out, "--key", public)
    assert code == 0
    assert "signed with this key" in shown
    assert hush("keys", "--out", tmp_path / "other")[0] == 0
    code, _, complaint = hush("verify", out, "--key", tmp_path / "other.pub")
    assert code == 3
    assert "signed with another key" in complaint
    code, _, complaint = hush("sign", out, "--key", key)
    assert code == 2
    assert "exists already" in complaint
    (out / "card.sig").unlink()
    code, _, complaint = hush("verify", out, "--key", public)
    assert code == 3
    assert "not signed" in complaint
    assert hush("sign", out, "--key", key)[0] == 0
    assert hush("verify", out, "--key", public)[0] == 0


def test_a_key_that_does_not_open_is_found_before_the_table_is_read(hush, town, tmp_path, monkeypatch):
    monkeypatch.setenv(PASSPHRASE, "open sesame")
    assert json.loads(hush("keys", "--out", tmp_path / "me", "--json")[1])["locked"] is True
    monkeypatch.setenv(PASSPHRASE, "open barley")
    code, _, complaint = hush(
        "release", tmp_path / "none.csv", *words(town, tmp_path / "out", "mdav", "--sign", tmp_path / "me.key")[2:]
    )
    assert code == 2
    assert "passphrase is wrong" in complaint


@pytest.mark.parametrize("trust", [False, True])
def test_new_rows_are_not_put_through_the_code_of_a_sender(hush, town, tmp_path, monkeypatch, trust):
    assert hush(*words(town, tmp_path / "out", "k-anonymity"))[0] == 0
    (tmp_path / "sent_step.py").write_text("from hushtable.anonymize.sample import Sample\nclass Sent(Sample):\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    recipe = (tmp_path / "out" / "recipe.yaml").read_text()
    (tmp_path / "out" / "recipe.yaml").write_text(recipe + "- sent_step:Sent: {}\n")
    code, _, complaint = hush("apply", tmp_path / "out", town / "people.csv", "--out", tmp_path / "new", *["--trust"] * trust)
    assert code == (0 if trust else 2)
    assert trust or ("'sent_step:Sent'" in complaint and "--trust" in complaint)


def test_the_name_of_the_data_the_contact_and_the_licence_stand_on_the_card(hush, town, tmp_path):
    code, shown, _ = hush(*words(town, tmp_path / "bare"))
    assert code == 0
    assert "The card lacks contact and licence: write contact: and licence: at the top" in " ".join(shown.split())
    about = ("--title", "A town", "--contact", "data@example.org", "--license", "CC0")
    code, shown, _ = hush(*words(town, tmp_path / "out", "mdav", *about))
    assert code == 0
    assert "The card lacks" not in shown
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    assert (card["data_title"], card["contact"], card["licence"]) == ("A town", "data@example.org", "CC0")
    assert "Contact: data@example.org. Licence: CC0." in (tmp_path / "out" / "card.html").read_text()
    assert hush("verify", tmp_path / "out")[0] == 0
