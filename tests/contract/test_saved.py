"""What version 0.1.0 wrote is read, verified, shown and audited by this one. The rows are those of the bundled fictional town."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from typer.testing import CliRunner

import hushtable as ht
from hushtable.cli import app
from hushtable.pipeline.former import claims, former, states
from hushtable.pipeline.release import load_card
from hushtable.privacy.guarantee import Claim, Guarantee, Void

SAVED = Path(__file__).resolve().parent.parent / "saved"


def hush(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(word) for word in words])
    return result.exit_code, result.output


@pytest.mark.parametrize("name", ["aim", "k-anonymity"])
def test_a_saved_release_verifies(name):
    verification = ht.verify(SAVED / name)
    assert not verification.faults
    assert not verification.unchecked
    assert hush("verify", SAVED / name, "--json")[0] == 0


def test_a_saved_signature_holds():
    pytest.importorskip("cryptography")
    assert not ht.verify(SAVED / "k-anonymity", SAVED / "key.pub").faults


def test_the_saved_guarantees_say_what_they_said():
    assert load_card(SAVED / "aim")["guarantee"]["epsilon"] == pytest.approx(2.0, abs=1e-6)
    assert load_card(SAVED / "k-anonymity")["guarantee"]["promises"][0]["value"] == 5


@pytest.mark.parametrize(
    ("name", "word"), [("aim", "proven"), ("k-anonymity", "verified"), ("audit", "INTERNAL"), ("comparison", "INTERNAL")]
)
@pytest.mark.parametrize("form", ["html", "md"])
def test_what_was_saved_is_shown_again(name, word, form, tmp_path):
    code, output = hush("report", SAVED / name, "--format", form, "--out", tmp_path / f"page.{form}")
    assert code == 0, output
    page = (tmp_path / f"page.{form}").read_text()
    assert word.lower() in page.lower()


def test_every_key_of_a_saved_audit_is_still_written(tmp_path):
    train, control = (ht.read(SAVED / f"{name}.csv", SAVED / "schema.yaml") for name in ("train", "control"))
    released, card = ht.read_release(SAVED / "k-anonymity", train.schema)
    old = json.loads((SAVED / "audit" / "audit.json").read_text())
    report = ht.audit(train, released, control, card=card, only=old["made"]["audits"], gates=["max_risk<0.9"])
    new = json.loads((report.save(tmp_path / "audit") / "audit.json").read_text())
    assert old.keys() <= new.keys()
    # Since then attacks are also run for who knows the quasi-identifiers alone: under scopes of their own.
    after = {(f["name"], f["scope"]): f for f in new["findings"]}
    assert all(before.keys() <= after[before["name"], before["scope"]].keys() for before in old["findings"])
    # More tests are corrected together: what was an alarm only just may be none.
    sure = {", ".join(filter(None, (f["name"], f["scope"]))) for f in old["findings"] if (f["p_adjusted"] or 1.0) <= 0.01}
    assert sure <= set(new["alarms"]) <= set(old["alarms"])
    assert old["gates"] == new["gates"] or [gate["holds"] for gate in old["gates"]] == [gate["holds"] for gate in new["gates"]]
    assert {key: f["value"] for key, f in after.items() if key in {(f["name"], f["scope"]) for f in old["findings"]}} == {
        (f["name"], f["scope"]): f["value"] for f in old["findings"]
    }


def test_sentences_that_were_reworded_since_are_recognized():
    now = "built to answer margins of 3 columns; dependence between more columns at once is lost"
    then = "made to answer how 3 columns hang together; what hangs on more of them at once is lost"
    assert former(now) == then
    assert states([then], now)
    assert states([now], now)
    assert not states([then.replace("3", "2")], now)
    assert not states([], now)
    gap = "parts without records are left out, so which combinations exist is revealed without noise"
    claim = Claim("differential privacy", (gap,))
    old = Claim("differential privacy", (gap.replace("revealed", "told"),))
    assert claims([old], claim)
    assert not claims([Claim("differential privacy", ())], claim)


def test_a_ledger_with_continuous_noise_is_still_read():
    """No step of ours uses it, but one of another package may have, and its card must not be called damaged."""
    plain = json.loads((SAVED / "aim" / "card.json").read_text(encoding="utf-8"))["guarantee"]
    entry = {"step": "theirs", "why": "w", "sample": 0, "rate": 1.0, "event": "Gaussian", "sigma": 9.0, "sensitivity": 1.0}
    guarantee = Guarantee.from_json(plain | {"ledger": [*plain["ledger"], entry]})
    assert guarantee.epsilon() == math.inf
    assert Void.FLOAT_NOISE in guarantee.all_voids
