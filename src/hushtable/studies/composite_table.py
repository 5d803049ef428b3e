"""The data of table 5.1 of Galloni 2025: points on a line, turned, moved, and replaced by others with the same moments.

Given in the text: linear regression with R2 for one of the two columns, phi_k, the total variation of histograms, weights of one,
turning about the origin, and Pearson's correlation, which the turn by 90 degrees changes by 1.8: it is 0.9. Not given are the data,
their number, the bins, and the distribution of the random numbers. Chosen here: 500 points on the line y = 3x + 12 with normal
noise, x between -1.25 and 3.75 and mostly near both ends (a beta distribution with both parameters 0.4); 20 bins of one width over
the range of both tables; normal random numbers. The range of x decides the second line, the intercept the first and the third; the
shape of x, far from normal, the last.

J. M. Mateo-Sanz, A. Martinez-Balleste, J. Domingo-Ferrer, Fast generation of accurate synthetic microdata, PSD 2004: the random
numbers are made uncorrelated by the Cholesky factor of their own covariance, then given that of the data.
"""

from __future__ import annotations

import numpy as np

from hushtable.measures.composite import Composite, CompositeOptions, Reference
from hushtable.table.arrays import Floats
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table

SCHEMA = Schema(tuple(Column(name=name, kind=Kind.REAL, domain=Bounds(-1000, 1000)) for name in ("x", "y")))
POINTS = 500
CORRELATION = 0.9
PUBLISHED = {
    "turned by 90": {"mu": 0.0, "delta": 0.0, "nu": 0.97, "g": 0.0, "g_plus": 0.97},
    "turned by 180": {"mu": 0.0, "delta": 0.0, "nu": 0.82, "g": 0.0, "g_plus": 0.82},
    "moved": {"mu": 0.0, "delta": 0.0, "nu": 0.94, "g": 0.0, "g_plus": 0.94},
    "same moments": {"mu": 0.11, "delta": 0.02, "nu": 0.27, "g": 0.13, "g_plus": 0.40},
}
"""As printed, of one draw."""


def scores(seed: int) -> dict[str, Composite]:
    """Of one draw of the points, by what became of them."""
    rng = np.random.default_rng(seed)
    points = line(rng)
    reference = Reference.of(table(points), ["y"], CompositeOptions(models=("linear",), cut="equal", bins=20))
    return {name: reference.compare(table(other)) for name, other in transformed(points, rng).items()}


def table(points: Floats) -> Table:
    """The points as a table."""
    return Table(SCHEMA, {"x": points[:, 0].copy(), "y": points[:, 1].copy()})


def line(rng: np.random.Generator) -> Floats:
    """A draw of the points."""
    x = 5 * rng.beta(0.4, 0.4, POINTS) - 1.25
    noise = 3 * x.std() * np.sqrt(1 / CORRELATION**2 - 1)
    return np.stack([x, 3 * x + 12 + rng.normal(0, noise, POINTS)], axis=1)


def same_moments(points: Floats, rng: np.random.Generator) -> Floats:
    """Random numbers with the means and covariances of the points."""
    drawn = rng.normal(size=points.shape)
    drawn -= drawn.mean(axis=0)
    free = np.linalg.solve(np.linalg.cholesky(np.cov(drawn.T)), drawn.T)
    return np.asarray((np.linalg.cholesky(np.cov(points.T)) @ free).T + points.mean(axis=0))


def transformed(points: Floats, rng: np.random.Generator) -> dict[str, Floats]:
    """What becomes of the points."""
    return {
        "turned by 90": np.stack([-points[:, 1], points[:, 0]], axis=1),
        "turned by 180": -points,
        "moved": points + points.mean(axis=0).sum(),
        "same moments": same_moments(points, rng),
    }
