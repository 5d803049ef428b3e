"""Risk group by group: an attack that gains little on all may gain much on the few who share a level.

Rates are those of the attempts on people of the group, in the table and outside, and nobody else's; a group of which too
few stand on either side is left out and counted. Who holds several rows belongs where the first of them does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hushtable.evidence.confidence import Gain, fisher, gain, holm, observed, residual_risk, wilson
from hushtable.evidence.finding import Finding
from hushtable.evidence.verdict import is_alarm
from hushtable.table import lenient
from hushtable.table.arrays import Integers, Mask
from hushtable.table.columns import Role
from hushtable.table.table import Table

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

LEAST = 20
"""A group has at least so many people attacked on each side."""
ROLES = (Role.QUASI, Role.SECRET, Role.TARGET)
QUARTERS = ("up to the first quartile", "first quartile to median", "median to third quartile", "above the third quartile")


@dataclass(frozen=True, kw_only=True)
class Group:
    """One attack on the people of one group."""

    name: str
    scope: str = ""
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
    p_adjusted: float = 1.0
    """Corrected for all groups and attacks (Holm)."""

    @property
    def alarm(self) -> bool:
        """Whether chance does not explain it."""
        return is_alarm(self.p_adjusted)

    @cached_property
    def gain(self) -> Gain:
        """On how many more people of the group in the table it succeeds than on those outside, r - c, with Newcombe's interval."""
        sides = ((self.rate, self.attacked), (self.control_rate, self.control_attacked))
        return gain(*(observed(rate * people, people) for rate, people in sides))

    def to_json(self) -> dict[str, Any]:
        """As ``audit.json`` holds it."""
        return asdict(self) | {"gain": asdict(self.gain)}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Group:
        """Read it back; what is missing is empty, and a missing p-value is 1."""
        number = {key: lenient.finite(value) for key, value in plain.items()}
        p, adjusted = number.get("p"), number.get("p_adjusted")
        return cls(
            name=lenient.text(plain.get("name")),
            scope=lenient.text(plain.get("scope")),
            column=lenient.text(plain.get("column")),
            level=lenient.text(plain.get("level")),
            attacked=lenient.whole(plain.get("attacked")) or 0,
            control_attacked=lenient.whole(plain.get("control_attacked")) or 0,
            rate=number.get("rate") or 0.0,
            control_rate=number.get("control_rate") or 0.0,
            value=number.get("value") or 0.0,
            low=number.get("low") or 0.0,
            high=number.get("high") or 0.0,
            whole=number.get("whole"),
            p=1.0 if p is None else p,
            p_adjusted=1.0 if adjusted is None else adjusted,
        )


@dataclass(frozen=True, kw_only=True)
class Groups:
    """The worst groups of all that were tested."""

    worst: tuple[Group, ...] = ()
    """Each group with the worst attack on it."""
    tested: int = 0
    """Pairs of a group and an attack."""
    alarms: int = 0
    """How many of them chance does not explain."""
    left_out: int = 0
    """Groups that are too small to say anything about."""

    def to_json(self) -> dict[str, Any]:
        """As ``audit.json`` holds it."""
        worst = [group.to_json() for group in self.worst]
        return {"worst": worst, "tested": self.tested, "alarms": self.alarms, "left_out": self.left_out}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Groups:
        """Read it back; what is missing is empty."""
        counts = {key: lenient.whole(plain.get(key)) or 0 for key in ("tested", "alarms", "left_out")}
        return cls(worst=tuple(Group.from_json(group) for group in lenient.mappings(plain.get("worst"))), **counts)


def by_group(case: Case, findings: Iterable[Finding], most: int = 20, least: int = LEAST) -> Groups:
    """Every attack that took people one by one, on every level of the columns that have a role; of each group the worst.

    Groups beyond chance come first, by how many more people are surely hit in them; the others by how unlikely they are.
    """
    attacks = [(f, f.trace) for f in findings if f.trace is not None and f.risk is not None and f.trace.one_by_one]
    judged: list[Group] = []
    small: set[tuple[str, int]] = set()
    schema = case.train.schema
    for column in [name for name in case.columns if schema[name].role in ROLES]:
        labels, ours, others = coded(case.train, case.control, column)
        for finding, trace in attacks:
            n, hits = _counts(ours[trace.persons], trace.train, len(labels))
            m, rest = _counts(others[trace.control_persons], trace.control, len(labels))
            enough = np.minimum(n, m) >= least
            small |= {(column, int(code)) for code in np.flatnonzero((n > 0) & ~enough)}
            for code in np.flatnonzero(enough):
                counts = (int(hits[code]), int(n[code]), int(rest[code]), int(m[code]))
                judged.append(_judged(finding, column, labels[code], *counts))
    adjusted = holm([group.p for group in judged])
    tested = [replace(group, p_adjusted=p) for group, p in zip(judged, adjusted, strict=True)]
    worst: dict[tuple[str, str], Group] = {}
    for group in sorted(tested, key=_hardest):
        worst.setdefault((group.column, group.level), group)
    return Groups(worst=tuple(worst.values())[:most], tested=len(tested), alarms=sum(g.alarm for g in tested), left_out=len(small))


def _hardest(group: Group) -> tuple[bool, float, float]:
    return not group.alarm, -group.gain.low if group.alarm else group.p, -group.gain.value


def coded(train: Table, control: Table, name: str) -> tuple[tuple[str, ...], Integers, Integers]:
    """The groups of a column, and the group of each row; the last group is the missing values."""
    if train.schema[name].numeric:
        limits = train.quantiles(name, (0.25, 0.5, 0.75))
        ours, others = (np.searchsorted(limits, t.floats(name), side="left") for t in (train, control))
        labels: tuple[str, ...] = QUARTERS
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
        p=fisher(hits, n, others, m) if hits * m > others * n else 1.0,
    )  # fmt: skip


def _counts(groups: Integers, hit: Mask, size: int) -> tuple[Integers, Integers]:
    return np.bincount(groups, minlength=size), np.bincount(groups[hit], minlength=size)
