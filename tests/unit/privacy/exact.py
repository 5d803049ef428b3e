"""Privacy computed from distributions themselves, with no theorem in between: what the rules are held against."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

"""Hypothesis with the same examples every time."""


def judge(check: Callable[[Any], None], rule: Any, *, holds: bool) -> None:
    """The same check passes our rule and rejects its broken twin."""
    if holds:
        check(rule)
    else:
        with pytest.raises(AssertionError):
            check(rule)


def laplace(scale: float, shift: float = 0, reach: int = 400) -> np.ndarray:
    """Log-probabilities of discrete Laplace noise around ``shift`` on the integers [-reach, reach]."""
    x = np.arange(-reach, reach + 1)
    log = -np.abs(x - shift) / scale
    return log - np.log((1 + np.exp(-1 / scale)) / (1 - np.exp(-1 / scale)))


def gaussian(sigma: float, shift: int = 0, reach: int | None = None) -> np.ndarray:
    """Log-probabilities of discrete Gaussian noise around ``shift``."""
    reach = int(40 * sigma) + 40 if reach is None else reach
    x = np.arange(-reach, reach + 1)
    log = -((x - shift) ** 2) / (2 * sigma**2)
    return log - logsumexp(-(np.arange(-2 * reach, 2 * reach + 1) ** 2) / (2 * sigma**2))


def joint(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Log-probabilities of two independent outputs seen together."""
    return np.add.outer(one, two).ravel()


def mixed(rate: float, inside: np.ndarray, outside: np.ndarray) -> np.ndarray:
    """Log-probabilities of an output that comes from ``inside`` with probability ``rate``."""
    return np.logaddexp(np.log(rate) + inside, np.log1p(-rate) + outside)


def loss(p: np.ndarray, q: np.ndarray) -> float:
    """The pure epsilon of two worlds: the largest log-ratio, either way."""
    return float(np.abs(p - q).max())


def hockey(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    """The exact delta of two worlds at this epsilon, either way."""
    return max(float(np.clip(np.exp(a) - np.exp(epsilon + b), 0, None).sum()) for a, b in ((p, q), (q, p)))


def epsilon_at(p: np.ndarray, q: np.ndarray, delta: float) -> float:
    """The exact epsilon of two worlds at this delta."""
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if hockey(p, q, middle) <= delta else (middle, high)
    return high


def renyi(p: np.ndarray, q: np.ndarray, alpha: float) -> float:
    """The exact Renyi divergence of two worlds, the larger way."""
    return max(float(logsumexp(alpha * a + (1 - alpha) * b)) / (alpha - 1) for a, b in ((p, q), (q, p)))


def response(epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    """Two worlds of randomized response: yes and no swap their probabilities, e^epsilon apart."""
    yes, no = -np.logaddexp(0, -epsilon), -np.logaddexp(0, epsilon)
    return np.array([yes, no]), np.array([no, yes])
