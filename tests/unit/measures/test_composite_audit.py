"""G and G+ as findings: parts that add up, weights, several targets, and releases that cannot be scored."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hushtable.errors import InputError
from hushtable.evidence.case import Case
from hushtable.measures.composite import CompositeOptions, Reference
from hushtable.measures.composite_audit import CompositeScore
from hushtable.table.columns import Column, Kind, Levels
from tests.unit.measures.awkward import constant, findings_of, missing, plain, shuffled, sound

QUICK = CompositeScore(models=("linear",), targets=("sick",))


def test_the_parts_add_up_and_the_baseline_is_that_of_control_rows():
    case = plain()
    findings = findings_of(replace(QUICK, alpha=2.0, beta=3.0, gamma=0.5), case)
    g, plus = findings["G", ""], findings["G+", ""]
    for finding, gamma in ((g, 0.0), (plus, 0.5)):
        for value, parts in ((finding.value, finding.detail), (finding.baseline, finding.detail["baseline"])):
            assert value == pytest.approx(2 * parts["mu"] + 3 * parts["delta"] + gamma * parts["nu"])
    assert "weighted 2 : 3 : 0.5" in plus.note
    assert set(g.detail["performance"]["sick"]) == {"train", "release"}
    seed = int(np.random.default_rng(0).integers(2**31))
    reference = Reference.of(case.train, ["sick"], CompositeOptions(seed=seed, models=("linear",), rows=10_000))
    result, fresh = reference.compare(case.release), reference.compare(case.control)
    assert (result.mu, result.delta, result.nu) == tuple(g.detail[part] for part in ("mu", "delta", "nu"))
    assert (fresh.mu, fresh.delta, fresh.nu) == tuple(g.detail["baseline"][part] for part in ("mu", "delta", "nu"))


def test_a_copy_scores_zero_and_a_shuffled_table_more_than_fresh_rows():
    case = plain()
    copy = case.train.take(np.arange(case.train.rows))
    assert [f.value for f in QUICK.run(Case(case.train, copy, case.control), np.random.default_rng(0))] == [0.0, 0.0]
    far = findings_of(replace(QUICK, targets=("school",)), Case(case.train, shuffled(case.train), case.control))
    assert far["G", ""].value > far["G", ""].baseline
    assert far["G+", ""].detail["nu"] == 0


def test_every_column_can_be_a_target():
    findings = findings_of(replace(QUICK, targets=("*",), models=("linear", "tree")), plain())
    assert set(findings["G", ""].detail["performance"]) == set(plain().columns)
    assert "models predict 7 columns" in findings["G", ""].note
    sound(findings)


def test_without_a_target_there_is_a_reason():
    case = plain()
    rest = [n for n in case.columns if n not in ("pay", "sick")]
    for finding in CompositeScore().run(Case(*(t.select(rest) for t in case.tables.values())), np.random.default_rng(0)):
        assert finding.value is None
        assert "no column has the role" in finding.note
    alone = Case(*(t.select(["sick"]) for t in case.tables.values()))
    assert "sick: there is no other column" in QUICK.run(alone, np.random.default_rng(0))[0].note
    flat = Case(constant(case.train, "sick"), case.release, case.control)
    assert "sick: has a single value" in QUICK.run(flat, np.random.default_rng(0))[0].note
    both = replace(QUICK, targets=("sick", "pay")).run(flat, np.random.default_rng(0))[0]
    assert both.value is not None
    assert "models predict pay; sick: has a single value" in both.note
    without = Case(case.train, case.release.select([n for n in case.columns if n != "sick"]), case.control)
    assert "sick: cannot be compared" in QUICK.run(without, np.random.default_rng(0))[0].note


@pytest.mark.parametrize("which", ["train", "release", "control"])
@pytest.mark.parametrize("spoil", [constant, missing])
def test_columns_that_say_nothing_are_no_obstacle(which, spoil):
    case = plain()
    tables = dict(case.tables)
    for name in ("age", "school", "pay"):
        tables[which] = spoil(tables[which], name)
    findings = findings_of(replace(QUICK, targets=("sick", "pay", "school"), cut="equal"), Case(*tables.values()))
    assert all(f.value is not None for f in findings.values())
    sound(findings)


def test_bad_knobs_are_told_together():
    with pytest.raises(InputError) as error:
        CompositeScore(alpha=-1, splits=0, norm="L7", models=(), cut="odd", bins=1)
    for knob in ("alpha", "splits", "norm", "models", "cut", "bins"):
        assert f"CompositeScore.{knob}" in str(error.value)
    with pytest.raises(InputError, match="no column 'nobody'"):
        CompositeScore(targets=("nobody",)).run(plain(), np.random.default_rng(0))


def test_columns_of_very_many_levels_are_named_and_left_out():
    case, most = plain(), 30_000
    codes = Column(name="zip", kind=Kind.CATEGORY, domain=Levels(tuple(f"t{i}" for i in range(most))))
    wide = {
        which: table.with_columns(
            *(
                (replace(codes, name=name), np.random.default_rng(seed).integers(0, most, table.rows, np.int32))
                for name in ("zip", "job")
            )
        )
        for seed, (which, table) in enumerate(case.tables.items())
    }
    findings = findings_of(QUICK, Case(*wide.values()))
    assert findings["G", ""].note.endswith("columns of more than 100 levels, which are not in mu: zip, job")
    assert findings["G", ""].detail["mu"] == findings_of(QUICK, case)["G", ""].detail["mu"]
    refused = findings_of(replace(QUICK, targets=("zip",)), Case(*wide.values()))["G", ""]
    assert refused.value is None
    assert "zip: has 397 levels" in refused.note
    assert "at most 100 can be predicted" in refused.note
