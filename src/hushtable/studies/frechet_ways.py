"""The data sets of the study of Frechet means, the ways to release them that it compares, and one result each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from hushtable.anonymize.published.frechet_noise import published_noise
from hushtable.api.release import release
from hushtable.numerics.ball_map import BallMap
from hushtable.pipeline.options import UNPUBLISHED
from hushtable.pipeline.release import Release
from hushtable.privacy.unit import Relation, Unit
from hushtable.table.arrays import Floats
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

K, BETA = 10, 0.5
CLASS = "class"


@dataclass(frozen=True, eq=False)
class Data:
    """A data set, with the epsilon that the publication picked for it."""

    name: str
    table: Table
    epsilon: float

    @property
    def features(self) -> Table:
        """Without the class."""
        return self.table.select([n for n in self.table.schema.names if n != CLASS])

    @property
    def truth(self) -> NDArray[np.int32]:
        """The class of each row."""
        return self.table[CLASS]

    @property
    def groups(self) -> int:
        """How many classes."""
        return len(self.table.schema[CLASS].levels)


def breast_cancer() -> Data:
    """569 x 30. There are no public bounds; those of the data, rounded outwards, are declared as if they were."""
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    ends = [_outwards(float(column.max())) for column in bunch.data.T]
    return Data("breast cancer", _table(bunch.data, bunch.target, ends), 0.04)


def digits() -> Data:
    """1,797 x 64, in place of MNIST; the pixels are 0 to 16 by definition."""
    from sklearn.datasets import load_digits

    bunch = load_digits()
    return Data("digits", _table(bunch.data, bunch.target, [16.0] * bunch.data.shape[1]), 0.03)


@cache
def load(name: str) -> Data:
    """The data set of this name."""
    return {"breast cancer": breast_cancer, "digits": digits}[name]()


def _table(values: Floats, target: NDArray[np.integer], ends: Sequence[float]) -> Table:
    names = [f"x{i}" for i in range(values.shape[1])]
    columns = [
        Column(name=n, kind=Kind.REAL, role=Role.QUASI, domain=Bounds(0.0, end), required=True)
        for n, end in zip(names, ends, strict=True)
    ]
    levels = Levels(tuple(str(level) for level in range(int(target.max()) + 1)))
    classes = Column(name=CLASS, kind=Kind.CATEGORY, role=Role.TARGET, domain=levels, required=True)
    arrays = {n: values[:, i].astype(np.float64) for i, n in enumerate(names)}
    return Table(Schema((*columns, classes)), arrays | {CLASS: target.astype(np.int32)})


def _outwards(value: float) -> float:
    """The next number with one digit."""
    unit = 10.0 ** math.floor(math.log10(value))
    return math.ceil(value / unit) * unit


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a method turns a table into: points of the ball, their classes where they have some, and what is proven."""

    points: Floats
    classes: NDArray[np.integer] | None
    proof: str


Method = Callable[[Data, np.random.Generator], Outcome]


def _outcome(data: Data, released: Release) -> Outcome:
    table = released.table
    points = BallMap(data.features.schema).points(table.select([n for n in table.schema.names if n != CLASS]))
    return Outcome(points, table[CLASS] if CLASS in table.schema else None, released.guarantee.headline())


def raw(data: Data, rng: np.random.Generator) -> Outcome:
    """The rows themselves."""
    return Outcome(BallMap(data.features.schema).points(data.features), data.truth, "none")


def k_anonymity(k: int = K) -> Method:
    """M-MDAV on the measures; classes stay with their rows."""

    def method(data: Data, rng: np.random.Generator) -> Outcome:
        return _outcome(data, release(data.table, "m-mdav", settings={"k": str(k)}, seed=_seed(rng), allow_copies=UNPUBLISHED))

    return method


def published_dp(epsilon: float) -> Method:
    """Laplace noise sized for the mean on every record."""

    def method(data: Data, rng: np.random.Generator) -> Outcome:
        points = BallMap(data.features.schema).points(data.features)
        return Outcome(published_noise(points, epsilon, rng), data.truth, f"epsilon {epsilon:g} claimed, not proven")

    return method


def certified_dp(epsilon: float, groups: int) -> Method:
    """Noisy sums of tangent vectors."""

    def method(data: Data, rng: np.random.Generator) -> Outcome:
        settings = {"clusters": str(groups)}
        return _outcome(data, release(data.features, "frechet", settings=settings, epsilon=epsilon, seed=_seed(rng)))

    return method


def published_hybrid(epsilon: float, k: int = K) -> Method:
    """Sample, microaggregate, Laplace; epsilon = beta epsilon0 is the publication's."""

    def method(data: Data, rng: np.random.Generator) -> Outcome:
        settings = {"beta": str(BETA), "k": str(k), "epsilon0": str(epsilon / BETA)}
        return _outcome(data, release(data.table, "beta-k-eps", settings=settings, seed=_seed(rng), allow_copies=UNPUBLISHED))

    return method


def certified_hybrid(epsilon: float) -> Method:
    """A sample in insensitive blocks. Without a seed: a seeded sample is no secret and amplifies nothing."""

    def method(data: Data, rng: np.random.Generator) -> Outcome:
        unit = Unit(relation=Relation.REPLACE_ONE)
        return _outcome(data, release(data.table, "beta-k-eps-certified", epsilon=epsilon, unit=unit))

    return method


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


RAW, K_ANONYMITY, DP, HYBRID = "raw", "k-anonymity", "DP as published", "hybrid as published"
CERTIFIED_DP, CERTIFIED_HYBRID = "DP certified", "hybrid certified"


def way(kind: str, *, epsilon: float = 1.0, k: int = K, groups: int = 1) -> Method:
    """The way of this kind, with those of its knobs that it has."""
    ways: dict[str, Callable[[], Method]] = {
        RAW: lambda: raw,
        K_ANONYMITY: lambda: k_anonymity(k),
        DP: lambda: published_dp(epsilon),
        HYBRID: lambda: published_hybrid(epsilon, k),
        CERTIFIED_DP: lambda: certified_dp(epsilon, groups),
        CERTIFIED_HYBRID: lambda: certified_hybrid(epsilon),
    }
    return ways[kind]()
