"""Inference, attribution and learnt inference on small tables whose answers are known by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hushtable.audits.attribution import Attribution
from hushtable.audits.inference import Inference
from hushtable.audits.learned_inference import LearnedInference
from hushtable.checks import example
from hushtable.errors import InputError
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Finding
from hushtable.pipeline.recipe import load
from hushtable.pipeline.run import release
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

KEY = Column(name="key", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(tuple("abcd")))
AGE = Column(name="age", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(0, 100))
WARD = Column(name="ward", kind=Kind.CATEGORY, role=Role.SECRET, domain=Levels(("x", "y", "z")))


def table(rows: list[tuple[str, int, str]]) -> Table:
    keys, ages, wards = zip(*rows, strict=True)
    codes = {"key": ["abcd".index(k) for k in keys], "age": ages, "ward": ["xyz".find(w) if w else -1 for w in wards]}
    return Table(Schema((KEY, AGE, WARD)), {c.name: np.array(codes[c.name], c.dtype) for c in (KEY, AGE, WARD)})


RELEASE = table([("a", 50, "x"), ("a", 50, "x"), ("b", 50, "y"), ("b", 50, "z"), ("c", 20, "y")])
TRAIN = table([("a", 50, "x"), ("a", 50, "y"), ("a", 59, "x"), ("b", 50, "y"), ("c", 31, "y"), ("d", 20, "y")])
CONTROL = table([("a", 50, "z"), ("c", 20, "y"), ("b", 51, "z"), ("d", 99, "x")])


def run(audit, case: Case) -> dict[tuple[str, str], Finding]:
    return {(f.name, f.scope): f for f in audit.run(case, np.random.default_rng(0))}


def test_attribution_by_hand():
    findings = run(Attribution(), Case(TRAIN, RELEASE, CONTROL))
    assert set(findings) == {("TCAP", "ward"), ("GTCAP", "ward"), ("CAP", "ward")}
    exact, near, cap = findings[("TCAP", "ward")], findings[("GTCAP", "ward")], findings[("CAP", "ward")]
    # The rows of key a claim x, the one of key c claims y, those of key b contradict one another.
    assert exact.trace.train.tolist() == [True, False, False, False, False, False]
    assert exact.trace.released.tolist() == [0, 0, -1, -1, -1, -1]
    assert exact.trace.control.tolist() == [False, True, False, False]
    assert exact.detail["claiming_rows"] == 3
    assert (exact.detail["tcap"], exact.detail["control_tcap"]) == (0.5, pytest.approx(1 / 3))
    # Within ten years the third person is reached, the fifth (eleven years off) is not.
    assert near.trace.train.tolist() == [True, False, True, False, False, False]
    assert near.detail["gtcap"] == pytest.approx(2 / 3)
    # Shares of the matching rows: 1, 0, none, 1/2, none, none; the nearest in keys: x, y, -> those that share key or age.
    assert cap.value == pytest.approx(1.5 / 6)
    assert cap.detail["cap"] == pytest.approx(0.5)
    assert cap.detail["matched"] == pytest.approx(0.5)
    # Third: both rows of key a, right. Fifth: the row of key c, right. Sixth: the row of age 20, right.
    assert cap.detail["gcap"] == pytest.approx((1 + 0 + 1 + 0.5 + 1 + 1) / 6)


def test_a_lower_tau_lets_divided_rows_claim():
    result = run(Attribution(tau=0.5), Case(TRAIN, RELEASE, CONTROL))[("TCAP", "ward")]
    assert result.trace.released[3] == 2
    assert result.trace.train[3]


def test_blind_guessing_speaks_only_of_those_about_whom_something_is_claimed():
    result = run(Attribution(), Case(TRAIN, RELEASE, CONTROL))[("TCAP", "ward")]
    # Two of six people: the first has x (2 of 5 released rows), the second y (2 of 5).
    assert result.detail["naive"] == pytest.approx((0.4 + 0.4) / 6)


def test_inference_by_hand():
    findings = run(Inference(), Case(TRAIN, RELEASE, CONTROL))
    assert set(findings) == {("inference", name) for name in ("key", "age", "ward")}
    ward = findings[("inference", "ward")]
    assert ward.trace.released.tolist() == [0, 0, 0, 2, 4, 4]
    assert ward.trace.train.tolist() == [True, False, True, True, True, True]
    assert ward.trace.control.tolist() == [False, True, False, True]
    assert ward.detail["naive"] == pytest.approx(0.4)  # x and y are two of five released rows each
    assert ward.detail["best_constant"] == pytest.approx(4 / 6)
    assert "knows every column but ward" in ward.note
    assert "key, age" in ward.trace.describe(0, False)
    assert ward.trace.describe(0, True).endswith(": x")


def test_chosen_columns_are_tried_as_knowledge():
    case = Case(TRAIN, RELEASE, CONTROL)
    findings = run(Inference(known=("age",)), case)
    assert set(findings) == {("inference", s) for s in ("key", "age", "ward", "ward from age")}
    assert findings[("inference", "ward from age")].trace.released.tolist() == [0, 0, 0, 0, 4, 4]
    # For the key, its only quasi column besides is the age: the same knowledge is not tried twice.
    assert {s for _, s in run(Inference(secrets=("key",), known=("age", "ward")), case)} == {
        "key",
        "key from quasi columns",
        "key from ward",
    }
    assert ("TCAP", "ward from age") in run(Attribution(known=("age",)), case)


def test_quasi_columns_alone_are_tried_on_secrets_and_targets():
    case = Case(example(60, 0), example(50, 1), example(40, 2))
    scopes = {scope for _, scope in run(Inference(), case)}
    assert scopes == {*case.columns, "sick from quasi columns", "pay from quasi columns"}
    named = run(Attribution(), case)
    assert {name for name, scope in named if scope == "sick"} == {"TCAP", "GTCAP"}
    assert {name for name, scope in named if scope == "sick from quasi columns"} == {"TCAP", "GTCAP", "CAP"}


def _with_ward(table: Table, codes: list[int] | int) -> Table:
    return table.with_column(WARD, np.full(table.rows, codes, np.int32))


@pytest.mark.parametrize("code", [0, -1])
@pytest.mark.parametrize("audit", [Inference(), Attribution(), LearnedInference()])
def test_a_secret_that_all_people_share_is_told_and_not_scored(audit, code):
    findings = run(audit, Case(_with_ward(TRAIN, code), RELEASE, _with_ward(CONTROL, code)))
    collected = [f for (_, scope), f in findings.items() if scope == "ward"]
    assert [f.value for f in collected] == [None]
    assert "same value" in collected[0].note


@pytest.mark.parametrize("audit", [Inference(), Attribution(), LearnedInference()])
def test_a_single_column_is_told(audit):
    one = Case(*(t.select(["ward"]) for t in (TRAIN, RELEASE, CONTROL)))
    (result,) = run(audit, one).values()
    assert result.value is None
    assert "no other column" in result.note


def test_what_cannot_be_learnt_is_told():
    (few,) = run(LearnedInference(), Case(TRAIN, RELEASE, CONTROL)).values()
    assert few.value is None
    assert "only 5 released rows" in few.note
    many = RELEASE.take(np.zeros(40, np.int64))
    (alike,) = run(LearnedInference(), Case(TRAIN, many, CONTROL)).values()
    assert alike.value is None
    assert "nothing to learn" in alike.note


def test_a_number_that_is_mostly_zero_is_guessed_as_zero():
    rng = np.random.default_rng(0)
    gain = Column(name="gain", kind=Kind.INTEGER, role=Role.SECRET, domain=Bounds(0, 1000))

    def made(rows: int) -> Table:
        codes = rng.integers(0, 4, rows).astype(np.int32)
        gains = np.where(codes == 3, rng.integers(400, 410, rows), 0)
        return Table(Schema((KEY, gain)), {"key": codes, "gain": gains})

    findings = run(LearnedInference(), Case(made(300), made(300), made(200)))
    hits = findings[("learned inference", "gain")].trace
    assert hits.train.mean() > 0.99
    assert findings[("learned inference NRMSE", "gain")].value > 0.98
    assert findings[("learned inference NRMSE", "gain")].baseline > 0.98


def test_only_the_commonest_classes_are_learnt_and_a_missing_secret_is_no_hit():
    rng = np.random.default_rng(0)

    def made(rows: int) -> Table:
        codes = rng.integers(0, 4, rows).astype(np.int32)
        ward = np.where(codes == 3, rng.integers(0, 2, rows) * 3 - 1, np.minimum(codes, 2)).astype(np.int32)
        return Table(Schema((KEY, WARD)), {"key": codes, "ward": np.where(ward == 2, 2, ward).astype(np.int32)})

    case = Case(made(400), made(400), made(300))
    result = run(LearnedInference(classes=2), case)[("learned inference", "ward")]
    missing = case.train.missing("ward")
    assert missing.any()
    assert not result.trace.train[missing].any()
    counts = np.bincount(case.release["ward"][~case.release.missing("ward")], minlength=3)
    rare = int(counts.argmin())
    assert not result.trace.train[case.train["ward"] == rare].any()


def test_a_release_where_a_column_is_missing_altogether_is_learnt_from_the_others():
    case = Case(example(80, 0), example(80, 1), example(60, 2))
    town = replace(case.release.schema["town"])
    release = case.release.with_column(town, np.full(80, -1, np.int32))
    assert (
        run(LearnedInference(iterations=2), Case(case.train, release, case.control))[("learned inference", "sick")].value
        is not None
    )


BAD = (
    lambda: Inference(tolerance=-0.1),
    lambda: Inference(tolerance=1),
    lambda: Attribution(tau=0),
    lambda: Attribution(radius=1),
    lambda: LearnedInference(iterations=0),
    lambda: LearnedInference(classes=1),
    lambda: run(Inference(secrets=("shoe",)), Case(TRAIN, RELEASE, CONTROL)),
    lambda: run(Attribution(known=("shoe",)), Case(TRAIN, RELEASE, CONTROL)),
)


@pytest.mark.parametrize("bad", BAD)
def test_bad_knobs_are_refused(bad):
    with pytest.raises(InputError):
        bad()


def test_a_code_that_became_a_star_everywhere_teaches_nothing_and_stops_nothing():
    """Of more levels than a model takes for levels, and these read off the rows: as numbers all of them are unknown."""
    rng = np.random.default_rng(0)
    levels = Levels(tuple(f"c{i:03d}" for i in range(400)), observed=True)
    code = Column(name="code", kind=Kind.CATEGORY, role=Role.QUASI, domain=levels)
    codes = {"code": rng.integers(0, 400, 600), "key": rng.integers(0, 4, 600), "ward": rng.integers(0, 3, 600)}
    whole = Table(Schema((code, KEY, WARD)), {c.name: codes[c.name].astype(c.dtype) for c in (code, KEY, WARD)})
    train, control = whole.take(np.arange(300)), whole.take(np.arange(300, 600))
    made = release(train, load("k-anonymity").set({"levels": "code=1"}), seed=1)
    assert {cell.text for cell in made.table.schema["code"].domain.cells} == {"*"}
    (found,) = run(LearnedInference(), Case(train, made.table, control)).values()
    assert found.value is not None
