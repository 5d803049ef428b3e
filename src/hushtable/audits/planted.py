"""Planted leaks: releases whose leak is known, because it was put there on purpose (E1, E2).

An audit is worth something only if its numbers rise with the leak. ``leaky`` publishes training rows verbatim among fresh ones,
``noisy`` publishes them a little disturbed, ``overfit`` trains a generator until it memorizes; ``plant`` puts a leak into a
release at hand. The share is always that of the released rows. With one seed, a larger leak holds every row of a smaller one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from hushtable.audits.coded import Coded
from hushtable.errors import InputError
from hushtable.evidence.case import Case, Generator
from hushtable.evidence.neighbours.search import Encoding, comparable, search_others
from hushtable.evidence.persons import People
from hushtable.evidence.reading import ordinary
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.recipe import Recipe
from hushtable.table.arrays import Array, Floats, Integers
from hushtable.table.cell import Cell
from hushtable.table.columns import DAY, FREE, Bounds, Cells, Column, Kind, Levels
from hushtable.table.table import Table

Rng = np.random.Generator
RATIOS = (1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
"""Overfit ratios that are published: the validation loss over the least one."""


@dataclass(frozen=True, kw_only=True)
class Noise:
    """How leaked rows are disturbed: reals by N(0, sigma), whole numbers and days by ±Poisson(lam), levels with chance p."""

    sigma: float = 0.0
    """Standard deviation of the noise on a real, in standard deviations of its column (the publication does not say)."""
    lam: float = 0.0
    """Mean number of units, or days, by which a whole number or a date is moved, up or down alike."""
    p: float = 0.0
    """Chance that a level becomes another one, each as likely."""
    absolute: bool = False
    """Whether sigma counts in the column's units rather than in its standard deviations."""

    def __post_init__(self) -> None:
        """No negative noise, no chance above 1."""
        if not (self.sigma >= 0 and self.lam >= 0 and 0 <= self.p <= 1):
            raise InputError(f"sigma and lam are not negative and p lies between 0 and 1, got {self}", where="noise")

    def __str__(self) -> str:
        """As the publication writes it."""
        return f"σ={self.sigma:g} λ={self.lam:g} p={self.p:g}"


NOISES = tuple(Noise(sigma=s, lam=m, p=p) for s, m, p in product((0.0, 0.05), repeat=3))
"""The eight published settings, from none to all three."""


def leaky(train: Table, fresh: Table, share: float, rng: Rng, rows: int | None = None) -> Table:
    """A release of which this share are training rows verbatim and the rest fresh rows, in random order."""
    return noisy(train, fresh, share, rng, Noise(), rows)


def noisy(train: Table, fresh: Table, share: float, rng: Rng, noise: Noise, rows: int | None = None) -> Table:
    """The same with disturbed copies of training rows: a generator that almost repeats what it saw (Plasencia Palacios 2025)."""
    rows = min(train.rows, fresh.rows) if rows is None else rows
    leaked = _count(share, rows)
    if leaked > train.rows or rows - leaked > fresh.rows:
        held = f"there are {train.rows} training and {fresh.rows} fresh rows"
        raise InputError(f"{rows} rows at a leak of {share:g} need more rows than there are: {held}", where="leaky")
    whom, others, order = (rng.permutation(n) for n in (train.rows, fresh.rows, rows))
    copies = disturbed(train.take(whom[:leaked]), noise, rng, spread=train)
    return Table.concat([copies, fresh.take(others[: rows - leaked])]).take(order)


def disturbed(table: Table, noise: Noise, rng: Rng, *, spread: Table | None = None) -> Table:
    """The rows with noise on every column, inside their domains; a missing value stays missing.

    Standard deviations are those of ``spread``, by default of the rows themselves.
    """
    changed = {c.name: _moved(table, c, noise, rng, spread or table) for c in table.schema}
    return Table(table.schema, changed, table.texts)


def _moved(table: Table, column: Column, noise: Noise, rng: Rng, spread: Table) -> Array:
    array = table[column.name]
    rows, missing = len(array), column.is_missing(array)
    if not column.numeric:
        levels = len(table.words(column.name))
        switched = (rng.random(rows) < noise.p) & ~missing & (levels > 1)
        others = (array + 1 + rng.integers(0, max(levels - 1, 1), rows)) % max(levels, 1)
        return np.where(switched, others, array).astype(column.dtype)
    if column.kind is Kind.REAL:
        present = (values := spread.floats(column.name))[~np.isnan(values)]
        own = 1.0 if noise.absolute or not len(present) else float(present.std())
        return column.from_floats(column.floats(array) + noise.sigma * own * rng.standard_normal(rows))
    unit = DAY if column.kind is Kind.DATE else 1
    steps = unit * rng.poisson(noise.lam, rows) * rng.choice([-1, 1], rows)
    moved = np.clip(np.where(missing, 0, array) + steps, int(column.bounds.low), int(column.bounds.high))
    if column.kind is Kind.DATE:
        # A format without a day reads a moved date back as what it writes.
        return column.from_floats(np.where(missing, np.nan, moved.astype(np.float64)))
    return np.where(missing, array, moved)


def plant(case: Case, share: float, rng: Rng) -> Case:
    """The case with this share of the released rows replaced by training rows, and with a generator that leaks alike."""
    make = case.generator
    return Case(
        case.train, planted(case.release, case.train, share, rng), case.control, make and _leaking(make, share), case.attackers
    )


def _leaking(make: Generator, share: float) -> Generator:
    return lambda table, seed: planted(make(table, seed), table, share, np.random.default_rng([seed, 1]))


def planted(release: Table, train: Table, share: float, rng: Rng) -> Table:
    """The release with a share of its rows (at least one) replaced by training rows, each written in the form of the release.

    A generalized column gets the cell that stands for the one value; columns that the training rows lack, and free text,
    stay as they were.
    """
    count = min(max(1, _count(share, release.rows)), train.rows)
    where, whom = (rng.permutation(n)[:count] for n in (release.rows, train.rows))
    return written(release, ordinary(train.take(whom), rng), where)


def written(release: Table, rows: Table, where: Integers, columns: Sequence[str] | None = None) -> Table:
    """The release with these columns of these rows at these places, all that both have and that are no free text by default."""
    shared = [c for c in release.schema if c.name in rows.schema and c.kind not in FREE and (columns is None or c.name in columns)]
    return release.with_columns(*(_with_rows(c, release[c.name], rows, where) for c in shared))


def _with_rows(column: Column, array: Array, rows: Table, where: Integers) -> tuple[Column, Array]:
    """The column of a release, holding these rows at these places, its domain widened where it must be."""
    source, values = rows.schema[column.name], rows[column.name]
    missing = source.is_missing(values)
    present = np.unique(values[~missing])
    column = replace(column, domain=_widened(column.domain, source, present), required=column.required and not missing.any())
    if column.generalized or column.coded:
        keys: dict[Any, int] = {}
        for code, cell in enumerate(column.domain.cells if isinstance(column.domain, Cells) else column.levels):
            keys.setdefault(cell.span if isinstance(cell, Cell) else cell, code)
        wanted = [source.value_cell(v).span if column.generalized else source.levels[v] for v in present]
        codes = np.array([keys[key] for key in wanted] or [-1])
        written = np.where(missing, -1, codes[np.searchsorted(present, values).clip(0, len(codes) - 1)])
    else:
        written = values if source.kind is column.kind else column.from_floats(source.floats(values))
    result = array.copy()
    result[where] = written
    return column, result


def _widened(domain: Any, source: Column, present: Array) -> Any:
    """A domain that holds these values of another column as well."""
    if isinstance(domain, Cells):
        spans = {cell.span for cell in domain.cells}
        new = [cell for v in present if (cell := source.value_cell(v)).span not in spans]
        return Cells((*domain.cells, *new), _widened(domain.base, source, present))
    if isinstance(domain, Levels):
        return Levels(tuple(dict.fromkeys((*domain.levels, *(source.levels[v] for v in present)))), domain.observed)
    if isinstance(domain, Bounds) and len(present):
        return Bounds(min(domain.low, present[0].item()), max(domain.high, present[-1].item()), domain.observed)
    return domain


@dataclass(frozen=True, eq=False)
class Overfitted:
    """A generator trained too far."""

    ratio: float
    """Its loss on rows it did not see, over the least such loss of all that were trained (Plasencia Palacios 2025, eq. 3.13)."""
    settings: Mapping[str, str]
    sample: Callable[[int], Table]
    """So many rows of it; always the same ones."""


def overfit(
    train: Table,
    validation: Table,
    rng: Rng,
    *,
    ratios: Sequence[float] = RATIOS,
    recipe: str | Recipe = "sequential",
    ladder: Sequence[Mapping[str, str]] = (),
) -> list[Overfitted]:
    """Generators at these overfit ratios, or as near as the ladder of settings comes, in order; each rung at most once.

    The loss is the mean negative log-likelihood of the validation rows. A ratio that is not reached gives the last rung, which
    memorizes most: its own ratio says how far it went. By default sequential trees, neither pruned nor refined, with ever smaller
    leaves, and at the end with ever rarer numbers repeated as they are. Any recipe of one core will do, coders before it, whose
    fitted model knows ``log_likelihood(table)``. One that can be trained ever further (``overfitted``: argn, realtabformer) needs
    no ladder: the models are then those along one training, and the loss is the one that it is trained to lower. Losses are of
    rows as coders write them.
    """
    train, validation = (table.select(train.schema.released) for table in (train, validation))
    seed = int(rng.integers(2**32))
    plain = Coded.of(recipe, train, np.random.default_rng([seed]))
    train, validation = plain.encoded(train), plain.encoded(validation)
    climb = None if ladder else getattr(plain.core, "overfitted", None)
    if climb is not None:
        found = climb(train, validation, ratios, np.random.default_rng([seed]))
        losses, models = np.array([loss for loss, _ in found]), [model for _, model in found]
        ladder = [{}] * len(found)
    else:
        ladder = ladder or _ladder(train.rows)
        models = [plain.turned(how).fitted(train, np.random.default_rng([seed, at])) for at, how in enumerate(ladder)]
        losses = np.array([-float(np.mean(model.log_likelihood(validation))) for model in models])
    best = float(losses.min())

    def sampler(at: int) -> Callable[[int], Table]:
        return lambda rows: plain.drawn(models[at], rows, np.random.default_rng([seed, at, rows]))

    return [Overfitted(float(losses[at]) / best, dict(ladder[at]), sampler(at)) for at in rungs(losses, ratios)]


def climbs(recipe: str | Recipe) -> bool:
    """Whether this generator is trained ever further, rather than fitted anew for each rung of a ladder of settings."""
    return hasattr((recipe if isinstance(recipe, Recipe) else recipes.load(recipe)).steps[-1], "overfitted")


def rungs(losses: Floats, ratios: Sequence[float]) -> list[int]:
    """The rungs of a ladder, from the least loss on, nearest to these ratios of it, or the last where none goes as far."""
    best = int(losses.argmin())
    reached = losses[best:] / losses[best]
    picked = {best + (int(np.abs(reached - r).argmin()) if r <= reached.max() else len(reached) - 1) for r in ratios}
    return sorted(picked, key=lambda at: float(losses[at]))


def _ladder(rows: int) -> list[dict[str, str]]:
    """Leaf sizes from half of the rows down to one, ever halved, every size at the end."""
    sizes = [max(1, rows // 2)]
    while sizes[-1] > 1:
        sizes.append(sizes[-1] // 2 if sizes[-1] > 8 else sizes[-1] - 1)
    alone = dict.fromkeys(("prune", "shrink", "refine"), "0")
    return [{"min_leaf": str(size), "least": str(min(size, 5)), **alone} for size in sizes]


def outlying(table: Table, k: int = 20) -> Floats:
    """The local outlier factor of each row by the audits' own distance: about 1, larger the lonelier (Breunig et al. 2000).

    Neighbours are rows of other people.
    """
    encoding = Encoding.of([table], comparable([table]))
    people = People.of(table)
    near = search_others(encoding.points(table), encoding, min(k, table.rows - int(people.held.max())), people)
    # Rows that repeat one another lie at distance 0: a floor keeps their density finite.
    floor = 1e-6
    reach = np.maximum(near.distance, near.distance[near.index, -1]).mean(axis=1) + floor
    density = 1 / reach
    return np.asarray(density[near.index].mean(axis=1) / density, np.float64)


def _count(share: float, rows: int) -> int:
    if not 0 <= share <= 1:
        raise InputError(f"a share lies between 0 and 1, got {share}", where="leak")
    return round(share * rows)
