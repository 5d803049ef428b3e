"""What all models of counts say when the budget is too small, and that public numbers of rows are kept."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.checks import example
from hushtable.errors import PlanError
from hushtable.pipeline.recipe import load
from hushtable.pipeline.run import release
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Exponential
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula.hybrid import HybridCopula
from hushtable.synthesize.histogram_cells import CELLS, require_counted, spread, usable_total, with_notes
from hushtable.synthesize.marginal.field_groups import FieldGroups
from hushtable.synthesize.marginal.independent import Margins
from hushtable.synthesize.marginal.mst import Mst
from hushtable.synthesize.mixture.clustmix_certified import ClustMixCertified
from hushtable.synthesize.mixture.dpmix import DPMix
from hushtable.synthesize.network.privbayes import PrivBayes
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

COUNTED = ("independent", "aim", "mst", "mwem", "field-groups", "privbayes", "thresholded", "vine-certified", "dp-merf")


def levels(sizes: dict[str, int], target: str = "", rows: int = 400) -> Table:
    rng = np.random.default_rng(0)
    columns = (
        Column(
            name=name,
            kind=Kind.CATEGORY,
            domain=Levels(tuple(map(str, range(size)))),
            required=True,
            role=Role.TARGET if name == target else Role.PLAIN,
        )
        for name, size in sizes.items()
    )
    return Table(Schema(tuple(columns)), {name: rng.integers(0, size, rows).astype(np.int32) for name, size in sizes.items()})


def fitted(step, table, relation=Relation.REPLACE_ONE):
    budget, unit = Budget(1.0, 1e-6), Unit(relation=relation)
    vault = Vault.of(table, unit=unit, entropy=Entropy.seeded(1), budget=budget).named("step", Allowance.of(budget, unit))
    return step.fit(vault, np.random.default_rng(0)), vault


@pytest.mark.parametrize("step", [Margins(), Mst(), FieldGroups(cells=500), PrivBayes(further=0)], ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("relation", Relation)
def test_the_looks_are_the_planned_ones(step, relation):
    _, vault = fitted(step, levels({"a": 3, "b": 4, "c": 2}), relation)
    planned, taken = step.plan(vault.schema, vault.allowance).events, [entry.event for entry in vault.ledger.entries]
    assert sorted(type(event).__name__ for event in planned) == sorted(type(event).__name__ for event in taken)
    # A choice is priced a little below what was planned: its epsilon is rounded.
    noisy = [sorted(str(e) for e in events if not isinstance(e, Exponential)) for events in (planned, taken)]
    assert noisy[0] == noisy[1]


@pytest.mark.parametrize("step", [FieldGroups(), PrivBayes()], ids=lambda s: type(s).__name__)
def test_a_target_of_many_cells_is_named(step):
    caveats = [step.plan(levels({"a": 3, "b": size, "c": 2}, "b").schema, None).caveats for size in (10, 11)]
    assert [any("the target b has more than 10 cells" in caveat for caveat in result) for result in caveats] == [False, True]


def test_one_column_has_no_pairs_and_no_parts():
    one = levels({"a": 2}).schema
    assert Mst().plan(one, None).caveats == ()
    with pytest.raises(PlanError, match="needs two columns"):
        HybridCopula().plan(one, None)
    with pytest.raises(PlanError, match="the recipe dpcopula-kendall"):
        HybridCopula().plan(levels({"a": 12, "b": 12}).schema, None)


def test_mixtures_tell_how_many_rows_they_make_and_that_classes_are_many():
    table = levels({"a": 3, "b": 21}, "b")
    model, _ = fitted(DPMix(least=50), table)
    assert "only 8 rows: each is the average of about 50 records; use it as a baseline" in model.result()["note"]
    assert "b has 21 classes" in fitted(ClustMixCertified(), table)[0].result()["note"]
    few = levels({"a": 3, "b": 20}, "b")
    assert "classes" not in fitted(ClustMixCertified(), few)[0].result().get("note", "")


@pytest.mark.parametrize("name", COUNTED)
def test_a_number_of_rows_that_is_noise_ends_in_a_release_all_the_same(name):
    settings = {"thresholded.columns": "sick,town"} if name == "thresholded" else {}
    released = release(example(300), load(name).set(settings), epsilon=1e-9, delta=1e-6, entropy=Entropy.seeded(1), unproven=True)
    assert released.table.rows == 1000
    assert any("note" in summary for summary in released.result.values())


@pytest.mark.parametrize("name", ["independent", "aim", "mst", "mwem", "field-groups", "privbayes"])
def test_public_rows_are_kept_and_planned(name):
    unit = Unit(relation=Relation.REPLACE_ONE)
    assert release(example(300), load(name), epsilon=1.0, unit=unit).table.rows == 300


def test_independent_margins_say_when_they_drown():
    small = release(example(300), load("independent"), epsilon=0.1)
    assert "of the rows in wrong cells" in small.result["margins"]["note"]
    assert "note" not in release(example(3000), load("independent"), epsilon=50.0).result["margins"]


def test_noise_beside_a_large_total_or_of_few_rows_passes():
    assert usable_total(10_000, 2_000) == 10_000
    assert usable_total(2, 500) == 2
    assert usable_total(5_000, 2_000) == 1_000


def test_columns_of_too_many_cells_together_are_refused_by_name():
    columns = [Column(name=n, kind=Kind.INTEGER, domain=Bounds(0, size)) for n, size in (("a", 9), ("b", CELLS // 2), ("c", CELLS))]
    require_counted(Schema(tuple(columns[:2])), "step")
    with pytest.raises(PlanError, match="step: b, c must be cut into bins"):
        require_counted(Schema(tuple(columns)), "step")


def test_notes_are_joined_and_cells_are_spread_evenly():
    assert with_notes({"a": 1}) == {"a": 1}
    assert with_notes({"note": "one"}, "", "two") == {"note": "one; two"}
    assert np.bincount(spread(np.array([1.0, 0.0, 3.0]), 8, np.random.default_rng(0))).tolist() == [2, 0, 6]
