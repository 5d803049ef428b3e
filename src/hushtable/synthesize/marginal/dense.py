"""Which marginals to measure together: those whose error in the model exceeds what the noise of measuring them would leave.

The sum of both errors over all candidates is made small greedily (DenseMarg of Zhang et al., PrivSyn, 2021), where noise is shared
out so that its error is least: a marginal of m cells gets a share of the budget in proportion to m^(2/3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hushtable.synthesize.histogram_cells import MEAN
from hushtable.table.arrays import Floats, Integers

Columns = tuple[str, ...]

POWER = 2 / 3
"""The sum of m_i / sqrt(rho_i) at a given sum of rho_i is least where rho_i grows with this power of m_i."""
PATIENCE = 30
"""So many candidates in a row that make the error no smaller end the search."""


class Noise:
    """What the noise of measuring leaves of the error of a marginal, by the counts that are expected of its cells.

    Noise of deviation s moves a count by MEAN s on average; where fewer rows are expected than that, the fit stays with what it
    expects, and misses about as many as there are.
    """

    def __init__(self, expected: Floats) -> None:
        self.sorted = np.sort(np.maximum(expected.ravel(), 0.0))
        self.below = np.append(0.0, np.cumsum(self.sorted))

    def left(self, sigma: float) -> float:
        """The sum over the cells of the smaller one of MEAN sigma and the expected count."""
        small = int(np.searchsorted(self.sorted, MEAN * sigma))
        return float(self.below[small] + MEAN * sigma * (len(self.sorted) - small))


def dense(candidates: Sequence[Columns], errors: Floats, expected: Sequence[Floats], weights: Floats, sigma: float) -> list[int]:
    """The places of the candidates to measure together, the largest error first.

    ``errors`` are L1 distances (noisy ones), and ``sigma`` is the noise of a cell if one marginal alone got the whole budget. All
    that is read here was released.
    """
    noise: dict[int, Noise] = {}
    power = np.array([counts.size**POWER for counts in expected])
    # Large errors first, relative to the budget that they ask for.
    order = np.argsort(-weights * errors / np.sqrt(power), kind="stable")
    chosen: list[int] = []
    best, failed = 0.0, 0
    for place in order.tolist():
        columns = set(candidates[place])
        if any(columns < set(candidates[i]) for i in chosen):
            continue
        noise[place] = Noise(expected[place])
        tried = [*(i for i in chosen if not set(candidates[i]) < columns), place]
        whole = float(power[tried].sum())
        gain = sum(float(weights[i]) * (float(errors[i]) - noise[i].left(sigma * math.sqrt(whole / power[i]))) for i in tried)
        if gain > best:
            chosen, best, failed = tried, gain, 0
        elif (failed := failed + 1) > PATIENCE:
            break
    return sorted(chosen, key=lambda i: -errors[i])


def shared(cells: Sequence[int], parts: int) -> Integers:
    """So many equal parts of a budget shared out among marginals of these sizes: at least one each, the rest by m^(2/3)."""
    power = np.array(cells, np.float64) ** POWER
    exact = np.maximum(power / power.sum() * parts, 1.0)
    # Those above one give up what those below it were lifted by.
    for _ in range(len(exact)):
        over = exact.sum() - parts
        free = exact > 1
        if over <= 1e-9 or not free.any():
            break
        exact[free] = np.maximum(exact[free] - over * exact[free] / exact[free].sum(), 1.0)
    whole: Integers = np.floor(exact + 1e-9).astype(np.int64)
    rest = parts - int(whole.sum())
    whole[np.argsort(whole - exact, kind="stable")[:rest]] += 1
    return whole
