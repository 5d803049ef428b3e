"""Points whose mean random Fourier features match given ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hushtable.table.arrays import Floats, Mask, Singles

RATE = 0.005
"""The first step of Adam, as a share of the domain; it falls to a tenth."""
EXCHANGED = 20
"""One point in so many exchanges a number at once."""
PLACES, ROUNDS, STRIDE = 201, 200, 5.0
"""The grid of a number's places, and the gradient steps that give each its share."""


def match(
    means: Floats,
    known: Mask,
    frequencies: Floats,
    cells: int,
    steps: int,
    rng: np.random.Generator,
    progress: Callable[[float], None],
) -> Floats:
    """``cells`` points in the unit cube for each class, class after class.

    ``means`` holds for each class the mean cosines, then the mean sines. Minimizes the squared distance between them and the
    mean features of the points (the maximum mean discrepancy under these features) with Adam (Kingma and Ba 2015). Points start
    where the features of single numbers put each number by itself, and first exchange numbers with one another, which keeps
    each number's distribution and fits that of pairs to their features. A class that is not ``known`` (its number of records
    is mostly noise) is matched to the mean of the others.
    """
    if known.any() and not known.all():
        means = np.where(known[:, None], means, means[known].mean(axis=0))
    classes, numbers = len(means), len(frequencies)
    points = np.empty((classes, cells, numbers))
    for number in range(classes):
        start = np.stack([rng.permutation(_margin(means[number], frequencies, one, cells)) for one in range(numbers)], axis=1)
        paired = _exchange(start, means[number], frequencies, steps // 2, rng) if numbers > 1 else start
        points[number] = _descend(paired, means[number], frequencies, steps)
        progress((number + 1) / classes)
    return points.reshape(classes * cells, numbers)


def _margin(mean: Floats, frequencies: Floats, one: int, cells: int) -> Floats:
    """Places of one number that match the features of it alone: shares of a grid by exponentiated gradients, which is convex."""
    half = frequencies.shape[1]
    alone = np.flatnonzero((frequencies[one] != 0) & ((frequencies != 0).sum(axis=0) == 1))
    grid = np.linspace(0.0, 1.0, PLACES)
    angles = np.outer(frequencies[one, alone], grid)
    waves = np.concatenate([np.cos(angles), np.sin(angles)])
    goal = mean[np.concatenate([alone, half + alone])]
    shares = np.full(PLACES, 1 / PLACES)
    for number in range(ROUNDS if len(alone) else 0):
        pull = waves.T @ (waves @ shares - goal) / len(alone)
        # Long strides first; one of 1 is short enough to settle.
        shares = shares * np.exp(-(1 + STRIDE / (1 + number / 20)) * (pull - pull.min()))
        shares = shares / shares.sum()
    places = (np.arange(cells) + 0.5) / cells
    return grid[np.minimum(np.searchsorted(np.cumsum(shares), places), PLACES - 1)]


def _features(points: Floats, waves: Singles) -> Singles:
    angles = points.astype(np.float32) @ waves
    return np.concatenate([np.cos(angles), np.sin(angles)], axis=1)


def _exchange(points: Floats, mean: Floats, frequencies: Floats, steps: int, rng: np.random.Generator) -> Floats:
    """Points in random pairs exchange one number, those that gain most by it: descent alone moves none past another."""
    waves, goal = frequencies.astype(np.float32), mean.astype(np.float32)
    features, count = _features(points, waves), len(points)
    for step in range(steps):
        number = step % points.shape[1]
        order = rng.permutation(count)[: count // 2 * 2]
        partner = np.concatenate([order[count // 2 :], order[: count // 2]])
        moved = points[order]
        moved[:, number] = points[partner, number]
        new = _features(moved, waves)
        change = (new - features[order]) / count
        both = change[: count // 2] + change[count // 2 :]
        gain = 2 * both @ (features.mean(axis=0) - goal) + (both**2).sum(axis=1)
        # Few at a time: each is judged as if it were alone.
        best = np.argsort(gain)[: max(1, count // EXCHANGED)]
        best = best[gain[best] < 0]
        pairs = np.concatenate([best, best + count // 2])
        points[order[pairs]], features[order[pairs]] = moved[pairs], new[pairs]
    return points


def _descend(points: Floats, mean: Floats, frequencies: Floats, steps: int) -> Floats:
    slow, fast = np.zeros_like(points), np.zeros_like(points)
    half = frequencies.shape[1]
    # In single precision: the features are noisy at the second digit.
    waves = frequencies.astype(np.float32)
    goal = mean.astype(np.float32)
    for step in range(1, steps + 1):
        features = _features(points, waves)
        off = features.mean(axis=0) - goal
        pull = ((features[:, :half] * off[half:] - features[:, half:] * off[:half]) @ waves.T).astype(np.float64)
        slow = 0.9 * slow + 0.1 * pull
        fast = 0.99 * fast + 0.01 * pull**2
        rate = RATE * 0.1 ** (step / steps)
        ahead = slow / (1 - 0.9**step) / (np.sqrt(fast / (1 - 0.99**step)) + 1e-12)
        points = np.clip(points - rate * ahead, 0.0, 1.0)
    return points
