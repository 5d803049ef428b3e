"""The private game in PyTorch: a critic by private descent, and a generator against it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used
from torch.nn import LeakyReLU, Linear, Sequential, functional  # noqa: TID253

from hushtable.learn.ghost import Gradients, Tape, penalized
from hushtable.learn.loop import seeded
from hushtable.learn.private import PrivateDescent
from hushtable.pipeline.step import numbered
from hushtable.privacy.event import SampledGaussian
from hushtable.privacy.vault import Vault
from hushtable.synthesize.neural.gan.forbidden import Forbidden
from hushtable.synthesize.neural.gan.gan import Loss
from hushtable.synthesize.neural.gan.generator import Generator
from hushtable.synthesize.neural.gan.penalties import pearson
from hushtable.synthesize.neural.gan.products import places
from hushtable.synthesize.neural.gan.residual import Condition
from hushtable.synthesize.neural.gan.start import Start
from hushtable.synthesize.neural.gan.teachers import cells_of
from hushtable.table.arrays import Floats, Integers, Singles

if TYPE_CHECKING:
    from hushtable.synthesize.neural.gan.private import PrivateGan

BATCH = 500
"""Generated rows a step."""
TURNS = 4
"""Steps of the generator for one of the critic: they are free."""
PENALTY, SMALL = 10.0, 0.1
"""The weight of the gradient penalty, and the largest weight of a critic under wgan-clip."""
CRITIC_RATE, RATE = 1e-2, 3e-3
DRIFT = 10.0
"""How much the generator pays for shares that are not those of the tables."""
AVERAGED = 0.99
"""How much of the averaged generator stays at a step."""


class Extra(NamedTuple):
    """What the generator pays for beside the critic's opinion."""

    correlations: Floats | None
    forbidden: Forbidden


class Game:
    """Both networks, and everything that they may see without paying."""

    def __init__(self, step: PrivateGan, start: Start, condition: Condition, extra: Extra, seed: int) -> None:
        self.step, self.start, self.condition, self.seed = step, start, condition, seed
        self.weights = numbered(step, "penalties")
        self.extra = extra
        with seeded(seed):
            self.generator = Generator(start, condition, step.width, seed)
            self.vectors = self._vectors()
            width = sum(start.sizes) + self.vectors.shape[1]
            layers = [Linear(width, step.width), LeakyReLU(0.2), Linear(step.width, step.width), LeakyReLU(0.2)]
            self.critic = Sequential(*layers, Linear(step.width, 1))
        codes = [torch.from_numpy(places(size)).float()[:, None] for size in start.sizes]
        self.codes: torch.Tensor = torch.block_diag(*codes)  # type: ignore[no-untyped-call] # torch does not annotate it
        self.taken = self._taken()

    def play(self, vault: Vault, happened: SampledGaussian) -> tuple[Singles, ...]:
        """All steps that are paid for; the averaged generator."""
        step = self.step
        with seeded(self.seed + 1):
            descent = PrivateDescent.of(happened, step.clip)
            run = descent.start(vault, list(self.critic.parameters()), float(self.start.network.total), "trains the critic")
            cells = cells_of(run.table, self.start.schema.names)
            chances = None if self.taken is None else self._chances(cells, run.units, happened.rate)
            share = 1.0 if self.taken is None else float(self._weight(self.generator.cells).mean())
            critics = torch.optim.Adam(self.critic.parameters(), lr=CRITIC_RATE, betas=(0.5, 0.9))
            makers = torch.optim.Adam(self.generator.parameters(), lr=RATE, betas=(0.5, 0.9))
            averaged = [p.detach().clone() for p in self.generator.parameters()]
            for number, _ in enumerate(run.batches(chances), 1):
                with torch.no_grad():
                    fake = self.generator.rows(BATCH).rows
                run.update(lambda part, fake=fake: self._gradients(cells[part], fake))  # type: ignore[misc]
                self._oppose(fake, share)
                critics.step()
                if step.loss is Loss.WGAN_CLIP:
                    with torch.no_grad():
                        for p in self.critic.parameters():
                            p.clamp_(-SMALL, SMALL)
                for _ in range(TURNS):
                    self._please(makers)
                    for kept, p in zip(averaged, self.generator.parameters(), strict=True):
                        kept.lerp_(p.detach(), 1 - AVERAGED)
                vault.report(number / happened.steps)
            with torch.no_grad():
                for kept, p in zip(averaged, self.generator.parameters(), strict=True):
                    p.copy_(kept)
        return self.generator.layers()

    def _gradients(self, cells: Integers, fake: torch.Tensor) -> Gradients:
        """Of the critic's loss on real rows, one for each: that of the penalty between it and a generated row too."""
        real = self._seen(self._spread(cells))
        if self.step.loss is Loss.WGAN_GP:
            other = self._seen(fake[torch.randint(len(fake), (len(real),))])
            return penalized(self.critic, real, torch.lerp(real, other, torch.rand(len(real), 1)), weight=PENALTY)
        loss = functional.softplus if self.step.loss is Loss.BCE else torch.nn.Identity()
        return Tape.of(self.critic, lambda: loss(-self.critic(real).squeeze(1)))

    def _oppose(self, fake: torch.Tensor, share: float) -> None:
        """Add the gradient of generated rows, which nobody owns, in proportion to the part of the rows that is in a batch."""
        scores = self.critic(self._seen(fake)).squeeze(1)
        losses = functional.softplus(scores) if self.step.loss is Loss.BCE else scores
        weights = torch.ones(len(fake)) if self.taken is None else (fake @ self.taken).clamp(max=1.0)
        (losses * weights * (share / weights.mean())).mean().backward()

    def _please(self, optimizer: torch.optim.Optimizer) -> None:
        """One step of the generator: it reads what was released, and generated rows."""
        made = self.generator.rows(BATCH)
        fake = made.rows
        scores = self.critic(self._seen(fake)).squeeze(1)
        if self.step.loss is Loss.BCE:
            loss = functional.softplus(-scores).mean()
        else:
            # Noise leaves a Wasserstein critic of any scale; what counts is how generated rows compare.
            loss = -scores.mean() / scores.detach().std().clamp(min=1.0)
        loss = loss + self.step.pull * made.away + DRIFT * made.drift + self._penalty(fake)
        gradients = torch.autograd.grad(loss, list(self.generator.parameters()))
        for p, gradient in zip(self.generator.parameters(), gradients, strict=True):
            p.grad = gradient
        optimizer.step()

    def _penalty(self, fake: torch.Tensor) -> torch.Tensor:
        total = torch.zeros(())
        if self.extra.correlations is not None:
            goal = torch.from_numpy(self.extra.correlations).float()
            away = (pearson(fake @ self.codes) - goal).square().sum().add(1e-12).sqrt()
            total = total + self.weights["correlation"] * away
        for parts in self.extra.forbidden if "constraints" in self.weights else ():
            met = torch.ones(len(fake))
            for place, mask in parts.items():
                met = met * (fake[:, self.generator.spans[place]] @ torch.from_numpy(mask).float())
            total = total + self.weights["constraints"] * met.mean()
        return total

    def _spread(self, cells: Integers) -> torch.Tensor:
        """Rows level by level."""
        starts = np.array([span.start for span in self.generator.spans])
        spread = torch.zeros(len(cells), sum(self.start.sizes))
        return spread.scatter_(1, torch.from_numpy(cells + starts), 1.0)

    def _seen(self, rows: torch.Tensor) -> torch.Tensor:
        """What the critic sees of a row: the row, and the vectors of its own levels that are a condition."""
        return torch.cat([rows, rows @ self.vectors], dim=1)

    def _vectors(self) -> torch.Tensor:
        """From a row to the vectors of its levels that are a condition."""
        blocks = [
            torch.from_numpy(vectors) if place in self.condition.places else torch.zeros(len(vectors), 0)
            for place, vectors in enumerate(self.condition.vectors)
        ]
        matrix: torch.Tensor = torch.block_diag(*blocks)  # type: ignore[no-untyped-call] # torch does not annotate it
        return matrix

    def _taken(self) -> torch.Tensor | None:
        """For each level how much oftener rows with it are taken, by log-frequency (Xu et al. 2019), from the noisy counts.

        The mean over the columns of a row is half of what would be 1 on average, so that rows are taken up to twice as often.
        """
        if self.step.condition != "level":
            return None
        cells, parts = self.start.draw(20_000, np.random.default_rng(0)), []
        for column, size in zip(cells.T, self.start.sizes, strict=True):
            counts = np.bincount(column, minlength=size) / len(cells) * self.start.network.total
            logs = np.log1p(counts)
            parts.append(np.divide(logs / logs.sum(), counts / counts.sum(), out=np.full(size, 2.0), where=counts > 0))
        return torch.from_numpy(np.concatenate(parts) / (2 * len(parts))).float()

    def _weight(self, cells: Integers) -> Floats:
        """How often a row is taken beside the rate, from its own levels alone."""
        assert self.taken is not None
        starts = np.array([span.start for span in self.generator.spans])
        return np.asarray(np.minimum(self.taken.double().numpy()[cells + starts].sum(axis=1), 1.0))

    def _chances(self, cells: Integers, units: Integers, rate: float) -> Floats:
        """Of each unit, from its own rows and the noisy counts: the largest of its rows'; never above the rate that is paid for."""
        chances = np.zeros(int(units.max(initial=-1)) + 1)
        np.maximum.at(chances, units, np.minimum(self._weight(cells) * rate, rate))
        return chances
