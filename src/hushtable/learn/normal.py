"""Normal numbers from words of the system's entropy."""

from __future__ import annotations

import numpy as np

from hushtable.privacy.noise import Entropy
from hushtable.table.arrays import Floats


def normals(count: int, entropy: Entropy) -> Floats:
    """So many independent standard normal numbers, by Box and Muller (1958) in double precision.

    The radius comes from all 64 bits of a word, so the tails reach 9.4 standard deviations. What the last bits of a double
    give away (Mironov 2012) is the caller's to round off.
    """
    half = -(-count // 2)
    words = entropy.words(2 * half)
    radius = np.sqrt(-2 * np.log((words[:half].astype(np.float64) + 0.5) * 2.0**-64))
    angle = words[half:].astype(np.float64) * (2 * np.pi * 2.0**-64)
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[:count]
