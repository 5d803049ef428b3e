"""Release a table by a recipe, save the release, and choose the best of several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hushtable.display import Progress, silent
from hushtable.errors import Fault, InputError
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.card import Card
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.release import Release
from hushtable.pipeline.run import release as run_recipe
from hushtable.pipeline.signature import SigningKey
from hushtable.privacy.noise import SYSTEM, Entropy
from hushtable.privacy.unit import Unit
from hushtable.report.card import card_page
from hushtable.report.mapping import mapping_csv
from hushtable.table import io
from hushtable.table.arguments import require_tables
from hushtable.table.disk import whole_folder
from hushtable.table.table import Table

if TYPE_CHECKING:
    pass

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
    progress: Progress = silent,
    **knobs: Any,
) -> Release:
    """Run a recipe (by name, from a file, or an object) on a table.

    Knobs of its steps are named like arguments, or in ``settings`` where several steps share a name. ``epsilon`` is the budget
    of the whole release; ``learn_domain`` pays a tenth of it to learn the kinds and domains that were read off the rows.

    >>> import hushtable as ht
    >>> train = ht.people(300)
    >>> ht.release(train, "mdav", k=10, seed=1)
    Release(mdav: 300 rows, 20 columns; verified: k-anonymity, k = 10)
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
    from hushtable.encode.learn_domain import LearnDomain

    others = sum(float(getattr(step, "share", 1.0)) for step in recipe.steps if step.spends)
    if not others:
        raise InputError(f"{recipe.recipe} spends no privacy budget, so nothing pays for a domain", where="learn-domain")
    return replace(recipe, steps=(LearnDomain(share=others * share / (1 - share)), *recipe.steps))


def save(made: Release, folder: str | Path, form: str = "csv", sign: SigningKey | str | Path | None = None) -> Path:
    """Write a release with its card as a page and, where values were generalized, what became what.

    ``sign`` is the private key to sign the card with, or its file.
    """
    key = sign if sign is None or isinstance(sign, SigningKey) else SigningKey.load(sign)
    pages = {"card.html": card_page(Card.from_json(made.card()))}
    if any(column.generalized for column in made.table.schema):
        pages["mapping.csv"] = mapping_csv(made.table.schema)
    return made.save(folder, form=form, pages=pages, sign=key)


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
