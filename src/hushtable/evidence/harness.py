"""Running audits on a case, in order, each timed and each with its own random numbers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from hushtable.evidence.case import Case
from hushtable.evidence.finding import Audit, Finding


def run(
    case: Case, audits: Mapping[str, Audit], seed: int = 0, progress: Callable[[str, float], None] = lambda name, share: None
) -> list[Finding]:
    """All findings of all audits. Leaving one audit out changes nothing in the others."""
    findings = []
    for name, audit in audits.items():
        progress(name, 0.0)
        start = time.perf_counter()
        rng = np.random.default_rng([seed, *name.encode()])
        found = audit.run(case, rng)
        seconds = time.perf_counter() - start
        findings += [replace(finding, seconds=seconds / len(found)) for finding in found]
        progress(name, 1.0)
    return findings
