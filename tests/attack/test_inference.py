"""Linkability, inference, attribution and learnt inference win against planted leaks and tie on an independent sample."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

from hushtable.audits.attribution import Attribution
from hushtable.audits.inference import Inference
from hushtable.audits.learned_inference import LearnedInference
from hushtable.audits.linkability import Linkability
from hushtable.data.people import people
from hushtable.evidence.case import Case
from hushtable.evidence.confidence import fisher, holm
from hushtable.evidence.finding import Audit, Finding
from hushtable.table.cell import Interval
from hushtable.table.table import Table

N = 1000
COLUMNS = ("birth_date", "sex", "postcode", "education", "income", "height_cm", "household_size", "last_visit", "diagnosis")
AUDITS = {"linkability": Linkability(), "inference": Inference(), "attribution": Attribution()}
LEARNED = LearnedInference(secrets=("education", "income"), iterations=20)


@pytest.fixture(scope="module")
def population() -> Table:
    return people(12 * N, seed=7).select(COLUMNS)


def leaky(population: Table, share: float, *, control: int = N, release: int = N) -> Case:
    """A release of fresh real rows, with a share of the training rows verbatim among them."""
    train, rest, fresh = (population.take(np.arange(i * N, (i + 1) * N)) for i in (0, 1, 2))
    leaked = train.take(np.arange(round(share * N)))
    return Case(train, Table.concat([leaked, fresh.take(np.arange(release - leaked.rows))]), rest.take(np.arange(control)))


def run(audit: Audit, case: Case) -> list[Finding]:
    return audit.run(case, np.random.default_rng(0))


def least(findings: list[Finding]) -> float:
    """The least p-value, corrected for all of them."""
    return min(holm([f.p for f in findings if f.p is not None]))


@pytest.mark.parametrize("control", [N, N // 4])
@pytest.mark.parametrize("name", AUDITS)
def test_rows_published_verbatim_are_found(population, name, control):
    assert least(run(AUDITS[name], leaky(population, 0.1 if control == N else 0.2, control=control))) < 1e-4


@pytest.mark.parametrize("name", AUDITS)
def test_a_release_whose_columns_were_shuffled_gives_nothing_away(population, name):
    """The broken twin of the leak: the same values, nobody's rows."""
    case = leaky(population, 0.1)
    rng = np.random.default_rng(0)
    shuffled = [(c, case.release[c.name][rng.permutation(N)]) for c in case.release.schema]
    assert least(run(AUDITS[name], Case(case.train, case.release.with_columns(*shuffled), case.control))) > 0.01


def test_whoever_was_published_is_named_with_the_row_that_tells(population):
    case = leaky(population, 0.1)
    by_name = {(f.name, f.scope): f for audit in AUDITS.values() for f in run(audit, case)}
    published = np.arange(N // 10)
    for key in (("linkability", "halves, k=1"), ("inference", "income"), ("TCAP", "income")):
        trace = by_name[key].trace
        reported = trace.train[published] & (trace.released[published] == published)
        assert reported.mean() > 0.3, key
        assert trace.train[N // 10 :].mean() < 0.3, key


def test_the_rate_rises_with_the_leak(population):
    for audit, name, scope in (
        (Linkability(neighbours=(1,)), "linkability", "alternate, k=1"),
        (Inference(secrets=("income",)), "inference", "income"),
        (Attribution(secrets=("education",)), "TCAP", "education"),
        (Attribution(secrets=("education",)), "GTCAP", "education"),
    ):
        values = []
        for share in (0.0, 0.25, 0.5, 1.0):
            collected = [f for f in run(audit, leaky(population, share)) if (f.name, f.scope) == (name, scope)]
            values.append(collected[0].value)
        assert values[0] < 0.05, (name, values)
        assert all(a < b for a, b in pairwise(values)), (name, values)


def test_a_model_learnt_from_the_training_rows_knows_them_better(population):
    train, control = (population.take(np.arange(i * N, (i + 1) * N)) for i in (0, 1))
    findings = run(LEARNED, Case(train, train, control))
    assert [(f.name, f.scope) for f in findings] == [
        ("learned inference", "education"),
        ("learned inference", "income"),
        ("learned inference NRMSE", "income"),
    ]
    assert least(findings) < 1e-4
    assert findings[2].low > findings[2].baseline_bad


def _fresh(population: Table, seed: int, size: int) -> Case:
    rows = np.random.default_rng(seed).permutation(population.rows)
    cuts = rows[:size], rows[size : 2 * size], rows[2 * size : 3 * size]
    train, release, control = (population.take(cut) for cut in cuts)
    return Case(train, release, control.take(np.arange(size // 2)))


@pytest.mark.parametrize("name", AUDITS)
def test_an_independent_sample_raises_no_more_alarms_than_stated(population, name):
    alarms, ignorant = 0, 0
    for seed in range(20):
        findings = run(AUDITS[name], _fresh(population, seed, 240))
        alarms += least(findings) <= 0.05
        tested = [f.detail for f in findings if f.p is not None]
        ignorant += min(holm([fisher(d["hits"], d["attempts"], 0, d["control_attempts"]) for d in tested])) <= 0.05
    assert alarms <= 4  # 5 or more of 20 at 5 % has probability 0.003
    assert ignorant == 20  # the broken twin: without a control every release raises an alarm


def test_a_learnt_model_raises_no_more_alarms_than_stated(population):
    quick = LearnedInference(secrets=("education",), iterations=3)
    alarms = sum(least(run(quick, _fresh(population, seed, 300))) <= 0.05 for seed in range(12))
    assert alarms <= 3  # 4 or more of 12 at 5 % has probability 0.002


def _in_bands(table: Table) -> Table:
    """Heights in bands of ten centimetres, as an anonymized table tells them."""
    height = table.schema["height_cm"]
    bands = tuple(height.interval_cell(Interval(low, low + 10)) for low in range(0, 300, 10))
    codes = np.where(table.missing("height_cm"), -1, np.nan_to_num(table.floats("height_cm")) // 10).astype(np.int32)
    return table.with_column(height.generalize(bands), codes)


@pytest.mark.parametrize("name", AUDITS)
def test_an_anonymized_release_is_attacked_too(population, name):
    case = leaky(population, 0.3)
    assert least(run(AUDITS[name], Case(case.train, _in_bands(case.release), case.control))) < 1e-4
    clean = leaky(population, 0.0)
    assert least(run(AUDITS[name], Case(clean.train, _in_bands(clean.release), clean.control))) > 0.001


def test_filled_in_values_hide_nobody(population):
    """Targets with a missing number are found in a release that has none: missing is only different, not incomparable."""
    case = leaky(population, 1.0)
    height = case.train.schema["height_cm"]
    known = case.train.floats("height_cm")
    filled = np.where(np.isnan(known), np.nanmean(known), known)
    release = case.train.with_column(height, height.from_floats(filled))
    hidden = case.train.with_column(height, height.from_floats(np.where(np.arange(N) < 200, np.nan, known)))
    (findings,) = run(
        Linkability(neighbours=(1,), known=("birth_date+sex+postcode+height_cm",)), Case(hidden, release, case.control)
    )
    assert findings.trace.train[:200].mean() > 0.5 * findings.trace.train[200:].mean() > 0.1


def test_the_same_seed_gives_the_same_bits_and_nothing_saved_names_a_row(population):
    case = leaky(population, 0.1)
    again = leaky(population, 0.1)
    for audit in (*AUDITS.values(), LEARNED):
        one, two = (json.dumps([f.to_json() for f in run(audit, c)]) for c in (case, again))
        assert one == two
