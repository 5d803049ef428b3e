"""A comparison as its page reads it: plain values made safe, in the order of their rank."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hushtable.report.promise import ASSURANCES
from hushtable.report.words import interval, number, share

_LIMIT = re.compile(r"\s*(max_risk|score)\s*(<=|<|>=|>)\s*([0-9.eE+-]+)\s*")


@dataclass(frozen=True)
class Estimate:
    """A number with its interval; what is missing or not finite is None."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    name: str = ""

    @classmethod
    def of(cls, told: object) -> Estimate:
        """From a mapping with value, low, high and name; anything else is an estimate of nothing."""
        given = told if isinstance(told, Mapping) else {}
        value, low, high = (finite(given.get(key)) for key in ("value", "low", "high"))
        return cls(value, low, high, str(given.get("name") or ""))

    @property
    def upper(self) -> float | None:
        """What it cannot be ruled out to be: the upper end, or the value where there is no interval."""
        return self.value if self.high is None else self.high

    @property
    def numbers(self) -> list[float]:
        """Everything a drawing of it must hold."""
        return [x for x in (self.value, self.low, self.high) if x is not None]

    def told(self, *, percent: bool = False) -> str:
        """The value and its interval in words."""
        value = share(self.value) if percent else number(self.value)
        gap = interval(self.low, self.high, percent=percent)
        return f"{value} ({gap})" if gap and self.value is not None else value


@dataclass(frozen=True)
class Trial:
    """One release that was tried: its promise, what attacks gained, what it is good for, and whether it fits."""

    number: int
    """Its place in the ranking: the number it bears in every drawing."""
    id: str
    recipe: str
    title: str
    cite: str
    settings: Mapping[str, Any]
    epsilon: float | None
    k: float | None
    runs: int
    assurance: str
    promise: str
    risk: Estimate
    risks: Mapping[str, Estimate]
    alarms: int | None
    tests: int | None
    void: Sequence[str]
    score: Estimate
    measures: Mapping[str, Mapping[str, Any]]
    rows: int | None
    seconds: float | None
    notes: Sequence[str]
    fits: bool
    misses: Sequence[str]
    front: bool
    failed: str

    @classmethod
    def of(cls, cell: Mapping[str, Any], at: int) -> Trial:
        """From one of the cells; a missing key is an empty value."""
        guarantee = cell.get("guarantee") or {}
        settings = cell.get("settings")
        settings = settings if isinstance(settings, Mapping) else {}
        epsilon = finite(cell.get("epsilon"))
        failed = str(cell.get("failed") or "")
        word = str(cell.get("assurance"))
        return cls(
            number=at,
            id=str(cell.get("id") or f"release {at}"),
            recipe=str(cell.get("recipe") or ""),
            title=str(cell.get("title") or ""),
            cite=str(cell.get("cite") or ""),
            settings=settings,
            epsilon=finite(guarantee.get("epsilon")) if epsilon is None else epsilon,
            k=finite(guarantee.get("k")),
            runs=int(finite(cell.get("runs")) or 0),
            assurance=word if word in ASSURANCES else "none",
            promise=str(cell.get("promise") or ""),
            risk=Estimate.of(cell.get("risk")),
            risks={str(k): Estimate.of(v) for k, v in (cell.get("risks") or {}).items()},
            alarms=whole(cell.get("alarms")),
            tests=whole(cell.get("tests")),
            void=texts(cell.get("void")),
            score=Estimate.of(cell.get("score")),
            measures={str(k): v for k, v in (cell.get("measures") or {}).items() if isinstance(v, Mapping)},
            rows=whole(cell.get("rows")),
            seconds=finite(cell.get("seconds")),
            notes=texts(cell.get("notes")),
            fits=bool(cell.get("fits")) and not failed,
            misses=texts(cell.get("misses")),
            front=bool(cell.get("front")) and not failed,
            failed=failed,
        )

    @property
    def anchor(self) -> str:
        """Where its line of the table is."""
        return f"release-{self.number}"

    @property
    def judged(self) -> bool:
        """Whether what the attacks say about it counts."""
        return self.risk.value is not None and not self.void

    def told(self, axis: Axis) -> str:
        """Its numbers in one text."""
        risk = f"risk {self.risk.told(percent=True)}" if self.risk.value is not None else "not attacked"
        worst = f", {self.risk.name}" if self.risk.name else ""
        void = "; the audit is void" if self.void else ""
        fits = "fits" if self.fits else f"misses {'; '.join(self.misses)}" if self.misses else "does not fit"
        return f"{self.number}. {self.id}: {risk}{worst}{void}; {axis.label} {self.score.told()}; {self.assurance}; {fits}"


@dataclass(frozen=True)
class Axis:
    """The measure of use that is compared."""

    name: str
    label: str
    meaning: str
    higher: bool
    baseline: float | None


@dataclass(frozen=True)
class Limit:
    """A constraint that is a line on the plane; nothing beyond it fits."""

    axis: str
    """``risk`` or ``score``."""
    value: float
    told: str


@dataclass(frozen=True)
class Trials:
    """All that was tried, the best first."""

    made: Mapping[str, Any]
    table: Mapping[str, Any]
    constraints: Sequence[tuple[str, str]]
    axis: Axis
    trials: Sequence[Trial]
    chosen: Trial | None
    words: Sequence[str]
    why: Sequence[str]
    caveats: Sequence[str]
    command: str
    others: Sequence[tuple[Trial | None, str]]
    searched: Sequence[tuple[str, str]]
    notes: Sequence[str]
    """What the comparison says of itself: what it left out, and why."""

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Trials:
        """From ``comparison.json``; what is missing is empty."""
        cells = sorted(told.get("cells") or [], key=_order)
        trials = [Trial.of(cell, at) for at, cell in enumerate(cells, 1)]
        by_id = {trial.id: trial for trial in trials}
        axis = told.get("utility") or {}
        advice = told.get("recommendation") or {}
        others = [o for o in advice.get("others") or [] if isinstance(o, Mapping) and o.get("words")]
        constraints = [c for c in told.get("constraints") or [] if isinstance(c, Mapping)]
        searched = [s for s in told.get("searched") or [] if isinstance(s, Mapping)]
        return cls(
            made=told.get("made") or {},
            table=told.get("table") or {},
            constraints=[(str(c.get("expression") or ""), str(c.get("told") or "")) for c in constraints],
            axis=Axis(
                name=str(axis.get("name") or "score"),
                label=str(axis.get("label") or axis.get("name") or "score"),
                meaning=str(axis.get("meaning") or ""),
                higher=axis.get("better") != "lower",
                baseline=finite(axis.get("baseline")),
            ),
            trials=trials,
            chosen=by_id.get(str(advice.get("id"))) if advice.get("id") is not None else None,
            words=texts(advice.get("words")),
            why=texts(advice.get("why")),
            caveats=texts(advice.get("caveats")),
            command=str(advice.get("command") or ""),
            others=[(by_id.get(str(o.get("id"))), str(o["words"])) for o in others],
            searched=[(str(s.get("recipe") or ""), str(s.get("words") or "")) for s in searched],
            notes=texts(told.get("notes")),
        )

    @property
    def ran(self) -> list[Trial]:
        """Those that gave a release."""
        return [t for t in self.trials if not t.failed]

    @property
    def failures(self) -> list[Trial]:
        """Those that did not."""
        return [t for t in self.trials if t.failed]

    @property
    def recipes(self) -> list[str]:
        """Recipes in the order of their best release: the place of one is the number of its colour."""
        return list(dict.fromkeys(t.recipe for t in self.trials))

    @property
    def limits(self) -> list[Limit]:
        """The constraints that can be drawn."""
        found = []
        for expression, told in self.constraints:
            match = _LIMIT.fullmatch(expression)
            value = finite(_float(match.group(3))) if match else None
            if match and value is not None:
                found.append(Limit("risk" if match.group(1) == "max_risk" else "score", value, told or expression))
        return found

    def better(self, one: Trial, other: Trial) -> bool:
        """Whether the score of one beats that of the other."""
        if one.score.value is None or other.score.value is None:
            return False
        return one.score.value > other.score.value if self.axis.higher else one.score.value < other.score.value


def finite(value: object) -> float | None:
    """A finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)


def whole(value: object) -> int | None:
    """A count, or None."""
    known = finite(value)
    return None if known is None else int(known)


def texts(value: object) -> list[str]:
    """A list of texts; one text is a list of itself."""
    if isinstance(value, str):
        return [value] if value else []
    return [str(x) for x in value if x] if isinstance(value, Iterable) else []


def _order(cell: Mapping[str, Any]) -> tuple[bool, float]:
    rank = finite(cell.get("rank"))
    return bool(cell.get("failed")), math.inf if rank is None else rank


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
