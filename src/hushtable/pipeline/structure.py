"""Put a step before every generator of a recipe that leaves out the columns which others determine, and computes them again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields, replace

from hushtable.pipeline import registry
from hushtable.pipeline.plan import Planned, plan
from hushtable.pipeline.recipe import Recipe, step_name
from hushtable.pipeline.step import Coder, Core, Step
from hushtable.privacy.preserve import Effect
from hushtable.privacy.taint import Taint
from hushtable.privacy.unit import Budget, Unit
from hushtable.table.columns import Levels, Role
from hushtable.table.determined import determined
from hushtable.table.schema import Schema

NAME = "determined"
SHARE = 0.05
"""What learning one code list, or counting the codes of one column, may spend beside a share of one for the model."""
WIDE = 50
"""From so many codes on, a private model without walls sees their groups alone, and codes are drawn within these: counted with
other columns, each code would be lost in the noise."""
COARSE = 2
"""A column has groups of codes if its levels are at least so many times fewer than those of the column that determines it."""


def with_structure(recipe: Recipe, schema: Schema, budget: Budget | None, unit: Unit) -> Recipe:
    """The recipe with such a step in front of each generator, if the schema determines columns; what it does follows from both.

    A recipe that has the step already is left as it is.
    """
    if not determined(schema.select(schema.released)) or NAME in map(step_name, recipe.steps):
        return recipe
    steps: list[Step] = []
    spanned = False
    before = schema.select(schema.released)
    for segment in plan(recipe, schema, budget=budget, unit=unit).segments:
        # What a coder made for good is what leaves: a step before it would not be undone. Whatever reads text comes first.
        first = [planned.plan.one_way or (planned.step.reads_text and isinstance(planned.step, Coder)) for planned in segment]
        start = max((i for i, held in enumerate(first, 1) if held), default=0)
        here = segment[start - 1].plan.schema if start else before
        steps += [planned.step for planned in segment[:start]]
        spans = [i for i, planned in enumerate(segment, 1) if planned.plan.spans and i > start]
        generates = segment[-1].plan.effect is Effect.GENERATE and not segment[-1].plan.behind
        # Once such a step stands before a coder that is undone last, so is the step, and no generator sees the columns.
        if (generates or spans) and not spanned and determined(here):
            steps.append(_step(here, segment[start:], paid=budget is not None and segment[0].taint is Taint.RAW))
        spanned = spanned or bool(spans)
        steps += [planned.step for planned in segment[start:]]
        start = max(start, *spans, 0)
        here = segment[start - 1].plan.schema if start else before
        before = segment[-1].plan.schema if len(segment) == 1 or start == len(segment) - 1 else here
    return replace(recipe, steps=tuple(steps))


def _step(schema: Schema, segment: Sequence[Planned], *, paid: bool) -> Step:
    """The step for these columns, and those that come after it."""
    known = determined(schema)
    core = segment[-1].step
    groups = isinstance(core, Core) and core.keeps_groups
    keep: list[str] = []
    within: dict[str, str] = {}
    for name, by in known.items():
        seen = by.source in keep or by.source not in known
        if _needed(schema, name, segment) or (groups and seen and _coarse(schema, name, by.source)):
            keep.append(name)
        elif paid and core.spends and not groups and by.source not in {*known, *within.values()}:
            wide = _coarse(schema, name, by.source) and len(schema[by.source].levels) >= WIDE
            within |= {name: by.source} if wide and not _needed(schema, by.source, segment) else {}
    bare = tuple(name for name, by in known.items() if by.codes is None)
    knobs = {"keep": tuple(keep), "within": tuple(within), "discover": bare if paid else (), "read": () if paid else bare}
    counts = len(knobs["discover"]) + len(within)
    made = registry.find(NAME, registry.steps(), "step")(share=SHARE * max(counts, 1), **knobs)
    assert isinstance(made, Step)
    return made


def _coarse(schema: Schema, name: str, source: str) -> bool:
    """Whether a column holds groups of the levels of another one."""
    few, many = schema[name].domain, schema[source].domain
    return isinstance(few, Levels) and isinstance(many, Levels) and 1 < COARSE * len(few.levels) <= len(many.levels)


def _needed(schema: Schema, name: str, segment: Sequence[Planned]) -> bool:
    """Whether a column is the target, or a knob of one of the steps speaks of it: they must find it there."""
    if schema[name].role is Role.TARGET:
        return True
    texts = [str(getattr(planned.step, knob.name)) for planned in segment for knob in fields(planned.step)]  # type: ignore[arg-type]
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for text in texts)
