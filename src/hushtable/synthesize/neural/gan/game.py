"""The game itself: a generator and a critic that take turns, as a learner of the one training loop."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used

from hushtable.encode.layout import Rows
from hushtable.synthesize.neural.gan import nets
from hushtable.synthesize.neural.gan.conditions import Condition, Drawn
from hushtable.synthesize.neural.gan.losses import loss
from hushtable.synthesize.neural.gan.parents import Embedded
from hushtable.synthesize.neural.gan.penalties import Penalty
from hushtable.synthesize.neural.gan.wires import Wires
from hushtable.table.columns import Role

JUDGED = 5000
"""Rows drawn, and held-out rows that they are compared with, at a judgement."""
AVERAGED = 0.999
"""How much of the averaged generator stays at a step (Yazici et al. 2019)."""
CELLS, PAIRS = 20, 60
"""Cells of a number, and pairs of columns, in a judgement."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """The sizes of both networks."""

    net: str = "concatenating"
    noise: int = 128
    hidden: int = 256
    layers: int = 2
    pac: int = 1
    dropout: float = 0.5

    def generator(self, wires: Wires, condition: Condition) -> torch.nn.Module:
        """A new one."""
        return condition.given_to(nets.generator(self.net, self.noise + condition.width, self.hidden, self.layers, wires.width))

    def critic(self, wires: Wires, condition: Condition) -> nets.DenseCritic | nets.ConvolutionCritic | Embedded:
        """A new one; with ``dropout`` 0 and ``pac`` 1 it treats every row by itself."""
        width = wires.width + condition.width
        critic = condition.given_to(nets.critic(self.net, width, self.hidden, self.layers, dropout=self.dropout, pac=self.pac))
        assert isinstance(critic, nets.DenseCritic | nets.ConvolutionCritic | Embedded)
        return critic


@dataclass(frozen=True, kw_only=True)
class Rules:
    """How the game is played."""

    loss: str = "wgan-gp"
    rate: float = 2e-4
    betas: tuple[float, float] = (0.5, 0.9)
    decay: float = 1e-6
    """Of the generator's weights."""
    critic_steps: int = 1
    clip: float = 0.0
    """The critic's weights are kept between minus this and this; 0 lets them be."""


class Game:
    """A generator and a critic that take turns. A private game overrides ``improve_critic``, and how it comes to real rows."""

    def __init__(
        self,
        wires: Wires,
        shape: Shape,
        rules: Rules,
        condition: Condition,
        rows: tuple[torch.Tensor, torch.Tensor],
        penalties: Sequence[tuple[float, Penalty]] = (),
    ) -> None:
        self.wires, self.shape, self.rules, self.condition, self.penalties = wires, shape, rules, condition, penalties
        self.codes, self.values = rows
        self.loss = loss(rules.loss)
        self.generator = shape.generator(wires, condition)
        self.critic = shape.critic(wires, condition)
        adam = torch.optim.Adam
        self.generating = adam(self.generator.parameters(), lr=rules.rate, betas=rules.betas, weight_decay=rules.decay, fused=True)
        self.criticizing = adam(self.critic.parameters(), lr=rules.rate, betas=rules.betas, fused=True)
        self.averaged = copy.deepcopy(self.generator).requires_grad_(False)
        self.judgement: Judgement | None = None

    def state(self) -> Mapping[str, Any]:
        """Both networks and both optimizers."""
        return {
            "generator": self.generator,
            "averaged": self.averaged,
            "critic": self.critic,
            "generating": self.generating,
            "criticizing": self.criticizing,
        }

    def update(self, rows: torch.Tensor) -> float:
        """The critic's steps, then one of the generator; the critic's last loss."""
        lost = 0.0
        for _ in range(self.rules.critic_steps):
            drawn = self.condition.train(self._packed(rows))
            real = self.real(drawn.rows)
            raw = self.generator(self._inputs(drawn))
            fake = self.wires.activate(raw)
            lost = self.improve_critic(real, fake.detach(), drawn)
        # The critic has just learnt from these very rows: they need not be drawn again for the generator's turn.
        self.improve_generator(raw, fake, real, drawn)
        return lost

    def improve_critic(self, real: torch.Tensor, fake: torch.Tensor, drawn: Drawn) -> float:
        """One step of the critic on real and fake rows of the same conditions; the loss before it."""
        self.criticizing.zero_grad()
        both = torch.cat([real, drawn.vectors], 1), torch.cat([fake, drawn.vectors], 1)
        lost = self.loss.critic(self.critic, *both)
        lost.backward()  # type: ignore[no-untyped-call] # torch does not annotate it
        self.criticizing.step()
        if self.rules.clip:
            with torch.no_grad():
                for weights in self.critic.parameters():
                    weights.clamp_(-self.rules.clip, self.rules.clip)
        return float(lost.detach())

    def improve_generator(self, raw: torch.Tensor, fake: torch.Tensor, real: torch.Tensor, drawn: Drawn) -> None:
        """One step of the generator: the critic's opinion, what it was given, and the penalties."""
        self.generating.zero_grad()
        self.critic.requires_grad_(False)
        lost = self.loss.generator(self.critic(torch.cat([fake, drawn.vectors], 1))) + self.condition.loss(raw, drawn)
        for weight, penalty in self.penalties:
            lost = lost + weight * penalty(real, fake)
        lost.backward()  # type: ignore[no-untyped-call] # torch does not annotate it
        self.generating.step()
        self.critic.requires_grad_(True)
        self._average()

    def _average(self) -> None:
        """Move the averaged generator towards the new one: the game goes in circles, and the average stays near their centre."""
        turns = float(self.generating.state[next(self.generator.parameters())]["step"])
        share = 1 - min(AVERAGED, turns / (turns + 10))
        with torch.no_grad():
            for old, new in zip(self.averaged.state_dict().values(), self.generator.state_dict().values(), strict=True):
                if old.is_floating_point():
                    old.lerp_(new, share)

    def begin(self, shares: torch.Tensor) -> None:
        """Let draws have these shares of levels and means of numbers from the start, where the generator's last layer is dense."""
        last = getattr(self.generator, "last", None)
        if last is not None:
            numbers = self.wires.numbers
            with torch.no_grad():
                last.bias[:numbers] = shares[:numbers].clamp(-0.99, 0.99).atanh()
                last.bias[numbers:] = shares[numbers:].clamp_min(1e-4).log()
            self.averaged.load_state_dict(self.generator.state_dict())

    def real(self, rows: torch.Tensor) -> torch.Tensor:
        """The vectors of real rows."""
        return self.wires.spread(self.codes[rows], self.values[rows])

    def judge(self, rows: torch.Tensor) -> float:
        """The mean total variation distance of columns and of pairs of columns between drawn and held-out rows."""
        if self.judgement is None:
            self.judgement = Judgement(self.wires, self.codes, self.values, rows)
        return self.judgement(*draw(self.averaged, self.wires, self.shape, self.condition, min(len(rows), JUDGED)))

    def _packed(self, rows: torch.Tensor) -> torch.Tensor:
        """As many rows as fill packs, and at least two packs: a batch of one row has no variance."""
        size = max(2, -(-len(rows) // self.shape.pac)) * self.shape.pac
        return rows if len(rows) == size else torch.cat([rows, rows[torch.randint(len(rows), (size - len(rows),))]])

    def _inputs(self, drawn: Drawn) -> torch.Tensor:
        return torch.cat([torch.randn(len(drawn.vectors), self.shape.noise), drawn.vectors], 1)


def draw(
    generator: torch.nn.Module, wires: Wires, shape: Shape, condition: Condition, size: int, given: dict[int, int] | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Levels and values of rows of a generator that was trained."""
    conditions = condition.draw(size, given or {}).vectors
    with torch.no_grad():
        return wires.drawn(generator(torch.cat([torch.randn(size, shape.noise), conditions], 1)))


class Judgement:
    """How far drawn rows are from held-out ones: the mean total variation distance of columns and of pairs of columns."""

    def __init__(self, wires: Wires, codes: torch.Tensor, values: torch.Tensor, rows: torch.Tensor) -> None:
        self.wires = wires
        rows = rows[:JUDGED]
        quantiles = torch.linspace(0, 1, CELLS + 1, dtype=torch.float64)[1:-1].numpy()
        held = values[rows].numpy()
        self.edges = [np.unique(np.quantile(column, quantiles)) for column in held.T]
        cells = self._cells(codes[rows].long().numpy(), held)
        columns = cells.shape[1]
        pairs = [(one, two) for one in range(columns) for two in range(one)]
        roles = [wires.layout.spans[place].column.role for place in (*wires.numeric, *wires.choices)]
        order = np.random.default_rng(0).permutation(len(pairs))
        # What the target depends on is judged in any case.
        first = sorted(order.tolist(), key=lambda at: all(roles[column] is not Role.TARGET for column in pairs[at]))
        self.pairs = [pairs[at] for at in first[:PAIRS]]
        self.sizes = [CELLS + 1] * len(self.edges) + [wires.layout.spans[place].levels for place in wires.choices]
        self.held = self._shares(cells)

    def __call__(self, places: torch.Tensor, values: torch.Tensor) -> float:
        """Of drawn rows."""
        drawn = self._shares(self._cells(places.numpy(), values.numpy()))
        distances = [np.abs(one - two).sum() / 2 for one, two in zip(self.held, drawn, strict=True)]
        return float(np.mean(distances)) if distances else 0.0

    def _cells(self, places: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        numbers = [np.searchsorted(edges, column, side="right") for edges, column in zip(self.edges, values.T, strict=True)]
        return np.column_stack([*numbers, places - self.wires.starts[self.wires.choices]])

    def _shares(self, cells: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
        """Of each column, and of each pair where the levels of both are put into at most so many cells."""
        shares = [np.bincount(column, minlength=size) / len(cells) for column, size in zip(cells.T, self.sizes, strict=True)]
        few = cells % CELLS
        for one, two in self.pairs:
            shares.append(np.bincount(few[:, one] * CELLS + few[:, two], minlength=CELLS**2) / len(cells))
        return shares


def weights(generator: torch.nn.Module) -> dict[str, np.ndarray[Any, Any]]:
    """What a generator learnt, by name."""
    # How many batches a norm has seen is of no use to it.
    state = generator.state_dict().items()
    return {name: tensor.numpy().copy() for name, tensor in state if not name.endswith("num_batches_tracked")}


def rows(wires: Wires, encoded: Rows) -> tuple[torch.Tensor, torch.Tensor]:
    """Encoded rows as a game takes them."""
    return wires.codes(encoded), torch.from_numpy(encoded.values)
