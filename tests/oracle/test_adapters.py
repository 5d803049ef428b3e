"""Gradients of adapters of a causal model, example by example, against PyTorch's own; and a network in halves against the whole."""

from __future__ import annotations

import numpy as np
import pytest
import torch  # noqa: TID253 - every test here needs it

from hushtable.language.adapter import adapt, arrays, fold, restore
from hushtable.language.halves import Halves
from hushtable.language.models import Sort, checkpoint
from hushtable.language.nets import Language
from hushtable.language.write import Writer
from hushtable.language.writing_net import losses
from hushtable.learn.ghost import Tape
from tests.language_models import tiny_causal

pytestmark = pytest.mark.neural


@pytest.fixture
def language(tmp_path):
    return Language.load(checkpoint(str(tiny_causal(tmp_path / "tiny", layers=4)), Sort.CAUSAL, "test"))


def batch(language, rows=6, places=11):
    torch.manual_seed(0)
    ids = torch.randint(3, 200, (rows, places))
    written = torch.zeros(ids.shape, dtype=torch.bool)
    for row in range(rows):
        written[row, 3 : 5 + row] = True
    return ids, written


def adapted(language, depth):
    halves = Halves(language.net, depth)
    parameters = [own for layer in halves.layers for own in adapt(layer, 3)]
    torch.manual_seed(1)
    with torch.no_grad():
        for own in parameters:
            own.copy_(0.3 * torch.randn(own.shape))
    return halves, parameters


@pytest.mark.parametrize("depth", [0, 2, 3])
def test_halves_are_the_whole(language, depth):
    ids, _ = batch(language)
    halves = Halves(language.net, depth)
    whole = language.net.base_model(input_ids=ids, use_cache=False).last_hidden_state
    torch.testing.assert_close(halves.upper(halves.lower(ids)), whole)


def test_norms_and_sums_are_those_of_one_example_at_a_time(language):
    halves, parameters = adapted(language, 2)
    ids, written = batch(language)
    states = halves.lower(ids)
    tape = Tape.of(language.net, lambda: losses(language, states, ids, written, halves))
    alone = []
    for row in range(len(ids)):
        one = losses(language, states[[row]], ids[[row]], written[[row]], halves).sum()
        alone.append(torch.autograd.grad(one, parameters))
    norms = torch.tensor([sum(float(part.square().sum()) for part in own) for own in alone])
    torch.testing.assert_close(tape.squared_norms(), norms, rtol=1e-5, atol=1e-9)
    weights = torch.linspace(0.1, 1.0, len(ids))
    sums = {id(own): total for own, total in tape.weighted(weights)}
    for place, own in enumerate(parameters):
        exact = sum(weight * part[place] for weight, part in zip(weights, alone, strict=True))
        torch.testing.assert_close(sums[id(own)], exact, rtol=1e-4, atol=1e-7)


def test_without_clipping_the_sum_is_the_gradient(language):
    halves, _ = adapted(language, 1)
    ids, written = batch(language)
    states = halves.lower(ids)
    tape = Tape.of(language.net, lambda: losses(language, states, ids, written, halves))
    losses(language, states, ids, written, halves).sum().backward()
    for own, total in tape.weighted(torch.ones(len(ids))):
        torch.testing.assert_close(total, own.grad, rtol=1e-4, atol=1e-7)


def test_places_behind_a_text_change_nothing(language):
    halves, _ = adapted(language, 2)
    ids, written = batch(language)
    longer = torch.cat([ids, torch.randint(3, 200, (len(ids), 5))], dim=1)
    more = torch.cat([written, torch.zeros((len(ids), 5), dtype=torch.bool)], dim=1)
    short = losses(language, halves.lower(ids), ids, written, halves)
    torch.testing.assert_close(losses(language, halves.lower(longer), longer, more, halves), short)


def test_adapters_start_at_nothing_are_saved_and_folded(language):
    ids, _ = batch(language)
    before = language.net(input_ids=ids).logits
    _, parameters = adapted(language, 2)
    with torch.no_grad():
        for own in parameters[1::2]:
            own.zero_()
    torch.testing.assert_close(language.net(input_ids=ids).logits, before)
    with torch.no_grad():
        for own in parameters:
            own.normal_(std=0.2)
    after, saved = language.net(input_ids=ids).logits, arrays(language.net)
    assert not torch.allclose(after, before)
    fold(language.net)
    torch.testing.assert_close(language.net(input_ids=ids).logits, after, rtol=1e-4, atol=1e-5)
    fresh = Language.load(language.checkpoint)
    restore(fresh.net, saved)
    torch.testing.assert_close(fresh.net(input_ids=ids).logits, after)


def test_what_is_written_in_a_batch_is_what_is_written_alone(language):
    prompts = ["the lamp", "the train in the market was", "a", ""]
    greedy = Writer(language=language, candidates=1, batch=3)
    together = [own.text for own in greedy.write(prompts, np.random.default_rng(0), 12)]
    alone = [greedy.write([prompt], np.random.default_rng(0), 12)[0].text for prompt in prompts]
    assert together == alone


def test_a_seed_writes_the_same_again(language):
    writer = Writer(language=language)
    one, two, other = ([own.text for own in writer.write(["the lamp"] * 5, np.random.default_rng(seed), 8)] for seed in (1, 1, 2))
    assert one == two != other
