"""The library's face: read a table, release it, audit the release. Every command is a call of one of these."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hushtable.errors import Fault, InputError
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline import registry
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.release import Release, data_file, load_card, load_table
from hushtable.pipeline.run import Progress
from hushtable.pipeline.run import release as run_recipe
from hushtable.privacy.noise import SYSTEM, Entropy
from hushtable.privacy.unit import Unit
from hushtable.report.card import card_page
from hushtable.report.mapping import mapping_csv
from hushtable.table import io
from hushtable.table.disk import whole_folder
from hushtable.table.schema import Schema
from hushtable.table.table import Table

if TYPE_CHECKING:
    from hushtable.evidence.finding import Finding

PRIVATE_NOTE = "Rows of real people. This folder stays private; only the release beside it is meant to be shared.\n"


def release(
    table: Table,
    recipe: Recipe | str | Path,
    *,
    settings: Mapping[str, str] | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    unit: Unit | None = None,
    rows: int | None = None,
    seed: int | None = None,
    unproven: bool = False,
    entropy: Entropy = SYSTEM,
    progress: Progress = lambda step, share: None,
) -> Release:
    """Run a recipe (by name, from a file, or an object) on a table; ``settings`` changes knobs by text."""
    chosen = recipe if isinstance(recipe, Recipe) else recipes.load(recipe)
    return run_recipe(
        table, chosen.set(settings or {}), epsilon=epsilon, delta=delta, unit=unit, rows=rows, seed=seed,
        unproven=unproven, entropy=entropy, progress=progress,
    )  # fmt: skip


def save(made: Release, folder: str | Path, form: str = "csv") -> Path:
    """Write a release with its card as a page and, where values were generalized, what became what."""
    pages = {"card.html": card_page(made.card())}
    if any(column.generalized for column in made.table.schema):
        pages["mapping.csv"] = mapping_csv(made.table.schema)
    return made.save(folder, form=form, pages=pages)


def hold_out(table: Table, share: float, seed: int | None = None, *, by: str | None = None) -> tuple[Table, Table]:
    """Training rows and a control of about this share, split at random before anything is fitted.

    Without a seed a secret coin decides for each person alone, so what holds for one person more or less among the
    training rows holds for the whole table. With a seed the control has exactly this share, and one person more may move
    all others: a promise about the training rows is then one about them only. ``by`` names the column that tells persons
    apart: all rows of a person go to one side. A row without a person is one of its own.
    """
    if not 0 < share < 1:
        raise InputError(f"a share lies between 0 and 1, got {share}", where="hold-out")
    persons = np.arange(table.rows) if by is None else table.groups([by])[0]
    if by is not None:
        nobodys = table.rows + np.arange(table.rows)
        _, persons = np.unique(np.where(table.missing(by), nobodys, persons), return_inverse=True)
    count = int(persons.max(initial=-1)) + 1
    if seed is None:
        apart = SYSTEM.words(count) < np.uint64(int(share * 2.0**64))
    else:
        apart = np.random.default_rng(seed).permutation(count) < round(share * count)
    control = apart[persons]
    if not 2 <= control.sum() <= table.rows - 2:
        whom = "rows" if by is None else "persons"
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
    with whole_folder(folder, mode=0o700) as partial:
        for name, table in tables.items():
            io.write(table, partial / f"{name}.csv")
        (partial / "README.txt").write_text(PRIVATE_NOTE, encoding="utf-8")
    return folder


@dataclass(frozen=True, eq=False)
class AuditReport:
    """What the audits found. It was computed from raw rows: it is not for publication."""

    findings: list[Finding]
    rows: dict[str, int]
    card: dict[str, Any] | None = field(default=None, repr=False)

    def save(self, folder: str | Path) -> Path:
        """Write ``audit.json`` and ``audit.html`` to a new folder."""
        from hushtable.report.audit import audit_page

        folder = Path(folder)
        if any((parent / "card.json").exists() for parent in folder.resolve().parents):
            raise InputError(
                "lies inside a release; an audit is computed from raw rows and must not be published with it", where=str(folder)
            )
        with whole_folder(folder) as partial:
            plain = [finding.to_json() for finding in self.findings]
            (partial / "audit.json").write_text(json.dumps(plain, indent=1, ensure_ascii=False), encoding="utf-8")
            (partial / "audit.html").write_text(audit_page(plain, self.card, rows=self.rows), encoding="utf-8")
        return folder


def audit(
    train: Table,
    released: Table | Release,
    control: Table,
    *,
    only: Iterable[str] = (),
    card: dict[str, Any] | None = None,
    seed: int = 0,
    progress: Callable[[str, float], None] = lambda name, share: None,
) -> AuditReport:
    """Attack a release: every registered audit, or only those named, on training and control rows."""
    # Compiled searches load slowly, and a release needs none of them.
    from hushtable.evidence import harness
    from hushtable.evidence.case import Case
    from hushtable.evidence.finding import Audit

    if isinstance(released, Release):
        card, released = released.card(), released.table
    known = registry.audits()
    picked = {name: registry.find(name, known, "audit")() for name in (tuple(only) or known)}
    odd = [name for name, kind in picked.items() if not isinstance(kind, Audit)]
    if odd:
        raise InputError(f"{', '.join(odd)} is no audit", where="audit")
    case = Case(train, released, control)
    findings = harness.run(case, picked, seed, progress)
    return AuditReport(findings, {name: table.rows for name, table in case.tables.items()}, card)


def read_release(path: str | Path, schema: Schema) -> tuple[Table, dict[str, Any] | None]:
    """A release to audit: a folder that we wrote, or any file under the schema of the original, cells allowed."""
    path = Path(path)
    if path.is_dir():
        return _seen(load_table(path), data_file(path), schema), load_card(path)
    kept = schema.select(name for name in schema.released)
    return io.read(path, _present(path, kept), generalized=True), None


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
    """The part of a schema that a foreign file has; it must have some of it."""
    names = io.column_names(path)
    kept = [name for name in schema.names if name in names]
    if not kept:
        raise InputError(Fault(path.name, f"has none of the columns of the schema: {', '.join(schema.names)}"))
    return schema.select(kept)
