"""Risk group by group: an attack that gains little on all may gain much on the few who share a level.

Rates are those of the attempts on people of the group, in the table and outside, and nobody else's; a group of which too
few stand on either side is left out and counted. Who holds several rows belongs where the first of them does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from hushtable.evidence.case import Case
from hushtable.evidence.confidence import fisher, holm, residual_risk, wilson
from hushtable.evidence.finding import Finding
from hushtable.evidence.verdict import LEVEL
from hushtable.table.columns import Role
from hushtable.table.table import Table

LEAST = 20
"""A group has at least so many people attacked on each side."""
ROLES = (Role.QUASI, Role.SECRET, Role.TARGET)
QUARTERS = ("up to the first quartile", "first quartile to median", "median to third quartile", "above the third quartile")


class Group(TypedDict):
    """One attack on the people of one group."""

    name: str
    scope: str
    column: str
    level: str
    """A level, the name of a quartile range, or missing."""
    attacked: int
    control_attacked: int
    rate: float
    control_rate: float
    value: float
    """The residual risk (r - c)/(1 - c) inside the group."""
    low: float
    high: float
    whole: float | None
    """The residual risk of the same attack on everybody."""
    p: float
    """Fisher's exact one-sided test inside the group."""
    p_adjusted: float
    """Corrected for all groups and attacks (Holm)."""


class Groups(TypedDict):
    """The worst groups of all that were tested."""

    worst: list[Group]
    """Each group with the worst attack on it."""
    tested: int
    """Pairs of a group and an attack."""
    alarms: int
    """How many of them chance does not explain."""
    left_out: int
    """Groups that are too small to say anything about."""


def by_group(case: Case, findings: Iterable[Finding], most: int = 20, least: int = LEAST) -> Groups:
    """Every attack that took people one by one, on every level of the columns that have a role; of each group the worst.

    Groups beyond chance come first, by what is surely gained on them; the others by how unlikely they are.
    """
    attacks = [(f, f.trace) for f in findings if f.trace is not None and f.risk is not None and f.trace.one_by_one]
    tested: list[Group] = []
    left: set[tuple[str, int]] = set()
    for column in _columns(case):
        labels, ours, others = _coded(case.train, case.control, column)
        for finding, trace in attacks:
            n, hits = _counts(ours[trace.persons], trace.train, len(labels))
            m, rest = _counts(others[trace.control_persons], trace.control, len(labels))
            enough = np.minimum(n, m) >= least
            left |= {(column, int(code)) for code in np.flatnonzero((n > 0) & ~enough)}
            for code in np.flatnonzero(enough):
                counts = (int(hits[code]), int(n[code]), int(rest[code]), int(m[code]))
                tested.append(_judged(finding, column, labels[code], *counts))
    for group, p in zip(tested, holm([group["p"] for group in tested]), strict=True):
        group["p_adjusted"] = p
    worst: dict[tuple[str, str], Group] = {}
    for group in sorted(tested, key=_hardest):
        worst.setdefault((group["column"], group["level"]), group)
    return Groups(
        worst=list(worst.values())[:most],
        tested=len(tested),
        alarms=sum(g["p_adjusted"] <= LEVEL for g in tested),
        left_out=len(left),
    )


def _hardest(group: Group) -> tuple[bool, float, float]:
    alarm = group["p_adjusted"] <= LEVEL
    return (not alarm, -group["low"] if alarm else group["p"], -group["value"])


def _columns(case: Case) -> list[str]:
    schema = case.train.schema
    return [name for name in case.columns if schema[name].role in ROLES]


def _coded(train: Table, control: Table, name: str) -> tuple[tuple[str, ...], NDArray[np.int64], NDArray[np.int64]]:
    """The groups of a column, and the group of each row; the last group is the missing values."""
    if train.schema[name].numeric:
        limits = train.quantiles(name, (0.25, 0.5, 0.75))
        ours, others = (np.searchsorted(limits, t.floats(name), side="left") for t in (train, control))
        labels = QUARTERS
    else:
        labels = tuple(dict.fromkeys(str(word) for t in (train, control) for word in t.words(name)))
        place = {word: code for code, word in enumerate(labels)}
        ours, others = (np.array([*(place[str(w)] for w in t.words(name)), -1])[t[name].astype(np.int64)] for t in (train, control))
    gone = len(labels)
    return (*labels, "missing"), np.where(train.missing(name), gone, ours), np.where(control.missing(name), gone, others)


def _judged(finding: Finding, column: str, level: str, hits: int, n: int, others: int, m: int) -> Group:
    risk = residual_risk(wilson(hits, n), wilson(others, m))
    return Group(
        name=finding.name, scope=finding.scope, column=column, level=level, attacked=n, control_attacked=m,
        rate=hits / n, control_rate=others / m, value=risk.value, low=risk.low, high=risk.high, whole=finding.value,
        # At or below the control's rate the tail is about a half or more: 1 is no smaller, and costs nothing.
        p=fisher(hits, n, others, m) if hits * m > others * n else 1.0, p_adjusted=1.0,
    )  # fmt: skip


def _counts(groups: NDArray[np.int64], hit: NDArray[np.bool_], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return np.bincount(groups, minlength=size), np.bincount(groups[hit], minlength=size)
