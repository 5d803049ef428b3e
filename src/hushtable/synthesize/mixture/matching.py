"""Points whose mean random features match given ones."""

from __future__ import annotations

import numpy as np

from hushtable.synthesize.mixture.embedding import Embedding
from hushtable.table.arrays import Floats, Integers, Mask

EXCHANGED = 20
"""One point in so many exchanges a value at once."""
PLACES, ROUNDS, STRIDE = 201, 200, 5.0
"""The grid of a number's places, and the gradient steps that give each its share."""


def margin(mean: Floats, frequencies: Floats, cells: int) -> Floats:
    """Places of one number that match the features of it alone: shares of a grid by exponentiated gradients, which is convex.

    ``mean`` are the mean cosines, then the mean sines.
    """
    grid = np.linspace(0.0, 1.0, PLACES)
    angles = np.outer(frequencies, grid)
    waves = np.concatenate([np.cos(angles), np.sin(angles)])
    shares = np.full(PLACES, 1 / PLACES)
    for number in range(ROUNDS):
        pull = waves.T @ (waves @ shares - mean) / len(frequencies)
        # Long strides first; one of 1 is short enough to settle.
        shares = shares * np.exp(-(1 + STRIDE / (1 + number / 20)) * (pull - pull.min()))
        shares = shares / shares.sum()
    places = (np.arange(cells) + 0.5) / cells
    return grid[np.minimum(np.searchsorted(np.cumsum(shares), places), PLACES - 1)]


def waves_of(embedding: Embedding, columns: list[Integers | Floats]) -> list[np.ndarray]:
    """For each field, points by its own features of pairs: the number on the unit circle at its angle."""
    waves = []
    for number, (f, angle, column) in enumerate(zip(embedding.encoding.fields, embedding.angles, columns, strict=True)):
        mine = (embedding.ends == number).any(axis=1)
        angles = angle[:, mine][column] if f.counted else column[:, None] * angle[:, mine]
        waves.append(np.exp(1j * angles).astype(np.complex64))
    return waves


def drawn_to_independence(goal: np.ndarray, alone: np.ndarray, ends: Integers, noise: float) -> np.ndarray:
    """The mean features of each pair, drawn to those of independent columns where noise explains the difference.

    James and Stein 1961, the positive part, for all features of a pair together; ``noise`` is that of a cosine or a sine.
    """
    pair = np.unique(ends, axis=0, return_inverse=True)[1].ravel()
    apart = goal - alone
    square, count = np.bincount(pair, np.abs(apart) ** 2), np.bincount(pair)
    factor = np.maximum(1 - 2 * count * noise**2 / np.maximum(square, 1e-300), 0.0)
    return np.asarray(alone + factor[pair] * apart)


def match(
    embedding: Embedding, columns: list[Integers | Floats], goal: np.ndarray, noise: float, steps: int, rng: np.random.Generator
) -> list[Integers | Floats]:
    """The points with their values exchanged so that the mean features of pairs come close to ``goal``.

    Points in pairs exchange the value of one column, those that gain most by it: so each column's own distribution is
    kept, and that of pairs is fitted (the maximum mean discrepancy under these features falls). ``goal`` has a complex number for
    each feature, cosine and sine, with this ``noise``.
    """
    count, features = len(columns[0]), len(embedding.ends)
    if count < 2 or not features:
        return columns
    uses = [np.flatnonzero((embedding.ends == number).any(axis=1)) for number in range(len(columns))]
    waves = waves_of(embedding, columns)
    # Features first: then all points of a feature lie side by side.
    both = np.ones((features, 2, count), np.complex64)
    sides = [(embedding.ends[use, 1] == number).astype(np.int64) for number, use in enumerate(uses)]
    alone = np.ones(features, np.complex128)
    for use, side, wave in zip(uses, sides, waves, strict=True):
        both[use, side] = wave.T
        alone[use] *= wave.mean(axis=0)
    goal = drawn_to_independence(goal, alone, embedding.ends, noise)
    off = ((both[:, 0] * both[:, 1]).mean(axis=1) - goal).astype(np.complex64)
    columns, half = [column.copy() for column in columns], count // 2
    for _ in range(steps):
        for number in rng.permutation(len(columns)):
            use, side = uses[number], sides[number]
            if not len(use):
                continue
            # The first half of the points, in their order, with the second one, turned by a random number of places.
            turn = int(rng.integers(half))
            own, other = both[use, side], both[use, 1 - side]
            change = own[:, half : 2 * half] - np.roll(own[:, :half], turn, axis=1)
            change *= np.roll(other[:, :half], turn, axis=1) - other[:, half : 2 * half]
            square = np.einsum("ij,ij->j", change.real, change.real) + np.einsum("ij,ij->j", change.imag, change.imag)
            gain = 2 * (off[use].conj() @ change).real + square / count
            # Few at a time: each is judged as if it were alone.
            best = np.argsort(gain)[: max(1, count // EXCHANGED)]
            best = best[gain[best] < 0]
            one, two = (best - turn) % half, half + best
            off[use] += change[:, best].sum(axis=1) / count
            columns[number][np.concatenate([one, two])] = columns[number][np.concatenate([two, one])]
            own[:, np.concatenate([one, two])] = own[:, np.concatenate([two, one])]
            both[use, side] = own
    return columns


def of_known(means: np.ndarray, known: Mask) -> np.ndarray:
    """The means of the classes; a class that is not ``known`` (its number of records is mostly noise) has that of the others."""
    return np.where(known[:, None], means, means[known].mean(axis=0)) if known.any() else means
