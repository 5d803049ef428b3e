"""An audit of tables that are larger than memory: who is asked, and what of the release comes into question for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from hushtable.display import Inside, Progress, silent
from hushtable.evidence import harness
from hushtable.evidence.case import Case, Generator
from hushtable.evidence.finding import Audit, Finding, uncomputed
from hushtable.evidence.known import Known
from hushtable.evidence.looks import Nearest
from hushtable.evidence.persons import held_by
from hushtable.evidence.sampling import PEOPLE, Picked, picked_people, picked_rows
from hushtable.evidence.shortlist import Shortlist, head, shortlisted
from hushtable.evidence.validity import looked_up
from hushtable.table.arrays import Integers
from hushtable.table.rows import Rows

SEARCH = "search for the people asked"
"""The stage in which the release is searched."""


@dataclass(frozen=True, kw_only=True)
class Asking:
    """How people are asked."""

    people: int = PEOPLE
    """How many of each side."""
    person: str | None = None
    """The key that identifies them; each row is a person when absent."""
    seed: int = 0
    work: Path | None = None
    """A folder for what does not fit into memory."""


@dataclass(frozen=True, eq=False)
class Asked:
    """A case of people who were picked at random, the audits that can be run on it, and why others cannot."""

    case: Case
    audits: dict[str, Audit]
    left: list[Finding]
    places: Integers
    """For each training row of the case its number in the whole table."""
    notes: tuple[str, ...] = ()


def asked(
    wholes: Mapping[str, Rows],
    audits: Mapping[str, Audit],
    attackers: Callable[[Case], tuple[Known, ...]],
    asking: Asking,
    generator: Generator | None = None,
    progress: Progress = silent,
) -> Asked:
    """Pick people of ``wholes`` (train, release, control), and search the release for all that these audits look for.

    ``attackers`` says who attacks a case. Where a key identifies persons, rows without one are left out.
    """
    picked = _picked(wholes, asking)
    train, control = picked["train"].table, picked["control"].table
    if asking.person is not None:
        train, control = held_by(train, control, asking.person)
    totals = {which: rows.rows for which, rows in wholes.items()}
    first = head(wholes["release"])
    case = Case(train, first, control, generator, shortlist=Shortlist(totals, np.arange(first.rows), first))
    case = replace(case, attackers=attackers(case))
    looks, able = harness.looks(case, audits, asking.seed)
    # What decides whether the audit counts at all is looked for whatever is attacked.
    looks += [Nearest(case.columns, values=True), *looked_up(case)]
    sides = {"train": case.train, "control": case.control}
    release, shortlist = shortlisted(wholes, sides, looks, Inside(progress, SEARCH), asking.work)
    case = replace(case, release=release, shortlist=shortlist, _cache={})
    left = [
        replace(uncomputed(name, 0, f"was left out of this audit: it {audit.unlisted}, which do not fit into memory"), audit=name)
        for name, audit in audits.items()
        if name not in able
    ]
    return Asked(case, able, left, picked["train"].places, _nobodys(picked, totals, asking.person))


def _picked(wholes: Mapping[str, Rows], asking: Asking) -> dict[str, Picked]:
    rng, sides = np.random.default_rng([asking.seed, *b"people"]), ("train", "control")
    if asking.person is None:
        return {which: picked_rows(wholes[which], asking.people, rng) for which in sides}
    salt = int(rng.integers(0, 2**63))
    return {which: picked_people(wholes[which], asking.person, asking.people, salt, which) for which in sides}


def _nobodys(picked: Mapping[str, Picked], totals: Mapping[str, int], person: str | None) -> tuple[str, ...]:
    lost, also = (picked[which].nobodys for which in ("train", "control"))
    if not lost + also:
        return ()
    rows = f"{lost:,} of {totals['train']:,} training rows and {also:,} of {totals['control']:,} control rows have no {person}"
    return (f"{rows}: nobody knows whose they are, so they were left out of this audit",)


def numbered(findings: list[Finding], places: Integers) -> list[Finding]:
    """The findings with released rows by their number in the whole release."""

    def whole(finding: Finding) -> Finding:
        trace = finding.trace
        if trace is None or trace.released is None:
            return finding
        return replace(finding, trace=replace(trace, released=np.where(trace.released >= 0, places[trace.released], -1)))

    return [whole(finding) for finding in findings]
