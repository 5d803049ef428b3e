"""Private Frechet means, and Frechet mean clustering, in the Poincare ball."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

import numpy as np

from hushtable.anonymize.private.frechet_queries import STEPS, TangentSums
from hushtable.numerics import ball
from hushtable.numerics.ball_map import BallMap, Block
from hushtable.numerics.simplex import ABSENT, on_simplex
from hushtable.pipeline.step import Arrays, Given, Plan, PrivateCore, Reads, check_knobs, given_arrays
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event
from hushtable.privacy.preserve import Effect
from hushtable.privacy.unit import Unit
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Array, Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table

_CLIPPED = "records further from their centre than {:.0%} of the domain's radius count as if they lay there"

FEWEST, MOST = 8, 128
"""Clusters, where their number is chosen."""
EACH, ROWS = 0.0075, 10_000
"""Clusters for each row at rho = 1, and the number of rows that they are chosen for, unless the schema declares one."""


class Tangent(StrEnum):
    """Where records become vectors."""

    ORIGIN = "origin"
    CENTRE = "centre"


class Draw(StrEnum):
    """How the levels of a category, and missing values, come out of a centre."""

    SHARES = "shares"
    MODE = "mode"


@dataclass(frozen=True, kw_only=True)
class Frechet(PrivateCore):
    """Differentially private Frechet mean clustering; with one cluster, the private Frechet mean.

    The table is mapped into the Poincare ball by its declared domains. Each query is one noisy sum: for every centre the
    number of records nearest to it and the sum of their clipped tangent vectors. One record is one vector of bounded
    length in one sum (see TangentSums), so integer Gaussian noise (Laplace when delta is zero) makes each query rho-zCDP, and
    the queries compose. The first is the mean in the tangent space of the middle of the domain; centres start around it in
    public directions, never from records. With ``tangent: origin`` later queries are such means too; with ``centre`` they are
    steps of Riemannian descent from the private centres. Reimherr, Bharath and Soto 2021 (means); Su et al. 2016 (rounds).
    """

    clusters: int = 0
    """The number of clusters; 1 for the Frechet mean alone; 0: as many as the budget and the declared size of the table (else
    10,000 rows) are worth, from 8 to 128."""
    rounds: int = 4
    """Lloyd rounds (for one cluster, steps of descent); each takes its part of the budget."""
    tangent: Tangent = Tangent.CENTRE
    """origin: vectors at the middle of the domain; centre: at the private centre of the record's own cluster."""
    radius: float = 0.5
    """The table is mapped into this Euclidean radius of the ball: near 0 flat; near 1 so curved that shares of levels are bent."""
    reach: float = 0.25
    """Vectors at a centre are clipped to this share of the domain's radius: 1/rounds lets it get anywhere, less is less noisy."""
    counts: float = 0.2
    """The share of each query's budget that goes into the number of records."""
    draw: Draw = Draw.SHARES
    """shares: levels and missing values drawn by their noisy shares in the cluster; mode: the most frequent one."""

    def __post_init__(self) -> None:
        """Every knob in range."""
        check_knobs(
            self,
            clusters=(self.clusters >= 0, "must be at least 1, or 0 to be chosen"),
            rounds=(self.rounds >= 1, "must be at least 1"),
            radius=(0 < self.radius < 1, "must lie between 0 and 1"),
            reach=(0 < self.reach <= 1, "must lie in (0, 1]"),
            counts=(0.01 <= self.counts <= 0.9, "must lie between 0.01 and 0.9"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that have no place in the ball: text, keys, numbers without bounds."""
        space = BallMap(schema, self.radius)
        events: tuple[Event, ...] = ()
        if budget is not None:
            parts = budget.split(self._shares())
            groups = [1] + [self._clusters(schema, budget)] * (len(parts) - 1)
            queries = (
                self._query(space, np.zeros((c, space.dimension)), budget.unit, number) for number, c in enumerate(groups, 1)
            )
            events = tuple(part.event(query, schema) for part, query in zip(parts, queries, strict=True))
        caveats = ["every row is the centre of a cluster: how far records lie from their centre is not released"]
        if self.tangent is Tangent.CENTRE and len(self._shares()) > 1:
            caveats.append(_CLIPPED.format(self.reach))
        return Plan(schema=schema, events=events, effect=Effect.GENERATE, reads=Reads.COUNTS, caveats=tuple(caveats))

    def fit(self, vault: Vault, rng: np.random.Generator) -> Centres:
        """A noisy mean, then rounds of noisy sums around the centres; ``rng`` only picks public directions."""
        space, allowance = BallMap(vault.schema, self.radius), vault.paid()
        parts = allowance.split(self._shares())
        centres, clusters = np.zeros((1, space.dimension)), self._clusters(vault.schema, allowance)
        for number, part in enumerate(parts, 1):
            if number == 2 and clusters > 1:
                centres = _around(centres[0], clusters, rng)
            query = self._query(space, centres, allowance.unit, number)
            counts, sums = query.read(vault.spend(query, part))
            noise = part.scale(query, vault.schema) * (1.0 if allowance.rho is not None else math.sqrt(2))
            centres = _moved(query, counts, sums, floor=2 * noise / query.weight)
            vault.report(number / len(parts))
        spread = noise * query.step / np.maximum(counts, 1.0)
        return Centres(space, centres, np.maximum(counts, 0.0), spread, self.draw, self._summary(space, query, noise))

    def _shares(self) -> list[float]:
        """The parts of the budget: the first query (the mean of all), then the rounds."""
        if self.clusters != 1:
            return [1.0] * (1 + self.rounds)
        return [1.0] * (self.rounds if self.tangent is Tangent.CENTRE else 1)

    def _clusters(self, schema: Schema, allowance: Allowance) -> int:
        """As given; or so many that the noise of a centre stays about the same, of the budget and the schema alone."""
        worth = math.sqrt(allowance.rho) if allowance.rho is not None else float(allowance.epsilon or 0.0) / 3
        return self.clusters or int(np.clip(EACH * worth * (schema.size or ROWS), FEWEST, MOST))

    def _query(self, space: BallMap, centres: Floats, unit: Unit, number: int) -> TangentSums:
        weight = max(1, round(STEPS * math.sqrt(self.counts / (1 - self.counts))))
        if len(centres) == 1 and unit.fixes_rows:
            # The number of rows is public then and its sum does not change: counting it costs nothing.
            weight = STEPS << 10
        if number == 1 or self.tangent is Tangent.ORIGIN:
            return TangentSums(space, centres, np.zeros_like(centres), space.reach, weight)
        return TangentSums(space, centres, centres, self.reach * space.reach, weight)

    def _summary(self, space: BallMap, query: TangentSums, noise: float) -> dict[str, Any]:
        return {
            "clusters": len(query.centres),
            "looks": len(self._shares()),
            "dimensions": space.dimension,
            "vectors_clipped_to": round(query.reach, 4),
            "noise_of_a_count": round(noise / query.weight, 3),
            "noise_of_a_sum": round(noise * query.step, 3),
        }


def _around(centre: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Centres a small step from one point, in opposite pairs: so near to one another, only their directions separate cells."""
    pairs = -(-count // 2)
    directions = rng.normal(size=(pairs, len(centre)))
    if pairs <= len(centre):
        directions = np.linalg.qr(directions.T)[0].T
    both = np.stack([directions, -directions], 1).reshape(2 * pairs, -1)[:count]
    return ball.exp(centre, 0.01 * both / np.linalg.norm(both, axis=1, keepdims=True))


def _moved(query: TangentSums, counts: Floats, sums: Floats, floor: float) -> Floats:
    """The centres by a noisy answer; where the count drowns in its noise a centre stays.

    A step of descent goes 2/(1 + L) of the way, L = r coth r for vectors up to r: the best fixed step, since the second
    derivative of what is minimized lies between 1 and L.
    """
    vectors = ball.clipped(sums / np.maximum(counts, 1.0)[:, None], query.reach)
    stride = 2 / (1 + query.reach / math.tanh(query.reach)) if query.bases is query.centres else 1.0
    return np.where((counts > max(floor, 1.0))[:, None], ball.exp(query.bases, stride * vectors), query.centres)


@dataclass(frozen=True, eq=False)
class Centres:
    """Private centres with the noisy number of records of each. All of it is post-processing of the noisy sums."""

    space: BallMap
    points: Floats
    counts: Floats
    spread: Floats
    """The standard deviation of the noise in each coordinate of a centre."""
    draw: Draw
    summary: dict[str, Any]

    @property
    def schema(self) -> Schema:
        """Of the table."""
        return self.space.schema

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """Rows in the proportions of the clusters, by default as many as the noisy counts say; each is its centre."""
        rows = max(2, round(float(self.counts.sum()))) if n is None else n
        owner = _apportioned(self.counts, rows)
        arrays = {block.column.name: self._column(block, owner, rng) for block in self.space.blocks}
        return Table(self.schema, arrays | given_arrays(self.schema, given, rows))

    def _column(self, block: Block, owner: Integers, rng: np.random.Generator) -> Array:
        part = self.space.part(block, self.points)
        shares = on_simplex(block.shares(part))
        # A tangent vector at the origin is twice as long as its step in the ball; shares below the noise are none.
        noise = np.repeat(np.minimum(self.spread / (2 * self.space.unit), 0.5)[:, None], shares.shape[1], axis=1)
        noise[:, -1] *= 1.0 if block.column.required else ABSENT
        significant = np.where(shares >= np.minimum(noise, shares.max(1, keepdims=True)), shares, 0.0)
        significant /= significant.sum(1, keepdims=True)
        level = _drawn(significant, owner, rng) if self.draw is Draw.SHARES else significant.argmax(1)[owner]
        if block.ordered:
            return block.array(block.numbers(part, significant[:, 1])[owner], level == 1)
        last = block.size - 1
        return np.where((level == last) & (not block.column.required), -1, level).astype(np.int32)

    def result(self) -> dict[str, Any]:
        """What was asked and how noisy the answers are; a function of the plan, and the noisy sizes."""
        return self.summary | {"noisy_sizes": [round(float(c)) for c in self.counts]}

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """Schema, radius, and the centres."""
        values = {
            "schema": self.schema.portable().dump(),
            "radius": self.space.radius,
            "draw": str(self.draw),
            "summary": self.summary,
        }
        return values, {"points": self.points, "counts": self.counts, "spread": self.spread}

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        space = BallMap(Schema.parse(values["schema"]), values["radius"])
        points, counts, spread = (arrays[name].astype(np.float64) for name in ("points", "counts", "spread"))
        return cls(space, points, counts, spread, Draw(values["draw"]), values["summary"])


def _apportioned(counts: Floats, rows: int) -> Integers:
    """Clusters in these proportions, rounded by largest remainders."""
    total = float(counts.sum())
    exact = counts / total * rows if total > 0 else np.full(len(counts), rows / len(counts))
    sizes = np.floor(exact).astype(np.int64)
    order = np.argsort(-(exact - sizes), kind="stable")
    sizes[order[: rows - int(sizes.sum())]] += 1
    return np.repeat(np.arange(len(counts)), sizes)


def _drawn(shares: Floats, owner: Integers, rng: np.random.Generator) -> Integers:
    """A level for each row, by the shares of its cluster."""
    cumulative = np.cumsum(shares, axis=1)
    cumulative /= cumulative[:, -1:]
    return np.asarray((rng.random(len(owner))[:, None] >= cumulative[owner]).sum(1))
