"""ClustMix as published (Madl et al. 2023): noisy averages of clusters of records.

The proof of its theorem 2 bounds what one record can change as if the clusters were fixed, while one record can re-form all of them
and change how many rows are released. The certified twin is the step ``clustmix-certified``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hushtable.errors import InputError
from hushtable.pipeline.step import Core, Plan, check_knobs
from hushtable.privacy.accountant import gdp_mu
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.guarantee import Claim
from hushtable.privacy.noise import Entropy, discrete_gaussian, gaussian_variance
from hushtable.privacy.preserve import Effect
from hushtable.privacy.vault import Vault
from hushtable.synthesize.histogram_cells import with_notes
from hushtable.synthesize.mixture.groups import SPARSE, few
from hushtable.synthesize.mixture.inducing import Descent, adapt
from hushtable.synthesize.published.clustmix_clusters import constrained_mixture, means, nearest_constrained
from hushtable.synthesize.published.clustmix_encoding import Draw, Encoding, Layout
from hushtable.synthesize.published.clustmix_model import ClustMixModel
from hushtable.synthesize.published.clustmix_scaling import Scaler, Scaling
from hushtable.synthesize.published.clustmix_slices import random_slices
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema

_WHY = "the clusters, their sizes and the scale of the noise are read off the rows unprotected"
GRID = 1 << 16
"""Noise is drawn in whole parts of the unit interval divided by this."""
SLICE, CLUSTERS = 4000, 64
"""About how many rows, and clusters, a slice has at most, where the number of slices is left open."""
BATCH = 256
"""Records in a step of descent."""
WIDEST, WIDE = 1e3, 0.25
"""Noise wider than ``WIDEST`` widths of a column is refused; for noise wider than ``WIDE`` the card carries a note."""

GAPS = (
    "a class of m records becomes floor(m / l) rows: with 2l records there are two rows, with one record fewer there is one, which "
    "distinguishes the two tables with certainty (delta = 1) whatever epsilon is",
    "one record can re-form the clusters: with l/2 records on each corner of a square the averages move by about 1 for every l, "
    "while the proof allows sqrt(2)/l, as if the clusters were fixed",
    "the slices are cut at values of records, and the points are moved by all records of a slice and its clusters formed anew: "
    "that one record reaches only one average of each class is stated, not proven",
    "the noise of an average is set by the exact size of its cluster, and classes with fewer than l records in a slice are left "
    "out: both depend on the records",
    "numbers are scaled by the least and greatest value, or the quantiles, of the records, and l and the other knobs "
    "were chosen by the accuracy on them",
    "delta = 1/n, as it was used, permits publishing a whole record picked at random",
)


@dataclass(frozen=True, kw_only=True)
class ClustMix(Core):
    """Noisy averages of at least l records (approximate, adapt, anonymize). Its differential privacy is a claim whose proof fails.

    In each random slice, each class becomes floor(m/l) clusters of at least l records by a size-constrained Gaussian mixture.
    Their centroids are moved so that a kernel machine trained on them predicts the slice's classes (kernel inducing points),
    the records are assigned anew to the moved points, each to one and at least l to each, and each cluster's average is
    released with Gaussian noise sigma = sqrt(C D)/(size mu), for C classes in D dimensions, mu being what (epsilon0, delta0)
    allows. Madl, Xu, Choudhury and Howard 2023, algorithm 2. One row can change every average and their number, so epsilon is
    infinite; ``clustmix-certified`` is the form that holds.
    """

    epsilon0: float = 1.0
    """The epsilon that the publication says the whole has."""
    delta0: float = 0.0
    """Its delta; 0 takes one over the number of rows, as was published."""
    sigma_max: tuple[float, ...] = (0.05, 0.1, 0.2)
    """The most noise an average may have, which sets l. Of several, the one whose averages train the best classifier is used.

    The classifier is tested on the records, as published; with one class the first for which there are records enough is used."""
    l: int = 0  # noqa: E741 - its name in the publication
    """The least number of records in a cluster, instead of ``sigma_max``; 0 computes it."""
    alpha: float = 0.5
    """1 keeps the centroids, 0 moves them wherever they teach a classifier best."""
    steps: int = 60
    """Steps of descent in moving the points."""
    depth: int = 3
    """Hidden layers of the network whose tangent kernel moves the points."""
    starts: int = 1
    """How often each clustering is started anew; the most likely one is used."""
    slices: int = 0
    """Into how many random slices the table is cut; 0: about 4,000 rows each, fewer where l is small, more where it is large."""
    scaling: Scaling = Scaling.RANGE
    """How numbers are scaled: by range or normal scores (of the rows, as published), or by their declared domain."""
    layout: Layout = Layout.ONEHOT
    """A category as one coordinate for each level, or all as one number (codes): fewer dimensions, so less noise."""
    draw: Draw = Draw.MODE
    """mode: the level, or missing, with the largest share in the noisy average; shares: drawn by the shares, noise and all."""
    target: str = ""
    """The class column; the first category with the role target when empty, and one class for all where there is none."""

    def __post_init__(self) -> None:
        """Every knob in range."""
        check_knobs(
            self,
            epsilon0=(1e-6 <= self.epsilon0 <= 1e6, "must lie between 1e-6 and 1e6"),
            delta0=(self.delta0 == 0 or 1e-15 <= self.delta0 < 1, "must lie between 1e-15 and 1, or be 0"),
            sigma_max=(
                bool(self.sigma_max) and all(1e-6 <= s <= 1e3 for s in self.sigma_max),
                "must be numbers between 1e-6 and 1e3",
            ),
            l=(self.l == 0 or self.l >= 2, "must be at least 2, or 0"),
            alpha=(0 <= self.alpha <= 1, "must lie in [0, 1]"),
            steps=(self.steps >= 0, "must not be negative"),
            depth=(1 <= self.depth <= 20, "must lie between 1 and 20"),
            starts=(self.starts >= 1, "must be at least 1"),
            slices=(self.slices >= 0, "must not be negative"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that have no place in the unit cube; states the publication's claim, and the gaps in its proof."""
        self._encoding(schema)
        delta = f"{self.delta0:g}" if self.delta0 else "1/n"
        return Plan(
            schema=schema,
            events=(Raw(_WHY),),
            effect=Effect.GENERATE,
            claims=(Claim(f"differential privacy with epsilon = {self.epsilon0:g} and delta = {delta}", GAPS),),
            caveats=("a row is an average of at least l records: there are far fewer rows than records, and rare values are gone",),
        )

    def fit(self, vault: Vault, rng: np.random.Generator) -> ClustMixModel:
        """Compute the averages for each noise that is allowed, and release those that train the best classifier."""
        table = vault.open(Raw(_WHY), _WHY)
        encoding = self._encoding(table.schema)
        places, labels = encoding.vectors(table)
        scaler = Scaler.of(encoding, places, self.scaling)
        points = scaler.apply(places)
        noise = Noise.of(self.epsilon0, self.delta0 or 1 / max(table.rows, 2), labels, encoding.dimension)
        sizes = list(dict.fromkeys(self.l or noise.least(sigma) for sigma in self.sigma_max))
        fitting = [least for least in sizes if least <= np.bincount(labels).max(initial=0)]
        if not fitting:
            reason = f"no class has as many as l = {min(sizes)} records; give l, or allow more noise with sigma_max or epsilon0"
            raise InputError(reason, where="clustmix.l")
        if noise.sigma(max(fitting)) > WIDEST:
            reason = f"the noise would be {noise.sigma(max(fitting)):.3g} times as wide as a column; raise epsilon0, delta0 or l"
            raise InputError(reason, where="clustmix.epsilon0")
        if noise.classes == 1:
            fitting = fitting[:1]
        candidates = []
        for number, least in enumerate(fitting, 1):
            candidates.append(self._averages(points, labels, least, noise, vault.entropy, rng))
            vault.report(number / (len(fitting) + 1))
        best = candidates[0]
        if len(candidates) > 1:
            best = candidates[int(np.argmax([_accuracy(averages, points, labels) for averages in candidates]))]
        return ClustMixModel(encoding, scaler.undo(best.vectors), best.labels, best.sizes, self.draw, best.summary)

    def _averages(
        self, points: Floats, labels: Integers, least: int, noise: Noise, entropy: Entropy, rng: np.random.Generator
    ) -> Averages:
        """The noisy averages for one least size."""
        vectors, owners, counts, exact = [], [], [], 0
        slices = self._slices(points, labels, least, noise.classes, rng)
        for rows in slices:
            parts = {c: rows[labels[rows] == c] for c in np.unique(labels[rows])}
            parts = {c: part for c, part in parts.items() if len(part) >= least}
            clusters = {
                c: constrained_mixture(points[part], len(part) // least, least, rng, self.starts) for c, part in parts.items()
            }
            exact += sum(of_class.mixture for of_class in clusters.values())
            centres = {c: means(points[parts[c]], k.labels, int(k.labels.max()) + 1) for c, k in clusters.items()}
            moved = self._moved(centres, points[rows], labels[rows], rng)
            for c, part in parts.items():
                member = nearest_constrained(points[part], moved[c], least)
                vectors.append(means(points[part], member, len(moved[c])))
                counts.append(np.bincount(member))
                owners.append(np.full(len(moved[c]), c))
        sizes = np.concatenate(counts)
        summary: dict[str, Any] = {
            "l": least,
            "least_cluster": int(sizes.min()),
            "largest_noise": round(noise.sigma(int(sizes.min())), 5),
            "claimed_epsilon": noise.epsilon,
            "claimed_delta": noise.delta,
            "dimensions": noise.dimension,
            "mixtures": len(sizes),
            "slices": len(slices),
            "records_left_out": int(len(points) - sizes.sum()),
            "clusterings_by_k_means": len(owners) - exact,
        }
        typical = noise.sigma(int(np.median(sizes)))
        if typical > WIDE:
            summary["note"] = (
                f"the noise of an average is about {typical:.2g} of the width of a column (a mean error of {0.8 * typical:.2g}): "
                "single values of the rows mean little"
            )
        if len(sizes) < SPARSE:
            summary = with_notes(summary, few(max(2, len(sizes)), round(float(sizes.mean()))))
        return Averages(noise.add(np.concatenate(vectors), sizes, entropy), np.concatenate(owners), sizes, summary)

    def _slices(
        self, points: Floats, labels: Integers, least: int, classes: int, rng: np.random.Generator
    ) -> list[NDArray[np.intp]]:
        """Random slices, large enough for two clusters of each class where their number is left open; one if none is of use."""
        rows = max(min(SLICE, CLUSTERS * least), 2 * least * classes)
        slices = random_slices(points, self.slices or max(1, len(points) // rows), least, rng)
        if any(np.bincount(labels[part]).max() >= least for part in slices):
            return slices
        return [np.arange(len(points))]

    def _moved(self, centres: dict[int, Floats], points: Floats, labels: Integers, rng: np.random.Generator) -> dict[int, Floats]:
        """The centroids of a slice, moved towards what a classifier of its records needs."""
        if len(centres) < 2 or self.alpha == 1:
            return centres
        start = np.concatenate(list(centres.values()))
        owner = np.repeat(list(centres), [len(c) for c in centres.values()])
        moved = adapt(start, owner, points, labels, Descent(self.alpha, self.steps, BATCH, self.depth), rng)
        return {c: moved[owner == c] for c in centres}

    def _encoding(self, schema: Schema) -> Encoding:
        return Encoding.of(schema, self.target, self.layout, "clustmix")


@dataclass(frozen=True, eq=False)
class Averages:
    """The noisy averages, in scaled places, for one least size of a cluster."""

    vectors: Floats
    labels: Integers
    sizes: Integers
    summary: dict[str, Any]


@dataclass(frozen=True)
class Noise:
    """The published noise: mu = sqrt(C D)/(size sigma) for C classes and D dimensions, its theorem 2."""

    epsilon: float
    delta: float
    classes: int
    dimension: int
    mu: float

    @classmethod
    def of(cls, epsilon: float, delta: float, labels: Integers, dimension: int) -> Self:
        """For the classes that occur; the least noise whose delta at this epsilon is not above the one claimed."""
        return cls(epsilon, delta, len(np.unique(labels)), dimension, gdp_mu(epsilon, delta))

    def sigma(self, size: int) -> float:
        """Of an average of so many records."""
        return math.sqrt(self.classes * self.dimension) / (size * self.mu)

    def least(self, sigma: float) -> int:
        """The least size of a cluster whose noise is not above this."""
        return max(2, math.ceil(math.sqrt(self.classes * self.dimension) / (sigma * self.mu) * (1 - 1e-12)))

    def add(self, averages: Floats, sizes: Integers, entropy: Entropy) -> Floats:
        """Each average with noise in every coordinate, by the size of its own cluster."""
        noisy = averages.copy()
        for size in np.unique(sizes):
            rows = sizes == size
            variance = gaussian_variance(self.sigma(int(size)) * GRID)
            drawn = discrete_gaussian(variance, int(rows.sum()) * self.dimension, entropy)
            noisy[rows] += drawn.reshape(-1, self.dimension) / GRID
        return noisy


def _accuracy(averages: Averages, points: Floats, labels: Integers) -> float:
    """The share of the records that boosted trees trained on the averages classify correctly."""
    if len(np.unique(averages.labels)) < 2:
        return float((labels == averages.labels[0]).mean())
    # Slow to import, and needed by this step alone.
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    leaf = max(2, min(20, len(averages.labels) // 10))
    with threadpool_limits(1, "openmp"):
        trees = HistGradientBoostingClassifier(max_iter=100, min_samples_leaf=leaf, early_stopping=False, random_state=0)
        return float((trees.fit(averages.vectors, averages.labels).predict(points) == labels).mean())
