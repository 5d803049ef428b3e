"""Pair copulas with one parameter, as tables on the steps of two margins, and their parameter from Kendall's tau-a."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

import numpy as np
from scipy.special import ndtri

from hushtable.table.arrays import Floats

HALVINGS = 40
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


class Family(StrEnum):
    """Which copula joins a pair."""

    FRANK = "frank"
    GAUSSIAN = "gaussian"


def family_table(family: Family, one: Floats, two: Floats, strength: float) -> Floats:
    """Shares of the rectangles between the steps of two margins; ``strength`` in (-1, 1) rises with the dependence.

    For the Gaussian copula it is the correlation, for Frank's it is s in theta = 2 s/(1 - |s|).
    """
    corners = _CORNERS[family](_climbed(one), _climbed(two), strength)
    return np.maximum(np.diff(np.diff(corners, axis=0), axis=1), 0.0)


def fitted_strength(family: Family, one: Floats, two: Floats, counts: tuple[int, int], tau: float) -> float:
    """The strength at which two columns with these margins have this tau-a; the nearest one where none has.

    Equal values are ordered neither way, nor are those beyond the first ``counts`` cells (missing ones). Tau-a of a table rises
    with the strength of the copula, because both families are ordered by concordance; so halving finds it.
    """
    low, high = -0.99, 0.99
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if tau_of(family_table(family, one, two, middle)[: counts[0], : counts[1]]) < tau:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def tau_of(shares: Floats) -> float:
    """Tau-a of a table of shares: twice the chance that two rows rise together less that one rises and the other falls."""
    before = np.zeros((shares.shape[0] + 1, shares.shape[1] + 1))
    before[1:, 1:] = np.cumsum(np.cumsum(shares, axis=0), axis=1)
    alike = before[:-1, :-1]
    opposite = before[:-1, -1:] - before[:-1, 1:]
    return 2 * float((shares * (alike - opposite)).sum())


def _climbed(shares: Floats) -> Floats:
    return np.concatenate([[0.0], np.clip(np.cumsum(shares), 0.0, 1.0)])


def _frank(one: Floats, two: Floats, strength: float) -> Floats:
    """Frank 1979; for a negative parameter C(u, v) = u - C'(u, 1 - v)."""
    theta = 2 * abs(strength) / (1 - abs(strength))
    if theta < 1e-6:
        return np.outer(one, two)
    u, v = np.broadcast_arrays(one[:, None], (two if strength > 0 else 1 - two)[None, :])
    low, high = np.minimum(u, v), np.maximum(u, v)
    # IntegerEncoding so that no large parameter cancels: both terms are positive.
    inner = -np.expm1(-theta * (1 - low)) - np.exp(-theta * (high - low)) * np.expm1(-theta * low)
    joint = low - np.log(inner / -np.expm1(-theta)) / theta
    return np.asarray(joint if strength > 0 else u - joint)


def _gaussian(one: Floats, two: Floats, strength: float) -> Floats:
    """Phi2(a, b; r) = Phi(a) Phi(b) + the integral of exp(-(a^2 + b^2 - 2 a b sin t)/(2 cos^2 t))/(2 pi) for t up to arcsin r.

    Drezner and Wesolowsky 1990; Genz 2004.
    """
    a, b = (np.clip(ndtri(x), -9.0, 9.0) for x in (one, two))
    half = np.arcsin(strength) / 2
    angles = half * (_NODES + 1)
    added = np.zeros((len(a), len(b)))
    product, squares = np.outer(a, b), np.add.outer(a**2, b**2)
    for angle, weight in zip(angles, _WEIGHTS, strict=True):
        added += weight * np.exp(-(squares - 2 * product * np.sin(angle)) / (2 * np.cos(angle) ** 2))
    inside = np.outer(one, two) + half * added / (2 * np.pi)
    # The edges are known exactly.
    inside[0], inside[:, 0], inside[-1], inside[:, -1] = 0.0, 0.0, two, one
    return np.asarray(inside)


_CORNERS: dict[Family, Callable[[Floats, Floats, float], Floats]] = {Family.FRANK: _frank, Family.GAUSSIAN: _gaussian}
