"""The composite scores: zero for a copy, what each part sees, and small examples by hand."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.errors import InputError
from hushtable.measures.composite import Composite, CompositeOptions, Reference, delta, mu, nu
from hushtable.measures.composite_models import MODELS, NUMBER_MODELS, SCORES, Performance, Task
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

SCHEMA = Schema(
    (
        Column(name="number", kind=Kind.REAL, domain=Bounds(-20, 20)),
        Column(name="other", kind=Kind.REAL, domain=Bounds(-20, 20)),
        Column(name="level", kind=Kind.CATEGORY, domain=Levels(("a", "b", "c"))),
        Column(name="ill", kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(("no", "yes"))),
    )
)


def small(rows: int = 300, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    ill = (rng.random(rows) < 0.4).astype(np.int32)
    level = np.where(rng.random(rows) < 0.8, 2 * ill, 1).astype(np.int32)
    level[:5] = -1
    number = rng.normal(2 * ill, 1.0)
    number[5:10] = np.nan
    return Table(
        SCHEMA,
        {"number": number, "other": rng.normal(size=rows) + number.mean(where=~np.isnan(number)), "level": level, "ill": ill},
    )


def performance(value: float) -> Performance:
    return Performance({(m, s): value for m in MODELS for s in SCORES})


def test_a_copy_scores_zero_and_a_shuffled_table_does_not():
    real = small()
    reference = Reference.of(real, options=CompositeOptions(splits=2))
    same = reference.compare(real)
    assert (same.mu, same.delta, same.nu, same.g, same.g_plus) == (0, 0, 0, 0, 0)
    rng = np.random.default_rng(1)
    alone = Table(SCHEMA, {name: rng.permutation(real[name]) for name in SCHEMA.names})
    comparison = reference.compare(alone)
    assert comparison.nu == 0  # every column has its distribution still
    assert comparison.mu > 0.05
    assert comparison.delta > 0.1
    assert comparison.g == comparison.mu + comparison.delta == comparison.g_plus
    assert comparison.own["ill"].mean("accuracy") < reference.performance["ill"].mean("accuracy") - 0.1


def test_moved_columns_are_seen_by_nu_alone():
    """A translation leaves correlations and scaled classifiers as they are: G says 0, G+ nearly 1."""
    real = small()
    moved = real.with_columns(*((SCHEMA[n], real[n] + 8) for n in ("number", "other")))
    comparison = Reference.of(real).compare(moved)
    assert comparison.mu == pytest.approx(0, abs=1e-6)
    assert comparison.delta == pytest.approx(0, abs=0.02)
    assert comparison.nu == pytest.approx(0.5 * 0.95, abs=0.02)  # two of four columns, each in the last of twenty bins


def test_free_text_does_not_count():
    real = small()
    text = Column(name="told", kind=Kind.TEXT)
    arrays = {**{name: real[name] for name in SCHEMA.names}, "told": np.arange(300, dtype=np.int32)}
    wide = Table(Schema((*SCHEMA.columns, text)), arrays, {"told": np.array([f"word {i}" for i in range(300)], dtype=object)})
    comparison = Reference.of(wide).compare(real)
    assert (comparison.mu, comparison.delta, comparison.nu) == (0, 0, 0)


def test_mu_by_hand():
    one = np.array([[1, 0.5, np.nan], [0.5, 1, 0.2], [np.nan, 0.2, 1]])
    other = np.array([[1, 0.1, 0.3], [0.1, 1, 0.2], [0.3, 0.2, 1]])
    assert mu(one, other) == pytest.approx(0.5 / 3)  # sqrt(0.4^2 + 0.3^2) over three pairs
    assert mu(one, other, "frobenius") == pytest.approx(0.5 * np.sqrt(2) / 3)
    assert mu(one, other, "spectral") == pytest.approx(0.5 / 3)  # both differences lie in one row
    assert mu(np.ones((1, 1)), np.ones((1, 1))) == 0
    two = np.array([[1, 0.9], [0.9, 1]])
    assert mu(two, np.eye(2)) == pytest.approx(0.9)


def test_delta_and_the_weights_by_hand():
    one, other = {"a": performance(0.9), "b": performance(0.5)}, {"a": performance(0.8), "b": performance(0.8)}
    assert delta(one, other) == pytest.approx(0.2)
    result = Composite(mu=0.1, delta=0.2, nu=0.4, alpha=2, beta=3, gamma=0.5, own=one, there=other)
    assert result.g == pytest.approx(0.8)
    assert result.g_plus == pytest.approx(1.0)
    assert result.to_json()["own"]["b"]["tree"]["F1"] == 0.5


def test_nu_by_hand():
    schema = SCHEMA.select(["level"])
    real = Table(schema, {"level": np.array([0, 0, 1, -1], dtype=np.int32)})
    table = Table(schema, {"level": np.array([0, 2, 1, 1], dtype=np.int32)})
    assert nu(table, real) == pytest.approx((0.25 + 0.25 + 0.25 + 0.25) / 2)


def test_nu_of_a_common_histogram_by_hand():
    """Equal bins over both ranges: 0 to 4 in four bins of width 1, where quantiles would put all beyond 1 into one bin."""
    schema = SCHEMA.select(["number"])
    real = Table(schema, {"number": np.array([0.0, 0.5, 1.0, np.nan])})
    table = Table(schema, {"number": np.array([0.5, 2.5, 4.0, 4.0])})
    assert nu(table, real, 4, "equal") == pytest.approx((0.25 + 0.25 + 0.25 + 0.5 + 0.25) / 2)
    assert nu(real, table, 4, "equal") == nu(table, real, 4, "equal")
    apart = Table(schema, {"number": np.array([9.0, 9.5, 9.7, 9.9])})
    assert nu(apart, real, 4, "equal") == 1
    flat = Table(schema, {"number": np.full(4, 2.0)})
    assert nu(flat, flat, 4, "equal") == 0


def test_numbers_are_predicted_too_and_their_scores_are_bounded():
    real = small()
    reference = Reference.of(real, ["number", "other", "ill"], CompositeOptions(splits=2))
    assert set(reference.performance["number"].values) == {(m, "R2") for m in NUMBER_MODELS}
    assert reference.performance["number"].mean() > 0.3
    assert reference.performance["other"].mean() < 0.1
    same = reference.compare(real)
    assert same.g_plus == 0
    rng = np.random.default_rng(1)
    alone = Table(SCHEMA, {name: rng.permutation(real[name]) for name in SCHEMA.names})
    comparison = reference.compare(alone)
    for performance_of in (*comparison.own.values(), *comparison.there.values()):
        assert all(0 <= value <= 1 for value in performance_of.values.values())
    # Of 3 models each: one score of each of two numbers, three of the classes.
    assert len([v for p in comparison.own.values() for v in p.values]) == 3 + 3 + 9
    assert (
        comparison.to_json()["own"]["number"]["linear regression"]["R2"]
        == comparison.own["number"].values["linear regression", "R2"]
    )


def test_r2_is_that_of_scikit_learn():
    from sklearn.metrics import r2_score

    rng = np.random.default_rng(0)
    task = Task.of(small(), "number")
    truth = rng.normal(size=50)
    reported = truth + rng.normal(0, 0.5, 50)
    assert task._judge(truth, reported) == pytest.approx((r2_score(truth, reported),))
    assert task._judge(truth, -10 * reported) == (0.0,)
    assert task._judge(np.ones(3), np.ones(3)) == (0.0,)


def test_few_rows_of_a_large_table_are_enough():
    real = small(2000)
    whole, part = (
        Reference.of(real, options=CompositeOptions(rows=rows, models=("linear",))).performance["ill"].mean()
        for rows in (None, 500)
    )
    assert whole != part
    assert part == pytest.approx(whole, abs=0.1)
    assert Reference.of(real, options=CompositeOptions(rows=5000, models=("linear",))).performance["ill"].mean() == whole


def test_scores_are_those_of_scikit_learn():
    from sklearn.metrics import accuracy_score, f1_score, recall_score

    rng = np.random.default_rng(0)
    task = Task.of(small(), "ill")
    assert task.positive == 1
    truth, reported = rng.integers(0, 2, (2, 50))
    theirs = accuracy_score(truth, reported), recall_score(truth, reported), f1_score(truth, reported)
    assert task._judge(truth, reported) == pytest.approx(theirs)
    many = Task.of(small(), "level")
    truth, reported = rng.integers(0, 3, (2, 50))
    theirs = (
        accuracy_score(truth, reported),
        recall_score(truth, reported, average="macro"),
        f1_score(truth, reported, average="macro"),
    )
    assert many._judge(truth, reported) == pytest.approx(theirs)
    assert task._judge(np.zeros(3, int), np.zeros(3, int)) == (1.0, 0.0, 0.0)


def test_a_class_that_is_lost_is_no_error():
    real = small()
    lost = real.with_columns((SCHEMA["ill"], np.zeros(real.rows, dtype=np.int32)))
    comparison = Reference.of(real).compare(lost)
    assert comparison.own["ill"].mean("accuracy") == 1
    assert comparison.own["ill"].mean("recall") == 0
    assert 0.5 < comparison.there["ill"].mean("accuracy") < 0.75
    assert comparison.delta > 0.3


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_tiny_tables(rows):
    comparison = Reference.of(small()).compare(small().take(np.arange(20, 20 + rows)))
    assert np.isfinite([comparison.mu, comparison.delta, comparison.nu]).all()


def test_bad_input():
    real = small()
    with pytest.raises(InputError, match="no column 'nobody'"):
        Reference.of(real, ["nobody"])
    with pytest.raises(InputError, match="role target"):
        Reference.of(real.select(["number", "level"]))
    with pytest.raises(InputError, match="expected one of pairs"):
        Reference.of(real, options=CompositeOptions(norm="L7"))
    with pytest.raises(InputError, match="expected one of quantiles, equal, got 'odd'"):
        Reference.of(real, options=CompositeOptions(cut="odd"))
    with pytest.raises(InputError, match="expected one of support vectors, linear, tree, got 'oracle'"):
        Reference.of(real, options=CompositeOptions(models=("tree", "oracle")))
    with pytest.raises(InputError, match="single value"):
        Reference.of(real.with_columns((SCHEMA["ill"], np.zeros(real.rows, dtype=np.int32))))
    with pytest.raises(InputError, match="no column of values other"):
        Reference.of(real).compare(real.select(["number", "level", "ill"]))
    with pytest.raises(InputError, match="no other column"):
        Reference.of(real.select(["ill"]))
