"""Names and texts as they are written: where a release may hold them, and whom it knows by them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from hushtable.evidence.attack import judge
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Finding, Risk, uncomputed
from hushtable.evidence.pool import Pool
from hushtable.table.columns import NUMBERS, Column

_WORD = re.compile(r"[^\W_]+")


def released_columns(case: Case) -> dict[str, set[str]]:
    """All that may be a name or a text in the release, column by column, in those too that the training rows do not have.

    Left out are only the numbers that every attack compares anyway.
    """
    searched = [c.name for c in case.release.schema if not (c.name in case.columns and c.kind in NUMBERS)]
    return {name: {str(word) for word in case.release.strings(name) if word is not None} for name in searched}


def released_words(case: Case) -> set[str]:
    """The same of all columns together."""
    return set().union(*released_columns(case).values())


def values_of(case: Case, name: str) -> set[str]:
    """What training and control people have in a column."""
    tables = (table for table in (case.train, case.control) if name in table.schema)
    return {word for table in tables for word in table.strings(name) if word is not None}


def spelled(text: str) -> list[str]:
    """The words of a text, without case, punctuation and spaces."""
    return _WORD.findall(text.casefold())


def recognized(
    case: Case, columns: Iterable[Column], keys: Callable[[str], set[str]], *, name: str, does: str, most: int | None = None
) -> list[Finding]:
    """For each column whom the release knows, of all people who have a value, by keys that at most ``most`` people have.

    ``keys`` are what of a value stands in the release. Nothing here depends on who is who, so Fisher's test is exact.
    """
    pool, findings = Pool.of(case), []
    for column in columns:
        if column.name not in case.control.schema:
            note = f"the control does not have {column.name}, so nothing says how much of it chance would find in the release"
            words = case.train.strings(column.name)
            if ours := int(pool.train.any(np.array([word is not None and bool(keys(word)) for word in words])).sum()):
                note += f"; that of {ours:,} of {pool.train.count:,} training people stands in it"
            findings.append(uncomputed(name, pool.train.count, note, scope=column.name))
            continue
        words = np.concatenate([table.strings(column.name) for table in (case.train, case.control)])
        found = {word: keys(word) for word in dict.fromkeys(words) if word is not None}
        held = {(who, key) for who, word in zip(pool.people.who, words, strict=True) for key in found.get(word, ())}
        holders = Counter(key for _, key in held)
        known = {word for word, own in found.items() if any(most is None or holders[key] <= most for key in own)}
        tried, hit = (pool.people.any(np.array([word in some for word in words])) for some in (found, known))
        if not all(side.any() for side in np.split(tried, [pool.train.count])):
            findings.append(uncomputed(name, pool.train.count, "nobody has a value, in the table or outside it", scope=column.name))
            continue
        trace, knows = pool.trace(tried, hit, np.full(len(hit), -1)), f"knows a person's {column.name}"
        findings.append(judge(trace, name=name, scope=column.name, risk=Risk.SINGLING_OUT, naive=None, knows=knows, does=does))
    return findings


def sharing(findings: Sequence[Finding], reserved: float) -> list[Finding]:
    """The findings with a part of the error that is kept for those that were tested, in equal shares."""
    tests = sum(finding.p is not None for finding in findings)
    return [f if f.p is None else replace(f, reserved=reserved / tests) for f in findings]
