"""Norms and weighted sums of single gradients, without the gradients: equal to what torch.func writes down."""

from __future__ import annotations

from itertools import pairwise

import pytest

torch = pytest.importorskip("torch", reason="networks need torch")

from torch import nn  # noqa: E402, TID253
from torch.func import functional_call, grad, vmap  # noqa: E402, TID253

from hushtable.learn.ghost import Tape, checked, penalized  # noqa: E402
from hushtable.learn.layers import Batched, Masked  # noqa: E402
from hushtable.learn.loop import seeded  # noqa: E402

pytestmark = pytest.mark.neural
ROWS = 7


class Autoregressive(nn.Module):
    """Embeddings, a masked layer, heads side by side."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(9, 3)
        self.first = Masked((torch.rand(8, 12) < 0.5).float())
        self.heads = Batched(2, 4, 5)

    def forward(self, codes):
        inner = torch.relu(self.first(self.embedding(codes).flatten(1)))
        return self.heads(inner.unflatten(1, (2, 4))).flatten(1)


NETS = {
    "linear": lambda: nn.Sequential(nn.Linear(6, 5), nn.LeakyReLU(0.2), nn.Linear(5, 1)),
    "without bias": lambda: nn.Sequential(nn.Linear(6, 5, bias=False), nn.Tanh(), nn.Linear(5, 2)),
    "places": lambda: nn.Sequential(nn.Unflatten(1, (3, 2)), nn.Linear(2, 9), nn.Tanh(), nn.Linear(9, 8)),
    "few places": lambda: nn.Sequential(nn.Unflatten(1, (2, 3)), nn.Linear(3, 40), nn.Tanh(), nn.Linear(40, 41)),
    "masked places": lambda: nn.Sequential(nn.Unflatten(1, (2, 3)), Masked((torch.rand(4, 3) < 0.6).float()), nn.Tanh()),
    "convolution": lambda: nn.Sequential(
        nn.Unflatten(1, (2, 3)), nn.Conv1d(2, 4, 2, stride=2, padding=1), nn.ReLU(), nn.Conv1d(4, 2, 2)
    ),
    "autoregressive": Autoregressive,
}


def written(net, losses, *inputs):
    """The gradients of each example, written down: examples x parameters."""
    values = {name: p.detach() for name, p in net.named_parameters()}
    each = vmap(grad(lambda values, *row: losses(values, *(part[None] for part in row))), in_dims=(None, *[0] * len(inputs)))
    gradients = each(values, *inputs)
    return torch.cat([gradients[name].flatten(1) for name in values], dim=1)


def close(tape, net, expected):
    weights = torch.rand(len(expected))
    sums = {id(p): total for p, total in tape.weighted(weights)}
    flat = torch.cat([sums.get(id(p), torch.zeros_like(p)).flatten() for p in net.parameters()])
    torch.testing.assert_close(tape.squared_norms(), expected.square().sum(1), rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(flat, weights @ expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", NETS)
@pytest.mark.parametrize("seed", [0, 1])
def test_they_are_what_torch_writes_down(kind, seed):
    with seeded(seed):
        net = NETS[kind]()
        given = torch.randint(0, 3, (ROWS, 4)) if kind == "autoregressive" else torch.randn(ROWS, 6)
        tape = Tape.of(net, lambda: net(given).flatten(1).square().sum(1))
        close(tape, net, written(net, lambda values, row: functional_call(net, values, (row,)).square().sum(), given))


@pytest.mark.parametrize("widths", [(5, 1), (5, 8, 1), (5, 8, 6, 1)])
@pytest.mark.parametrize("activation", [nn.LeakyReLU(0.2), nn.ReLU()], ids=["leaky", "relu"])
def test_a_penalty_of_the_slope_is_part_of_the_gradient(widths, activation):
    with seeded(2):
        parts = [part for pair in pairwise(widths) for part in (nn.Linear(*pair), activation)]
        critic = nn.Sequential(*parts[:-1])
        real, mixed = torch.randn(ROWS, 5), torch.randn(ROWS, 5)
        tape = penalized(critic, real, mixed, weight=3.0)

    def losses(values, row, between):
        slope = grad(lambda point: functional_call(critic, values, (point,)).sum())(between)
        return -functional_call(critic, values, (row,)).sum() + 3.0 * (slope.norm() - 1).square()

    close(tape, critic, written(critic, losses, real, mixed))


def test_dropout_and_another_loss_go_with_the_penalty():
    """The masks at the mixed rows are drawn inside."""
    critic = nn.Sequential(nn.Linear(4, 6), nn.LeakyReLU(0.2), nn.Dropout(0.5), nn.Linear(6, 1))
    with seeded(0):
        real, mixed = torch.randn(ROWS, 4), torch.randn(ROWS, 4)
    critic.eval()
    one = penalized(critic, real, mixed, loss=lambda out: nn.functional.softplus(-out))
    close(one, critic, written(critic, lambda v, row, between: _logistic(critic, v, row, between), real, mixed))
    critic.train()
    with seeded(3):
        some, again = (penalized(critic, real, mixed).squared_norms() for _ in range(2))
    assert not torch.equal(some, again)


def _logistic(critic, values, row, between):
    slope = grad(lambda point: functional_call(critic, values, (point,)).sum())(between)
    return nn.functional.softplus(-functional_call(critic, values, (row,))).sum() + 10 * (slope.norm() - 1).square()


class Twice(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, given):
        return self.layer(self.layer(given))


def test_a_layer_that_is_used_twice_is_refused_and_nothing_stays_hooked():
    net = Twice()
    with pytest.raises(ValueError, match="used twice"):
        Tape.of(net, lambda: net(torch.randn(4, 3)).sum(1))
    assert not net.layer._forward_hooks


def tied():
    net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    net[1].weight = net[0].weight
    return net


@pytest.mark.parametrize(
    ("net", "why"),
    [
        (lambda: nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)), "mixes the rows"),
        (lambda: nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3, affine=False)), "mixes the rows"),
        (lambda: nn.LayerNorm(3), "not known for LayerNorm"),
        (lambda: nn.utils.parametrizations.spectral_norm(nn.Linear(3, 3)), "not known"),
        (lambda: nn.Embedding(3, 3, scale_grad_by_freq=True), "not known"),
        (lambda: nn.Conv1d(2, 2, 1, groups=2), "not known"),
        (tied, "shared"),
    ],
)
def test_what_has_no_gradient_of_one_example_is_refused(net, why):
    with pytest.raises(ValueError, match=why):
        checked(net())


def test_one_loss_for_each_row_or_none_at_all():
    net = nn.Linear(3, 2)
    with pytest.raises(ValueError, match="one loss for each row"):
        Tape.of(net, lambda: net(torch.randn(4, 3)).sum())
    with pytest.raises(ValueError, match="one loss for each row"):
        Tape.of(net, lambda: net(torch.randn(4, 3)).sum(1)[:2])


def test_a_layer_without_part_in_the_loss_has_no_gradient():
    net = nn.ModuleList([nn.Linear(3, 2), nn.Linear(3, 2)])
    given = torch.randn(4, 3)
    tape = Tape.of(net, lambda: net[0](given).sum(1) + 0 * net[1](given).detach().sum(1))
    assert [id(p) for p, _ in tape.weighted(torch.ones(4))] == [id(p) for p in net[0].parameters()]
