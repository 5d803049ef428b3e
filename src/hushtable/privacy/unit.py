"""Whom a differential privacy promise protects, and how much of it may be spent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from numbers import Real

from hushtable.errors import Fault, InputError


class Relation(StrEnum):
    """Which tables count as neighbours. The two are never mixed silently."""

    ADD_REMOVE = "add_remove"
    """One unit more or less; the number of rows is private."""
    REPLACE_ONE = "replace_one"
    """One unit exchanged for another; the number of rows is public."""


@dataclass(frozen=True, kw_only=True)
class Unit:
    """What one neighbour differs in: a record, or a person who holds several."""

    relation: Relation = Relation.ADD_REMOVE
    rows: int = 1
    """The most rows one person may hold."""
    by: str | None = None
    """The key column that identifies persons; rows beyond the limit, and of unknown persons, are then left out first."""

    def __post_init__(self) -> None:
        """A relation may be given as text: what resembles one and is none would be accounted for as the other."""
        if self.relation not in list(Relation):
            raise InputError(f"a relation is one of {', '.join(Relation)}, got {self.relation!r}", where="unit")
        object.__setattr__(self, "relation", Relation(self.relation))
        if self.rows < 1:
            raise InputError(f"a person holds at least 1 row, got {self.rows}", where="unit")

    @property
    def fixes_rows(self) -> bool:
        """Whether neighbours have equally many rows: one for one. A person with several may be replaced by one with fewer."""
        return self.relation is Relation.REPLACE_ONE and self.rows == 1

    def __str__(self) -> str:
        """In words."""
        return "record" if self.rows == 1 and self.by is None else f"person (at most {self.rows} row{'s' if self.rows > 1 else ''})"


@dataclass(frozen=True)
class Budget:
    """An allowance: (epsilon, delta) for the whole release."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        """Both in range; every fault at once."""
        faults = []
        if not (isinstance(self.epsilon, Real) and self.epsilon > 0 and math.isfinite(self.epsilon)):
            faults.append(Fault("epsilon", f"must be a positive number, got {self.epsilon!r}"))
        if not (isinstance(self.delta, Real) and 0 <= self.delta < 1):
            faults.append(Fault("delta", f"must be a number in [0, 1), got {self.delta!r}"))
        if faults:
            raise InputError(faults)


LARGE_SIZE = 100_000
"""A table that is declared to have more rows than this gets the smaller delta."""


def default_delta(size: int | None = None) -> float:
    """1e-6, or 1e-9 where more than 100,000 rows were *declared*.

    A constant, never a function of the rows: under add-remove their number is private, and a default that changed at an exact
    number would give it away.
    """
    return 1e-9 if size is not None and size > LARGE_SIZE else 1e-6
