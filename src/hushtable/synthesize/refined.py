"""Refinement: a generator's draws weighted by how much denser real rows are there than drawn ones, then thinned.

A model around a model. Boosted trees learn to distinguish training rows from a pool of drawn ones; their log-ratios, over several
rounds, are the weights under which the pool looks like the training rows (discriminator rejection sampling: Azadi et al. 2019).
Where a target has few classes, rows are weighted once more by how much likelier their class is among the training rows.
The weights are raked to the counts of the training rows' cells (Deming and Stephan 1940), and a systematic sample of the pool
is what leaves. The trees and the counts read the rows as they are: this promises nothing, and is for models that promise nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np

from hushtable.errors import InputError
from hushtable.pipeline import registry
from hushtable.pipeline.step import Arrays, Given, Model
from hushtable.synthesize.boosted import CELLS, Boosted, Codes
from hushtable.synthesize.odds import Odds, classes
from hushtable.table.arrays import Array, Floats, Integers, Mask
from hushtable.table.columns import Column, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

POOL, MOST_POOL = 5, 20
"""Rows drawn for each row that leaves: at least, and at most where many of them weigh little."""
COLLAPSED = 0.1 / MOST_POOL
"""The effective part of a pool below which raked weights are of a few draws only."""
FEWEST = 2000
"""The least number of drawn rows to learn from."""
MOST = 50_000
"""Training rows to learn from, and rows that leave at a time; beyond, they are sampled, and drawn in parts."""
HELD = 0.15
"""Part of the rows by which the trees are judged."""
CLIPPED = 0.999
"""Weights above this quantile are as large as it."""
MOST_SEEN = 3
"""Rows of the pool, for each training row, that the chances of a target's classes are learnt from."""
STEEPEST = 3.0
"""The largest logarithm of a weight by the classes of a target."""
SIDES = ("real", "drawn")
RAKED = 5
"""Cells that fewer training rows hold are raked together."""
SWEEPS = 20


@dataclass(frozen=True, eq=False)
class Axis:
    """At most 64 cells of a column: a number's ranges, frequent values apart, or a category's commonest levels. Missing is last."""

    column: Column
    places: Array
    """Where a number's cells begin, the first left out; a category's cell for each level."""

    @classmethod
    def of(cls, column: Column, array: Array) -> Axis:
        """Cells of the rows at hand."""
        present = array[~column.is_missing(array)]
        if not column.numeric:
            counts = np.bincount(present, minlength=len(column.levels))
            places = np.full(len(counts), CELLS - 2)
            places[np.argsort(-counts, kind="stable")[: CELLS - 2]] = np.arange(min(len(counts), CELLS - 2))
            # Levels with an order keep it where each has a cell of its own.
            return cls(column, np.arange(len(counts)) if len(counts) < CELLS else places)
        points, counts = np.unique(column.floats(present), return_counts=True)
        starts, rows, enough = [], 0, 1 + len(present) // (CELLS // 2)
        for place, held in enumerate(counts.tolist()):
            if rows and (held >= enough or rows >= enough):
                starts.append((points[place - 1] + points[place]) / 2)
                rows = 0
            rows += held
        return cls(column, np.array(starts))

    def codes(self, array: Array) -> Codes:
        """The cell of each value."""
        missing = self.column.is_missing(array)
        if self.column.numeric:
            cells = np.searchsorted(self.places, self.column.floats(np.where(missing, 0, array)), side="right")
        else:
            cells = np.append(self.places, 0)[np.where(missing, -1, array)]
        return np.where(missing, CELLS - 1, cells).astype(np.uint8)


def refined(
    model: Any, table: Table, rounds: int, rng: np.random.Generator, report: Callable[[float], None] = lambda share: None
) -> Refined:
    """Learn from the rows how to weigh what a model draws: ``rounds`` discriminators, each against draws that no other saw.

    Without rounds the draws are raked only: no dependence is learnt.
    """
    seen = table if table.rows <= MOST else table.take(np.sort(rng.permutation(table.rows)[:MOST]))
    axes = [Axis.of(column, seen[column.name]) for column in seen.schema]
    real = _codes(axes, seen)
    pool = _codes(axes, model.sample(max(POOL * seen.rows, FEWEST), rng))
    ordered = _ordered(axes)
    held = rng.random(len(real)) < HELD
    logs, boosted = np.zeros(len(pool)), []
    for turn in range(rounds):
        part = pool[turn::rounds]
        numerator = np.arange(len(real) + len(part)) < len(real)
        weights = np.append(np.ones(len(real)), np.exp(np.minimum(logs, np.quantile(logs, CLIPPED)))[turn::rounds])
        apart = np.append(held, np.arange(len(part)) < HELD * len(part))
        boosted.append(Boosted.fit(np.concatenate([real, part]), ordered, numerator, weights, apart))
        logs += boosted[-1].score(pool)
        report((turn + 1) / rounds)
    counts = np.stack([np.bincount(codes, minlength=CELLS) for codes in real.T])
    ceiling = float(np.quantile(logs, CLIPPED))
    logs = np.minimum(logs, ceiling)
    power = _power(logs)
    logs *= power
    weights, factors = _raked(pool, np.exp(logs), counts, len(pool) // POOL)
    odds = _odds(axes, real, pool, weights, held) if rounds else ()
    if odds:
        weights, factors = _raked(pool, np.exp(logs + _likelier(odds, pool)), counts, len(pool) // POOL)
    scales = Scales(ceiling, power, effective(weights), float(np.log(np.mean(weights))))
    return Refined(model, axes, boosted, counts, factors, scales, table.rows, odds)


def _odds(axes: list[Axis], real: Codes, pool: Codes, weights: Floats, held: Mask) -> tuple[Odds, ...]:
    """The chances of the target's classes, among training rows and in the weighted pool; none without a target of few classes."""
    target = next((place for place, axis in enumerate(axes) if axis.column.role is Role.TARGET), None)
    part = slice(MOST_SEEN * len(real))
    if target is None or len(axes) == 1 or not len(known := classes(real, pool[part], target)):
        return ()
    ordered = _ordered(axes)
    apart = np.arange(len(pool[part])) < HELD * len(pool[part])
    return (
        Odds.fit(real, target, known, ordered, np.ones(len(real)), held),
        Odds.fit(pool[part], target, known, ordered, weights[part], apart),
    )


def _likelier(odds: tuple[Odds, ...], codes: Codes) -> Floats:
    real, drawn = odds
    return np.clip(real.logs(codes) - drawn.logs(codes), -STEEPEST, STEEPEST)


def _ordered(axes: list[Axis]) -> Mask:
    return np.array([axis.column.numeric or axis.column.kind == "ordinal" for axis in axes], np.bool_)


class Scales(NamedTuple):
    """How far weights go, and what that leaves."""

    ceiling: float
    """The largest logarithm of a weight before raking."""
    power: float
    """To which weights are raised: below 1 where too few draws would carry them."""
    share: float
    """The effective sample size of weighted draws, as a part of their number."""
    level: float
    """The logarithm of the mean weight."""

    @property
    def pool(self) -> int:
        """Rows to draw for each that leaves."""
        return int(np.clip(np.ceil(1.5 / self.share), POOL, MOST_POOL))


@dataclass(frozen=True, eq=False)
class Refined:
    """A model whose draws are weighted and thinned."""

    model: Any
    axes: list[Axis] = field(repr=False)
    boosted: list[Boosted] = field(repr=False)
    counts: Integers = field(repr=False)
    """Training rows by column and cell."""
    factors: Floats = field(repr=False)
    """What raking multiplied the weights by, by column and cell."""
    scales: Scales
    rows: int
    odds: tuple[Odds, ...] = field(repr=False, default=())
    """The chances of a target's classes, among training rows and in the pool."""

    @property
    def schema(self) -> Schema:
        """The model's own."""
        schema: Schema = self.model.schema
        return schema

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """``n`` rows, by default as many as it was trained on, none of a pool twice; what can be given is the model's to say.

        Counts follow the training rows' only where nothing is given: there is no knowing them under a condition.
        """
        rows = self.rows if n is None else n
        if not rows:
            nothing: Table = self.model.sample(0, rng, given)
            return nothing
        parts = [min(MOST, rows - start) for start in range(0, rows, MOST)]
        return Table.concat([self._part(part, rng, given) for part in parts])

    def _part(self, rows: int, rng: np.random.Generator, given: Given | None) -> Table:
        pool: Table = self.model.sample(rows * self.scales.pool, rng, given)
        codes = _codes(self.axes, pool)
        weights = _weights(self._logs(codes))
        if effective(weights) < COLLAPSED:
            # What raked another pool leaves only a few draws of this one.
            weights = _weights(self._unraked(codes))
        if not given:
            weights, _ = _raked(codes, weights, self.counts, rows)
        roles = [axis.column.role is Role.TARGET for axis in self.axes]
        widths = [(not target, -int(np.count_nonzero(held))) for target, held in zip(roles, self.counts, strict=True)]
        keys = sorted(range(len(widths)), key=lambda at: widths[at])
        order = np.lexsort([codes[:, at] for at in reversed(keys)])
        picked = order[systematic(weights[order], rows, rng)]
        return pool.take(rng.permutation(picked))

    def _logs(self, codes: Codes) -> Floats:
        logs = self._unraked(codes)
        for factors, column in zip(np.log(self.factors), codes.T, strict=True):
            logs += factors[column]
        return logs

    def _unraked(self, codes: Codes) -> Floats:
        logs = np.zeros(len(codes))
        for boosted in self.boosted:
            logs += boosted.score(codes)
        logs = self.scales.power * np.minimum(logs, self.scales.ceiling)
        logs += _likelier(self.odds, codes) if self.odds else 0.0
        return logs

    def log_likelihood(self, table: Table) -> Floats:
        """The model's own with the weight of each row, in nats."""
        own: Floats = self.model.log_likelihood(table)
        return own + self._logs(_codes(self.axes, table)) - self.scales.level

    def result(self) -> dict[str, Any]:
        """The model's own, the rounds, and how many independent draws the weighted pool of each released row is worth."""
        scales = self.scales
        refinement = {"rounds": len(self.boosted), "effective draws per row": round(scales.pool * scales.share, 1)}
        if scales.power < 1:
            refinement["weights raised to the power"] = round(scales.power, 2)
        return {**self.model.result(), "refinement": refinement}

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """The model's parts beside trees on cells and counts of cells."""
        own, arrays = self.model.parts()
        arrays = {f"model/{name}": array for name, array in arrays.items()}
        arrays |= {f"axis/{place}": axis.places for place, axis in enumerate(self.axes)}
        for turn, boosted in enumerate(self.boosted):
            arrays |= {f"boosted/{turn}/{name}": array for name, array in boosted.parts().items()}
        for side, odds in zip(SIDES, self.odds, strict=False):
            arrays |= {f"odds/{side}/{name}": array for name, array in odds.parts().items()}
        kind = type(self.model)
        values = {"class": f"{kind.__module__}:{kind.__qualname__}", "values": own, "rounds": len(self.boosted), "rows": self.rows}
        values |= self.scales._asdict()
        return values, arrays | {"counts": self.counts, "factors": self.factors}

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it, and the model inside, which must be of a registered step's module or of this package."""

        def under(prefix: str) -> Arrays:
            return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}

        target = str(values["class"])
        if not registry.known(target):
            raise InputError(f"names a class that no registered step uses: {target}", where="model")
        model: Model = registry.load(target).from_parts(values["values"], under("model/"))  # type: ignore[attr-defined]
        axes = [Axis(column, arrays[f"axis/{place}"]) for place, column in enumerate(model.schema)]
        boosted = [Boosted.from_parts(under(f"boosted/{turn}/")) for turn in range(int(values["rounds"]))]
        odds = tuple(Odds.from_parts(found) for side in SIDES if (found := under(f"odds/{side}/")))
        scales = Scales(*(float(values[name]) for name in Scales._fields))
        return cls(model, axes, boosted, arrays["counts"], arrays["factors"], scales, int(values["rows"]), odds)


def _weights(logs: Floats) -> Floats:
    """Up to a factor, which does not matter: the largest is 1."""
    return np.asarray(np.exp(logs - logs.max()))


def effective(weights: Floats) -> float:
    """Kish's effective sample size of weighted rows, as a part of their number."""
    return float(weights.sum() ** 2 / (len(weights) * np.square(weights).sum()))


def systematic(weights: Floats, rows: int, rng: np.random.Generator) -> Integers:
    """So many of the rows, in order: every point of an even grid over the running weights picks one, none twice."""
    for _ in range(SWEEPS):
        weights = np.minimum(weights, weights.sum() / rows)
    running = np.cumsum(weights)
    grid = (rng.random() + np.arange(rows)) * (running[-1] / rows)
    picked = np.minimum(np.searchsorted(running, grid, side="right"), len(weights) - 1)
    return np.asarray(picked)


def _codes(axes: list[Axis], table: Table) -> Codes:
    return np.stack([axis.codes(table[axis.column.name]) for axis in axes], axis=1)


def _power(logs: Floats) -> float:
    """1, or the power at which weights leave enough of the largest pool's rows effective: beyond it a few draws would be all."""
    powers = np.linspace(1, 0, 21)
    return float(next(power for power in powers if effective(np.exp(power * logs)) >= 1.5 / MOST_POOL))


def _raked(codes: Codes, weights: Floats, counts: Integers, rows: int) -> tuple[Floats, Floats]:
    """Weights whose sums by cell are in proportion to the counts, column by column, and what they were multiplied by.

    No draw is to be worth more than one of ``rows`` that leave. Cells of few rows are one; where they are few even together, and
    where nothing was drawn, the weights stay. They all stay where too few draws would be left, or none: the counts of hundreds of
    columns cannot all be kept by a pool of a few hundred draws.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        raked, factors = _sweeps(codes, weights, counts, rows)
        enough = effective(raked) >= COLLAPSED
    return (raked, factors) if enough else (weights, np.ones(counts.shape))


def _sweeps(codes: Codes, weights: Floats, counts: Integers, rows: int) -> tuple[Floats, Floats]:
    factors = np.ones(counts.shape)
    groups = np.where(counts >= RAKED, np.arange(CELLS), CELLS)
    wanted = np.stack([np.bincount(g, c, minlength=CELLS + 1) for g, c in zip(groups, counts, strict=True)])
    wanted = np.where(wanted >= RAKED, wanted, 0.0) / counts.sum(axis=1, keepdims=True)
    for _ in range(SWEEPS):
        largest = 0.0
        for column, cells in enumerate(codes.T):
            group = groups[column]
            have = np.bincount(group, np.bincount(cells, weights, minlength=CELLS), minlength=CELLS + 1) / weights.sum()
            step = np.divide(wanted[column], have, out=np.ones(CELLS + 1), where=(have > 0) & (wanted[column] > 0)).clip(0.2, 5)
            factors[column] *= step[group]
            weights = weights * step[group][cells]
            largest = max(largest, float(np.abs(step - 1).max()))
        weights = np.minimum(weights, weights.sum() / rows)
        if largest < 1e-3:
            break
    return weights, factors
