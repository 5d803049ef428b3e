"""The k-marginal score: a copy has all points, fresh rows tie with fresh rows, broken pairs do not, small groups are not judged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hushtable import people
from hushtable.api.compare.options import NAMES
from hushtable.checks import example
from hushtable.errors import InputError
from hushtable.evidence.case import Case
from hushtable.evidence.condition import Condition
from hushtable.evidence.verdict import Tone, verdict
from hushtable.measures.grid import cuts, on_public_grid
from hushtable.measures.kmarginal import KMarginal
from hushtable.measures.small_margins import some_margins
from hushtable.table.cell import Cell, Interval
from hushtable.table.columns import DAY, Bounds, Cells, Column, Kind
from tests.unit.measures.awkward import constant, findings_of, missing, plain, shuffled, sound

WHOLE, GROUP = ("k-marginal", ""), "k-marginal of a group"


def test_a_copy_has_all_points_and_exceeds_the_ceiling():
    train = example(300, 1)
    findings = findings_of(KMarginal(by="town", least=50), Case(train, train, example(300, 3)))
    assert {scope for name, scope in findings if name == GROUP} == {"", "town = north", "town = south", "town = west"}
    for finding in findings.values():
        assert finding.value == 1000 > finding.baseline
        assert verdict(finding).tone is Tone.CALM


def test_fresh_rows_tie_with_real_rows_and_broken_pairs_do_not():
    town = people(12_000, seed=5).select(["sex", "education", "weight_kg", "height_cm", "smoker", "systolic_bp"])
    worse = []
    for seed in range(8):
        order = np.random.default_rng(seed).permutation(town.rows)
        train, fresh, control = (town.take(part) for part in np.split(order[:5200], [2000, 4000]))
        finding = findings_of(KMarginal(), Case(train, fresh, control))[WHOLE]
        assert finding.value < finding.baseline
        worse.append(verdict(finding).tone is not Tone.CALM)
        # The margins of single columns are those of the training rows, and so closer than those of fresh rows.
        broken = findings_of(KMarginal(), Case(train, shuffled(train), control))[WHOLE]
        assert verdict(broken).tone is Tone.WATCH
        assert broken.value < finding.value - 20
    assert sum(worse) <= 1


def test_a_condition_is_judged_by_the_lower_bound_of_the_whole_table_and_not_of_its_groups():
    findings = list(findings_of(KMarginal(by="town"), plain()).values())
    whole = findings[0]
    for limit, holds in ((whole.low - 1, True), (whole.low + 1, False)):
        assert Condition.parse(f"k-marginal>={limit:.1f}").judge(findings).holds is holds
    assert Condition.parse("k_marginal_of_a_group>=1").judge(findings).holds
    with pytest.raises(InputError, match="bound it from below"):
        Condition.parse("k_marginal<=900", names=NAMES)


def test_the_worst_group_is_the_one_that_lies_furthest_below_its_own_ceiling():
    train, control, fresh = example(3000, 1), example(3000, 2), example(3000, 3)
    south = fresh["town"] == 1
    rows = np.flatnonzero(south)
    order = np.arange(3000)
    order[rows] = np.random.default_rng(0).permutation(rows)
    # Only in the south two columns are those of other people.
    broken = fresh.with_columns(*((fresh.schema[name], fresh[name][order]) for name in ("age", "pay")))
    findings = findings_of(KMarginal(by="town"), Case(train, broken, control))
    assert "the worst is town = south" in findings[GROUP, ""].note
    assert findings[GROUP, ""].value == findings[GROUP, "town = south"].value
    others = [f.value for (name, scope), f in findings.items() if name == GROUP and scope not in ("", "town = south")]
    assert findings[GROUP, ""].value < min(others) - 5


def test_small_groups_are_not_judged_and_a_group_that_is_gone_scores_nothing():
    train, release, control = example(600, 1), example(600, 2), example(600, 3)
    assert findings_of(KMarginal(by="town", least=500), Case(train, release, control))[GROUP, ""].value is None
    gone = release.with_column(release.schema["town"], np.where(release["town"] == 0, 1, release["town"]).astype(np.int32))
    findings = findings_of(KMarginal(by="town"), Case(train, gone, control))
    assert findings[GROUP, "town = north"].value == 0
    assert findings[GROUP, "town = north"].baseline > 500
    assert "town = north" in findings[GROUP, ""].note


def test_what_is_grouped_by_is_named_or_the_target_and_else_said_to_be_missing():
    case = plain()
    assert any(scope.startswith("pay ") for _, scope in findings_of(KMarginal(least=20), case))
    towns = Case(*(table.select(["town", "school", "born"]) for table in case.tables.values()))
    assert "no column has the role" in findings_of(KMarginal(), towns)[GROUP, ""].note
    assert (
        "two other columns"
        in findings_of(KMarginal(by="town"), Case(*(t.select(["town", "age"]) for t in case.tables.values())))[GROUP, ""].note
    )
    one = Case(*(table.select(["town"]) for table in case.tables.values()))
    assert "needs two columns" in findings_of(KMarginal(), one)[WHOLE].note
    with pytest.raises(InputError, match="nowhere"):
        findings_of(KMarginal(by="nowhere"), case)


@pytest.mark.parametrize("which", ["train", "release", "control"])
@pytest.mark.parametrize("spoil", [constant, missing])
@pytest.mark.parametrize("name", ["age", "town", "height", "born", "pay"])
def test_odd_columns_are_survived(which, spoil, name):
    tables = dict(zip(("train", "release", "control"), (example(150, i) for i in range(3)), strict=True))
    tables[which] = spoil(tables[which], name)
    findings = findings_of(KMarginal(least=20, by=name), Case(**tables))
    sound(findings)
    assert findings[WHOLE].value is not None


@pytest.mark.parametrize("knob", ["pairs", "triples", "bins", "least", "shown"])
def test_knobs_are_checked(knob):
    with pytest.raises(InputError, match=knob):
        KMarginal(**{knob: -1})


def test_the_grid_depends_on_what_is_declared_alone():
    one, other = (on_public_grid(Case(*(example(60, 3 * i + j) for j in range(3))), 8) for i in range(2))
    for name in ("age", "height", "born", "pay"):
        assert one.bins[name].edges.tolist() == other.bins[name].edges.tolist()
    assert [one.size(name) for name in one.bins] == [other.size(name) for name in other.bins]


def _column(low: float, high: float, kind: Kind = Kind.INTEGER, decimals: int | None = None) -> Column:
    return Column(name="x", kind=kind, domain=Bounds(low, high), decimals=decimals)


def test_cuts_serve_counts_ages_incomes_and_dates():
    def bins_of(column: Column, *values: float) -> list[int]:
        return (np.searchsorted(cuts(column, 20), values, side="right") - 1).tolist()

    assert bins_of(_column(0, 9), *range(10)) == list(range(10))
    assert bins_of(_column(1, 1), 1) == [0]
    ages = bins_of(_column(17, 90), *range(17, 91))
    assert max(np.bincount(np.minimum(ages, 19))) <= 5
    gain = cuts(_column(0, 99_999), 20)
    zero, one, low, middle, high = bins_of(_column(0, 99_999), 0, 1, 100, 5_000, 50_000)
    assert zero < one <= low < middle < high < len(gain) - 1
    # By equal factors far from zero: ten thousand and a hundred thousand do not share a bin with a thousand.
    assert len(set(bins_of(_column(0, 99_999), 1_000, 10_000, 99_998))) == 3
    loss = cuts(_column(-1e6, 1e6, Kind.REAL), 20)
    assert np.allclose(loss[loss < 0], -loss[loss > 1e-300][::-1])
    days = cuts(_column(0, 1000 * DAY, Kind.DATE), 20)
    assert np.allclose(np.diff(days), 50 * DAY)
    # The declared bounds are inside, whatever the rounding.
    for column in (_column(0, 99_999), _column(12_285, 1_484_705), _column(0.0, 0.5, Kind.REAL, 2), _column(-1e6, 1e6, Kind.REAL)):
        edges = cuts(column, 20)
        assert (np.diff(edges) > 0).all()
        assert edges[0] <= column.bounds.low + 1e-6 * abs(column.bounds.low)


def test_margins_are_drawn_by_a_seed_without_repeats():
    assert len(some_margins(6, 3, 20, 0)) == 20
    drawn = some_margins(40, 3, 100, 0)
    assert drawn == some_margins(40, 3, 100, 0) != some_margins(40, 3, 100, 1)
    assert len(set(drawn)) == 100
    assert all(a < b < c for a, b, c in drawn)
    assert some_margins(1, 2, 5, 0) == some_margins(2, 3, 5, 0) == []


def test_generalized_cells_are_read_as_values_drawn_from_them():
    train, control = example(400, 1), example(400, 3)
    age = train.schema["age"]
    cells = tuple(Cell(f"{low}-{low + 9}", Interval(low, low + 9)) for low in range(0, 100, 10))
    wide = example(400, 2)
    wide = wide.with_column(replace(age, domain=Cells(cells, age.domain)), (wide["age"] // 10).astype(np.int32))
    findings = findings_of(KMarginal(), Case(train, wide, control))
    sound(findings)
    assert findings[WHOLE].value > 500
