"""Mixtures of random or consecutive records (DPMix, and two forms of the certified ClustMix), and their post-processing."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from hushtable.errors import InputError
from hushtable.numerics.simplex import on_simplex
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event
from hushtable.privacy.query import Changes, Total
from hushtable.privacy.rows import public_rows, require_fixed_rows
from hushtable.privacy.vault import Vault
from hushtable.synthesize.histogram_cells import noise_note
from hushtable.synthesize.mixture import estimate
from hushtable.synthesize.mixture.inducing import Descent, adapt
from hushtable.synthesize.mixture.integer_encoding import STEPS, Field, IntegerEncoding
from hushtable.synthesize.mixture.model import Mixture
from hushtable.synthesize.mixture.sums import GroupSums, OrderedSums
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema

SHARE_NOISE = 0.1
"""The noise of a share that the size of a mixture is chosen for, where it is not given."""
TARGETS = 2000
"""Rows drawn from the private mixtures that a classifier should predict."""
SPARSE = 50
"""With fewer rows than this the card carries a note."""


def events(step: str, schema: Schema, budget: Allowance, encoding: IntegerEncoding, rounds: int) -> tuple[Event, ...]:
    """The queries of ``mixed``; the price does not depend on the number of rows, which a plan does not know."""
    require_fixed_rows(step, budget)
    query = GroupSums(encoding, np.zeros((rounds, 2), np.int64), 1)
    return budget.event(Total(), schema), budget.event(query, schema)


def mixed(
    vault: Vault,
    encoding: IntegerEncoding,
    least: int,
    rounds: int,
    first: str | None,
    rng: np.random.Generator,
    *,
    shrink: bool = True,
) -> tuple[Mixture, int]:
    """Mixtures of at least so many records, and how many that is: consecutive ones (by the column ``first``), or random ones."""
    allowance = vault.paid()
    rows = public_rows(vault, allowance)
    if rows < 2:
        raise InputError("mixing needs at least two rows", where=vault.step)
    ordered = first is not None
    size = least or best_size(rows, encoding, allowance, rounds, ordered=ordered)
    if size > rows:
        raise InputError(f"a mixture of {size} records is larger than the table ({rows} rows)", where=f"{vault.step}.least")
    query: OrderedSums | GroupSums
    if first is not None:
        query = OrderedSums(encoding, rows, size, first)
        groups = np.minimum(np.arange(rows) // size, query.blocks - 1)[None]
    else:
        groups = np.stack([rng.permutation(rows) % (rows // size) for _ in range(rounds)])
        query = GroupSums(encoding, groups, rows // size)
    number = rows // size
    counts = np.stack([np.bincount(one, minlength=number) for one in groups]).ravel().astype(np.float64)
    noise = deviation(allowance, query, vault.schema)
    sums = vault.spend(query, allowance).reshape(len(counts), -1) / STEPS
    summary = {
        "mixtures": len(counts),
        "records_of_a_mixture": size,
        "mixtures_of_a_record": rounds,
        "noise_of_a_share": round(noise / size, 4),
    }
    summary |= note(encoding, len(counts), noise / rounds, rows)
    return estimate.of_groups(estimate.Sums(encoding, counts, sums, noise), rows, summary, shrink=shrink), size


def best_size(rows: int, encoding: IntegerEncoding, allowance: Allowance, rounds: int, *, ordered: bool) -> int:
    """The size whose shares have noise of about ``SHARE_NOISE``; larger for blocks, all of which one record can change. Public."""
    one = GroupSums(encoding, np.zeros((rounds, 2), np.int64), 1)
    noise = deviation(allowance, one, encoding.schema)
    if not ordered:
        size = noise / SHARE_NOISE
    elif allowance.rho is not None:
        size = (noise * math.sqrt(rows) / SHARE_NOISE) ** (2 / 3)
    else:
        size = math.sqrt(noise * rows / SHARE_NOISE)
    return int(min(max(math.ceil(size), 2), rows))


def deviation(allowance: Allowance, query: Changes, schema: Schema) -> float:
    """The standard deviation of the noise of a coordinate, in records."""
    return allowance.deviation(query, schema) / STEPS


def note(encoding: IntegerEncoding, cells: int, noise: float, rows: int) -> dict[str, Any]:
    """A note where the noise is large beside the shares of the columns, all mixtures (``cells``) together.

    A table without a column of levels is judged by its numbers, as if each were cut in two.
    """
    widths = {f.column.name: f.width for f in encoding.fields if f.counted} or {f.column.name: 2 for f in encoding.fields}
    return dict(noise_note(widths, noise * math.sqrt(cells), rows))


def few(rows: int, size: int) -> str:
    """A sentence on how many rows mixtures of so many records become."""
    only = "only " if rows < SPARSE else ""
    return f"{only}{rows} rows: each is the average of about {size} records; use it as a baseline"


def as_mixtures(model: Mixture, size: int, rounds: int = 1) -> Mixture:
    """Means in place of rows: one for every ``size`` records that a cell has by its noisy count, none where it has fewer.

    ``rounds`` is the number of mixtures that a record is in.
    """
    rows = model.weights * model.total * rounds
    copies = np.floor(rows / size + 0.5) * (rows >= size * (1 - 1e-9))
    if not copies.any():
        copies[model.weights.argmax()] = 1.0
    cells = np.flatnonzero(copies)
    return replace(
        model,
        weights=copies[cells] / copies.sum(),
        shares={name: a[cells] for name, a in model.shares.items()},
        numbers={name: a[cells] for name, a in model.numbers.items()},
        total=max(2, int(copies.sum())),
        means=True,
    )


def adapted(model: Mixture, target: str, alpha: float, rng: np.random.Generator) -> Mixture:
    """The means moved so that a kernel classifier trained on them predicts rows drawn from the private mixtures.

    Both are computed from what is released already, so it costs nothing (kernel inducing points, Nguyen, Chen and Lee 2021).
    """
    drawn = replace(model, means=False).sample(TARGETS, rng)
    fields = [Field(c) for c in model.schema if c.name != target]
    goal = np.concatenate([_vectors(f, f.encode(drawn)) for f in fields], axis=1)
    points = np.concatenate(
        [model.shares[f.column.name] if f.counted else model.numbers[f.column.name][:, :1] for f in fields], axis=1
    )
    moved = adapt(points, model.shares[target], goal, Field(model.schema[target]).codes(drawn), Descent(alpha), rng)
    shares, numbers, at = dict(model.shares), dict(model.numbers), 0
    for f in fields:
        width = f.width if f.counted else 1
        part, at = moved[:, at : at + width], at + width
        if f.counted:
            shares[f.column.name] = on_simplex(part)
        else:
            rest = numbers[f.column.name][:, 1:]
            numbers[f.column.name] = np.concatenate([np.clip(part, 0.0, 1.0), rest], axis=1)
    return replace(model, shares=shares, numbers=numbers, summary=model.summary | {"alpha": alpha})


def _vectors(f: Field, coordinates: Integers) -> Floats:
    """A record as shares of levels, and places of numbers."""
    return coordinates / STEPS if f.counted else (coordinates[:, :1] / STEPS + 1) / 2
