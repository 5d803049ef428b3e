"""What a guarantee states, in sentences for somebody who knows none of the words: who can do what, with which probability.

A statement is read off a guarantee, or off the card of a release that somebody else made. It holds what the card says; whether the
card's own ledger bears that out is for ``verify``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hushtable.display import listed
from hushtable.privacy.criteria import Counted
from hushtable.privacy.guarantee import LARGE, Assurance, Guarantee, rounded_up
from hushtable.privacy.preserve import Form, Promise, Syntactic
from hushtable.privacy.unit import Relation, Unit
from hushtable.table import lenient

MEANINGS = {
    Assurance.PROVEN: "a theorem says so, and its conditions were checked while the recipe ran",
    Assurance.VERIFIED: "measured on the released table itself, or on the table it was derived from",
    Assurance.CLAIMED: "a publication says so, and a gap in its proof is known",
    Assurance.NONE: "no theorem and no measurement on the table supports it",
}
"""One line for each kind of assurance: how we know."""
NOTHING = "No privacy guarantee is given for the people in this table."
SHOWN = 3
"""So many columns are named in a sentence; the others are counted."""
LONGEST = 40
"""A longer column name is cut, so that the sentence stays one."""


@dataclass(frozen=True, kw_only=True)
class StatedGuarantee:
    """The kind of assurance and the numbers that are promised, without the ledger that proves them."""

    assurance: Assurance = Assurance.NONE
    epsilon: float = math.inf
    delta: float = 0.0
    unit: Unit = field(default_factory=Unit)
    promises: tuple[Promise, ...] = ()
    claims: tuple[str, ...] = ()
    """What publications state, each with a known gap."""
    quasi: tuple[str, ...] = ()
    """The columns that others may know, over which the criteria were measured."""

    @classmethod
    def of(cls, guarantee: Guarantee) -> StatedGuarantee:
        """What a guarantee states."""
        return cls(
            assurance=guarantee.assurance, epsilon=guarantee.epsilon(), delta=guarantee.delta, unit=guarantee.unit,
            promises=guarantee.promises, claims=tuple(claim.statement for claim in guarantee.claims),
            quasi=lenient.texts(guarantee.criteria.get("quasi")),
        )  # fmt: skip

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> StatedGuarantee:
        """As ``Guarantee.to_json`` wrote it. What cannot be read is not stated: an unknown assurance is none."""
        epsilon = lenient.finite(plain.get("epsilon"))
        promises = [_promise_from(one) for one in lenient.mappings(plain.get("promises"))]
        return cls(
            assurance=next((word for word in Assurance if word == plain.get("assurance")), Assurance.NONE),
            epsilon=math.inf if epsilon is None else epsilon,
            delta=lenient.finite(plain.get("delta")) or 0.0,
            unit=_unit_from(lenient.mapping(plain.get("unit")), plain.get("relation")),
            promises=tuple(promise for promise in promises if promise is not None),
            claims=tuple(lenient.text(claim.get("statement")) for claim in lenient.mappings(plain.get("claims"))),
            quasi=lenient.texts(lenient.mapping(plain.get("criteria")).get("quasi")),
        )

    @property
    def covers_quasi(self) -> bool:
        """Whether some promise is about all the columns that others may know at once."""
        return not self.quasi or any(set(self.quasi) <= set(promise.quasi) for promise in self.promises)

    @property
    def figure(self) -> str:
        """The size of what is promised, in a word."""
        if self.assurance is Assurance.PROVEN and math.isfinite(self.epsilon):
            return f"ε = {digits(rounded_up(self.epsilon, 3), 3)}"
        if self.assurance is Assurance.VERIFIED and self.promises:
            return f"{self.promises[0].letter} = {digits(self.promises[0].value, 3)}"
        return "only a claim" if self.assurance is Assurance.CLAIMED else "nothing"

    def sentences(self) -> list[str]:
        """What is promised, the most important first."""
        lines: list[str] = []
        if self.assurance is Assurance.PROVEN:
            lines.append(self._proven())
        if self.assurance is Assurance.CLAIMED and self.claims:
            lines.append(f"A publication claims {listed(self.claims)}; its proof has a known gap, so it is not promised here.")
        if self.assurance is not Assurance.NONE:
            lines += [_promised(promise, self.unit) for promise in self.promises]
        return lines or [NOTHING]

    def in_symbols(self) -> str:
        """The differential privacy in its own notation, or that there is none."""
        if not math.isfinite(self.epsilon):
            return "Differential privacy: none (epsilon is infinite)."
        delta = f", delta = {digits(rounded_up(self.delta, 3), 3)}" if self.delta else ""
        return f"Differential privacy with epsilon = {digits(rounded_up(self.epsilon, 4), 4)}{delta}, for {self._change()}."

    def factor(self) -> str:
        """The factor exp(epsilon), rounded up; as a power of e where epsilon is large."""
        if self.epsilon > LARGE:
            return f"e to the power {digits(rounded_up(self.epsilon, 3), 3)}"
        return digits(rounded_up(math.exp(self.epsilon), 3), 3)

    def _proven(self) -> str:
        change = self._change()
        whole = f"{change[0].upper()}{change[1:]}"
        if self.delta:
            line = (
                f"{whole} makes no conclusion that anybody could draw from this table more than {self.factor()} times as likely, "
                f"plus a probability of at most {chance(self.delta)}."
            )
        else:
            line = (
                f"{whole} changes the probability of any conclusion that anybody could draw from this table by a factor of at "
                f"most {self.factor()}."
            )
        return f"An epsilon this large protects hardly anybody. {line}" if self.epsilon > LARGE else line

    def _change(self) -> str:
        """What neighbouring tables differ in."""
        rows = self.unit.rows
        whom = "record"
        if rows > 1 or self.unit.by:
            whom = f"person (who holds at most {rows} row{'' if rows == 1 else 's'})"
        replaced = self.unit.relation is Relation.REPLACE_ONE
        return f"replacing any one {whom} by another" if replaced else f"adding or removing any one {whom}"


def chance(probability: float) -> str:
    """A small probability as one in so many, never rarer than it is."""
    return f"1 in {math.floor(1 / probability * (1 + 1e-12)):,}" if 0 < probability <= 0.1 else digits(probability, 3)


def digits(value: float, count: int) -> str:
    """A number to so many significant digits, never in e-notation."""
    if not math.isfinite(value):
        return "infinite"
    return f"{value:,.0f}" if value >= 1000 else np.format_float_positional(value, count, fractional=False, trim="-")


def _promised(promise: Promise, unit: Unit) -> str:
    columns = listed([name if len(name) <= LONGEST else f"{name[: LONGEST - 1].rstrip()}…" for name in promise.quasi], SHOWN)
    value, derived, persons = digits(promise.value, 3), promise.form is Form.DERIVED, promise.counted is Counted.PERSONS
    alike = f"that look alike in {columns}"
    if promise.kind is Syntactic.K_MAP:
        return (
            f"This table was made only from a sample of groups of at least {value} people {alike}; nobody may know who was sampled."
        )
    if promise.kind is Syntactic.K_ANONYMITY and derived:
        whom = "people whose rows look alike" if persons else "rows that look alike"
        return f"This table was made only from groups of at least {value} {whom} in {columns}."
    if promise.kind is Syntactic.K_ANONYMITY:
        if persons:
            match = f"finds rows of at least {value} people that match, and cannot see from these columns which of the people it is"
        elif unit.rows == 1:
            guess = f"by these columns alone, a guess which of them is theirs is right with a probability of at most 1 in {value}"
            match = f"finds at least {value} rows that match; {guess}"
        else:
            # A guess among the rows is right more often where several of them are the same person's.
            match = f"finds at least {value} rows that match, and cannot see from these columns which one is theirs"
        return f"Whoever knows a person’s {columns} {match}."
    source = "of the table it was derived from " if derived else ""
    if promise.kind is Syntactic.L_DIVERSITY:
        variant = f", by the {promise.variant} definition" if promise.variant else ""
        return f"Rows {source}{alike} hold at least {value} well-represented values of {promise.secret}{variant}."
    return f"Among rows {source}{alike}, {promise.secret} is distributed within {value} of how it is in the whole table."


def _promise_from(plain: Mapping[str, Any]) -> Promise | None:
    """A promise as a card has it; None if its kind or its number is not known."""
    kind = next((kind for kind in Syntactic if kind == plain.get("kind")), None)
    value = lenient.finite(plain.get("value"))
    if kind is None or value is None:
        return None
    return Promise(
        kind=kind, value=value, quasi=lenient.texts(plain.get("quasi")), secret=lenient.text(plain.get("secret")) or None,
        variant=lenient.text(plain.get("variant")), c=lenient.finite(plain.get("c")) or 0.0,
        form=Form.DERIVED if plain.get("form") == Form.DERIVED else Form.SYNTACTIC,
        counted=Counted.PERSONS if plain.get("counted") == Counted.PERSONS else Counted.ROWS,
    )  # fmt: skip


def _unit_from(plain: Mapping[str, Any], relation: object) -> Unit:
    return Unit(
        relation=Relation.REPLACE_ONE if relation == Relation.REPLACE_ONE else Relation.ADD_REMOVE,
        rows=max(1, lenient.whole(plain.get("rows")) or 1),
        by=lenient.text(plain.get("by")) or None,
    )
