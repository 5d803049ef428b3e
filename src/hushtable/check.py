"""The contract battery: run it on a new step or audit, and it says what was forgotten.

``hush check my_package.my_module:MyStep`` or ``check(MyStep)``. It works on small tables of its own, so it takes seconds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass, replace

import numpy as np

from hushtable.errors import GuaranteeRefused, HushError, InputError, PlanError
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Audit, Finding
from hushtable.pipeline.plan import plan
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.run import release
from hushtable.pipeline.step import Code, Coder, Core, Model, Step
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import private
from hushtable.privacy.noise import Entropy
from hushtable.privacy.preserve import Effect
from hushtable.privacy.unit import Budget, Unit
from hushtable.privacy.vault import Vault
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from hushtable.table.values import make

BUDGET = Budget(2.0, 1e-6)


@dataclass(frozen=True)
class Verdict:
    """One check: what it asks, and what is wrong (nothing, if it passed)."""

    asks: str
    wrong: str = ""

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.wrong


def check(kind: type) -> list[Verdict]:
    """Every check of the battery that applies to this class."""
    if issubclass(kind, Step):
        verdicts = _shape(kind)
        return verdicts if not all(v.passed for v in verdicts) else [*verdicts, *_run_all(_step_checks(kind))]
    if issubclass(kind, Audit):
        verdicts = _shape(kind)
        return verdicts if not all(v.passed for v in verdicts) else [*verdicts, *_run_all(_audit_checks(kind))]
    return [Verdict("is a step (Coder or Core) or an audit", f"{kind.__name__} derives from none of them")]


def example(rows: int = 120, seed: int = 0) -> Table:
    """A small declared table of every kind, with missing values and a level that no row has."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, rows)
    missing = rng.random(rows) < 0.1
    raw = {
        "age": [str(v) for v in np.clip(rng.normal(40 + 10 * group, 12), 0, 99).astype(int)],
        "height": [f"{v:.3f}" for v in rng.normal(170, 10, rows).clip(120, 220)],
        "town": [("north", "south", "west")[g] for g in rng.integers(0, 3, rows)],
        "school": [("low", "middle", "high")[g] if not m else "" for g, m in zip(group, missing, strict=True)],
        "born": [f"19{50 + int(v):02d}-06-{1 + int(v) % 28:02d}" for v in rng.integers(0, 50, rows)],
        "sick": [("no", "yes")[int(v < 0.3)] for v in rng.random(rows)],
        "pay": [str(int(v)) if not m else "?" for v, m in zip(rng.lognormal(7, 0.5, rows).clip(0, 9999), missing, strict=True)],
    }
    return make(_schema(), list(raw), lambda name: np.array(raw[name], dtype=object))


def _schema() -> Schema:
    return Schema(
        (
            Column(name="age", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(0, 99)),
            Column(name="height", kind=Kind.REAL, role=Role.QUASI, domain=Bounds(120.0, 220.0), decimals=3),
            Column(name="town", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(("north", "south", "east", "west"))),
            Column(name="school", kind=Kind.ORDINAL, role=Role.QUASI, domain=Levels(("low", "middle", "high"))),
            Column(name="born", kind=Kind.DATE, role=Role.PLAIN, domain=Bounds(-631152000, 946684800)),
            Column(name="sick", kind=Kind.CATEGORY, role=Role.SECRET, domain=Levels(("no", "yes")), required=True),
            Column(name="pay", kind=Kind.INTEGER, role=Role.TARGET, domain=Bounds(0, 9999)),
        ),
        missing=("?",),
    )


def awkward() -> dict[str, Table]:
    """Tables that are legal and unpleasant; a step works on them or refuses with a clear error."""
    table = example()
    blank = table
    for column in table.schema:
        if not column.required:
            gone = (
                np.full(table.rows, np.nan)
                if column.kind is Kind.REAL
                else np.full(table.rows, -1 if column.coded else np.iinfo(np.int64).min)
            )
            blank = blank.with_column(column, gone.astype(table[column.name].dtype))
    constant = table.take(np.zeros(table.rows, np.int64))
    return {
        "one row": table.take(np.arange(1)),
        "two rows": table.take(np.arange(2)),
        "one column": table.select(["age"]),
        "everything missing": blank,
        "every row the same": constant,
    }


def _run_all(checks: Iterable[tuple[str, Callable[[], str]]]) -> list[Verdict]:
    verdicts = []
    for asks, ask in checks:
        try:
            wrong = ask()
        except HushError as error:
            wrong = f"{type(error).__name__}: {error}"
        except Exception as error:  # noqa: BLE001 - whatever the author's code raises is the finding
            wrong = f"raises {type(error).__name__}: {error}"
        verdicts.append(Verdict(asks, wrong))
    return verdicts


def _shape(kind: type) -> list[Verdict]:
    frozen = is_dataclass(kind) and kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    verdicts = [
        Verdict("is a frozen dataclass", "" if frozen else "add @dataclass(frozen=True, kw_only=True)"),
        Verdict(
            "has a docstring that says what it promises",
            "" if (kind.__doc__ or "").strip() and not (kind.__doc__ or "").startswith(f"{kind.__name__}(") else "write one",
        ),
    ]
    if not frozen:
        return verdicts
    positional = [f.name for f in fields(kind) if not f.kw_only]
    verdicts.append(
        Verdict(
            "takes its knobs by keyword only",
            f"{', '.join(positional)} can be given by position: add kw_only=True" if positional else "",
        )
    )
    if issubclass(kind, Step):
        silent = [name for name, text in kind.knobs().items() if not text] + [
            f.name for f in fields(kind) if f.name not in kind.knobs()
        ]
        verdicts.append(Verdict("has a docstring under every knob", f"missing under {', '.join(silent)}" if silent else ""))
    try:
        kind()
        verdicts.append(Verdict("can be made with its defaults", ""))
    except TypeError as error:
        verdicts.append(Verdict("can be made with its defaults", str(error)))
    return verdicts


def _step_checks(kind: type[Step]) -> list[tuple[str, Callable[[], str]]]:
    step = kind()
    checks: list[tuple[str, Callable[[], str]]] = [
        ("is written to a recipe and read back the same", lambda: _round_trip(step)),
        ("plans without data, and the same way twice", lambda: _plans(step)),
        ("refuses a column that does not exist, in its plan", lambda: _refuses_columns(step)),
        ("cannot change the table it is given, nor itself", lambda: _mutates(step)),
        ("gives the same output for the same seed", lambda: _repeats(step)),
    ]
    if isinstance(step, Core):
        checks += [
            ("releases the columns and domains of its plan", lambda: _keeps_schema(step)),
            ("declares in its plan the looks it takes", lambda: _declares(step)),
            ("keeps the promises of its plan", lambda: _keeps_promises(step)),
            ("its model is rebuilt from JSON and arrays", lambda: _rebuilds(step)),
            ("its model holds no training rows", lambda: _forgets(step)),
        ]
    if isinstance(step, Coder):
        checks += [
            ("declares its stability", lambda: _stability(step)),
            ("undoes what it applies", lambda: _undoes(step)),
        ]
    if step.spends:
        checks += [
            ("never looks at raw rows, and stays within its budget", lambda: _pays(step)),
            ("refuses a domain that was read off the rows", lambda: _refuses_observed(step)),
        ]
    checks += [
        (f"works on, or clearly refuses: {name}", lambda table=table: _copes(step, table)) for name, table in awkward().items()
    ]
    return checks


def _allowance(step: Step) -> Allowance | None:
    return Allowance.of(BUDGET, Unit()) if step.spends else None


def _fit(step: Step, table: Table, seed: int = 1) -> tuple[Code | Model, Vault]:
    vault = replace(Vault.of(table, entropy=Entropy.seeded(seed), budget=BUDGET if step.spends else None), seeded=True)
    vault = vault.named("step", _allowance(step))
    assert isinstance(step, (Coder, Core))
    return step.fit(vault, np.random.default_rng(seed)), vault


def _recipe(step: Step) -> Recipe:
    """The step alone, or with what it needs around it: bins before a counting core, a core after a coder."""
    from hushtable.anonymize.microaggregate import Microaggregate
    from hushtable.encode.bins import Bins

    if isinstance(step, Coder):
        core = Microaggregate(k=2, columns=("town",))
        return Recipe(recipe="checked", steps=(step, core))
    try:
        step.plan(_schema(), _allowance(step))
        return Recipe(recipe="checked", steps=(step,))
    except PlanError:
        return Recipe(recipe="checked", steps=(Bins(), step))


def _input(step: Step) -> Table:
    """A table the step itself can work on."""
    from hushtable.encode.bins import Bins

    table = example()
    try:
        step.plan(table.schema, _allowance(step))
        return table
    except PlanError:
        return Bins().fit(Vault.of(table), np.random.default_rng(0)).apply(table)


def _round_trip(step: Step) -> str:
    recipe = Recipe(recipe="checked", steps=(step,))
    back = Recipe.parse(recipe.dump())
    return (
        ""
        if back == recipe and back.dump() == recipe.dump()
        else "the recipe read back differs: are all knobs plain values or tuples of them?"
    )


def _plans(step: Step) -> str:
    schema = _input(step).schema
    one, two = step.plan(schema, _allowance(step)), step.plan(schema, _allowance(step))
    return "" if one == two else "two plans on the same schema differ"


def _refuses_columns(step: Step) -> str:
    if "columns" not in {f.name for f in fields(step)}:  # type: ignore[arg-type]
        return ""
    try:
        wrong = replace(step, columns=("no such column",))  # type: ignore[type-var]
        wrong.plan(_input(step).schema, _allowance(step))
    except (PlanError, InputError) as error:
        return "" if "no such column" in str(error) else f"the error does not name the column: {error}"
    return "plan accepts a column that does not exist"


def _mutates(step: Step) -> str:
    table = _input(step)
    before = {name: array.copy() for name, array in table.arrays.items()}
    knobs = repr(step)
    _fit(step, table)
    same = all(np.array_equal(before[n], table[n], equal_nan=table[n].dtype.kind == "f") for n in before)
    return "" if same and repr(step) == knobs else "fit changed the table or the step"


def _repeats(step: Step) -> str:
    table = _input(step)
    one, two = (_output(step, table) for _ in range(2))
    return "" if _equal(one, two) else "two runs with one seed differ: use only the rng that is given"


def _output(step: Step, table: Table) -> Table:
    fitted, _ = _fit(step, table)
    if isinstance(fitted, Model):
        return fitted.sample(None, np.random.default_rng(2))
    return fitted.undo(fitted.apply(table), np.random.default_rng(2))


def _equal(one: Table, two: Table) -> bool:
    return one.schema == two.schema and all(
        np.array_equal(one[n], two[n], equal_nan=one[n].dtype.kind == "f") for n in one.schema.names
    )


def _keeps_schema(step: Core) -> str:
    table = _input(step)
    planned = step.plan(table.schema, _allowance(step)).schema
    out = _output(step, table)
    if out.schema.names != planned.names:
        return f"planned {', '.join(planned.names)}; released {', '.join(out.schema.names)}"
    make(out.schema, list(out.schema.names), out.strings)  # raises where a value lies outside its domain
    return ""


def _declares(step: Core) -> str:
    table = _input(step)
    planned = step.plan(table.schema, _allowance(step)).events
    _, vault = _fit(step, table)
    seen = [type(e.event).__name__ for e in vault.ledger.entries]
    expected = [type(e).__name__ for e in planned]
    if not seen:
        return "it never looked at the vault: fit must read rows through vault.measure or vault.open"
    return "" if sorted(seen) == sorted(expected) else f"planned {expected}, did {seen}"


def _keeps_promises(step: Core) -> str:
    table = _input(step)
    promised = step.plan(table.schema, _allowance(step)).promises
    recipe = _recipe(step)
    release(table if len(recipe.steps) == 1 else example(), recipe, epsilon=BUDGET.epsilon if step.spends else None, seed=1)
    return "" if all(p.quasi for p in promised) else "a promise names no quasi-identifiers"


def _rebuilds(step: Core) -> str:
    model, _ = _fit(step, _input(step))
    assert isinstance(model, Model)
    values, arrays = model.parts()
    values = json.loads(json.dumps(values))
    again = type(model).from_parts(values, {n: np.array(a) for n, a in arrays.items()})
    one, two = (m.sample(None, np.random.default_rng(3)) for m in (model, again))
    return "" if _equal(one, two) else "the rebuilt model samples something else"


def _forgets(step: Core) -> str:
    table = _input(step)
    if (
        step.plan(table.schema, _allowance(step)).effect is not Effect.GENERATE
        or "height" not in table.schema
        or not table.schema["height"].numeric
    ):
        return ""
    model, _ = _fit(step, table)
    assert isinstance(model, Model)
    values, arrays = model.parts()
    stored = np.concatenate([np.asarray(a, np.float64).ravel() for a in arrays.values() if a.dtype.kind in "fiu"] or [np.empty(0)])
    kept = np.isin(table.floats("height"), stored).mean() + np.mean(
        [repr(float(v)) in json.dumps(values) for v in table.floats("height")]
    )
    return f"{kept:.0%} of the heights, which are all different, stand in the model file" if kept > 0.05 else ""


def _stability(step: Coder) -> str:
    planned = step.plan(_schema(), _allowance(step)).stability
    fitted, _ = _fit(step, example())
    real = getattr(fitted, "stability", None)
    if not isinstance(real, int) or real < 1:
        return "the code has no stability: how many encoded rows can one row change?"
    return "" if planned == real else f"the plan says {planned}, the code {real}"


def _undoes(step: Coder) -> str:
    table = example()
    fitted, _ = _fit(step, table)
    assert isinstance(fitted, Code)
    back = fitted.undo(fitted.apply(table), np.random.default_rng(0))
    return (
        ""
        if back.schema == table.schema and back.rows == table.rows
        else "undo(apply(table)) has another schema or another number of rows"
    )


def _pays(step: Step) -> str:
    _, vault = _fit(step, _input(step))
    if vault.ledger.culprits:
        return f"opened raw rows: {vault.ledger.culprits[0].why}"
    if not any(private(e.event) for e in vault.ledger.entries):
        return "spends nothing"
    return "" if vault.ledger.within(BUDGET) else f"spent epsilon {vault.ledger.epsilon(BUDGET.delta):.3g} of {BUDGET.epsilon:g}"


def _refuses_observed(step: Step) -> str:
    schema = _schema()
    seen = replace(schema, columns=tuple(replace(c, domain=replace(c.domain, observed=True)) for c in schema))  # type: ignore[type-var]
    try:
        plan(_recipe(step), seen, budget=BUDGET)
    except GuaranteeRefused:
        return ""
    return "an observed domain is accepted"


def _copes(step: Step, table: Table) -> str:
    try:
        _output(step, table)
    except HushError:
        return ""
    return ""


def _audit_checks(kind: type[Audit]) -> list[tuple[str, Callable[[], str]]]:
    audit = kind()
    train, control = example(120, 0), example(100, 1)
    fresh = Case(train, example(120, 2), control)
    return [
        ("finds something on an ordinary case", lambda: _findings(audit, fresh)),
        ("gives the same findings for the same seed", lambda: _same_findings(audit, fresh)),
        (
            "works on, or clearly refuses: everything missing",
            lambda: _audits(audit, Case(train, awkward()["everything missing"], control)),
        ),
        (
            "works on, or clearly refuses: every row the same",
            lambda: _audits(audit, Case(train, awkward()["every row the same"], control)),
        ),
        ("works on, or clearly refuses: one column", lambda: _audits(audit, Case(train, awkward()["one column"], control))),
    ]


def _findings(audit: Audit, case: Case) -> str:
    found = audit.run(case, np.random.default_rng(0))
    if not found or not all(isinstance(f, Finding) for f in found):
        return "run must return a list of at least one Finding"
    wrong = [
        f.name for f in found if f.value is not None and f.low is not None and f.high is not None and not f.low <= f.value <= f.high
    ]
    json.dumps([f.to_json() for f in found])
    return f"the value lies outside its own interval: {', '.join(wrong)}" if wrong else ""


def _same_findings(audit: Audit, case: Case) -> str:
    one, two = (json.dumps([f.to_json() for f in audit.run(case, np.random.default_rng(0))]) for _ in range(2))
    return "" if one == two else "two runs with one seed differ"


def _audits(audit: Audit, case: Case) -> str:
    try:
        audit.run(case, np.random.default_rng(0))
    except HushError:
        return ""
    return ""
