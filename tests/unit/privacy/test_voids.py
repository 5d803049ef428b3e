"""What takes a proof away, each by a run that does it: the release is refused, or says that nothing is proven.

Beside each stands the run that differs only in doing it right, and is proven.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import hushtable as ht
from hushtable.anonymize.microaggregate.microaggregate import Microaggregate
from hushtable.api.audit_report import AuditReport
from hushtable.encode.bins import Bins, Edges
from hushtable.errors import GuaranteeRefused, InputError, PlanError
from hushtable.pipeline.run import release
from hushtable.privacy.event import Gaussian, Raw, SampledGaussian, Zcdp
from hushtable.privacy.guarantee import Assurance, Guarantee, Void
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import default_delta
from hushtable.synthesize.marginal.independent import Margins
from tests.tables import observed
from tests.unit.privacy.cases import Says, people, recipe

STEPS = (Bins(), Margins())


def promised(released) -> tuple[Assurance, bool]:
    guarantee: Guarantee = released.guarantee
    return guarantee.assurance, math.isfinite(guarantee.epsilon())


NOTHING, PROOF = (Assurance.NONE, False), (Assurance.PROVEN, True)


def test_the_same_recipe_done_right_is_proven():
    for steps in (STEPS, (Bins(edges=Edges.TREE), Margins())):
        released = release(people(), recipe(*steps), epsilon=1.0)
        assert promised(released) == PROOF
        assert released.guarantee.epsilon() <= 1.0
        assert not released.guarantee.all_voids


@pytest.mark.parametrize("unproven", [False, True])
@pytest.mark.parametrize("steps", [STEPS, (Bins(edges=Edges.TREE), Margins())], ids=["uniform", "tree"])
def test_a_domain_read_off_the_rows_is_refused_by_name(steps, unproven):
    table = people()
    seen = replace(table, schema=observed(table.schema))
    with pytest.raises(GuaranteeRefused, match=r"read off the rows(.|\n)*age: observed: \[domain\]"):
        release(seen, recipe(*steps), epsilon=1.0, unproven=unproven)


def test_bin_edges_read_off_the_rows_are_refused_or_cost_everything():
    steps = (Bins(edges=Edges.QUANTILE, bins=8), Margins())
    with pytest.raises(GuaranteeRefused, match=r"bins.*quantiles off the rows"):
        release(people(), recipe(*steps), epsilon=1.0)
    released = release(people(), recipe(*steps), epsilon=1.0, unproven=True)
    assert promised(released) == NOTHING
    assert [e.step for e in released.guarantee.culprits] == ["bins"]


def test_the_number_of_released_rows_is_noisy():
    """Forty runs on two hundred rows: that no more than half hit two hundred fails for such noise once in 10^9 runs at most."""
    counts = [release(people(), recipe(*STEPS), epsilon=1.0).table.rows for _ in range(40)]
    assert sum(count == 200 for count in counts) <= 20
    assert len(set(counts)) > 5
    exact = [release(people(), recipe(Microaggregate(k=5))).table.rows for _ in range(2)]
    assert exact == [200, 200]  # an anonymized table shows its rows, and promises no differential privacy


def test_noise_from_a_seed_voids_the_proof():
    released = release(people(), recipe(*STEPS), epsilon=1.0, entropy=Entropy.seeded(1), unproven=True)
    assert promised(released) == NOTHING
    assert released.guarantee.all_voids == (Void.SEEDED_NOISE,)


def test_a_seed_of_the_run_leaves_the_noise_fresh():
    """The seed fixes everything but the noise, so two runs with one seed differ and stay proven."""
    runs = [release(people(), recipe(*STEPS), epsilon=1.0, seed=7) for _ in range(4)]
    assert [promised(released) for released in runs] == [PROOF] * 4
    assert len({released.table.rows for released in runs} | {released.table["age"].tobytes() for released in runs}) > 2


@pytest.mark.parametrize("happened", [Gaussian(9.0, 1.0), SampledGaussian(1.0, 0.01, 10)], ids=str)
def test_floating_point_noise_voids_the_proof(happened):
    released = release(people(), recipe(Says(opens=(happened,))), epsilon=5.0, unproven=True)
    assert promised(released) == NOTHING
    assert released.guarantee.all_voids == (Void.FLOAT_NOISE,)
    assert promised(release(people(), recipe(Says(opens=(Zcdp(0.01),))), epsilon=5.0)) == PROOF


@pytest.mark.parametrize(("tuned", "holds"), [("no", True), ("public", True), ("private", False)])
def test_knobs_tuned_on_the_private_rows_void_the_proof(tuned, holds):
    released = release(people(), recipe(*STEPS, tuned=tuned), epsilon=1.0, unproven=True)
    assert promised(released) == (PROOF if holds else NOTHING)
    assert (Void.TUNED_ON_PRIVATE in released.guarantee.all_voids) is not holds


@pytest.mark.parametrize(("delta", "small"), [(1 / 200, False), (0.1, False), (1 / 201, True), (0.0, True), (None, True)])
def test_a_large_delta_is_remarked_to_the_holder_alone(delta, small, tmp_path):
    """A refusal, or a word on the card, that came exactly at 1/delta rows would tell their number."""
    released = release(people(), recipe(*STEPS), epsilon=1.0, delta=delta)
    assert promised(released) == PROOF
    assert released.guarantee.delta == (default_delta() if delta is None else delta)
    assert bool(released.warnings) is not small
    folder = released.save(tmp_path / "release")
    assert "one over the number" not in "".join(path.read_text() for path in folder.iterdir())


def test_an_audit_is_not_saved_inside_a_release(tmp_path):
    folder = ht.save(release(people(), recipe(*STEPS), epsilon=1.0), tmp_path / "release")
    report = AuditReport(findings=[], rows={"train": 200})
    with pytest.raises(InputError, match="inside a release"):
        report.save(folder / "audit")
    assert not (folder / "audit").exists()
    assert (report.save(tmp_path / "audit") / "audit.json").is_file()


def test_a_plan_that_hides_a_raw_look_still_loses_the_proof():
    """What a step planned is not believed: the ledger holds what it did."""
    liar = Says(opens=(Raw("peeks"),), planned=(Zcdp(0.01),))
    released = release(people(), recipe(liar), epsilon=1.0, unproven=True)
    assert promised(released) == NOTHING
    assert "peeks" in released.guarantee.explain()


def test_a_private_step_needs_a_budget_and_a_raw_one_cannot_have_it():
    with pytest.raises(PlanError, match="needs a budget"):
        release(people(), recipe(*STEPS))
    with pytest.raises(GuaranteeRefused, match="epsilon would be infinite"):
        release(people(), recipe(Microaggregate(k=5)), epsilon=1.0)


def test_large_budgets_run():
    released = release(people(), recipe(*STEPS), epsilon=1000.0)
    assert released.guarantee.epsilon() <= 1000.0
    assert np.abs(released.table.rows - 200) < 20
