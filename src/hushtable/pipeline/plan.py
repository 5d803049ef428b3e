"""The dry run: what a recipe intends on a schema, worked out before any row is read."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

from hushtable.errors import BudgetExceeded, GuaranteeRefused, PlanError
from hushtable.pipeline.calibration import calibrated, fixed, price
from hushtable.pipeline.recipe import Recipe, step_name
from hushtable.pipeline.step import Coder, Core, Plan, Step
from hushtable.privacy import event, pld
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import PostProcessing, Raw, Transform
from hushtable.privacy.guarantee import Claim
from hushtable.privacy.ledger import Entry, Ledger
from hushtable.privacy.preserve import Effect
from hushtable.privacy.taint import Taint, after
from hushtable.privacy.unit import Budget, Unit
from hushtable.privacy.vault import LOOSE, Scheme, amplifying_rate, require_declared, unstable
from hushtable.table.columns import Column
from hushtable.table.rules import IMPOSSIBLE, Zero
from hushtable.table.schema import Schema


@dataclass(frozen=True)
class Planned:
    """A step, the name it goes by in this recipe, its allowance, and its plan."""

    step: Step
    name: str
    allowance: Allowance | None
    plan: Plan
    taint: Taint
    """Of the rows it reads."""
    schema: Schema
    """Of the rows it reads."""


@dataclass(frozen=True)
class Course:
    """The whole recipe planned: segments of coders ending in a core, and what the ledger will show."""

    segments: tuple[tuple[Planned, ...], ...]
    ledger: Ledger
    budget: Budget | None
    zeros: tuple[Zero, ...] = ()
    """The combinations that its models never draw, because the schema declares that they are impossible."""
    factor: float = 1.0
    """By how much more rho the noise is calibrated than the closed form gives: 1 where the queries are not fixed beforehand."""

    @property
    def steps(self) -> tuple[Planned, ...]:
        """All steps in order."""
        return tuple(p for segment in self.segments for p in segment)

    @property
    def drawn(self) -> int | None:
        """The number of the last segment in which a model draws rows, from 0; None where rows are handed on one by one."""
        generating = [i for i, segment in enumerate(self.segments) if segment[-1].plan.effect is Effect.GENERATE]
        return generating[-1] if generating else None

    @property
    def draws(self) -> bool:
        """Whether its rows leave as a model drew them, none of which has such a combination."""
        return self.steps[-1].plan.effect is Effect.GENERATE

    @property
    def public(self) -> tuple[str, ...]:
        """What is assumed to be public beside the schema."""
        texts = [*(f"{IMPOSSIBLE}{zero}" for zero in self.zeros), *(text for p in self.steps for text in p.plan.public)]
        return ("the recipe and its knobs", *dict.fromkeys(texts))

    @property
    def caveats(self) -> tuple[str, ...]:
        """What the steps want to be known."""
        return tuple(dict.fromkeys(caveat for p in self.steps for caveat in p.plan.caveats))

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What publications state for the steps."""
        return tuple(claim for p in self.steps for claim in p.plan.claims)

    @property
    def undecided(self) -> tuple[Planned, ...]:
        """Steps after which the queries, or their prices, are no longer those that were planned.

        A step may decide by noisy answers which queries it makes. After a coder that pays for what it learns, later steps plan for
        columns whose sizes its noisy answers decide.
        """
        return tuple(p for p in self.steps if p.plan.adaptive or (p.step.spends and isinstance(p.step, Coder)))

    @property
    def culprits(self) -> tuple[Entry, ...]:
        """The planned accesses that protect nothing."""
        return self.ledger.culprits


def plan(
    recipe: Recipe,
    schema: Schema,
    *,
    budget: Budget | None = None,
    unit: Unit | None = None,
    seeded: bool = False,
    factor: float | None = None,
) -> Course:
    """Plan every step on the schema the one before leaves; refuses, by column name, what cannot be done.

    The schema may be that of the whole table: what is not released is left out here. An overdraft, or a differentially private
    step on anything that was read off the rows, is refused. Where the queries are fixed and the extra ``dp`` is installed, their
    noise is calibrated by the numerical accountant; a ``factor`` that was found before is taken as it is (1: the closed form).
    """
    planned = partial(_plan, recipe, schema, budget, unit or Unit(), seeded=seeded)
    if budget is None:
        return planned(1.0)
    if factor is None and budget.delta and pld.available():
        course = calibrated(planned, budget)
    else:
        course = planned(factor or 1.0)
    if course.factor != 1 and not fixed(course):
        raise GuaranteeRefused(f"recipe {recipe.recipe!r} does not fix its queries beforehand, so its noise follows from rho alone")
    if not course.culprits and not _within(course, budget):
        cost = course.ledger.epsilon(budget.delta, tight=course.factor != 1)
        raise BudgetExceeded(
            f"recipe {recipe.recipe!r} would cost epsilon {cost:.4g} at delta {budget.delta:g}; the budget is {budget.epsilon:g}. "
            "No row was read."
        )
    return course


def _within(course: Course, budget: Budget) -> bool:
    """Whether what is planned fits; calibrated noise is not worked out again where the accountant is not installed."""
    if course.factor == 1:
        return course.ledger.within(budget)
    return not pld.available() or price(course, budget) <= budget.epsilon * (1 + 1e-9)


def _plan(recipe: Recipe, schema: Schema, budget: Budget | None, unit: Unit, factor: float, *, seeded: bool) -> Course:
    """The plan with so many times the rho of the budget."""
    # Step names, numbered where one stands twice.
    plain = [step_name(step) for step in recipe.steps]
    names = [name if plain.count(name) == 1 else f"{name} {plain[: i + 1].count(name)}" for i, name in enumerate(plain)]
    weights = [float(getattr(step, "share", 1.0)) if step.spends else 0.0 for step in recipe.steps]
    if any(weights) and budget is None:
        needy = ", ".join(n for n, w in zip(names, weights, strict=True) if w)
        raise PlanError(f"step {needy} is differentially private and needs a budget: give epsilon (and delta)")
    segments: list[list[Planned]] = [[]]
    ledger, taint, rate, sample = Ledger(), Taint.RAW, 1.0, 0
    here = start = first = schema.select(recipe.readable(schema))
    texts = [schema[name] for name in first.texts]
    # Whatever a step makes of its columns, or leaves out of them, may come from any that it could see: all must be declared.
    basis = schema
    stability, loose, undone, learner = 1, "", False, ""
    for step, name, weight in zip(recipe.steps, names, weights, strict=True):
        allowance = _allowance(budget, weights, weight, rate, replace(unit, rows=unit.rows * stability))
        if allowance is not None and allowance.rho is not None:
            allowance = replace(allowance, rho=allowance.rho * factor)
        if step.reads_text:
            here = _with_texts(here, texts, name, taint)
        elif here.texts:
            here, start = here.without_text(), start.without_text()
        if step.learns_domains:
            _require_first(recipe, first, here, name)
            learner = name
        elif step.spends and taint is not Taint.RAW and learner:
            # What it will find there, and so what it costs, is not known before the rows are read.
            raise PlanError(
                f"step {name!r} reads the rows behind a released table, which does not go with {learner!r}: declare the schema"
            )
        elif step.spends and taint is Taint.RAW:
            require_declared(basis, basis.names, name)
            require_declared(here, here.names, name)
        planned = step.plan(here, allowance)
        if planned.behind and taint is Taint.RAW:
            raise PlanError(f"step {name!r} works on a released table: put it after the step that releases the other columns")
        if step.learns_domains:
            basis = planned.schema
        else:
            planned = replace(planned, schema=planned.schema.derived_from(here))
        segments[-1].append(Planned(step, name, allowance, planned, taint, here))
        for happened in planned.events:
            why = getattr(happened, "why", str(happened))
            if taint is not Taint.RAW and not planned.behind:
                happened = PostProcessing("reads a released table")
            elif loose and event.paid(happened):
                happened = Raw(why := loose)
            ledger.add(Entry(name, happened, why, sample, rate))
        here = planned.schema
        if isinstance(step, Coder):
            if planned.stability is None:
                raise PlanError(f"step {name!r} does not declare its stability: how many rows can one row change?")
            stability *= planned.stability
            start, undone = (here, False) if planned.one_way or planned.spans else (start, True)
        if isinstance(step, Core):
            taint = _after(taint, segments[-1], planned)
            if taint is Taint.RAW:
                drawn = planned.samples is not Scheme.NONE and stability == 1
                loose = loose or (unstable(planned.samples, unit) if drawn else LOOSE)
                rate, sample = rate * amplifying_rate(planned.beta, planned.samples, unit, seeded=seeded), 1
            here = start if undone else here
            start, stability, undone = here, 1, False
            segments.append([])
    if segments.pop():
        raise PlanError(f"recipe {recipe.recipe!r} ends in a coder; a core must follow it")
    generated = any(p.plan.effect is Effect.GENERATE for segment in segments for p in segment)
    return Course(tuple(tuple(s) for s in segments), ledger, budget, first.zeros if generated else (), factor)


def _with_texts(here: Schema, texts: list[Column], name: str, taint: Taint) -> Schema:
    """The schema that a step which reads text is planned on: behind a released table it finds the texts of the rows."""
    if not texts:
        raise PlanError(f"step {name!r} reads free text, and the table has none: declare a column with 'kind: text'")
    if taint is not Taint.RAW:
        return here.with_columns(*(column for column in texts if column.name not in here))
    if not here.texts:
        raise PlanError(f"step {name!r} reads free text: put it before all steps that do not")
    return here


def alike(planned: Ledger, taken: Ledger) -> bool:
    """Whether two ledgers hold queries of the same prices."""
    one, two = _prices(planned), _prices(taken)
    # The integers that noise is really drawn with round a planned price in its last digits.
    return len(one) == len(two) and all(
        math.isclose(a, b, rel_tol=1e-3) for p, q in zip(one, two, strict=True) for a, b in zip(p, q, strict=True)
    )


def _prices(ledger: Ledger) -> list[list[float]]:
    """Kind by kind: queries of different kinds and nearly one price must not change places by rounding."""
    paid = ((type(e.event).__name__, e.event.cost(), e.rate) for e in ledger.paid)
    # Where a query has neither rho nor epsilon, its Renyi curve is its price.
    prices = ((kind, cost.rho, cost.epsilon, cost.delta, rate, float(cost.curve.min())) for kind, cost, rate in paid)
    return [price for _, *price in sorted(prices)]


def refuse_unproven(course: Course) -> None:
    """Refuse a recipe that cannot give the epsilon asked for, unless it is a publication's own claim."""
    if not course.culprits or course.claims:
        return
    reasons = "; ".join(f"step {e.step!r} {e.why}" for e in course.culprits)
    asked = f", not {course.budget.epsilon:g}" if course.budget else ""
    raise GuaranteeRefused(f"epsilon would be infinite{asked}: {reasons}. No row was read.")


def _require_first(recipe: Recipe, first: Schema, here: Schema, name: str) -> None:
    """Refuse to learn after a coder, or a step that changed columns: what it made may come from what was read off the rows."""
    if not first.undeclared and not first.drafted:
        return
    learner = next(i for i, step in enumerate(recipe.steps) if step.learns_domains)
    touched = [column.name for column in first if column.name not in here or here[column.name] != column]
    if touched or first != here or any(isinstance(step, Coder) for step in recipe.steps[:learner]):
        raise PlanError(
            f"step {name!r} would learn {', '.join(touched or first.undeclared or here.names)} as an earlier step left it, made "
            "from what was read off the rows; put it before all steps that change columns"
        )


def _allowance(budget: Budget | None, weights: list[float], weight: float, rate: float, unit: Unit) -> Allowance | None:
    if budget is None or not weight:
        return None
    whole = Allowance.of(budget, unit, rate)
    if sum(weights) == weight:
        return whole.split([1.0])[0]
    return whole.split([weight, sum(weights) - weight])[0]


def _after(taint: Taint, segment: list[Planned], core: Plan) -> Taint:
    """The taint a core is planned to leave (the run goes by what really happened)."""
    events = [happened for p in segment for happened in p.plan.events]
    raw = any(not event.private(e) or isinstance(e, Transform) for e in events)
    if taint is Taint.RAW and raw:
        return Taint.KANON if core.promises else Taint.RAW
    return after([taint], mechanism=bool(events))
