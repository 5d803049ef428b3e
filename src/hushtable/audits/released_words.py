"""Identifiers and texts as they are written: where a release may hold them, and whose value is recognized in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hushtable.evidence.attack import Scenario, judge
from hushtable.evidence.finding import Finding, Risk, uncomputed
from hushtable.evidence.pool import Pool
from hushtable.table.arrays import Integers, Mask
from hushtable.table.columns import NUMBERS, Column

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

_WORD = re.compile(r"[^\W_]+")


def released_columns(case: Case) -> dict[str, set[str]]:
    """Every word of the release that may be an identifier or a text, by column, also in columns that the training rows lack.

    Only the numbers that every attack compares anyway are left out.
    """
    searched = [c.name for c in case.release.schema if not (c.name in case.columns and c.kind in NUMBERS)]
    return {name: {str(word) for word in case.release.strings(name) if word is not None} for name in searched}


def released_words(case: Case) -> set[str]:
    """The words of all columns together."""
    return set().union(*released_columns(case).values())


def values_of(case: Case, name: str) -> set[str]:
    """The values of training and control people in a column."""
    tables = (table for table in (case.train, case.control) if name in table.schema)
    return {word for table in tables for word in table.strings(name) if word is not None}


def spelled(text: str) -> list[str]:
    """The words of a text, without case, punctuation and spaces."""
    return _WORD.findall(text.casefold())


def recognized(
    case: Case,
    columns: Iterable[Column],
    keys: Callable[[str], set[str]],
    *,
    name: str,
    does: str,
    most: int | None = None,
    tried: Callable[[str], bool] | None = None,
    detail: dict[str, Any] | None = None,
) -> list[Finding]:
    """For each column, who of the people with a value is recognized in the release, by keys that at most ``most`` people share.

    ``keys`` gives the forms of a value that are in the release. It does not depend on who is a training person, so Fisher's test
    is exact. ``tried`` says which values are attacked at all.
    """

    def hits(values: NDArray[np.object_], who: Integers) -> Mask:
        matches = {word: keys(word) for word in dict.fromkeys(values) if word is not None}
        held = {(person, key) for person, word in zip(who, values, strict=True) for key in matches.get(word, ())}
        holders = Counter(key for _, key in held)
        known = {word for word, own in matches.items() if any(most is None or holders[key] <= most for key in own)}
        return np.array([word in known for word in values], bool)

    return [recognized_rows(case, column, hits, name=name, does=does, tried=tried, detail=detail) for column in columns]


def recognized_rows(
    case: Case,
    column: Column,
    hits: Callable[[NDArray[np.object_], Integers], Mask],
    *,
    name: str,
    does: str,
    tried: Callable[[str], bool] | None = None,
    detail: dict[str, Any] | None = None,
) -> Finding:
    """Who of the people with a value in a column is recognized in the release.

    ``hits`` says of values and of the people who have them which are recognized. It cannot know who is a training person.
    """
    pool = Pool.of(case)
    if column.name not in case.control.schema:
        note = f"the control table has no column {column.name}, so it is not known how many values chance would put in the release"
        if ours := int(pool.train.any(hits(case.train.strings(column.name), pool.train.who)).sum()):
            note += f"; the values of {ours:,} of {pool.train.count:,} training people are in it"
        return uncomputed(name, pool.train.count, note, scope=column.name)
    values = np.concatenate([table.strings(column.name) for table in (case.train, case.control)])
    attacked = np.array([word is not None and (tried is None or tried(word)) for word in values], bool)
    persons, hit = pool.people.any(attacked), pool.people.any(hits(values, pool.people.who) & attacked)
    if not all(side.any() for side in np.split(persons, [pool.train.count])):
        return uncomputed(name, pool.train.count, "nobody in the table, or nobody outside it, has a value", scope=column.name)
    trace = pool.trace(persons, hit, np.full(len(hit), -1))
    scenario = Scenario(name=name, scope=column.name, risk=Risk.SINGLING_OUT, knows=f"knows a person's {column.name}", does=does)
    return judge(trace, scenario, naive=None, detail=detail)


def with_reserved_error(findings: Sequence[Finding], reserved: float) -> list[Finding]:
    """The findings, those that were tested with equal shares of the part of the error that is reserved for them."""
    tests = sum(finding.p is not None for finding in findings)
    return [f if f.p is None else replace(f, reserved=reserved / tests) for f in findings]
