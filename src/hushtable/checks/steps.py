"""What is asked of a step."""

from __future__ import annotations

import json
import typing
from collections.abc import Iterator
from dataclasses import fields, replace

import numpy as np

from hushtable.anonymize.microaggregate.microaggregate import Microaggregate
from hushtable.checks import persons, private
from hushtable.checks.fitting import BUDGET, allowance, fit, output, plain, reaches_behind, suited, unit
from hushtable.checks.tables import annotated, awkward
from hushtable.checks.undeclared import undeclared
from hushtable.checks.verdict import Checks
from hushtable.encode.bins import Bins
from hushtable.errors import HushError, InputError, PlanError
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.run import release
from hushtable.pipeline.step import Code, Coder, Core, Model, Plan, Step, Storable
from hushtable.privacy.event import PostProcessing
from hushtable.privacy.preserve import Effect
from hushtable.synthesize.marginal.independent import Margins
from hushtable.table.columns import Column
from hushtable.table.table import Table
from hushtable.table.values import make


def step_checks(kind: type[Step]) -> Checks:
    """The checks for this class."""
    step = kind(**kind.quick)
    checks: Checks = [
        ("is written to a recipe and read back the same", lambda: _round_trip(step)),
        ("plans without data, and the same way twice", lambda: _plans(step)),
        ("becomes a model (a core) or a code (a coder)", lambda: _becomes(step)),
        ("refuses a column that does not exist, in its plan", lambda: _refuses_columns(step)),
        ("cannot change the table it is given, nor itself", lambda: _mutates(step)),
        ("gives the same output for the same seed, from the rng it is given", lambda: _repeats(step)),
        ("declares in its plan how it reads the rows", lambda: _declares(step)),
        ("proves nothing from a schema that was read off the rows", lambda: undeclared(step)),
    ]
    if isinstance(step, Core):
        checks += [
            ("releases the columns and domains of its plan", lambda: _keeps_schema(step)),
            ("keeps the promises of its plan", lambda: _keeps_promises(step)),
            ("keeps them by persons where people hold several rows", lambda: persons.promises(step)),
            ("its model samples as many rows as are asked for, or says why not", lambda: _counts(step)),
            ("its model is rebuilt from JSON and arrays", lambda: _rebuilds(step)),
            ("its model holds no training rows, and its public result no value of theirs", lambda: _forgets(step)),
        ]
    if isinstance(step, Coder):
        checks += [
            ("one row changes no more encoded rows than its stability says", lambda: private.stability(step)),
            ("leaves every row to the person who held it", lambda: persons.follow(step)),
            ("undoes what it applies, or says in its plan that it is one-way or lossy", lambda: _undoes(step)),
            ("its code, if it can be stored with a model, is rebuilt from JSON and arrays", lambda: _rebuilds_code(step)),
        ]
    if step.spends:
        checks += private.checks(step)
    return checks + [
        (f"works on, or clearly refuses: {name}", lambda table=table: _copes(step, table)) for name, table in awkward().items()
    ]


def _recipe(step: Step) -> Recipe:
    """The step alone, or with what it needs around it: bins before a counting core, a core after a coder."""
    if isinstance(step, Coder):
        return Recipe(recipe="checked", steps=(step, Microaggregate(k=2, columns=("town",))))
    own = plain(step).schema
    if reaches_behind(step, own):
        return Recipe(recipe="checked", steps=(Bins(), Margins(), step))
    try:
        step.plan(own, allowance(step))
        return Recipe(recipe="checked", steps=(step,))
    except PlanError:
        return Recipe(recipe="checked", steps=(Bins(), step))


def _round_trip(step: Step) -> str:
    recipe = Recipe(recipe="checked", steps=(step,))
    back = Recipe.parse(recipe.dump())
    if back == recipe and back.dump() == recipe.dump():
        return ""
    return "the recipe read back differs: are all knobs plain values or tuples of them?"


def _plans(step: Step) -> str:
    own = suited(step).schema
    one, two = step.plan(own, allowance(step)), step.plan(own, allowance(step))
    if not isinstance(one, Plan):
        return f"plan must return a Plan, not {type(one).__name__}"
    return "" if one == two else "two plans on the same schema differ"


def _becomes(step: Step) -> str:
    fitted, _ = fit(step, suited(step))
    contract = Model if isinstance(step, Core) else Code
    parts = ("schema", "sample", "result", "parts", "from_parts") if contract is Model else ("schema", "stability", "apply", "undo")
    lacks = [part for part in parts if not hasattr(fitted, part)]
    word = "model" if contract is Model else "code"
    return f"fit must return a {word} with {', '.join(parts)}; {type(fitted).__name__} lacks {', '.join(lacks)}" if lacks else ""


def _refuses_columns(step: Step) -> str:
    name = "no such column"
    for wrong in _misled(step, name):
        try:
            wrong.plan(suited(step).schema, allowance(step))
        except (PlanError, InputError) as error:
            if name not in str(error):
                return f"the error does not name the column: {error}"
            continue
        return "plan accepts a column that does not exist"
    return ""


def _misled(step: Step, name: str) -> Iterator[Step]:
    """The step with a column that does not exist in each knob that holds a list of names."""
    hints = typing.get_type_hints(type(step))
    for field in fields(step):  # type: ignore[arg-type]
        if hints[field.name] == tuple[str, ...]:
            try:
                yield replace(step, **{field.name: (name,)})  # type: ignore[type-var]
            except InputError:
                continue  # not a list of columns, or not on its own


def _mutates(step: Step) -> str:
    table = suited(step)
    before = {name: array.copy() for name, array in table.arrays.items()}
    knobs = repr(step)
    fit(step, table)
    same = all(np.array_equal(before[n], table[n], equal_nan=table[n].dtype.kind == "f") for n in before)
    return "" if same and repr(step) == knobs else "fit changed the table or the step"


def _repeats(step: Step) -> str:
    table = suited(step)
    held = np.random.get_state()  # noqa: NPY002 - to see whether somebody uses it
    np.random.seed(20261115)  # noqa: NPY002
    before = str(np.random.get_state())  # noqa: NPY002
    one, two = (output(step, table) for _ in range(2))
    touched = str(np.random.get_state()) != before  # noqa: NPY002
    np.random.set_state(held)  # noqa: NPY002
    if touched:
        return "it draws from numpy's global random numbers: use only the rng that is given"
    return "" if _equal(one, two) else "two runs with one seed differ: use only the rng that is given"


def _equal(one: Table, two: Table) -> bool:
    return one.schema == two.schema and all(
        np.array_equal(one[n], two[n], equal_nan=one[n].dtype.kind == "f") for n in one.schema.names
    )


def _declares(step: Step) -> str:
    table = suited(step)
    plan = step.plan(table.schema, allowance(step))
    _, vault = fit(step, table)
    # What was released before is read for nothing.
    entries = [e for e in vault.ledger.entries if not (plan.behind and isinstance(e.event, PostProcessing))]
    seen, expected = sorted(type(e.event).__name__ for e in entries), sorted(type(e).__name__ for e in plan.events)
    if not seen and isinstance(step, Core):
        return "it never read the vault: fit must read rows through vault.measure or vault.open"
    if seen == expected or (plan.adaptive and set(seen) <= set(expected)):
        return ""
    return f"planned {expected}, did {seen} ({'; '.join(e.why for e in entries[:4])})"


def _keeps_schema(step: Core) -> str:
    table = suited(step)
    planned = step.plan(table.schema, allowance(step)).schema
    released = output(step, table)
    if released.schema.names != planned.names:
        return f"planned {', '.join(planned.names)}; released {', '.join(released.schema.names)}"
    for one, other in zip(planned, released.schema, strict=True):
        if why := _unlike(one, other):
            return f"column {one.name}: {why}"
    make(released.schema, list(released.schema.names), released.strings)  # raises where a value lies outside its domain
    return ""


def _unlike(planned: Column, released: Column) -> str:
    if (planned.kind, planned.role) != (released.kind, released.role):
        return f"planned as {planned.kind}, {planned.role}; released as {released.kind}, {released.role}"
    if planned.observed or released.observed or planned.base == released.domain or released.generalized:
        return ""
    return "its domain is not the planned one, and is not marked as observed: was it read off the rows?"


def _keeps_promises(step: Core) -> str:
    rows = 1000 if step.spends else 120  # behind noise there is little to be seen of 120
    table = suited(step, rows)
    promised = step.plan(table.schema, allowance(step)).promises
    recipe = _recipe(step)
    table = table if len(recipe.steps) == 1 else plain(step, rows)
    release(table, recipe, epsilon=BUDGET.epsilon if step.spends else None, unit=unit(step), seed=1)
    if any(p.empty for p in promised):
        return "a promise that every table keeps (k of 1, t of 1) is none"
    return "" if all(p.quasi for p in promised) else "a promise names no quasi-identifiers"


def _model(step: Core) -> Model:
    model, _ = fit(step, suited(step))
    assert isinstance(model, Model)
    return model


def _counts(step: Core) -> str:
    try:
        sampled = _model(step).sample(37, np.random.default_rng(3))
    except InputError:
        return ""
    return "" if sampled.rows == 37 else f"asked for 37 rows, it made {sampled.rows}"


def _rebuilds(step: Core) -> str:
    model = _model(step)
    values, arrays = model.parts()
    values = json.loads(json.dumps(values))
    again = type(model).from_parts(values, {n: np.array(a) for n, a in arrays.items()})
    one, two = (m.sample(None, np.random.default_rng(3)) for m in (model, again))
    return "" if _equal(one, two) else "the rebuilt model samples something else"


def _rebuilds_code(step: Coder) -> str:
    code, _ = fit(step, suited(step))
    assert isinstance(code, Code)
    if not isinstance(code, Storable):
        return ""
    encoded = code.apply(plain(step))
    values, arrays = code.parts()
    again = type(code).from_parts(json.loads(json.dumps(values)), {n: np.array(a) for n, a in arrays.items()})
    one, two = (c.undo(encoded, np.random.default_rng(3)) for c in (code, again))
    return "" if _equal(one, two) else "the rebuilt code undoes to something else"


def _forgets(step: Core) -> str:
    table = suited(step)
    model = _model(step)
    public = json.dumps(model.result())
    if "height" not in table.schema or not table.schema["height"].numeric:
        return ""
    heights = [repr(float(v)) for v in table.floats("height")]
    if any(height in public for height in heights):
        return "result() is published on the card, and holds values of single rows"
    if step.plan(table.schema, allowance(step)).effect is not Effect.GENERATE:
        return ""
    values, arrays = model.parts()
    stored = np.concatenate([np.asarray(a, np.float64).ravel() for a in arrays.values() if a.dtype.kind in "fiu"] or [np.empty(0)])
    text = json.dumps(values)
    share = np.isin(table.floats("height"), stored).mean() + np.mean([height in text for height in heights])
    return f"{share:.0%} of the heights, which are all different, stand in the model file" if share > 0.05 else ""


def _undoes(step: Coder) -> str:
    table = plain(step)
    code, _ = fit(step, table)
    assert isinstance(code, Code)
    planned = step.plan(table.schema, allowance(step)).schema
    if [(c.name, c.kind) for c in planned] != [(c.name, c.kind) for c in code.schema]:
        return "the code's schema has other columns or kinds than the plan's"
    encoded = code.apply(table)
    if step.plan(table.schema, allowance(step)).one_way:
        return (
            "" if _equal(encoded, code.apply(table)) else "apply twice is not the same: a one-way coder must at least repeat itself"
        )
    back = code.undo(encoded, np.random.default_rng(0))
    if back.schema != table.schema or back.rows != table.rows:
        return "undo(apply(table)) has another schema or another number of rows"
    if step.plan(table.schema, allowance(step)).lossy:
        return ""
    again = code.apply(back)
    near = (
        np.allclose(encoded.floats(c.name), again.floats(c.name), rtol=1e-6, atol=1e-3, equal_nan=True)
        if c.numeric
        else np.array_equal(encoded[c.name], again[c.name])
        for c in encoded.schema
    )
    return "" if all(near) else "apply(undo(apply(table))) is not apply(table): what was encoded does not come back"


def _copes(step: Step, table: Table) -> str:
    table = annotated(table) if step.reads_text else table
    try:
        step.plan(table.schema, allowance(step))
        released = output(step, table)
    except HushError:
        return ""
    return "" if isinstance(released, Table) else f"it made a {type(released).__name__}, not a table"
