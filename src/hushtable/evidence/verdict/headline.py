"""The one number that stands for all attacks: how many more of 100 people in the table are hit than of 100 outside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scipy.special import ndtr

from hushtable.evidence.confidence import NORMAL, Gain
from hushtable.evidence.finding import Finding
from hushtable.evidence.verdict.finding import is_alarm, is_few, measured, severity, sure, upper

QUIET = 0.95
"""So often an audit of a release that leaks nothing reads no more than the resolution."""
ROUND = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0)
"""The resolution is rounded up to such a number: it is not known better, and audits of one size should read alike."""


@dataclass(frozen=True, kw_only=True)
class Headline:
    """What the worst attack gains: surely ``low``, at most ``high``, both shares of the people in the table.

    ``high`` lies above what the worst of these attacks truly gains in about 97.5 of 100 audits, however many they are: the
    largest upper bound is never below that of the worst (an intersection-union test; R. L. Berger, Technometrics 24, 1982). It is
    biased upwards, the more the more attacks there are, and where nothing leaks it is mere noise. So it is never taken below
    ``resolution``, what an audit of this size reads in 95 of 100 cases if nobody in the table is hit more often than people
    outside: releases that leak nothing then read alike, and none looks better than another by luck.
    """

    low: float
    """What the worst alarm surely gains, at least 0; 0 without an alarm."""
    high: float
    """What no attack gains more than, as far as this audit can tell."""
    bound: float
    """The largest upper bound of all attacks."""
    widest: Finding
    """The attack that has it."""
    resolution: float
    """The least that ``high`` can be in this audit, whatever is released."""
    alarm: Finding | None = None
    """The worst attack that chance does not explain."""
    few: tuple[Finding, ...] = ()
    """Attacks with too few attempts to say how much they gain, which are not counted here; the largest upper bound first."""

    @property
    def resolved(self) -> bool:
        """Whether ``high`` is more than an audit of this size reads where nothing leaks."""
        return self.bound > self.resolution

    def to_json(self) -> dict[str, Any]:
        """As ``audit.json`` holds it."""
        return {
            "gain": None if self.alarm is None else measured(self.alarm), "low": self.low, "high": self.high,
            "alarm": None if self.alarm is None else self.alarm.label, "bound": self.bound, "widest": self.widest.label,
            "resolution": self.resolution, "too_few": [finding.label for finding in self.few],
        }  # fmt: skip


def headline(findings: Sequence[Finding]) -> Headline | None:
    """The headline of these findings; None if no attack among them has an upper bound.

    Attacks with too few attempts are left out and listed, unless they raise an alarm or there are no others.
    """
    attacks = [f for f in findings if f.risk is not None and f.value is not None and upper(f) is not None]
    if not attacks:
        return None
    enough = [f for f in attacks if not _unsaid(f)]
    few = list(filter(_unsaid, attacks)) if enough else []
    enough = enough or attacks
    widest = max(enough, key=lambda f: upper(f) or 0.0)
    bound, least = upper(widest) or 0.0, resolution([f.gain for f in enough if f.gain is not None])
    alarm = min((f for f in enough if is_alarm(f.p_adjusted)), key=severity, default=None)
    low = max(0.0, (None if alarm is None else sure(alarm)) or 0.0)
    return Headline(
        low=low, high=max(bound, least), bound=bound, widest=widest, resolution=least, alarm=alarm,
        few=tuple(sorted(few, key=lambda f: -(upper(f) or 0.0))),
    )  # fmt: skip


def _unsaid(attack: Finding) -> bool:
    """Whether it has too few attempts, and raises no alarm."""
    return is_few(attack) and not is_alarm(attack.p_adjusted)


def resolution(gains: Sequence[Gain]) -> float:
    """The least gain that an audit with such intervals can exclude.

    The largest upper bound lies below it in 95 of 100 audits of a release that leaks nothing. Each attack's estimate is then 0 with
    the normal error that its interval shows, and its bound lies as far above as here. They are taken as independent; where
    they go together, as attacks of one kind do, the largest is smaller still (D. Slepian, 1962). It is rounded up (``ROUND``).
    """
    low, high = 0.0, 1.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if _below(gains, middle) < QUIET else (low, middle)
    if not gains or high >= 1.0:
        return high if gains else 0.0
    power = 10.0 ** math.floor(math.log10(high))
    return min(1.0, next(step for step in ROUND if step * power >= high * (1 - 1e-9)) * power)


def _below(gains: Sequence[Gain], limit: float) -> float:
    """How often all upper bounds lie below a limit if nothing is gained."""
    chances = 1.0
    for one in gains:
        error, room = (one.high - one.low) / (2 * NORMAL), limit - (one.high - one.value)
        chances *= float(ndtr(room / error)) if error > 0 else float(room >= 0)
    return chances if math.isfinite(chances) else 0.0
