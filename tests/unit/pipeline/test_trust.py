"""A recipe out of somebody's release runs the steps of this package, and other code only when it is trusted."""

from __future__ import annotations

import sys

import pytest

import hushtable as ht
from hushtable.api.compare.run import compare
from hushtable.api.mechanism import audit_mechanism
from hushtable.checks import example
from hushtable.errors import InputError
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline import registry

STEPS = "- generalize: {k: 3}\n- sent_module:Sent: {}\n"
CODE = "from hushtable.anonymize.sample import Sample\nclass Sent(Sample):\n    pass\n"


@pytest.fixture
def sent(tmp_path, monkeypatch):
    """A generalized release whose recipe names a module that lies where Python finds it."""
    folder = ht.save(ht.release(example(200), "k-anonymity", seed=1), tmp_path / "sent")
    (folder / "recipe.yaml").write_text(f"recipe: k-anonymity\nsteps:\n{STEPS}")
    (tmp_path / "sent_module.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    sys.modules.pop("sent_module", None)


@pytest.mark.parametrize(
    "use",
    [
        lambda folder, table: ht.apply(folder, table),
        lambda folder, table: ht.release(table, folder / "recipe.yaml"),
        lambda folder, table: ht.audit(table, table, table, recipe=folder / "recipe.yaml", only=["coverage"]),
        lambda folder, table: audit_mechanism(str(folder / "recipe.yaml"), epsilon=1.0),
        lambda folder, table: compare(table, [str(folder / "recipe.yaml")]),
        lambda folder, table: ht.best_of(table, [folder / "recipe.yaml"], epsilon=1.0),
    ],
    ids=["apply", "release", "audit", "audit-mechanism", "compare", "best-of"],
)
def test_no_verb_runs_the_code_of_a_sender(sent, use):
    with pytest.raises(InputError, match=r"step 2: 'sent_module:Sent' is no step of hushtable.*--trust"):
        use(sent, example(200))
    assert "sent_module" not in sys.modules


def test_a_link_to_it_is_not_ours_either(sent, tmp_path):
    (tmp_path / "mine.yaml").symlink_to(sent / "recipe.yaml")
    with pytest.raises(InputError, match="--trust"):
        recipes.load(tmp_path / "mine.yaml")


def test_what_is_trusted_or_ours_runs(sent, tmp_path):
    assert ht.apply(sent, example(200), trust=True).table.rows
    (tmp_path / "mine.yaml").write_text((sent / "recipe.yaml").read_text())
    assert len(recipes.load(tmp_path / "mine.yaml").steps) == 2


def test_a_registered_step_of_another_package_is_other_code(sent, monkeypatch):
    monkeypatch.setattr(registry, "steps", lambda: registry.STEPS | {"sent": "sent_module:Sent"})
    (sent / "recipe.yaml").write_text("recipe: x\nsteps:\n- sent\n")
    with pytest.raises(InputError, match="'sent' is no step of hushtable"):
        recipes.load(sent / "recipe.yaml")
    assert recipes.load(sent / "recipe.yaml", trust=True).steps


def test_a_misspelt_step_is_called_unknown(sent):
    (sent / "recipe.yaml").write_text("recipe: x\nsteps:\n- generalise\n")
    with pytest.raises(InputError, match="there is no step 'generalise'"):
        recipes.load(sent / "recipe.yaml")
