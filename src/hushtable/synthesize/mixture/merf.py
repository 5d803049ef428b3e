"""Mean embeddings with random features (DP-MERF): one noisy sum of features for each class, then points that match it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hushtable.numerics.simplex import on_simplex, without_missing
from hushtable.pipeline.step import Plan, PrivateCore, Reads, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event
from hushtable.privacy.preserve import Effect
from hushtable.privacy.rows import public_rows, rows_event
from hushtable.privacy.vault import Vault
from hushtable.synthesize.histogram_cells import spread, usable_total
from hushtable.synthesize.mixture import estimate, groups
from hushtable.synthesize.mixture.embedding import SINGLE, Embedding, best_features
from hushtable.synthesize.mixture.integer_encoding import STEPS, IntegerEncoding
from hushtable.synthesize.mixture.matching import margin, match, of_known
from hushtable.synthesize.mixture.model import Mixture
from hushtable.synthesize.mixture.sums import PartitionSums
from hushtable.synthesize.mixture.trees import Tree
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema

NAME = "dp-merf"
JITTER = 0.005
"""How far a number is drawn from its point, as a share of its domain."""
BLURRED = 0.5
"""From this noise of a mean feature on, the card carries a note."""
COUNTS = 0.05
"""The share of the budget that goes into the number of records of each class."""


@dataclass(frozen=True, kw_only=True)
class DPMerf(PrivateCore):
    """Points whose random features have the noisy mean of the records' (Harder, Adamczewski and Park 2021).

    One query: for each class the number of its records and the sum of their features (``Embedding`` bounds one record,
    ``PartitionSums`` says what it changes), with integer noise. Nothing else reads the rows. As in the paper categories enter
    level by level and numbers by random Fourier features, class by class; beside that, pairs of columns by random features of both,
    as many as the budget is worth, so that columns depend on one another in a class too. Points start with each column's own
    noisy distribution and exchange values until the mean features of pairs match: the paper trains a network to produce such
    points, to the same end. The width of its kernel comes from the rows there, and is drawn from many here.
    """

    target: str = ""
    """The class column; when empty, the first one with the role target that has few enough values, or none."""
    features: int = 0
    """The number of random features of pairs of columns, each a cosine and a sine; 0: as many as the budget and the declared size
    of the table (else 10,000 rows) are worth, up to 2,000."""
    points: int = 8000
    """Points to match the features with, all classes together; never more than there are rows, by noisy count."""
    steps: int = 20
    """How often the points exchange values of every column."""

    def __post_init__(self) -> None:
        """Every knob in range."""
        check_knobs(
            self,
            features=(0 <= self.features <= 20_000, "must lie between 1 and 20000, or be 0 to be chosen"),
            points=(1 <= self.points <= 1_000_000, "must lie between 1 and 1000000"),
            steps=(self.steps >= 0, "must not be negative"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns without bounds or levels, and a class that cannot be counted."""
        encoding = IntegerEncoding.of(schema, self.target, NAME)
        events: tuple[Event, ...] = ()
        if budget is not None:
            query = self._query(self._embedding(encoding, budget, np.random.default_rng(0)))
            events = (*rows_event(budget, schema), budget.event(query, schema))
        caveat = "columns depend on one another pair by pair in each class, as far as random features of pairs show it"
        return Plan(schema=schema, events=events, effect=Effect.GENERATE, reads=Reads.COUNTS, caveats=(caveat,))

    def fit(self, vault: Vault, rng: np.random.Generator) -> Mixture:
        """Measure the mean features once, then match them."""
        allowance = vault.paid()
        encoding = IntegerEncoding.of(vault.schema, self.target, NAME)
        embedding = self._embedding(encoding, allowance, rng)
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

    def _embedding(self, encoding: IntegerEncoding, allowance: Allowance, rng: np.random.Generator) -> Embedding:
        count, weight = best_features(encoding, allowance)
        return Embedding.drawn(encoding, self.features or count, weight, rng)

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
        # No more points than records, by noisy count.
        cells = max(1, min(self.points, round(float(rows.sum()))) // classes)
        shares, at = {}, 0
        for f in embedding.counted:
            part, at = sums[:, at : at + f.width], at + f.width
            whole = estimate.shares(f, part.sum(0)[None], counts.sum()[None], noise * math.sqrt(classes), estimate.flat(f))
            fitted = estimate.shares(f, part, counts, noise, np.repeat(whole, classes, axis=0))
            if without_missing(f.column, float(part[:, -1].sum()), noise * math.sqrt(classes)):
                fitted = on_simplex(fitted - 2.0 * (np.arange(f.width) == f.width - 1))
            shares[f.column.name] = fitted
        absent = np.clip(sums[:, at : at + len(embedding.flags)] / rows[:, None], 0.0, 1.0)
        gone = {
            f.column.name: flags * (not without_missing(f.column, float(flags @ rows), noise * math.sqrt(classes)))
            for f, flags in zip(embedding.flags, absent.T, strict=True)
        }
        at += len(embedding.flags)
        single, known = embedding.frequencies.shape[1], counts > noise
        alone = of_known(sums[:, at : at + 2 * single] / rows[:, None] * (STEPS / max(embedding.amplitude, 1.0)), known)
        paired = sums[:, at + 2 * single :] / rows[:, None] * (STEPS / max(embedding.pair_amplitude, 1.0))
        goal = of_known(paired[:, : len(embedding.ends)] + 1j * paired[:, len(embedding.ends) :], known)
        blur = noise * STEPS / max(embedding.pair_amplitude, 1.0) / rows
        drawn = []
        for label in range(classes):
            columns = self._start(embedding, {name: s[label] for name, s in shares.items()}, alone[label], cells, rng)
            drawn.append(match(embedding, columns, goal[label], float(blur[label]), self.steps, rng))
            vault.report(0.1 + 0.9 * (label + 1) / classes)
        return self._mixture(embedding, [np.concatenate(c) for c in zip(*drawn, strict=True)], gone, counts, noise, total)

    def _start(
        self, embedding: Embedding, shares: dict[str, Floats], alone: Floats, cells: int, rng: np.random.Generator
    ) -> list[Integers | Floats]:
        """So many points of one class, each column by itself and in random order."""
        columns: list[Integers | Floats] = []
        half, number = embedding.frequencies.shape[1], 0
        for f in embedding.encoding.fields:
            if f.counted:
                columns.append(spread(shares[f.column.name], cells, rng))
                continue
            mine = np.arange(number * SINGLE, (number + 1) * SINGLE)
            places = margin(alone[np.concatenate([mine, half + mine])], embedding.frequencies[number, mine], cells)
            columns.append(rng.permutation(places))
            number += 1
        return columns

    def _mixture(
        self,
        embedding: Embedding,
        columns: list[Integers | Floats],
        gone: dict[str, Floats],
        counts: Floats,
        noise: float,
        total: int,
    ) -> Mixture:
        """Every point is a cell: its levels are sure, its numbers a little spread."""
        encoding, classes = embedding.encoding, len(counts)
        label = np.repeat(np.arange(classes), len(columns[0]) // classes)
        shares, numbers = {}, {}
        for f, column in zip(encoding.fields, columns, strict=True):
            if f.counted:
                shares[f.column.name] = np.eye(f.cells)[column]
                continue
            missing = gone.get(f.column.name, np.zeros(classes))[label]
            # Points at an end of the domain stay there: many columns have a spike at their least value.
            within = np.minimum(JITTER, np.minimum(column, 1 - column) / 2)
            numbers[f.column.name] = np.stack([column, within, missing], axis=1)
        if encoding.target:
            shares[encoding.target] = np.eye(classes)[label]
        weights = np.maximum(counts, 1e-9)[label]
        if encoding.target and without_missing(encoding.schema[encoding.target], float(counts[-1]), noise):
            weights = weights * (label < classes - 1)
        summary = self._summary(embedding, noise, counts)
        return Mixture(encoding.schema, weights / weights.sum(), shares, numbers, total, summary)

    def _summary(self, embedding: Embedding, noise: float, counts: Floats) -> dict[str, Any]:
        classes, rows = embedding.encoding.classes, max(2, round(float(counts.sum())))
        summary: dict[str, Any] = {
            "classes": classes,
            "features": embedding.dimension,
            "noise_of_a_count": round(noise * STEPS / self._query(embedding).weight, 2),
        }
        note = groups.note(embedding.encoding, classes, noise, rows)
        amplitude = embedding.pair_amplitude or embedding.amplitude
        if amplitude:
            blur = round(noise * STEPS / amplitude * classes / rows, 4)
            summary["noise_of_a_mean_feature"] = blur
            if blur > BLURRED and not note:
                summary["note"] = (
                    f"the noise of a mean feature is about {blur:.2f}, and features lie between -1 and 1: "
                    "expect columns that hardly depend on one another, but for the class"
                )
        return summary | note
