"""The causal transformer: nothing of a field, or of one after it, reaches the logits of the field."""

from __future__ import annotations

from itertools import product

import pytest

torch = pytest.importorskip("torch", reason="networks need torch")

from hushtable.learn.causal import Causal  # noqa: E402
from hushtable.learn.nets import NEVER, Within  # noqa: E402

pytestmark = pytest.mark.neural
CELLS = (3, 1, 40, 2, 5)


def net(cells=CELLS, **more):
    torch.manual_seed(0)
    return Causal(cells, 8, 2, 2, **more).eval()


def logits_of(network, field, codes, *shown):
    for block, logits in zip(network.blocks, network(codes, *shown), strict=True):
        if field in block.fields:
            return logits[:, block.fields.index(field), : network.cells[field]]
    raise AssertionError(field)


def rows(count=50, cells=CELLS):
    generator = torch.Generator().manual_seed(1)
    return torch.stack([torch.randint(0, most, (count,), generator=generator) for most in cells], dim=1)


@pytest.mark.parametrize("field", range(len(CELLS)))
def test_the_logits_of_a_field_depend_on_fields_before_it_only(field):
    network, codes, others = net(), rows(), rows().flip(0)
    changed = torch.cat([codes[:, :field], others[:, field:]], dim=1)
    assert torch.allclose(logits_of(network, field, codes), logits_of(network, field, changed), atol=1e-6)
    if field > 2:
        changed = torch.cat([others[:, :field], codes[:, field:]], dim=1)
        assert not torch.allclose(logits_of(network, field, codes), logits_of(network, field, changed), atol=1e-4)


def test_the_chances_of_all_rows_sum_to_one():
    cells = (2, 3, 1, 2)
    known = torch.tensor([[0.0, 0.0, NEVER], [NEVER, 0.0, -1.0]])
    for network in (net(cells), net(cells, within={1: Within(0, known)}), net((4,))):
        everything = torch.tensor(list(product(*map(range, network.cells))))
        assert torch.exp(-network.losses(everything)).sum().item() == pytest.approx(1, abs=1e-5)


def test_what_is_masked_is_neither_learnt_nor_learnt_from():
    network, codes, others = net(), rows(), rows().flip(0)
    shown = torch.ones(codes.shape)
    shown[:, 2] = 0
    changed = torch.cat([codes[:, :2], others[:, 2:3], codes[:, 3:]], dim=1)
    assert torch.allclose(network.losses(codes, shown), network.losses(changed, shown), atol=1e-6)
    assert not torch.allclose(network.losses(codes), network.losses(changed), atol=1e-3)
    assert torch.allclose(network.losses(codes, torch.ones(codes.shape)), network.losses(codes))


def test_columns_are_hidden_while_it_learns_only():
    network, codes = net(dropout=0.5), rows()
    assert torch.equal(network.losses(codes), network.losses(codes))
    network.train()
    assert not torch.equal(network.losses(codes), network.losses(codes))


def test_it_begins_with_the_margins():
    network = net()
    with torch.no_grad():
        for head in network.heads:
            head.get_parameter("weight").zero_()
    shares = [torch.arange(1.0, most + 1) for most in CELLS]
    network.start([torch.log(share / share.sum()) for share in shares])
    for field, share in enumerate(shares):
        found = logits_of(network, field, rows()).softmax(1)
        assert torch.allclose(found, (share / share.sum()).expand_as(found), atol=1e-6)
