"""The audit in one run: many canaries, each in or out by a coin of its own, and guesses about the surest of them.

Steinke, Nasr and Jagielski, Privacy auditing with one (1) training run, 2023: for one record added or removed. Weaker than two
worlds for the same recipe, but it needs a single run, which is all that a slow recipe allows.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from hushtable.audits.mechanism import bounds
from hushtable.audits.mechanism.lines import Bound, Bounds, CanaryLine, Stated
from hushtable.audits.mechanism.twoworld import LEVEL, seeded, stated, verdict
from hushtable.audits.mechanism.worlds import LOW, TOWNS, table
from hushtable.display import Progress, silent
from hushtable.errors import InputError
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.run import release
from hushtable.privacy.noise import SYSTEM
from hushtable.privacy.unit import Relation, Unit, default_delta
from hushtable.table.arrays import Floats, Mask
from hushtable.table.table import Table

CANARIES, REPEATS = 500, 3
PARTS = (20, 10, 4)
"""Guesses are made about one in so many canaries, half of them "in" and half "out"; the best is taken, and corrected for."""


def one_run(
    recipe: Recipe,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    canaries: int = CANARIES,
    repeats: int = REPEATS,
    seed: int | None = None,
    progress: Progress = silent,
) -> CanaryLine:
    """A line like those of the two worlds: the best bound over the repeats and the numbers of guesses, corrected for both."""
    if canaries < 40:
        raise InputError(f"too few to guess about one in twenty: at least 40, got {canaries}", where="canaries")
    start = time.perf_counter()
    guessed: list[Bounds] = []
    claim: Stated | None = None
    for repeat in range(repeats):
        rng = np.random.default_rng(None if seed is None else [seed, repeat])
        records, here = planted(canaries, rng)
        inside = [row for row, is_in in zip(records, here, strict=True) if is_in]
        held = table([*inside, *[LOW] * 50])
        at = default_delta(held.schema.size) if delta is None else delta
        result = release(
            held, recipe, epsilon=epsilon, delta=None if epsilon is None else at, unit=Unit(relation=Relation.ADD_REMOVE),
            seed=None if seed is None else seed + repeat, unproven=True,
            entropy=SYSTEM if seed is None else seeded(seed + repeat),
        )  # fmt: skip
        claim = stated(result.guarantee, epsilon, dict(result.result))
        guessed += _guessed(_surest(result.table, records, rng), here, at, LEVEL / (len(PARTS) * repeats))
        progress("one run", (repeat + 1) / repeats)
    if claim is None:
        raise InputError(f"at least one run is needed, got {repeats}", where="repeats")
    best = max(guessed, key=lambda one: one.epsilon.value)
    ceiling = max(one.epsilon.ceiling for one in guessed)
    best = replace(best, epsilon=replace(best.epsilon, ceiling=ceiling))
    return CanaryLine(
        canary="one run", description=f"{canaries} canaries, each in or out by a coin of its own", rows=canaries + 50,
        stated=claim, bounds=best, runs=repeats, seconds=round(time.perf_counter() - start, 3),
        # Guesses about coins bound epsilon alone.
        verdict=verdict(replace(claim, rho=None, mu=None), best),
    )  # fmt: skip


def planted(count: int, rng: np.random.Generator) -> tuple[list[tuple[int, str, str]], Mask]:
    """Canaries that are as far from one another as the domain allows, and who of them is in."""
    every = [(amount, town, ill) for amount in range(1, 101) for town in TOWNS for ill in ("no", "yes")]
    if count > len(every):
        raise InputError(f"the domain holds {len(every)} different canaries, got {count}", where="canaries")
    picked = rng.permutation(len(every))[:count]
    return [every[i] for i in picked], rng.random(count) < 0.5


def _surest(released: Table, records: list[tuple[int, str, str]], rng: np.random.Generator) -> Floats:
    """For each canary how sure it is that it was in: by the number of equal rows, then by how near the nearest is."""
    own = table(records)
    apart = np.zeros((len(records), released.rows))
    for name in (n for n in own.schema.names if n in released.schema):
        if own.schema[name].numeric and released.schema[name].numeric:
            apart += np.nan_to_num(np.abs(own.floats(name)[:, None] - released.floats(name)[None]) / 100, nan=1.0)
        else:
            apart += own.strings(name).astype(str)[:, None] != released.strings(name).astype(str)[None]
    same = (apart < 1e-9).sum(axis=1)
    sure: Floats = same - apart.min(axis=1, initial=9.0) / 10 + 1e-6 * rng.random(len(records))
    return sure


def _guessed(sure: Floats, here: Mask, delta: float, level: float) -> list[Bounds]:
    order = np.argsort(sure)
    bounds_of_parts = []
    for part in PARTS:
        half = len(order) // part // 2
        right = int(here[order[-half:]].sum() + (~here[order[:half]]).sum())
        bound = bounds.one_run_epsilon(len(order), 2 * half, right, delta, level)
        most = bounds.one_run_epsilon(len(order), 2 * half, 2 * half, delta, level)
        bounds_of_parts.append(Bounds(epsilon=Bound(bound, most), evaluated=2 * half, guesses=2 * half, right=right))
    return bounds_of_parts
