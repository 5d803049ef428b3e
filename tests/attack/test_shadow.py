"""Shadow models, canaries and injected points: a generator that copies is caught, one that never saw the rows is not."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import hushtable as ht
from hushtable.audits import shadow
from hushtable.audits.canaries import Canaries, InjectedPoints
from hushtable.audits.shadow import ShadowInference, ShadowMembership
from hushtable.audits.shadow_tables import Shadowing
from hushtable.checks import example
from hushtable.data.people import people
from hushtable.errors import InputError
from hushtable.evidence.case import Case, Generator
from hushtable.evidence.finding import Audit, Finding
from hushtable.table.table import Table

POPULATION = people(1200, seed=5).select(
    ["birth_date", "sex", "postcode", "marital_status", "education", "income", "height_cm", "diagnosis", "smoker"]
)
TRAIN, CONTROL, OTHERS = (POPULATION.take(np.arange(a, b)) for a, b in ((0, 200), (200, 450), (450, 650)))


def copying(table: Table, seed: int) -> Table:
    """A bootstrap sample: whoever is drawn is published verbatim."""
    return table.take(np.random.default_rng(seed).integers(0, table.rows, table.rows))


def unseeing(table: Table, seed: int) -> Table:
    """A sample of other people, whatever the table."""
    return OTHERS.take(np.random.default_rng(seed).integers(0, OTHERS.rows, table.rows))


def margins(table: Table, seed: int) -> Table:
    """Each column as it is, but shuffled by itself."""
    rng = np.random.default_rng(seed)
    return Table(table.schema, {name: rng.permutation(table[name]) for name in table.schema.names})


def case(generator: Generator | None) -> Case:
    return Case(TRAIN, copying(TRAIN, 9) if generator is None else generator(TRAIN, 9), CONTROL, generator)


def run(audit: Audit, generator: Generator | None, seed: int = 0) -> list[Finding]:
    return audit.run(case(generator), np.random.default_rng(seed))


QUICK = {
    "membership": ShadowMembership(shadows=24),
    "inference": ShadowInference(shadows=12, targets=25, secret="diagnosis", queries=8),
    "secrets": Canaries(secret="diagnosis"),
    "numbers": Canaries(secret="income"),
    "points": InjectedPoints(),
}


@pytest.mark.parametrize("name", QUICK)
def test_a_generator_that_copies_is_caught(name):
    for finding in run(QUICK[name], copying):
        assert finding.low > finding.baseline
        if finding.p is not None:
            assert finding.p < 1e-3


@pytest.mark.parametrize("name", QUICK)
def test_a_generator_that_never_saw_the_rows_is_not_accused_more_often_than_stated(name):
    audit = QUICK[name]
    cheap = {"shadows": 8, "queries": 4, "targets": 8} if isinstance(audit, Shadowing) else {"trainings": 1}
    ps = [[f.p for f in run(replace(audit, **cheap), unseeing, seed) if f.p is not None] for seed in range(16)]
    # At the 10 % level, six or more of 16 has probability 0.003.
    assert (np.array(ps) <= 0.1).sum(axis=0).max() <= 5


def test_a_classifier_that_has_seen_the_answers_would_accuse_it(monkeypatch):
    """The broken twin: guesses about tables that the classifier was fitted to."""
    from sklearn.linear_model import LogisticRegression

    def seen(features: np.ndarray, inside: np.ndarray) -> np.ndarray:
        flat = features.reshape(inside.size, -1)
        return LogisticRegression(C=1e3, max_iter=10_000).fit(flat, inside.ravel()).decision_function(flat).reshape(inside.shape)

    monkeypatch.setattr(shadow, "_guesses", seen)
    assert run(replace(QUICK["membership"], targets=2), unseeing)[0].p < 1e-3


def test_exact_margins_give_members_away():
    """No row survives, but a rare value is in a column or it is not (Homer et al. 2008)."""
    result = run(ShadowMembership(shadows=32), margins)[0]
    assert result.p < 0.01
    assert run(InjectedPoints(), margins)[0].p > 0.01


def test_what_is_remembered_is_told_from_what_holds_for_everybody():
    secret = run(Canaries(secret="diagnosis"), copying)[0]
    chance = 1 / len(TRAIN.schema["diagnosis"].levels)
    assert secret.detail["chance"] == pytest.approx(chance)
    assert secret.value == pytest.approx(0.6, abs=0.15)  # a bootstrap sample holds 1 - 1/e of the rows
    assert secret.detail["everybody"] == pytest.approx(secret.detail["real"] - 0.6, abs=0.15)
    unknown = run(Canaries(secret="diagnosis"), unseeing)[0]
    assert unknown.detail["everybody"] > 0.9 * unknown.detail["real"] > 0.2
    assert "about people in general" in unknown.note


@pytest.mark.parametrize(("secret", "most"), [("sick", 1 / 2), ("town", 1 / 4), ("age", 0.11), ("pay", 0.101), ("height", 0.101)])
def test_chance_is_what_the_best_guess_would_get(secret, most):
    column, audit = example().schema[secret], Canaries(secret=secret)
    chance, reach = audit._chance(column), audit._reach(column)
    from hushtable.audits.canaries import _choices

    choices = _choices(column).astype(float)
    best = max(np.mean(np.abs(choices - guess) <= reach) for guess in np.linspace(choices.min(), choices.max(), 4001))
    assert best <= chance <= most + 1e-9


def test_the_same_bits_whatever_the_workers_and_after_an_interruption(tmp_path):
    audit = ShadowMembership(shadows=8, queries=4)

    def told(audit: Audit) -> str:
        return json.dumps([f.to_json() for f in run(audit, copying)])

    whole = told(audit)
    retained = replace(audit, folder=str(tmp_path / "kept"))
    assert told(replace(audit, workers=1)) == whole == told(replace(retained, workers=3))
    files = sorted((tmp_path / "kept").iterdir())
    assert len(files) == 8
    for path in files[2:5]:
        path.unlink()
    collected = []

    def counting(table: Table, seed: int) -> Table:
        collected.append(seed)
        return copying(table, seed)

    again = retained.run(case(copying), np.random.default_rng(0))
    resumed = retained.run(Case(TRAIN, copying(TRAIN, 9), CONTROL, counting), np.random.default_rng(0))
    assert json.dumps([f.to_json() for f in again]) == whole == json.dumps([f.to_json() for f in resumed])
    assert not collected
    assert set(json.loads(files[0].read_text())) == {"mark", "features"}
    assert run(retained, copying, seed=1)[0].value is None
    assert "other rows, settings or seeds" in run(retained, copying, seed=1)[0].note


def test_when_time_runs_out_what_is_there_is_told():
    short = replace(QUICK["membership"], seconds=1e-9)
    (finding,) = run(short, copying)
    assert finding.value is None
    assert "0 of 24 shadow tables" in finding.note


@pytest.mark.parametrize("audit", QUICK.values(), ids=QUICK)
def test_without_a_generator_or_with_one_that_refuses_there_is_a_reason(audit):
    def refusing(table: Table, seed: int) -> Table:
        if table is TRAIN:
            return OTHERS
        raise InputError("too few rows", where="step")

    for generator, reason in ((None, "not known"), (refusing, "too few rows")):
        (finding,) = run(audit, generator)
        assert finding.value is None
        assert reason in finding.note


def test_a_secret_that_cannot_be_guessed_is_refused_by_name():
    for audit in (Canaries(secret="nothing"), ShadowInference(secret="income")):
        with pytest.raises(InputError, match="could be guessed"):
            run(audit, copying)


def test_every_kind_of_column_and_few_rows(small):
    train, control = small.take(np.arange(40)), example(40, 1)
    for audit in (
        replace(QUICK["membership"], shadows=6),
        ShadowInference(shadows=6),
        Canaries(canaries=8),
        InjectedPoints(points=6),
    ):
        for rows in (train, train.take(np.arange(4))):
            findings = audit.run(Case(rows, copying(rows, 1), control, copying), np.random.default_rng(0))
            assert all(f.value is not None or f.note for f in findings)
            json.dumps([f.to_json() for f in findings])
    for column in small.schema.names[:-1]:
        findings = Canaries(canaries=8, trainings=1, secret=column).run(
            Case(train, copying(train, 1), control, copying), np.random.default_rng(0)
        )
        assert findings[0].value is not None


def test_knobs_out_of_range_are_named():
    for kind, knobs in (
        (ShadowMembership, {"shadows": 3}),
        (ShadowMembership, {"targets": 0}),
        (ShadowInference, {"workers": 0}),
        (Canaries, {"tolerance": 0.5}),
        (Canaries, {"trainings": 101}),
        (InjectedPoints, {"within": 1.0}),
    ):
        with pytest.raises(InputError, match=next(iter(knobs))):
            kind(**knobs)


@pytest.mark.slow
def test_sequential_trees_pass_canaries_and_points():
    def sequential(table: Table, seed: int) -> Table:
        return ht.release(table, "sequential", seed=seed).table

    for audit in (Canaries(secret="diagnosis", trainings=2), InjectedPoints(trainings=1)):
        for finding in run(audit, sequential):
            assert finding.value < 0.25
            assert finding.p > 1e-4
