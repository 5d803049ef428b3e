"""Running audits on a case, in order, each timed and each with its own random numbers; all tests corrected together."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from hushtable.display import Progress, announce, silent
from hushtable.evidence.confidence import holm
from hushtable.evidence.finding import Audit, Finding
from hushtable.evidence.known import ALL, Known, knowing

if TYPE_CHECKING:
    from hushtable.evidence.case import Case
    from hushtable.evidence.looks import Look

LEAST = 0.1
"""The part of the error that is left to all tests that ask for none of their own, however much the others ask for."""

EFFORTS: Mapping[str, float] = {
    "learned-inference": 13.0,
    "identifiers": 6.0,
    "downstream": 5.0,
    "frechet-means": 3.0,
    "attribution": 2.0,
    "geometry": 2.0,
    "rare-values": 2.0,
    "composite": 1.5,
    "linkability": 1.5,
}
"""How long audits take beside the others (1), on some thousand rows of twenty columns. Only what shows progress uses it."""
OTHERS = 0.4


def efforts(audits: Iterable[str]) -> dict[str, float]:
    """How long each of these audits takes beside the others."""
    return {name: EFFORTS.get(name, OTHERS) for name in audits}


def run(case: Case, audits: Mapping[str, Audit], seed: int = 0, progress: Progress = silent) -> list[Finding]:
    """All findings of all audits. Leaving one audit out changes nothing in the others but the correction of their tests.

    Audits that attack by what is known of people are run for each attacker of the case, those who hold all columns first.
    """
    findings = []
    announce(progress, efforts(audits))
    for name, audit in audits.items():
        progress(name, 0.0)
        start = time.perf_counter()
        own = [finding for one in _attacking(case, audit) for finding in _attacked(one, audit, [seed, *name.encode()])]
        seconds = time.perf_counter() - start
        findings += [replace(finding, audit=name, seconds=seconds / len(own)) for finding in own]
        progress(name, 1.0)
    return corrected(findings)


def looks(case: Case, audits: Mapping[str, Audit], seed: int = 0) -> tuple[list[Look], dict[str, Audit]]:
    """All that these audits look for in a release that is larger than memory, and those of them that say what they look for."""
    every: list[Look] = []
    able = dict[str, Audit]()
    for name, audit in audits.items():
        own = [audit.looks(one, _rng(one, [seed, *name.encode()])) for one in _attacking(case, audit)]
        if all(found is not None for found in own):
            able[name] = audit
            every += [look for found in own for look in found or ()]
    return every, able


def _attacking(case: Case, audit: Audit) -> list[Case]:
    """The case for each attacker whom the audit is run for."""
    return [case.knowing(known) for known in (case.attackers if audit.by_knowledge and case.attackers else (case.known,))]


def _rng(case: Case, seed: Sequence[int]) -> np.random.Generator:
    more = case.known.label.encode() if case.limited and case.known else b""
    return np.random.default_rng([*seed, *more])


def _attacked(case: Case, audit: Audit, seed: Sequence[int]) -> list[Finding]:
    """What one attacker finds, with what they hold."""
    found = audit.run(case, _rng(case, seed))
    return [_marked(finding, case.known or Known()) for finding in found] if audit.by_knowledge else found


def _marked(finding: Finding, known: Known) -> Finding:
    """An attack with what its attacker holds, unless it says so itself."""
    if finding.known or (finding.risk is None and finding.p is None):
        return finding
    if known.whole:
        return replace(finding, known=ALL)
    return replace(finding, known=known.label, scope=", ".join(filter(None, (finding.scope, knowing(known.label)))))


def corrected(findings: list[Finding]) -> list[Finding]:
    """The findings with their p-values corrected for one another: one false alarm in all of them stays as rare as stated.

    A part of the error is reserved for the few tests that ask for it (``Finding.reserved``); all others share the rest equally.
    """
    tested = [at for at, finding in enumerate(findings) if finding.p is not None]
    reserved = [findings[at].reserved for at in tested]
    rest = max(LEAST, 1 - sum(reserved)) / max(1, reserved.count(0.0))
    weights = [share or rest for share in reserved]
    adjusted = dict(zip(tested, holm([findings[at].p or 0.0 for at in tested], weights), strict=True))
    return [replace(finding, p_adjusted=adjusted.get(at)) for at, finding in enumerate(findings)]
