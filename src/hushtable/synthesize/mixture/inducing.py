"""Kernel inducing points: few labelled points on which a kernel machine learns what it would learn on many (KIP).

Nguyen, Chen and Lee 2021. A pure function of the arrays it is given: where these are differentially private, so is the result.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hushtable.synthesize.mixture.kernel import tangent_kernel
from hushtable.table.arrays import Floats

RIDGE = 1e-3
"""The ridge, relative to the mean of the kernel's diagonal."""
RATE = 0.04
"""The step of Adam, in standard deviations of a coordinate."""


@dataclass(frozen=True)
class Descent:
    """How the points are moved."""

    alpha: float
    """1 keeps the points where they are, 0 moves them wherever they predict best."""
    steps: int = 100
    batch: int = 512
    """Targets in a step."""
    depth: int = 3
    """Hidden layers of the network whose tangent kernel is used."""


def adapt(
    points: Floats,
    labels: NDArray[np.number],
    targets: Floats,
    truth: NDArray[np.number],
    descent: Descent,
    rng: np.random.Generator,
) -> Floats:
    """The points moved so that kernel ridge regression on them predicts the targets' classes.

    Minimizes alpha |X - X0|^2 / |X0|^2 + (1 - alpha) E with Adam, E being half the mean squared error of the regression over
    batches of targets: with alpha = 1 the points stay where they are, with 0 only the classifier counts (Madl et al. 2023,
    equation 6; their text says it the other way round, and they print the sum of the errors where the implementation they
    started from has the mean). The kernel is the neural tangent kernel of ``depth`` hidden layers on records brought to mean
    0 and deviation 1. Labels are class codes, or one column for each class. Points stay in the unit cube.
    """
    alpha = descent.alpha
    if alpha >= 1 or descent.steps < 1 or not len(points) or not len(targets):
        return points.copy()
    classes = int(max(_codes(labels), _codes(truth)))
    y, goal = _centred(labels, classes), _centred(truth, classes)
    middle = targets.mean(axis=0)
    # A coordinate that does not vary separates no classes, and must not be scaled up.
    deviation = targets.std(axis=0)
    unit = np.where(deviation > 1e-3, deviation, 1.0)
    start = (points - middle) / unit
    z = (targets - middle) / unit
    weight = alpha / max(float((points**2).sum()), 1e-12)
    x, low, high = start.copy(), (0.0 - middle) / unit, (1.0 - middle) / unit
    slow, fast = np.zeros_like(x), np.zeros_like(x)
    for step in range(1, descent.steps + 1):
        rows = slice(None) if len(z) <= descent.batch else np.sort(rng.choice(len(z), descent.batch, replace=False))
        _, pull = loss(x, y, z[rows], goal[rows], descent.depth)
        pull = (1 - alpha) * pull + 2 * weight * (x - start) * unit**2
        slow = 0.9 * slow + 0.1 * pull
        fast = 0.999 * fast + 0.001 * pull**2
        x = x - RATE * (slow / (1 - 0.9**step)) / (np.sqrt(fast / (1 - 0.999**step)) + 1e-8)
        x = np.clip(x, low, high)
    return np.asarray(x * unit + middle)


def loss(points: Floats, labels: Floats, targets: Floats, truth: Floats, depth: int, ridge: float = RIDGE) -> tuple[float, Floats]:
    """Half the mean squared error on the targets of kernel ridge regression on the points, and its gradient in the points."""
    own = tangent_kernel(points, points, depth, derivatives=True)
    cross = tangent_kernel(points, targets, depth, derivatives=True)
    ridged = own.value + ridge * np.trace(own.value) / len(points) * np.eye(len(points))
    dual = np.linalg.solve(ridged, labels)
    miss = cross.value.T @ dual - truth
    back = np.linalg.solve(ridged, cross.value @ miss)
    inner = -back @ dual.T
    inner = inner + ridge * np.trace(inner) / len(points) * np.eye(len(points))
    gradient = cross.pull(dual @ miss.T, points, targets) + own.pull_both(inner, points)
    return float((miss**2).sum() / (2 * truth.size)), gradient / truth.size


def _codes(labels: NDArray[np.number]) -> int:
    return labels.shape[1] if labels.ndim == 2 else int(labels.max(initial=0)) + 1


def _centred(labels: NDArray[np.number], classes: int) -> Floats:
    """One column for each class, with sum zero."""
    if labels.ndim == 2:
        return np.asarray(labels, dtype=np.float64)
    return np.asarray((labels[:, None] == np.arange(classes)) - 1.0 / classes)
