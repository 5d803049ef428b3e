"""Table 5.1 of A. Galloni, Evaluating synthetic data generators in the context of differential privacy (dissertation, 2025).

A generic bivariate data set is turned by 90 and 180 degrees, moved by the sum of both means, and replaced by random numbers with
the same means, variances and covariance. G sees only the last of these, G+ all of them. The published numbers are of one draw, so
means of ten draws are compared with them.
"""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.measures.composite import Composite, CompositeOptions, Reference
from hushtable.studies.composite_table import CORRELATION, PUBLISHED, line, scores, table, transformed


@pytest.fixture(scope="module")
def draws() -> dict[str, list[Composite]]:
    made = [scores(seed) for seed in range(10)]
    return {name: [one[name] for one in made] for name in PUBLISHED}


def test_the_data_are_as_described():
    rng = np.random.default_rng(0)
    points = line(rng)
    result = transformed(points, rng)
    pearson = np.corrcoef(points.T)[0, 1]
    assert pearson == pytest.approx(CORRELATION, abs=0.02)
    assert pearson - np.corrcoef(result["turned by 90"].T)[0, 1] == pytest.approx(1.8, abs=0.04)
    assert np.cov(result["same moments"].T) == pytest.approx(np.cov(points.T))
    assert result["same moments"].mean(axis=0) == pytest.approx(points.mean(axis=0))


@pytest.mark.parametrize("name", list(PUBLISHED)[:3])
def test_g_does_not_see_a_turned_or_moved_table(draws, name):
    """Nor does delta beyond the choice of the tested rows: the slope of one column by the other explains as much either way."""
    for one in draws[name]:
        assert one.g == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_printed_numbers(draws, name):
    for part, printed in PUBLISHED[name].items():
        assert float(np.mean([getattr(one, part) for one in draws[name]])) == pytest.approx(printed, abs=0.03)


def test_bins_at_quantiles_cannot_give_them():
    """What lies beyond the real range counts to an outermost bin, which a twentieth of the real rows fill already."""
    points = line(np.random.default_rng(0))
    moved = Reference.of(table(points), ["y"], CompositeOptions(models=("linear",))).compare(table(points + 500))
    assert moved.nu == pytest.approx(0.95, abs=0.005)
