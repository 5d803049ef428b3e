"""What a tiny model of language remembers of planted texts; ``benchmarks/run.py canaries`` is the same on a large one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="networks need torch")
pytest.importorskip("transformers", reason="language models need transformers")

from benchmarks import bench_canaries as canaries  # noqa: E402
from hushtable.audits.text.exposure import exposure_p  # noqa: E402
from hushtable.evidence.verdict import alarms  # noqa: E402
from hushtable.privacy.event import Raw  # noqa: E402
from hushtable.privacy.noise import Entropy  # noqa: E402
from tests.language_models import tiny_causal  # noqa: E402
from tests.sentences import notes  # noqa: E402

pytestmark = pytest.mark.neural
PLAN = canaries.Plan(rows=40, canaries=12, ends=64, epochs=20, parts=8, rate=0.25, length=24, rank=32, layers=2, speed=0.02)


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    return replace(PLAN, model=str(tiny_causal(tmp_path_factory.mktemp("models") / "tiny", width=64, spread=0.2)))


@pytest.fixture(scope="module")
def ground(plan):
    train, control = (notes(plan.rows, part).select(["label", "note"]) for part in range(2))
    return canaries.ground(plan, train, control, str.isalpha)


def test_without_privacy_planted_ends_rank_high_and_the_ledger_says_raw(ground, plan):
    model, release, vault = canaries.without_privacy(plan, ground.train)
    assert [type(entry.event) for entry in vault.ledger.culprits] == [Raw]
    assert vault.ledger.epsilon(1e-5) == np.inf
    found = canaries.remembered(ground, plan, lambda: (model, release))
    assert found.exposures.mean() > 4
    assert exposure_p(found.exposures) < 1e-6
    assert found.uniform < 1e-3
    assert "no privacy" in found.line("no privacy")


def test_with_privacy_ranks_are_those_of_chance(ground, plan):
    model, release = canaries.with_privacy(
        plan, ground.train, 8.0, seed=0, entropy=Entropy.seeded(0), unproven=True, settings={"words": 0.0, "topics": 2}
    )
    found = canaries.remembered(ground, plan, lambda: (model, release))
    # By chance one seed in a thousand is below this; without privacy p is below a millionth.
    assert found.uniform > 0.001
    assert exposure_p(found.exposures) > 0.001
    assert found.exposures.mean() < 3
    assert not alarms(found.verbatim)
