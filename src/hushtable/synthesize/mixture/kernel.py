"""The neural tangent kernel of a fully connected network of infinite width with rectified units, and its derivatives.

A closed form: arc-cosine kernels (Cho and Saul 2009), layer by layer (Jacot, Gabriel and Hongler 2018). For records x and z
the kernel is a function of x.z/D, x.x/D and z.z/D alone, so three derivatives describe how it changes with the records.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hushtable.table.arrays import Floats

WEIGHT = 2.0
"""The variance of the weights, times the width: what keeps the size of signals the same in every layer of rectified units."""
BIAS = 0.01
"""The variance of the biases."""
_FLAT = 1e-10
"""Nearer to parallel than this, two records count as this far from it: the derivative of the angle is infinite at zero."""


@dataclass(frozen=True, eq=False)
class Kernel:
    """The kernel between two sets of records, with its derivative in x.z/D, x.x/D and z.z/D."""

    value: Floats
    by_product: Floats
    by_first: Floats
    by_second: Floats

    def pull(self, weights: Floats, first: Floats, second: Floats) -> Floats:
        """The gradient, in the first records, of the kernel summed with these weights."""
        pulled = (weights * self.by_product) @ second + 2 * (weights * self.by_first).sum(axis=1)[:, None] * first
        return np.asarray(pulled / first.shape[1])

    def pull_both(self, weights: Floats, records: Floats) -> Floats:
        """The same for a set of records against itself, where each record moves on both sides."""
        pulled = ((weights + weights.T) * self.by_product) @ records
        pulled += 2 * ((weights * self.by_first).sum(axis=1) + (weights * self.by_second).sum(axis=0))[:, None] * records
        return np.asarray(pulled / records.shape[1])


def tangent_kernel(first: Floats, second: Floats, depth: int, *, derivatives: bool = False) -> Kernel:
    """Between every one of the first records and every one of the second, for this number of hidden layers."""
    size = first.shape[1]
    product = WEIGHT * (first @ second.T) / size + BIAS
    a = WEIGHT * (first**2).sum(axis=1)[:, None] / size + BIAS
    b = WEIGHT * (second**2).sum(axis=1)[None, :] / size + BIAS
    value = product.copy()
    none = np.zeros((1, 1))
    # Each quantity with its derivatives in the three inner products.
    d_product, d_value = ([np.full_like(product, WEIGHT), none, none] for _ in range(2))
    for _ in range(depth):
        length = np.sqrt(a * b)
        cosine = np.clip(product / length, -1.0, 1.0)
        # A record and itself: rounding would turn it by 1e-8, which is more than all other errors.
        cosine = np.where(cosine > 1 - 1e-13, 1.0, cosine)
        angle = np.arccos(cosine)
        sine = np.sqrt(np.maximum(1 - cosine**2, 0.0))
        gate = (math.pi - angle) / (2 * math.pi)
        if derivatives:
            # d cosine, from product/length; sides change as WEIGHT in every layer, because half of twice is the same.
            tilt = [
                d_product[0] / length,
                d_product[1] / length - cosine * WEIGHT / (2 * a),
                d_product[2] / length - cosine * WEIGHT / (2 * b),
            ]
            turn = [c / (2 * math.pi * np.maximum(sine, math.sqrt(_FLAT))) for c in tilt]
            arc = (sine + 2 * math.pi * gate * cosine) / (2 * math.pi)
            stretch = [0.0, WEIGHT * length / (2 * a), WEIGHT * length / (2 * b)]
            d_product = [WEIGHT * (s * arc + length * gate * c) for s, c in zip(stretch, tilt, strict=True)]
            d_value = [p + WEIGHT * (v * gate + value * t) for p, v, t in zip(d_product, d_value, turn, strict=True)]
        product = WEIGHT * length * (sine + 2 * math.pi * gate * cosine) / (2 * math.pi) + BIAS
        value = product + WEIGHT * value * gate
        a, b = a + BIAS, b + BIAS
    return Kernel(value, *(np.broadcast_to(d, value.shape) for d in d_value))
