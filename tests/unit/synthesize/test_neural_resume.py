"""A network whose training is stopped goes on to the same bits, whichever step trains it."""

from __future__ import annotations

from dataclasses import replace

import pytest

import hushtable as ht
from hushtable.learn.checkpoint import Checkpoint
from hushtable.pipeline import registry
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.step import Core

pytestmark = pytest.mark.neural


def raw_networks():
    """Every registered core that trains a network and spends no budget."""
    kinds = {name: registry.load(target) for name, target in registry.STEPS.items()}
    steps = {name: kind(**kind.quick) for name, kind in kinds.items() if issubclass(kind, Core) and kind.extra == "neural"}
    return {name: replace(step, epochs=3, refine=0) for name, step in steps.items() if not step.spends and hasattr(step, "epochs")}


def test_there_are_some():
    assert {"autoregressive", "transformer", "gan", "vae"} <= set(raw_networks())


@pytest.mark.parametrize("name", raw_networks())
def test_a_stopped_training_goes_on_to_the_same_bits(small, tmp_path, monkeypatch, name):
    recipe = Recipe(recipe=name, steps=(raw_networks()[name],))
    options = {"seed": 5, "allow_copies": "a test"}
    whole = ht.release(small, recipe, **options)
    save, saved = Checkpoint.save, []

    def once(self, state):
        save(self, state)
        saved.append(state["taken"])
        if len(saved) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoint, "save", once)
    with pytest.raises(KeyboardInterrupt):
        ht.release(small, recipe, resume=tmp_path / "work", **options)
    again = ht.release(small, recipe, resume=tmp_path / "work", **options)
    assert saved == sorted(set(saved)), "no epoch was trained twice"
    assert again.table.frame().equals(whole.table.frame())
    assert again.result == whole.result


def test_another_seed_or_another_table_starts_anew(small, tmp_path):
    recipe = Recipe(recipe="net", steps=(raw_networks()["autoregressive"],))
    for table, seed in ((small, 1), (small, 2), (small.take(list(range(100))), 1)):
        ht.release(table, recipe, seed=seed, resume=tmp_path / "work", allow_copies="a test")
    assert len(list((tmp_path / "work").glob("*.npz"))) == 3
