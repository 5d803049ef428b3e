"""Candidate parents of a column: functions of the schema, of what was chosen before, and of public randomness."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from hushtable.synthesize.network.scores import Pair

LIMIT = 2000
"""The most pairs that one choice is made among."""
FEW = 12
"""Up to so many columns, all largest sets of parents are listed; of more, some are drawn."""


def of_degree(inside: Sequence[str], outside: Sequence[str], degree: int, rng: np.random.Generator) -> tuple[Pair, ...]:
    """Every column outside with every set of ``degree`` columns inside (or all of them, if they are fewer)."""
    size = min(degree, len(inside))
    if len(outside) * math.comb(len(inside), size) <= LIMIT:
        return tuple((child, parents) for child in outside for parents in combinations(inside, size))
    picks = (
        (outside[int(rng.integers(len(outside)))], tuple(inside[i] for i in sorted(rng.choice(len(inside), size, replace=False))))
        for _ in range(LIMIT)
    )
    return tuple(dict.fromkeys(picks))


def within(
    sizes: Mapping[str, int], inside: Sequence[str], outside: Sequence[str], cells: float, rng: np.random.Generator
) -> tuple[Pair, ...]:
    """Every column outside with every largest set of columns inside such that their joint table has at most ``cells`` cells.

    A column for which there is none has no parents.
    """
    pairs: list[Pair] = []
    for child in outside:
        room = cells / sizes[child]
        if len(inside) <= FEW:
            sets = _largest(sizes, tuple(inside), room)
        else:
            sets = {_packed(sizes, rng.permutation(len(inside)).tolist(), inside, room) for _ in range(LIMIT // len(outside) + 1)}
        pairs += [(child, tuple(n for n in inside if n in parents)) for parents in sorted(sets, key=sorted)] or [(child, ())]
    if len(pairs) <= LIMIT:
        return tuple(pairs)
    return tuple(pairs[i] for i in sorted(rng.choice(len(pairs), LIMIT, replace=False)))


def _largest(sizes: Mapping[str, int], names: tuple[str, ...], room: float) -> set[frozenset[str]]:
    """The sets of columns that fit and to which no other column can be added (PrivBayes, "maximal parent sets")."""
    if room < 1:
        return set()
    if not names:
        return {frozenset()}
    first, rest = names[0], names[1:]
    without = _largest(sizes, rest, room)
    for others in _largest(sizes, rest, room / sizes[first]):
        without.discard(others)
        without.add(others | {first})
    return without


def _packed(sizes: Mapping[str, int], order: Sequence[int], inside: Sequence[str], room: float) -> frozenset[str]:
    """Columns in this order, each taken if it still fits."""
    taken = []
    for place in order:
        if sizes[inside[place]] <= room:
            taken.append(inside[place])
            room /= sizes[inside[place]]
    return frozenset(taken)


def up_to(
    sizes: Mapping[str, int],
    top: tuple[str, ...],
    inside: Sequence[str],
    outside: Sequence[str],
    degree: int,
    cells: int,
    rng: np.random.Generator,
) -> tuple[Pair, ...]:
    """Every column outside with ``top`` and every set of columns inside, up to ``degree`` parents and ``cells`` joint cells.

    ``top`` alone is always a candidate. Of too many sets, some are drawn by public randomness.
    """
    most = min(degree - len(top), len(inside))
    sets = [parents for size in range(1, min(most, 2) + 1) for parents in combinations(inside, size)]
    if most == 3 and math.comb(len(inside), 3) <= 20 * LIMIT:
        sets += combinations(inside, 3)
    elif most == 3:
        picks = (sorted(rng.choice(len(inside), 3, replace=False).tolist()) for _ in range(LIMIT))
        sets += dict.fromkeys(tuple(inside[i] for i in pick) for pick in picks)
    room = max(LIMIT // 4 // len(outside), 1)
    if len(sets) > room:
        sets = [sets[i] for i in sorted(rng.choice(len(sets), room, replace=False))]
    pairs = [(child, (*top, *parents)) for parents in sets for child in outside]
    fitting = [pair for pair in pairs if math.prod(sizes[name] for name in (pair[0], *pair[1])) <= cells]
    return (*((child, top) for child in outside), *fitting)
