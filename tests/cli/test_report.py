"""hush report: what a folder holds, shown again; and hush audit in other formats."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner

import hushtable as ht
from hushtable.api.audit_report import AuditReport
from hushtable.api.compare.comparison import Comparison
from hushtable.cli import app
from hushtable.data.people import people
from hushtable.errors import InputError
from hushtable.pipeline.card import Card
from hushtable.report.card import card_page

COLUMNS = ("birth_date", "sex", "smoker", "income")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("report")
    train, control = ht.hold_out(people(150, 0).select(COLUMNS), 0.3, 0)
    released = ht.release(train, "mdav", settings={"k": "5"}, seed=0)
    ht.save(released, folder / "release")
    ht.audit(train, released, control, only=["identical-matches", "margins"]).save(folder / "audit", ["html", "md"])
    return {"card": folder / "release", "audit": folder / "audit"}


def run(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, ["report", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_the_page_is_the_one_that_was_written(folders: dict[str, Path]) -> None:
    assert run(folders["audit"], "--format", "html") == (folders["audit"] / "audit.html").read_text(encoding="utf-8")
    # The page in a release cannot hold the hash of itself; the one made from the card does.
    card = json.loads((folders["card"] / "card.json").read_text(encoding="utf-8"))
    assert run(folders["card"], "--format", "html") == card_page(Card.from_json(card))


def test_markdown_and_json_are_printed(folders: dict[str, Path]) -> None:
    assert run(folders["audit"]) == (folders["audit"] / "audit.md").read_text(encoding="utf-8")
    assert run(folders["card"], "--format", "md").startswith("# People of a fictional town\n")
    assert json.loads(run(folders["card"], "--format", "json"))["recipe"] == "mdav"


def test_a_file_of_an_audit_is_private_and_never_lies_in_a_release(folders: dict[str, Path], tmp_path: Path) -> None:
    target = tmp_path / "again.html"
    assert "do not publish" in run(folders["audit"], "--format", "html", "--out", target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    with pytest.raises(InputError, match="exists already"):
        run(folders["audit"], "--out", target)
    with pytest.raises(InputError, match="inside a release"):
        run(folders["audit"], "--out", folders["card"] / "audit.md")
    run(folders["card"], "--out", tmp_path / "card.md")


def test_bad_input_is_told(folders: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no release, audit or comparison"):
        run(tmp_path)
    with pytest.raises(InputError, match="is not a folder"):
        run(tmp_path / "nowhere")
    with pytest.raises(InputError, match="expected html, md or json, got 'pdf'"):
        run(folders["audit"], "--format", "pdf")
    (tmp_path / "audit.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="not valid JSON"):
        run(tmp_path)
    (tmp_path / "audit.json").write_text('{"findings": []}', encoding="utf-8")
    with pytest.raises(InputError, match="lacks card, rows"):
        run(tmp_path)


def test_an_audit_is_saved_in_known_formats_only(folders: dict[str, Path], tmp_path: Path) -> None:
    report = AuditReport(findings=[], rows={"train": 2, "release": 2, "control": 2})
    with pytest.raises(InputError, match="expected html, md, json, got pdf"):
        report.save(tmp_path / "x", ["pdf"])
    assert not (tmp_path / "x").exists()
    report.save(tmp_path / "x", ["md"])
    assert {p.name for p in (tmp_path / "x").iterdir()} == {"audit.json", "audit.md"}


def test_a_comparison_is_shown_again(tmp_path: Path) -> None:
    from tests.unit.report.comparisons import ordinary

    plain = ordinary()
    (tmp_path / "comparison.json").write_text(json.dumps(plain), encoding="utf-8")
    comparison = Comparison.from_json(plain)
    assert run(tmp_path, "--format", "html") == comparison.page()
    assert run(tmp_path) == comparison.markdown()
