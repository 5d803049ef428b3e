"""The tutorial runs, and tells the story that its text tells."""

from __future__ import annotations

import pytest

from docs.build import tutorial


def script() -> str:
    return tutorial.SCRIPT.read_text(encoding="utf-8")


def test_cells_are_text_and_code_in_turn():
    result = tutorial.cells(script())
    assert result[0].text.startswith("# Tutorial")
    assert sum(cell.code for cell in result) >= 10
    assert all("# %%" not in cell.text for cell in result)
    page = tutorial.page(run=False)
    assert page.count("```python") == sum(cell.code for cell in result)


def test_a_cell_prints_what_a_notebook_would():
    collected = [
        tutorial.Cell("x = 2\nprint('two')", code=True),
        tutorial.Cell("x + 1", code=True),
        tutorial.Cell("words", code=False),
    ]
    printed, names = tutorial.run(collected)
    assert printed == ["two\n", "3\n", ""]
    assert names["x"] == 2


def test_the_story_without_its_long_parts(tmp_path, monkeypatch):
    """Fewer people, one attack, no models and no comparison: every other cell as it stands."""
    monkeypatch.chdir(tmp_path)
    short = script().replace("people(1500", "people(200").replace('"margins", "downstream"]', '"margins"]')
    short = short.replace(', "near-matches", "identical-matches"]', "]").replace(', "train on release, test on real: AUC"):', ",):")
    printed, names = tutorial.run([cell for cell in tutorial.cells(short) if "ht.compare(" not in cell.text])
    reported = "".join(printed)
    assert "verified: k-anonymity, k = 10" in reported
    assert "proven: epsilon 1" in reported
    assert "nothing is promised" in reported
    assert "epsilon would be infinite" in reported
    assert "It shows that the card agrees with its own ledger" in reported
    assert names["private"].guarantee.epsilon() <= 1
    assert {path.name for path in (tmp_path / "to-share").iterdir()} == {
        "card.html", "card.json", "data.csv", "levels", "recipe.yaml", "schema.yaml",
    }  # fmt: skip
    assert not (tmp_path / "to-share" / "audit.json").exists()


@pytest.mark.nightly
def test_the_whole_story(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed, names = tutorial.run(tutorial.cells(script()))
    # The text says that the k-anonymous release is found out by its other columns, and that the private one is not.
    assert names["audits"]["mdav"].alarms
    assert not names["audits"]["mst"].alarms
    assert "Take mst" in "".join(printed)
