"""From a table to a trained generator, and from a generator to rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used

from hushtable.encode.layout import Layout, Rows
from hushtable.learn import training
from hushtable.learn.checkpoint import Checkpoint
from hushtable.learn.loop import Loop, seeded, split
from hushtable.pipeline.step import Arrays, numbered
from hushtable.synthesize.neural.gan import conditions, penalties
from hushtable.synthesize.neural.gan.constraints import Constraint
from hushtable.synthesize.neural.gan.game import Game, Rules, Shape, draw, rows, weights
from hushtable.synthesize.neural.gan.wires import Wires
from hushtable.table.table import Table

if TYPE_CHECKING:
    from hushtable.synthesize.neural.gan.gan import Gan

FEWEST = 32
"""Rows of a step of the smallest table."""
BATCH = 10_000
"""Rows drawn at a time."""


def train(
    step: Gan,
    table: Table,
    constraints: Sequence[Constraint],
    seed: int,
    report: Callable[[float], None],
    played: Callable[..., Game] = Game,
    layout: Layout | None = None,
    work: Path | None = None,
) -> dict[str, Any]:
    """Play the game on the rows, or another one; what its model is made of. ``work`` is where it is kept how far it is."""
    layout = layout or Layout.of(table)
    encoded = layout.encode(table)
    wires = Wires(layout, Wires(layout).closing(encoded))
    codes, values = rows(wires, encoded)
    shape = Shape(net=step.net, noise=step.noise, hidden=step.width, layers=step.layers, pac=step.pac, dropout=step.dropout)
    clip = step.clip if step.loss == "wgan-clip" else 0.0
    betas = step.beta1, step.beta2
    rules = Rules(loss=step.loss, rate=step.rate, betas=betas, decay=step.decay, critic_steps=step.critic_steps, clip=clip)
    batch = batch_of(step.batch, table.rows)
    loop = Loop(batch=batch, epochs=step.epochs, patience=step.patience, every=step.every)
    with seeded(seed):
        fitted, held = split(table.rows)
        condition = conditions.fitted(step.condition, wires, codes, fitted, table, step.vector_epsilon)
        paid = priced(numbered(step, "penalties"), wires, (codes[fitted], values[fitted]), constraints)
        game = played(wires, shape, rules, condition, (codes, values), paid)
        game.begin(torch.cat([values[fitted].mean(0), shares(wires, codes[fitted])]))
        curve = loop.run(game, fitted, held, report, Checkpoint.of(work, step, table, seed))
    return {
        "layout": layout,
        "shape": asdict(shape),
        "closed": wires.closed,
        "condition": str(step.condition),
        "arrays": condition.arrays(),
        "weights": weights(game.averaged),
        "curve": training(curve, step.epochs),
    }


def priced(
    wanted: Mapping[str, float], wires: Wires, seen: tuple[torch.Tensor, torch.Tensor], constraints: Sequence[Constraint]
) -> list[tuple[float, penalties.Penalty]]:
    """The penalties of these weights."""
    made: list[tuple[float, penalties.Penalty]] = []
    for name, weight in wanted.items():
        if name == "constraints" and constraints:
            made.append((weight, penalties.Constrained(wires, constraints)))
        elif name == "correlation":
            made.append((weight, penalties.Correlation(wires)))
        elif name == "identifiability":
            made.append((weight, penalties.Identifiability(wires, penalties.entropies(wires, *seen))))
    return made


def shares(wires: Wires, codes: torch.Tensor) -> torch.Tensor:
    """How many of the rows have each level, by its place among the levels."""
    return torch.bincount(codes.flatten().long(), minlength=wires.width)[wires.numbers :] / len(codes)


def batch_of(batch: int, rows: int) -> int:
    """Smaller batches of small tables, so that an epoch has about twenty."""
    return min(batch, max(FEWEST, rows // 20))


class Drawing:
    """A generator to draw from."""

    def __init__(
        self, layout: Layout, closed: Sequence[int], shape: Mapping[str, Any], condition: str, arrays: Arrays, learnt: Arrays
    ) -> None:
        self.wires, self.shape = Wires(layout, closed), Shape(**shape)
        self.condition = conditions.stored(condition, self.wires, arrays)
        with seeded(0):
            self.generator = self.shape.generator(self.wires, self.condition)
        state = self.generator.state_dict()
        self.generator.load_state_dict(state | {name: torch.from_numpy(array.copy()) for name, array in learnt.items()})
        self.generator.eval()

    def rows(self, size: int, seed: int, given: dict[int, int]) -> Rows:
        """So many rows; ``given`` is the level of a span."""
        parts = []
        with seeded(seed):
            for start in range(0, size, BATCH):
                part = draw(self.generator, self.wires, self.shape, self.condition, min(BATCH, size - start), given)
                parts.append(self.wires.rows(*part))
        codes = [part.codes for part in parts] or [np.zeros((0, len(self.wires.layout.spans)), np.int64)]
        values = [part.values for part in parts] or [np.zeros((0, self.wires.numbers), np.float32)]
        return Rows(np.concatenate(codes), np.concatenate(values))
