"""Gradients of single texts through adapters and head equal those of torch.func; noise equals the reference accountant's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="networks need torch")
pytest.importorskip("transformers", reason="language models need transformers")

from hushtable.language.classify_net import Classifier, classes_losses, text_gradients  # noqa: E402
from hushtable.language.models import Sort, checkpoint  # noqa: E402
from hushtable.pipeline.plan import plan  # noqa: E402
from hushtable.pipeline.recipe import Recipe  # noqa: E402
from hushtable.pipeline.step import Plan, PrivateCore  # noqa: E402
from hushtable.privacy.sampled import sampled_gaussian  # noqa: E402
from hushtable.privacy.unit import Budget  # noqa: E402
from tests.language_models import labelled, sentences, tiny_encoder  # noqa: E402

pytestmark = pytest.mark.neural


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    folder = tiny_encoder(tmp_path_factory.mktemp("models") / "tiny")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        made = Classifier.of(checkpoint(str(folder), Sort.ENCODER, "it"), None, 2, 32)
        made.adapt(3, 2)
        with torch.no_grad():
            for parameter in made.parameters():
                if parameter.requires_grad:
                    parameter.normal_(std=0.3)
    return made


def test_norms_and_sums_equal_those_of_single_gradients(net):
    texts = [*sentences(20), "", "the lamp", "日本"]
    labels = np.array([number % 3 - 1 for number in range(len(texts))])
    tokens, losses = net.tokens(texts), classes_losses(labels)
    rows = np.arange(len(texts))
    found = text_gradients(net, tokens, losses)(rows)
    trained = {name: parameter for name, parameter in net.named_parameters() if parameter.requires_grad}

    def loss(parameters, row):
        logits = torch.func.functional_call(net, parameters, ([tokens[row]],))
        return losses(logits, np.array([row]))[0]

    own = [torch.func.grad(loss)(trained, row) for row in rows]
    norms = torch.stack([torch.stack([part.square().sum() for part in one.values()]).sum().sqrt() for one in own]).detach()
    assert found.squared_norms().sqrt().numpy() == pytest.approx(norms.numpy(), rel=1e-4, abs=1e-5)
    assert norms[labels < 0].max() == 0
    # With clipping off, the weighted sum is the gradient of the sum.
    net.zero_grad()
    losses(net(tokens), rows).sum().backward()
    sums = {name: torch.zeros_like(parameter) for name, parameter in trained.items()}
    names = {id(parameter): name for name, parameter in trained.items()}
    for parameter, total in found.weighted(torch.ones(len(rows))):
        sums[names[id(parameter)]] += total
    for name, parameter in trained.items():
        assert sums[name].numpy() == pytest.approx(parameter.grad.numpy(), rel=1e-4, abs=1e-5)


@dataclass(frozen=True, kw_only=True)
class Descends(PrivateCore):
    """Spends everything on one descent."""

    rate: float = 0.1
    steps: int = 1

    def plan(self, schema: Any, budget: Any) -> Plan:
        return Plan(schema=schema, events=(sampled_gaussian(budget, self.rate, self.steps),))

    def fit(self, vault: Any, rng: Any) -> Any:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("epsilon", "rate", "steps", "multiplier"),
    [
        pytest.param(1.0, 512 / 67_349, 30, 0.867, marks=pytest.mark.nightly),
        (8.0, 512 / 5574, 60, 0.863),
        (4.0, 512 / 5574, 60, 1.241),
        (1.0, 512 / 5574, 60, 3.304),
    ],
)
def test_multipliers_are_those_of_the_tight_accountant(epsilon, rate, steps, multiplier):
    step = Descends(rate=rate, steps=steps)
    course = plan(Recipe(recipe="it", steps=(step,)), labelled(4).schema.without_text(), budget=Budget(epsilon, 1e-6))
    assert course.ledger.paid[0].event.multiplier == pytest.approx(multiplier, rel=0.01)
