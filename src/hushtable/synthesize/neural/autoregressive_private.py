"""The autoregressive network, trained with differential privacy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from hushtable.errors import PlanError
from hushtable.learn import network
from hushtable.numerics.simplex import present
from hushtable.pipeline.step import Arrays, Given, Plan, PrivateCore, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event, SampledGaussian
from hushtable.privacy.preserve import Effect
from hushtable.privacy.query import Histogram
from hushtable.privacy.sampled import FLOAT_NOISE, sampled_gaussian
from hushtable.privacy.vault import Vault
from hushtable.synthesize.histogram_cells import noise_note, require_counted, sizes_of, usable_total, values_of, with_notes
from hushtable.synthesize.marginal.independent import Independent
from hushtable.synthesize.neural.cellwise import Cellwise, fields_of
from hushtable.synthesize.raking import raked
from hushtable.synthesize.refined import systematic
from hushtable.table.arrays import Array, Floats, Integers
from hushtable.table.columns import Column, Kind, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

_NET, _PURPOSE = "hushtable.synthesize.neural.autoregressive_private_net", "an autoregressive network"
STEPS, FEWEST, MOST = 300, 100, 800
"""Steps of the descent at epsilon 1, and the fewest and the most."""
USUAL = 30_000
"""Rows for which, at epsilon 1, the widths below are."""
RATE, BATCH = 0.1, 10_000
"""Of the steps, and the most rows of a batch where the number of rows is declared."""
SPEED = 0.03
"""Learning rate at epsilon 1: noise asks for a larger one than usual, and the mean over the last weights forgives it."""
CELLS = 64
"""The most cells of a column that the network distinguishes: the commonest levels, and all others as one."""
LOUD = 0.6
"""From this length of the noise on, the card carries a note. On Adult the area under the curve of a model trained on the release
was 0.90 at 0.2, and 0.82 at 0.8 (of 0.93 and 0.91 on real rows)."""
POOL, PART = 3, 50_000
"""Rows drawn for each that leaves; rows that leave at a time."""


@dataclass(frozen=True, kw_only=True)
class PrivateAutoregressive(PrivateCore):
    """One network for the whole table, trained on clipped gradients with noise (DP-SGD); draws are raked to noisy margins.

    First a noisy histogram of each column is paid for: it gives the number of rows, the biases that the network begins with, and
    the counts that drawn rows are raked to. A row, added or removed, changes one cell of each by one. Then the network is trained:
    in each step every person is in the batch by a coin of its own, the gradient of each row is clipped to its share of ``clip``,
    and the sum, which one person changes by at most ``clip``, gets normal noise (Abadi et al. 2016). Number, rate and noise of the
    steps are fixed in the plan, widths follow from epsilon and the noisy number of rows, and everything after the noise is
    post-processing. Needs a delta, and one record or person more or less (add-remove).
    """

    quick: ClassVar[Mapping[str, object]] = {"steps": 2, "hidden": 4, "embedding": 2}
    extra: ClassVar[str] = "neural"

    steps: int = 0
    """Steps of the descent; 0 takes 300 at epsilon 1, and more at larger ones."""
    rate: float = 0.0
    """The chance of each person to be in the batch of a step; 0 takes 0.1, and less where more than 100,000 rows are declared."""
    clip: float = 0.0
    """The largest norm of one person's part in the gradient of a step; 0 takes 0.5 to 1, by epsilon and the noisy row count."""
    hidden: int = 0
    """Hidden units of a column with many cells; 0 takes 10 at epsilon 1 and 30,000 rows, and more where there is more of either."""
    embedding: int = 0
    """Numbers that stand for a cell; 0 takes 4 at epsilon 1 and 30,000 rows, and more where there is more of either."""
    speed: float = 0.0
    """Learning rate at the start; 0 takes 0.03 at epsilon 1 and 30,000 rows, and less where there is more of either."""
    margins: float = 0.2
    """The part of its budget that goes to the histograms of the columns."""
    order: tuple[str, ...] = ()
    """Columns to draw first; the others follow: the target, then those of low entropy by their noisy margins."""

    def __post_init__(self) -> None:
        """Knobs in range."""
        check_knobs(
            self,
            steps=(self.steps >= 0, "must not be negative"),
            rate=(0 <= self.rate <= 1, "must be between 0 and 1"),
            clip=(0 <= self.clip < math.inf, "must not be negative"),
            hidden=(self.hidden >= 0, "must not be negative"),
            embedding=(self.embedding >= 0, "must not be negative"),
            speed=(0 <= self.speed < math.inf, "must not be negative"),
            margins=(0 < self.margins < 1, "must be above 0 and below 1"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that cannot be counted or do not exist, and a budget without delta."""
        require_counted(schema, "autoregressive-private")
        if unknown := [name for name in self.order if name not in schema]:
            raise PlanError(f"autoregressive-private: there is no column {', '.join(unknown)}")
        events: tuple[Event, ...] = ()
        warned = ""
        if budget is not None:
            counts, happened = self._spent(schema, budget)
            events = (*(part.event(Histogram((name,)), schema) for name, part in counts.items()), happened)
            warned = self._expected(schema, budget, happened)
        return Plan(schema=schema, events=events, effect=Effect.GENERATE, caveats=(FLOAT_NOISE, *filter(None, (warned,))))

    def _spent(self, schema: Schema, budget: Allowance) -> tuple[dict[str, Allowance], SampledGaussian]:
        """What each histogram may cost, and the descent that the rest buys. Nothing here depends on rows."""
        first, rest = budget.split([self.margins, 1 - self.margins])
        parts = dict(zip(schema.names, first.split([1.0] * len(schema)), strict=True))
        steps = self.steps or int(np.clip(round(STEPS * _learnable(budget, USUAL) ** 0.47), FEWEST, MOST))
        rate = self.rate or min(RATE, BATCH / (schema.size or 1))
        return parts, sampled_gaussian(rest, rate, steps)

    def _expected(self, schema: Schema, budget: Allowance, happened: SampledGaussian) -> str:
        """What to expect of the training, as far as a declared number of rows says it before any is read."""
        if schema.size is None:
            return ""
        hidden, embedding = self._widths(budget, schema.size)
        cells = [min(size, CELLS) for size in sizes_of(schema).values()]
        weights = sum(cells) * (embedding + hidden) + hidden * embedding * len(cells) ** 2 // 2
        return expected(noise_of(happened.multiplier, weights, happened.rate * schema.size))

    def _widths(self, budget: Allowance, count: float) -> tuple[int, int]:
        """Hidden units and embeddings: more where a larger epsilon, or more rows, leave less noise."""
        size = _learnable(budget, count)
        hidden = self.hidden or int(np.clip(round(10 * size**0.5), 4, 48))
        return hidden, self.embedding or int(np.clip(round(4 * size ** (1 / 3)), 2, 8))

    def fit(self, vault: Vault, rng: np.random.Generator) -> Raked:
        """Measure every column, then train."""
        schema, allowance = vault.schema, vault.paid()
        parts, happened = self._spent(schema, allowance)
        noisy, noise = {}, {}
        for name, part in parts.items():
            noisy[name] = vault.spend(Histogram((name,)), part)
            noise[name] = part.deviation(Histogram((name,)), schema)
        settled = {name: present(schema[name], counts, noise[name]) for name, counts in noisy.items()}
        counted = Independent.of(schema, noisy, noise, None, settled)
        total = usable_total(counted.total, sum(1 / (len(c) * noise[n] ** 2) for n, c in noisy.items()) ** -0.5)
        cells = [Levelled.of(schema[name], counted.shares[name]) for name in self._order(schema, counted.shares)]
        hidden, embedding = self._widths(allowance, total)
        size = _learnable(allowance, total)
        module = network(_NET, _PURPOSE)
        training = module.Training(
            margins=[one.masses for one in cells],
            ordered=tuple(place for place, one in enumerate(cells) if one.ordered),
            embedding=embedding,
            hidden=hidden,
            speed=self.speed or SPEED * float(np.clip(size**-0.35, 0.3, 1.3)),
            rows=total,
        )
        descent = network("hushtable.learn.private", _PURPOSE).PrivateDescent
        how = descent.of(happened, self.clip or float(np.clip(0.5 * size ** (1 / 3), 0.5, 1)))
        weights = module.fitted(vault, lambda table: fields_of(cells, table), training, how, int(rng.integers(2**31)))
        chosen = {"steps": how.steps, "rate": how.rate, "clip": round(how.clip, 4), "noise multiplier": round(how.multiplier, 4)}
        loud = noise_of(how.multiplier, sum(array.size for array in weights.values()), how.rate * total)
        notes = (noise_note(sizes_of(schema), max(noise.values()), total).get("note", ""), expected(loud))
        return Raked(schema, cells, weights, round(total), {}, chosen, "; ".join(filter(None, notes)))

    def _order(self, schema: Schema, shares: Mapping[str, Floats]) -> list[str]:
        """Columns that hold little are learnt best, and so come first: by the entropy of their noisy margins, in whole nats."""
        entropy = {name: int(-np.sum(own * np.log(np.maximum(own, 1e-12)))) for name, own in shares.items()}
        rest = [name for name in schema.names if name not in self.order]
        return [*self.order, *sorted(rest, key=lambda name: (schema[name].role is not Role.TARGET, entropy[name]))]


def _learnable(budget: Allowance, count: float) -> float:
    """How much can be learnt: epsilon times rows, as a multiple of 30,000."""
    epsilon = budget.whole.epsilon if budget.whole is not None else 1.0
    return max(epsilon * count / USUAL, 1e-3)


def noise_of(multiplier: float, weights: int, batch: float) -> float:
    """The length of the noise in the mean gradient of a step, beside the longest gradient of one person."""
    return multiplier * math.sqrt(weights) / max(batch, 1.0)


def expected(loud: float) -> str:
    """What to expect of a training with so much noise; nothing is said below ``LOUD``."""
    if loud < LOUD:
        return ""
    return (
        f"the budget is small for training: the noise of a step is {loud:.2g} times as long as the longest gradient of a person. "
        "Expect the margins of single columns, and little of how columns depend on one another. A larger epsilon or more rows "
        "help, and so does a recipe that fits noisy margins (aim, privsyn)"
    )


@dataclass(frozen=True, eq=False)
class Levelled:
    """A column in the cells of its histogram, the rarest of many as one."""

    column: Column
    places: Integers
    """For each cell the code that the network knows it by."""
    chances: Floats
    """For each cell its share."""

    fields: ClassVar[int] = 1

    @classmethod
    def of(cls, column: Column, shares: Floats) -> Self:
        """By noisy shares of the cells, which were paid for."""
        places = np.full(len(shares), CELLS - 1)
        commonest = np.sort(np.argsort(-shares, kind="stable")[: CELLS - 1])
        places[commonest] = np.arange(len(commonest))
        return cls(column, np.arange(len(shares)) if len(shares) <= CELLS else places, shares)

    @property
    def ordered(self) -> bool:
        """Whether codes lie in order, missing last."""
        return (self.column.numeric or self.column.kind is Kind.ORDINAL or self.column.generalized) and len(self.places) <= CELLS

    @property
    def masses(self) -> Floats:
        """The share of each code."""
        return np.asarray(np.bincount(self.places, self.chances), np.float64)

    @property
    def values(self) -> int:
        """How many values it has."""
        return len(self.places)

    @property
    def pieces(self) -> int:
        """How many codes there are."""
        return int(self.places.max()) + 1

    def codes(self, array: Array) -> list[Integers]:
        """The code of each value."""
        return [self.places[self._cells(array)]]

    def arrays(self) -> dict[str, Array]:
        """What it is rebuilt from, given the column."""
        return {"places": self.places, "chances": self.chances}

    def _cells(self, array: Array) -> Integers:
        counted = self.column.kind is Kind.INTEGER and not self.column.generalized
        cells = array.astype(np.int64) - (int(self.column.bounds.low) if counted else 0)
        return np.where(self.column.is_missing(array), len(self.places) - 1, cells)

    def decode(self, codes: Integers, part: Integers, rng: np.random.Generator, /) -> Array:
        """Values of these codes; inside a code by their shares."""
        order = np.argsort(self.places, kind="stable")
        running = np.append(0.0, np.cumsum(np.maximum(self.chances[order], 1e-300)))
        starts = np.searchsorted(self.places[order], np.arange(self.places.max() + 2))
        low, high = running[starts[codes]], running[starts[codes + 1]]
        at = np.searchsorted(running, low + rng.random(len(codes)) * (high - low), side="right") - 1
        return values_of(self.column, order[np.clip(at, starts[codes], starts[codes + 1] - 1)])

    def shares(self, array: Array) -> Floats:
        """For each value, its share of the draws from its code."""
        masses = np.maximum(self.masses, 1e-300)[self.places]
        alone = np.bincount(self.places)[self.places] == 1
        return np.where(alone, 1.0, self.chances / masses)[self._cells(array)]


@dataclass(frozen=True, eq=False)
class Raked(Cellwise):
    """A private network whose draws are weighted to the noisy margins, and thinned."""

    chosen: dict[str, Any]
    """What the plan and the noisy number of rows led to."""
    note: str = ""
    """What to expect where the noise is large."""

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """``n`` rows, by default the noisy number of rows; under a condition they are not raked, as its margins are not known."""
        rows = self.rows if n is None else n
        if given or not rows:
            return super().sample(rows, rng, given)
        parts = [min(PART, rows - start) for start in range(0, rows, PART)]
        codes = np.concatenate([self._thinned(part, rng) for part in parts])
        arrays = {cells.column.name: cells.decode(own, own, rng) for cells, own in zip(self.nested, codes.T, strict=True)}
        return Table(self.schema, {name: arrays[name] for name in self.schema.names})

    def _thinned(self, rows: int, rng: np.random.Generator) -> Integers:
        """A systematic sample of a pool of draws, weighted so that it has the margins (Deming and Stephan 1940)."""
        codes = self._drawn(POOL * rows, {}, rng)
        wanted = [cells.masses for cells in self.nested if isinstance(cells, Levelled)]
        weights = raked(list(zip(codes.T, wanted, strict=True)), len(codes), rows)
        widest = sorted(range(len(wanted)), key=lambda at: (at > 0, -len(wanted[at])))
        order = np.lexsort([codes[:, at] for at in reversed(widest)])
        thinned: Integers = codes[rng.permutation(order[systematic(weights[order], rows, rng)])]
        return thinned

    def result(self) -> dict[str, Any]:
        """The order, the size of the network, and the descent; no loss of a real row."""
        size = sum(array.size for array in self.weights.values())
        return with_notes({"order": list(self.order), "weights": size, **self.chosen}, self.note)

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """Weights and noisy shares."""
        values, arrays = super().parts()
        return {**values, "chosen": self.chosen, "note": self.note}, arrays

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        schema = Schema.parse(values["schema"])
        cells = [
            Levelled(schema[name], arrays[f"cells/{place}/places"], arrays[f"cells/{place}/chances"])
            for place, name in enumerate(values["order"])
        ]
        weights = {name.removeprefix("weights/"): array for name, array in arrays.items() if name.startswith("weights/")}
        return cls(schema, cells, weights, int(values["rows"]), {}, values["chosen"], values["note"])
