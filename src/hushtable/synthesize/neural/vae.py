"""Variational autoencoders of tables: VAE, TVAE and the robust RTVAE. Drawing from one needs no PyTorch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
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
from hushtable.synthesize.refined import Refined, refined
from hushtable.table.arrays import Floats, Singles
from hushtable.table.schema import Schema
from hushtable.table.table import Table

_WHY = "a network is trained on the rows, and draws weighed against them"
BATCH = 4096
"""Rows decoded at once."""
POOL = 20
"""Points drawn for each row that must meet a condition."""


class Reconstruction(StrEnum):
    """By what a decoded row is judged."""

    LIKELIHOOD = "likelihood"
    BETA = "beta"


class Prior(StrEnum):
    """What points are drawn from."""

    NORMAL = "normal"
    MIXTURE = "mixture"


@dataclass(frozen=True, kw_only=True)
class Vae(Core):
    """A variational autoencoder: an encoder gives each row a distribution of points, a decoder makes rows of points.

    Promises nothing: the networks are trained on the rows as they are, and only the audit can measure what they reveal. After
    ``modes`` it is TVAE (Xu et al. 2019), with ``reconstruction: beta`` RTVAE (Akrami et al. 2022), which single rows
    unlike all others disturb less. Kingma and Welling 2014.
    """

    quick: ClassVar[Mapping[str, object]] = {"epochs": 1, "widths": (8,), "latent": 4, "components": 3, "refine": 0}
    extra: ClassVar[str] = "neural"

    reconstruction: Reconstruction = Reconstruction.LIKELIHOOD
    """What is minimized beside the divergence: likelihood, minus the log-likelihood of each value; beta, its robust counterpart,
    under which a value that hardly anything explains hardly counts."""
    beta: float = 0.05
    """How robust: 0 would be the likelihood. Used with ``reconstruction: beta`` only."""
    prior: Prior = Prior.NORMAL
    """What points are drawn from: normal, as published; mixture, ``components`` normal distributions learnt with the networks."""
    components: int = 64
    """Normal distributions in the mixture."""
    latent: int = 32
    """Dimensions of a point."""
    widths: tuple[int, ...] = (256, 256)
    """Units of the encoder's layers; the decoder's in reverse."""
    factor: float = 2.0
    """The weight of the reconstruction beside the divergence."""
    rate: float = 2e-3
    """Learning rate of Adam, at its largest."""
    decay: float = 1e-5
    """Of the weights."""
    batch: int = 250
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
        sizes = ("components", "latent", "batch", "epochs", "patience")
        check_knobs(
            self,
            **{name: (getattr(self, name) >= 1, "must be at least 1") for name in sizes},
            beta=(0 < self.beta <= 1, "must lie above 0 and at most at 1"),
            widths=(bool(self.widths) and min(self.widths) >= 1, "must be one or more positive numbers"),
            factor=(self.factor > 0, "must be positive"),
            rate=(0 < self.rate < 1, "must lie between 0 and 1"),
            decay=(self.decay >= 0, "must not be negative"),
            refine=(self.refine >= 0, "must not be negative"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns of free text."""
        require_drawable(schema, "vae")
        return Plan(schema=schema, events=(Raw(_WHY),), effect=Effect.GENERATE)

    def fit(self, vault: Vault, rng: np.random.Generator) -> Autoencoder | Refined:
        """Train the networks, then refine."""
        table = vault.open(Raw(_WHY), _WHY)
        if not table.rows:
            raise InputError("there are no rows to learn from", where="vae")
        net = network("hushtable.synthesize.neural.vae_net", "a variational autoencoder")
        layout = Layout.of(table)
        rows = layout.encode(table)
        openings = Openings.found(layout, rows)
        trained = 0.5 if self.refine else 1.0
        arrays, curve = net.train(
            self, table, layout, rows, openings, int(rng.integers(2**31)), lambda share: vault.report(trained * share), vault.work
        )
        model = Autoencoder(layout, openings, arrays, table.rows, training(curve, self.epochs))
        if not self.refine:
            return model
        return refined(model, table, self.refine, rng, lambda share: vault.report(trained + (1 - trained) * share))


@dataclass(frozen=True, eq=False)
class Autoencoder:
    """The fitted decoder and its prior."""

    layout: Layout
    openings: Openings = field(repr=False)
    arrays: dict[str, Singles] = field(repr=False)
    rows: int
    training: dict[str, Any] = field(repr=False)

    @property
    def schema(self) -> Schema:
        """Of the table that it was trained on."""
        return self.layout.schema

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """``n`` rows, by default as many as it was trained on: points of the prior, decoded, levels and numbers drawn.

        ``given`` fixes columns: of many points those are taken, with replacement, under which the condition is likely. Columns
        are independent given their point, so the others have their distribution under the condition but for the finite pool.
        """
        rows = self.rows if n is None else n
        fixed = given_arrays(self.schema, given, 1)
        parts = []
        for size in (min(BATCH, rows - start) for start in range(0, max(rows, 1), BATCH)):
            points = self._points(size if not fixed else POOL * max(size, 50), rng)
            out = self._decoded(points)
            if fixed:
                weights = self._likelihood(out, fixed)
                out = out[rng.choice(len(out), size, p=weights)]
            parts.append(self._drawn(out, rng))
        drawn = Table.concat([self.layout.decode(part) for part in parts])
        met = {name: np.repeat(array, rows) for name, array in fixed.items()}
        return Table(self.schema, {**drawn.arrays, **met}) if fixed else drawn

    def _points(self, rows: int, rng: np.random.Generator) -> Singles:
        latent = self.arrays["weight/0"].shape[1]
        points = rng.standard_normal((rows, latent), np.float32)
        if "shares" not in self.arrays:
            return points
        shares = self.arrays["shares"].astype(np.float64)
        own = rng.choice(len(shares), rows, p=shares / shares.sum())
        return self.arrays["centres"][own] + self.arrays["scales"][own] * points

    def _decoded(self, points: Singles) -> Singles:
        """Logits of levels, one column after another, then the means of numbers."""
        last = sum(name.startswith("weight/") for name in self.arrays) - 1
        for place in range(last):
            points = np.maximum(points @ self.arrays[f"weight/{place}"].T + self.arrays[f"bias/{place}"], 0)
        return points @ self.arrays[f"weight/{last}"].T + self.arrays[f"bias/{last}"]

    def _spans(self) -> Iterator[tuple[int, slice, int]]:
        """For each column its place, where its logits are, and where its mean is, or -1."""
        start, number = 0, sum(span.levels for span in self.layout.spans)
        for place, span in enumerate(self.layout.spans):
            yield place, slice(start, start + span.levels), number if span.column.numeric else -1
            start += span.levels
            number += span.column.numeric

    def _drawn(self, out: Singles, rng: np.random.Generator) -> Rows:
        codes = np.zeros((len(out), len(self.layout.spans)), np.int64)
        for place, choice, _ in self._spans():
            if choice.stop > choice.start:
                steps = _shares(out[:, choice]).cumsum(axis=1)
                points = rng.random((len(out), 1), np.float32) * steps[:, -1:]
                codes[:, place] = np.minimum((steps <= points).sum(axis=1), steps.shape[1] - 1)
        means = np.tanh(out[:, sum(span.levels for span in self.layout.spans) :])
        drawn = Rows(codes, means + self.arrays["sigma"] * rng.standard_normal(means.shape, np.float32))
        return replace(drawn, values=drawn.values * self.openings.of(drawn))

    def _likelihood(self, out: Singles, fixed: Arrays) -> Floats:
        """For each decoded point, how likely the condition is under it; they sum to one."""
        wanted = self.layout.row(fixed)
        logs, number = np.zeros(len(out)), 0
        for place, choice, mean in self._spans():
            column = self.layout.spans[place].column
            if column.name in fixed:
                if choice.stop > choice.start:
                    logs += np.log(_shares(out[:, choice])[:, wanted.codes[0, place]] + 1e-30)
                if mean >= 0:
                    logs -= ((np.tanh(out[:, mean]) - wanted.values[0, number]) / self.arrays["sigma"][number]) ** 2 / 2
            number += column.numeric
        weights: Floats = np.exp(logs - logs.max())
        return np.asarray(weights / weights.sum())

    def result(self) -> dict[str, Any]:
        """The training curve."""
        return {"training": self.training}

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """Weights; no row can be put together from them."""
        own = {"layout": self.layout.parts(), "governed": self.openings.parts()}
        return own | {"rows": self.rows, "training": self.training}, dict(self.arrays)

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        layout, openings = Layout.from_parts(values["layout"]), Openings.from_parts(values["governed"])
        own = {name: array.astype(np.float32) for name, array in arrays.items()}
        return cls(layout, openings, own, int(values["rows"]), values["training"])


def _shares(logits: Singles) -> Singles:
    exponents = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(exponents / exponents.sum(axis=1, keepdims=True))
