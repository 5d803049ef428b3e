"""Sensitivity by exhaustion: every query of a recipe is asked again of all neighbours of a small table; no chance is involved."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import cast

import numpy as np

from hushtable.audits.mechanism.lines import QueryLine, Sensitivity
from hushtable.audits.mechanism.watch import Asked, Transcript, watched
from hushtable.audits.mechanism.worlds import group_size, worlds
from hushtable.errors import HushError
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.run import release
from hushtable.privacy.noise import Entropy
from hushtable.privacy.query import SAFE, Query, Scores
from hushtable.privacy.unit import Relation, Unit, default_delta
from hushtable.table.columns import MISSING_CODE, MISSING_INTEGER, Column, Kind
from hushtable.table.table import Table

RECORDS, PLACES, ALIKE = 120, 6, 8
"""Records tried of a domain, rows that are taken away, and queries of one kind that are tried: at most."""
SLACK = 1e-9


def questions(recipe: Recipe, table: Table, *, epsilon: float, delta: float | None, relation: Relation) -> list[Asked]:
    """What one run asks of a table (with seeded noise)."""
    transcript = Transcript()
    delta = default_delta(table.schema.size) if delta is None else delta
    release(
        table, watched(recipe, transcript), epsilon=epsilon, delta=delta, unit=Unit(relation=relation), seed=1,
        entropy=Entropy.seeded(1), unproven=True,
    )  # fmt: skip
    return transcript.asked


def brute_force(recipe: Recipe, *, epsilon: float, delta: float | None = None, relation: Relation | None = None) -> list[QueryLine]:
    """For each kind of query what is stated of it and the largest change; empty where nothing was asked."""
    relation = relation or recipe.relation
    asked: dict[str, list[Asked]] = {}
    for name in ("lone", "corner"):
        pair = worlds(name, relation, k=group_size(recipe))
        try:
            for one in questions(recipe, pair.within, epsilon=epsilon, delta=delta, relation=relation):
                asked.setdefault(type(one.question).__name__, []).append(one)
        except HushError:
            # A run that ends without a release has asked less; the audit in two worlds gives the reason.
            continue
    return [_worst(kind, _spaced(queries), relation) for kind, queries in asked.items()]


def compare(one: Asked, relation: Relation) -> Sensitivity:
    """The largest change of one query over the neighbours of its rows, beside what it states.

    It does not hold either where the answer has a larger number than it says, or one that 64 bits may not.
    """
    question, table = one.question, one.table
    judging = hasattr(question, "change")
    whole = question.answer(table).astype(np.float64)
    largest = question.largest(table.schema, table.rows + 1)
    l1 = l2 = most = 0.0
    moved = count = 0
    for neighbour in neighbours(table, relation):
        change = np.abs(question.answer(neighbour).astype(np.float64) - whole)
        l1, l2 = max(l1, float(change.sum())), max(l2, float(np.sqrt((change**2).sum())))
        if judging:
            # Of scores by parts, what is stated bounds the sum of the largest changes of each part.
            top = np.atleast_2d(change).max(axis=-1, initial=0.0).sum()
        else:
            top = change.max(initial=0.0)
        most, moved, count = max(most, float(top)), max(moved, int((change > 0).sum())), count + 1
    exact = float(np.abs(whole).max(initial=0.0)) <= largest < SAFE
    if judging:
        allowed = float(cast(Scores, question).change(table.schema, relation))
        stated, holds = {"most": allowed}, exact and most <= allowed
    else:
        stated1, stated2, ones = cast(Query, question).sensitivity(table.schema, relation)
        holds = exact and l1 <= stated1 * (1 + SLACK) and l2 <= stated2 * (1 + SLACK)
        holds = holds and (not ones or (most <= 1 and moved <= ones))
        stated = {"l1": float(stated1), "l2": float(stated2), "coordinates": int(ones)}
    return Sensitivity(l1=l1, l2=l2, most=most, coordinates=moved, neighbours=count, stated=stated, holds=holds)


def neighbours(table: Table, relation: Relation) -> Iterator[Table]:
    """One record less and one more, or one exchanged: each kind of row, and every record of a small domain (else some)."""
    rows = np.arange(table.rows)
    _, first = np.unique(table.groups(table.schema.names)[0], return_index=True)
    places = first[np.unique(np.linspace(0, len(first) - 1, PLACES).astype(int))] if len(first) else first
    # Queries may go by the order of rows that are alike, so the last row is tried as well.
    places = np.unique([*places, table.rows - 1]) if table.rows else places
    records = domain(table)
    if relation is Relation.ADD_REMOVE:
        yield from (table.take(np.delete(rows, place)) for place in places)
        yield from (Table.concat([table, records.take(np.array([i]))]) for i in range(records.rows))
        return
    for place in places:
        for i in range(0, records.rows, max(1, records.rows * len(places) // (2 * RECORDS))):
            parts = [table.take(rows[:place]), records.take(np.array([i])), table.take(rows[place + 1 :])]
            yield Table.concat([part for part in parts if part.rows])


def domain(table: Table) -> Table:
    """The records that a schema allows: all of them, or some where they are many. Numbers are at their ends and between."""
    values = [_values(column) for column in table.schema]
    size = math.prod(len(v) for v in values)
    if size <= RECORDS:
        picked = np.array(list(product(*(range(len(v)) for v in values))))
    else:
        rng = np.random.default_rng(0)
        picked = np.stack([rng.integers(0, len(v), RECORDS) for v in values], axis=1)
        picked[0], picked[1] = [0] * len(values), [len(v) - 1 for v in values]
    arrays = {c.name: v[picked[:, j]].astype(c.dtype) for j, (c, v) in enumerate(zip(table.schema, values, strict=True))}
    return Table(table.schema, arrays)


def _values(column: Column) -> np.ndarray:
    if column.coded or column.generalized:
        codes = np.unique(np.linspace(0, len(column.levels) - 1, 6).astype(int))
        return codes if column.required else np.append(codes, MISSING_CODE)
    low, high = column.bounds.low, column.bounds.high
    if column.kind is Kind.REAL:
        ends = np.array([low, (low + high) / 2, high], np.float64)
        return ends if column.required else np.append(ends, np.nan)
    whole = np.unique(np.array([low, (low + high) // 2, high], np.int64))
    return whole if column.required else np.append(whole, MISSING_INTEGER)


def _spaced(queries: list[Asked]) -> list[Asked]:
    """Some of many alike, first and last included."""
    return [queries[i] for i in np.unique(np.linspace(0, len(queries) - 1, ALIKE).astype(int))]


def _worst(kind: str, queries: list[Asked], relation: Relation) -> QueryLine:
    lines = [compare(one, relation) for one in queries]
    broken = [line for line in lines if not line.holds]
    worst = max(broken or lines, key=lambda line: line.l1 / max(line.stated.get("l1", line.stated.get("most", 1)), 1e-12))
    return QueryLine(query=kind, tried=len(lines), worst=replace(worst, neighbours=sum(line.neighbours for line in lines)))
