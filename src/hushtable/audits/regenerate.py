"""Running the generator of a release again, for attacks that change the training rows and study what is released then."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hushtable.errors import HushError, InputError
from hushtable.evidence.finding import Finding, uncomputed
from hushtable.evidence.reading import ordinary
from hushtable.table.table import Table

if TYPE_CHECKING:
    from hushtable.evidence.case import Case


def no_generator(name: str) -> Finding:
    """The finding of an attack that needs the generator, where it is not known."""
    return uncomputed(name, 0, "how the release was made is not known: give the recipe (--recipe) to run the generator again")


def not_regenerated(name: str, n: int, error: HushError, scope: str = "") -> Finding:
    """The finding where the generator refuses the changed rows."""
    return uncomputed(name, n, f"the release could not be made again: {str(error).splitlines()[0]}", scope=scope)


def regenerate(case: Case, table: Table, seed: int) -> Table:
    """A release of these rows, its cells read as values drawn from them; it must have all columns that are compared."""
    assert case.generator is not None
    release = ordinary(case.generator(table, seed), np.random.default_rng(seed))
    if absent := [name for name in case.columns if name not in release.schema]:
        raise InputError(f"the new release lacks {', '.join(absent)}", where="generator")
    return release
