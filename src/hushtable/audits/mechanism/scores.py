"""A run as numbers that an attacker who knows the canary would use: the table, the card, the model, the noisy answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from hushtable.audits.mechanism.watch import Transcript
from hushtable.audits.mechanism.worlds import Worlds
from hushtable.errors import HushError
from hushtable.pipeline.release import Release
from hushtable.table.arrays import Floats
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
    """Everybody can see that a run ended without a release, and the kind of reason."""
    return {REFUSED: 1.0, f"refused with {type(error).__name__}": 1.0}


def features(result: Release, transcript: Transcript, pair: Worlds, *, inside: bool = True) -> Features:
    """Everything that is scored. A name that a run does not have counts as zero.

    What the ledger has paid for covers all answers that steps were given, so the guesser may use what is ``inside``. What a
    publication claims is about the released rows alone.
    """
    numbers = _of_table(result.table, pair.canary) | schema_features(result)
    if not inside:
        return numbers
    numbers |= {TRANSCRIPT: transcript.log_ratio} | transcript.cells
    model = transcript.models[-1] if transcript.models else None
    numbers |= dict(islice(_numbers("card", dict(result.result)), MOST))
    # An anonymized table is its own model, in an order that is shuffled away before it is published.
    if model is not None and not isinstance(getattr(model, "table", None), Table):
        values, arrays = model.parts()
        plain = {name: array for name, array in arrays.items() if array.size <= MOST}
        held = {name: value for name, value in values.items() if name != "schema"}
        numbers |= dict(islice(_numbers("model", {**held, "arrays": plain}), MOST))
    return numbers


def schema_features(result: Release) -> Features:
    """What is published beside the rows: of every column its kind, how it is written, and what it may hold."""
    schema = result.table.schema
    numbers: Features = {f"{name} was left out": 1.0 for name in result.dropped}
    numbers |= {f"{code} is missing": 1.0 for code in schema.missing}
    for column in schema:
        numbers |= {f"{column.name} is {column.kind}": 1.0, f"{column.name} is required": float(column.required)}
        numbers |= {f"{column.name} is written {column.decimals} {column.format}": 1.0}
        if isinstance(column.domain, Bounds):
            numbers |= {f"low end of {column.name}": column.domain.low, f"high end of {column.name}": column.domain.high}
        else:
            numbers |= {f"{column.name} may be {level}": 1.0 for level in column.levels[:MOST]}
    return numbers


def _of_table(table: Table, canary: Table) -> Features:
    rows = table.rows
    numbers: Features = {"rows": float(rows)}
    distance, alike = np.zeros(rows), np.ones(rows, bool)
    for name in (n for n in canary.schema.names if n in table.schema):
        apart = _apart(table, canary, name)
        distance += apart
        alike &= apart <= NEAR
        numbers[f"rows like the canary in {name}"] = float((apart <= NEAR).sum())
        numbers[f"share like the canary in {name}"] = float((apart <= NEAR).mean()) if rows else 0.0
        numbers[f"somebody like the canary in {name}"] = float((apart <= NEAR).any())
        numbers[f"missing in {name}"] = float(table.missing(name).sum())
        if canary.schema[name].numeric and table.schema[name].numeric:
            values = table.floats(name)
            known = values[~np.isnan(values)]
            if len(known):
                numbers |= {f"mean of {name}": float(known.mean()), f"most in {name}": float(known.max())}
                numbers |= {f"least in {name}": float(known.min()), f"values of {name}": float(len(np.unique(known)))}
        else:
            levels, counts = np.unique(table.strings(name).astype(str), return_counts=True)
            numbers |= {f"{name} is {level}": float(count) for level, count in zip(levels[:20], counts[:20], strict=True)}
    numbers["rows like the canary"] = float(alike.sum())
    numbers["distance to the canary"] = float(distance.min()) if rows else 9.0
    return numbers


def _apart(table: Table, canary: Table, name: str) -> Floats:
    """How far each row is from the canary in one column, between 0 and 1; a missing or generalized value as its text."""
    column = canary.schema[name]
    if column.numeric and table.schema[name].numeric:
        width = (column.bounds.high - column.bounds.low) or 1.0
        apart = np.abs(table.floats(name) - canary.floats(name)[0]) / width
        return np.where(np.isnan(apart), 1.0, np.clip(apart, 0.0, 1.0))
    other: Floats = (table.strings(name).astype(str) != str(canary.strings(name)[0])).astype(np.float64)
    return other


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
