"""The student: a discriminator fitted to noisy votes on generated rows, by the same kernel as its teachers'."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hushtable.synthesize.neural.gan.teachers import GRID, Kernel, Votes
from hushtable.table.arrays import Floats, Integers

VARIANCES = np.geomspace(1e-6, 1.0, 25)
"""Candidates for how much the ratio of densities varies along one direction of the kernel."""


@dataclass(frozen=True, eq=False)
class Student:
    """The estimated excess of real rows over generated ones, relative to these: a sum of kernels at the queries."""

    kernel: Kernel
    queries: Integers
    weights: Floats
    """Of the kernel at each query."""
    signal: float
    """How much of the variance of the votes was not noise, as estimated from them."""

    @classmethod
    def fitted(cls, asked: Votes, noisy: Integers, noise: float, others: Integers, held: int, rng: np.random.Generator) -> Student:
        """From noisy votes alone, and generated rows.

        If real rows were generated ones, the share of votes would be what teachers of generated rows give. What it is beyond that
        grows with the excess of the kernel's mean, in units of its deviation among the teachers' means. Linear in the kernel's
        features, with a Gaussian prior whose variance has the largest likelihood.
        """
        kernel, count = asked.kernel, len(asked.queries)
        made = rng.integers(0, 400, held * 400) if held > 1 else np.arange(400)
        rows = others[rng.integers(0, len(others), len(made))]
        mock = Votes(asked.columns, asked.queries, asked.generated, kernel, 400, 0)
        null = mock.votes(rows, made).mean(0)
        each = kernel.sums(asked.queries, others, np.arange(len(others)), len(others)) / GRID**2
        spread = np.maximum(each.std(0) / math.sqrt(held), 1e-6)
        slope = _density(null)
        share = noisy / asked.teachers - null
        excess = share * spread / slope
        variance = (noise**2 / asked.teachers**2 + null * (1 - null) * (1 / asked.teachers + 1 / 400)) * (spread / slope) ** 2
        gram = _gram(kernel, asked.queries, asked.queries)
        best, weights = -math.inf, np.zeros(count)
        # Where all generated rows are equal there is nothing to learn, and nothing to divide by.
        scale = max(float(np.mean(np.diag(gram))), 1e-9)
        kept = VARIANCES[0]
        for prior in VARIANCES:
            covariance = prior * gram / scale + np.diag(variance)
            # Rounding of the kernel may leave it a little less than positive.
            covariance[np.diag_indices(count)] += 1e-9 * np.trace(covariance) / count
            sign, log = np.linalg.slogdet(covariance)
            solved = np.linalg.solve(covariance, excess)
            likelihood = -0.5 * (float(excess @ solved) + float(log))
            if sign > 0 and likelihood > best:
                best, weights, kept = likelihood, prior / scale * solved, prior
        signal = 1 - float(np.sum(variance)) / max(float(np.sum(excess**2)), 1e-300)
        return cls(kernel, asked.queries, weights, max(signal, 0.0) if kept > VARIANCES[0] else 0.0)


def _gram(kernel: Kernel, one: Integers, two: Integers) -> Floats:
    return kernel.sums(one, two, np.arange(len(two)), len(two)).T / GRID**2


def _density(share: Floats) -> Floats:
    """The standard normal density where its integral is this share."""
    from statistics import NormalDist

    normal: Any = NormalDist()
    return np.array([normal.pdf(normal.inv_cdf(min(max(float(s), 0.02), 0.98))) for s in share])
