"""The study of mixtures: a row for every method, published numbers beside ours, and what is refused said."""

from __future__ import annotations

import math

import numpy as np

from hushtable.bench import clustmix_study as study
from hushtable.bench.datasets import schema_of
from hushtable.errors import PlanError
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

SCHEMA = Schema(
    (
        Column(name="number", kind=Kind.REAL, domain=Bounds(0, 10), required=True),
        Column(name="level", kind=Kind.CATEGORY, domain=Levels(("a", "b", "c")), required=True),
        Column(name="ill", kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(("no", "yes")), required=True),
    )
)


def small(rows: int = 1000) -> Table:
    rng = np.random.default_rng(0)
    ill = (rng.random(rows) < 0.4).astype(np.int32)
    level = np.where(rng.random(rows) < 0.8, 2 * ill, 1).astype(np.int32)
    return Table(SCHEMA, {"number": np.clip(rng.normal(4 + 2 * ill, 1.5), 0, 10), "level": level, "ill": ill})


def test_every_method_has_its_row_and_the_published_number_beside_it(monkeypatch):
    monkeypatch.setattr(study, "load", lambda name, folder: small())
    monkeypatch.setattr(study, "CERTIFIED", ("independent",))
    told: list[str] = []
    rows = study.run(None, lambda what, done: told.append(what), quick=True)
    assert [row.method for row in rows] == [
        "real rows",
        "clustmix, vectors",
        "clustmix, vectors, codes",
        "clustmix, rows",
        "independent",
    ]
    assert len(told) == len(rows)
    by_method = {row.method: row for row in rows}
    assert by_method["real rows"].auc > 0.85
    assert by_method["clustmix, vectors"].auc > 0.7
    assert abs(by_method["independent"].auc - 0.5) < 0.2  # it keeps no dependence at all
    assert by_method["independent"].proven.startswith("epsilon 0.9")
    assert by_method["clustmix, rows"].proven == "nothing (claimed)"
    assert by_method["clustmix, vectors, codes"].published == 0.863
    page = study.text(rows)
    assert "0.863" in page
    assert len(page.splitlines()) == 1 + len(rows) + 5


def test_a_method_that_refuses_says_why(monkeypatch):
    def refuse(*_):
        raise PlanError("no bounds")

    monkeypatch.setattr(study, "_released", refuse)
    monkeypatch.setattr(study, "_vectors", refuse)
    rows = list(study._study("adult", small(), small(), 1))
    assert rows[0].auc > 0.85
    assert all(math.isnan(row.auc) and "no bounds" in row.proven for row in rows[1:])


def test_open_bounds_of_credit_card_default_become_round_ones():
    schema = schema_of("credit_card_default")
    observed = [
        Column(name=c.name, kind=c.kind, role=c.role, domain=Bounds(0, 5, True), required=True) if c.domain is None else c
        for c in schema
        if c.kind is Kind.INTEGER
    ]
    table = Table(Schema(tuple(observed)), {c.name: np.array([1, 5]) for c in observed})
    made = study._declared(table)
    assert not any(column.observed for column in made.schema)
    assert made["limit_bal"].tolist() == [10_000, 10_000]
