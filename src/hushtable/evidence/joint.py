"""One domain for two tables of people: what was read off the rows of one must not distinguish its people from the others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hushtable.table.arrays import Array
from hushtable.table.columns import Bounds, Column, Levels
from hushtable.table.table import Table


def jointly(train: Table, control: Table) -> tuple[Table, Table]:
    """Both tables with the domains that were observed in either one joined; declared ones stay.

    A level that only control rows have would else be unknown to every attack, and no level of a training row ever is.
    """
    ours, others = [], []
    for name in train.schema.names:
        if name not in control.schema:
            continue
        one, other = train.schema[name], control.schema[name]
        domain = _joined(one, other)
        if domain is not None:
            ours.append((replace(one, domain=domain), _recoded(train[name], one, domain)))
            others.append((replace(other, domain=domain), _recoded(control[name], other, domain)))
    return (train.with_columns(*ours), control.with_columns(*others)) if ours else (train, control)


def _joined(one: Column, other: Column) -> Levels | Bounds | None:
    """The domain of both together, where they differ and neither binds."""
    a, b = one.domain, other.domain
    if one.kind is not other.kind or a == b:
        return None
    if isinstance(a, Levels) and isinstance(b, Levels) and a.observed and b.observed:
        return Levels(tuple(dict.fromkeys((*a.levels, *b.levels))), observed=True)
    if isinstance(a, Bounds) and isinstance(b, Bounds) and a.observed and b.observed:
        return Bounds(min(a.low, b.low), max(a.high, b.high), observed=True)
    return None


def _recoded(array: Array, column: Column, domain: Levels | Bounds) -> Array:
    if not isinstance(domain, Levels):
        return array
    codes = np.array([*(domain.index[level] for level in column.levels), -1], np.int32)
    return np.asarray(codes[array])
