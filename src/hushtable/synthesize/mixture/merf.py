"""Mean embeddings with random features (DP-MERF): one noisy sum of features for each class, then points that match it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from hushtable.numerics.integers import GRID, Axes
from hushtable.numerics.simplex import on_simplex, without_missing
from hushtable.pipeline.step import Plan, PrivateCore, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event
from hushtable.privacy.preserve import Effect
from hushtable.privacy.rows import public_rows, rows_event
from hushtable.privacy.vault import Vault
from hushtable.synthesize.histogram_cells import usable_total
from hushtable.synthesize.mixture import estimate, groups
from hushtable.synthesize.mixture.integer_encoding import STEPS, Field, IntegerEncoding
from hushtable.synthesize.mixture.matching import match
from hushtable.synthesize.mixture.model import Mixture
from hushtable.synthesize.mixture.sums import PartitionSums
from hushtable.synthesize.mixture.trees import Tree
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table

NAME = "dp-merf"
COARSE, SMOOTH = 0.005, 1.0
"""The kernel's widths, as shares of a domain: drawn between these, since estimating one from the rows would cost budget."""
JITTER = 0.005
"""How far a number is drawn from its point, as a share of its domain."""
BLURRED = 0.5
"""From this noise of a mean feature on, the card carries a note."""
COUNTS = 0.05
"""The share of the budget that goes into the number of records of each class."""


@dataclass(frozen=True, eq=False)
class Embedding:
    """A record as whole numbers: its levels one by one, flags of missing numbers, and random Fourier features of its numbers.

    With m numbers, F frequencies and A = STEPS sqrt(m / F), the features are A cos(w z) and A sin(w z), cut towards zero, of the
    places z in [0, 1]^m (a missing one in the middle): together never longer than STEPS sqrt(m), because cos^2 + sin^2 = 1 and
    cutting lengthens nothing. A counted column has length STEPS, a flag STEPS or 0. So for c counted columns and f flags
    a record is at most STEPS sqrt(c + f + m) long, and two are at most STEPS sqrt(2c + f + 4m) apart. Frequencies are public.
    """

    encoding: IntegerEncoding
    frequencies: Floats
    """Numbers by frequencies."""

    @classmethod
    def drawn(cls, encoding: IntegerEncoding, count: int, rng: np.random.Generator) -> Self:
        """Frequencies of Gaussian kernels of many widths on single numbers and on pairs of them."""
        numbers = sum(not f.counted for f in encoding.fields)
        count = count if numbers else 0
        widths = np.exp(rng.uniform(math.log(COARSE), math.log(SMOOTH), count))
        frequencies = rng.normal(size=(numbers, count)) / widths
        used = np.zeros((numbers, count), bool)
        if numbers:
            one, other = np.arange(count) % numbers, rng.integers(0, numbers, count)
            single = np.arange(count) < count // 2
            used[one, np.arange(count)] = True
            used[np.where(single, one, other), np.arange(count)] = True
        return cls(encoding, np.where(used, frequencies, 0.0))

    @property
    def schema(self) -> Schema:
        """Of the table."""
        return self.encoding.schema

    @cached_property
    def counted(self) -> tuple[Field, ...]:
        """The columns counted level by level."""
        return tuple(f for f in self.encoding.fields if f.counted)

    @cached_property
    def numbers(self) -> tuple[Field, ...]:
        """The other columns."""
        return tuple(f for f in self.encoding.fields if not f.counted)

    @cached_property
    def flags(self) -> tuple[Field, ...]:
        """Numbers that may be missing."""
        return tuple(f for f in self.numbers if not f.column.required)

    @property
    def amplitude(self) -> float:
        """A."""
        return STEPS * math.sqrt(len(self.numbers) / max(self.frequencies.shape[1], 1))

    @property
    def dimension(self) -> int:
        """Levels, flags, cosines and sines."""
        return sum(f.width for f in self.counted) + len(self.flags) + 2 * int(self.frequencies.shape[1])

    @property
    def longest(self) -> tuple[int, int]:
        """L1, and L2 squared, of one record: the features' L1 is at most the root of their number times their L2."""
        ones, m = len(self.counted) + len(self.flags), len(self.numbers)
        return STEPS * ones + math.ceil(STEPS * math.sqrt(2 * self.frequencies.shape[1] * m)), STEPS**2 * (ones + m)

    @property
    def farthest(self) -> tuple[int, int]:
        """L1, and L2 squared, of the difference of two records."""
        c, f, m = len(self.counted), len(self.flags), len(self.numbers)
        wide = math.ceil(2 * STEPS * math.sqrt(2 * self.frequencies.shape[1] * m))
        return STEPS * (2 * c + f) + wide, STEPS**2 * (2 * c + f + 4 * m)

    def coordinates(self, table: Table) -> Integers:
        """Records by coordinates."""
        parts = [f.encode(table) for f in self.counted]
        parts += [f.column.is_missing(table[f.column.name])[:, None] * np.int64(STEPS) for f in self.flags]
        if self.numbers:
            places = np.stack([Axes(f.column).places(table[f.column.name]) for f in self.numbers], axis=1) / GRID
            # A little less than A, so that no rounding of a cosine leads beyond.
            # A product of matrices would add up in an order that depends on the place of a row: here each record is by itself.
            angles = sum(places[:, i, None] * row for i, row in enumerate(self.frequencies))
            most = self.amplitude * (1 - 1e-9)
            parts += [np.trunc(most * np.cos(angles)).astype(np.int64), np.trunc(most * np.sin(angles)).astype(np.int64)]
        return np.concatenate(parts, axis=1)


@dataclass(frozen=True, kw_only=True)
class DPMerf(PrivateCore):
    """Points whose random features have the noisy mean of the records' (Harder, Adamczewski and Park 2021).

    One query: for each class the number of its records and the sum of their features (``Embedding`` bounds one record,
    ``PartitionSums`` says what it changes), with integer noise. Nothing else reads the rows. As in the paper categories enter
    level by level and numbers by random Fourier features, class by class; so categories are independent of everything but
    the class, and are drawn by their noisy shares, which is what matches their part of the embedding exactly. For the
    numbers, points are moved by gradient descent until their mean features match: the paper trains a network to produce such
    points, to the same end. The width of its kernel comes from the rows there, and is drawn from many here.
    """

    target: str = ""
    """The class column; when empty, the first one with the role target that has few enough values, or none."""
    features: int = 200
    """The number of frequencies; each is a cosine and a sine."""
    points: int = 1000
    """Points to match the numbers with, all classes together; never more than there are rows, by noisy count."""
    steps: int = 100
    """Steps of descent."""

    def __post_init__(self) -> None:
        """Every knob in range."""
        check_knobs(
            self,
            features=(1 <= self.features <= 20_000, "must lie between 1 and 20000"),
            points=(1 <= self.points <= 1_000_000, "must lie between 1 and 1000000"),
            steps=(self.steps >= 0, "must not be negative"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns without bounds or levels, and a class that cannot be counted."""
        encoding = IntegerEncoding.of(schema, self.target, NAME)
        events: tuple[Event, ...] = ()
        if budget is not None:
            query = self._query(Embedding.drawn(encoding, self.features, np.random.default_rng(0)))
            events = (*rows_event(budget, schema), budget.event(query, schema))
        caveat = "categories were drawn independently of everything but the class"
        return Plan(schema=schema, events=events, effect=Effect.GENERATE, caveats=(caveat,))

    def fit(self, vault: Vault, rng: np.random.Generator) -> Mixture:
        """Measure the mean features once, then match them."""
        allowance = vault.paid()
        encoding = IntegerEncoding.of(vault.schema, self.target, NAME)
        embedding = Embedding.drawn(encoding, self.features, rng)
        query = self._query(embedding)
        noise = groups.deviation(allowance, query, vault.schema)
        answer = vault.spend(query, allowance).reshape(encoding.classes, -1)
        if allowance.unit.fixes_rows:
            total = public_rows(vault, allowance)
        else:
            counted = float(answer[:, 0].sum()) / query.weight
            total = max(2, round(usable_total(counted, noise * STEPS / query.weight * math.sqrt(encoding.classes))))
        model = self._matched(embedding, answer[:, 1:] / STEPS, answer[:, 0] / query.weight, noise, total, vault, rng)
        vault.report(1.0)
        return model

    def _query(self, embedding: Embedding) -> PartitionSums:
        weight = max(1, round(math.sqrt(embedding.longest[1] * COUNTS / (1 - COUNTS))))
        return PartitionSums(embedding, Tree.single(embedding.encoding), weight)

    def _matched(
        self,
        embedding: Embedding,
        sums: Floats,
        counts: Floats,
        noise: float,
        total: int,
        vault: Vault,
        rng: np.random.Generator,
    ) -> Mixture:
        encoding = embedding.encoding
        classes, rows = encoding.classes, np.maximum(counts, 1.0)
        cells = 1
        if embedding.numbers:
            # No more points than records, by noisy count.
            cells = max(1, min(self.points, round(float(rows.sum()))) // classes)
        label = np.repeat(np.arange(classes), cells)
        shares, numbers, at = {}, {}, 0
        for f in embedding.counted:
            part, at = sums[:, at : at + f.width], at + f.width
            whole = estimate.shares(f, part.sum(0)[None], counts.sum()[None], noise * math.sqrt(classes), estimate.flat(f))
            fitted = estimate.shares(f, part, counts, noise, np.repeat(whole, classes, axis=0))[label]
            if without_missing(f.column, float(part[:, -1].sum()), noise * math.sqrt(classes)):
                fitted = on_simplex(fitted - 2.0 * (np.arange(f.width) == f.width - 1))
            shares[f.column.name] = fitted
        absent = np.clip(sums[:, at : at + len(embedding.flags)] / rows[:, None], 0.0, 1.0)
        gone = {
            f.column.name: flags * (not without_missing(f.column, float(flags @ rows), noise * math.sqrt(classes)))
            for f, flags in zip(embedding.flags, absent.T, strict=True)
        }
        if embedding.numbers:
            means = sums[:, at + len(embedding.flags) :] / rows[:, None] * (STEPS / embedding.amplitude)

            def progress(part: float) -> None:
                vault.report(0.1 + 0.9 * part)

            points = match(means, counts > noise, embedding.frequencies, cells, self.steps, rng, progress)
            for number, f in enumerate(embedding.numbers):
                missing = gone.get(f.column.name, np.zeros(classes))[label]
                place = points[:, number]
                # Points at an end of the domain stay there: many columns have a spike at their least value.
                spread = np.minimum(JITTER, np.minimum(place, 1 - place) / 2)
                numbers[f.column.name] = np.stack([place, spread, missing], axis=1)
        if encoding.target:
            shares[encoding.target] = np.eye(classes)[label]
        weights = np.maximum(counts, 1e-9)[label]
        if encoding.target and without_missing(encoding.schema[encoding.target], float(counts[-1]), noise):
            weights *= label < classes - 1
        return Mixture(
            encoding.schema, weights / weights.sum(), shares, numbers, total, self._summary(embedding, noise, counts)
        )  # fmt: skip

    def _summary(self, embedding: Embedding, noise: float, counts: Floats) -> dict[str, Any]:
        classes, rows = embedding.encoding.classes, max(2, round(float(counts.sum())))
        summary: dict[str, Any] = {
            "classes": classes,
            "features": embedding.dimension,
            "noise_of_a_count": round(noise * STEPS / self._query(embedding).weight, 2),
        }
        note = groups.note(embedding.encoding, classes, noise, rows)
        if embedding.numbers:
            blur = round(noise * STEPS / embedding.amplitude * classes / rows, 4)
            summary["noise_of_a_mean_feature"] = blur
            if blur > BLURRED and not note:
                summary["note"] = (
                    f"the noise of a mean feature is about {blur:.2f}, and features lie between -1 and 1: "
                    "expect numbers that show little more than their domain"
                )
        return summary | note
