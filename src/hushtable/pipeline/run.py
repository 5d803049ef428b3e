"""Running a recipe: a vault goes in, a release comes out, and nothing flows back."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import numpy as np

from hushtable.display import Progress, announce, silent
from hushtable.engine.shuffle import shuffled as shuffled_out
from hushtable.errors import GuaranteeRefused, InputError, PlanError
from hushtable.pipeline.blocks import Drawn, drawn
from hushtable.pipeline.compared import compared
from hushtable.pipeline.copies import copies
from hushtable.pipeline.extras import require_extras
from hushtable.pipeline.fitted import Fitted
from hushtable.pipeline.handed import at_once, blocks_of, handed_on_by
from hushtable.pipeline.large import PART, WRITING, LargeRelease, suited
from hushtable.pipeline.learning import learning_domains
from hushtable.pipeline.options import ReleaseFields, ReleaseOptions
from hushtable.pipeline.plan import Course, Planned, alike, plan, refuse_unproven
from hushtable.pipeline.publish import own_domains, own_domains_of, rounded, shuffled
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.release import Release
from hushtable.pipeline.resume import journal, resumable
from hushtable.pipeline.spending import Spending
from hushtable.pipeline.step import Code, Coder, Core, Plan
from hushtable.pipeline.structure import with_structure
from hushtable.pipeline.untouched import Untouched, untouched
from hushtable.pipeline.waiting import Waiting
from hushtable.privacy import criteria, event
from hushtable.privacy.criteria import Grouped
from hushtable.privacy.event import Raw, Transform
from hushtable.privacy.guarantee import Guarantee, Void
from hushtable.privacy.ledger import Entry, Ledger
from hushtable.privacy.preserve import Effect, Form, Promise, Syntactic, measured, of_people, preserve, uncovered, unmet
from hushtable.privacy.slots import Slots
from hushtable.privacy.taint import Taint, after
from hushtable.privacy.unit import Budget
from hushtable.privacy.vault import Scheme, Vault
from hushtable.table.columns import Role
from hushtable.table.defaults import with_defaults
from hushtable.table.determined import departing
from hushtable.table.rows import Rows
from hushtable.table.schema import Schema
from hushtable.table.table import Table

CORE = 9.0
"""How long a core takes beside a coder, roughly; only what shows progress uses it."""
SPARSE = "nothing was common enough to be released under this budget; a larger epsilon, fewer columns or coarser levels help"


def release(
    table: Table,
    recipe: Recipe,
    options: ReleaseOptions | None = None,
    *,
    progress: Progress = silent,
    factor: float | None = None,
    **keywords: Unpack[ReleaseFields],
) -> Release:
    """Run a recipe on a table, with these options or with their fields given as keywords.

    ``epsilon`` and ``delta`` are the budget of the whole release. ``seed`` fixes everything but the noise of
    differential privacy, which is always fresh (``entropy`` is for tests and voids the proof). With an epsilon, a
    recipe that cannot keep it is refused before a row is read, unless ``unproven`` or it is a publication's claim.
    An error after that has a note of what was spent by then. ``factor`` as in ``plan``: 1 where a price in rho is to add up.
    """
    released = release_rows(table, recipe, options, progress=progress, factor=factor, **keywords)
    assert isinstance(released, Release)
    return released


def release_rows(
    table: Rows,
    recipe: Recipe,
    options: ReleaseOptions | None = None,
    *,
    progress: Progress = silent,
    factor: float | None = None,
    **keywords: Unpack[ReleaseFields],
) -> Release | LargeRelease:
    """The same for rows wherever they are; of rows out of memory a release of many rows is one that is still to be written."""
    options = ReleaseOptions.of(options, keywords)
    require_extras(recipe.steps, f"recipe {recipe.recipe!r}")
    options = resumable(options)
    table = _key_held_back(table, options.unit.by)
    unit, budget, seed = options.unit, options.budget(table.schema), options.seed
    if options.learn_domain and (table.schema.undeclared or table.schema.drafted):
        recipe = learning_domains(recipe)
    if any(step.learns_domains for step in recipe.steps):
        table = with_defaults(table, unit.by)
    recipe = with_structure(recipe, table.schema, budget, unit)
    course = plan(recipe, table.schema, budget=budget, unit=unit, seeded=seed is not None, factor=factor)
    if budget is not None and not options.unproven:
        refuse_unproven(course)
    if not isinstance(table, Table):
        table = suited(course, table, unit)
    last = course.steps[-1]
    if options.rows is not None and course.ledger.paid and course.drawn is None:
        raise InputError(f"step {last.name!r} releases the rows that it is left with, not a number of rows", where="rows")
    vault = Vault.of(table, unit=unit, budget=budget, entropy=options.entropy, seed=seed).select(recipe.readable(table.schema))
    vault, start = replace(vault, work=options.resume), seed
    if options.resume is not None and budget is not None:
        if any(planned.plan.samples is not Scheme.NONE for planned in course.steps):
            raise PlanError(
                "a secret sample cannot be drawn again, so a recipe with one does not go on after a stop: leave out --resume"
            )
        kept, start = journal(options.resume, recipe, table, budget, unit)
        vault = replace(vault, journal=kept)
    if course.factor != 1:
        slots = Slots((entry.step, entry.event) for entry in course.ledger.paid)
        vault = replace(vault, ledger=Ledger(slots=slots))
    walk = _Walk(course, vault, np.random.default_rng(start), options.rows, progress)
    with Spending(walk.ledger, budget):
        return _released(walk, recipe, table, options)


def _key_held_back(table: Rows, key: str | None) -> Rows:
    """The table whose key is an identifier: a column that shows which rows are one person's never leaves, whatever its role."""
    if key is None or key not in table.schema or key not in table.schema.released:
        return table
    return table.under(table.schema.with_columns(replace(table.schema[key], role=Role.IDENTIFIER)))


def _released(walk: _Walk, recipe: Recipe, table: Rows, options: ReleaseOptions) -> Release | LargeRelease:
    """What a walk leads to, if it keeps what was asked for."""
    budget, unproven = walk.course.budget, options.unproven
    released = walk.go()
    # Where queries were paid for, few rows or none are what they bought: that is released, and said.
    if released.rows < 2 and not walk.ledger.paid and walk.drawn is None:
        raise InputError(
            f"the release would have {released.rows} rows; a table needs at least two", where=f"recipe {recipe.recipe}"
        )
    guarantee = _guarantee(walk, recipe, budget, table.schema, released.schema.texts)
    if released.rows < 2 and walk.drawn is None:
        guarantee = replace(guarantee, caveats=(*guarantee.caveats, SPARSE))
    if budget is not None and not unproven and not guarantee.claims and not math.isfinite(guarantee.epsilon()):
        reasons = " ".join(f"{head}: {text}" for head, text in guarantee.sentences()[:2])
        raise GuaranteeRefused(f"epsilon {budget.epsilon:g} was asked for and cannot be given; nothing is released. {reasons}")
    dropped = tuple(name for name in table.schema.names if name not in (*table.schema.released, *released.schema.texts))
    # What was handed on row by row and is too much for one table.
    handed = not isinstance(released, Table) and released.rows > PART
    leaving = _leaving(walk, released, table, large=handed)
    warnings = _warnings(table, budget)
    if handed or walk.drawn is not None:
        schema = leaving.schema
        blocks = (lambda first: blocks_of(leaving, first)) if walk.drawn is None else walk.drawn.blocks
        made: Release | LargeRelease = LargeRelease(
            schema,
            lambda first: (block.under(schema) for block in blocks(first)),
            guarantee,
            recipe,
            walk.results,
            dropped,
            fitted=walk.fitted,
            warnings=warnings,
            expected=leaving.rows if walk.drawn is None else walk.drawn.rows,
            handed=leaving if walk.drawn is None else None,
        )
    else:
        made = Release(at_once(leaving), guarantee, recipe, walk.results, dropped, fitted=walk.fitted, warnings=warnings)
    # Where a budget paid for every look, there is no unpaid one at how the release compares with the rows.
    return made if not walk.ledger.culprits or walk.drawn is not None else _compared(made, leaving, walk, table, options)


def _leaving(walk: _Walk, released: Rows, table: Rows, *, large: bool) -> Rows:
    """The rows as they leave: in no order, under no domain, that only the raw rows could have given."""
    if large:
        leaving: Rows = shuffled_out(own_domains_of(released), walk.rng, seeded=walk.vault.seeded)
    else:
        # Which rows belong to one person is private: it was good for counting, and stays here.
        alone = at_once(released).held_by(None)
        # The order in which a private model drew them says nothing of the rows that it was fitted to.
        leaving = own_domains(alone if walk.mixed and walk.vault.taint is Taint.DP else shuffled(alone, walk.rng))
    # A step may have made its schema anew; what the data is called is declared, and stays.
    return leaving.under(leaving.schema.described(**table.schema.about))


def _compared(
    released: Release | LargeRelease, leaving: Rows, walk: _Walk, table: Rows, options: ReleaseOptions
) -> Release | LargeRelease:
    """The release with what left as it was, and how many of its rows are real ones."""
    generated = walk.course.drawn is not None
    moved = {name for planned in walk.course.steps for name in planned.plan.moves}
    if isinstance(table, Table) and isinstance(leaving, Table):
        # What one person holds twice, nobody else has.
        people = table if options.unit.by is None else table.held_by(options.unit.by)
        found = copies(people, leaving, generated=generated)
        left = Untouched() if generated else untouched(table, leaving, moved)
    else:
        found, left = compared(table, leaving, moved, options.unit.by, generated=generated)
    return replace(released, untouched=left, copies=found, allowed=options.allow_copies or "" if found.too_many else "")


def _warnings(table: Rows, budget: Budget | None) -> tuple[str, ...]:
    """What only whoever holds the rows may know. To refuse, or to say it on the card, would give away how many rows there are."""
    warnings = [
        f"in {count:,} rows {name} is not what {by.source} determines by the schema: what a model draws follows the schema"
        for name, count in departing(table).items()
        if count and (by := table.schema[name].determined_by) is not None
    ]
    if budget is not None and budget.delta * table.rows >= 1:
        warnings.append(
            f"delta = {budget.delta:g} is not below one over the number of rows, so it would allow a random record to be published:"
            " take a smaller one, or declare the size of the table in its schema"
        )
    return tuple(warnings)


class _Walk:
    """One pass through a course, keeping the vault, its taint and the promises that still hold."""

    def __init__(self, course: Course, vault: Vault, rng: np.random.Generator, rows: int | None, progress: Progress) -> None:
        self.course, self.vault, self.rng, self.rows, self.progress = course, vault, rng, rows, progress
        self.promises: tuple[Promise, ...] = ()
        self.held = vault.unit.rows
        """The most rows of the table at hand that one person holds."""
        self.caveats: list[str] = []
        self.criteria: dict[str, Any] = {}
        self.results: dict[str, Any] = {}
        self.syntactic = False
        """Whether the table at hand is still a table of people, so that k, l and t mean something."""
        self.waiting: Waiting | None = None
        """The codes that are undone after the last core."""
        self.fitted: Fitted | None = None
        """The model that the last table was drawn from, and what was undone after it; None if it is the table itself."""
        self.large = not vault.in_memory
        """Whether a table of many rows is left to be drawn where it is written."""
        self.drawn: Drawn | None = None
        """The table that is still to be drawn."""
        self.grouped: Grouped | None = None
        """What was measured on the last table."""
        self.mixed = False
        """Whether the last table was drawn in blocks, each in random order."""

    @property
    def ledger(self) -> Ledger:
        """Of the vault."""
        return self.vault.ledger

    def go(self) -> Rows:
        """Run every segment; the last table is what leaves."""
        table: Rows | None = None
        stages = {planned.name: 1.0 if isinstance(planned.step, Coder) else CORE for planned in self.course.steps}
        announce(self.progress, stages | ({WRITING: CORE} if self.large else {}))
        # How many rows there are to be is asked of the last model that draws some: what comes after it takes them as they are.
        last = len(self.course.segments) - 1
        asked = last if self.course.drawn is None else self.course.drawn
        for number, segment in enumerate(self.course.segments):
            table = self._segment(segment, self.rows if number == asked else None, last=number == last)
        assert table is not None
        # Grouping hides nobody's values: only what a mechanism made, or raw accesses that are written down, may leave uncharged.
        if self.vault.taint is not Taint.DP and not self.ledger.culprits:
            self.ledger.add(Entry(self.course.steps[-1].name, Raw("the rows leave as they are"), "the rows leave as they are"))
        if self.vault.taint is Taint.DP or self.course.claims:
            # Noise has digits that mean nothing. A promise that a column holds different values is not touched.
            table = rounded(table.whole("rounding what leaves"), {promise.secret for promise in self.promises if promise.secret})
        self._measure(table)
        self._count_people()
        return table

    def _segment(self, segment: tuple[Planned, ...], rows: int | None, *, last: bool) -> Rows:
        before = len(self.ledger.entries)
        vault, codes, stable = self.vault, list[Code](), True
        # What the codes lead back to, and what the marks of the columns come from.
        start = origin = vault.schema
        for planned in segment:
            if not planned.step.reads_text:
                vault, start = vault.without_text(), start.without_text()
            at_work = replace(vault.named(planned.name, planned.allowance), report=partial(self.progress, planned.name))
            self.progress(planned.name, 0.0)
            if isinstance(planned.step, Coder):
                code = planned.step.fit(at_work, self.rng)
                # A code may have a result for the card, like a model; most have none.
                if (summarize := getattr(code, "result", None)) is not None and (result := summarize()):
                    self.results[planned.name] = result
                codes = [] if planned.plan.one_way else [*codes, code]
                stable = stable and code.stability == 1
                self.held *= code.stability
                vault = vault.through(code, learnt=planned.step.learns_domains)
                if planned.plan.one_way:
                    start, self.waiting = vault.schema, None
                if planned.plan.spans and not last:
                    now = Waiting(tuple(codes), start, origin, self.ledger.entries[before:])
                    self.waiting = now if self.waiting is None else self.waiting.also(now)
                    codes, start = [], vault.schema
                if planned.step.learns_domains or planned.step.reads_text:
                    # From here on these are the rows: whoever reads behind a later table finds what was paid for, or made of text.
                    self.vault, origin = vault, vault.schema
            else:
                assert isinstance(planned.step, Core)
                model = planned.step.fit(at_work, self.rng)
            self.progress(planned.name, 1.0)
        core, read = segment[-1], self.ledger.entries[before:]
        if last and self.waiting is not None:
            codes, start, origin = [*self.waiting.codes, *codes], self.waiting.start, self.waiting.marks(origin)
            # What a code read that is undone here was read for this table, whatever was anonymized in between.
            read = (*self.waiting.read, *read)
        fitted = Fitted(model=model, codes=tuple(codes), schema=start, origin=origin)
        generated = core.plan.effect is Effect.GENERATE
        self.fitted = fitted if generated else None
        self.drawn = drawn(fitted, rows, self.rng) if generated else None
        table, redrawn = self._left(fitted, rows, generated=generated, last=last)
        if result := model.result():
            self.results[core.name] = result
        self.results |= {"zeros": redrawn} if redrawn else {}
        done = replace(core.plan, promises=tuple(_decoded(p, model.schema, table.schema) for p in core.plan.promises))
        self._settle(table, done, read, stable=stable)
        return table

    def _left(self, fitted: Fitted, rows: int | None, *, generated: bool, last: bool) -> tuple[Rows, dict[str, Any]]:
        """What a model leaves, and what became of rows that the schema declares impossible."""
        if self.drawn is not None:
            return self._of_blocks(self.drawn, last=last)
        if (handed_on := handed_on_by(fitted.model)) is not None:
            return handed_on, {}
        table = fitted.undone(rows, self.rng)
        return fitted.possible(rounded(table), self.rng) if generated else (table, {})

    def _of_blocks(self, blocks: Drawn, *, last: bool) -> tuple[Table, dict[str, Any]]:
        """All blocks; of a table that is written block by block only its columns."""
        if last and self.large and blocks.rows > PART:
            return Table.empty(blocks.schema), {}
        self.drawn, self.mixed = None, True
        return blocks.table()

    def _settle(self, table: Rows, done: Plan, queries: tuple[Entry, ...], *, stable: bool) -> None:
        """What the table may now be called, from what was really read to make it."""
        before = self.vault.taint
        raw = any(not event.private(e.event) or isinstance(e.event, Transform) for e in queries)
        paid = bool(Ledger(queries).paid)
        reads = [before]
        if before is not Taint.RAW:
            # Whatever was raw or paid for here was read behind the table at hand, from the rows it was made of.
            if raw:
                reads.append(Taint.RAW)
            if paid:
                reads.append(Taint.DP)
        taint = after(reads, mechanism=paid and before is Taint.RAW and not raw)
        # A step that reached back keeps no earlier promise, whatever it said in its plan.
        effect = Effect.READ_RAW if taint is Taint.RAW and before is not Taint.RAW else done.effect
        left = (preserve(_after_encoding(p, table.schema), _of_classes(effect, done, p), done.beta) for p in self.promises)
        grouped = self._grouped(table)
        remaining = (p if p is None or p.form is Form.DERIVED else measured(p, grouped) for p in left)
        promised = [measured(p, grouped) for p in done.promises]
        self.promises = tuple(p for p in (*remaining, *promised) if p is not None and not p.empty)
        for promise in promised:
            _require(promise, grouped)
        self.syntactic = (self.syntactic or bool(done.promises)) and effect is not Effect.GENERATE
        if taint is Taint.RAW and done.promises:
            taint = Taint.KANON
        if done.samples is not Scheme.NONE and before is Taint.RAW and taint is Taint.RAW and stable:
            self.vault = self.vault.sampled(table, done.beta, done.samples)
        else:
            self.vault = self.vault.released(table, taint)

    def _measure(self, table: Rows) -> None:
        """Measure k, l and t on the table as it leaves; what was promised of it must hold, and nothing is promised of no rows."""
        if not table.rows:
            self.promises = tuple(p for p in self.promises if p.form is not Form.SYNTACTIC)
        grouped = self._grouped(table)
        for promise in self.promises:
            if promise.form is Form.SYNTACTIC:
                _require(promise, grouped)
        kinds = (Syntactic.K_ANONYMITY, Syntactic.K_MAP)
        covered = [name for p in self.promises if p.kind in kinds and _names(p, table.schema) for name in p.quasi]
        quasi = tuple(dict.fromkeys(covered)) or table.schema.quasi
        if self.syntactic and quasi and table.rows:
            self.criteria = criteria.measure(grouped, quasi, [s for s in table.schema.secrets if s not in quasi])

    def _grouped(self, table: Rows) -> Grouped:
        """What is measured on the table at hand, of which the classes are made once."""
        if self.grouped is None or self.grouped.rows is not table:
            # Out of memory every row is a person of its own once persons are known (``suited``).
            bounded = self.large and not isinstance(table, Table) and self.vault.unit.by is not None
            self.grouped = Grouped(table, bounded=bounded)
        return self.grouped

    def _count_people(self) -> None:
        """What is promised of rows, as a promise about people; nothing is left of it where one person may hold them all."""
        by_people = [(p, of_people(p, self.held)) for p in self.promises]
        for promise, left in by_people:
            if left != promise:
                follows = f"at least {left.value:g} people follow" if left else "nothing follows for people"
                key = "" if self.vault.unit.by else "; name the column that identifies persons (person, --person) to count them"
                self.caveats.append(f"{promise} counts rows, of which one person may hold {self.held}: {follows}{key}")
        self.promises = tuple(left for _, left in by_people if left)


def _decoded(promise: Promise, encoded: Schema, decoded: Schema) -> Promise:
    """The promise on the columns that leave: where encoded columns are gone, on those that came back in their place."""
    back = tuple(name for name in decoded.names if name not in encoded)
    if not back or _names(promise, decoded):
        return promise
    return replace(promise, quasi=(*(name for name in promise.quasi if name in decoded), *back))


def _after_encoding(promise: Promise, schema: Schema) -> Promise:
    """An earlier promise: of columns that an encoding has replaced, only the table that was encoded still has it."""
    if promise.form is Form.SYNTACTIC and not _names(promise, schema):
        return replace(promise, form=Form.DERIVED)
    return promise


def _of_classes(effect: Effect, done: Plan, promise: Promise) -> Effect:
    """What a step does to the classes of one promise: strata that hold rows of several classes keep no share of each."""
    if effect is Effect.SAMPLE_CLASSES and not set(promise.quasi) <= set(done.strata):
        return Effect.SAMPLE
    return effect


def _names(promise: Promise, schema: Schema) -> bool:
    """Whether all its quasi-identifiers are still there."""
    return all(name in schema for name in promise.quasi)


def _require(promise: Promise, grouped: Grouped) -> None:
    if why := unmet(promise, grouped):
        raise GuaranteeRefused(f"{why}; nothing is released")


def _guarantee(walk: _Walk, recipe: Recipe, budget: Budget | None, schema: Schema, written: tuple[str, ...]) -> Guarantee:
    ledger = walk.ledger
    voids = []
    if not ledger.secure:
        voids.append(Void.SEEDED_NOISE)
    if recipe.tuned == "private" and ledger.paid:
        voids.append(Void.TUNED_ON_PRIVATE)
    plans = [p.plan for p in walk.course.steps]
    who = schema.declared_by or "whoever made the release"
    rest = ""
    if schema.undeclared or schema.drafted:
        learnt = any(p.step.learns_domains for p in walk.course.steps)
        rest = ", but for what was learnt and paid for" if learnt else ", but for what was read off the rows"
    declared = f"the schema, which {who} declared{rest}: column names, kinds, roles, formats, missing codes and domains"
    public = [declared, *walk.course.public]
    if schema.size is not None:
        public.append(f"that there are about {schema.size:,} rows, as {who} declared")
    caveats = [*walk.caveats, *walk.course.caveats]
    if left_out := [name for name in schema.texts if name not in written]:
        caveats.append(f"free text was left out: {', '.join(left_out)}")
    if bare := uncovered(walk.promises, walk.vault.schema.quasi):
        caveats.append(bare)
    if walk.vault.seeded and any(p.samples is not Scheme.NONE for p in plans):
        caveats.append("the sample was drawn from a seed; whoever knows the seed and the rows knows who was sampled")
    departed = walk.course.undecided or not alike(walk.course.ledger, ledger)
    return Guarantee(
        unit=walk.vault.unit,
        ledger=ledger.entries,
        delta=budget.delta if budget else 0.0,
        promises=walk.promises,
        criteria=walk.criteria,
        public=tuple(public),
        caveats=tuple(dict.fromkeys(caveats)),
        claims=walk.course.claims,
        voids=tuple(voids),
        budget=budget,
        bound=budget.epsilon if budget is not None and departed else None,
        factor=walk.course.factor,
    )
