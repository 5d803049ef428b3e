"""Embedding: columns replaced by coordinates on the manifold that the records lie on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from hushtable.errors import InputError, MissingExtra, PlanError
from hushtable.numerics.manifold.ambient import Ambient, Scale, digests, distinct
from hushtable.numerics.manifold.geodesics import Paths
from hushtable.numerics.manifold.graph import neighbourhood
from hushtable.numerics.manifold.isomap import Isomap, oriented
from hushtable.numerics.manifold.lle import Lle
from hushtable.pipeline.step import Code, Coder, Plan, check_knobs, chosen
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Floats, Integers
from hushtable.table.columns import Bounds, Column, Kind, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

_WHY = "reads the rows to learn the manifold"


class Method(StrEnum):
    """The embedding that gives the coordinates."""

    ISOMAP = "isomap"
    LLE = "lle"
    TSNE = "tsne"
    UMAP = "umap"
    PCA = "pca"


@dataclass(frozen=True, kw_only=True)
class Embed(Coder):
    """Replace columns by coordinates ``y1, y2, ...`` on the manifold that the records lie on; all other columns stay.

    It promises nothing: coordinates reveal as much as the columns they replace. Equal records get equal coordinates. All methods
    but ``pca`` are one-way: the released table keeps the coordinates. ``pca`` is undone by the inverse map, on each column's
    grid and inside its domain. The map is learnt from all rows, so it opens them raw; given the map, one row stays one row
    (stability 1). Rows that were not there are placed by isomap, lle, umap and pca, and refused by tsne.
    isomap: Tenenbaum, de Silva and Langford 2000, on landmarks above 4,000 distinct records; lle: Roweis and Saul 2000
    with neighbours by geodesic distance (Garg and Torra 2023), likewise; tsne: van der Maaten and Hinton 2008; umap:
    McInnes, Healy and Melville 2018.
    """

    method: Method = Method.ISOMAP
    """isomap, lle, tsne, umap (needs an extra) or pca."""
    dimensions: int = 2
    """How many coordinates; those beyond what the records span are 0."""
    columns: tuple[str, ...] = ()
    """The columns to replace; the quasi-identifiers when empty, or all numbers where there are none."""
    neighbours: int = 10
    """How many nearest records each record is linked to; for tsne the perplexity."""
    radius: float | None = None
    """For isomap and lle: link all records within this distance instead."""
    scale: Scale = Scale.STANDARD
    """standard: differences over the standard deviation; none: as they are, for columns that share a unit."""
    name: str = "y"
    """What the coordinates are called; a number follows."""

    def __post_init__(self) -> None:
        """At least one dimension; the trees of t-SNE have at most three."""
        check_knobs(
            self,
            dimensions=(1 <= self.dimensions <= (3 if self.method is Method.TSNE else 1_000), "must be 1 to 1,000 (3 for tsne)"),
            neighbours=(self.neighbours >= 2, "must be at least 2"),
            radius=(self.radius is None or 0 < self.radius < np.inf, "must be positive"),
            name=(bool(self.name.strip()), "must not be empty"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that are no numbers or categories, and names that are taken. Bounds are known once it is fitted."""
        columns = self._columns(schema)
        unknown = np.array([[-1.0] * self.dimensions, [1.0] * self.dimensions])
        replaced = f"{', '.join(columns)} leave only as {self.dimensions} coordinates"
        caveats = [
            f"{replaced}; whoever knows these columns of a person and can repeat the embedding can place them among the rows"
        ]
        one_way = self.method is not Method.PCA
        return Plan(
            schema=self._encoded(schema, columns, unknown),
            events=(Raw(_WHY),),
            stability=1,
            one_way=one_way,
            caveats=tuple(caveats) if one_way else (),
        )

    def fit(self, vault: Vault, rng: np.random.Generator) -> Code:
        """Learn the manifold."""
        table = vault.open(Raw(_WHY), _WHY)
        if not table.rows:
            raise InputError("there are no rows to learn from", where="embed")
        columns = self._columns(table.schema)
        ambient = Ambient.of(table, columns, self.scale)
        everything = ambient.points(table)
        names = digests(everything)
        first, point_of = distinct(names)
        points, weights = everything[first], np.bincount(point_of).astype(np.int64)
        coordinates, extend, invert = self._learn(points, weights, rng)
        schema = self._encoded(table.schema, columns, coordinates)
        known = {names[row]: place for place, row in enumerate(first.tolist())}
        return Embedded(table.schema, schema, ambient, known, coordinates, extend, invert)

    def _learn(self, points: Floats, weights: Integers, rng: np.random.Generator) -> Learnt:
        if len(points) == 1 or self.method is Method.PCA:
            return _pca(points, weights, self.dimensions)
        if self.method is Method.TSNE:
            return _tsne(points, self.dimensions, self.neighbours, rng), None, None
        if self.method is Method.UMAP:
            return _umap(points, self.dimensions, self.neighbours, rng)
        graph = neighbourhood(points, self.neighbours, self.radius)
        fitted: Isomap | Lle
        if self.method is Method.ISOMAP:
            fitted, coordinates = Isomap.of(points, Paths.of(graph), weights, self.neighbours, self.dimensions, rng)
        else:
            fitted, coordinates = Lle.of(points, graph, self.neighbours, self.radius, self.dimensions, rng)
        return coordinates, fitted.extend, None

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        default = schema.quasi or tuple(c.name for c in schema if c.numeric)
        what = "a number, a date, a category or an ordinal (no text, key or generalized one)"
        return chosen(schema, self.columns, default, "embed", what, lambda column: column.valued)

    def _encoded(self, schema: Schema, columns: tuple[str, ...], coordinates: Floats) -> Schema:
        others = tuple(c for c in schema if c.name not in columns)
        names = [f"{self.name}{i}" for i in range(1, self.dimensions + 1)]
        taken = [c.name for c in others if c.name in names]
        if taken:
            raise PlanError(f"embed: the table has a column {', '.join(taken)} already; give the coordinates another 'name'")
        bounds = zip(names, coordinates.min(axis=0).tolist(), coordinates.max(axis=0).tolist(), strict=True)
        new = (Column(name=n, kind=Kind.REAL, role=Role.QUASI, domain=Bounds(low, high, True)) for n, low, high in bounds)
        return replace(schema, columns=(*others, *new))


Map = Callable[[Floats], Floats]
Learnt = tuple[Floats, Map | None, Map | None]
"""The coordinates, what places other points, and what leads back."""


@dataclass(frozen=True, eq=False)
class Embedded:
    """The fitted coder. It knows the points it was fitted on by their digests."""

    original: Schema
    schema: Schema
    ambient: Ambient
    known: dict[bytes, int]
    coordinates: Floats
    extend: Map | None
    invert: Map | None
    stability: int = 1

    def apply(self, table: Table) -> Table:
        """Coordinates of rows: those that were learnt, and a place beside them, inside the same bounds, for other rows."""
        points = self.ambient.points(table)
        places = np.array([self.known.get(name, -1) for name in digests(points)], np.int64)
        values = self.coordinates[places]
        new = places < 0
        if new.any():
            if self.extend is None:
                reason = (
                    f"{int(new.sum()):,} rows are not among those the embedding was learnt from, and it has no place for others"
                )
                raise InputError(reason, where="embed")
            values[new] = self.extend(points[new])
        fresh = self._coordinates
        arrays = {name: table[name] for name in self.schema.names if name not in fresh}
        arrays |= {name: self.schema[name].from_floats(values[:, i]) for i, name in enumerate(fresh)}
        texts = {name: words for name, words in table.texts.items() if name in arrays}
        return Table(self.schema, arrays, texts, persons=table.persons)

    def undo(self, table: Table, rng: np.random.Generator) -> Table:
        """The columns at these coordinates, where there is a way back; else the coordinates stay."""
        if self.invert is None:
            return table
        points = self.invert(np.column_stack([table.floats(name) for name in self._coordinates]))
        arrays = {name: table[name] for name in table.schema.names if name not in self._coordinates}
        arrays |= self.ambient.values(points)
        columns = [(table.schema if c.name in table.schema else self.original)[c.name] for c in self.original if c.name in arrays]
        texts = {name: words for name, words in table.texts.items() if name in arrays}
        return Table(replace(self.original, columns=tuple(columns)), arrays, texts, persons=table.persons)

    @property
    def _coordinates(self) -> tuple[str, ...]:
        return self.schema.names[-self.coordinates.shape[1] :]


def _pca(points: Floats, weights: Integers, dimensions: int) -> Learnt:
    """Principal components of the points, each counted as often as records lie there."""
    mean = weights @ points / weights.sum()
    _, _, axes = np.linalg.svd(np.sqrt(weights)[:, None] * (points - mean), full_matrices=False)
    turn = np.zeros((points.shape[1], dimensions))
    count = min(dimensions, len(axes))
    turn[:, :count] = oriented(axes[:count].T)
    return (points - mean) @ turn, lambda others: (others - mean) @ turn, lambda coordinates: coordinates @ turn.T + mean


def _tsne(points: Floats, dimensions: int, perplexity: int, rng: np.random.Generator) -> Floats:
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    start, _, _ = _pca(points, np.ones(len(points), np.int64), dimensions)
    spread = float(start[:, 0].std()) or 1.0
    method = TSNE(
        n_components=dimensions,
        perplexity=min(float(perplexity), (len(points) - 1) / 2),
        init=(start / spread * 1e-4).astype(np.float32),
        random_state=int(rng.integers(2**31)),
    )
    # One thread: how many there are decides the order of its sums, and so the result.
    with threadpool_limits(1):
        return np.asarray(method.fit_transform(points), np.float64)


def _umap(points: Floats, dimensions: int, neighbours: int, rng: np.random.Generator) -> Learnt:
    try:
        from umap import UMAP
    except ImportError:
        raise MissingExtra("umap-learn", "manifold", "embed by umap") from None
    fitted = UMAP(
        n_components=dimensions, n_neighbors=min(neighbours, len(points) - 1), random_state=int(rng.integers(2**31)), n_jobs=1
    ).fit(points)
    return np.asarray(fitted.embedding_, np.float64), lambda others: np.asarray(fitted.transform(others), np.float64), None
