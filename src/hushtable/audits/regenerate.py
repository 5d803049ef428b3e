"""Making a release again, for attacks that change the training rows and look at what comes out."""

from __future__ import annotations

import numpy as np

from hushtable.errors import HushError, InputError
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Finding, uncomputed
from hushtable.evidence.reading import ordinary
from hushtable.table.table import Table


def unknown(name: str) -> Finding:
    """What an attack finds that cannot make the release again."""
    return uncomputed(name, 0, "how the release was made is not known: give the recipe (--recipe) to make it again")


def refused(name: str, n: int, error: HushError, scope: str = "") -> Finding:
    """What it finds where the generator does not take the changed rows."""
    return uncomputed(name, n, f"the release could not be made again: {str(error).splitlines()[0]}", scope=scope)


def again(case: Case, table: Table, seed: int) -> Table:
    """A release of these rows, its cells read as values drawn from them; it must have all columns that are compared."""
    assert case.generator is not None
    release = ordinary(case.generator(table, seed), np.random.default_rng(seed))
    if absent := [name for name in case.columns if name not in release.schema]:
        raise InputError(f"the new release lacks {', '.join(absent)}", where="generator")
    return release
