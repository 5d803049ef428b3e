"""Put the levels of a release that was generalized on new rows, and verify the criteria on these."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hushtable.anonymize.lattice.generalize import Generalize
from hushtable.anonymize.lattice.summary import rungs
from hushtable.display import Progress, silent
from hushtable.engine.compute import Compute
from hushtable.errors import GuaranteeRefused, InputError
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.large import LargeRelease
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.release import Release, load_card
from hushtable.pipeline.run import release_rows
from hushtable.privacy.guarantee import Guarantee
from hushtable.table.columns import CODED, Cells, Column, Kind, Levels, Role
from hushtable.table.hierarchy import FileTree
from hushtable.table.layout import Layout
from hushtable.table.rows import Rows
from hushtable.table.schema import Schema
from hushtable.table.trees import build, derive_formerly

STEP = "generalize"
"""The step whose levels are put on new rows."""
MISFIT = "the levels were chosen for other rows; a release of their own would lose less"
TINY = 1e-9
"""What rounding may add to a share."""


@dataclass(frozen=True, kw_only=True)
class ApplyOptions:
    """What new rows are allowed."""

    limit: float | None = None
    """The largest share of them that may be suppressed; the limit of the recipe when absent, 1 for any number."""
    seed: int | None = None
    trust: bool = False
    """Whether the recipe may name steps that are not of this package, whose code is then run."""
    allow_copies: str | None = None
    """Why rows of real people may leave as they are; without a reason they are refused."""

    def __post_init__(self) -> None:
        """A share."""
        if self.limit is not None and not 0 <= self.limit <= 1:
            raise InputError(f"expected a share from 0 to 1, got {self.limit}", where="limit")


def apply(
    folder: str | Path,
    rows: Rows | str | Path,
    layout: Layout | None = None,
    options: ApplyOptions | None = None,
    *,
    compute: Compute | None = None,
    progress: Progress = silent,
    **settings: Any,
) -> Release | LargeRelease:
    """Put the levels of a saved release on new rows, and suppress what does not hold among these.

    The result is a release of its own: k, l and t are those of the new rows, verified on them. ``rows`` are read under the
    schema of the release, a file of them in this layout: every value must lie in its declared domains. Where a key identified
    persons, the same key identifies them in the new rows; rows without it count for the fewest people who could hold them. What
    is allowed is in ``ApplyOptions``: give it whole, or its fields by name, as in ``apply(folder, rows, limit=0.1)``; where more
    rows would be suppressed than its limit, GuaranteeRefused says how many. ``compute`` says where the rows of files are worked on.
    """
    folder = Path(folder)
    card = load_card(folder)
    asked = ApplyOptions(**settings) if options is None else options
    recipe, levels, allowed = _fixed(recipes.load(folder / "recipe.yaml", trust=asked.trust), card)
    ladders = _generalizations(card["result"])[0]["columns"]
    schema = _as_released(_original(Schema.load(folder / "schema.yaml"), levels), ladders)
    unit = Guarantee.from_json(card["guarantee"]).unit
    if unit.by is not None:
        schema = schema.with_columns(Column(name=unit.by, kind=Kind.KEY, role=Role.IDENTIFIER))
    if isinstance(rows, (str, Path)):
        # Whoever has a table waits for no database.
        from hushtable.engine.open import open_rows

        table = open_rows(rows, schema, compute=compute, layout=layout, progress=progress)
    else:
        table = rows.under(_as_released(rows.schema, ladders))
    unit = unit if unit.by in table.schema else replace(unit, by=None)
    release = release_rows(table, recipe, unit=unit, seed=asked.seed, allow_copies=asked.allow_copies, progress=progress)
    release.refuse_copies()
    gone, share = suppressed_rows(release), suppressed_share(release)
    limit = allowed if asked.limit is None else asked.limit
    if share > limit + TINY:
        raise GuaranteeRefused(
            f"{_counted(gone, share)} would be suppressed, more than the {100 * limit:.3g} % that "
            f"{'the recipe of the release allows' if asked.limit is None else 'was allowed'}: {MISFIT}. "
            f"To suppress them all the same: --limit {_above(share)} (in Python limit={_above(share)})"
        )
    if share > allowed + TINY:
        warning = f"{_counted(gone, share)} were suppressed, where the recipe allows {100 * allowed:.3g} %: {MISFIT}"
        return replace(release, warnings=(*release.warnings, warning))
    return release


def suppressed_rows(release: Release | LargeRelease) -> int:
    """How many rows the generalization of a release suppressed."""
    return sum(int(result["suppressed_rows"]) for result in _generalizations(release.result))


def suppressed_share(release: Release | LargeRelease) -> float:
    """The share of the rows that the generalization of a release suppressed."""
    return suppressed_rows(release) / max(1, sum(int(result["rows"]) for result in _generalizations(release.result)))


def _counted(gone: int, share: float) -> str:
    return f"{gone:,} of {round(gone / share):,} new rows ({100 * share:.3g} %)"


def _above(share: float) -> float:
    """The share, rounded up to two digits: what one would have to allow."""
    return min(1.0, math.ceil(100 * share) / 100)


def _generalizations(results: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The results of the steps that generalize; a second step of a name is called by its number too."""
    return [result for name, result in results.items() if name.split()[0] == STEP]


def _fixed(recipe: Recipe, card: Mapping[str, Any]) -> tuple[Recipe, dict[str, int], float]:
    """The recipe with the levels that were chosen, and these; and the largest share of rows that it was to suppress.

    The fixed recipe may suppress all rows, for nothing else can give way: whether too many were is asked afterwards.
    """
    results = _generalizations(card.get("result", {}))
    places = [i for i, step in enumerate(recipe.steps) if isinstance(step, Generalize)]
    if len(places) != 1 or len(results) != 1:
        raise InputError(
            "only a release that was generalized, and once, can be applied to new rows", where=f"recipe {recipe.recipe}"
        )
    step = recipe.steps[places[0]]
    assert isinstance(step, Generalize)
    levels = {name: column["level"] for name, column in results[0]["columns"].items()}
    if step.local or any(isinstance(level, list) for level in levels.values()):
        raise InputError(
            "local recoding gives groups levels of their own, which new rows cannot share", where=f"recipe {recipe.recipe}"
        )
    fixed = replace(step, columns=tuple(levels), levels=tuple(f"{name}={level}" for name, level in levels.items()), limit=1.0)
    return replace(recipe, steps=(*recipe.steps[: places[0]], fixed, *recipe.steps[places[0] + 1 :])), levels, step.limit


def _original(schema: Schema, levels: Mapping[str, int]) -> Schema:
    """The schema before generalization. What was read off the released rows is read anew, off the new ones."""
    columns, strange = [], []
    for column in schema.undrafted():
        plain = replace(column, domain=column.base if not column.observed else _leaves(column))
        columns.append(plain)
        # Cells that follow from bounds or levels of other rows would now be other cells.
        between = levels.get(column.name, 0) > 0 and not _is_suppressed(schema[column.name])
        if plain.domain is None and between and not isinstance(column.hierarchy, FileTree):
            strange.append(column.name)
    if strange:
        raise InputError(
            f"the levels of {', '.join(strange)} follow from a domain that was read off the rows, and would now be others: "
            "declare the domain (or a hierarchy file) in the schema and release again",
            where="apply",
        )
    return replace(schema, columns=tuple(columns))


def _as_released(schema: Schema, columns: Mapping[str, Any]) -> Schema:
    """The schema with the hierarchies that the release had: other versions derived other ones from the same domain.

    Which it was follows from the levels on the card, which say how many cells each has and how one of them is written.
    """
    changed, strange = list[Column](), list[str]()
    for name, found in columns.items():
        if name not in schema:
            continue
        column, level, shown = schema[name], found.get("level"), found.get("ladder")
        if column.hierarchy is not None or column.domain is None or not level or not shown or shown[0].get("cells") is None:
            continue
        former = replace(column, hierarchy=derive_formerly(column))
        fitting = [one for one in (column, former) if rungs(one, build(one)) == shown]
        changed += fitting[:1]
        strange += [] if fitting else [name]
    if strange:
        raise InputError(
            f"the levels of {', '.join(strange)} were derived by another version or from another domain: declare a hierarchy in "
            "the schema and release again",
            where="apply",
        )
    return schema.with_columns(*changed)


def _leaves(column: Column) -> Levels | None:
    """The lines of a hierarchy file are public; any other domain is read off the new rows."""
    tree = column.hierarchy
    if isinstance(tree, FileTree) and column.kind in CODED:
        return Levels(tuple(row[0] for row in tree.rows), observed=True)
    return None


def _is_suppressed(column: Column) -> bool:
    """Whether every cell of a column says nothing ('*')."""
    return isinstance(column.domain, Cells) and all(cell.anything for cell in column.domain.cells)
