"""Kernel inducing points: few labelled points on which a kernel machine learns what it would learn on many (KIP).

Nguyen, Chen and Lee 2021. A pure function of the arrays it is given: where these are differentially private, so is the result.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hushtable.synthesize.mixture.kernel import tangent_kernel
from hushtable.table.arrays import Floats

RIDGE = 1e-3
"""The ridge, relative to the mean of the kernel's diagonal."""
RATE = 0.04
"""The step of Adam, in standard deviations of a coordinate."""


def adapt(
    points: Floats,
    labels: NDArray[np.number],
    targets: Floats,
    truth: NDArray[np.number],
    *,
    alpha: float,
    steps: int = 100,
    batch: int = 512,
    rng: np.random.Generator,
    depth: int = 3,
    box: tuple[float, float] | None = (0.0, 1.0),
) -> Floats:
    """The points moved so that kernel ridge regression on them predicts the targets' classes.

    Minimizes alpha |X - X0|^2 / |X0|^2 + (1 - alpha) E with Adam, E being half the mean squared error of the regression over
    batches of targets: with alpha = 1 the points stay where they are, with 0 only the classifier counts (Madl et al. 2023,
    equation 6; their text says it the other way round, and they print the sum of the errors where the implementation they
    started from has the mean). The kernel is the neural tangent kernel of ``depth`` hidden layers on records brought to mean
    0 and deviation 1. Labels are class codes, or one column for each class. Points stay in the box, if there is one.
    """
    if alpha >= 1 or steps < 1 or not len(points) or not len(targets):
        return points.copy()
    classes = int(max(_codes(labels), _codes(truth)))
    y, goal = _centred(labels, classes), _centred(truth, classes)
    middle = targets.mean(axis=0)
    # A coordinate that does not vary tells no classes apart, and must not be blown up.
    deviation = targets.std(axis=0)
    unit = np.where(deviation > 1e-3, deviation, 1.0)
    start = (points - middle) / unit
    z = (targets - middle) / unit
    weight = alpha / max(float((points**2).sum()), 1e-12)
    x, low, high = start.copy(), None, None
    if box is not None:
        low, high = (box[0] - middle) / unit, (box[1] - middle) / unit
    slow, fast = np.zeros_like(x), np.zeros_like(x)
    for step in range(1, steps + 1):
        rows = slice(None) if len(z) <= batch else np.sort(rng.choice(len(z), batch, replace=False))
        _, pull = loss(x, y, z[rows], goal[rows], depth)
        pull = (1 - alpha) * pull + 2 * weight * (x - start) * unit**2
        slow = 0.9 * slow + 0.1 * pull
        fast = 0.999 * fast + 0.001 * pull**2
        x = x - RATE * (slow / (1 - 0.9**step)) / (np.sqrt(fast / (1 - 0.999**step)) + 1e-8)
        if low is not None:
            x = np.clip(x, low, high)
    return x * unit + middle


def loss(points: Floats, labels: Floats, targets: Floats, truth: Floats, depth: int, ridge: float = RIDGE) -> tuple[float, Floats]:
    """Half the mean squared error on the targets of kernel ridge regression on the points, and its gradient in the points."""
    own = tangent_kernel(points, points, depth, derivatives=True)
    cross = tangent_kernel(points, targets, depth, derivatives=True)
    held = own.value + ridge * np.trace(own.value) / len(points) * np.eye(len(points))
    dual = np.linalg.solve(held, labels)
    miss = cross.value.T @ dual - truth
    back = np.linalg.solve(held, cross.value @ miss)
    inner = -back @ dual.T
    inner = inner + ridge * np.trace(inner) / len(points) * np.eye(len(points))
    gradient = cross.pull(dual @ miss.T, points, targets) + own.pull_both(inner, points)
    return float((miss**2).sum() / (2 * truth.size)), gradient / truth.size


def predict(
    points: Floats, labels: NDArray[np.number], targets: Floats, classes: int, depth: int = 3, ridge: float = RIDGE
) -> Floats:
    """The score of each class for the targets, by kernel ridge regression on the points as they are."""
    own = tangent_kernel(points, points, depth).value
    held = own + ridge * np.trace(own) / len(points) * np.eye(len(points))
    return tangent_kernel(targets, points, depth).value @ np.linalg.solve(held, _centred(labels, classes))


def _codes(labels: NDArray[np.number]) -> int:
    return labels.shape[1] if labels.ndim == 2 else int(labels.max(initial=0)) + 1


def _centred(labels: NDArray[np.number], classes: int) -> Floats:
    """One column for each class, with sum zero."""
    if labels.ndim == 2:
        return np.asarray(labels, dtype=np.float64)
    return (labels[:, None] == np.arange(classes)) - 1.0 / classes
