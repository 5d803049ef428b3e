"""Pairs of neighbouring tables that differ in one canary, made to expose a leak. Differential privacy must hold for them too.

They hold invented rows: an audit of a mechanism uses its own worst cases, never the user's table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushtable.errors import InputError
from hushtable.pipeline.recipe import Recipe
from hushtable.privacy.unit import Relation, Unit
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.infer import infer
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from hushtable.table.values import make

TOWNS = ("a", "b", "c", "d", "lone")
COLUMNS = ("amount", "town", "ill")
PERSON = "person"
ROWS, HOLDS = 100, 3
"""The rows of a table where no k asks for others; the rows that a person holds."""

Row = tuple[int, str, str]
LOW: Row = (0, "a", "no")
HIGH: Row = (100, "d", "yes")

CANARIES = {
    "corner": "(a) the only record in the farthest corner of the domain",
    "crowd": "(a) one record more in a crowd at the farthest corner, where no clipping hides it",
    "lone": "(b) the only holder of a category",
    "tie": "(c) a record between two groups of equal size, on every threshold that k sets",
    "label": "(e) the only record whose label contradicts its group",
    "person": f"(f) a person with {HOLDS + 1} rows, of which {HOLDS} may count",
}
UNDECLARED = {
    "bound": ("(g) the only value beyond the range of all others, in a table whose schema was drafted", {"amount": "99999.5"}),
    "level": ("(g) the only holder of a value, in a table whose schema was drafted", {"town": "lone"}),
    "decimal": ("(g) the only value with five decimals, in a table whose schema was drafted", {"amount": "50.12345"}),
    "missing": ("(g) the only '?', in a table whose schema was drafted", {"town": "?"}),
    "kind": ("(g) the only word in a column of numbers, in a table whose schema was drafted", {"amount": "abc"}),
}
CANARIES |= {name: words for name, (words, _) in UNDECLARED.items()}
MANY = 4000
"""The rows of a table from which kinds and domains can be learnt."""
GRADIENT = "(d) no step of this recipe is trained by gradients with noise, so there is no gradient canary to try"


@dataclass(frozen=True)
class Worlds:
    """The two tables, and what an attacker knows of the canary."""

    name: str
    description: str
    within: Table
    without: Table
    canary: Table
    """Its rows."""
    unit: Unit

    @property
    def undeclared(self) -> bool:
        """Whether their schemas were drafted from their rows."""
        return self.name in UNDECLARED


def schema(*, person: bool = False) -> Schema:
    """A number, a category and a target, with declared domains; and a key, if rows belong to persons."""
    columns = (
        Column(name="amount", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(0, 100)),
        Column(name="town", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(TOWNS)),
        Column(name="ill", kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(("no", "yes"))),
    )
    key = Column(name=PERSON, kind=Kind.KEY, role=Role.IDENTIFIER)
    return Schema((*columns, key) if person else columns)


def table(rows: Sequence[Row], persons: Sequence[str] = ()) -> Table:
    """A table of these rows."""
    held = dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))
    texts = {name: np.array([str(v) for v in values], object) for name, values in held.items()}
    if persons:
        texts[PERSON] = np.array(list(persons), object)
    return make(schema(person=bool(persons)), list(texts), texts.__getitem__)


def worlds(name: str, relation: Relation, *, k: int = 0) -> Worlds:
    """The pair of a canary: with and without it, or with it and with an ordinary record in its place."""
    if name not in CANARIES:
        raise InputError(f"there is no canary {name!r}; there are {', '.join(CANARIES)}", where="canary")
    if name == "person":
        return _person(relation)
    if name in UNDECLARED:
        return _undeclared(name, relation)
    half = (2 * k if k > 1 else ROWS) // 2
    size = max(ROWS, 4 * k) // 2 * 2
    crowd = [LOW] * (size // 2) + [HIGH] * (size // 2)
    spread = [(100 * i // size, TOWNS[i % 4], ("no", "yes")[i % 2]) for i in range(size)]
    canary, others, stand_in = {
        "corner": ((100, "lone", "yes"), [LOW] * size, LOW),
        "crowd": (HIGH, crowd, LOW),
        "lone": ((50, "lone", "yes"), spread, (50, "a", "yes")),
        "tie": ((50, "b", "no"), [LOW] * half + [HIGH] * (half - 1), HIGH),
        "label": ((0, "a", "yes"), crowd, LOW),
    }[name]
    without = others if relation is Relation.ADD_REMOVE else [stand_in, *others]
    return Worlds(name, CANARIES[name], table([canary, *others]), table(without), table([canary]), Unit(relation=relation))


def _undeclared(name: str, relation: Relation) -> Worlds:
    """Tables as a drafter reads them: one row more changes what their schemas say."""
    others = [(f"{i % 100}.5", TOWNS[i % 4], ("no", "yes")[i % 2]) for i in range(MANY)]
    words, own = UNDECLARED[name]
    ordinary = dict(zip(COLUMNS, others[50], strict=True))
    canary = tuple((ordinary | own).values())
    within = _drafted([canary, *others])
    without = _drafted(others if relation is Relation.ADD_REMOVE else [tuple(ordinary.values()), *others])
    return Worlds(name, words, within, without, within.take(np.arange(1)), Unit(relation=relation))


def _drafted(rows: Sequence[tuple[str, ...]]) -> Table:
    texts = {name: np.array(values, object) for name, values in zip(COLUMNS, zip(*rows, strict=True), strict=True)}
    return make(infer(COLUMNS, texts.__getitem__), COLUMNS, texts.__getitem__)


def _person(relation: Relation) -> Worlds:
    others = [LOW] * (ROWS // 2) + [HIGH] * (ROWS // 2)
    names = [f"p{i}" for i in range(len(others))]
    own = [HIGH] * (HOLDS + 1)
    unit = Unit(relation=relation, rows=HOLDS, by=PERSON)
    without = table(others, names)
    if relation is Relation.REPLACE_ONE:
        without = table([*[LOW] * len(own), *others], ["q"] * len(own) + names)
    within = table([*own, *others], ["q"] * len(own) + names)
    return Worlds("person", CANARIES["person"], within, without, table(own), unit)


def group_size(recipe: Recipe) -> int:
    """The k of a recipe, or 0: ties lie at its multiples."""
    return max((k for step in recipe.steps if isinstance(k := getattr(step, "k", 0), int)), default=0)
