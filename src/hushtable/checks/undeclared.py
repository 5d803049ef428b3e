"""What is asked of every step: nothing that was read off the rows unpaid is ever called proven.

A step is run on pairs of tables with drafted schemas that differ in one row, which moves a bound, a level, the decimals, a
missing code or a kind. It must be refused, prove nothing, or publish nothing that distinguishes the two.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np

from hushtable.audits.mechanism.scores import schema_features
from hushtable.audits.mechanism.worlds import UNDECLARED, Worlds, worlds
from hushtable.checks.fitting import BUDGET, allowance, fit, unit
from hushtable.checks.tables import example
from hushtable.checks.tables import schema as declared
from hushtable.encode.bins import Bins
from hushtable.errors import HushError
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.run import release
from hushtable.pipeline.step import Code, Coder, Step
from hushtable.privacy.unit import Relation
from hushtable.synthesize.marginal.independent import Margins
from hushtable.table.columns import Bounds, Facet
from hushtable.table.table import Table

RUNS, FEWEST = 6, 4
"""In each world, and of these proven: what a noisy answer decides differs from run to run, what the row decides does not."""


def undeclared(step: Step) -> str:
    """Why a drafted schema leaks through it; empty if it does not."""
    if not step.learns_domains and (lost := _lost(step)):
        return f"what was read off the rows is called declared after it: {lost}"
    if not step.learns_domains and (mixed := _mixed(step)):
        return f"the range of one column, read off the rows, decides what becomes of others: {mixed}"
    if isinstance(step, Coder) and (wrong := _unstated(step)):
        return f"its code makes other columns of {wrong} than its schema says: they come from the rows"
    for name in UNDECLARED:
        # The step before, and where it pays itself also without, a core that is proven to be private.
        ways = [(step, Bins(), Margins())] if isinstance(step, Coder) or not step.spends else [(step,), (Bins(), step)]
        for recipe in [Recipe(recipe="checked", steps=steps) for steps in ways]:
            if seen := _seen(recipe, _pair(name, unit(step).relation)):
                return f"a drafted schema is accepted, and one row shows in what is published as proven: {seen}"
    return ""


def _lost(step: Step) -> str:
    """A column that was drafted before the step and is not after it, in its plan or in what it makes."""
    drafted = replace(declared(), columns=tuple(column.marked(frozenset(Facet)) for column in declared()))
    table = example().under(drafted)
    try:
        schemas = [step.plan(drafted, allowance(step)).schema]
        fitted, _ = fit(step, table)
        released = fitted.apply(table) if isinstance(step, Coder) else fitted.sample(None, np.random.default_rng(2))  # type: ignore[union-attr]
        schemas.append(released.schema)
    except HushError:
        return ""
    lost = [c.name for schema in schemas for c in schema if c.name in drafted and c.undeclared < drafted[c.name].undeclared]
    return ", ".join(dict.fromkeys(lost))


def _mixed(step: Step) -> str:
    """The columns whose plan changes with the observed range of another one."""
    schema = declared()
    seen = [schema.with_columns(replace(schema["pay"], domain=Bounds(0, high, observed=True))) for high in (9_999, 77_777)]
    try:
        one, other = (step.plan(drafted, allowance(step)).schema for drafted in seen)
    except HushError:
        return ""
    names = [name for name in schema.names if name != "pay"]
    return ", ".join(n for n in names if (n in one) != (n in other) or (n in one and one[n] != other[n]))


def _unstated(step: Coder) -> str:
    """The table, if any, of which its code makes other columns than its own schema has."""
    table = example()
    try:
        code, _ = fit(step, table)
    except HushError:
        return ""
    assert isinstance(code, Code)
    others = {"the example": table, "equal rows": table.take(np.zeros(table.rows, np.int64)), "few rows": table.take(np.arange(3))}
    return next((n for n, rows in others.items() if code.apply(rows).schema.declared() != code.schema.declared()), "")


@cache
def _pair(name: str, relation: Relation) -> Worlds:
    return worlds(name, relation)


def _seen(recipe: Recipe, pair: Worlds) -> str:
    """What is published in every run with the row and in none without it, or the other way round."""
    # Where the noise drowns a domain a run may be refused now and then, with or without the row.
    runs = ([_published(recipe, table, pair) for _ in range(RUNS)] for table in (pair.within, pair.without))
    within, without = ([one for one in published if one is not None] for published in runs)
    if len(within) < FEWEST or len(without) < FEWEST:
        return ""
    apart = set.intersection(*within).difference(*without) | set.intersection(*without).difference(*within)
    return min(apart, default="")


def _published(recipe: Recipe, table: Table, pair: Worlds) -> set[str] | None:
    """What stands in the schema of a proven release; None where nothing is released, or nothing proven."""
    try:
        released = release(table, recipe, epsilon=BUDGET.epsilon, delta=BUDGET.delta, unit=pair.unit)
    except HushError:
        return None
    if not math.isfinite(released.guarantee.epsilon()):
        return None
    # A learnt end of a range is noisy: only its order of magnitude is the row's.
    return {f"{name} ({math.frexp(value)[1] // 4})" for name, value in schema_features(released).items()}
