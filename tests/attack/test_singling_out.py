"""Singling out wins against a planted leak and ties on an independent sample, at any sizes; broken twins do not."""

from __future__ import annotations

import numpy as np
import pytest

import hushtable as ht
from hushtable.audits.singling_out import SinglingOut
from hushtable.data.people import people
from hushtable.evidence.case import Case
from hushtable.evidence.confidence import fisher, holm
from hushtable.evidence.finding import Finding
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table

N = 1500


@pytest.fixture(scope="module")
def population() -> Table:
    table = people(4 * N, seed=11)
    return table.select(table.schema.released)


def leaky(population: Table, share: float, *, train: int = N, control: int = N, seed: int = 0) -> Case:
    """A release of fresh real rows, a share of which are training rows verbatim."""
    order = np.random.default_rng(seed).permutation(population.rows)
    ours, others, fresh = order[:train], order[N : N + control], order[2 * N : 3 * N]
    leaked = round(share * N)
    return Case(*(population.take(rows) for rows in (ours, np.append(ours[:leaked], fresh[leaked:]), others)))


def findings(case: Case, seed: int = 0, **knobs: object) -> dict[str, Finding]:
    return {f.name.removeprefix("singling out by "): f for f in SinglingOut(**knobs).run(case, np.random.default_rng(seed))}


def test_a_few_copied_people_are_found_and_their_share_is_told(population):
    for seed in range(3):
        results = findings(leaky(population, 0.05, seed=seed), seed)
        assert min(holm([f.p for f in results.values()])) < 1e-6
        exact = results["12 exact values"]
        assert exact.low > 0
        assert exact.low <= 0.05 <= exact.high + 0.01


def test_half_a_table_copied_is_found_by_every_number_of_columns(population):
    results = findings(leaky(population, 0.5))
    assert len(results) == 9
    for finding in results.values():
        assert finding.p < 1e-3, finding.name
        assert finding.low > 0.1, finding.name


def test_risk_rises_with_the_leak(population):
    risks = np.array([[f.value for f in findings(leaky(population, share)).values()] for share in (0.0, 0.2, 0.5, 1.0)])
    assert (np.diff(risks, axis=0) > 0).all()


@pytest.mark.parametrize("sizes", [(N, N), (N, N // 5), (N // 5, N)])
def test_an_independent_sample_ties(population, sizes):
    results = findings(leaky(population, 0.0, train=sizes[0], control=sizes[1]))
    assert min(holm([f.p for f in results.values()])) > 0.05
    for finding in results.values():
        assert finding.low < 0.03
        assert finding.high > 0


def test_without_cutting_to_one_size_an_independent_sample_looks_leaky(population):
    """The broken twin of the case above: on tables of different sizes the same descriptions succeed at different rates."""
    few, many = (findings(leaky(population, 0.0, train=n, control=n))["8 columns"].detail for n in (N // 5, N))
    assert many["rate_low"] > 1.5 * few["rate_high"]


def test_alarms_are_as_rare_as_stated(population):
    runs, rows = 200, 120
    values, population = [], population.select(population.schema.names[:9])
    for seed in range(runs):
        order = np.random.default_rng(seed).permutation(population.rows)[: 3 * rows]
        case = Case(*(population.take(part) for part in np.split(order, 3)))
        values.append([f.p for f in findings(case, seed, columns=(3,), exact=(6,)).values()])
    assert (np.mean(np.array(values) <= 0.05, axis=0) < 0.1).all()  # 20 or more of 200 have probability 0.003 at 5 %
    assert np.mean([min(holm(row)) <= 0.05 for row in values]) < 0.1


def test_a_test_on_successes_would_cry_wolf():
    """Twenty descriptions of one odd person succeed or fail together; taken for independent they are a false alarm."""
    alarms, twins = 0, 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        pooled = (rng.permutation(80) == 0).astype(np.int32)
        names = [f"f{i}" for i in range(6)]
        schema = Schema(tuple(Column(name=n, kind=Kind.CATEGORY, domain=Levels(("no", "yes"))) for n in names))
        odd = (np.arange(40) == 0).astype(np.int32)
        train, release, control = (Table(schema, dict.fromkeys(names, flags)) for flags in (pooled[:40], odd, pooled[40:]))
        result = findings(Case(train, release, control), seed, columns=(3,))["3 columns"]
        assert result.n == result.detail["hits"] + result.detail["control_hits"] > 10
        alarms += result.p <= 0.05
        twins += fisher(result.detail["hits"], result.n, result.detail["control_hits"], result.n) <= 0.05
    assert alarms == 0
    assert twins > 5


def _groups(sizes: dict[str, int], spread: int = 0) -> Table:
    """So many equal people of each group."""
    levels = Levels(("a", "b", "c", "d"))
    codes = np.repeat([levels.index[g] for g in sizes], list(sizes.values())).astype(np.int32)
    column = Column(name="g", kind=Kind.CATEGORY, domain=levels)
    other = Column(name="x", kind=Kind.INTEGER, domain=Bounds(0, 9))
    return Table(Schema((column, other)), {"g": codes, "x": np.full(len(codes), spread)})


def test_fifty_equal_people_are_nobody_singled_out():
    train, control = _groups({"a": 50, "b": 50}), _groups({"b": 60, "c": 40})
    release = _groups({"a": 1, "b": 20})
    result = findings(Case(train, release, control))["one column"]
    assert result.detail["attempts"] == 1
    assert result.detail["hits"] == 0
    distinct = Case(_groups({"a": 1, "b": 1}), release, _groups({"b": 1, "c": 1}))
    assert findings(distinct)["one column"].detail["hits"] == 1, "the broken twin: rows reduced to distinct ones"


def test_the_denominator_is_what_was_tried_not_what_was_asked_for():
    train, control = _groups({"a": 1, "b": 1, "c": 1, "d": 20}), _groups({"d": 23})
    result = findings(Case(train, _groups({"a": 1, "b": 1, "c": 1, "d": 5}), control))["one column"]
    assert (result.detail["hits"], result.detail["attempts"]) == (3, 3)
    assert result.detail["rate"] > 0.5
    assert 3 / 500 < 0.01 < result.low, "the broken twin: three of five hundred asked for"


@pytest.mark.parametrize("recipe", ["mondrian", "k-anonymity"])
def test_a_generalized_release_can_be_attacked(population, recipe):
    case = leaky(population, 0.0)
    names = [c.name for c in population.schema if c.role == "quasi"][:5]
    train, control = case.train.select(names), case.control.select(names)
    release = ht.release(train, recipe, settings={"k": "5"}, seed=1).table
    results = findings(Case(train, release, control))
    for finding in results.values():
        assert finding.value is None or finding.p > 0.01
