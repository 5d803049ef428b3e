"""Correct attribution, compared with a double loop over all pairs of rows, on tables of all kinds, generalized ones too."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hushtable.audits.attribution import Attribution
from hushtable.audits.inference_targets import Secret
from hushtable.audits.matching import Matching
from hushtable.errors import InputError
from hushtable.evidence.case import Case
from hushtable.table.cell import Interval
from hushtable.table.columns import NUMBERS, Cells
from hushtable.table.table import Table
from tests.random_tables import generalized, tables

MISSING, ANYTHING = "missing", "anything"


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A table cut in three, the last part released as it is or with cells."""
    table = draw(tables(width=4, rows=30))
    assume(table.rows >= 9 and len(table.schema) >= 2)
    train, control, release = (table.take(np.arange(i, table.rows, 3)) for i in range(3))
    if draw(st.booleans()):
        release = draw(generalized(release))
    try:
        return Case(train, release, control)
    except InputError:
        assume(False)
        raise


def entries(table: Table, name: str) -> list[object]:
    """Each a number, a set of levels, an interval, or one of the two special values."""
    column = table.schema[name]

    def entry(value: object) -> object:
        if isinstance(column.domain, Cells):
            span = column.domain.cells[value].span
            return ANYTHING if span is None else span
        return float(value) if column.numeric else frozenset({column.levels[value]})

    return [MISSING if gone else entry(v) for v, gone in zip(table[name], table.missing(name), strict=True)]


def agree(one: object, other: object, reach: float) -> bool:
    if ANYTHING in (one, other):
        return True
    if MISSING in (one, other):
        return one == other
    if isinstance(one, frozenset):
        return bool(one & other)
    (a, b), (c, d) = ((x.low, x.high) if isinstance(x, Interval) else (x, x) for x in (one, other))
    return a - d <= reach and c - b <= reach


class Slow:
    """The definitions, row by row."""

    def __init__(self, case: Case, keys: tuple[str, ...], secret: Secret, radius: float) -> None:
        self.values = {**secret.truth, "release": secret.offered}
        self.margin, self.keys = secret.margin, keys
        self.rows = {w: list(zip(*(entries(t, n) for n in keys), strict=True)) for w, t in case.tables.items()}
        bounds = [case.train.schema[n].base for n in keys]
        numbers = [case.train.schema[n].kind in NUMBERS for n in keys]
        self.reach = [radius * ((b.high - b.low) or 1.0) if n else 0.0 for b, n in zip(bounds, numbers, strict=True)]

    def unlike(self, q: str, i: int, t: str, j: int) -> int:
        return sum(not agree(*pair) for pair in zip(self.rows[q][i], self.rows[t][j], self.reach, strict=True))

    def same(self, q: str, i: int, t: str, j: int) -> bool:
        one, other = self.values[q][i], self.values[t][j]
        return bool(np.isnan(one) and np.isnan(other)) or bool(abs(one - other) <= self.margin)

    def matches(self, q: str, i: int, t: str) -> list[int]:
        return [j for j in range(len(self.rows[t])) if self.unlike(q, i, t, j) == 0]

    def agreement(self, q: str, t: str) -> list[tuple[int, int]]:
        collected = [self.matches(q, i, t) for i in range(len(self.rows[q]))]
        return [(len(js), sum(self.same(q, i, t, j) for j in js)) for i, js in enumerate(collected)]

    def closest(self, q: str, t: str) -> list[tuple[int, int]]:
        collected = []
        for i in range(len(self.rows[q])):
            far = [self.unlike(q, i, t, j) for j in range(len(self.rows[t]))]
            js = [j for j, d in enumerate(far) if d == min(far)]
            collected.append((len(js), sum(self.same(q, i, t, j) for j in js)))
        return collected


def prepared(case: Case, radius: float) -> tuple[Matching, Slow]:
    *keys, name = case.columns
    width = case.encoding((name,)).ranges.get(name, 0.0)
    base = Secret.of(case, name, 0.0)
    secret = Secret(name, base.truth, base.offered, 0.0, radius * width)
    return Matching.of(case, tuple(keys), secret, radius), Slow(case, tuple(keys), secret, radius)


@given(cases(), st.sampled_from([0.0, 0.1, 0.5]))
@settings(max_examples=40)
def test_matching_rows_are_those_of_the_double_loop(case, radius):
    fast, slow = prepared(case, radius)
    for q, t in (("release", "release"), ("train", "release"), ("release", "control")):
        place = fast.sides[q].place
        total, same, best = fast.agreement(q, t, np.arange(len(fast.sides[t].first)))
        assert list(zip(total[place], same[place], strict=True)) == slow.agreement(q, t)
        assert ((best >= 0) == (total > 0)).all()
        assert all(fast.sides[t].first[b] in slow.matches(q, i, t) for i, b in enumerate(best[place]) if b >= 0)
        nobody = np.zeros(len(total), np.bool_)
        total, same = fast.closest(q, t, nobody)
        assert list(zip(total[place], same[place], strict=True)) == slow.closest(q, t)
        assert not fast.closest(q, t, ~nobody)[0].any()


@given(cases(), st.sampled_from([1.0, 0.6]))
@settings(max_examples=30)
def test_findings_are_those_of_the_definitions(case, tau):
    name = case.columns[-1]
    audit = Attribution(secrets=(name,), tau=tau, radius=0.2)
    results = {(f.name, f.scope): f for f in audit.run(case, np.random.default_rng(0))}
    if Secret.of(case, name, 0.0).constant:
        assert [f.value for f in results.values()] == [None]
        return
    for label, radius in (("TCAP", 0.0), ("GTCAP", 0.2)):
        if (label, name) not in results:
            assert not any(case.train.schema[n].kind in NUMBERS for n in case.columns)
            continue
        slow = prepared(case, radius)[1]
        finding = results[(label, name)]
        within = slow.agreement("release", "release")
        share = [s / n for n, s in within]
        hits, claims, cap0 = [], 0, []
        for i in range(case.train.rows):
            rows = slow.matches("train", i, "release")
            claiming = [j for j in rows if share[j] >= tau]
            claims += bool(claiming)
            best = max(claiming, key=lambda j: (share[j], within[j][0], -j), default=None)
            hits.append(best is not None and slow.same("train", i, "release", best))
            cap0.append(np.mean([slow.same("train", i, "release", j) for j in rows]) if rows else 0.0)
            assert finding.trace.released[i] == (-1 if best is None else best)
        assert finding.trace.train.tolist() == hits
        assert finding.detail["claims"] == claims
        for which, key in (("train", label.lower()), ("control", f"control_{label.lower()}")):
            pairs = [pair for pair, s in zip(slow.agreement("release", which), share, strict=True) if s >= tau and pair[0]]
            mean = np.mean([s / n for n, s in pairs]) if pairs else None
            assert finding.detail[key] == (mean if mean is None else pytest.approx(mean))
        if label == "TCAP" and ("CAP", name) in results:
            assert results[("CAP", name)].value == pytest.approx(np.mean(cap0))
            near = slow.closest("train", "release")
            assert results[("CAP", name)].detail["gcap"] == pytest.approx(np.mean([s / n for n, s in near]))
