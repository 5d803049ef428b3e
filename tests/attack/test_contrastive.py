"""Every neural attack wins against a planted leak and ties on an independent sample."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="the neural attacks need torch")

from hushtable.audits.neural.contrastive import ContrastiveClosestRecord, ContrastiveInference, ContrastiveLinkability
from hushtable.audits.neural.domias import DomiasFlow
from hushtable.audits.neural.encoder import Training, nearest
from hushtable.audits.neural.outliers import ContrastiveSinglingOut, _bins, _Crowd
from hushtable.data.people import people
from hushtable.evidence.case import Case
from hushtable.evidence.confidence import fisher
from hushtable.table.table import Table

pytestmark = pytest.mark.neural
N = 500
SMALL = {"width": 48, "epochs": 12}
ATTACKS = {
    "singling out": ContrastiveSinglingOut(**SMALL, share=0.5),
    "linkability": ContrastiveLinkability(**SMALL, random=0),
    "inference": ContrastiveInference(**SMALL, iterations=10),
}


@pytest.fixture(scope="module")
def population() -> Table:
    table = people(4 * N, seed=5)
    return table.select(table.schema.released)


def planted(population: Table, share: float, controls: int = N - 50) -> Case:
    """A release of fresh real rows, a share of which are training rows verbatim."""
    train, fresh = (population.take(np.arange(i * N, (i + 1) * N)) for i in range(2))
    leaked = round(share * N)
    release = Table.concat([fresh.take(np.arange(N - leaked)), train.take(np.arange(leaked))])
    return Case(train, release, population.take(np.arange(2 * N, 2 * N + controls)))


@pytest.fixture(scope="module")
def leaky(population) -> Case:
    return planted(population, 0.4)


@pytest.fixture(scope="module")
def fresh(population) -> Case:
    return planted(population, 0.0)


@pytest.mark.parametrize("name", ATTACKS)
def test_a_planted_leak_is_found_and_sized(leaky, name):
    findings = ATTACKS[name].run(leaky, np.random.default_rng(0))
    assert all(finding.p < 0.01 and finding.value < 0.6 for finding in findings), [(f.scope, f.value, f.p) for f in findings]
    assert min(finding.p for finding in findings) < 1e-8
    if name != "inference":
        assert all(finding.low <= 0.41 and finding.high >= 0.3 for finding in findings)


@pytest.mark.parametrize("name", ATTACKS)
def test_an_independent_sample_ties(fresh, name):
    findings = ATTACKS[name].run(fresh, np.random.default_rng(0))
    assert all(finding.p > 0.01 and finding.low == 0 < finding.high for finding in findings), [
        (f.scope, f.low, f.p) for f in findings
    ]


def test_the_evidence_is_the_released_copy(leaky):
    """Linked people are found through the very row that publishes them."""
    for name in ("singling out", "linkability"):
        finding = ATTACKS[name].run(leaky, np.random.default_rng(0))[0]
        trace = finding.trace
        hit = trace.train & (trace.persons < round(0.4 * N))
        assert hit.sum() > 50
        assert (trace.released[hit] == trace.persons[hit] + N - round(0.4 * N)).mean() > 0.97


def test_the_closest_record_score_sees_a_leak_and_only_that(leaky, fresh):
    audit = ContrastiveClosestRecord(**SMALL, bootstrap=200)
    (result,), (tied,) = (audit.run(case, np.random.default_rng(0)) for case in (leaky, fresh))
    assert result.value == pytest.approx(0.4, abs=0.05)
    assert result.low > 0.3
    assert tied.low == 0 < tied.high < 0.1


def test_descriptions_chosen_by_the_training_rows_would_always_succeed(fresh):
    """The broken twin, which is the published form: what is kept because it singles out a training row cannot fail on it."""
    records = Training(**SMALL).encoder(fresh).records
    _, kind = np.unique(records.codes + _bins(records, 10), axis=0, return_inverse=True)
    kinds = {name: kind.ravel()[rows] for name, rows in records.rows.items()}
    crowd = _Crowd.among(kinds, {which: fresh.people(which) for which in ("train", "control")}, np.random.default_rng(0))
    own = kinds["train"][crowd.singled("train", kinds["train"])[0]]
    ours, others = (int(crowd.singled(which, own)[0].sum()) for which in ("train", "control"))
    assert fisher(ours, len(own), others, len(own)) < 1e-12


def test_masking_the_secret_on_both_sides_finds_the_copy(leaky):
    """A copy is at distance zero when the secret is masked in the released rows too, and seldom when it is not."""
    encoder = Training(**SMALL).encoder(leaky)
    rest, everything = list(range(1, len(leaky.columns))), list(range(len(leaky.columns)))
    queries, copies = encoder.points(rest)["train"][:200], np.arange(200) + N - 200
    both, one = (nearest(queries, encoder.points(known)["release"])[0] == copies for known in (rest, everything))
    assert both.mean() > 0.97
    assert one.mean() < both.mean()


def test_the_flow_sees_a_leak_and_only_that(population):
    audit = DomiasFlow(epochs=60, hidden=8, bends=1, batch=128, dimensions=6, rate=2e-2)
    cases = (planted(population, share, 2 * N) for share in (0.5, 0.0))
    (result, *_), (tied, *_) = ([f for f in audit.run(c, np.random.default_rng(0)) if "AUC" in f.name] for c in cases)
    assert result.name == tied.name == "membership AUC by flow ratio"
    assert result.low > 0.5
    assert result.p < 0.01
    assert tied.low < 0.5 < tied.high
    assert tied.p > 0.01


def test_no_alarm_more_often_than_stated(population):
    """Inference, the one with hits enough for its test to be sharp; the twin, half a leak, alarms almost every time."""
    audit, alarms = ContrastiveInference(width=8, epochs=2, iterations=3, secrets=("income", "smoker")), {0.0: 0, 0.5: 0}
    for seed in range(10):
        rows = population.take(np.random.default_rng(seed).permutation(population.rows))
        train, control, other = (rows.take(np.arange(i * 200, (i + 1) * 200)) for i in range(3))
        for share in alarms:
            leaked = round(share * 200)
            release = Table.concat([train.take(np.arange(leaked)), other.take(np.arange(200 - leaked))])
            findings = audit.run(Case(train, release, control), np.random.default_rng(seed))
            alarms[share] += sum(finding.p <= 0.05 for finding in findings)
    assert alarms[0.0] <= 4  # of 20, one expected; 5 or more has probability 0.003
    assert alarms[0.5] >= 15
