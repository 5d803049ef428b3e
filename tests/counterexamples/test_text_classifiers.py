"""DP-LoRA and TSKD as published: what breaks their claims stays broken, and the certified forms hold."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="networks need torch")
pytest.importorskip("transformers", reason="language models need transformers")

import hushtable as ht  # noqa: E402
from hushtable.errors import GuaranteeRefused  # noqa: E402
from hushtable.language.classify import ClassifyText  # noqa: E402
from hushtable.language.classify_published import PublishedDistillation, PublishedLora  # noqa: E402
from hushtable.language.published_net import BatchClipped  # noqa: E402
from hushtable.learn.private import ROOM, PrivateDescent  # noqa: E402
from hushtable.pipeline.plan import plan  # noqa: E402
from hushtable.pipeline.recipe import Recipe  # noqa: E402
from hushtable.privacy.event import Raw  # noqa: E402
from hushtable.privacy.guarantee import Assurance  # noqa: E402
from hushtable.privacy.unit import Budget  # noqa: E402
from tests.language_models import labelled  # noqa: E402
from tests.unit.learn.test_private import vault  # noqa: E402

pytestmark = pytest.mark.neural
PLACES = {"model": "tiny", "pool": "public.txt"}


class Numbers:
    """Gradients by one parameter of each of two factors, which are given."""

    def __init__(self, down: torch.nn.Parameter, up: torch.nn.Parameter, values: torch.Tensor) -> None:
        self.down, self.up, self.values = down, up, values

    def squared_norms(self) -> torch.Tensor:
        return 2 * self.values.square()

    def weighted(self, weights: torch.Tensor) -> list[tuple[torch.Tensor, torch.Tensor]]:
        total = (weights * self.values).sum()[None]
        return [(self.down, total), (self.up, total)]


def change(kind: str) -> float:
    """How far the gradient of one batch moves, over both factors, when the last of four rows is another; clip 1, no noise."""
    found = []
    for last in (1.0, -1e6):
        down, up = (torch.nn.Parameter(torch.zeros(1)) for _ in range(2))
        values = torch.tensor([1.0, 1.0, 1.0, last])
        if kind == "published":
            run = BatchClipped([down, up], frozenset({id(down)}), 4, 4, 1, 1.0, 0.0, 0)
        else:
            how = PrivateDescent(rate=1.0, steps=1, multiplier=1e-9, clip=1.0)
            run = how.start(vault([1.0] * 4), [down, up], 1.0)
        for _ in run.batches():
            run.update(lambda rows, own=(down, up), all_rows=values: Numbers(*own, all_rows[torch.from_numpy(rows)]))
        found.append(torch.cat([down.grad, up.grad]))
    return float((found[0] - found[1]).norm())


def test_one_row_reverses_the_clipped_mean_of_both_factors_and_no_sum_of_clipped_rows():
    assert change("published") == pytest.approx(2 * math.sqrt(2), rel=1e-3)
    # Of a sum, one row is its own part only: one row replaced by another moves it by two clips however many factors there are.
    assert change("certified") <= 2 * ROOM * (1 + 1e-3)


def test_the_claim_names_its_gap_and_the_number_that_holds():
    for kind in (PublishedLora, PublishedDistillation):
        planned = kind(**PLACES, sigma=1.0).plan(labelled(4).schema, None)
        assert isinstance(planned.events[0], Raw)
        gaps = " ".join(planned.claims[0].gaps)
        assert "mu = 2 sqrt(2)/sigma = 2.83" in gaps
        assert "epsilon 15.5 at delta 1e-05" in gaps
    sized = replace(labelled(4).schema, size=67_349)
    assert "epsilon = " in PublishedLora(**PLACES).plan(sized, None).claims[0].statement


def test_layers_chosen_on_private_rows_unpaid_are_raw_and_noisy_ones_are_paid():
    schema = labelled(4).schema
    published = plan(Recipe(recipe="it", steps=(PublishedLora(**PLACES, drop=1),)), schema)
    assert any("left out is read off the private texts" in gap for gap in published.steps[0].plan.claims[0].gaps)
    assert published.culprits
    budget = Budget(1.0, 1e-6)
    for scores in ("public", "private"):
        course = plan(Recipe(recipe="it", steps=(ClassifyText(**PLACES, drop=1, scores=scores),)), schema, budget=budget)
        assert not course.culprits
        assert len(course.ledger.paid) == (4 if scores == "private" else 3)


def test_a_delta_of_one_over_the_rows_is_refused_where_their_number_is_declared_and_warned_of_elsewhere(tmp_path):
    step = ClassifyText(**PLACES)
    sized = replace(labelled(4).schema, size=1000)
    with pytest.raises(GuaranteeRefused, match="random record"):
        plan(Recipe(recipe="it", steps=(step,)), sized, budget=Budget(1.0, 1 / 1000))
    assert plan(Recipe(recipe="it", steps=(step,)), sized, budget=Budget(1.0, 1e-6)).ledger.paid


def test_the_published_form_runs_and_says_so(tmp_path):
    from tests.language_models import sentences, tiny_encoder

    folder = tiny_encoder(tmp_path / "tiny")
    (tmp_path / "public.txt").write_text("\n".join(sentences(20)), encoding="utf-8")
    step = PublishedLora(model=str(folder), pool=str(tmp_path / "public.txt"), epochs=1, drop=1, rank=2, length=16)
    release = ht.release(labelled(60), Recipe(recipe="it", steps=(step,)))
    assert release.guarantee.assurance is Assurance.CLAIMED
    assert not np.isfinite(release.guarantee.epsilon())
