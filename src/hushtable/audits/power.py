"""The power of an audit: the smallest leak that it would have detected in the release at hand.

"No risk found" means something only beside it. Leaks are planted, from the largest share down, and every audit is run on each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hushtable.audits.covert import digested, partial, rarest, retyped
from hushtable.audits.planted import plant
from hushtable.display import Progress, silent
from hushtable.errors import InputError
from hushtable.evidence import harness
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Audit, Finding
from hushtable.evidence.power import Power
from hushtable.table.table import Table

SHARES = (0.005, 0.01, 0.02, 0.05, 0.1)
"""Shares of the released rows that are planted."""
WHOLE = ("", "")
"""The audit as a whole: whether any of its tests noticed."""

PART_SHARES, WORD_SHARES = (0.05, 0.1, 0.3), (0.01, 0.025, 0.05)
"""Shares of the released rows that hold such a part of a training row, or an identifier or a text."""

Key = tuple[str, str]
"""Name and scope of a finding."""
Rng = np.random.Generator


@dataclass(frozen=True)
class Part:
    """A leak of a part of a row, which other tests than those of whole rows must notice."""

    leak: Callable[[Case, float, Rng], Table | None]
    """The release with the leak in this share of its rows; None where the training rows have nothing of the kind."""
    audit: str
    """The audit that is meant to notice it."""
    shares: Sequence[float] = PART_SHARES


PARTS = {
    "four columns copied": Part(lambda case, share, rng: partial(_compared(case), case.release, share, rng), "rare-values"),
    "the two rarest values copied": Part(lambda case, share, rng: rarest(_compared(case), case.release, share, rng), "rare-values"),
    "an identifier digested": Part(
        lambda case, share, rng: digested(case.train, case.release, share, rng), "identifiers", WORD_SHARES
    ),
    "a text respelled": Part(lambda case, share, rng: retyped(case.train, case.release, share, rng), "text-verbatim", WORD_SHARES),
}

PLANTED, PLANTED_PARTS = "planted leaks", "planted parts of rows"
"""The names of both studies as stages of an audit."""


def efforts(audits: Mapping[str, float]) -> dict[str, float]:
    """How long the studies take beside audits that take so long: about so often the audits are run again."""
    return {PLANTED: 9 * sum(audits.values()), PLANTED_PARTS: 3 * sum(audits.values())}


def power(
    case: Case,
    audits: Mapping[str, Audit],
    seed: int = 0,
    *,
    shares: Sequence[float] = SHARES,
    repeats: int = 3,
    level: float = 0.05,
    progress: Progress = silent,
) -> dict[Key, float | None]:
    """For each finding with a test, and for ``WHOLE``, the smallest planted share that it would have noticed, or None.

    Noticed: the p-value, corrected for all tests of the audit, is at most ``level`` in every one of the repeats, and so it is
    at every larger share; each repeat plants other people. When a share is noticed by nothing, no smaller one is tried.
    What is planted comes on top of what the release leaks already: a finding that alarms by itself notices any share.
    """
    if repeats < 1 or not shares or not all(0 < share <= 1 for share in shares):
        raise InputError("a power study needs shares between 0 and 1 and at least one repeat", where="power")
    detectable: dict[Key, float | None] = {}
    alive: set[Key] | None = None
    ordered = sorted(set(shares), reverse=True)
    for rank, share in enumerate(ordered):
        for repeat in range(repeats):
            progress(f"{PLANTED}: {share:.3g}", (rank * repeats + repeat) / (len(ordered) * repeats))
            rng = np.random.default_rng([seed, repeat, 2])
            tested = _tested(harness.run(plant(case, share, rng), audits, seed))
            detectable = dict.fromkeys(tested) | detectable
            noticed = {key for key, p in tested.items() if p <= level}
            alive = noticed if alive is None else alive & noticed
            if not alive:
                progress(PLANTED, 1.0)
                return detectable
        detectable |= dict.fromkeys(alive or (), share)
    progress(PLANTED, 1.0)
    return detectable


def parts(
    case: Case,
    audits: Mapping[str, Audit],
    findings: Sequence[Finding],
    seed: int = 0,
    *,
    shares: Sequence[float] = (),
    repeats: int = 3,
    level: float = 0.05,
    progress: Progress = silent,
) -> dict[str, float | None]:
    """For each leak of a part of a row the smallest planted share that this audit would have noticed, or None.

    Only the audit that is meant for it is run anew; all other tests keep their results and count in the correction. What
    the training rows do not have is not planted. ``shares`` are those of each part when empty.
    """

    def noticed(part: Part, release: Table) -> bool:
        planted = Case(case.train, release, case.control, attackers=case.attackers)
        others = [finding for finding in findings if finding.audit != part.audit]
        tested = harness.corrected([*others, *harness.run(planted, {part.audit: audits[part.audit]}, seed)])
        return any(f.audit == part.audit and f.p_adjusted is not None and f.p_adjusted <= level for f in tested)

    detectable: dict[str, float | None] = {}
    for place, (name, part) in enumerate(PARTS.items()):
        for share in sorted(shares or part.shares, reverse=True) if part.audit in audits else ():
            progress(f"{PLANTED_PARTS}: {share:.3g}, {name}", place / len(PARTS))
            drawn = (part.leak(case, share, np.random.default_rng([seed, repeat, 3])) for repeat in range(repeats))
            releases = [release for release in drawn if release is not None]
            if not releases:
                break
            detectable.setdefault(name, None)
            if not all(noticed(part, release) for release in releases):
                break
            detectable[name] = share
    progress(PLANTED_PARTS, 1.0)
    return detectable


def with_power(findings: Iterable[Finding], shares: Mapping[Key, float | None]) -> list[Finding]:
    """The findings, each that was tested with the smallest leak it would have noticed."""
    return [replace(f, detectable=shares.get((f.name, f.scope))) if f.p is not None else f for f in findings]


def summary(detectable: Mapping[Key, float | None], shares: Sequence[float] = SHARES) -> Power:
    """For a report: what was planted, the smallest share that anything noticed, and how many tests noticed each share."""
    own = [share for key, share in detectable.items() if key != WHOLE]
    counts = [sum(share is not None and share <= planted for share in own) for planted in sorted(shares)]
    return Power(shares=tuple(sorted(shares)), noticed=tuple(counts), tests=len(own), smallest=detectable.get(WHOLE))


def _compared(case: Case) -> Table:
    return case.train.select(case.columns)


def _tested(findings: Iterable[Finding]) -> dict[Key, float]:
    tested = {(f.name, f.scope): f.p_adjusted for f in findings if f.p_adjusted is not None}
    return tested | {WHOLE: min(tested.values(), default=1.0)}
