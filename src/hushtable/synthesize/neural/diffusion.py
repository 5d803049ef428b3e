"""Diffusion of tables (TabDDPM): noise comes over rows, and a network learns to take it off. Drawing needs no PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from hushtable.encode.layout import Layout, Openings, Rows, require_drawable
from hushtable.errors import InputError
from hushtable.learn import network, training
from hushtable.pipeline.step import Arrays, Core, Given, Plan, check_knobs, given_arrays
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.preserve import Effect
from hushtable.privacy.vault import Vault
from hushtable.synthesize.neural.denoising import Denoiser, Held, State
from hushtable.synthesize.refined import Refined, refined
from hushtable.table.arrays import Floats, Integers, Singles
from hushtable.table.columns import Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

_WHY = "a network is trained on the rows, and draws weighed against them"
BATCH, MOST = 4096, 4_000_000
"""Rows drawn at once: so many, but no more numbers than that."""
POOL, FEWEST = 2, 1000
"""Rows drawn for each that must meet a condition, and the least number of them."""


@dataclass(frozen=True, kw_only=True)
class Diffusion(Core):
    """A network that takes noise off rows, step by step; rows are drawn from nothing but noise, then refined. Promises nothing.

    Over numbers comes normal noise, over categories any of their levels; the network sees a noisy row, how much noise there is
    and the class of the target, which is drawn by its counts. It is trained on the rows as they are, and only the audit can
    measure what it reveals. After ``ranks`` it is TabDDPM (Kotelnikov et al. 2023), with their losses: the squared error of the
    noise of numbers, and the divergence of the posterior of levels, mean over columns. Beyond the publication, the noise is
    predicted through a combination of noise and number that never blows up (Salimans and Ho 2022), and rows are drawn in fewer
    strides than there are times, numbers without new noise on the way (Song, Meng and Ermon 2021). A column of more than 32
    levels is embedded, not spread out. A target that is a number is a column like others.
    """

    quick: ClassVar[Mapping[str, object]] = {"epochs": 1, "widths": (8,), "times": 4, "strides": 2, "refine": 0}
    extra: ClassVar[str] = "neural"

    times: int = 100
    """Times at which noise is added, by a cosine schedule."""
    strides: int = 25
    """In how many of them a row is drawn; as many as ``times`` would be as published, and take that much longer."""
    widths: tuple[int, ...] = (256, 256, 256)
    """Units of the layers."""
    dropout: float = 0.0
    """Part of each layer that is left out at a step."""
    rate: float = 2e-3
    """Learning rate of Adam, at its largest."""
    decay: float = 0.0
    """Of the weights."""
    batch: int = 512
    """Rows a step; fewer where the table is small, so that a pass has 60 steps, but not below 32."""
    epochs: int = 80
    """The most passes over the rows."""
    patience: int = 20
    """Passes without a better loss on held-out rows before it stops; the best weights are kept."""
    refine: int = 3
    """Rounds of refinement: boosted trees learn where rows are more common than draws, which are weighted by it, raked to the
    columns' counts and thinned; 0 leaves them as drawn."""

    def __post_init__(self) -> None:
        """Positive sizes."""
        sizes = ("times", "strides", "batch", "epochs", "patience")
        check_knobs(
            self,
            **{name: (getattr(self, name) >= 1, "must be at least 1") for name in sizes},
            widths=(bool(self.widths) and min(self.widths) >= 1, "must be one or more positive numbers"),
            dropout=(0 <= self.dropout < 1, "must be from 0 on and below 1"),
            rate=(0 < self.rate < 1, "must lie between 0 and 1"),
            decay=(self.decay >= 0, "must not be negative"),
            refine=(self.refine >= 0, "must not be negative"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns of free text."""
        require_drawable(schema, "diffusion")
        return Plan(schema=schema, events=(Raw(_WHY),), effect=Effect.GENERATE)

    def fit(self, vault: Vault, rng: np.random.Generator) -> Diffused | Refined:
        """Train the network, then refine."""
        table = vault.open(Raw(_WHY), _WHY)
        if not table.rows:
            raise InputError("there are no rows to learn from", where="diffusion")
        net = network("hushtable.synthesize.neural.diffusion_net", "diffusion")
        trained = 0.6 if self.refine else 1.0
        columns, rows = Columns.of(table)
        denoiser, curve = net.train(
            self,
            table,
            columns.sizes,
            columns.classes,
            columns.standardized(rows),
            int(rng.integers(2**31)),
            lambda share: vault.report(trained * share),
            vault.work,
        )
        model = Diffused(columns, denoiser, self.strides, table.rows, training(curve, self.epochs))
        if not self.refine:
            return model
        return refined(model, table, self.refine, rng, lambda share: vault.report(trained + (1 - trained) * share))


@dataclass(frozen=True, eq=False)
class Columns:
    """What of a table diffuses: its levels, its numbers in standard deviations from their mean, and the class they are given."""

    layout: Layout
    openings: Openings
    shares: Floats = field(repr=False)
    """Of the target's levels among the rows; empty where there is none."""
    mean: Floats = field(repr=False)
    scale: Floats = field(repr=False)

    @classmethod
    def of(cls, table: Table) -> tuple[Self, Rows]:
        """Those of a table, and its rows."""
        layout = Layout.of(table)
        rows = layout.encode(table)
        openings = Openings.found(layout, rows)
        target, open_ = _target(layout), openings.of(rows).astype(np.float64)
        shares = np.zeros(0)
        if target is not None:
            shares = np.bincount(rows.codes[:, target], minlength=layout.spans[target].levels) / table.rows
        count = np.maximum(open_.sum(axis=0), 1)
        mean = (rows.values * open_).sum(axis=0) / count
        scale = np.sqrt((np.square(rows.values - mean) * open_).sum(axis=0) / count)
        return cls(layout, openings, shares, mean, np.where(scale < 1e-6, 0, scale)), rows

    @property
    def classes(self) -> int:
        """How many there are; 0 where there is no target with levels."""
        return len(self.shares)

    @property
    def places(self) -> list[int]:
        """Spans whose levels diffuse: all but the target's."""
        return [place for place, span in enumerate(self.layout.spans) if span.levels and place != _target(self.layout)]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Their levels."""
        return tuple(self.layout.spans[place].levels for place in self.places)

    def standardized(self, rows: Rows) -> State:
        """Rows without noise; a number that does not vary under its level is 0."""
        values = (rows.values - self.mean) / np.where(self.scale > 0, self.scale, 1.0) * self.openings.of(rows)
        target = _target(self.layout)
        classes = None if target is None else np.ascontiguousarray(rows.codes[:, target])
        return State(np.ascontiguousarray(rows.codes[:, self.places]), values.astype(np.float32), classes)

    def table(self, state: State) -> Table:
        """The way back."""
        codes = np.zeros((len(state.codes), len(self.layout.spans)), np.int64)
        codes[:, self.places] = state.codes
        if state.classes is not None:
            codes[:, _target(self.layout)] = state.classes
        values = (state.values * self.scale + self.mean).astype(np.float32)
        return self.layout.decode(Rows(codes, values * self.openings.of(Rows(codes, values))))

    def held(self, fixed: Arrays) -> Held:
        """The columns that a condition fixes, but the target, which the network is told."""
        wanted = self.standardized(self.layout.row(fixed))
        spans = self.layout.spans
        columns = [at for at, place in enumerate(self.places) if spans[place].column.name in fixed]
        numbers = [at for at, span in enumerate(span for span in spans if span.column.numeric) if span.column.name in fixed]
        return Held(np.array(columns, np.int64), wanted.codes[0, columns], np.array(numbers, np.int64), wanted.values[0, numbers])


def _target(layout: Layout) -> int | None:
    """The first target with levels, if there is another column to be drawn given it."""
    targets = (at for at, span in enumerate(layout.spans) if span.column.role is Role.TARGET and span.column.coded)
    return next(targets, None) if len(layout.spans) > 1 else None


@dataclass(frozen=True, eq=False)
class Diffused:
    """The trained network, and what its rows mean."""

    columns: Columns
    denoiser: Denoiser
    strides: int
    rows: int
    training: dict[str, Any] = field(repr=False)

    @property
    def schema(self) -> Schema:
        """Of the table that it was trained on."""
        return self.columns.layout.schema

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """``n`` rows, by default as many as it was trained on: noise, taken off.

        ``given`` fixes columns. The network is told a target, which is exact. Other columns go back from noise to what is given,
        and rows that the network finds likelier with it are repeated on the way, in the place of others: a particle filter of
        twice as many rows as are wanted, and at least a thousand. What is rarely met leaves rows that are equal in part.
        """
        rows = self.rows if n is None else n
        fixed = given_arrays(self.schema, given, 1)
        held = self.columns.held(fixed) if fixed else None
        if held is not None and not len(held.columns) + len(held.numbers):
            held = None
        batch = int(np.clip(MOST // (1 + sum(self.columns.sizes)), 16, BATCH))
        parts = []
        for size in (min(batch, rows - start) for start in range(0, max(rows, 1), batch)):
            count = max(POOL * size, FEWEST) if held and size else size
            state = self.denoiser.noise(self._classes(count, fixed, rng), count, rng)
            if count:
                state = self.denoiser.draw(state, self.strides, rng, held)
            parts.append(self.columns.table(state.take(rng.permutation(count)[:size]) if held else state))
        drawn = Table.concat(parts)
        met = {name: np.repeat(array, rows) for name, array in fixed.items()}
        return Table(self.schema, {**drawn.arrays, **met}) if fixed else drawn

    def _classes(self, rows: int, fixed: Arrays, rng: np.random.Generator) -> Integers | None:
        target = _target(self.columns.layout)
        if target is None:
            return None
        if (name := self.schema.names[target]) in fixed:
            return np.repeat(fixed[name].astype(np.int64), rows)
        return rng.choice(self.columns.classes, rows, p=self.columns.shares)

    def result(self) -> dict[str, Any]:
        """The training curve."""
        return {"training": self.training}

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """Weights, shares of the target's levels, means and deviations of numbers; no row can be put together from them."""
        own = {"layout": self.columns.layout.parts(), "governed": self.columns.openings.parts(), "times": self.denoiser.times}
        arrays = {f"network/{name}": array for name, array in self.denoiser.arrays.items()}
        columns = {"shares": self.columns.shares, "mean": self.columns.mean, "scale": self.columns.scale}
        return own | {"strides": self.strides, "rows": self.rows, "training": self.training}, {**arrays, **columns}

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        layout, openings = Layout.from_parts(values["layout"]), Openings.from_parts(values["governed"])
        columns = Columns(layout, openings, arrays["shares"], arrays["mean"], arrays["scale"])
        prefix = "network/"
        own: dict[str, Singles] = {n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)}
        denoiser = Denoiser(columns.sizes, int(values["times"]), own)
        return cls(columns, denoiser, int(values["strides"]), int(values["rows"]), values["training"])
