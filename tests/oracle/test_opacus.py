"""Gradients of single rows through the adapters of a writing model equal those of Opacus."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="networks need torch")
pytest.importorskip("transformers", reason="language models need transformers")
opacus = pytest.importorskip("opacus", reason="the reference is Opacus")

from hushtable.language.adapter import adapt  # noqa: E402
from hushtable.language.halves import Halves  # noqa: E402
from hushtable.language.models import Sort, checkpoint  # noqa: E402
from hushtable.language.nets import Language, padded  # noqa: E402
from hushtable.language.writing_net import losses  # noqa: E402
from hushtable.learn.ghost import Tape  # noqa: E402
from tests.language_models import sentences, tiny_causal  # noqa: E402

pytestmark = pytest.mark.neural


@pytest.mark.filterwarnings("ignore::UserWarning:opacus", "ignore::FutureWarning", "ignore::DeprecationWarning")
def test_norms_and_clipped_sums_equal_those_of_opacus(tmp_path):
    language = Language.load(checkpoint(str(tiny_causal(tmp_path / "tiny")), Sort.CAUSAL, "it"))
    halves = Halves(language.net, 1)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        parameters = [own for layer in halves.layers for own in adapt(layer, 3)]
        with torch.no_grad():
            for parameter in parameters:
                parameter.normal_(std=0.3)
    tokens = language.tokens([*sentences(12), "the lamp", "a", "日本"])
    ids, written = padded(tokens, language.end)
    written[:, :2] = False
    states = halves.lower(ids).clone().requires_grad_()  # the hooks of Opacus want inputs with a gradient

    tape = Tape.of(language.net, lambda: losses(language, states, ids, written, halves))
    norms = tape.squared_norms().sqrt()
    weights = (0.1 / norms.clamp(min=1e-12)).clamp(max=1.0)
    sums = {id(parameter): torch.zeros_like(parameter) for parameter in parameters}
    for parameter, own in tape.weighted(weights):
        sums[id(parameter)] += own

    watched = opacus.GradSampleModule(language.net, batch_first=True, loss_reduction="sum", strict=False)
    try:
        losses(language, states, ids, written, halves).sum().backward()
        each = [parameter.grad_sample for parameter in parameters]
    finally:
        watched.remove_hooks()
    reference = torch.stack([own.flatten(1).square().sum(1) for own in each]).sum(0).sqrt()
    assert np.count_nonzero(reference.numpy()) >= 12
    assert norms.numpy() == pytest.approx(reference.numpy(), rel=1e-5, abs=1e-6)
    for parameter, own in zip(parameters, each, strict=True):
        clipped = torch.einsum("r,r...->...", weights, own)
        assert sums[id(parameter)].numpy() == pytest.approx(clipped.numpy(), rel=1e-4, abs=1e-6)
