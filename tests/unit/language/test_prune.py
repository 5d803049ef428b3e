"""Which layers go: by cosines of public texts, or by one noisy sum."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.language.prune import UNIT, LayerCosines, Rule, kept, means, spread
from hushtable.privacy.unit import Relation
from tests.language_models import labelled


def test_the_layers_that_change_least_go():
    cosines = np.array([0.2, 0.9, 0.95, 0.3])
    assert kept(cosines, 1, Rule.PAIRWISE) == (0, 2, 3)  # (.9 + .95)/2 is the largest mean of both neighbours
    assert kept(cosines, 1, Rule.COSINE) == (0, 2, 3)  # its next layer is most like it
    assert kept(cosines, 0, Rule.COSINE) == (0, 1, 2, 3)
    assert len(kept(cosines, 9, Rule.PAIRWISE)) == 1
    assert kept(np.ones(3), 1, Rule.PAIRWISE) == (0, 1)


def test_a_student_has_layers_at_even_distances():
    assert spread(6, 3) == (1, 3, 5)
    assert spread(6, 6) == tuple(range(6))
    assert spread(6, 1) == (5,)
    assert spread(2, 9) == (0, 1)


@pytest.mark.parametrize("layers", [1, 6, 30])
def test_one_row_changes_a_noisy_sum_by_no_more_than_it_says(layers):
    table = labelled(20)
    rng = np.random.default_rng(0)
    rows = rng.choice([-1.5, -1.0, 1.0, 1.2, np.nan], (20, layers))
    whole = LayerCosines("note", lambda texts: rows[: len(texts)]).answer(table)
    without = LayerCosines("note", lambda texts: rows[: len(texts)]).answer(table.take(np.arange(19)))
    _, bound, _ = LayerCosines("note").sensitivity(table.schema, Relation.ADD_REMOVE)
    assert np.linalg.norm(whole - without) <= bound == UNIT
    ones = LayerCosines("note", lambda texts: np.ones((len(texts), layers))).answer(table)
    assert np.linalg.norm(ones) == pytest.approx(20 * UNIT, rel=1e-4)
    assert means(ones, 20) == pytest.approx(1, rel=1e-4)


def test_padding_does_not_count_and_cut_layers_are_gone(encoder, tmp_path):
    pytest.importorskip("transformers", reason="language models need transformers")
    import torch

    from hushtable.language.layers import cosines, cut, stack
    from hushtable.language.models import Sort, checkpoint
    from hushtable.language.nets import Language
    from tests.language_models import tiny_causal

    texts = ["the lamp", "the lamp in the garden was good and bright", ""]
    for folder, sort in ((encoder, Sort.ENCODER), (tiny_causal(tmp_path / "causal", layers=3), Sort.CAUSAL)):
        language = Language.load(checkpoint(str(folder), sort, "it"))
        together = cosines(language, texts, 32)
        alone = np.concatenate([cosines(language, [text], 32) for text in texts])
        assert together == pytest.approx(alone, abs=1e-5)
        before = language.net(torch.tensor([[3, 4, 5]]))[0]
        cut(language.net, (0, 2))
        assert len(stack(language.net)) == 2
        after = language.net(torch.tensor([[3, 4, 5]]))[0]
        assert after.shape == before.shape
        assert not torch.allclose(after, before)
