"""Set rows apart before a release is made, as the control of its audit."""

from __future__ import annotations

from functools import partial
from numbers import Real

import numpy as np

from hushtable.errors import InputError
from hushtable.privacy.noise import SYSTEM
from hushtable.table.arguments import require_seed, require_tables
from hushtable.table.rows import BATCH, Rows
from hushtable.table.table import Table


def hold_out_rows(rows: Rows, share: float, secret: int | None = None) -> tuple[Rows, Rows]:
    """``hold_out`` for rows that are not in memory, each a person of its own, by coins: fresh ones without ``secret``."""
    draw = SYSTEM.words if secret is None else partial(np.random.default_rng(secret).integers, 0, 2**64, dtype=np.uint64)
    held_out = np.zeros(rows.rows, bool)
    for start in range(0, rows.rows, BATCH):
        part = held_out[start : start + BATCH]
        part[:] = draw(len(part)) < np.uint64(int(share * 2.0**64))
    if not 2 <= held_out.sum() <= rows.rows - 2:
        raise InputError(f"{share:g} of {rows.rows} rows leaves too few on one side", where="hold-out")
    return rows.take(~held_out), rows.take(held_out)


def hold_out(
    table: Table, share: float, seed: int | None = None, *, by: str | None = None, secret: int | None = None
) -> tuple[Table, Table]:
    """Training rows and a control of about this share, split at random before anything is fitted.

    Without a seed a secret coin decides for each person alone, so what holds for one person more or less among the
    training rows holds for the whole table. With a seed the control has exactly this share, and one person more may move
    all others: a promise about the training rows is then one about them only. ``by`` names the key column that identifies
    persons (those of the table itself when absent): all rows of a person go to one side. A row without a person is one of its own.
    ``secret`` is what the coins are drawn from in a run that may be stopped: a number that was drawn from the system for this run
    alone, and stays in its private folder.
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
        words = SYSTEM.words(count) if secret is None else np.random.default_rng(secret).integers(0, 2**64, count, dtype=np.uint64)
        held_out = words < np.uint64(int(share * 2.0**64))
    else:
        held_out = np.random.default_rng(seed).permutation(count) < round(share * count)
    control = held_out[persons]
    if not 2 <= control.sum() <= table.rows - 2:
        whom = "rows" if table.persons is None else "persons"
        raise InputError(f"{share:g} of {count} {whom} leaves too few on one side", where="hold-out")
    return table.take(~control), table.take(control)
