"""PrivTree: a tree of ranges whose noise does not grow with its depth.

Zhang, Xiao and Xie, "PrivTree: a differentially private algorithm for hierarchical decompositions" (2016). A range with count c at
depth d is halved if b + noise > 0 with b = max(-decay, c - d decay). Here counts, decay and noise are integers, and the
proof is this. Let p = exp(-1/scale). For discrete Laplace noise N and a record that raises b from x - 1 to x,

    P[x + N > 0] / P[x - 1 + N > 0]  is  1/p if x <= 0,  and  at most exp(p^(x-1)/scale) if x >= 1:

for x = 1 it is (1 - p/(1+p)) / (p/(1+p)) = 1/p, and for x >= 2 it is 1 + p^(x-1) (1-p) / (1 + p - p^(x-1)), where the
denominator is at least 1 and 1 - p <= 1/scale. A record lies in one range of each depth; along them b falls by at least the
decay until it rests at -decay, where the record changes nothing. So at most one range has -decay < x <= 0, and the x >= 1
are at least the decay apart: the logarithms add up to at most (1 + 1/(1 - p^decay)) / scale <= 3/scale for decay >= scale ln
2. The ranges that are not halved pull the other way by at most 1/scale: there is one on the record's way. Hence scale =
3/epsilon is epsilon-differentially private for a record more or less, and 6/epsilon for one that is replaced.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from hushtable.errors import GuaranteeRefused
from hushtable.numerics.places import Below
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Approximate
from hushtable.privacy.noise import Entropy, discrete_laplace, laplace_scale
from hushtable.privacy.taint import Taint
from hushtable.privacy.unit import Relation
from hushtable.privacy.vault import Vault, require_declared
from hushtable.table.arrays import Integers

_WHY = "halves crowded ranges with noise that decays"


def grown(allowance: Allowance) -> Approximate:
    """What growing a tree costs one unit: pure epsilon, of which rho allows sqrt(2 rho)."""
    return Approximate(math.sqrt(2 * allowance.rho) if allowance.rho is not None else float(allowance.epsilon or 0.0), 0.0)


def privtree_places(vault: Vault, name: str, points: int, allowance: Allowance) -> Integers:
    """The edges of the ranges, in places of the column's domain."""
    unit = allowance.unit
    if unit.rows > 1 and unit.relation is Relation.REPLACE_ONE:
        raise GuaranteeRefused("privtree is proven for one record replaced by another, or for a person added or removed")
    if vault.taint is Taint.RAW:
        require_declared(vault.schema, (name,), vault.step)
    epsilon = grown(allowance).epsilon / unit.rows
    below = Below(vault.open_rows(Approximate(epsilon, 0.0), f"{_WHY}: {name}", recorded=True), name)
    scale = 3 * (1 if unit.relation is Relation.ADD_REMOVE else 2) / epsilon
    edges = vault.recorded(f"{_WHY}: {name}, {points} places, {scale!r}", lambda: [grow(below, points, scale, vault.entropy)])
    return edges[0]


def grow(below: Callable[[Integers], Integers], points: int, scale: float, entropy: Entropy) -> Integers:
    """The edges of the tree, with noise of at least this scale; ``below`` says how many values lie before given places."""
    noise = laplace_scale(scale)
    decay = math.ceil(float(noise) * math.log(2) * (1 + 1e-12))
    low, high = (np.array([0]), np.array([points])) if points > 1 else (np.empty(0, np.int64), np.empty(0, np.int64))
    edges, depth = [np.array([0, points])], 0
    while len(low):
        before = below(np.concatenate([low, high]))
        counts = before[len(low) :] - before[: len(low)]
        biased = np.maximum(counts - depth * decay, -decay)
        halved = biased + discrete_laplace(noise, len(low), entropy) > 0
        low, high = low[halved], high[halved]
        middle = (low + high) // 2
        edges.append(middle)
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
        wide = high - low > 1
        low, high, depth = low[wide], high[wide], depth + 1
    return np.unique(np.concatenate(edges))
