"""Releases of rows that are not in memory: which recipes can be run there, and a release that is written block by block."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hushtable.errors import PlanError
from hushtable.pipeline.blocks import BLOCK
from hushtable.pipeline.copies import Copies
from hushtable.pipeline.fitted import Fitted
from hushtable.pipeline.plan import Course
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.release import Stated, installed_versions, today
from hushtable.pipeline.step import Reads
from hushtable.pipeline.untouched import Untouched
from hushtable.privacy.guarantee import Guarantee
from hushtable.privacy.preserve import Effect
from hushtable.privacy.unit import Unit
from hushtable.table.rows import Rows
from hushtable.table.schema import Schema
from hushtable.table.table import Table

BLOCKS = 16
"""Blocks of a file of rows."""
PART = BLOCKS * BLOCK
"""Rows of a file; a release of no more rows is a single table."""

WRITING = "writing"
"""The stage in which rows are made and written."""


@dataclass(frozen=True, eq=False)
class LargeRelease(Stated):
    """What may leave the house, and is too much to be held at once: its rows are made when it is written."""

    schema: Schema
    blocks: Callable[[int], Iterator[Table]]
    """Makes the blocks from this number on, the same ones each time."""
    guarantee: Guarantee
    recipe: Recipe
    result: Mapping[str, Any] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=installed_versions)
    date: str = field(default_factory=today)
    untouched: Untouched = field(default_factory=Untouched)
    expected: int = 0
    """How many are to be drawn."""
    rows: int = 0
    """How many there are, once it is written."""
    fitted: Fitted | None = field(default=None, repr=False)
    warnings: tuple[str, ...] = ()
    allowed: str = ""
    copies: Copies | None = field(default=None, repr=False)
    handed: Rows | None = field(default=None, repr=False)
    """The rows, where they are there already and are not drawn."""

    @property
    def mark(self) -> str:
        """What tells its rows from all others. Of a model the first block says what the others are; of rows, all of them do."""
        own = hashlib.sha256(f"{self.expected} {self.recipe.dump()} {self.schema.dump()}".encode())
        own.update((next(self.blocks(0)) if self.handed is None else self.handed).digest())
        return own.hexdigest()

    def written(self, rows: int) -> LargeRelease:
        """The release that knows how many rows were written."""
        short = f"of {self.expected:,} rows that were wanted only {rows:,} could be drawn that are possible by the declared zeros"
        result = {**self.result, **({"zeros": {"note": short}} if rows < self.expected else {})}
        return replace(self, rows=rows, result=result)

    @property
    def leaves(self) -> tuple[Schema, int]:
        """The schema, and how many rows were written."""
        return self.schema, self.rows


def suited(course: Course, rows: Rows, unit: Unit) -> Rows:
    """The rows, where the recipe can be run on them; in memory, where only then, and they fit. PlanError before a row is read."""
    if not (why := in_memory_only(course, unit)):
        return rows
    try:
        return rows.whole(why)
    except PlanError as error:
        raise PlanError(f"{error}; 'hush methods --any-size' lists the recipes that run on tables of any size") from None


def in_memory_only(course: Course, unit: Unit | None = None) -> str:
    """What of a recipe needs all rows in memory; empty where it runs on tables of any size."""
    unit = unit or Unit()
    if needy := dict.fromkeys(planned.name for planned in course.steps if planned.plan.reads is Reads.MEMORY):
        return f"step {', '.join(needy)}"
    if len(course.segments) > 1:
        return f"a recipe of {len(course.segments)} cores"
    *coders, core = course.steps
    if core.plan.effect is Effect.GENERATE:
        return ""
    if undone := [planned.name for planned in coders if not planned.plan.one_way]:
        return f"undoing step {', '.join(undone)} after step {core.name}"
    if core.plan.promises and unit.by is not None and unit.rows > 1:
        return counting_persons(core.name, unit.rows)
    return ""


def counting_persons(step: str, rows: int | None) -> str:
    """That a step needs all rows in memory because it counts persons, who hold up to so many of them, or any number."""
    held = "any number of" if rows is None else f"up to {rows}"
    return f"step {step}, which counts persons who hold {held} rows each (--rows-per-person 1 keeps one of each),"
