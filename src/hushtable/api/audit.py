"""Attack a release: every audit that applies, on training and control rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hushtable import __version__
from hushtable.api.audit_report import AuditReport
from hushtable.display import Progress, silent
from hushtable.errors import Fault, InputError
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline import registry
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.release import Release
from hushtable.pipeline.run import release as run_recipe
from hushtable.privacy.guarantee import Guarantee
from hushtable.table.arguments import require_seed, require_tables, several
from hushtable.table.table import Table

if TYPE_CHECKING:
    from hushtable.evidence.case import Case
    from hushtable.evidence.finding import Audit, Subject


def audit(
    train: Table,
    released: Table | Release,
    control: Table,
    *,
    person: str | None = None,
    only: Iterable[str] = (),
    settings: Mapping[str, Any] | None = None,
    recipe: Recipe | str | Path | None = None,
    trust: bool = False,
    epsilon: float | None = None,
    card: dict[str, Any] | None = None,
    seed: int = 0,
    power: bool = False,
    values: bool = False,
    gates: Iterable[str] = (),
    progress: Progress = silent,
) -> AuditReport:
    """Attack a release: every registered audit but the costly ones, or only those named, on training and control rows.

    Where people hold several rows, ``person`` names the column that tells them apart: rates and tests then count people, each
    hit if any of their rows is, and rows without a key are left out. When absent it is the one that the card names, if both
    tables have it, or the persons that the tables know already (``Table.held_by``); else each row is a person. ``assumed``
    says what speaks against that, and how many rows were left out.

    ``settings`` changes knobs of audits by text (``linkability.neighbours``). ``recipe`` (and ``epsilon``) tells how the
    release was made, for attacks that make it again; a file inside a release may name code only with ``trust``. With ``power``
    leaks are planted to see which ones this audit would notice. Records at risk are told by row number; ``values`` also tells
    what the attacker used. ``gates`` are conditions such as ``max_risk<0.05``, judged by upper bounds, or ``k>=10``,
    ``epsilon<=2`` and ``promise=proven``, judged by the card.
    """
    # Compiled searches load slowly, and a release needs none of them.
    from hushtable.evidence import groups as by_groups
    from hushtable.evidence import harness
    from hushtable.evidence import records as by_records
    from hushtable.evidence.case import Case
    from hushtable.evidence.condition import Condition, Promised, refused
    from hushtable.evidence.validity import assumed, void

    conditions = [Condition.parse(text) for text in several(gates)]
    if isinstance(released, Release):
        recipe = recipe or released.recipe
        card, released = released.card(), released.table
    require_tables(train=train, released=released, control=control)
    require_seed(seed)
    if recipe is not None and not isinstance(recipe, Recipe):
        recipe = recipes.load(recipe, trust=trust)
    if recipe is not None and card is not None and recipe.recipe != card["recipe"]:
        raise InputError(f"the release was made by {card['recipe']}, not by {recipe.recipe}", where="recipe")
    audits = pick_audits(only, settings)
    given = train
    train, control, key, unknown = _held(train, control, person, card)
    case = Case(train, released, control, None if recipe is None else _generator(recipe, epsilon))
    findings = harness.run(case, audits, seed, progress)
    told = None
    if power:
        from hushtable.audits import power as study

        tested = {f.audit for f in findings if f.p is not None or f.risk is not None}
        found = study.power(case, {n: a for n, a in audits.items() if n in tested}, seed, progress=progress)
        in_part = study.parts(case, audits, findings, seed, progress=progress)
        findings, told = study.with_power(findings, found), study.summary(found) | {"parts": in_part}
    reasons = void(case, findings)
    promised = None
    if card is not None and any(condition.about_promise for condition in conditions):
        promised = Promised.of(Guarantee.from_json(card["guarantee"]), released.schema.quasi)
    records = by_records.riskiest(findings, values=values)
    if values:
        records = [record | {"values": _values(case, record["row"] - 1)} for record in records]
    if key is not None:
        rows = np.flatnonzero(~given.missing(key))
        records = [record | {"row": int(rows[record["row"] - 1]) + 1} for record in records]
    return AuditReport(
        findings,
        {name: table.rows for name, table in case.tables.items()},
        card,
        records,
        by_records.at_risk(case, findings),
        by_groups.by_group(case, findings),
        told,
        [refused(gate, reasons) if reasons else gate.judge(findings, promised) for gate in conditions],
        reasons,
        {"hushtable": __version__, "seed": seed, "audits": list(audits)},
        unknown + assumed(case),
        {} if case.train.persons is None else {which: case.people(which).count for which in ("train", "control")},
    )


def _held(
    train: Table, control: Table, person: str | None, card: dict[str, Any] | None
) -> tuple[Table, Table, str | None, list[str]]:
    """The tables with persons told apart as asked, or as the card says, and by which key; and what could not be done."""
    from hushtable.evidence.persons import held_by

    known = train.persons is not None or control.persons is not None
    key = person if card is None or person is not None or known else card["guarantee"]["unit"]["by"]
    if key is None:
        return train, control, None, []
    if person is None and not (key in train.schema and key in control.schema):
        lacking = f"the card tells persons apart by {key}, which the training or the control rows lack"
        return train, control, None, [f"{lacking}: the tests assume one row a person"]
    ours, others = held_by(train, control, key)
    lost, also = train.rows - ours.rows, control.rows - others.rows
    nobodys = f"{lost:,} of {train.rows:,} training rows and {also:,} of {control.rows:,} control rows have no {key}"
    told = [f"{nobodys}: nobody knows whose they are, so they were left out of this audit"] if lost + also else []
    return ours, others, key, told


def _values(case: Case, row: int) -> dict[str, str | None]:
    """What the compared columns of a training row hold."""
    one = case.train.take(np.array([row])).select(case.columns)
    return {name: one.strings(name)[0] for name in case.columns}


def pick_audits(
    only: Iterable[str] = (), settings: Mapping[str, Any] | None = None, subject: Subject | None = None
) -> dict[str, Audit]:
    """The audits to run, with their knobs: all but the costly ones unless some are named; with a subject, those about it."""
    from hushtable.evidence.finding import Audit

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
