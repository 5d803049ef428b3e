"""People who hold several rows."""

from __future__ import annotations

import numpy as np

from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.values import make

TOWNS = ("north", "south", "east", "west")
WARDS = ("blue", "green", "red")
SCHEMA = Schema(
    (
        Column(name="pid", kind=Kind.KEY, role=Role.IDENTIFIER),
        Column(name="age", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(0, 99)),
        Column(name="town", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(TOWNS)),
        Column(name="ward", kind=Kind.CATEGORY, role=Role.SECRET, domain=Levels(WARDS)),
        # No anonymizer of quasi-identifiers changes it, so it says in every table who holds a row.
        Column(name="tag", kind=Kind.INTEGER, role=Role.PLAIN, domain=Bounds(0, 999)),
    )
)
FIVE = np.full(120, 5)
UNEQUAL = np.random.default_rng(1).integers(1, 8, 90)
GIANT = np.concatenate([[150], np.ones(150, int)])


def held(counts, *, alike=True, unknown=0):
    """A person for each count, who holds so many rows, alike or of another age each; so many rows are nobody's."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(len(counts)), counts)
    age, town = rng.integers(0, 100, len(counts)), rng.integers(0, len(TOWNS), len(counts))
    ages = age[who] if alike else np.clip(age[who] + rng.integers(-9, 10, len(who)), 0, 99)
    raw = {
        "pid": np.array(["" if row < unknown else f"p{w}" for row, w in enumerate(who)], object),
        "age": ages.astype(str).astype(object),
        "town": np.array(TOWNS, object)[town[who]],
        "ward": np.array(WARDS, object)[rng.integers(0, 3, len(who))],
        "tag": who.astype(str).astype(object),
    }
    return make(SCHEMA, list(raw), raw.__getitem__)
