"""What a release promises: what is proven, what is verified on the table, what is only claimed, and what breaks it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from hushtable.display import Shown
from hushtable.privacy import accountant, event, pld
from hushtable.privacy.criteria import Counted
from hushtable.privacy.event import Gaussian, SampledGaussian
from hushtable.privacy.ledger import Entry, Ledger
from hushtable.privacy.preserve import Form, Promise, Syntactic
from hushtable.privacy.unit import Budget, Relation, Unit

KS = (Syntactic.K_ANONYMITY, Syntactic.K_MAP)
ROW_COUNT = "the exact number of rows"
PROVISO = "would be proven only if it had been chosen before looking at these rows"
"""What a proof is worth for a recipe that was chosen by looking at private rows: no budget has paid for the choice."""
LARGE = 10.0
"""Above this epsilon a proof says next to nothing: what is likely may be 22,000 times as likely, and more."""


class Assurance(StrEnum):
    """How we know."""

    PROVEN = "proven"
    """By a theorem whose conditions were checked while it ran: the ledger."""
    CLAIMED = "claimed"
    """A paper says so, and we know a gap in its proof."""
    VERIFIED = "verified"
    """Measured on the released table itself (k, l, t), or on the table it was derived from."""
    NONE = "none"
    """Nothing: only attacks can say what it is worth."""


class Void(StrEnum):
    """What takes a proof away, however carefully the rest was done."""

    DOMAIN_FROM_DATA = "a domain, bound, bin or category was read off the rows without paying for it"
    ROW_COUNT = "the number of released rows is a function of the raw number of rows"
    SEEDED_NOISE = "the noise, or a secret sample, came from a seed: whoever knows the seed takes it away again"
    FLOAT_NOISE = "the noise is a floating-point number, and its rounding leaks (Mironov 2012)"
    TUNED_ON_PRIVATE = "knobs were tuned on the private rows without paying for it"
    SAMPLING = "the sampling that was used is not the one that was accounted for"
    PUBLISHED_AUDIT = "an audit computed from the raw rows was published beside the release"


@dataclass(frozen=True)
class Claim:
    """What a publication states for its method, and where its proof fails."""

    statement: str
    gaps: tuple[str, ...]


@dataclass(frozen=True)
class Statement:
    """One promise of a release in a line, and the kind of evidence behind it."""

    text: str
    evidence: Assurance

    def __str__(self) -> str:
        """The promise, and in brackets how we know; a claim says that itself."""
        return self.text if self.evidence in (Assurance.CLAIMED, Assurance.NONE) else f"{self.text} ({self.evidence})"


@dataclass(frozen=True, kw_only=True)
class Guarantee(Shown):
    """Everything that can be said about a release, with the evidence kept apart by kind."""

    unit: Unit = field(default_factory=Unit)
    ledger: tuple[Entry, ...] = ()
    delta: float = 0.0
    promises: tuple[Promise, ...] = ()
    criteria: Mapping[str, Any] = field(default_factory=dict)
    """k, l and t as measured on the released table."""
    public: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    voids: tuple[Void, ...] = ()
    budget: Budget | None = None
    """What was asked for; with it the recipe can be planned again, and its plan held against the ledger."""
    bound: float | None = None
    """Where noisy answers decided which queries followed: the epsilon, fixed before, that no course of the run could exceed.

    What this one run happened to cost is then no guarantee; what all of them keep within is (a privacy filter: Feldman and Zrnic
    2021, Whitehouse, Ramdas, Rogers and Wu 2023; of a fixed list of queries, what the whole list costs: ``slots``).
    """
    factor: float = 1.0
    """So many times the rho that the closed form gives for the budget was spent, at an epsilon that the numerical accountant gives.

    Above 1 only where all queries that could be made were fixed before, with their prices.
    """

    def __post_init__(self) -> None:
        """A factor below 1 would be no calibration, and one that is no number no factor."""
        if not 1 <= self.factor < math.inf:
            raise ValueError(f"a factor is a number of at least 1, got {self.factor}")

    @property
    def culprits(self) -> tuple[Entry, ...]:
        """The accesses that were not private."""
        return tuple(e for e in self.ledger if not event.private(e.event))

    @property
    def all_voids(self) -> tuple[Void, ...]:
        """What voids the proof, including what the ledger shows."""
        voids = list(self.voids)
        floats = (e.event for e in self.ledger if isinstance(e.event, (Gaussian, SampledGaussian)))
        if any(isinstance(happened, Gaussian) or not happened.grid for happened in floats):
            voids.append(Void.FLOAT_NOISE)
        return tuple(dict.fromkeys(voids))

    @property
    def assumed(self) -> tuple[str, ...]:
        """What is assumed to be public, the number of rows included where the relation says so."""
        return (*self.public, ROW_COUNT) if self.private and self.unit.fixes_rows else self.public

    @property
    def private(self) -> bool:
        """Whether differential privacy was paid for at all."""
        return bool(Ledger(self.ledger).paid)

    def epsilon(self, delta: float | None = None) -> float:
        """The proven epsilon: from the ledger, infinite if rows were read raw or the proof is void."""
        if self.culprits or self.all_voids or not self.private:
            return math.inf
        asked = self.delta if delta is None else delta
        spent = Ledger(self.ledger)
        if self.bound is None:
            return spent.epsilon(asked, tight=True)
        if self.factor == 1 and asked >= self.delta:
            return max(spent.epsilon(asked), self.bound)
        if asked >= self.delta and pld.available():
            return max(spent.epsilon(asked, tight=True), self.bound)
        # What a budget on a secret sample allows at another delta is not worked out.
        return math.inf if any(e.rate < 1 for e in self.ledger) else accountant.zcdp_epsilon(self.rho(), asked)

    def rho(self) -> float:
        """The proven zCDP parameter, infinite like ``epsilon``."""
        if self.culprits or self.all_voids or not self.private:
            return math.inf
        return max(Ledger(self.ledger).rho(), 0.0 if self.bound is None else self._allowed_rho())

    def _allowed_rho(self) -> float:
        """The rho that the bound allows: what every step that measures with an allowance keeps within."""
        assert self.bound is not None
        return self.factor * accountant.zcdp_rho(self.bound, self.delta) if self.delta else self.bound**2 / 2

    @property
    def assurance(self) -> Assurance:
        """The strongest kind of evidence that there is."""
        if math.isfinite(self.epsilon()):
            return Assurance.PROVEN
        if self.claims:
            return Assurance.CLAIMED
        return Assurance.VERIFIED if self.promises else Assurance.NONE

    def to_json(self) -> dict[str, Any]:
        """As the card holds it. An infinite epsilon is the text "infinity", which JSON can hold."""
        epsilon = self.epsilon()
        return {
            "assurance": str(self.assurance),
            "epsilon": epsilon if math.isfinite(epsilon) else "infinity",
            "delta": self.delta if math.isfinite(epsilon) else None,
            "accountant": "pld" if pld.available() else "closed form",
            "rho": self.rho() if math.isfinite(self.rho()) else None,
            "relation": str(self.unit.relation),
            "unit": {"rows": self.unit.rows, "by": self.unit.by},
            "promises": [_promise_json(p) for p in self.promises],
            "criteria": dict(self.criteria),
            "public": list(self.assumed),
            "caveats": [*self.caveats, *(str(v) for v in self.all_voids)],
            "budget": None if self.budget is None else {"epsilon": self.budget.epsilon, "delta": self.budget.delta},
            **({} if self.factor == 1 else {"factor": self.factor}),
            **self._bounded(),
            "claims": [{"statement": c.statement, "gaps": list(c.gaps)} for c in self.claims],
            "not_private": [f"{e.step}: {e.why}" for e in self.culprits],
            "ledger": [e.to_json() for e in self.ledger],
        }

    def _bounded(self) -> dict[str, float]:
        """The bound and what this run spent of it; nothing where rows that were read raw made both meaningless."""
        if self.bound is None or self.culprits:
            return {}
        return {"bound": self.bound, "spent": Ledger(self.ledger).epsilon(self.delta, tight=self.factor != 1)}

    @classmethod
    def from_json(cls, card: Mapping[str, Any]) -> Guarantee:
        """Read it back from a card; ValueError, KeyError or TypeError if it is none. What follows from the rest is ignored."""
        voids = [Void(text) for text in card["caveats"] if text in list(Void)]
        unit = Unit(relation=Relation(card["relation"]), rows=card["unit"]["rows"], by=card["unit"]["by"])
        return cls(
            unit=unit,
            ledger=tuple(Entry.from_json(entry) for entry in card["ledger"]),
            delta=float(card["delta"] or 0.0),
            promises=tuple(_promise_from(promise) for promise in card["promises"]),
            criteria=dict(card["criteria"]),
            public=tuple(text for text in card["public"] if text != ROW_COUNT),
            caveats=tuple(text for text in card["caveats"] if text not in list(Void)),
            claims=tuple(Claim(claim["statement"], tuple(claim["gaps"])) for claim in card["claims"]),
            voids=tuple(voids),
            budget=None if card.get("budget") is None else Budget(**card["budget"]),
            bound=None if card.get("bound") is None else float(card["bound"]),
            factor=float(card.get("factor", 1.0)),
        )

    def k(self, quasi: Iterable[str] = ()) -> float | None:
        """The k of k-anonymity measured on the release itself over all quasi-identifiers; the smallest of several, None if none is.

        A k for some of these columns, or of the table that this one was made from, is another promise and does not count. Where
        no column is a quasi-identifier, those that were promised something are.
        """
        asked = self._asked(quasi)
        covering = [p for p in self.promises if p.form is Form.SYNTACTIC and asked <= set(p.quasi)]
        return min((p.value for p in covering if p.kind is Syntactic.K_ANONYMITY), default=None)

    def _asked(self, quasi: Iterable[str]) -> set[str]:
        return set(quasi) or {name for promise in self.promises for name in promise.quasi}

    def headline(self, quasi: Iterable[str] = ()) -> str:
        """What is promised and how we know, in one short line. ``quasi``: the quasi-identifiers released."""
        asked = self._asked(quasi)
        verified = "; ".join(dict.fromkeys(_promise_headline(p, asked) for p in self.promises))
        if self.assurance is Assurance.PROVEN:
            delta = f", delta {rounded_up(self.delta, 3):.3g}" if self.delta else ""
            proven = f"proven: epsilon {rounded_up(self.epsilon(), 3):.3g}{delta}"
            return f"{proven}; verified: {verified}" if verified else proven
        if self.assurance is Assurance.CLAIMED:
            return f"claimed, not proven; verified: {verified}" if verified else "claimed, not proven"
        return f"verified: {verified}" if verified else "nothing is promised"

    def statements(self) -> tuple[Statement, ...]:
        """Every promise in a line, with whom it protects or over which columns it holds; empty if there is none and no claim."""
        statements = []
        if self.assurance is Assurance.PROVEN:
            size = f"{rounded_up(self.epsilon(), 4):.4g}"
            delta = f", delta {rounded_up(self.delta, 3):.3g}" if self.delta else ""
            replaced = self.unit.relation is Relation.REPLACE_ONE
            change = f", for one {self.unit}{' replaced by another' if replaced else ''}" if replaced or self.unit.by else ""
            statements.append(Statement(f"differential privacy with epsilon {size}{delta}{change}", Assurance.PROVEN))
        for promise in self.promises:
            names = promise.quasi
            over = f"{', '.join(names[:2])} and {len(names) - 2} more" if len(names) > 3 else ", ".join(names)
            derived = ", of the table it was made from" if promise.form is Form.DERIVED else ""
            statements.append(Statement(f"{promise.what} over {over}{derived}", Assurance.VERIFIED))
        if self.assurance is Assurance.CLAIMED:
            if not statements:
                statements.append(Statement("nothing", Assurance.NONE))
            claimed = " and ".join(claim.statement for claim in self.claims)
            text = f"its source claims {claimed}, which is not proven (epsilon is infinite)"
            statements.append(Statement(text, Assurance.CLAIMED))
        return tuple(statements)

    def __repr__(self) -> str:
        """In one line; ``explain`` says all of it."""
        return f"Guarantee({self.headline()})"

    def explain(self) -> str:
        """What holds, what it means, what it assumes, what would break it: in plain words."""
        return "\n".join(f"{head}: {text}" for head, text in self.sentences())

    def sentences(self, epsilon: float | None = None) -> list[tuple[str, str]]:
        """The explanation as (heading, sentence) pairs. ``epsilon``: as another accountant found it."""
        epsilon = self.epsilon() if epsilon is None else epsilon
        pairs = self._proven(epsilon) if math.isfinite(epsilon) else self._not_proven()
        pairs += [("Verified", _promise_words(p)) for p in self.promises]
        if self.unit.rows > 1 and any(p.kind in KS and p.counted is Counted.ROWS for p in self.promises):
            pairs.append(("But", f"rows are counted, and one person may hold {self.unit.rows} of those that look alike"))
        if (most := self.criteria.get("largest_share", 0.0)) > 1 / self.criteria.get("k", 1):
            share = f"{rounded_up(100 * most, 2):g} %"
            pairs.append(("But", f"one person holds up to {share} of the rows that look alike, and a guess finds theirs so often"))
        for claim in self.claims:
            pairs.append(("Claimed", f"the publication states {claim.statement}"))
            pairs += [("Gap in the claim", gap) for gap in claim.gaps]
        if self.assurance is Assurance.NONE:
            pairs.append(("Promised", "nothing. Whether people are safe in this table is a question for the audit alone"))
        if self.assumed:
            pairs.append(("Assumed public", "; ".join(self.assumed)))
        pairs += [("Note", caveat) for caveat in self.caveats]
        pairs += [("What would break it", text) for text in self._breaks(epsilon)]
        return [(head, text if text.endswith(".") else text + ".") for head, text in pairs]

    def _proven(self, epsilon: float) -> list[tuple[str, str]]:
        shown, factor = f"{rounded_up(epsilon, 4):.4g}", odds(epsilon)
        delta = f"{rounded_up(self.delta, 3):.3g}"
        size = f"({shown}, {delta})" if self.delta else shown
        either = self.unit.relation is Relation.ADD_REMOVE
        change, gone = ("added or removed", "left out") if either else ("replaced by another", "another")
        one = f"any one {'record' if self.unit.rows == 1 else 'person'} been {gone}"
        if epsilon <= LARGE:
            meaning = f"whatever anybody concludes from this release, they would have concluded almost as readily had {one}"
        else:
            meaning = f"hardly anything, as an epsilon this large protects hardly anybody. Had {one}, no more is promised than this"
        if self.delta:
            limit = f"nothing becomes more than {factor} times as likely, but for a probability of {delta} on top"
        else:
            limit = f"the odds change by a factor of at most {factor}"
        return [
            ("Proven", f"{size}-differential privacy when one {self.unit} is {change}"),
            ("Which means", f"{meaning}: {limit}"),
        ]

    def _not_proven(self) -> list[tuple[str, str]]:
        if not self.culprits and not self.all_voids:
            return [("Differential privacy", "not promised")]
        pairs = []
        if self.culprits:
            names = "; ".join(f"step {e.step} ({e.why})" for e in self.culprits)
            pairs.append(("Differential privacy", f"none, epsilon is infinite, because the rows were read unprotected by {names}"))
        return pairs + [("The proof is void", str(v)) for v in self.all_voids]

    def _breaks(self, epsilon: float) -> list[str]:
        breaks = []
        if math.isfinite(epsilon):
            breaks.append("a second release of the same people, unless both budgets are added up")
            breaks.append("publishing the audit, which is computed from the raw rows")
            if self.unit.by is None:
                breaks.append(f"a person who holds more than {self.unit.rows} row{'s' if self.unit.rows > 1 else ''}")
        if self.promises:
            breaks.append(
                "another release of the same people (the two can be intersected), a column outside the list that others "
                "know, or an attacker who knows who is in the table and what most of them have in common"
            )
            if any(p.counted is Counted.ROWS for p in self.promises):
                breaks.append("a person who holds several of the rows")
            if any(p.counted is Counted.PERSONS for p in self.promises):
                breaks.append("knowing which of the rows belong to one person, through a column outside the list")
            if any(p.kind is Syntactic.K_MAP for p in self.promises):
                breaks.append("learning who was sampled")
        return breaks


def odds(epsilon: float) -> str:
    """The factor exp(epsilon), rounded up; as a power where it is large and its digits mean nothing."""
    if epsilon > LARGE:
        return f"e to the power {rounded_up(epsilon, 3):,.10g}"
    return f"{rounded_up(math.exp(epsilon), 3):.3g}"


def rounded_up(value: float, digits: int) -> float:
    """To so many significant digits and never down: what is said to be "at most" must be."""
    if value <= 0 or not math.isfinite(value):
        return value
    step = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    return math.ceil(value / step - 1e-9) * step


def _promise_json(promise: Promise) -> dict[str, Any]:
    return {
        "kind": str(promise.kind), "value": promise.value, "quasi": list(promise.quasi), "secret": promise.secret,
        "variant": promise.variant, "form": str(promise.form), "counted": str(promise.counted),
        **({"c": promise.c} if promise.c else {}),
    }  # fmt: skip


def _promise_from(entry: Mapping[str, Any]) -> Promise:
    return Promise(
        kind=Syntactic(entry["kind"]), value=float(entry["value"]), quasi=tuple(map(str, entry["quasi"])), secret=entry["secret"],
        variant=entry["variant"], form=Form(entry["form"]), c=float(entry.get("c", 0.0)),
        counted=Counted(entry.get("counted", Counted.ROWS)),
    )  # fmt: skip


def _promise_headline(promise: Promise, asked: set[str]) -> str:
    covered = len(asked & set(promise.quasi))
    part = f" over {covered} of {len(asked)} columns" if covered < len(asked) else ""
    derived = " (derived)" if promise.form is Form.DERIVED else ""
    return f"{promise.kind.replace('_', '-')}, {promise.letter} = {promise.value:g}{part}{derived}"


def _promise_words(promise: Promise) -> str:
    columns = ", ".join(promise.quasi)
    k = f"{promise.value:g}"
    persons = promise.counted is Counted.PERSONS
    whom = "people" if persons else "rows"
    # Who holds more rows than others is found more often than once in k.
    linking = f"they lead to no fewer than {k} people" if persons else f"linking a person by them succeeds at most once in {k}"
    if promise.kind is Syntactic.K_MAP:
        return (
            f"{promise}. The release was made only from a sample of a table in which every combination of {columns} is shared by "
            f"at least {k} {whom}, so {linking} as long as nobody knows who was sampled"
        )
    if promise.kind is Syntactic.K_ANONYMITY and promise.form is Form.DERIVED:
        return (
            f"{promise}. The release was made only from a table in which every combination of {columns} is shared by at "
            f"least {k} {whom}, so {linking}"
        )
    if promise.kind is Syntactic.K_ANONYMITY:
        theirs = f"of {k} or more people is the one" if persons else f"of {k} or more rows is theirs"
        return (
            f"{promise}. Every combination of {columns} in the release is shared by at least {k} {whom}, so whoever knows them "
            f"of a person cannot tell which {theirs}"
        )
    return f"{promise}, counted by rows and by persons" if persons else str(promise)
