"""The library's face: read a table, release it, audit the release. Every command is a call of one of these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hushtable import __version__
from hushtable.audited import AuditReport
from hushtable.errors import Fault, InputError
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline import registry
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.release import Release, data_file, load_card, load_table
from hushtable.pipeline.run import Progress
from hushtable.pipeline.run import release as run_recipe
from hushtable.pipeline.signature import SigningKey
from hushtable.pipeline.verify import verify as verify_release
from hushtable.privacy.noise import SYSTEM, Entropy
from hushtable.privacy.unit import Unit
from hushtable.report.card import card_page
from hushtable.report.mapping import mapping_csv
from hushtable.table import io
from hushtable.table.arguments import require_seed, require_tables, several
from hushtable.table.columns import Column, Kind, Role
from hushtable.table.disk import whole_folder
from hushtable.table.schema import Schema
from hushtable.table.table import Table

if TYPE_CHECKING:
    from hushtable.evidence.case import Case
    from hushtable.evidence.finding import Audit, Subject

PRIVATE_NOTE = "Rows of real people. This folder stays private; only the release beside it is meant to be shared.\n"


def release(
    table: Table,
    recipe: Recipe | str | Path,
    *,
    settings: Mapping[str, Any] | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    unit: Unit | None = None,
    rows: int | None = None,
    seed: int | None = None,
    unproven: bool = False,
    learn_domain: bool = False,
    entropy: Entropy = SYSTEM,
    progress: Progress = lambda step, share: None,
    **knobs: Any,
) -> Release:
    """Run a recipe (by name, from a file, or an object) on a table.

    Knobs of its steps are named like arguments, or in ``settings`` where several steps share a name. ``epsilon`` is the budget
    of the whole release; ``learn_domain`` pays a tenth of it to learn the kinds and domains that were read off the rows.

    >>> import hushtable as ht
    >>> train = ht.people(300)
    >>> ht.release(train, "mdav", k=10, seed=1)
    Release(mdav: 300 rows, 20 columns; verified: k-anonymity 10)
    >>> ht.release(train, "mdav", settings={"microaggregate.k": "10"}, seed=1).guarantee.assurance
    <Assurance.VERIFIED: 'verified'>
    >>> ht.release(train, "mdav", kk=10)
    Traceback (most recent call last):
    hushtable.errors.InputError: knob kk: no step has this knob; there are microaggregate.k, ...
    """
    require_tables(table=table)
    chosen = (recipe if isinstance(recipe, Recipe) else recipes.load(recipe)).set({**(settings or {}), **knobs})
    if learn_domain and (table.schema.undeclared or table.schema.drafted):
        chosen = learning_domains(chosen)
    return run_recipe(
        table, chosen, epsilon=epsilon, delta=delta, unit=unit, rows=rows, seed=seed,
        unproven=unproven, entropy=entropy, progress=progress,
    )  # fmt: skip


def best_of(
    table: Table,
    candidates: Iterable[Recipe | str | Path],
    *,
    epsilon: float,
    delta: float | None = None,
    unit: Unit | None = None,
    runs: float = 5.0,
    rows: int | None = None,
    seed: int | None = None,
) -> Release:
    """The best of about ``runs`` private releases by these recipes, chosen by a private score; ``epsilon`` pays for all of it.

    Trying many and keeping the best is not free (Papernot and Steinke 2022): each run may spend about half of the budget.
    """
    # Fitted models load slowly, and few releases need them all.
    from hushtable.synthesize import best_of as choosing

    require_tables(table=table)
    faults, chosen = list[Fault](), list[Recipe]()
    for one in [candidates] if isinstance(candidates, (str, Path, Recipe)) else candidates:
        try:
            chosen.append(one if isinstance(one, Recipe) else recipes.load(one))
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    return choosing.best_of(table, chosen, epsilon=epsilon, delta=delta, unit=unit, runs=runs, rows=rows, seed=seed)


def learning_domains(recipe: Recipe, share: float = 0.1) -> Recipe:
    """The recipe with a first step that learns undeclared domains, for this share of the whole budget."""
    from hushtable.encode.learned import LearnDomain

    others = sum(float(getattr(step, "share", 1.0)) for step in recipe.steps if step.spends)
    if not others:
        raise InputError(f"{recipe.recipe} spends no privacy budget, so nothing pays for a domain", where="learn-domain")
    return replace(recipe, steps=(LearnDomain(share=others * share / (1 - share)), *recipe.steps))


def save(made: Release, folder: str | Path, form: str = "csv", sign: SigningKey | str | Path | None = None) -> Path:
    """Write a release with its card as a page and, where values were generalized, what became what.

    ``sign`` is the private key to sign the card with, or its file.
    """
    key = sign if sign is None or isinstance(sign, SigningKey) else SigningKey.load(sign)
    pages = {"card.html": card_page(made.card())}
    if any(column.generalized for column in made.table.schema):
        pages["mapping.csv"] = mapping_csv(made.table.schema)
    return made.save(folder, form=form, pages=pages, sign=key)


def sign(folder: str | Path, key: SigningKey | str | Path) -> Path:
    """Sign the card of a saved release; refused where something contradicts the card, or it is signed already."""
    loaded, folder = key if isinstance(key, SigningKey) else SigningKey.load(key), Path(folder)
    if faults := verify_release(folder).faults:
        raise InputError([*faults, Fault(str(folder), "is not what its card says, and is not signed")])
    return loaded.sign(folder)


def hold_out(table: Table, share: float, seed: int | None = None, *, by: str | None = None) -> tuple[Table, Table]:
    """Training rows and a control of about this share, split at random before anything is fitted.

    Without a seed a secret coin decides for each person alone, so what holds for one person more or less among the
    training rows holds for the whole table. With a seed the control has exactly this share, and one person more may move
    all others: a promise about the training rows is then one about them only. ``by`` names the column that tells persons
    apart (those of the table itself when absent): all rows of a person go to one side. A row without a person is one of its own.
    """
    require_tables(table=table)
    require_seed(seed)
    if not (isinstance(share, Real) and 0 < share < 1):
        raise InputError(f"a share is a number between 0 and 1, got {share!r}", where="hold-out")
    if by is not None:
        table = table.held_by(by)
    persons = np.arange(table.rows) if table.persons is None else np.unique(table.persons, return_inverse=True)[1]
    count = int(persons.max(initial=-1)) + 1
    if seed is None:
        apart = SYSTEM.words(count) < np.uint64(int(share * 2.0**64))
    else:
        apart = np.random.default_rng(seed).permutation(count) < round(share * count)
    control = apart[persons]
    if not 2 <= control.sum() <= table.rows - 2:
        whom = "rows" if table.persons is None else "persons"
        raise InputError(f"{share:g} of {count} {whom} leaves too few on one side", where="hold-out")
    return table.take(~control), table.take(control)


def rows_used(table: Table, unit: Unit) -> int:
    """How many rows a release reads: those of known persons, up to the limit for each, where persons are told apart."""
    if unit.by is None:
        return table.rows
    groups, _ = table.groups([unit.by])
    return int(np.minimum(np.bincount(groups[~table.missing(unit.by)]), unit.rows).sum())


def save_private(tables: Mapping[str, Table], folder: Path) -> Path:
    """Write training and control rows to a new folder that only its owner can read."""
    with whole_folder(folder, private=True) as partial:
        for name, table in tables.items():
            io.write(table, partial / f"{name}.csv")
        (partial / "README.txt").write_text(PRIVATE_NOTE, encoding="utf-8")
    return folder


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
    progress: Callable[[str, float], None] = lambda name, share: None,
) -> AuditReport:
    """Attack a release: every registered audit but the costly ones, or only those named, on training and control rows.

    Where people hold several rows, ``person`` names the column that tells them apart: rates and tests then count people, each
    hit if any of their rows is, and rows without a key are left out. When absent it is the one that the card names, if both
    tables have it, or the persons that the tables know already (``Table.held_by``); else each row is a person. ``assumed``
    says what speaks against that, and how many rows were left out.

    ``settings`` changes knobs of audits by text (``linkability.neighbours``). ``recipe`` (and ``epsilon``) tells how the
    release was made, for attacks that make it again; a file inside a release may name code only with ``trust``. With ``power``
    leaks are planted to see which ones this audit would notice. Records at risk are told by row number; ``values`` also tells
    what the attacker used. ``gates`` are conditions such as ``max_risk<0.05``, judged by upper bounds.
    """
    # Compiled searches load slowly, and a release needs none of them.
    from hushtable.evidence import groups as by_groups
    from hushtable.evidence import harness
    from hushtable.evidence import records as by_records
    from hushtable.evidence.case import Case
    from hushtable.evidence.gate import Gate, refused
    from hushtable.evidence.validity import assumed, void

    conditions = [Gate.parse(text) for text in several(gates)]
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
        [refused(gate, reasons) if reasons else gate.judge(findings) for gate in conditions],
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


def utility(
    real: Table,
    released: Table | Release,
    control: Table | None = None,
    *,
    target: str = "",
    only: Iterable[str] = (),
    settings: Mapping[str, Any] | None = None,
    card: dict[str, Any] | None = None,
    seed: int = 0,
    progress: Callable[[str, float], None] = lambda name, share: None,
) -> AuditReport:
    """What a release is still good for: every measure of utility, or only those named; no attack is run.

    ``control`` are rows of the same kind that the release never saw: what models are tested on, and the baseline of every
    distance. Without them the real rows are halved at random: one half is compared, the other is the control. Then the test
    rows are rows that the release was made from, and the report says so. An attack that is named is refused: among halved rows
    there is nobody whom the release has not seen, and it would find nothing.
    """
    from hushtable.evidence import harness
    from hushtable.evidence.case import Case
    from hushtable.evidence.finding import Subject

    if isinstance(released, Release):
        card, released = released.card(), released.table
    halved = control is None
    require_tables(real=real, released=released, **({} if halved else {"control": control}))
    require_seed(seed)
    measures = pick_audits(only, settings, Subject.UTILITY)
    if control is None:
        real, control = hold_out(real, 0.5, seed)
    if target:
        measures = {name: _aimed(measure, target) for name, measure in measures.items()}
    case = Case(real, released, control)
    findings = harness.run(case, measures, seed, progress)
    made = {"hushtable": __version__, "seed": seed, "audits": list(measures), "halved": halved}
    # A measure of another package may say something about privacy all the same.
    blind = halved and any(finding.subject is Subject.PRIVACY for finding in findings)
    reasons = ["without a control there is nobody whom the release has not seen"] if blind else []
    return AuditReport(findings, {name: table.rows for name, table in case.tables.items()}, card, void=reasons, made=made)


def utilities() -> list[str]:
    """The names of the measures of utility that are run unless some are named."""
    from hushtable.evidence.finding import Subject

    return list(pick_audits(subject=Subject.UTILITY))


def _aimed(measure: Audit, target: str) -> Audit:
    """The measure with this column as the one to predict, if it has such a knob that is not set."""
    return replace(measure, target=target) if getattr(measure, "target", None) == "" else measure  # type: ignore[type-var]


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


def read_release(path: str | Path, schema: Schema) -> tuple[Table, dict[str, Any] | None]:
    """A release to audit: a folder that we wrote, or any file under the schema of the original, cells allowed."""
    path = Path(path)
    if path.is_dir():
        card = load_card(path)
        # A card that says more than its own ledger gives would be believed on the first screen of the report.
        if faults := verify_release(path).faults:
            more = Fault(str(path), "is not what its card says; to attack it all the same, name its data file")
            raise InputError([*faults, more])
        return _seen(load_table(path), data_file(path), schema), card
    # A domain that was read off other rows does not bind a release, but tells what its cells stand for.
    return _seen(io.read(path, _present(path, schema).undrafted(), generalized=True), path, schema), None


def _seen(released: Table, path: Path, schema: Schema) -> Table:
    """A release whose cells are read with the schema of the original, where its own does not tell what lies under them."""
    names = [
        c.name for c in released.schema if c.generalized and c.observed and c.name in schema and not schema[c.name].generalized
    ]
    if not names:
        return released
    again = io.read(path, schema.select(names), generalized=True)
    return released.with_columns(*((again.schema[name], again[name]) for name in names))


def _present(path: Path, schema: Schema) -> Schema:
    """The part of a schema that a foreign file has, and what else it has as texts; it must have some of the schema.

    An identifier is read as it is written: it may have been replaced by something else.
    """
    names = io.column_names(path)
    kept = [schema[name] for name in schema.names if name in names]
    if not kept:
        raise InputError(Fault(path.name, f"has none of the columns of the schema: {', '.join(schema.names)}"))
    read = [Column(name=c.name, kind=Kind.KEY, role=c.role) if c.role is Role.IDENTIFIER else c for c in kept]
    more = [Column(name=name, kind=Kind.TEXT) for name in dict.fromkeys(names) if name and name not in schema]
    return replace(schema, columns=(*read, *more))
