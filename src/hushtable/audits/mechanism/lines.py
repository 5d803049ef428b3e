"""The lines of a mechanism audit as typed values: what is stated, the lower bounds that were shown, and the verdict.

``to_json`` and ``from_json`` are the form of ``mechanism.json``, whose keys are fixed: saved audits must still load.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

LEDGER, VOID, CLAIM, NOBODY = "the ledger", "the ledger, whose proof is void", "a publication's claim", "nobody"
"""Who states an epsilon. Only the first is a proof, and only of it may be said that epsilon is "at most" so much."""

TOO_FEW = "too few runs"

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Stated:
    """The privacy parameters under test: who states them, and for which neighbouring tables."""

    source: str
    """One of ``LEDGER``, ``VOID``, ``CLAIM`` and ``NOBODY``."""
    epsilon: float
    delta: float
    rho: float | None = None
    """Of zero-concentrated differential privacy, where the ledger states one."""
    mu: float | None = None
    """Of Gaussian differential privacy, where all noise is Gaussian."""
    claimed: float | None = None
    """The epsilon that a publication claims, where the ledger proves none."""
    relation: str = ""
    unit: str = ""
    public: tuple[str, ...] = ()
    """What is assumed to be public."""

    @property
    def proven(self) -> bool:
        """Whether the ledger proves it."""
        return self.source == LEDGER

    def of(self, parameter: str) -> float | None:
        """The stated value of ``mu`` or ``rho``."""
        return {"mu": self.mu, "rho": self.rho}[parameter]

    def to_json(self) -> Json:
        """As a line holds it."""
        plain: Json = {"relation": self.relation, "unit": self.unit, "public": list(self.public), "source": self.source}
        plain |= {"epsilon_stated": self.epsilon, "delta": self.delta}
        if self.source not in (LEDGER, VOID):
            plain["claimed"] = self.claimed
        return plain | {"rho": self.rho, "mu": self.mu}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Stated:
        """Read from a line."""
        same = {name: plain.get(name) for name in ("rho", "mu", "claimed")}
        return cls(
            source=plain["source"], epsilon=plain["epsilon_stated"], delta=plain["delta"], relation=plain["relation"],
            unit=plain["unit"], public=tuple(plain["public"]), **same,
        )  # fmt: skip


@dataclass(frozen=True)
class Guess:
    """The guesser behind a bound, and how often it was wrong on the runs that judged it."""

    score: str
    threshold: float
    above: bool
    """Whether it says "in" at or above the threshold; else below it."""
    false: int
    """How often it said "in" of a run without the canary."""
    missed: int
    """How often it said "out" of a run with the canary."""


@dataclass(frozen=True)
class Bound:
    """A lower bound of one privacy parameter."""

    value: float
    ceiling: float
    """The largest bound that so many runs could have shown."""
    guess: Guess | None = None
    """None where no guesser was better than chance."""


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """The lower bounds that one audit showed."""

    epsilon: Bound
    evaluated: int
    """Runs in each world, or guesses of one run, that judged the guesser."""
    tail: float | None = None
    """The probability with which each limit may fail; None of one run."""
    other: tuple[str, Bound] | None = None
    """``mu`` or ``rho``, and its bound."""
    guesses: int | None = None
    """Of one run: how many guesses were made."""
    right: int | None = None
    """And how many of them were right."""

    def of(self, parameter: str) -> Bound | None:
        """The bound of ``mu`` or ``rho``, if there is one."""
        return self.other[1] if self.other is not None and self.other[0] == parameter else None

    def to_json(self) -> Json:
        """As a line holds it."""
        plain: Json = {"evaluated": self.evaluated, "ceiling": self.epsilon.ceiling, "epsilon_lb": self.epsilon.value}
        if self.guesses is not None:
            return plain | {"guesses": self.guesses, "right": self.right}
        plain |= {"tail": self.tail, "guess_epsilon": _plain(self.epsilon.guess)}
        if self.other is not None:
            name, bound = self.other
            plain |= {f"{name}_lb": bound.value, f"guess_{name}": _plain(bound.guess), f"{name}_ceiling": bound.ceiling}
        return plain

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Bounds:
        """Read from a line."""
        name = next((name for name in ("mu", "rho") if f"{name}_lb" in plain), None)
        other = None if name is None else (name, _bound(plain, name, plain[f"{name}_ceiling"]))
        return cls(
            epsilon=_bound(plain, "epsilon", plain["ceiling"]), evaluated=plain["evaluated"], tail=plain.get("tail"), other=other,
            guesses=plain.get("guesses"), right=plain.get("right"),
        )  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """Whether what is stated was refuted, in words and as facts."""

    text: str
    refuted: bool = False
    too_few: bool = False
    """Whether so few runs could not have refuted it, whatever the guesser."""


@dataclass(frozen=True, kw_only=True)
class CanaryLine:
    """What the audit showed with one canary, or why it could not be run."""

    canary: str
    description: str
    rows: int
    verdict: Verdict
    why: str = ""
    """Why it was not tested."""
    stated: Stated | None = None
    bounds: Bounds | None = None
    """None where it was not tested."""
    runs: int = 0
    seconds: float = 0.0
    seconds_per_run: float | None = None
    unreleased: int | None = None
    """Runs that ended without a release."""
    claims: tuple[str, ...] = field(default=())

    @property
    def tested(self) -> bool:
        """Whether there are bounds."""
        return self.bounds is not None

    @property
    def refuted(self) -> bool:
        """Whether what is stated was refuted."""
        return self.verdict.refuted

    @property
    def too_few(self) -> bool:
        """Whether so few runs could not have refuted it, whatever the guesser."""
        return self.verdict.too_few

    @property
    def label(self) -> str:
        """The verdict in a word or two."""
        return label_of([self], refuted=self.refuted)

    @property
    def result(self) -> tuple[Stated, Bounds]:
        """What is stated and the bounds that were shown, of a canary that was tested."""
        assert self.stated is not None, "it was not tested"
        assert self.bounds is not None, "it was not tested"
        return self.stated, self.bounds

    @property
    def excess(self) -> float:
        """The lower bound of epsilon over what is stated: above 1 it is refuted; 0 where it was not tested."""
        if self.stated is None or self.bounds is None:
            return 0.0
        return self.bounds.epsilon.value / max(self.stated.epsilon, 1e-12)

    def to_json(self) -> Json:
        """As ``mechanism.json`` holds it."""
        plain: Json = {"canary": self.canary, "told": self.description, "rows": self.rows}
        verdict: Json = {"refuted": self.refuted, "verdict": self.verdict.text}
        if self.stated is None or self.bounds is None:
            return plain | verdict | {"why": self.why}
        plain |= self.stated.to_json() | self.bounds.to_json() | {"runs": self.runs, "seconds": self.seconds}
        if self.seconds_per_run is not None:
            plain |= {"seconds_per_run": self.seconds_per_run, "unreleased": self.unreleased}
        if self.verdict.too_few:
            verdict["too_few"] = True
        return plain | {"claims": list(self.claims)} | verdict

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> CanaryLine:
        """Read from ``mechanism.json``."""
        verdict = Verdict(plain["verdict"], plain["refuted"], plain.get("too_few", False))
        tested = "epsilon_lb" in plain
        return cls(
            canary=plain["canary"], description=plain["told"], rows=plain["rows"], verdict=verdict, why=plain.get("why", ""),
            stated=Stated.from_json(plain) if tested else None, bounds=Bounds.from_json(plain) if tested else None,
            runs=plain.get("runs", 0), seconds=plain.get("seconds", 0.0), seconds_per_run=plain.get("seconds_per_run"),
            unreleased=plain.get("unreleased"), claims=tuple(plain.get("claims", ())),
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """The largest change of a query over neighbouring tables, beside what is stated of it."""

    l1: float
    l2: float
    most: float
    """The largest change of one number of the answer."""
    coordinates: int
    """The most numbers of the answer that one record changes."""
    neighbours: int
    """How many neighbouring tables were tried."""
    stated: Mapping[str, float]
    """``l1``, ``l2`` and ``coordinates`` of a query; ``most`` of scores."""
    holds: bool


@dataclass(frozen=True, kw_only=True)
class QueryLine:
    """The queries of one kind: how many were tried, and the worst of them."""

    query: str
    tried: int
    worst: Sensitivity

    @property
    def holds(self) -> bool:
        """Whether every query of this kind changes as little as is stated."""
        return self.worst.holds

    def to_json(self) -> Json:
        """As ``mechanism.json`` holds it."""
        return {"question": self.query, "tried": self.tried} | asdict(self.worst) | {"stated": dict(self.worst.stated)}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> QueryLine:
        """Read from ``mechanism.json``."""
        names = ("l1", "l2", "most", "coordinates", "neighbours", "stated", "holds")
        return cls(query=plain["question"], tried=plain["tried"], worst=Sensitivity(**{name: plain[name] for name in names}))


def label_of(tested: Iterable[CanaryLine], *, refuted: bool) -> str:
    """The verdict on canaries in a word or two: so few runs that not even guesses that are all right could refute say nothing."""
    if refuted:
        return "refuted"
    return TOO_FEW if all(line.too_few for line in tested) else "not refuted"


def _plain(guess: Guess | None) -> Json | None:
    return None if guess is None else asdict(guess)


def _bound(plain: Mapping[str, Any], name: str, ceiling: float) -> Bound:
    guess = plain.get(f"guess_{name}")
    return Bound(plain[f"{name}_lb"], ceiling, None if guess is None else Guess(**guess))
