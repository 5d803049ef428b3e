"""Whether an audit may be believed at all: a control that the release saw, or that overlaps the training rows, hides every leak."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hushtable.evidence import roc
from hushtable.evidence.confidence import fisher, holm
from hushtable.evidence.finding import Finding
from hushtable.evidence.looks import Equal
from hushtable.evidence.persons import People
from hushtable.evidence.row_keys import row_keys
from hushtable.table.columns import Kind, Role

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

Held = tuple[NDArray[Any], People]
"""A value of each row, and who holds the rows."""
SURE = 1e-6
"""An audit is called void only where chance would do so once in a million audits."""
MANY, EACH = 10, 2.0
"""So many values, each of so many rows in the mean, on either side and none on both, are hardly anything but persons."""
REPEATED = 0.1
"""Where so many rows share the value of a key or an identifier with another row, people may hold several."""


def void(case: Case, findings: Sequence[Finding]) -> list[str]:
    """Why nothing that this audit says about safety counts; empty if it is valid."""
    return [*_overlap(case), *_uneven(case), *_seen(findings), *_backwards(findings), *_nearer(case)]


def assumed(case: Case) -> list[str]:
    """What the tests assume although these rows contradict it: that each row is a person. Empty where any holds several."""
    if any(people.count < people.rows for people in case.sides):
        return []
    shared = [c for c in case.train.schema if c.name in case.control.schema]
    named = [c.name for c in shared if c.kind is Kind.KEY or c.role is Role.IDENTIFIER] if case.train.persons is None else []
    # Dates differ wherever the control is younger than the table. Of a few rows of many hardly any share a value.
    others = [c.name for c in shared if c.kind is not Kind.DATE and c.name not in named] if case.shortlist is None else []
    apart = [name for name in others if _apart(case, name)]
    most = max((_again(case, name) for name in (*named, *apart)), key=lambda one: one.share, default=_Again("", 0.0, 0))
    if most.share >= REPEATED:
        twice = f", and {most.both:,} of them occur on both sides" if most.both else ""
        return [
            f"the tests assume one row a person, but values of {most.name} repeat in {100 * most.share:.0f} of 100 rows{twice}: "
            "if it identifies persons, alarms and their absence mean little; "
            f"give --person {shlex.quote(most.name)} (person={most.name!r})"
        ]
    if case.train.persons is not None:
        return []
    again, n, both, m = _equal_rows(case)
    if fisher(again, n, both, m) <= SURE:
        return [
            f"the tests assume one row a person, but {again:,} of {n:,} training rows repeat one another and {both:,} of {m:,} "
            "control rows repeat them: if people hold several rows, name the column that identifies them with --person (person=)"
        ]
    return []


@dataclass(frozen=True)
class _Again:
    """A column whose values occur more than once."""

    name: str
    share: float
    """Of the rows of the worse side, those whose value another row there has too."""
    both: int
    """Values that occur on both sides."""


def _apart(case: Case, name: str) -> bool:
    """Whether a column has many values on either side, each in several rows, and none on both."""
    ours, others = (np.unique(_known(case, which, name)[0]) for which in ("train", "control"))
    rows = [int((~case.tables[which].missing(name)).sum()) for which in ("train", "control")]
    several = all(len(own) >= MANY and count >= EACH * len(own) for own, count in zip((ours, others), rows, strict=True))
    return several and not len(np.intersect1d(ours, others))


def _again(case: Case, name: str) -> _Again:
    if case.shortlist is not None:
        again, n, both, _ = _counted(case, (name,))
        return _Again(name, again / max(1, n), both)
    sides = [_known(case, which, name)[0] for which in ("train", "control")]
    counts = [np.unique(values, return_counts=True)[1] for values in sides]
    shares = [float(own[own > 1].sum() / max(1, own.sum())) for own in counts]
    return _Again(name, max(shares), len(np.intersect1d(sides[0], sides[1])))


def _overlap(case: Case) -> Iterator[str]:
    """Control people repeat training rows, or their keys, no oftener than training people repeat one another's."""
    held = {"equal a training row": _equal_rows(case)}
    for name in (column.name for column in case.train.schema if column.kind is Kind.KEY):
        if name in case.control.schema and case.control.schema[name].kind is Kind.KEY:
            sides = [_known(case, which, name) for which in ("train", "control")]
            held[f"have the {name} of a training row"] = _repeats(*sides) if case.shortlist is None else _counted(case, (name,))
    whom = "rows" if case.train.persons is None else "people"
    for does, (again, n, both, m) in held.items():
        if fisher(both, m, again, n) <= SURE:
            yield f"{both:,} of {m:,} control {whom} {does}, and training {whom} hardly repeat one another: take other people"


def looked_up(case: Case) -> list[Equal]:
    """What is counted of tables that are larger than memory: equal rows, and equal keys and identifiers."""
    shared = [c for c in case.train.schema if c.name in case.control.schema and (c.kind is Kind.KEY or c.role is Role.IDENTIFIER)]
    return [Equal(case.columns), *(Equal((column.name,)) for column in shared)]


def _equal_rows(case: Case) -> tuple[int, int, int, int]:
    """As ``_repeats``, of whole rows."""
    if case.shortlist is not None:
        return _counted(case, case.columns)
    ids = case.row_ids()
    return _repeats((ids["train"], case.people("train")), (ids["control"], case.people("control")))


def _counted(case: Case, columns: Sequence[str]) -> tuple[int, int, int, int]:
    """As ``_repeats``, of people who are a part of all: how many have values that others of the whole training table have."""
    ours, others = case.sides
    keys = row_keys(case.train, columns)
    _, same, own = np.unique(np.stack([keys, ours.who.astype(np.uint64)]), axis=1, return_inverse=True, return_counts=True)
    known, known_others = (
        np.all([~case.tables[which].missing(name) for name in columns], axis=0) | (len(columns) > 1)
        for which in ("train", "control")
    )
    again = ours.any((case.occurrences("train", "train", columns) > own[same]) & known)
    both = others.any((case.occurrences("control", "train", columns) > 0) & known_others)
    return int(again.sum()), ours.count, int(both.sum()), others.count


def _repeats(ours: Held, others: Held) -> tuple[int, int, int, int]:
    """How many training people share a value with another of them, of how many; how many control people with any of them."""
    (values, people), (other_values, other_people) = ours, others
    _, value = np.unique(values, return_inverse=True)
    holders = np.bincount(np.unique(value * people.count + people.who) // max(1, people.count), minlength=1)
    again, both = people.any(holders[value] > 1), other_people.any(np.isin(other_values, values))
    return int(again.sum()), people.count, int(both.sum()), other_people.count


def _known(case: Case, which: str, name: str) -> Held:
    """The values of a column that are not missing, and who holds them."""
    table = case.tables[which]
    known = ~table.missing(name)
    return table.strings(name)[known].astype(str), case.people(which).among(known)


def _uneven(case: Case) -> Iterator[str]:
    """People of one side who hold more rows than those of the other: more rows are more chances to be hit."""
    if case.train.persons is None:
        return
    sides = [people.held.astype(np.float64) for people in case.sides]
    for (more, less), (whom, others) in (
        (sides, ("training", "control")),
        (sides[::-1], ("control", "training")),
    ):
        if roc.auc_p(roc.auc(more, less).value, len(more), len(less)) <= SURE:
            yield (
                f"{whom} people hold {more.mean():.3g} rows each and {others} people {less.mean():.3g}: more rows are more chances "
                "to be hit, so the two cannot be compared; give all rows of each person on both sides"
            )


def _seen(findings: Sequence[Finding]) -> Iterator[str]:
    for finding in findings:
        if finding.name == "control seen" and finding.detail.get("test", 1.0) <= SURE:
            yield finding.note


def _backwards(findings: Sequence[Finding]) -> Iterator[str]:
    """Attacks on people one by one that succeed more often on control people."""
    traced = [(f, f.trace) for f in findings if f.trace is not None and f.trace.one_by_one]
    sides = [(int(t.control.sum()), len(t.control), int(t.train.sum()), len(t.train)) for _, t in traced]
    adjusted = holm([fisher(*side) for side in sides])
    if adjusted and min(adjusted) <= SURE:
        worst = traced[int(np.argmin(adjusted))][0]
        yield (
            f"{worst.name} succeeds more often on control rows than on training rows: the two are swapped, "
            "or the release was made from the control"
        )


def _nearer(case: Case) -> Iterator[str]:
    """Control people who lie nearer to the release than training people, at the median of all distances."""
    case = case.read_as_values()
    ours, others = (case.people(which).least(case.nearest(which, "release").distance[:, 0]) for which in ("train", "control"))
    median = float(np.median(np.concatenate([ours, others])))
    sides = int((others < median).sum()), len(others), int((ours < median).sum()), len(ours)
    if fisher(*sides) <= SURE:
        yield "control rows lie nearer to the release than training rows: the tables are swapped, or the release saw the control"
