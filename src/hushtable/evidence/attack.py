"""The one judge of attacks: what an attacker gains on training people over control people, with interval, test and sentence.

An attack writes only its guess. It is run on every training row and on every control row, and succeeds on a person if it does
on any of their rows. The rate on control people is what the release reveals about everybody, and only the excess is what it
reveals about those it was made from.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from hushtable.evidence.confidence import Rate, clopper_pearson, fisher, gain, observed, residual_bounds, residual_risk, wilson
from hushtable.evidence.finding import Audit, Better, Finding, Risk, Subject, Trace
from hushtable.table.arrays import Floats, Integers, Mask

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

LEVEL = 0.95
"""Confidence of the intervals."""
DOUBT = 0.01
"""A result this unlikely by chance is stated without the remark that blind guessing does as well."""


@dataclass(frozen=True, eq=False)
class Strike:
    """What became of an attack on every row of one table."""

    hit: Mask
    released: Integers | None = None
    """The released row behind each guess; -1 where there is none."""


@dataclass(frozen=True, eq=False)
class Way:
    """One way to attack people one by one: what it is called, what it takes and gives, and how it strikes."""

    name: str
    risk: Risk
    knows: str
    """What the attacker has, with its verb, to follow "an attacker who": "knows a person's age"."""
    does: str
    """What is achieved, to follow that: "guesses income"."""
    strike: Callable[[str], Strike]
    """Attack every row of ``train`` or of ``control``."""
    naive: Floats | float
    """The chance of blind guessing to succeed: of each training row, or one for all."""
    scope: str = ""
    describe: Callable[[int, bool], str] | None = None
    """As in ``Trace``."""
    detail: dict[str, Any] = field(default_factory=dict)
    """More numbers for the finding."""
    known: str = ""
    """As in ``Finding``; empty where it is what the attacker of the case holds."""


class Attack(Audit):
    """An attack on people one by one. It names its ways; the judging is done here, and is the same for all."""

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding for each way."""
        return [self._judged(case, way) for way in self.ways(case, rng)]

    @abstractmethod
    def ways(self, case: Case, rng: np.random.Generator) -> Iterable[Way | Finding]:
        """The ways to attack this case; a finding in place of one says why a way cannot be gone."""

    def _judged(self, case: Case, way: Way | Finding) -> Finding:
        if isinstance(way, Finding):
            return way
        ours, others = way.strike("train"), way.strike("control")
        naive = float(np.mean(case.people("train").chance(way.naive)))
        trace = Trace.of(case, ours.hit, others.hit, ours.released, way.describe)
        scenario = Scenario(name=way.name, scope=way.scope, risk=way.risk, knows=way.knows, does=way.does, known=way.known)
        return judge(trace, scenario, naive=naive, detail=way.detail)


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """An attack in words: what it is called, which risk it is an instance of, what the attacker knows and does."""

    name: str
    scope: str = ""
    risk: Risk
    knows: str
    """What the attacker has, with its verb, to follow "an attacker who": "knows a person's age"."""
    does: str
    """What is achieved, to follow that: "guesses income"."""
    whom: str = "people"
    """What is counted, if not people."""
    known: str = ""
    """As in ``Way``."""

    def sentence(self, rate: float, control: float, naive: float | None, p: float = 1.0) -> str:
        """What the attack achieves, for a reader who decides. Not to beat blind guessing shows nothing, unless ``p`` is small."""
        ours, others, blind = map(of_hundred, (rate, control, naive or 0.0))
        text = f"an attacker who {self.knows} {self.does} for {ours} {self.whom} in the table, against {others} who are not in it"
        if naive is None:
            return text
        text += f" ({blind} by blind guessing)"
        if rate > naive or p <= DOUBT:
            return text
        return f"{text}: no better than blind guessing, so it shows neither risk nor safety"


def judge(
    trace: Trace,
    scenario: Scenario,
    *,
    naive: float | None,
    p: float | None = None,
    level: float = LEVEL,
    detail: dict[str, Any] | None = None,
) -> Finding:
    """The gain r - c of an attack and its residual risk (r - c)/(1 - c); Fisher's test unless ``p`` brings a better one.

    The gain is that of the observed rates. In the residual risk both rates are the centres of Wilson's intervals.
    These lean towards one half, the more the fewer rows there are. Where the tables differ in size the value is
    that of a paired subsample of the smaller size, in expectation; the interval is that of all rows (``residual_bounds``).

    ``naive`` is the chance of blind guessing to succeed; None where there is none to compare with.
    """
    ours, others = int(trace.train.sum()), int(trace.control.sum())
    n, m = len(trace.train), len(trace.control)
    attack, control = wilson(ours, n, level), wilson(others, m, level)
    left = _paired(residual_risk(attack, control), ours, n, others, m, level)
    rate, rest = _rate(ours, n), _rate(others, m)
    exact = clopper_pearson(ours, n, level), clopper_pearson(others, m, level)
    p = fisher(ours, n, others, m) if p is None else p
    return Finding(
        name=scenario.name, scope=scenario.scope, value=left.value, low=left.low, high=left.high, baseline=0.0,
        better=Better.LOWER, subject=Subject.PRIVACY, n=n, risk=scenario.risk, known=scenario.known,
        gain=gain(observed(ours, n, level), observed(others, m, level)),
        p=p,
        note=scenario.sentence(rate, rest, naive, p),
        detail={
            "hits": ours, "attempts": n, "control_hits": others, "control_attempts": m,
            "rate": attack.value, "rate_low": attack.low, "rate_high": attack.high,
            "control_rate": control.value, "control_low": control.low, "control_high": control.high,
            "exact": [exact[0].low, exact[0].high], "control_exact": [exact[1].low, exact[1].high],
            "naive": naive, **(detail or {}),
        },
        trace=trace,
    )  # fmt: skip


def of_hundred(share: float) -> str:
    """A share as people count, with one base for all: of 100."""
    return "fewer than 0.01 of 100" if 0 < share < 1e-4 else f"{_digits(100 * share)} of 100"


def _digits(number: float) -> str:
    """Three digits, and never a whole that is not one: 99.95 is not 100."""
    if number >= 1000:
        return f"{number:,.0f}"
    text = f"{number:.3g}"
    return text if float(text) < 100 or number >= 100 else f"{number:.6g}"


def _paired(left: Rate, ours: int, n: int, others: int, m: int, level: float) -> Rate:
    """The risk as of equal sizes, in an interval that holds where they are not."""
    size = min(n, m)
    if n == m or not size:
        return left
    low, high = residual_bounds(observed(ours, n, level), observed(others, m, level))
    value = residual_risk(wilson(ours * size / n, size, level), wilson(others * size / m, size, level)).value
    # Where the control does better, as far above zero as below: not to see an excess is not to know that there is none.
    high = max(high, left.high)
    return Rate(min(max(value, low), high), low, high)


def _rate(hits: int, attempts: int) -> float:
    return hits / attempts if attempts else 0.0
