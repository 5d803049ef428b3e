"""The sheet of people who hold several rows, against all nodes judged by counting persons one by one, and against releases."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pytest

import hushtable as ht
from hushtable.anonymize.lattice.demands import Demand
from hushtable.api.pareto import Sheet
from hushtable.engine.compute import Compute
from hushtable.engine.open import open_rows
from hushtable.errors import InputError, PlanError
from hushtable.table import io
from hushtable.table.columns import Bounds, Column, Kind, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.oracle.test_lattice import COLUMNS, NODES, QUASI, judged, loss_by_hand, people
from tests.persons import FIVE, UNEQUAL, held

KS, LIMITS = (2, 4), (0.0, 0.1, 0.4, 1.0)
DEMANDS = ((), ("ill:distinct:2",), ("ill:entropy:1.7", "pay:ordered:0.3"), ("ill:equal:0.25",))
WHO = Column(name="who", kind=Kind.INTEGER, role=Role.IDENTIFIER, domain=Bounds(0, 999))
GEOMETRIC = "geometric"


def visits(seed: int, rows: int = 70) -> Table:
    """Rows of about three to a person, who is seldom the same twice."""
    table = people(seed, rows)
    who = np.random.default_rng(seed).integers(0, rows // 3, rows)
    return Table(Schema((*COLUMNS, WHO)), {**table.arrays, "who": who})


def households() -> Table:
    """Four persons, of whom each holds four rows that are all alike: by rows there is no risk, by persons nothing but risk."""
    who = np.repeat(np.arange(4), 4)
    arrays = {"age": 4 * who, "town": who.astype(np.int32), "sex": np.zeros(16, np.int32), "ill": np.tile(np.arange(4), 4)}
    return Table(Schema((*COLUMNS, WHO)), {**arrays, "ill": arrays["ill"].astype(np.int32), "pay": who % 2, "who": who})


def faults(sheet: Sheet, table: Table, demands: tuple[str, ...]) -> Iterator[str]:
    """Where the sheet is not what trying every node finds, the persons of each class counted by hand."""
    asked, counted = tuple(map(Demand.parse, demands)), table.held_by("who")
    for line in sheet.lines:
        reach = {}
        for node in NODES:
            stay, gone = judged(counted, node, line.k, asked, star=False)
            if stay and len(gone) <= line.limit * table.rows:
                reach[node] = loss_by_hand(GEOMETRIC, counted, node, stay, gone, line.k), len(gone)
        if not reach:
            if line.value is not None:
                yield f"k = {line.k}, limit {line.limit}: no node keeps it"
            continue
        best, node = min(reach.values())[0], tuple(line.levels.get(name, -1) for name in QUASI)
        if line.value is None or not line.optimal or line.value != pytest.approx(best, rel=1e-9, abs=1e-12):
            yield f"k = {line.k}, limit {line.limit}: {line.value} is not the least loss {best}"
        elif node not in reach or reach[node] != pytest.approx((best, line.suppressed), rel=1e-9, abs=1e-12):
            yield f"k = {line.k}, limit {line.limit}: the levels do not lose {best}"


def sheet_of(table: Table, demands: tuple[str, ...], **more: object) -> Sheet:
    return ht.pareto(table, ks=KS, limits=LIMITS, settings={"demands": json.dumps(list(demands))}, **more)


@pytest.mark.parametrize("demands", DEMANDS)
@pytest.mark.parametrize("seed", range(4))
def test_a_sheet_counts_persons_as_trying_every_node_does(seed, demands):
    table = visits(seed)
    sheet = sheet_of(table, demands, person="who")
    assert list(faults(sheet, table, demands)) == []
    assert sheet.persons == len(np.unique(table["who"]))


def test_a_sheet_that_counts_rows_is_not_that_of_persons():
    table = households()
    by_persons, by_rows = sheet_of(table, (), person="who"), sheet_of(table, ())
    assert list(faults(by_persons, table, ())) == []
    assert list(faults(by_rows, table, ()))
    assert by_rows.lines[0].value == 0
    assert by_persons.lines[0].value > 0.1
    assert by_rows.persons is None


@pytest.mark.parametrize("rows", [1, 2, 7])
def test_so_many_rows_of_each_person_are_those_of_a_release(rows):
    table = held(UNEQUAL, alike=False, unknown=5)
    unit = ht.Unit(by="pid", rows=rows)
    sheet = ht.pareto(table, ks=(3,), limits=(0.1, 1.0), person="pid", rows_per_person=rows, seed=4)
    for line in sheet.lines:
        settings = {"k": "3", "limit": str(line.limit)}
        made = ht.release(table, "k-anonymity", settings=settings, unit=unit, seed=4, allow_copies="a test")
        result = made.result["generalize"]
        assert line.value == pytest.approx(result["search"]["value"], rel=1e-12)
        assert line.suppressed == result["suppressed_rows"]
        assert line.levels == {name: column["level"] for name, column in result["columns"].items()}
        same = ht.evaluate(table, line.levels, k=3, limit=line.limit, person="pid", rows_per_person=rows, seed=4).choice
        assert (same.loss, same.suppressed) == (pytest.approx(line.value, rel=1e-12), line.suppressed)
    assert sheet.rows == table.within("pid", rows)
    assert sheet.persons == len(set(table.strings("pid")) - {None})


def test_what_says_who_holds_a_row_is_generalized_for_nobody():
    table = held(FIVE)
    known = table.under(table.schema.with_columns(Column(name="tag", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(0, 999))))
    line = ht.pareto(known, ks=(2,), limits=(1.0,), person="tag").lines[0]
    assert set(line.levels) == {"age", "town"}
    assert line.to_json() == ht.pareto(table, ks=(2,), limits=(1.0,), person="pid").lines[0].to_json()
    assert set(ht.evaluate(known, {}, person="tag").choice.levels) == {"age", "town"}


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"person": "pidd"}, "did you mean 'pid'"),
        ({"rows_per_person": 2}, "name the key column"),
        ({"person": "pid", "rows_per_person": 0}, "at least 1 row"),
        ({"person": "town", "rows_per_person": 1}, "rows would be dropped"),
        ({"person": "pid", "ks": (121,)}, r"larger than the number of persons \(120\)"),
    ],
)
def test_persons_that_make_no_sense_are_refused(wrong, reason):
    with pytest.raises(InputError, match=reason):
        ht.pareto(held(FIVE), **wrong)


def test_on_disk_the_sheet_is_that_of_memory(tmp_path):
    table = held(UNEQUAL, alike=False, unknown=5)
    io.write(table, tmp_path / "rows.csv")
    rows = open_rows(tmp_path / "rows.csv", table.schema, compute=Compute(engine="duckdb"))
    assert not isinstance(rows, Table)
    for rows_per_person in (None, 1, 2):
        own, found = (
            ht.pareto(part, ks=(2, 3), limits=(0.1, 1.0), person="pid", rows_per_person=rows_per_person, seed=4)
            for part in (table, rows)
        )
        assert found.to_json() == own.to_json()
    levels = own.lines[0].levels
    assert ht.evaluate(rows, levels, person="pid").to_json() == ht.evaluate(table, levels, person="pid").to_json()


def test_rows_that_do_not_fit_into_memory_are_refused_with_the_way_out(tmp_path):
    table = held(UNEQUAL)
    io.write(table, tmp_path / "rows.csv")
    rows = open_rows(tmp_path / "rows.csv", table.schema, compute=Compute(engine="duckdb", memory=1 << 28))
    many = type(rows)(rows.schema, rows.at, rows.compute, known=10**8)
    for rows_per_person in (None, 2):
        with pytest.raises(PlanError, match="--rows-per-person 1 keeps one of each"):
            ht.pareto(many, person="pid", rows_per_person=rows_per_person)
