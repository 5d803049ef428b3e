"""The autoregressive network: nothing of a field, or of one after it, reaches the logits of the field."""

from __future__ import annotations

from itertools import product

import pytest

torch = pytest.importorskip("torch", reason="networks need torch")

from hushtable.learn.nets import NEVER, Autoregressive, Within, widths  # noqa: E402

pytestmark = pytest.mark.neural
CELLS = (3, 1, 40, 2, 5)


def net(cells=CELLS, **more):
    torch.manual_seed(0)
    return Autoregressive(cells, 4, widths(cells, 12), **more).eval()


def logits_of(network, field, codes):
    for block, logits in zip(network.blocks, network(codes), strict=True):
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
    assert torch.equal(logits_of(network, field, codes), logits_of(network, field, changed))
    if field > 2:
        changed = torch.cat([others[:, :field], codes[:, field:]], dim=1)
        assert not torch.equal(logits_of(network, field, codes), logits_of(network, field, changed))


def test_weights_that_do_not_count_are_never_learnt():
    network, codes = net().train(), rows()
    optimizer = torch.optim.Adam(network.parameters(), 0.1)
    before = network.first.weight.clone()
    for _ in range(3):
        optimizer.zero_grad()
        network.losses(codes).mean().backward()
        optimizer.step()
    assert torch.equal(network.first.weight[network.first.mask == 0], before[network.first.mask == 0])
    assert not torch.equal(network.first.weight, before)


def test_the_chances_of_all_rows_sum_to_one():
    cells = (2, 3, 1, 2)
    network = net(cells)
    everything = torch.tensor(list(product(*map(range, cells))))
    assert torch.exp(-network.losses(everything)).sum().item() == pytest.approx(1, abs=1e-5)


def test_what_cannot_be_has_no_chance_and_what_is_known_is_where_it_starts():
    known = torch.tensor([[0.0, NEVER, NEVER], [-1.0, -1.0, -1.0]])
    cells = (2, 4, 3)
    network = net(cells, within={2: Within(0, known)})
    everything = torch.tensor(list(product(*map(range, cells))))
    chances = torch.exp(-network.losses(everything))
    assert chances.sum().item() == pytest.approx(1, abs=1e-5)
    never = (everything[:, 0] == 0) & (everything[:, 2] > 0)
    assert chances[never].sum().item() == 0
    assert chances[~never].min().item() > 0


def test_it_starts_at_the_margins():
    network = net((2, 5))
    with torch.no_grad():
        for head in network.heads:
            head.weight.zero_()
    shares = torch.tensor([0.1, 0.2, 0.3, 0.15, 0.25])
    network.start([torch.tensor([0.25, 0.75]).log(), shares.log()])
    assert torch.allclose(torch.exp(-network.losses(torch.tensor([[1, 2]]))), torch.tensor([0.75 * 0.3]))


def test_dropout_leaves_out_whole_fields_in_training_only():
    network, codes = net(dropout=0.5), rows()
    assert torch.equal(network.losses(codes), network.losses(codes))
    network.train()
    assert not torch.equal(network.losses(codes), network.losses(codes))
    # What a first field is drawn from depends on nothing, dropped or not.
    assert torch.equal(logits_of(network, 0, codes), logits_of(network, 0, codes))


def test_one_field_is_a_margin():
    network = net((3,))
    assert torch.exp(-network.losses(torch.arange(3)[:, None])).sum().item() == pytest.approx(1, abs=1e-5)
