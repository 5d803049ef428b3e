"""Small tables, and steps that do right or wrong, for the tests of the vault and of what a release promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hushtable.anonymize.anonymized import Anonymized
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.step import Core, Plan
from hushtable.privacy.event import Event, Raw
from hushtable.privacy.preserve import Effect, Promise
from hushtable.privacy.vault import Scheme
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

SCHEMA = Schema(
    (
        Column(name="age", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(0, 99), required=True),
        Column(name="town", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(("north", "south", "west"))),
        Column(name="ill", kind=Kind.CATEGORY, role=Role.SECRET, domain=Levels(("no", "yes")), required=True),
    )
)


def people(rows: int = 200, seed: int = 0) -> Table:
    """A declared table of people."""
    rng = np.random.default_rng(seed)
    arrays = {
        "age": rng.integers(0, 100, rows),
        "town": rng.integers(-1, 3, rows).astype(np.int32),
        "ill": rng.integers(0, 2, rows).astype(np.int32),
    }
    return Table(SCHEMA, arrays)


def visits(holders: list[int]) -> Table:
    """One row per entry, held by the person of that number (-1: nobody knows whose)."""
    who = Column(name="who", kind=Kind.KEY)
    age = np.arange(len(holders), dtype=np.int64) % 100
    words = {"who": np.array([f"p{i}" for i in range(max(holders, default=0) + 1)], object)}
    zeros = np.zeros(len(holders), np.int32)
    arrays = {"age": age, "town": zeros, "ill": zeros, "who": np.array(holders, np.int32)}
    return Table(Schema((*SCHEMA.columns, who)), arrays, words)


class Touched(AssertionError):
    """Somebody reached for the rows."""


class Sealed(Table):
    """A table whose rows cannot be touched once it is sealed; its schema stays public."""

    def seal(self) -> Sealed:
        object.__setattr__(self, "sealed", True)
        return self

    def __getattribute__(self, name: str) -> Any:
        if name in ("arrays", "rows", "texts", "take", "select") and "sealed" in object.__getattribute__(self, "__dict__"):
            raise Touched(name)
        return super().__getattribute__(name)


def sealed(rows: int = 200) -> Sealed:
    """People behind a seal, not yet closed."""
    return Sealed(SCHEMA, dict(people(rows).arrays))


@dataclass(frozen=True, kw_only=True)
class Says(Core):
    """A core that opens the vault as told, hands out the table or what ``makes`` makes of it, and plans as told."""

    opens: tuple[Event, ...] = ()
    makes: Callable[[Table, np.random.Generator], Table] | None = None
    effect: Effect = Effect.NOTHING
    promises: tuple[Promise, ...] = ()
    samples: Scheme = Scheme.NONE
    beta: float = 1.0
    back: bool = False
    """Whether it looks at the rows before the last core."""
    planned: tuple[Event, ...] = ()

    def plan(self, schema, budget):
        return Plan(
            schema=schema,
            events=self.planned or self.opens,
            effect=self.effect,
            promises=self.promises,
            samples=self.samples,
            beta=self.beta,
        )

    def fit(self, vault, rng):
        table = None
        for event in self.opens:
            table = (vault.origin if self.back else vault).open(event, getattr(event, "why", "w"))
        table = vault.open(Raw("reads"), "reads") if table is None else table
        return Anonymized(self.makes(table, rng) if self.makes else table)


def recipe(*steps: Any, **more: Any) -> Recipe:
    """A recipe of these steps."""
    return Recipe(recipe="test", steps=steps, **more)
