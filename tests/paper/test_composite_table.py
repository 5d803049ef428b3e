"""Table 5.1 of A. Galloni, Evaluating synthetic data generators in the context of differential privacy (dissertation, 2025).

A generic bivariate data set is turned by 90 and 180 degrees, moved by the sum of both means, and replaced by random numbers with
the same means, variances and covariance. G sees only the last of these, G+ all of them:

    turned by 90     mu 0     delta 0     nu 0.97    G 0      G+ 0.97
    turned by 180    mu 0     delta 0     nu 0.82    G 0      G+ 0.82
    moved            mu 0     delta 0     nu 0.94    G 0      G+ 0.94
    same moments     mu 0.11  delta 0.02  nu 0.27    G 0.13   G+ 0.40

Given in the text: linear regression with R2 for one of the two columns, phi_k, the total variation of histograms, weights of one,
turning about the origin, and Pearson's correlation, which the turn by 90 degrees changes by 1.8: it is 0.9. Not given are the data,
their number, the bins, and the distribution of the random numbers. Chosen here: 500 points on the line y = 3x + 12 with normal
noise, x between -1.25 and 3.75 and mostly near both ends (a beta distribution with both parameters 0.4); 20 bins of one width over
the range of both tables; normal random numbers. The range of x decides the second line, the intercept the first and the third; the
shape of x, far from normal, the last. The published numbers are of one draw, so means of ten draws are compared with them.

J. M. Mateo-Sanz, A. Martinez-Balleste, J. Domingo-Ferrer, Fast generation of accurate synthetic microdata, PSD 2004: the random
numbers are made uncorrelated by the Cholesky factor of their own covariance, then given that of the data.
"""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.measures.composite import Composite, CompositeOptions, Reference
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table

SCHEMA = Schema(tuple(Column(name=name, kind=Kind.REAL, domain=Bounds(-1000, 1000)) for name in ("x", "y")))
POINTS, DRAWS = 500, 10
CORRELATION = 0.9
TABLE = {"turned by 90": (0, 0, 0.97), "turned by 180": (0, 0, 0.82), "moved": (0, 0, 0.94), "same moments": (0.11, 0.02, 0.27)}


def table(points: np.ndarray) -> Table:
    return Table(SCHEMA, {"x": points[:, 0].copy(), "y": points[:, 1].copy()})


def line(rng: np.random.Generator) -> np.ndarray:
    x = 5 * rng.beta(0.4, 0.4, POINTS) - 1.25
    noise = 3 * x.std() * np.sqrt(1 / CORRELATION**2 - 1)
    return np.stack([x, 3 * x + 12 + rng.normal(0, noise, POINTS)], axis=1)


def same_moments(points: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    drawn = rng.normal(size=points.shape)
    drawn -= drawn.mean(axis=0)
    free = np.linalg.solve(np.linalg.cholesky(np.cov(drawn.T)), drawn.T)
    return (np.linalg.cholesky(np.cov(points.T)) @ free).T + points.mean(axis=0)


def transformed(points: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {
        "turned by 90": np.stack([-points[:, 1], points[:, 0]], axis=1),
        "turned by 180": -points,
        "moved": points + points.mean(axis=0).sum(),
        "same moments": same_moments(points, rng),
    }


@pytest.fixture(scope="module")
def scores() -> dict[str, list[Composite]]:
    results: dict[str, list[Composite]] = {name: [] for name in TABLE}
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        points = line(rng)
        reference = Reference.of(table(points), ["y"], CompositeOptions(models=("linear",), cut="equal", bins=20))
        for name, other in transformed(points, rng).items():
            results[name].append(reference.compare(table(other)))
    return results


def test_the_data_are_as_described():
    rng = np.random.default_rng(0)
    points = line(rng)
    result = transformed(points, rng)
    pearson = np.corrcoef(points.T)[0, 1]
    assert pearson == pytest.approx(CORRELATION, abs=0.02)
    assert pearson - np.corrcoef(result["turned by 90"].T)[0, 1] == pytest.approx(1.8, abs=0.04)
    assert np.cov(result["same moments"].T) == pytest.approx(np.cov(points.T))
    assert result["same moments"].mean(axis=0) == pytest.approx(points.mean(axis=0))


@pytest.mark.parametrize("name", list(TABLE)[:3])
def test_g_does_not_see_a_turned_or_moved_table(scores, name):
    """Nor does delta beyond the choice of the tested rows: the slope of one column by the other explains as much either way."""
    for one in scores[name]:
        assert one.g == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize("name", TABLE)
def test_the_printed_numbers(scores, name):
    mu, delta, nu = (float(np.mean([getattr(one, part) for one in scores[name]])) for part in ("mu", "delta", "nu"))
    assert (mu, delta, nu) == pytest.approx(TABLE[name], abs=0.03)
    assert mu + delta == pytest.approx(sum(TABLE[name][:2]), abs=0.03)
    assert mu + delta + nu == pytest.approx(sum(TABLE[name]), abs=0.03)


def test_bins_at_quantiles_cannot_give_them():
    """What lies beyond the real range counts to an outermost bin, which a twentieth of the real rows fill already."""
    points = line(np.random.default_rng(0))
    moved = Reference.of(table(points), ["y"], CompositeOptions(models=("linear",))).compare(table(points + 500))
    assert moved.nu == pytest.approx(0.95, abs=0.005)
