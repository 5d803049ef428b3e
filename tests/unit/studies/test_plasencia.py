"""What the studies of Plasencia Palacios share: metrics read as the thesis has them, and words for what cannot be compared."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.api.certificate import Expect, curve
from hushtable.audits import planted
from hushtable.evidence import harness
from hushtable.evidence.case import Case
from hushtable.evidence.confidence import Rate
from hushtable.studies import plasencia, risk_curves
from hushtable.studies import plasencia_metrics as metrics
from hushtable.studies.attacks_published import SECONDS, TABLE_3_1, TABLE_3_3, TABLE_3_4
from hushtable.studies.report import Verdict
from hushtable.studies.risk_metrics_published import LEAKY, OVERFIT, PRIVATE, SYNTHPOP, TABLE_4_3
from tests.unit.studies.plasencia_tables import adult_only, small

__all__ = ["adult_only"]


def cut(rows: int = 120) -> tuple:
    table = small(3 * rows)
    return tuple(table.take(np.arange(i * rows, (i + 1) * rows)) for i in range(3))


def measured(share: float, names=metrics.RISKS, rows: int = 120) -> dict[str, Rate]:
    train, control, fresh = cut(rows)
    case = Case(train, planted.leaky(train, fresh, share, np.random.default_rng(1)), control)
    audits = metrics.risks("adult", train)
    found = harness.run(case, {name: audits[name] for name in names})
    return {one.name: Rate(one.value, one.low, one.high) for one in found}


def test_every_metric_knows_a_release_of_training_rows_from_one_of_other_people():
    none, whole = measured(0.0), measured(1.0)
    assert set(none) == set(whole) == set(metrics.RISKS)
    for name in metrics.RISKS:
        assert whole[name].value > none[name].value, name
        assert whole[name].low <= whole[name].value <= whole[name].high, name
    for name in (metrics.IMS, metrics.DCR):
        assert whole[name].value == pytest.approx(1.0)
    assert none[metrics.IMS].value == 0
    assert abs(none[metrics.DCR].value) < 0.15


def test_the_published_distance_has_its_least_value_where_nothing_is_close():
    train, control, _ = cut()
    far = train.with_columns(
        (train.schema["age"], np.full(train.rows, 99)), (train.schema["wage"], 9999 - np.arange(train.rows, dtype=np.int64) % 3)
    )
    (found,) = harness.run(Case(train, far, control), {"DCR": metrics.risks("adult", train)["DCR"]})
    assert found.value == pytest.approx(-0.02 / 0.98)
    assert found.low == pytest.approx(found.value)
    assert found.high > found.value


def test_the_published_distance_grows_with_the_release():
    train, control, fresh = cut()
    audit = {"DCR": metrics.risks("adult", train)["DCR"]}
    doubled = fresh.concat([fresh, fresh])
    one, two = (harness.run(Case(train, release, control), audit)[0].value for release in (fresh, doubled))
    assert (two + 0.02 / 0.98) == pytest.approx(2 * (one + 0.02 / 0.98))


def test_more_neighbours_dilute_a_leak_and_a_radius_means_nothing_where_all_are_levels():
    # Education gives income away, so that keys make claims at all.
    train, control, fresh = (one.with_column(one.schema["education"], one["income"]) for one in cut())
    case = Case(train, planted.leaky(train, fresh, 1.0, np.random.default_rng(1)), control)
    found = harness.run(case, metrics.sensitivity("adult", train))
    near = [one.value for one in found if one.name == metrics.NEAR]
    radii = [one.value for one in found if one.name == metrics.RADIUS]
    assert len(near) == len(metrics.NEIGHBOURS)
    assert max(near) < 0.9
    assert len(radii) == len(metrics.RADII)
    assert len(set(radii)) == 1


def test_a_metric_without_a_value_says_why():
    train, control, _ = cut()
    quiet = metrics.Metric(name="quiet", audit=metrics.singling_out(), read=metrics.named("nothing of this name"))
    (found,) = harness.run(Case(train, train.take(np.arange(60)), control), {"quiet": quiet})
    assert found.value is None
    assert found.note


def test_published_numbers_are_those_of_the_thesis():
    assert TABLE_3_1["Adult", "CTGAN"] == (0.12431, 0.08193, -0.00843, -0.01048)
    assert TABLE_3_1["Texas", "RTF"] == (0.03103, 0.04340, -0.01893, -0.01194)
    assert TABLE_3_1["Census", "DPCTGAN"][2] == -0.02040
    assert TABLE_3_3["RTF"] == (0.0005, 0.0018)
    assert TABLE_3_4["DPCTGAN"] == (0.0321, 0.0081)
    assert SECONDS["Adult"]["contrastive inference"] == 8642.81
    assert TABLE_4_3[OVERFIT, "Adult", "IMS"] == (0.0, 0.8684)
    assert TABLE_4_3[OVERFIT, "Census", "GTCAP"] == (0.0012, 0.8114)
    assert TABLE_4_3[LEAKY, "Texas", "linkability"] == (0.0116, 0.9934)
    assert TABLE_4_3[SYNTHPOP, "Texas", "ML inference"] == (0.6611, 0.4377)
    assert TABLE_4_3[PRIVATE, "Census", "DCR"] == (-0.0057, -0.0019)
    assert len(TABLE_4_3) == 4 * 3 * 8


def test_what_cannot_be_compared_says_why():
    assert plasencia.why_not("Adult") == ""
    assert "18" in plasencia.why_not("Texas")
    assert "1940" in plasencia.why_not("Census")
    assert "REaLTabFormer" in plasencia.why_not("Adult", "argn")
    assert plasencia.why_not("Adult", "ctgan", "few rows") == "few rows"
    assert plasencia.why_not("people") == plasencia.PEOPLE


def test_a_table_that_is_not_here_is_named_and_the_town_takes_the_place_of_all(adult_only, monkeypatch):
    here, skipped = plasencia.tables(None, 100)
    assert here == {"Adult": "adult"}
    assert any("texas_inpatient" in line for line in skipped)
    assert any("1940" in line for line in skipped)
    assert plasencia.loaded("adult", None, 100).rows == 100


def test_numbers_are_compared_by_their_intervals():
    low, high, wide = Rate(0.1, 0.05, 0.15), Rate(0.3, 0.2, 0.4), Rate(0.2, 0.1, 0.3)
    assert plasencia.above(high, low) is Verdict.CONFIRMED
    assert plasencia.above(low, high) is Verdict.CONTRADICTED
    assert plasencia.above(wide, low) is plasencia.above(None, low) is Verdict.UNDECIDED
    assert plasencia.number([low], data="d", method="m", measure="x").low == 0.05
    several = plasencia.number([low, high], data="d", method="m", measure="x")
    assert several.ours == pytest.approx(0.2)
    assert plasencia.mean([low]) == low
    assert plasencia.mean([]) is None


def record(value: float, spread: float = 0.01) -> dict:
    return {
        "audit": "a", "name": "metric", "scope": "", "value": value, "low": value - spread, "high": value + spread,
        "better": "lower", "baseline": 0.0,
    }  # fmt: skip


def test_curves_go_through_files_and_several_runs_are_one_curve():
    def run(shift: float) -> dict:
        points = [(float(x), [record(x / 2 + shift)]) for x in range(3)]
        return risk_curves.stored([curve("leaky", "leaky", "share", Expect.RISE, points)], {"odd": "why"})

    (alone,) = risk_curves.curves_of([run(0.0)]).values()
    line = risk_curves.line_of(alone, "metric")
    assert risk_curves.rising(line) is Verdict.CONFIRMED
    assert risk_curves.at(line, 2.1) == Rate(1.0, 0.99, 1.01)
    assert risk_curves.at(line, 100.0) is None
    together = risk_curves.line_of(risk_curves.curves_of([run(0.0), run(0.1)])["leaky"], "metric")
    assert together.values == pytest.approx([0.05, 0.55, 1.05])
    assert together.low[0] < 0.0 < together.high[0]
    figure = risk_curves.drawn("name", "title", "caption", {"metric": line}, along="share")
    assert str(figure.drawn).count("<circle") == 3


def test_what_ends_no_higher_does_not_rise():
    down = curve("m", "m", "x", Expect.RISE, [(float(x), [record(-x)]) for x in range(3)])
    flat = curve("m", "m", "x", Expect.RISE, [(float(x), [record(0.001 * x, 0.1)]) for x in range(3)])
    assert risk_curves.rising(down.lines[0]) is Verdict.CONTRADICTED
    assert risk_curves.rising(flat.lines[0]) is risk_curves.rising(None) is Verdict.UNDECIDED
