"""Try a release without making it: what would leave unchanged, and whether rows of real people would be handed out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hushtable.api.persons import require_key
from hushtable.api.release import split_keywords
from hushtable.display import Progress, silent
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.options import ReleaseOptions
from hushtable.pipeline.preflight import Preflight
from hushtable.pipeline.preflight import preflight as try_recipe
from hushtable.pipeline.recipe import Recipe
from hushtable.table.arguments import require_tables
from hushtable.table.table import Table


def preflight(
    table: Table,
    recipe: Recipe | str | Path,
    options: ReleaseOptions | None = None,
    *,
    settings: Mapping[str, Any] | None = None,
    progress: Progress = silent,
    **more: Any,
) -> Preflight:
    """What a release would hand out; every release that reads rows unprotected is checked in this way before it is made.

    Takes what ``release`` takes. For a private recipe there is no unpaid look at the rows: only its plan is judged.

    >>> import hushtable as ht
    >>> ht.preflight(ht.people(300), "sample", beta=0.5, seed=1).refused
    True
    >>> ht.preflight(ht.people(300), "mst", epsilon=1.0)
    Preflight(mst: judged by its plan alone, no row was read)
    """
    require_tables(table=table)
    given, knobs = split_keywords(more)
    loaded = recipe if isinstance(recipe, Recipe) else recipes.load(recipe)
    chosen = ReleaseOptions.of(options, given)
    require_key(table, chosen)
    return try_recipe(table, loaded.set({**(settings or {}), **knobs}), chosen, progress=progress)
