"""A finding: one number about a release, with its interval, its baseline and its direction."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hushtable.display import Shown
from hushtable.evidence.confidence import Gain, gain, observed
from hushtable.evidence.known import ALL, knowing
from hushtable.table import lenient
from hushtable.table.arrays import Integers, Mask

if TYPE_CHECKING:
    # A case brings compiled searches with it, which a finding does not need.
    from hushtable.evidence.case import Case
    from hushtable.evidence.looks import Look


class Better(StrEnum):
    """Which way is good."""

    LOWER = "lower"
    HIGHER = "higher"


class Subject(StrEnum):
    """What a finding is about."""

    PRIVACY = "privacy"
    UTILITY = "utility"


class Risk(StrEnum):
    """What an anonymous table must not allow: the three risks of the Article 29 Working Party (opinion 05/2014).

    Copies of a record, and knowing that a person is in the table at all, count as singling out.
    """

    SINGLING_OUT = "singling out"
    LINKABILITY = "linkability"
    INFERENCE = "inference"


@dataclass(frozen=True, eq=False)
class Trace:
    """Whom an attack hit. It identifies records and groups, lives in memory only, and is never part of a saved finding."""

    train: Mask
    """For each attempt on the training side, whether it succeeded."""
    control: Mask
    """The same on the control side."""
    persons: Integers
    """The training row that each attempt of ``train`` is about, -1 where it is about nobody in particular.

    Where a person holds several rows it is the first of them, whichever was hit.
    """
    control_persons: Integers
    """The control row that each attempt of ``control`` is about."""
    released: Integers | None = None
    """For each attempt of ``train`` the released row that gives the person away; -1 where there is none."""
    describe: Callable[[int, bool], str] | None = None
    """What the attacker used in an attempt of ``train``, in words; values of rows only if the second argument is true."""

    @classmethod
    def of(
        cls,
        case: Case,
        train: Mask,
        control: Mask,
        released: Integers | None = None,
        describe: Callable[[int, bool], str] | None = None,
    ) -> Trace:
        """Of an attack on every row of both sides: one attempt a person, hit if any of their rows is, by the first that is."""
        ours, others = case.sides
        at = ours.strongest(train)
        return cls(
            train[at], others.any(control), ours.first, others.first, None if released is None else released[at],
            describe and (lambda attempt, values: describe(int(at[attempt]), values)),
        )  # fmt: skip

    @property
    def one_by_one(self) -> bool:
        """Whether each attempt is about one person, and each person is attacked once."""
        sides = (self.persons, self.control_persons)
        return all(len(side) > 0 and side.min() >= 0 and np.bincount(side).max() == 1 for side in sides)


@dataclass(frozen=True, kw_only=True)
class Finding(Shown):
    """What an audit found. ``value`` is None where it could not be computed, and ``note`` says why."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    baseline: float | None = None
    """The same number for people who are not in the table, or for real data: what no release can beat."""
    baseline_bad: float | None = None
    """The end of the baseline's own interval that excuses most: only beyond it is a finding surely worse."""
    better: Better
    ideal: float | None = None
    """The best value, where that is not an end of the range: on either side of it, further away is worse."""
    subject: Subject
    n: int
    """How many rows, or columns, or pairs it rests on."""
    note: str
    """One sentence for the reader: what it means here."""
    scope: str = ""
    """The column or pair it is about; empty for the whole table."""
    known: str = ""
    """What the attacker holds: ``quasi``, ``all``, or columns joined by a comma; empty where that does not matter.

    What is less than all is part of the scope too, so that name and scope still identify a finding."""
    span: tuple[float | None, float | None] | None = None
    """The least and the largest value there can be; None in place of one that has no bound."""
    risk: Risk | None = None
    """For an attack: which of the three risks it is an instance of. Its value is then a residual risk from 0 to 1."""
    gain: Gain | None = None
    """For an attack: on how many more people in the table it succeeds than on people outside it, r - c."""
    p: float | None = None
    """How likely a result this bad is if training and control rows are alike to the release: an exact one-sided test."""
    reserved: float = 0.0
    """The share of the allowed error of all tests of an audit that is reserved for this one, which many others would drown.

    Fixed before any value is known; 0 for an equal share of what is left."""
    p_adjusted: float | None = None
    """The same, corrected for all tests of the audit (Holm); set by the harness."""
    detectable: float | None = None
    """The smallest planted leak that this finding would have noticed; set by the power study."""
    audit: str = ""
    """The registered name of the audit that found it; set by the harness."""
    seconds: float = 0.0
    detail: dict[str, Any] = field(default_factory=dict)
    """What a plot needs: histograms, matrices; never a row."""
    trace: Trace | None = field(default=None, repr=False, compare=False)
    """Whom it hit; never saved."""

    @property
    def label(self) -> str:
        """Name and scope, and what the attacker holds."""
        return ", ".join(part for part in (self.name, self.scope, knowing(ALL) if self.known == ALL else "") if part)

    def to_json(self) -> dict[str, Any]:
        """Plain values, without the trace; numbers that are not finite become None."""
        return {f.name: _plain(getattr(self, f.name)) for f in fields(self) if f.name != "trace"}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Finding:
        """Read it back. A missing key has its default, and a number that is missing or not finite is None."""
        number = {key: lenient.finite(value) for key, value in plain.items()}
        span = plain.get("span")
        return cls(
            name=lenient.text(plain.get("name")),
            scope=lenient.text(plain.get("scope")),
            known=lenient.text(plain.get("known")),
            note=lenient.text(plain.get("note")),
            audit=lenient.text(plain.get("audit")),
            value=number.get("value"),
            low=number.get("low"),
            high=number.get("high"),
            baseline=number.get("baseline"),
            baseline_bad=number.get("baseline_bad"),
            ideal=number.get("ideal"),
            p=number.get("p"),
            p_adjusted=number.get("p_adjusted"),
            detectable=number.get("detectable"),
            better=Better.HIGHER if plain.get("better") == Better.HIGHER else Better.LOWER,
            subject=Subject.PRIVACY if plain.get("subject") == Subject.PRIVACY else Subject.UTILITY,
            risk=next((risk for risk in Risk if risk == plain.get("risk")), None),
            gain=_gain(plain),
            n=lenient.whole(plain.get("n")) or 0,
            span=(lenient.finite(span[0]), lenient.finite(span[1])) if isinstance(span, (list, tuple)) and len(span) == 2 else None,
            reserved=number.get("reserved") or 0.0,
            seconds=number.get("seconds") or 0.0,
            detail=lenient.mapping(plain.get("detail")),
        )


class Audit(ABC):
    """A frozen dataclass of knobs that turns a case into findings."""

    subject: ClassVar[Subject] = Subject.PRIVACY
    """What all its findings are about: it is run as an attack on privacy, or as a measure of utility."""
    by_knowledge: ClassVar[bool] = False
    """Whether it attacks people by what is known of them (``Case.columns``), so that it is run for each attacker of a case."""
    costly: ClassVar[bool] = False
    """Whether it runs only when it is named: it trains a network, or makes the release again many times."""
    sanity: ClassVar[bool] = False
    """Whether it checks the audit itself (the control, the columns compared) and attacks nobody."""

    unlisted: ClassVar[str] = "looks at all released rows together"
    """Why it cannot be run on the rows of a release that come into question for some people, where it cannot."""

    @abstractmethod
    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """The findings about this case."""

    def looks(self, case: Case, rng: np.random.Generator) -> Iterable[Look] | None:
        """All that it looks for in the release, with the random numbers that ``run`` is given; None where that is more than looks.

        What is found on the rows that these name must then be what is found on the whole release.
        """
        return None


class Utility(Audit):
    """An audit that measures what a release is good for."""

    subject = Subject.UTILITY


def uncomputed(name: str, n: int, note: str, *, scope: str = "", subject: Subject = Subject.PRIVACY, **more: Any) -> Finding:
    """A finding without a value: what could not be computed, and why."""
    better = Better.LOWER if subject is Subject.PRIVACY else Better.HIGHER
    return Finding(name=name, scope=scope, value=None, better=better, subject=subject, n=n, note=note, **more)


def _gain(plain: Mapping[str, Any]) -> Gain | None:
    """The gain of a saved finding; a file of a version that saved none has the counts that it follows from."""
    saved = [lenient.finite(lenient.mapping(plain.get("gain")).get(f.name)) for f in fields(Gain)]
    numbers = [number for number in saved if number is not None]
    if len(numbers) == len(saved):
        return Gain(*numbers)
    detail = lenient.mapping(plain.get("detail"))
    hits, attempts, others, size = (lenient.finite(detail.get(k)) for k in ("hits", "attempts", "control_hits", "control_attempts"))
    if plain.get("risk") is None or hits is None or others is None or not attempts or not size:
        return None
    trials = lenient.finite(detail.get("independent"))
    sides = ((hits / attempts, trials or attempts), (others / size, trials or size))
    return gain(*(observed(rate * rows, rows) for rate, rows in sides))


def _plain(value: Any) -> Any:
    if isinstance(value, Gain):
        return asdict(value)
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, StrEnum) else value
