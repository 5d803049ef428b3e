"""Numbers that look random and depend on nothing but what they are made of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A bijection of 64 bits by which every bit decides every bit (splitmix64: Steele, Lea and Flood 2014)."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
