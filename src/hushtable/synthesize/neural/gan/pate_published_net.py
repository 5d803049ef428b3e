"""Teachers, student and generator in PyTorch, and the accountant that looks at the votes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used
from torch.nn import functional  # noqa: TID253

from hushtable.learn.loop import seeded
from hushtable.synthesize.neural.gan.conditions import Unconditional
from hushtable.synthesize.neural.gan.game import Shape, rows, weights
from hushtable.synthesize.neural.gan.pate_published import ORDERS
from hushtable.synthesize.neural.gan.published_net import scaled
from hushtable.synthesize.neural.gan.wires import Wires
from hushtable.table.arrays import Floats
from hushtable.table.table import Table

if TYPE_CHECKING:
    from hushtable.synthesize.neural.gan.pate_published import PatePublished


def train(step: PatePublished, table: Table, seed: int, report: Callable[[float], None]) -> dict[str, Any]:
    """Rounds of teachers, student and generator until epsilon is spent; what a model is made of."""
    layout = scaled(table)
    wires = Wires(layout)
    codes, values = rows(wires, layout.encode(table))
    shape = Shape(net="dense", noise=step.noise, hidden=step.width, layers=2, dropout=0.0)
    condition = Unconditional()
    with seeded(seed):
        generator = shape.generator(wires, condition)
        student, *teachers = (shape.critic(wires, condition) for _ in range(step.teachers + 1))
        optimizers = {net: torch.optim.Adam(net.parameters(), lr=step.rate) for net in (generator, student, *teachers)}
        parts = torch.randperm(table.rows).tensor_split(step.teachers)
        moments, lost = Moments(1 / step.scale), list[float | None]()

        def fake() -> torch.Tensor:
            return wires.activate(generator(torch.randn(step.batch, step.noise)))

        def descend(net: torch.nn.Module, loss: torch.Tensor) -> None:
            optimizers[net].zero_grad()
            loss.backward()  # type: ignore[no-untyped-call] # torch does not annotate it
            optimizers[net].step()

        while len(lost) < step.most and moments.epsilon(step.delta) < step.epsilon:
            for teacher, part in zip(teachers, parts, strict=True):
                for _ in range(step.teacher_steps):
                    picked = part[torch.randint(len(part), (step.batch,))]
                    real = wires.spread(codes[picked], values[picked])
                    loss = functional.softplus(-teacher(real)) + functional.softplus(teacher(fake().detach()))
                    descend(teacher, loss.mean())
            for _ in range(step.student_steps):
                drawn = fake().detach()
                with torch.no_grad():
                    votes = sum((teacher(drawn) > 0).double() for teacher in teachers)
                assert isinstance(votes, torch.Tensor)
                moments.add((2 * votes - step.teachers).abs().numpy())
                noise = torch.distributions.Laplace(0.0, step.scale).sample((2, step.batch))
                label = (votes + noise[0] > step.teachers - votes + noise[1]).float()
                descend(student, functional.binary_cross_entropy_with_logits(student(drawn), label))
            loss = functional.softplus(-student(fake())).mean()
            lost.append(round(float(loss.detach()), 4))
            descend(generator, loss)
            report(max(len(lost) / step.most, min(1.0, moments.epsilon(step.delta) / step.epsilon)))
    curve = {"loss": lost, "held": [None] * len(lost)}
    return {
        "layout": layout,
        "shape": asdict(shape),
        "closed": wires.closed,
        "condition": "none",
        "arrays": {},
        "weights": weights(generator.eval()),
        "curve": curve,
    }


class Moments:
    """The moments accountant of noisy majorities, in view of the votes (Papernot et al. 2017, theorem 3)."""

    def __init__(self, rate: float) -> None:
        self.rate, self.orders = rate, np.arange(1.0, ORDERS + 1)
        self.sums = np.zeros(ORDERS)

    def add(self, gaps: Floats) -> None:
        """Queries whose votes are so far apart."""
        rate, orders = self.rate, self.orders
        for gap in gaps:
            wrong = (2 + rate * gap) / (4 * np.exp(rate * gap))
            price = 2 * rate**2 * orders * (orders + 1)
            if (other := 1 - np.exp(2 * rate) * wrong) > 0:
                agreed = np.log((1 - wrong) * ((1 - wrong) / other) ** orders + wrong * np.exp(2 * rate * orders))
                price = np.minimum(price, agreed)
            self.sums += price

    def epsilon(self, delta: float) -> float:
        """Of all queries so far."""
        return float(((self.sums + np.log(1 / delta)) / self.orders).min()) if self.sums.any() else 0.0
