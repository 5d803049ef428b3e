"""Power: the smallest leak that an audit would have noticed in the very release at hand.

"No risk found" means something only beside it. Leaks are planted, from the largest share down, and every audit is run on each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hushtable.audits.covert import partial, rarest
from hushtable.audits.planted import plant
from hushtable.errors import InputError
from hushtable.evidence import harness
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Audit, Finding
from hushtable.table.table import Table

SHARES = (0.005, 0.01, 0.02, 0.05, 0.1)
"""Shares of the released rows that are planted."""
WHOLE = ("", "")
"""The audit as a whole: whether any of its tests noticed."""

PARTS: dict[str, Callable[[Table, Table, float, np.random.Generator], Table]] = {
    "four columns copied": partial,
    "the two rarest values copied": rarest,
}
"""Leaks of a part of a row, which other tests than those of whole rows must notice."""
PART_SHARES = (0.05, 0.1, 0.3)
"""Shares of the released rows that hold such a part of a training row."""
ANSWERING = ("rare-values",)
"""The audits that are meant to notice it."""

Key = tuple[str, str]
"""Name and scope of a finding."""
Progress = Callable[[str, float], None]


def power(
    case: Case,
    audits: Mapping[str, Audit],
    seed: int = 0,
    *,
    shares: Sequence[float] = SHARES,
    repeats: int = 3,
    level: float = 0.05,
    progress: Progress = lambda name, share: None,
) -> dict[Key, float | None]:
    """For each finding with a test, and for ``WHOLE``, the smallest planted share that it would have noticed, or None.

    Noticed: the p-value, corrected for all tests of the audit, is at most ``level`` in every one of the repeats, and so it is
    at every larger share; each repeat plants other people. When a share is noticed by nothing, no smaller one is tried.
    What is planted comes on top of what the release leaks already: a finding that alarms by itself notices any share.
    """
    if repeats < 1 or not shares or not all(0 < share <= 1 for share in shares):
        raise InputError("a power study needs shares between 0 and 1 and at least one repeat", where="power")
    found: dict[Key, float | None] = {}
    alive: set[Key] | None = None
    ordered = sorted(set(shares), reverse=True)
    for rank, share in enumerate(ordered):
        for repeat in range(repeats):
            progress(f"planting {share:.3g}", (rank * repeats + repeat) / (len(ordered) * repeats))
            rng = np.random.default_rng([seed, repeat, 2])
            tested = _tested(harness.run(plant(case, share, rng), audits, seed))
            found = dict.fromkeys(tested) | found
            noticed = {key for key, p in tested.items() if p <= level}
            alive = noticed if alive is None else alive & noticed
            if not alive:
                progress("planted", 1.0)
                return found
        found |= dict.fromkeys(alive or (), share)
    progress("planted", 1.0)
    return found


def parts(
    case: Case,
    audits: Mapping[str, Audit],
    findings: Sequence[Finding],
    seed: int = 0,
    *,
    shares: Sequence[float] = PART_SHARES,
    repeats: int = 3,
    level: float = 0.05,
    progress: Progress = lambda name, share: None,
) -> dict[str, float | None]:
    """For each leak of a part of a row the smallest planted share that this audit would have noticed, or None.

    Only the audits that are meant for it are run anew; all other tests stay as they were found and count in the correction.
    """
    meant = {name: audit for name, audit in audits.items() if name in ANSWERING}
    others = [finding for finding in findings if finding.audit not in meant]
    source = case.train.select(case.columns)

    def noticed(leak: Callable[..., Table], share: float, repeat: int) -> bool:
        rng = np.random.default_rng([seed, repeat, 3])
        planted = Case(case.train, leak(source, case.release, share, rng), case.control)
        tested = harness.corrected([*others, *harness.run(planted, meant, seed)])
        return any(f.audit in meant and f.p_adjusted is not None and f.p_adjusted <= level for f in tested)

    found: dict[str, float | None] = {}
    for name, leak in PARTS.items() if meant else ():
        found[name] = None
        for share in sorted(shares, reverse=True):
            progress(f"planting {share:.3g}: {name}", 0.0)
            if not all(noticed(leak, share, repeat) for repeat in range(repeats)):
                break
            found[name] = share
    return found


def with_power(findings: Iterable[Finding], found: Mapping[Key, float | None]) -> list[Finding]:
    """The findings, each that was tested with the smallest leak it would have noticed."""
    return [replace(f, detectable=found.get((f.name, f.scope))) if f.p is not None else f for f in findings]


def summary(found: Mapping[Key, float | None], shares: Sequence[float] = SHARES) -> dict[str, Any]:
    """For a report: what was planted, the smallest share that anything noticed, and how many tests noticed each share."""
    own = [share for key, share in found.items() if key != WHOLE]
    counts = [sum(share is not None and share <= planted for share in own) for planted in sorted(shares)]
    return {"shares": sorted(shares), "audit": found.get(WHOLE), "tests": len(own), "noticed": counts}


def _tested(findings: Iterable[Finding]) -> dict[Key, float]:
    tested = {(f.name, f.scope): f.p_adjusted for f in findings if f.p_adjusted is not None}
    return tested | {WHOLE: min(tested.values(), default=1.0)}
