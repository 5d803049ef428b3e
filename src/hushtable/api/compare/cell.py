"""One cell of a comparison: a recipe at one setting, what its release promises, what attacks gained, what it is good for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from hushtable.evidence.finding import Better
from hushtable.evidence.verdict import STRENGTH
from hushtable.privacy.guarantee import Assurance
from hushtable.table.lenient import finite, mapping, texts, whole

WIDE = 0.2
"""An interval that reaches further than this says that the number is hardly known."""
GAP = "The proof of its source has a gap: "


@dataclass(frozen=True)
class Estimate:
    """A number with its interval; None in place of an end that is not known."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def lower(self) -> float:
        """The lower end, or the value where there is none."""
        return self.value if self.low is None else self.low

    @property
    def upper(self) -> float:
        """The upper end, or the value where there is none."""
        return self.value if self.high is None else self.high

    def overlaps(self, other: Estimate) -> bool:
        """Whether the two intervals have a point in common; where an end is not known they are not said to."""
        if self.low is None or self.high is None or other.low is None or other.high is None:
            return False
        return self.low <= other.high and other.low <= self.high

    def to_json(self) -> dict[str, Any]:
        """As a file holds it."""
        return {"value": self.value, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Score(Estimate):
    """What the release scores on the measure that cells are ranked by."""

    @property
    def hardly_known(self) -> bool:
        """Whether its interval is so wide that little is known."""
        return self.upper - self.lower > WIDE

    @classmethod
    def from_json(cls, given: object) -> Score | None:
        """Read it back; None if there is no value."""
        value, low, high = _numbers(given)
        return None if value is None else cls(value, low, high)


@dataclass(frozen=True)
class WorstAttack(Estimate):
    """The attack whose upper bound is largest, and what it gained on people in the table."""

    name: str = ""
    kind: str = ""
    """Which of the three risks of the Article 29 Working Party it is an instance of."""

    @property
    def hardly_known(self) -> bool:
        """Whether much more than was measured cannot be excluded."""
        return self.upper - self.value > WIDE

    def to_json(self) -> dict[str, Any]:
        """As a file holds it."""
        return super().to_json() | {"name": self.name, "kind": self.kind}

    @classmethod
    def from_json(cls, given: object) -> WorstAttack | None:
        """Read it back; None if there is no value."""
        value, low, high = _numbers(given)
        named = mapping(given)
        return None if value is None else cls(value, low, high, str(named.get("name") or ""), str(named.get("kind") or ""))


@dataclass(frozen=True)
class WorstGain(WorstAttack):
    """On how many more people in the table than outside it attacks succeed (r - c), as a share: two numbers, of two attacks.

    ``value`` is the worst that was measured, never negative: the largest gain of an attack that raised an alarm, else of any;
    ``low``, ``name`` and ``kind`` are of that attack. ``high`` is what cannot be excluded of any attack, as in the headline of an
    audit: the largest upper bound, or what an audit of this size reads where nothing leaks, if that is more.
    """

    alarm: bool = False
    """Whether the attack with the worst measured gain raised an alarm."""
    bounded_by: str = ""
    """The attack with the largest upper bound."""
    measured: float = 0.0
    """The gain that was measured of the attack with the largest upper bound; it may be negative."""
    outside: float | None = None
    """The rate of that attack on people outside."""
    bound: float | None = None
    """The largest upper bound itself, by which conditions are judged; None in a file of a version that had only ``high``."""

    @property
    def widest(self) -> float:
        """The largest upper bound of any attack."""
        return self.upper if self.bound is None else self.bound

    def to_json(self) -> dict[str, Any]:
        """As a file holds it."""
        more = {"alarm": self.alarm, "bounded_by": self.bounded_by, "measured": self.measured, "outside": self.outside}
        return super().to_json() | more | {"bound": self.bound}

    @classmethod
    def from_json(cls, given: object) -> WorstGain | None:
        """Read it back; None if there is no value."""
        worst, named = WorstAttack.from_json(given), mapping(given)
        if worst is None:
            return None
        return cls(
            max(0.0, worst.value), worst.low, worst.high, worst.name, worst.kind, bool(named.get("alarm")),
            str(named.get("bounded_by") or ""), finite(named.get("measured")) or 0.0, finite(named.get("outside")),
            finite(named.get("bound")),
        )  # fmt: skip


@dataclass(frozen=True)
class MeasureValue:
    """One measure of utility, the mean over runs, beside that of fresh real rows."""

    value: float | None
    baseline: float | None
    better: str

    def to_json(self) -> dict[str, Any]:
        """As a file holds it."""
        return {"value": self.value, "baseline": self.baseline, "better": self.better}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> MeasureValue:
        """Read it back."""
        return cls(finite(given.get("value")), finite(given.get("baseline")), str(given.get("better") or Better.LOWER))


@dataclass(frozen=True)
class GuaranteeSummary:
    """The numbers of what is promised; None where there is no such promise."""

    epsilon: float | None = None
    """The proven epsilon."""
    delta: float | None = None
    k: float | None = None
    """The k verified on the release itself over all its quasi-identifiers."""
    bound: float | None = None
    """The epsilon, fixed before, that no course of the run could exceed, where noisy answers decided its course."""

    def to_json(self) -> dict[str, Any]:
        """As a file holds it."""
        return {"epsilon": self.epsilon, "delta": self.delta, "k": self.k, "bound": self.bound}

    @classmethod
    def from_json(cls, given: object) -> GuaranteeSummary:
        """Read it back."""
        numbers = mapping(given)
        return cls(*(finite(numbers.get(key)) for key in ("epsilon", "delta", "k", "bound")))


class MissKind(StrEnum):
    """Why a condition does not hold."""

    LIMIT = "limit"
    """What is known misses the limit."""
    BLIND = "blind"
    """What was measured keeps the limit, but with so few people more cannot be excluded."""
    UNKNOWN = "unknown"
    """Nothing was measured that could answer it."""
    VOID = "void"
    """The audit itself does not count."""


@dataclass(frozen=True)
class Miss:
    """A condition that a release does not keep, and why."""

    condition: str
    """The name that the condition bounds, such as ``max_risk``; empty in a file that holds the words only."""
    reason: str
    kind: MissKind = MissKind.LIMIT

    def __str__(self) -> str:
        """In words."""
        return f"{self.condition}: {self.reason}" if self.condition else self.reason

    def to_json(self) -> dict[str, Any]:
        """As a file holds it."""
        return {"condition": self.condition, "reason": self.reason, "kind": str(self.kind)}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Miss:
        """Read it back."""
        kind = given.get("kind")
        known = MissKind(kind) if kind in list(MissKind) else MissKind.LIMIT
        return cls(str(given.get("condition") or ""), str(given.get("reason") or ""), known)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A recipe at one setting: its promise, what attacks gained, what it is good for, and whether it keeps what was asked."""

    id: str
    """How people call it: ``mdav k=10``."""
    recipe: str
    title: str = ""
    cite: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    """The knobs that were set."""
    epsilon: float | None = None
    """The budget it was given, if it is differentially private."""
    delta: float | None = None
    runs: int = 0
    assurance: Assurance = Assurance.NONE
    promise: str = "nothing"
    """What it promises in words, each promise with its evidence."""
    guarantee: GuaranteeSummary = field(default_factory=GuaranteeSummary)
    risk: WorstAttack | None = None
    """The largest residual risk, (r - c)/(1 - c), of any attack in any run; None if it was not attacked."""
    risks: Mapping[str, WorstAttack] = field(default_factory=dict)
    """The same for each kind."""
    gain: WorstGain | None = None
    """What attacks gained in all runs, r - c; None if it was not attacked, or in a file of a version that did not save it."""
    gains: Mapping[str, WorstGain] = field(default_factory=dict)
    """The same for each kind."""
    alarms: int = 0
    tests: int = 0
    void: tuple[str, ...] = ()
    """Why its audit does not count."""
    score: Score | None = None
    measures: Mapping[str, MeasureValue] = field(default_factory=dict)
    rows: int | None = None
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    """What the steps of its recipe report."""
    gaps: tuple[str, ...] = ()
    """Where the proof of its source fails."""
    fits: bool = False
    """Whether it keeps every condition in a valid audit."""
    misses: tuple[Miss, ...] = ()
    front: bool = False
    """Whether no other cell has both a smaller upper bound of what attacks gain and a larger score."""
    rank: int = 0
    """Its place in the order of all cells, from 1."""
    failed: str = ""
    """Why there is no release; empty if there is one."""

    @property
    def worst(self) -> WorstAttack | None:
        """What attacks gained; the residual risk where a file holds no gain."""
        return self.risk if self.gain is None else self.gain

    @property
    def worst_by_kind(self) -> Mapping[str, WorstAttack]:
        """The same for each kind."""
        return self.risks if self.gain is None else self.gains

    @property
    def risk_known(self) -> bool:
        """Whether what attacks measured counts: it was attacked, and its audit is valid."""
        return self.worst is not None and not self.void

    @property
    def nominal_epsilon(self) -> float | None:
        """The budget it was given, else the epsilon that is proven."""
        return self.guarantee.epsilon if self.epsilon is None else self.epsilon

    @property
    def strength(self) -> int:
        """How much stands behind its promise."""
        return STRENGTH[self.assurance]

    @property
    def strictness(self) -> tuple[float, float]:
        """The kind of evidence, and within a kind the smaller epsilon or the larger k: larger is stricter."""
        if self.assurance is Assurance.PROVEN:
            return self.strength, -(self.guarantee.epsilon or 0.0)
        return self.strength, self.guarantee.k or 0.0

    @property
    def promise_sentence(self) -> str:
        """What it promises, as a sentence."""
        if not self.promise or self.promise == "nothing":
            return "It promises nothing: only the attacks show how safe it is."
        return f"It promises {self.promise}."

    @property
    def remarks(self) -> tuple[str, ...]:
        """Everything that is noted about it, the gaps in the proof of its source included."""
        return (*self.notes, *(f"{GAP}{gap}" for gap in self.gaps))

    def to_json(self) -> dict[str, Any]:
        """As ``comparison.json`` holds it."""
        return {
            "id": self.id,
            "recipe": self.recipe,
            "title": self.title,
            "cite": self.cite,
            "settings": dict(self.settings),
            "epsilon": self.epsilon,
            "delta": self.delta,
            "runs": self.runs,
            "assurance": str(self.assurance),
            "promise": self.promise,
            "guarantee": self.guarantee.to_json(),
            "risk": self.risk and self.risk.to_json(),
            "risks": {kind: worst.to_json() for kind, worst in self.risks.items()},
            "gain": self.gain and self.gain.to_json(),
            "gains": {kind: worst.to_json() for kind, worst in self.gains.items()},
            "alarms": self.alarms,
            "tests": self.tests,
            "void": list(self.void),
            "score": self.score and self.score.to_json(),
            "measures": {name: measure.to_json() for name, measure in self.measures.items()},
            "rows": self.rows,
            "seconds": self.seconds,
            "notes": list(self.remarks),
            "gaps": list(self.gaps),
            "fits": self.fits,
            "misses": [str(miss) for miss in self.misses],
            "missed": [miss.to_json() for miss in self.misses],
            "front": self.front,
            "rank": self.rank,
            "failed": self.failed,
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Cell:
        """Read it back from a file; what is missing there, or is no such value, is empty."""
        failed = str(given.get("failed") or "")
        assurance = given.get("assurance")
        risks = {str(kind): WorstAttack.from_json(worst) for kind, worst in mapping(given.get("risks")).items()}
        gains = {str(kind): WorstGain.from_json(worst) for kind, worst in mapping(given.get("gains")).items()}
        gaps = texts(given.get("gaps"))
        marked = [f"{GAP}{gap}" for gap in gaps]
        return cls(
            id=str(given.get("id") or ""),
            recipe=str(given.get("recipe") or ""),
            title=str(given.get("title") or ""),
            cite=str(given.get("cite") or ""),
            settings={str(knob): str(value) for knob, value in mapping(given.get("settings")).items()},
            epsilon=finite(given.get("epsilon")),
            delta=finite(given.get("delta")),
            runs=whole(given.get("runs")) or 0,
            assurance=Assurance(assurance) if assurance in list(Assurance) else Assurance.NONE,
            promise=str(given.get("promise") or ""),
            guarantee=GuaranteeSummary.from_json(given.get("guarantee")),
            risk=WorstAttack.from_json(given.get("risk")),
            risks={kind: worst for kind, worst in risks.items() if worst is not None},
            gain=WorstGain.from_json(given.get("gain")),
            gains={kind: worst for kind, worst in gains.items() if worst is not None},
            alarms=whole(given.get("alarms")) or 0,
            tests=whole(given.get("tests")) or 0,
            void=texts(given.get("void")),
            score=Score.from_json(given.get("score")),
            measures={
                str(name): MeasureValue.from_json(measure)
                for name, measure in mapping(given.get("measures")).items()
                if isinstance(measure, Mapping)
            },
            rows=whole(given.get("rows")),
            seconds=finite(given.get("seconds")) or 0.0,
            notes=tuple(note for note in texts(given.get("notes")) if note not in marked),
            gaps=gaps,
            fits=bool(given.get("fits")) and not failed,
            misses=_misses(given),
            front=bool(given.get("front")) and not failed,
            rank=whole(given.get("rank")) or 0,
            failed=failed,
        )


def in_one_unit(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    """The cells, all with their gains or none: where one that was attacked has none, only residual risks can be compared."""
    if all(cell.risk is None or cell.gain is not None for cell in cells):
        return tuple(cells)
    return tuple(replace(cell, gain=None, gains={}) for cell in cells)


def _misses(given: Mapping[str, Any]) -> tuple[Miss, ...]:
    """The misses of a cell; a file of version 0.1.0 holds their words only."""
    typed = given.get("missed")
    if isinstance(typed, list):
        return tuple(Miss.from_json(one) for one in typed if isinstance(one, Mapping))
    return tuple(Miss("", text) for text in texts(given.get("misses")))


def _numbers(given: object) -> tuple[float | None, float | None, float | None]:
    numbers = mapping(given)
    return finite(numbers.get("value")), finite(numbers.get("low")), finite(numbers.get("high"))
