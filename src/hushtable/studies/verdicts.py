"""Whether something that a source says of its methods holds of ours, judged by several runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from scipy.stats import t as student

from hushtable.evidence.finding import Better
from hushtable.studies.report import Verdict, over_runs

Runs = Mapping[str, Sequence[float]]
"""The values of several runs by method."""


def surely_better(one: Sequence[float], other: Sequence[float], better: Better) -> bool:
    """Whether the mean of one is better by more than chance: Welch's test, 95 %. One run is never sure of anything."""
    if min(len(one), len(other)) < 2:
        return False
    gap = float(np.mean(one) - np.mean(other)) * (1 if better is Better.HIGHER else -1)
    parts = [float(np.var(values, ddof=1)) / len(values) for values in (one, other)]
    if not sum(parts):
        return gap > 0
    degrees = sum(parts) ** 2 / sum(part**2 / (len(v) - 1) for part, v in zip(parts, (one, other), strict=True))
    return gap > float(student.ppf(0.975, degrees)) * math.sqrt(sum(parts))


def best(name: str, runs: Runs, better: Better) -> Verdict:
    """Whether this method is better than every other: contradicted if one of them is surely better."""
    own, others = runs.get(name, ()), [values for other, values in runs.items() if other != name]
    if any(surely_better(values, own, better) for values in others):
        return Verdict.CONTRADICTED
    sure = bool(others) and all(surely_better(own, values, better) for values in others)
    return Verdict.CONFIRMED if sure else Verdict.UNDECIDED


def worst(name: str, runs: Runs, better: Better) -> Verdict:
    """Whether this method is worse than every other."""
    return best(name, runs, Better.LOWER if better is Better.HIGHER else Better.HIGHER)


def all_of(verdicts: Iterable[Verdict]) -> Verdict:
    """Of several things that are said at once: one that does not hold is enough to contradict."""
    found = list(verdicts)
    if Verdict.CONTRADICTED in found:
        return Verdict.CONTRADICTED
    return Verdict.CONFIRMED if found and set(found) == {Verdict.CONFIRMED} else Verdict.UNDECIDED


def spoken(runs: Runs) -> str:
    """The means, with their intervals where there are several runs."""
    return ", ".join(f"{name} {_mean(values)}" for name, values in runs.items() if len(values))


def _mean(values: Sequence[float]) -> str:
    middle, low, high = over_runs(values)
    if middle is None:
        return "-"
    return f"{middle:.3g}" if low is None or high is None else f"{middle:.3g} ({low:.3g} to {high:.3g})"
