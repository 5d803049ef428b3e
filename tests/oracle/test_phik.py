"""phi_k against the package of its authors (phik 0.12.5); ``benchmarks/make_phik_oracle.py`` made the numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import chi2_contingency

from hushtable.measures import phik as ours
from hushtable.table.columns import Column, Kind
from hushtable.table.io import read
from hushtable.table.schema import Schema

REFERENCE = json.loads((Path(__file__).parent / "data" / "phik.json").read_text())


@pytest.mark.parametrize("name", REFERENCE["tables"])
def test_tables_of_counts(name):
    reported = REFERENCE["tables"][name]
    counts = np.array(reported["counts"])
    assert ours.phik(counts) == pytest.approx(reported["phik"], abs=1e-4)
    assert ours.phik(counts.T) == pytest.approx(reported["phik"], abs=1e-4)


def test_columns_of_every_kind():
    names = list(REFERENCE["columns"])
    kinds = {n: Kind.REAL if n in REFERENCE["numbers"] else Kind.CATEGORY for n in names}
    schema = Schema(tuple(Column(name=n, kind=kinds[n]) for n in names))
    matrix = ours.phik_matrix(read(pd.DataFrame(REFERENCE["columns"]), schema))
    theirs = np.array(REFERENCE["matrix"])
    assert np.abs(matrix - theirs).max() < 1e-4
    # The reference holds weak and strong pairs, and some that are nothing but noise.
    pairs = theirs[np.triu_indices(len(names), 1)]
    assert pairs.min() == 0.0
    assert pairs.max() > 0.9
    assert ((pairs > 0.2) & (pairs < 0.7)).sum() > 5


@pytest.mark.parametrize("counts", [[[30, 10], [5, 55]], [[3, 0, 9], [4, 8, 1]], [[5, 5, 5], [5, 5, 5], [1, 2, 30]]])
def test_chi_square_as_scipy(counts):
    assert ours.chi_square(np.array(counts, float)) == pytest.approx(chi2_contingency(counts).statistic, rel=1e-12)


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (3, 5), (7, 8)])
@pytest.mark.parametrize("place", [ours.PANELS // 3, ours.PANELS - 6])
def test_the_normal_pair_as_its_cells_are_integrated_one_by_one(rows, columns, place):
    """The tabulated chi-square at an angle against the integral of the conditional distribution over every cell."""
    rho = float(np.sin(ours._ANGLES[place]))
    wide = np.sqrt(1 - rho**2)
    x, y = np.linspace(-5, 5, rows + 1), np.linspace(-5, 5, columns + 1)

    def mass(i: int, j: int) -> float:
        def inside(v: float) -> float:
            return np.exp(-v * v / 2) / np.sqrt(2 * np.pi) * (ndtr((y[j + 1] - rho * v) / wide) - ndtr((y[j] - rho * v) / wide))

        return quad(inside, x[i], x[i + 1], epsabs=1e-11)[0]

    free = np.outer(np.diff(ndtr(x)), np.diff(ndtr(y)))
    cells = np.array([[mass(i, j) for j in range(columns)] for i in range(rows)])
    one = np.diff(np.diff(ndtr(np.minimum.outer(x, y)), axis=0), axis=1)
    share = ((cells - free) ** 2 / free).sum() / ((one - free) ** 2 / free).sum()
    assert ours._roots(rows, columns)[place] == pytest.approx(np.sqrt(share), abs=1e-6)


def test_of_a_normal_pair_it_is_pearsons():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 20_000))
    for rho in (0.0, 0.4, 0.8):
        frame = pd.DataFrame({"x": x, "y": -(rho * x + np.sqrt(1 - rho**2) * noise)})
        schema = Schema(tuple(Column(name=n, kind=Kind.REAL) for n in frame))
        assert ours.phik_matrix(read(frame, schema))[0, 1] == pytest.approx(rho, abs=0.05)


def test_columns_with_fewer_than_two_values_have_none():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "same": [2.0] * 4, "none": [np.nan] * 4, "one": ["a"] * 4})
    schema = Schema(tuple(Column(name=n, kind=Kind.CATEGORY if n == "one" else Kind.REAL) for n in frame))
    matrix = ours.phik_matrix(read(frame, schema))
    assert np.isnan(matrix[np.triu_indices(4, 1)]).all()
    assert (np.diag(matrix) == 1).all()
