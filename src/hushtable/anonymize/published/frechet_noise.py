"""Laplace noise on every record, sized for their Frechet mean: what is published for it, and why its proof fails."""

from __future__ import annotations

import numpy as np

from hushtable.numerics import ball
from hushtable.privacy.guarantee import Claim
from hushtable.table.arrays import Floats

PUBLISHED = Claim(
    "the Frechet mean of records that each got Laplace noise of scale 2r/(N epsilon) is epsilon-differentially private",
    (
        "2r/N is how far one record moves the mean; a record itself moves by 2r, so the noisy table has N times the epsilon",
        "the mean of the noisy records averages the noise away by another root of N: it is about a Gaussian mechanism with mu = "
        "epsilon sqrt(N/2)",
        "the radius r is read off the records, and the bound needs a public ball that holds all of them",
        "a geodesic distance bounds no coordinates: Laplace noise in D of them needs the L1 sensitivity",
    ),
)
"""What is published for noise on records, and why it does not hold. No epsilon is ever printed for it."""


def published_noise(points: Floats, epsilon: float, rng: np.random.Generator) -> Floats:
    """Records with Laplace noise sized for their mean, as published: ``PUBLISHED`` says why this proves nothing.

    The tangent vectors at the origin get noise of scale 2r/(N epsilon) in every coordinate, r being the largest norm.
    """
    vectors = ball.log(np.zeros(points.shape[1]), points)
    reach = float(np.sqrt((vectors**2).sum(1)).max())
    return ball.exp(np.zeros(points.shape[1]), vectors + rng.laplace(0, 2 * reach / (len(points) * epsilon), points.shape))
