"""What critic and generator minimize: Wasserstein distance with gradient penalty or clipped weights, or cross-entropy."""

from __future__ import annotations

from typing import Protocol

import torch  # noqa: TID253 - this module is imported only where it is used
from torch.nn import functional  # noqa: TID253

from hushtable.synthesize.neural.gan.nets import Critic

PENALTY = 10.0
"""Weight of the gradient penalty (Gulrajani et al. 2017)."""


class Loss(Protocol):
    """A pair of losses."""

    def critic(self, critic: Critic, real: torch.Tensor, fake: torch.Tensor) -> torch.Tensor:
        """Small where real rows score high and fake ones low."""
        ...

    def generator(self, scores: torch.Tensor) -> torch.Tensor:
        """Small where fake rows score high."""
        ...


class Wasserstein:
    """The difference of the mean scores (Arjovsky et al. 2017)."""

    def __init__(self, penalty: float) -> None:
        self.penalty = penalty

    def critic(self, critic: Critic, real: torch.Tensor, fake: torch.Tensor) -> torch.Tensor:
        """The negative distance, and a penalty where the slope between a real and a fake pack is not 1."""
        scores = critic(torch.cat([real, fake]))
        half = len(scores) // 2
        distance = scores[half:].mean() - scores[:half].mean()
        if not self.penalty:
            return distance
        shares = torch.rand(half, 1, 1)
        packs = half, critic.pac, real.shape[1]
        mixed = torch.lerp(real.reshape(packs), fake.reshape(packs), shares).flatten(0, 1)
        steep: torch.Tensor = critic.gradient(mixed).square().sum(1).add(1e-12).sqrt()
        return distance + self.penalty * (steep - 1).square().mean()

    def generator(self, scores: torch.Tensor) -> torch.Tensor:
        """The negative mean score."""
        return -scores.mean()


class CrossEntropy:
    """Scores are log-odds that a row is real (Goodfellow et al. 2014); the generator's gradient does not vanish."""

    def critic(self, critic: Critic, real: torch.Tensor, fake: torch.Tensor) -> torch.Tensor:
        """The mean over real and fake packs."""
        scores = critic(torch.cat([real, fake]))
        half = len(scores) // 2
        return (functional.softplus(-scores[:half]).mean() + functional.softplus(scores[half:]).mean()) / 2

    def generator(self, scores: torch.Tensor) -> torch.Tensor:
        """That they are fake, after all, is unlikely."""
        return functional.softplus(-scores).mean()


def loss(name: str) -> Loss:
    """The losses of this name."""
    return CrossEntropy() if name == "bce" else Wasserstein(PENALTY if name == "wgan-gp" else 0.0)
