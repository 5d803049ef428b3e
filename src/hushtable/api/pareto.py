"""Generalizations beyond one release: the sheet of what every k costs, and levels that were chosen before put on new rows."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from pathlib import Path
from typing import Any

from hushtable.anonymize.lattice.generalize import Generalize
from hushtable.display import Progress, silent
from hushtable.errors import InputError
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.release import Release, load_card
from hushtable.pipeline.run import release as run_recipe
from hushtable.privacy.guarantee import Guarantee
from hushtable.report.pareto import pareto_page
from hushtable.table import io
from hushtable.table.columns import CODED, Cells, Column, Kind, Levels, Role
from hushtable.table.disk import whole_folder
from hushtable.table.hierarchy import FileTree
from hushtable.table.schema import Schema
from hushtable.table.table import Table

KS = (2, 5, 10, 20, 50)
LIMITS = (0.0, 0.01, 0.02, 0.05, 0.1, 1.0)


@dataclass(frozen=True, eq=False)
class Sheet:
    """The best generalization for every k and suppression limit. It was computed from raw rows: it is not for publication."""

    lines: list[dict[str, Any]]
    fronts: dict[str, list[tuple[float, float]]] = field(repr=False)
    """For each k, loss and share suppressed of the choices that no tried one beats."""
    loss: str
    rows: int
    checks: int

    def save(self, folder: str | Path) -> Path:
        """Write ``pareto.json`` and ``pareto.html`` to a new folder that only its owner can read."""
        folder = Path(folder)
        with whole_folder(folder, private=True) as partial:
            plain = {"loss": self.loss, "rows": self.rows, "lines": self.lines, "fronts": self.fronts}
            (partial / "pareto.json").write_text(json.dumps(plain, indent=1, ensure_ascii=False), encoding="utf-8")
            page = pareto_page(self.lines, self.fronts, loss=self.loss, rows=self.rows)
            (partial / "pareto.html").write_text(page, encoding="utf-8")
        return folder


def pareto(
    table: Table,
    *,
    ks: Sequence[int] = KS,
    limits: Sequence[float] = LIMITS,
    settings: Mapping[str, str] | None = None,
    progress: Progress = silent,
) -> Sheet:
    """The sheet of a table; ``settings`` are knobs of the step ``generalize`` but for k and limit."""
    few = [k for k in ks if k < 2] + [limit for limit in limits if not 0 <= limit <= 1]
    if few or not ks or not limits:
        raise InputError("k is at least 2 and a limit lies in [0, 1]; at least one of each is needed", where="pareto")
    if odd := [k for k in ks if not isinstance(k, Integral)]:
        raise InputError(f"k is a whole number, got {', '.join(map(str, odd))}", where="pareto")
    step = recipes.load("k-anonymity").set(settings or {}).steps[0]
    assert isinstance(step, Generalize)
    kept = table.select(table.schema.released)
    if kept.rows < max(ks):
        raise InputError(f"k = {max(ks)} is larger than the number of rows ({kept.rows})", where="pareto")
    lattice, found = step.sheet(
        kept, tuple(dict.fromkeys(ks)), tuple(dict.fromkeys(limits)), lambda share: progress("pareto", share)
    )
    names = [ladder.column.name for ladder in lattice.ladders]
    lines = [
        {
            "k": f.goal.k,
            "limit": f.goal.limit,
            "value": f.value if f.node is not None else None,
            "suppressed": f.suppressed if f.node is not None else None,
            "suppressed_share": f.suppressed / kept.rows if f.node is not None else None,
            "optimal": f.optimal,
            "gap": f.gap if math.isfinite(f.gap) else None,
            "levels": dict(zip(names, f.node, strict=True)) if f.node is not None else {},
        }
        for f in found
    ]
    fronts = {f"k = {f.goal.k}": [(value, rows / kept.rows) for value, rows in f.tried] for f in found}
    return Sheet(lines, fronts, str(step.loss), kept.rows, found[0].checks)


def apply(
    folder: str | Path,
    rows: Table | str | Path,
    *,
    seed: int | None = None,
    trust: bool = False,
    progress: Progress = silent,
) -> Release:
    """Put the levels of a saved release on new rows, and suppress what does not hold among these.

    The result is a release of its own: k, l and t are those of the new rows, verified on them. ``rows`` are read under the
    schema of the release: every value must lie in its declared domains. Where persons were told apart by a key, they are in the new
    rows by the same one; rows without it count for the fewest people who could hold them. ``trust`` lets its recipe name steps that
    are not of this package, whose code is then run.
    """
    folder = Path(folder)
    card = load_card(folder)
    recipe, levels = _fixed(recipes.load(folder / "recipe.yaml", trust=trust), card)
    schema = _original(Schema.load(folder / "schema.yaml"), levels)
    unit = Guarantee.from_json(card["guarantee"]).unit
    if unit.by is not None:
        schema = schema.with_columns(Column(name=unit.by, kind=Kind.KEY, role=Role.IDENTIFIER))
    table = rows if isinstance(rows, Table) else io.read(rows, schema)
    unit = unit if unit.by in table.schema else replace(unit, by=None)
    return run_recipe(table, recipe, unit=unit, seed=seed, progress=progress)


def _fixed(recipe: Recipe, card: Mapping[str, Any]) -> tuple[Recipe, dict[str, int]]:
    """The recipe with the levels that were chosen, and these; all rows may be suppressed, for nothing else can give way."""
    results = [result for name, result in card.get("result", {}).items() if name.split()[0] == "generalize"]
    places = [i for i, step in enumerate(recipe.steps) if isinstance(step, Generalize)]
    if len(places) != 1 or len(results) != 1:
        raise InputError(
            "only a release that was generalized, and once, can be applied to new rows", where=f"recipe {recipe.recipe}"
        )
    step = recipe.steps[places[0]]
    assert isinstance(step, Generalize)
    levels = {name: told["level"] for name, told in results[0]["columns"].items()}
    if step.local or any(isinstance(level, list) for level in levels.values()):
        raise InputError(
            "local recoding gives groups levels of their own, which new rows cannot share", where=f"recipe {recipe.recipe}"
        )
    fixed = replace(step, columns=tuple(levels), levels=tuple(f"{name}={level}" for name, level in levels.items()), limit=1.0)
    return replace(recipe, steps=(*recipe.steps[: places[0]], fixed, *recipe.steps[places[0] + 1 :])), levels


def _original(schema: Schema, levels: Mapping[str, int]) -> Schema:
    """The schema before generalization. What was read off the released rows is read anew, off the new ones."""
    columns, strange = [], []
    for column in schema.undrafted():
        plain = replace(column, domain=column.base if not column.observed else _leaves(column))
        columns.append(plain)
        # Cells that follow from bounds or levels of other rows would now be other cells.
        between = levels.get(column.name, 0) > 0 and not _is_star(schema[column.name])
        if plain.domain is None and between and not isinstance(column.hierarchy, FileTree):
            strange.append(column.name)
    if strange:
        raise InputError(
            f"the levels of {', '.join(strange)} follow from a domain that was read off the rows, and would now be others: "
            "declare the domain (or a hierarchy file) in the schema and release again",
            where="apply",
        )
    return replace(schema, columns=tuple(columns))


def _leaves(column: Column) -> Levels | None:
    """The lines of a hierarchy file are public; any other domain is read off the new rows."""
    tree = column.hierarchy
    return (
        Levels(tuple(row[0] for row in tree.rows), observed=True) if isinstance(tree, FileTree) and column.kind in CODED else None
    )


def _is_star(column: Column) -> bool:
    return isinstance(column.domain, Cells) and all(cell.anything for cell in column.domain.cells)
