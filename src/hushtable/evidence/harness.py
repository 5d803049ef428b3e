"""Running audits on a case, in order, each timed and each with its own random numbers; all tests corrected together."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from hushtable.display import Progress, announce, silent
from hushtable.evidence.confidence import holm
from hushtable.evidence.finding import Audit, Finding

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

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
    """All findings of all audits. Leaving one audit out changes nothing in the others but the correction of their tests."""
    findings = []
    announce(progress, efforts(audits))
    for name, audit in audits.items():
        progress(name, 0.0)
        start = time.perf_counter()
        rng = np.random.default_rng([seed, *name.encode()])
        own = audit.run(case, rng)
        seconds = time.perf_counter() - start
        findings += [replace(finding, audit=name, seconds=seconds / len(own)) for finding in own]
        progress(name, 1.0)
    return corrected(findings)


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
