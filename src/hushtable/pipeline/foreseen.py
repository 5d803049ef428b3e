"""What the recipe of a release plans, held against what its card says.

A plan needs no rows. It is made on the released columns, which are those the recipe began with wherever its coders were undone.
Only steps of this package are built unless others are trusted: a recipe that somebody sent runs no code of theirs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from hushtable.errors import BudgetExceeded, Fault, GuaranteeRefused, HushError, InputError
from hushtable.pipeline import registry
from hushtable.pipeline.former import claims, states
from hushtable.pipeline.plan import Course, Planned, alike, plan
from hushtable.pipeline.recipe import Recipe, step_names
from hushtable.pipeline.step import Coder, Step
from hushtable.pipeline.verification import Unchecked, Verification, worded
from hushtable.privacy import accountant
from hushtable.privacy.guarantee import Assurance, Guarantee, Void
from hushtable.privacy.ledger import Entry, Ledger
from hushtable.privacy.preserve import Form, Promise, Syntactic, uncovered
from hushtable.privacy.slots import Slots
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.table.broken import broken_by
from hushtable.table.code_list import LISTED
from hushtable.table.determined import departing
from hushtable.table.rows import Rows
from hushtable.table.rules import IMPOSSIBLE
from hushtable.table.schema import Schema

BEST_OF = "best-of"
"""The step that stands in the ledger of the best of several runs, in place of those of the recipe."""


def verify_plan(
    text: str, schema: Schema, guarantee: Guarantee, *, trust: bool = False, reworded: bool = False, table: Rows | None = None
) -> Verification:
    """The recipe in ``text`` on the released schema: whether it can have led to this guarantee, and to this table if it is given.

    ``reworded``: a later version of hushtable wrote the card, so that its sentences may be worded otherwise.
    """
    foreign = [name for name in step_names(text, "recipe.yaml") if name not in registry.STEPS]
    if foreign and not trust:
        why = f"step {', '.join(foreign)} is not of this package, and what it plans is not checkable without running it (--trust)"
        return _unplanned(guarantee, why)
    try:
        recipe = Recipe.parse(text, "recipe.yaml", trust=trust)
    except InputError as error:
        return _unplanned(guarantee, f"it cannot be built here: {error}")
    faults = tuple(_static(recipe, schema, guarantee))
    try:
        course = _course(recipe, schema, guarantee)
    except HushError as error:
        # What learned its domains began with columns that are not in the release.
        refused = isinstance(error, (GuaranteeRefused, BudgetExceeded)) and not any(s.learns_domains for s in recipe.steps)
        if refused and _proven(guarantee):
            return Verification((*faults, Fault("recipe", f"its plan refuses what the card says: {error}")))
        return Verification(faults) + _unplanned(guarantee, f"it cannot be planned on the released columns: {error}")
    if course is None:
        return Verification(faults) + _unplanned(guarantee, "the columns or the budget that it began with are not in the release")
    faults += tuple(_promised(course, schema, guarantee))
    if table is not None and course.draws and (broken := broken_by(table, course.zeros)):
        faults += (Fault("zeros", f"{broken} rows have a combination of values that the schema declares to be impossible"),)
    if table is not None and course.draws:
        faults += tuple(
            Fault("determined_by", f"in {count} rows {name} is not what the schema says that another column determines")
            for name, count in departing(table).items()
            if count
        )
    return Verification(faults) + _words(course, schema, guarantee, reworded=reworded) + _ledger(course, guarantee)


def _proven(guarantee: Guarantee) -> bool:
    return guarantee.assurance is Assurance.PROVEN


def _unplanned(guarantee: Guarantee, why: str) -> Verification:
    """What rests on the plan cannot be checked; what is measured on the table does not rest on it."""
    rests = _proven(guarantee) or any(promise.form is Form.DERIVED for promise in guarantee.promises)
    return Verification(unchecked=(Unchecked("recipe", why),)) if rests else Verification(assumed=(Unchecked("recipe", why),))


def _static(recipe: Recipe, schema: Schema, guarantee: Guarantee) -> Iterator[Fault]:
    """What the card must say whatever the plan is."""
    if recipe.tuned == "private" and guarantee.private and Void.TUNED_ON_PRIVATE not in guarantee.voids:
        yield Fault("caveats", f"the recipe was tuned on private rows, and the card does not say so: {Void.TUNED_ON_PRIVATE}")
    if (bare := uncovered(guarantee.promises, schema.quasi)) and bare not in guarantee.caveats:
        yield Fault("caveats", f"the card does not say that {bare}")
    learners = [step for step in recipe.steps if step.spends and isinstance(step, Coder)]
    if learners and _proven(guarantee) and guarantee.bound is None and not _best_of(guarantee):
        yield Fault("bound", f"{_UNBOUNDED}, and the card has no bound that was fixed before")
    asked = guarantee.budget
    if asked is not None and guarantee.bound not in (None, asked.epsilon):
        yield Fault("bound", f"the card says {guarantee.bound}, and that {asked.epsilon} was asked for")
    if asked is not None and _proven(guarantee) and guarantee.delta != asked.delta:
        yield Fault("delta", f"the card says {guarantee.delta}, and that {asked.delta} was asked for")


_UNBOUNDED = "noisy answers decided which queries followed, so that what one run spent is no guarantee"


def _course(recipe: Recipe, schema: Schema, guarantee: Guarantee) -> Course | None:
    """The plan on the columns as they were before they were generalized; none where others came in their place."""
    budget = guarantee.budget or (None if guarantee.bound is None else Budget(guarantee.bound, guarantee.delta))
    if budget is None and any(step.spends for step in recipe.steps):
        return None
    before = schema.with_columns(*(replace(column, domain=column.base) for column in schema if column.generalized))
    # What a seed drew amplifies nothing: the ledger shows whether it did.
    seeded = all(entry.rate == 1 for entry in guarantee.ledger)
    course = plan(recipe, before, budget=budget, unit=guarantee.unit, seeded=seeded, factor=guarantee.factor)
    return None if any(p.plan.one_way for p in course.steps) else course


def _words(course: Course, schema: Schema, guarantee: Guarantee, *, reworded: bool) -> Verification:
    """What the plan says in words and the card does not."""
    lacking = [claim for claim in course.claims if not claims(guarantee.claims, claim)]
    others = [claim for claim in guarantee.claims if not any(claims([claim], one) for one in course.claims)]
    # In whatever words: a claim is never without its gaps, and none is left out.
    whole = len(others) >= len(lacking) and sum(len(c.gaps) for c in others) >= sum(len(c.gaps) for c in lacking)
    reason = "the recipe's source states, with gaps that are known, and the card does not"
    verification = worded([Fault("claims", f"{reason}: {claim.statement}") for claim in lacking], reworded=reworded and whole)
    if schema.undeclared or any(p.step.learns_domains for p in course.steps):
        # The release has another domain than the recipe began with: a plan may speak of other columns.
        why = "what the recipe says where domains were learnt, or read off the rows, is not worked out again"
        return verification + Verification(assumed=(Unchecked("caveats", why),))
    for name, planned, stated in (("public", course.public, guarantee.public), ("caveats", course.caveats, guarantee.caveats)):
        faults = [Fault(name, f"the recipe says, and the card does not: {text}") for text in planned if not states(stated, text)]
        verification += worded(faults, reworded=reworded and len(stated) >= len(planned))
    entries = {IMPOSSIBLE: "zeros", LISTED: "codes"}
    strange = [(text, e) for start, e in entries.items() for text in guarantee.public if text.startswith(start)]
    faults = [Fault(e, f"the card says, and the schema does not: {text}") for text, e in strange if text not in course.public]
    return verification + Verification(tuple(faults))


def _promised(course: Course, schema: Schema, guarantee: Guarantee) -> Iterator[Fault]:
    """Derived promises that no step plans."""
    for promise in guarantee.promises:
        planned = any(_covers(p, promise, schema) for step in course.steps for p in step.plan.promises)
        if promise.form is Form.DERIVED and not planned:
            yield Fault("promise", f"{promise}: the recipe plans no such promise")


def _covers(planned: Promise, promise: Promise, schema: Schema) -> bool:
    """Whether a planned promise can have left this derived one: no step makes one stronger, or one of more columns.

    What was planned of encoded columns is promised of those that came back in their place.
    """
    kinds = (planned.kind, Syntactic.K_MAP) if planned.kind is Syntactic.K_ANONYMITY else (planned.kind,)
    weaker = promise.value >= planned.value if planned.kind is Syntactic.T_CLOSENESS else promise.value <= planned.value
    alone = set(promise.quasi) <= set(planned.quasi) or not set(planned.quasi) <= set(schema.names)
    return promise.kind in kinds and weaker and alone and (planned.secret, planned.variant) == (promise.secret, promise.variant)


def _ledger(course: Course, guarantee: Guarantee) -> Verification:
    """The ledger: every raw access that is planned, and in a proof no query of another step, kind or price."""
    if _best_of(guarantee):
        why = "the price of the best of several runs: how often each recipe was run, and for what, is not in the release"
        return Verification(unchecked=(Unchecked("ledger", why),) if _proven(guarantee) else ())
    faults = [*_raw_queries(course, guarantee), *(_unplanned_queries(course, guarantee) if _proven(guarantee) else ())]
    return Verification(tuple(faults))


def _best_of(guarantee: Guarantee) -> bool:
    return {entry.step for entry in guarantee.ledger} == {BEST_OF}


def _raw_queries(course: Course, guarantee: Guarantee) -> Iterator[Fault]:
    shown = {entry.step for entry in guarantee.culprits}
    for step, why in {entry.step: entry.why for entry in course.culprits if entry.step not in shown}.items():
        yield Fault("ledger", f"step {step} reads the rows unprotected ({why}), and the ledger does not say so")


def _unplanned_queries(course: Course, guarantee: Guarantee) -> Iterator[Fault]:
    names = {p.name for p in course.steps}
    for name in sorted({entry.step for entry in guarantee.ledger} - names):
        yield Fault("ledger", f"step {name} is not one of the recipe's")
    for planned in course.steps:
        if _of(planned, course.ledger.entries).paid and not _of(planned, guarantee.ledger).paid:
            yield Fault("ledger", f"step {planned.name} pays for what it reads, and the ledger does not show it")
    if course.undecided and guarantee.bound is None:
        yield Fault("bound", f"step {course.undecided[0].name}: {_UNBOUNDED}, and the card has no bound that was fixed before")
        return
    if guarantee.bound is not None and not course.undecided:
        yield Fault(
            "bound", "all queries of this recipe are decided before a row is read: what they cost is the guarantee, and no bound"
        )
    free = _undecided(course)
    for planned in course.steps:
        fits = _fits if planned in free else _same
        if not fits(planned, course, guarantee):
            yield Fault("ledger", f"step {planned.name} plans other queries, for this budget and unit, than the ledger shows")


def _undecided(course: Course) -> tuple[Planned, ...]:
    """The steps whose queries noisy answers decide: those that say so, and all after a coder that pays."""
    pays = [p.step.spends and isinstance(p.step, Coder) for p in course.steps]
    return tuple(p for i, p in enumerate(course.steps) if p.plan.adaptive or p.step.learns_domains or any(pays[:i]))


def _same(planned: Planned, course: Course, guarantee: Guarantee) -> bool:
    """Whether the ledger shows the very queries that were planned."""
    one, two = (_of(planned, entries) for entries in (course.ledger.entries, guarantee.ledger))
    return alike(one, two) and _kinds(one, planned.step, guarantee.unit) == _kinds(two, planned.step, guarantee.unit)


def _fits(planned: Planned, course: Course, guarantee: Guarantee) -> bool:
    """Whether the queries of an undecided step are of the kinds that it plans, for this unit, and cost the whole that it plans.

    Of a list that it plans they may be a part. One that learned domains began with columns that are not in the release; one that
    found nothing to ask made no query.
    """
    taken = _of(planned, guarantee.ledger)
    if planned.step.learns_domains or not taken.paid:
        return True
    if planned.plan.slots:
        slots = Slots((planned.name, happened) for happened in planned.plan.events)
        return all(slots.take(planned.name, entry.event) for entry in taken.paid)
    # Behind a released table the course shows a free access in place of those that the step may take.
    rate = next((entry.rate for entry in _of(planned, course.ledger.entries).entries), 1.0)
    whole = Ledger(Entry(planned.name, happened, "", rate=rate) for happened in planned.plan.events)
    strange = set(_kinds(taken, planned.step, guarantee.unit)) - set(_kinds(whole, planned.step, guarantee.unit))
    return not strange and math.isclose(_price(whole, planned), _price(taken, planned), rel_tol=1e-3)


def _price(ledger: Ledger, planned: Planned) -> float:
    """Of all queries together, in the currency of the step's allowance."""
    cost = accountant.compose(entry.event.cost() for entry in ledger.paid)
    return cost.epsilon if planned.allowance is None or planned.allowance.rho is None else cost.rho


def _of(planned: Planned, entries: tuple[Entry, ...]) -> Ledger:
    return Ledger(entry for entry in entries if entry.step == planned.name)


def _kinds(ledger: Ledger, step: Step, unit: Unit) -> list[tuple[str, int, int, float, float]]:
    """The kinds of query, and how much one unit changes: prices alone do not distinguish one unit from another.

    Where the number of rows is public, steps that are made for that may measure in units of it, which a plan does not know.
    """
    known = not (unit.fixes_rows and step.relation is Relation.REPLACE_ONE)
    return sorted(
        (
            type(e.event).__name__,
            getattr(e.event, "ones", 0),
            getattr(e.event, "rows", 0),
            round(getattr(e.event, "sensitivity", 0.0), 6) if known else 0.0,
            round(e.rate, 6),
        )
        for e in ledger.paid
    )
