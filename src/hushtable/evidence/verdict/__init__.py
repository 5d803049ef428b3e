"""Every rule by which evidence is judged, with its thresholds: once, and here. Pages, consoles and notebooks only show it.

``finding`` judges one number: alarm, worst attack, worse than fresh rows, close to real. ``promise`` compares guarantees: which is
stronger, which epsilon is weak. ``publish`` decides over all of it whether a release should be published, and for which reasons.
``cause`` says why attacks succeed, and what would remove that.
"""

from hushtable.evidence.verdict.cause import Action, Cause, CauseKind, Remedy, advice
from hushtable.evidence.verdict.finding import (
    CLOSE,
    LEVEL,
    OFF,
    Tone,
    Verdict,
    alarms,
    by_excess,
    excess,
    is_alarm,
    is_tested,
    of_risk,
    severity,
    surely_worse,
    verdict,
    worst_of,
)
from hushtable.evidence.verdict.promise import STRENGTH, WEAK_EPSILON, binding_assurance, is_large, is_weak
from hushtable.evidence.verdict.publish import BLIND, COARSE, Decision, Evidence, Ground, Publish, Reach, Reason, publish

__all__ = [
    "BLIND",
    "CLOSE",
    "COARSE",
    "LEVEL",
    "OFF",
    "STRENGTH",
    "WEAK_EPSILON",
    "Action",
    "Cause",
    "CauseKind",
    "Decision",
    "Evidence",
    "Ground",
    "Publish",
    "Reach",
    "Reason",
    "Remedy",
    "Tone",
    "Verdict",
    "advice",
    "alarms",
    "binding_assurance",
    "by_excess",
    "excess",
    "is_alarm",
    "is_large",
    "is_tested",
    "is_weak",
    "of_risk",
    "publish",
    "severity",
    "surely_worse",
    "verdict",
    "worst_of",
]
