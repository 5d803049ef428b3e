"""Attack a release: every audit that applies, on training and control rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from hushtable import __version__
from hushtable.api.asked import SEARCH, Asking, asked, numbered
from hushtable.api.audit_report import AuditReport, Run
from hushtable.api.options import plain, recipe_of
from hushtable.audits import power as power_study
from hushtable.display import Progress, announce, silent
from hushtable.errors import Fault, InputError
from hushtable.evidence import groups as by_groups
from hushtable.evidence import harness
from hushtable.evidence import records as by_records
from hushtable.evidence.case import Case
from hushtable.evidence.causes import causes
from hushtable.evidence.condition import Condition, Promised, refused
from hushtable.evidence.examples import released_examples
from hushtable.evidence.finding import Audit, Finding, Subject
from hushtable.evidence.known import BOTH, attackers, parse_known
from hushtable.evidence.persons import held_by
from hushtable.evidence.power import Power
from hushtable.evidence.sampling import PEOPLE
from hushtable.evidence.validity import assumed, void
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline import registry
from hushtable.pipeline.card import Card
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.release import Release, today
from hushtable.pipeline.run import release as run_recipe
from hushtable.table.arguments import require_options, require_rows, require_seed, several
from hushtable.table.arrays import Integers
from hushtable.table.rows import Rows
from hushtable.table.table import Table

if TYPE_CHECKING:
    from hushtable.evidence.records import Record

RECORDS = 200
"""So many records at risk are kept in the file of an audit."""
SHOWN = 20
"""So many of them are, where their values are."""


class AuditFields(TypedDict, total=False):
    """The fields of ``AuditOptions`` as keywords of a call."""

    person: str | None
    only: Iterable[str]
    settings: Mapping[str, Any] | None
    recipe: Recipe | str | Path | None
    trust: bool
    epsilon: float | None
    card: Card | Mapping[str, Any] | None
    seed: int
    power: bool
    values: bool
    gates: Iterable[str]
    known: str | Iterable[str]
    people: int | None
    work: Path | None


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """What is run, on whom, and what is asked of the release."""

    person: str | None = None
    """The column that identifies persons, where people hold several rows; the one that the card names when absent."""
    only: Iterable[str] = ()
    """The audits to run; every registered one but the costly ones when empty."""
    settings: Mapping[str, Any] | None = None
    """Knobs of audits by text, such as ``linkability.neighbours``."""
    recipe: Recipe | str | Path | None = None
    """How the release was made, for attacks that make it again."""
    trust: bool = False
    """Whether a recipe file inside a release may name code."""
    epsilon: float | None = None
    """The budget that the recipe spends."""
    card: Card | Mapping[str, Any] | None = None
    """The card of the release; a ``Release`` brings its own."""
    seed: int = 0
    power: bool = False
    """Whether leaks are planted to see which ones this audit would notice."""
    values: bool = False
    """Whether records at risk are shown with values and not by row number alone."""
    gates: Iterable[str] = ()
    """Conditions such as ``max_gain<0.05``, judged by upper bounds, or ``k>=10``, judged by the card."""
    known: str | Iterable[str] = BOTH
    """What the attacker holds of a person: ``quasi``, ``all``, ``both`` in turn, or the names of columns."""
    people: int | None = None
    """How many people are asked of each side, picked at random; by default everybody, or 10,000 where tables are not in memory."""
    work: Path | None = None
    """A folder for what does not fit into memory; a temporary one when absent."""

    def __post_init__(self) -> None:
        """One text is a list of itself, and a card may be given as plain values."""
        require_seed(self.seed)
        object.__setattr__(self, "only", several(self.only))
        object.__setattr__(self, "gates", several(self.gates))
        object.__setattr__(self, "known", parse_known(self.known))
        if isinstance(self.work, str):
            object.__setattr__(self, "work", Path(self.work))
        if self.people is not None and self.people < 2:
            raise InputError(f"at least two people are asked, got {self.people}", where="people")
        if isinstance(self.card, Mapping):
            object.__setattr__(self, "card", Card.from_json(self.card))

    @classmethod
    def of(cls, options: AuditOptions | None, keywords: Mapping[str, Any]) -> AuditOptions:
        """These options (the defaults when absent) with the keywords of a call in their place."""
        return replace(options or cls(), **keywords)

    def to_json(self) -> dict[str, Any]:
        """Plain values, as a YAML or JSON file holds them."""
        return {one.name: plain(getattr(self, one.name)) for one in fields(self)}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> AuditOptions:
        """Read from plain values; what is absent has its default, and a name that is no option is refused."""
        require_options(cls, given)
        return cls(**{**given, "recipe": recipe_of(given.get("recipe"))})

    def known_card(self) -> Card | None:
        """The card as a typed value."""
        return Card.from_json(self.card) if isinstance(self.card, Mapping) else self.card


def audit(
    train: Rows,
    released: Rows | Release,
    control: Rows,
    options: AuditOptions | None = None,
    *,
    progress: Progress = silent,
    **keywords: Unpack[AuditFields],
) -> AuditReport:
    """Attack a release: every registered audit but the costly ones, or only those named, on training and control rows.

    The keywords are the fields of ``AuditOptions``; they replace those of ``options``, if both are given.

    Where people hold several rows, ``person`` names the column that identifies them: rates and tests then count people, each
    hit if any of their rows is, and rows without a key are left out. When absent it is the one that the card names, if both
    tables have it, or the persons that the tables know already (``Table.held_by``); else each row is a person. ``assumed``
    says what contradicts that, and how many rows were left out.

    ``settings`` changes knobs of audits by text (``linkability.neighbours``). ``recipe`` (and ``epsilon``) says how the
    release was made, for attacks that make it again; a file inside a release may name code only with ``trust``. With ``power``
    leaks are planted to see which ones this audit would notice. Records at risk are shown by row number; ``values`` also shows
    what the attacker used. ``gates`` are conditions such as ``max_gain<0.05``, judged by upper bounds, or ``k>=10``,
    ``epsilon<=2`` and ``promise=proven``, judged by the card. ``known`` says what the attacker holds of a person: the
    quasi-identifiers, all released columns, some that are named, or (by default) the first two in turn, told apart.

    Of tables that are not in memory ``people`` are picked at random on each side, and the whole release is searched for them;
    audits that need all of it in memory are left out, each with the reason. With ``people`` that is done with tables in memory too.
    """
    options = AuditOptions.of(options, keywords)
    conditions = [Condition.parse(text) for text in options.gates]
    recipe, card = options.recipe, options.known_card()
    if isinstance(released, Release):
        recipe = recipe or released.recipe
        card, released = Card.from_json(released.card()), released.table
    require_rows(train=train, released=released, control=control)
    if options.epsilon is not None and recipe is None:
        raise InputError("says what a recipe spends; name the recipe too", where="epsilon")
    if recipe is not None and not isinstance(recipe, Recipe):
        recipe = recipes.load(recipe, trust=options.trust)
    if recipe is not None and card is not None and recipe.recipe != card.recipe:
        raise InputError(f"the release was made by {card.recipe}, not by {recipe.recipe}", where="recipe")
    audits = pick_audits(options.only, options.settings)
    generator = None if recipe is None else _generator(recipe, options.epsilon)
    efforts = harness.efforts(audits)
    sampled = options.people is not None or not all(isinstance(rows, Table) for rows in (train, released, control))
    left = list[Finding]()
    if sampled:
        if options.power:
            raise InputError("leaks are planted in tables that are in memory, for audits of everybody", where="power")
        announce(progress, {SEARCH: 20.0} | efforts)
        key = _key(train, control, options.person, card)
        asking = Asking(people=options.people or PEOPLE, person=key, seed=options.seed, work=options.work)
        wholes = {"train": train, "release": released, "control": control}
        found = asked(wholes, audits, lambda case: attackers(case, options.known)[0], asking, generator, progress)
        case, audits, left = found.case, found.audits, found.left
        sides = _Sides(case.train, case.control, found.notes, found.places)
    else:
        assert isinstance(train, Table)
        assert isinstance(released, Table)
        assert isinstance(control, Table)
        announce(progress, efforts | (power_study.efforts(efforts) if options.power else {}))
        sides = _identified(train, control, options.person, card)
        case = Case(sides.train, released, sides.control, generator)
        case = replace(case, attackers=attackers(case, options.known)[0])
    tried, untried = attackers(case, options.known)
    findings = harness.run(case, audits, options.seed, progress)
    if case.shortlist is not None:
        findings = [*numbered(findings, case.shortlist.places), *left]
    power = None
    if options.power:
        findings, power = _with_power(case, audits, findings, options.seed, progress)
    reasons = void(case, findings)
    held = {which: case.people(which).count for which in ("train", "control")}
    promised = None
    if card is not None and any(condition.about_promise for condition in conditions):
        promised = Promised.of(card.guarantee(), released.schema.quasi)
    return AuditReport(
        findings=findings,
        rows=case.totals,
        title=train.schema.title,
        card=card,
        records=_records(case, findings, sides.places, values=options.values),
        at_risk=by_records.at_risk(case, findings),
        groups=by_groups.by_group(case, findings),
        power=power,
        gates=[refused(one, reasons) if reasons else one.judge(findings, promised) for one in conditions],
        void=reasons,
        run=Run(
            version=__version__,
            seed=options.seed,
            audits=tuple(audits),
            date=today(),
            known=tuple(one.label for one in tried),
            untried=untried,
        ),
        assumed=[*sides.notes, *assumed(case)],
        causes=[] if sampled else causes(case, findings, None if card is None else card.stated),
        examples=() if sampled else released_examples(case),
        people={} if case.train.persons is None else held,
        asked=held if sampled else {},
    )


@dataclass(frozen=True, eq=False)
class _Sides:
    """Training and control rows with their persons."""

    train: Table
    control: Table
    notes: tuple[str, ...] = ()
    """What could not be done, and which rows were left out."""
    places: Integers | None = None
    """The places of these training rows in the table that was given, where some were left out."""


def _key(train: Rows, control: Rows, person: str | None, card: Card | None) -> str | None:
    """The column that identifies persons, as asked, or as the card says."""
    known = any(isinstance(rows, Table) and rows.persons is not None for rows in (train, control))
    return person if card is None or person is not None or known else card.stated.unit.by


def _identified(train: Table, control: Table, person: str | None, card: Card | None) -> _Sides:
    """The tables with persons identified as asked, or as the card says."""
    key = _key(train, control, person, card)
    if key is None:
        return _Sides(train, control)
    if person is None and not (key in train.schema and key in control.schema):
        lacking = f"the card identifies persons by {key}, which the training or the control rows lack"
        return _Sides(train, control, (f"{lacking}: the tests assume one row a person",))
    ours, others = held_by(train, control, key)
    lost, also = train.rows - ours.rows, control.rows - others.rows
    nobodys = f"{lost:,} of {train.rows:,} training rows and {also:,} of {control.rows:,} control rows have no {key}"
    notes = (f"{nobodys}: nobody knows whose they are, so they were left out of this audit",) if lost + also else ()
    return _Sides(ours, others, notes, np.flatnonzero(~train.missing(key)))


def _with_power(
    case: Case, audits: Mapping[str, Audit], findings: list[Finding], seed: int, progress: Progress
) -> tuple[list[Finding], Power]:
    """The findings with the smallest leak that each would have noticed, and the same of the audit as a whole."""
    tested = {f.audit for f in findings if f.p is not None or f.risk is not None}
    noticed = power_study.power(case, {n: a for n, a in audits.items() if n in tested}, seed, progress=progress)
    parts = power_study.parts(case, audits, findings, seed, progress=progress)
    return power_study.with_power(findings, noticed), replace(power_study.summary(noticed), parts=parts)


def _records(case: Case, findings: list[Finding], places: Integers | None, *, values: bool) -> list[Record]:
    """The training rows at most risk, by their row number in the table that was given."""
    records = by_records.riskiest(findings, SHOWN if values else RECORDS, values=values)
    if values:
        records = [replace(record, values=_values(case, record.row - 1)) for record in records]
    if places is not None:
        records = [replace(record, row=int(places[record.row - 1]) + 1) for record in records]
    return records


def _values(case: Case, row: int) -> dict[str, str | None]:
    """What the compared columns of a training row hold."""
    one = case.train.take(np.array([row])).select(case.columns)
    return {name: one.strings(name)[0] for name in case.columns}


def pick_audits(
    only: Iterable[str] = (), settings: Mapping[str, Any] | None = None, subject: Subject | None = None
) -> dict[str, Audit]:
    """The audits to run, with their knobs: all but the costly ones unless some are named; with a subject, those about it."""
    known, named = registry.audits(), several(only)
    picked, faults = list[tuple[str, Audit]](), list[Fault]()
    for name in named or known:
        try:
            kind = registry.find(name, known, "audit")
        except InputError as error:
            faults += error.faults
            continue
        if not issubclass(kind, Audit):
            faults.append(Fault(name, "is no audit"))
        elif subject not in (None, kind.subject):
            if named:
                faults.append(Fault(name, f"is about {kind.subject}, not about {subject}; hushtable.audit (hush audit) runs it"))
        elif named or not kind.costly:
            picked.append((name, kind()))
    if faults:
        raise InputError(faults)
    return dict(zip([name for name, _ in picked], recipes.turned(picked, settings or {}, "audit"), strict=True))


def _generator(recipe: Recipe, epsilon: float | None) -> Callable[[Table, int], Table]:
    """Makes releases of other rows in the same way."""
    return lambda table, seed: run_recipe(table, recipe, epsilon=epsilon, seed=seed, unproven=True).table
