"""A run in numbers that an attacker who knows the canary would look at: the table, the card, the model, the noisy answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from hushtable.audits.mechanism.watch import Heard
from hushtable.audits.mechanism.worlds import Worlds
from hushtable.errors import HushError
from hushtable.pipeline.release import Release
from hushtable.table.columns import Bounds
from hushtable.table.table import Table

REFUSED = "nothing was released"
TRANSCRIPT = "likelihood ratio of the noisy answers"
MOST = 400
"""The most numbers taken from a model, and from the results."""
NEAR = 0.1
"""A number this share of its range away from the canary's still counts as the canary's."""

Features = dict[str, float]


def refused(error: HushError) -> Features:
    """That a run ended without a release is seen by everybody, and so is the kind of reason."""
    return {REFUSED: 1.0, f"refused with {type(error).__name__}": 1.0}


def features(made: Release, heard: Heard, pair: Worlds, *, inside: bool = True) -> Features:
    """Everything that is scored. A name that a run does not have counts as zero.

    What the ledger has paid for covers all that steps were told, so the guesser may look ``inside``. What a publication claims
    is about the released rows alone.
    """
    found = _of_table(made.table, pair.canary) | schema_features(made)
    if not inside:
        return found
    found |= {TRANSCRIPT: heard.log_ratio} | heard.cells
    model = heard.models[-1] if heard.models else None
    found |= dict(islice(_numbers("card", dict(made.result)), MOST))
    # An anonymized table is its own model, in an order that is shuffled away before it is published.
    if model is not None and not isinstance(getattr(model, "table", None), Table):
        values, arrays = model.parts()
        plain = {name: array for name, array in arrays.items() if array.size <= MOST}
        held = {name: value for name, value in values.items() if name != "schema"}
        found |= dict(islice(_numbers("model", {**held, "arrays": plain}), MOST))
    return found


def schema_features(made: Release) -> Features:
    """What is published beside the rows: of every column its kind, how it is written, and what it may hold."""
    schema = made.table.schema
    found: Features = {f"{name} was left out": 1.0 for name in made.dropped}
    found |= {f"{code} is missing": 1.0 for code in schema.missing}
    for column in schema:
        found |= {f"{column.name} is {column.kind}": 1.0, f"{column.name} is required": float(column.required)}
        found |= {f"{column.name} is written {column.decimals} {column.format}": 1.0}
        if isinstance(column.domain, Bounds):
            found |= {f"low end of {column.name}": column.domain.low, f"high end of {column.name}": column.domain.high}
        else:
            found |= {f"{column.name} may be {level}": 1.0 for level in column.levels[:MOST]}
    return found


def _of_table(table: Table, canary: Table) -> Features:
    rows = table.rows
    found: Features = {"rows": float(rows)}
    distance, alike = np.zeros(rows), np.ones(rows, bool)
    for name in (n for n in canary.schema.names if n in table.schema):
        apart = _apart(table, canary, name)
        distance += apart
        alike &= apart <= NEAR
        found[f"rows like the canary in {name}"] = float((apart <= NEAR).sum())
        found[f"share like the canary in {name}"] = float((apart <= NEAR).mean()) if rows else 0.0
        found[f"somebody like the canary in {name}"] = float((apart <= NEAR).any())
        found[f"missing in {name}"] = float(table.missing(name).sum())
        if canary.schema[name].numeric and table.schema[name].numeric:
            values = table.floats(name)
            known = values[~np.isnan(values)]
            if len(known):
                found |= {f"mean of {name}": float(known.mean()), f"most in {name}": float(known.max())}
                found |= {f"least in {name}": float(known.min()), f"values of {name}": float(len(np.unique(known)))}
        else:
            levels, counts = np.unique(table.strings(name).astype(str), return_counts=True)
            found |= {f"{name} is {level}": float(count) for level, count in zip(levels[:20], counts[:20], strict=True)}
    found["rows like the canary"] = float(alike.sum())
    found["distance to the canary"] = float(distance.min()) if rows else 9.0
    return found


def _apart(table: Table, canary: Table, name: str) -> np.ndarray:
    """How far each row is from the canary in one column, between 0 and 1; a missing or generalized value as its text."""
    column = canary.schema[name]
    if column.numeric and table.schema[name].numeric:
        width = (column.bounds.high - column.bounds.low) or 1.0
        apart = np.abs(table.floats(name) - canary.floats(name)[0]) / width
        return np.where(np.isnan(apart), 1.0, np.clip(apart, 0.0, 1.0))
    return (table.strings(name).astype(str) != str(canary.strings(name)[0])).astype(np.float64)


def _numbers(name: str, value: Any) -> Iterator[tuple[str, float]]:
    """The numbers in nested plain values, each with its path; a text is the fact that it is there."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _numbers(f"{name}.{key}", inner)
    elif isinstance(value, (list, tuple)):
        for place, inner in enumerate(value):
            yield from _numbers(f"{name}[{place}]", inner)
    elif isinstance(value, np.ndarray):
        if value.dtype.kind in "biuf":
            yield from ((f"{name}[{place}]", float(v)) for place, v in enumerate(value.ravel()) if np.isfinite(v))
    elif isinstance(value, (bool, int, float, np.number)):
        if np.isfinite(value):
            yield name, float(value)
    elif isinstance(value, str):
        yield f"{name} = {value[:60]}", 1.0
