"""Lower layers that run once for each text: what is held gives what the whole network gives."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="networks need torch")
pytest.importorskip("transformers", reason="language models need transformers")

from hushtable.language import held as module  # noqa: E402
from hushtable.language.classify_net import Classifier, classes_losses, pooling, text_gradients  # noqa: E402
from hushtable.language.models import Sort, checkpoint  # noqa: E402
from tests.language_models import sentences  # noqa: E402

pytestmark = pytest.mark.neural
TEXTS = [*sentences(9), "", "the lamp", "日本", "word " * 200]


@pytest.fixture
def net(encoder):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        made = Classifier.of(checkpoint(str(encoder), Sort.ENCODER, "it"), None, 2, 32)
        made.adapt(2, 1, ("query", "dense"))
        with torch.no_grad():
            for own in made.open():
                own.normal_(std=0.3)
    return made


@pytest.mark.parametrize("stored", [0, 5000, 2**31])
def test_held_states_give_the_vectors_and_gradients_of_the_whole_network(net, stored, monkeypatch):
    monkeypatch.setattr(module, "STORED", stored)
    tokens = net.tokens(TEXTS)
    whole = net.pooled(tokens)
    assert net.still == 2
    vectors = pooling(net, tokens)
    # Twice, in parts and in another order: the second time from what is held.
    for rows in (np.arange(len(TEXTS)), np.array([12, 3, 9]), np.array([9, 11]), np.array([9])):
        assert vectors(rows).detach().numpy() == pytest.approx(whole[rows].detach().numpy(), abs=1e-5)
    losses = classes_losses(np.arange(len(TEXTS)) % 2)
    found = text_gradients(net, tokens, losses)(np.arange(len(TEXTS)))
    net.still = 0
    through = text_gradients(net, tokens, losses)(np.arange(len(TEXTS)))
    assert found.squared_norms().numpy() == pytest.approx(through.squared_norms().numpy(), rel=1e-4, abs=1e-6)


def test_an_adapter_that_moves_moves_the_vectors_and_no_layer_below(net):
    tokens = net.tokens(TEXTS)
    vectors = pooling(net, tokens)
    before = vectors(np.arange(5)).detach()
    with torch.no_grad():
        for own in net.narrow():
            own.add_(0.5)
    after = vectors(np.arange(5)).detach()
    below = net.width * (net.still + 1)
    assert torch.equal(before[:, :below], after[:, :below])
    assert not torch.allclose(before[:, below:], after[:, below:], atol=1e-3)


def test_only_second_factors_are_trained_and_a_head_is_never_made_surer(net):
    parameters = net.narrow()
    assert {name.rpartition(".up")[1] for name, own in net.named_parameters() if own.requires_grad} == {".up"}
    assert len(parameters) == sum(own.requires_grad for own in net.parameters())
    pooled = net.all_pooled(net.tokens(TEXTS))
    with torch.no_grad():
        net.head.weight.mul_(1e3)
    classes = net.logits(pooled).argmax(1)
    net.soften(pooled)
    first, second = net.logits(pooled).topk(2, dim=1).values.unbind(1)
    assert float((first - second).median()) == pytest.approx(1.5, rel=1e-4)
    assert torch.equal(net.logits(pooled).argmax(1), classes)
    weak = net.head.weight.mul(0.1).detach().clone()
    with torch.no_grad():
        net.head.weight.copy_(weak)
        net.head.bias.mul_(0.1)
    net.soften(pooled)
    assert torch.equal(net.head.weight, weak)
