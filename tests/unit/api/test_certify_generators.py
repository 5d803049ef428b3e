"""Planted leaks of another generator: one training that goes too far in the place of a ladder of settings."""

from __future__ import annotations

import pytest

from hushtable.api.certify import Study
from hushtable.api.generator_curves import BOTH
from hushtable.audits import planted
from hushtable.audits.indicators import IdenticalMatches
from hushtable.display import silent
from hushtable.pipeline import recipe as recipes
from tests.unit.studies.plasencia_tables import small

SMALL = recipes.load("argn").set({"hidden": 16, "embedding": 4, "bins": 8, "parts": 2})


def study(generator) -> Study:
    return Study(small(180), {"identical-matches": IdenticalMatches()}, 60, 0, None, True, silent, generator=generator, named=True)


def test_what_is_trained_ever_further_is_known_by_its_last_step():
    assert planted.climbs("argn")
    assert planted.climbs(SMALL)
    assert not planted.climbs("sequential")


@pytest.mark.neural
def test_a_generator_that_climbs_ends_at_the_largest_ratio_and_is_trained_once_for_each_share_of_outliers(monkeypatch):
    trained = []
    overfit = planted.overfit

    def counted(train, *rest, **knobs):
        trained.append((train.rows, knobs["ratios"]))
        return overfit(train, *rest, **knobs)

    monkeypatch.setattr(planted, "overfit", counted)
    certificate = study(SMALL).run(("overfit", "outliers"))
    ratios = certificate.curves[0].lines[0].levels
    assert ratios[0] == 1.0
    assert max(ratios) < 3.0
    assert [curve.name for curve in certificate.curves[1:]] == ["at overfit 1", "at overfit 1.6"]
    # One training for the curve, and one for each of two shares that serves both ratios.
    assert [ratios for _, ratios in trained] == [(1.0, 2.0), BOTH, BOTH]
    assert trained[2][0] < trained[1][0] == 60


def test_a_ladder_ends_with_the_rung_that_memorizes_most(monkeypatch):
    asked = []

    def stop(train, fresh, rng, *, ratios, recipe):
        asked.append((ratios[-1], recipe))
        raise KeyboardInterrupt

    monkeypatch.setattr(planted, "overfit", stop)
    with pytest.raises(KeyboardInterrupt):
        study("sequential").run(("overfit",))
    assert asked == [(float("inf"), "sequential")]
