"""Risk person by person: whom the attacks hit, by which released row, and how far that is more than chance.

An attack that hits a share t of the people in the table and a share c of those outside owes c/t of its hits to what the
release says about everybody; 1 - c/t is what it owes to their being in the table (the attributable fraction of
epidemiology). It is taken at its lower bound, from Wilson's intervals of t and c, so that few hits do not shout.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hushtable.evidence.confidence import wilson
from hushtable.evidence.finding import Finding, Trace
from hushtable.evidence.verdict import LEVEL, is_alarm
from hushtable.table import lenient
from hushtable.table.arrays import Floats, Integers, Mask

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

WEAK = 0.5
"""A hit by an attack that chance may explain is still shown if, by the bare counts, more than this share is not chance."""
TINY = 1e-12
"""A hit is more than none, however little it says."""


@dataclass(frozen=True, kw_only=True)
class Hit:
    """One attack that hit one record."""

    name: str
    scope: str = ""
    share: float = 0.0
    """How many of such hits are surely owed to being in the table; 0 if the attack as a whole may be chance."""
    weak: bool = False
    """Whether chance explains the attack as a whole."""
    released: int | None = None
    """The released row that gave the record away, counted from 1."""
    description: str = ""
    """What the attacker used; values only if they were asked for."""

    def to_json(self) -> dict[str, Any]:
        """As ``audit.json`` holds it."""
        return {
            "name": self.name, "scope": self.scope, "share": self.share, "weak": self.weak, "released": self.released,
            "told": self.description,
        }  # fmt: skip

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Hit:
        """Read it back; what is missing is empty."""
        return cls(
            name=lenient.text(plain.get("name")), scope=lenient.text(plain.get("scope")),
            share=lenient.finite(plain.get("share")) or 0.0, weak=bool(plain.get("weak")),
            released=lenient.whole(plain.get("released")), description=lenient.text(plain.get("told")),
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Record:
    """One training row, counted from 1, with all that hit it, the surest first; the first row of who holds several."""

    row: int
    risk: float
    """The largest share of its hits."""
    weak: bool
    """Whether all that hit it may be chance."""
    attacks: tuple[Hit, ...]
    values: Mapping[str, str | None] | None = None
    """What the compared columns of the row hold, if that was asked for."""

    def to_json(self) -> dict[str, Any]:
        """As ``audit.json`` holds it; values only if they were asked for."""
        shown = {} if self.values is None else {"values": dict(self.values)}
        attacks = [hit.to_json() for hit in self.attacks]
        return {"row": self.row, "risk": self.risk, "weak": self.weak, "attacks": attacks} | shown

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Record:
        """Read it back; what is missing is empty."""
        values = plain.get("values")
        return cls(
            row=lenient.whole(plain.get("row")) or 0,
            risk=lenient.finite(plain.get("risk")) or 0.0,
            weak=bool(plain.get("weak")),
            attacks=tuple(Hit.from_json(hit) for hit in lenient.mappings(plain.get("attacks"))),
            values=None if values is None else lenient.mapping(values),
        )


def riskiest(findings: Iterable[Finding], most: int = 20, *, values: bool = False, level: float = LEVEL) -> list[Record]:
    """The records most at risk: by risk, then by how many attacks are sure of them, then by row.

    Only a finding whose corrected p-value is at most ``level`` is evidence; what others hit comes last and is called weak.
    """
    evidence = _evidence(findings, level)
    risk, sure, guess = _scores(evidence)
    rows = np.flatnonzero(guess > 0)
    top = rows[np.lexsort((rows, -guess[rows], -sure[rows], -risk[rows]))][:most]
    hits: dict[int, list[Hit]] = {int(row): [] for row in top}
    for one in evidence:
        for attempt in one.first_among(top):
            hits[int(one.trace.persons[attempt])].append(one.hit(int(attempt), values))
    return [
        Record(row=row + 1, risk=float(risk[row]), weak=not sure[row], attacks=tuple(sorted(own, key=lambda hit: -hit.share)))
        for row, own in hits.items()
    ]


@dataclass(frozen=True, kw_only=True)
class Tail:
    """How many people have a risk above a share."""

    above: float
    people: int
    chance: float
    """How many would if nobody in the table were hit for being in it: as many as of people outside, who are not."""

    def to_json(self) -> dict[str, Any]:
        """As ``audit.json`` holds it."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Tail:
        """Read it back; what is missing is 0."""
        return cls(
            above=lenient.finite(plain.get("above")) or 0.0,
            people=lenient.whole(plain.get("people")) or 0,
            chance=lenient.finite(plain.get("chance")) or 0.0,
        )


def at_risk(case: Case, findings: Iterable[Finding], above: Sequence[float] = (0.5, 0.9), *, level: float = LEVEL) -> list[Tail]:
    """How many people have a risk above these, beside how many chance explains.

    Over many attacks chance hits add up while true ones fall on the same people, so the largest risk of a person promises too
    much; people outside the table, scored in the same way, say by how much. Attacks that tried only some are left out here.
    """
    evidence = [one for one in _evidence(findings, level) if not one.weak and _tried_all(case, one.trace)]
    # A person's risk stands at the row that stands for them; their other rows have none.
    ours, others = np.zeros(case.train.rows), np.zeros(case.control.rows)
    for one in evidence:
        _raise(ours, one.persons, one.share)
        _raise(others, _whom(one.trace.control, one.trace.control_persons), one.share)
    scale = case.people("train").count / case.people("control").count
    return [Tail(above=s, people=int((ours > s).sum()), chance=float((others > s).sum() * scale)) for s in above]


def _tried_all(case: Case, trace: Trace) -> bool:
    """Whether everybody was attacked on both sides, or descriptions were, which may fit anybody."""
    sides = zip((trace.persons, trace.control_persons), case.sides, strict=True)
    return all(persons.min(initial=0) < 0 or len(np.unique(persons)) == people.count for persons, people in sides)


@dataclass(frozen=True, eq=False)
class _Evidence:
    finding: Finding
    trace: Trace
    weak: bool

    @property
    def attempts(self) -> Integers:
        """Those that hit somebody."""
        return np.flatnonzero(self.trace.train & (self.trace.persons >= 0))

    @property
    def persons(self) -> Integers:
        """Whom they hit."""
        return _whom(self.trace.train, self.trace.persons)

    @property
    def estimate(self) -> float:
        """The attributable share by the bare counts."""
        hits, others = self.trace.train.mean(), self.trace.control.mean() if len(self.trace.control) else 1.0
        return float(max(0.0, 1 - others / hits))

    @property
    def share(self) -> float:
        """Its lower bound; nothing where chance explains the attack."""
        ours, others = (wilson(int(side.sum()), len(side)) for side in (self.trace.train, self.trace.control))
        return 0.0 if self.weak or ours.low <= 0 else max(0.0, 1 - others.high / ours.low)

    def first_among(self, rows: Integers) -> Integers:
        """For each of these rows that was hit, the first attempt that did."""
        attempts = self.attempts
        ours = attempts[np.isin(self.trace.persons[attempts], rows)]
        _, first = np.unique(self.trace.persons[ours], return_index=True)
        return ours[np.sort(first)]

    def hit(self, attempt: int, values: bool) -> Hit:
        trace = self.trace
        released = -1 if trace.released is None else int(trace.released[attempt])
        return Hit(
            name=self.finding.name, scope=self.finding.scope, share=self.share, weak=self.weak,
            released=released + 1 if released >= 0 else None,
            description=trace.describe(attempt, values) if trace.describe else "",
        )  # fmt: skip


def _evidence(findings: Iterable[Finding], level: float) -> list[_Evidence]:
    """What hit somebody: by attacks that chance does not explain, and by others if few of their hits look like chance."""
    traced = [(f, f.trace) for f in findings if f.trace is not None and f.value is not None]
    evidence = [_Evidence(f, trace, weak=not is_alarm(f.p_adjusted, level)) for f, trace in traced]
    return [one for one in evidence if len(one.attempts) and (not one.weak or one.estimate > WEAK)]


def _scores(evidence: Sequence[_Evidence]) -> tuple[Floats, Integers, Floats]:
    """For each training row its risk, the number of attacks that are sure of it, and the largest estimate of any."""
    size = max((int(one.persons.max()) + 1 for one in evidence), default=0)
    risk, sure, guess = np.zeros(size), np.zeros(size, np.int64), np.zeros(size)
    for one in evidence:
        persons = np.unique(one.persons)
        _raise(risk, persons, one.share)
        _raise(guess, persons, max(one.estimate, TINY))
        sure[persons] += not one.weak
    return risk, sure, guess


def _whom(hit: Mask, persons: Integers) -> Integers:
    return persons[hit & (persons >= 0)]


def _raise(scores: Floats, persons: Integers, share: float) -> None:
    scores[persons] = np.maximum(scores[persons], share)
