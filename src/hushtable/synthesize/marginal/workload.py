"""The workload: which margins a release should get right, how much each matters, and which combinations are impossible."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import accumulate, combinations

import numpy as np

from hushtable.display import meant
from hushtable.errors import InputError, PlanError
from hushtable.pipeline.step import given_arrays
from hushtable.synthesize.histogram_cells import CELLS, given_cells, sizes_of
from hushtable.synthesize.marginal import junction
from hushtable.synthesize.marginal.graphical import Graphical
from hushtable.table.arrays import Mask
from hushtable.table.columns import Role
from hushtable.table.schema import Schema

WEIGHTS = 1 << 8
"""Weights are whole parts of this."""
TOGETHER = 5 * CELLS
"""The most cells of all margins together that one choice is made among: the expected counts of each are held in memory."""
CLASSES = 4
"""A target of at most so many cells is measured with every column from the start."""
MATCHED = 1000
"""Drawn rows match at most so many marginals."""
ROOM = CELLS // 4
"""The most cells of the pairs that they match, and of what one round measures: all are held several times in memory."""
_INTERVAL = re.compile(r"(\d+: )?[\[(].+, .+[\])]")
"""The text of a bin."""


def target_of(schema: Schema, target: str, step: str) -> str:
    """The column that the release is made for: the one named, or the one with the role; empty if there is none."""
    if target and target not in schema:
        near, names = meant(target, schema.names), ", ".join(schema.names)
        raise PlanError(f"{step}: there is no column {target!r} to be the target{near}; the table has {names}")
    return target or next(iter(schema.role(Role.TARGET)), "")


def workload(schema: Schema, way: int, target: str, favour: float) -> dict[tuple[str, ...], int]:
    """Candidates with their weights, in parts of ``WEIGHTS``: all sets of up to ``way`` columns, and those with the target.

    With a target, sets of ``way`` + 1 columns that hold it are candidates too, and every set that holds it weighs ``favour``
    times as much. As in the adaptive mechanism of McKenna et al. 2022, a smaller set stands for what larger ones share with
    it; its weight is that of a set of its own, because all are candidates.
    """
    plain, strong = WEIGHTS, max(1, round(WEIGHTS * favour))
    weights: dict[tuple[str, ...], int] = {}
    for size in range(2, way + 1):
        for columns in combinations(schema.names, size):
            weights[columns] = strong if target in columns else plain
    if target in schema:
        # Of many columns the sets without the target are too many to be looked through.
        own = schema.names.index(target)
        others = [place for place in range(len(schema)) if place != own]
        for places in sorted(tuple(sorted((own, *some))) for some in combinations(others, way)):
            weights[tuple(schema.names[place] for place in places)] = strong
    return weights


def first_look(sizes: Mapping[str, int], target: str, largest: int) -> list[tuple[str, ...]]:
    """What to measure before anything is chosen: every column, with the target where that has few classes, and the target alone.

    A column that is nearly always the same (a gain that most people do not have) has little error by itself and would never be
    chosen, but may say most about the target. With the target of few classes it costs hardly more than alone. A pair of more than
    ``largest`` cells is left to its columns. The target is measured alone too: where most cells of a pair hold fewer rows than
    their noise, counts that cannot be negative add up to too many rows of the rare class.
    """
    names = list(sizes)
    if not target or sizes[target] > CLASSES:
        return [(name,) for name in names]
    pairs = {name: tuple(n for n in names if n in (name, target)) for name in names if name != target}
    return [*(pair if math.prod(sizes[n] for n in pair) <= largest else (name,) for name, pair in pairs.items()), (target,)]


def matched_marginals(sizes: Mapping[str, int], measured: Sequence[tuple[str, ...]], largest: int) -> list[tuple[str, ...]]:
    """The marginals that drawn rows are to match: what was measured, and pairs of at most ``largest`` cells, small ones first."""
    pairs = sorted(combinations(sizes, 2), key=lambda pair: math.prod(sizes[name] for name in pair))
    small = [pair for pair in within(sizes, pairs, ROOM) if math.prod(sizes[name] for name in pair) <= largest]
    groups = list(dict.fromkeys([*measured, *small]))[:MATCHED]
    sets = [set(columns) for columns in groups]
    return [columns for columns in groups if not any(set(columns) < other for other in sets)]


def within(sizes: Mapping[str, int], margins: Sequence[tuple[str, ...]], cells: int) -> list[tuple[str, ...]]:
    """The first margins, as many as have at most so many cells together."""
    ends = accumulate(math.prod(sizes[name] for name in columns) for columns in margins)
    return [columns for columns, end in zip(margins, ends, strict=True) if end <= cells]


def some(
    sizes: Mapping[str, int], margins: list[tuple[str, ...]], most: int, rng: np.random.Generator, together: int = TOGETHER
) -> list[tuple[str, ...]]:
    """At most so many margins, of at most ``together`` cells together: all of them, or some drawn by public coins."""
    if len(margins) <= most and len(within(sizes, margins, together)) == len(margins):
        return margins
    drawn = [margins[i] for i in rng.permutation(len(margins))[:most]]
    kept = set(within(sizes, drawn, together))
    return [columns for columns in margins if columns in kept]


def impossible(schema: Schema, zeros: tuple[str, ...], step: str) -> dict[tuple[str, ...], Mask]:
    """Structural zeros: for each set of columns the impossible combinations, from texts like ``sex=Male, relation=Wife``.

    They are public knowledge, never read off the rows. PlanError names what is no column or no value. A comma ends a value
    where a column and its sign follow, so values may hold commas.
    """
    sizes = sizes_of(schema)
    masks: dict[tuple[str, ...], Mask] = {}
    for text in zeros:
        pairs = [part.partition("=") for part in re.split(r",(?=[^,=]*=)", text)]
        given = {name.strip(): value.strip() for name, sign, value in pairs if sign}
        if len(given) < 2 or len(given) < len(pairs):
            raise PlanError(f"{step}: a structural zero names two columns or more, like 'sex=Male, relation=Wife'; got {text!r}")
        try:
            given_arrays(schema, given, 1)
        except InputError as error:
            cut = [name for name, value in given.items() if _unknown_bin(schema, name, value)]
            if cut:
                raise PlanError(
                    f"{step}: in the structural zero {text!r}: {', '.join(cut)} was cut into bins: "
                    "name one of its bins, or leave it out"
                ) from None
            raise PlanError(f"{step}: in the structural zero {text!r}: {error}") from None
        cells = given_cells(schema, given)
        columns = tuple(name for name in schema.names if name in cells)
        if math.prod(sizes[name] for name in columns) > CELLS:
            raise PlanError(f"{step}: the structural zero {text!r} needs a table of more than {CELLS:,} cells; name fewer columns")
        mask = masks.setdefault(columns, np.zeros([sizes[name] for name in columns], bool))
        mask[tuple(cells[name] for name in columns)] = True
    if masks:
        _require_possible(sizes, masks, step)
    return masks


def _require_possible(sizes: Mapping[str, int], zeros: Mapping[tuple[str, ...], Mask], step: str) -> None:
    """PlanError where the zeros need too large tables, or leave nothing."""
    if junction.cells(sizes, zeros) > CELLS:
        raise PlanError(f"{step}: the structural zeros together need tables of more than {CELLS:,} cells; name fewer columns")
    try:
        Graphical(sizes, {}, 1.0, zeros).beliefs  # noqa: B018 - computed to see whether anything is left
    except InputError:
        raise PlanError(f"{step}: by the structural zeros no record is possible at all") from None


def _unknown_bin(schema: Schema, name: str, value: str) -> bool:
    """Whether a column's levels are intervals, as a step before has cut it, and this is none of them."""
    if name not in schema or schema[name].numeric or value in schema[name].levels:
        return False
    return any(_INTERVAL.fullmatch(level) for level in schema[name].levels)


def shortened(names: list[str], most: int = 20) -> list[str]:
    """The first ones, and how many more there are."""
    return names if len(names) <= most else [*names[:most], f"and {len(names) - most} more"]
