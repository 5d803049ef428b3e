"""The point sets of the study of point clouds: five that are generated, and handwritten digits, embedded by UMAP."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hushtable.data.datasets import VARIABLE, data_folder
from hushtable.errors import InputError, MissingExtra
from hushtable.table.arrays import Floats, Integers, Singles
from hushtable.table.columns import Bounds, Column, Kind, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

NOISE = 0.05
"""Of circles and half circles, of which the source does not say any: scikit-learn's own examples have it."""
MNIST, FILE = "MNIST", "mnist/mnist_t10k_5000.csv.gz"
IMAGES, HELD = 5000, 1000
"""Images at hand, and those of them that no generator sees."""

Ends = tuple[tuple[float, float], ...]


class Sides(NamedTuple):
    """The points that a generator is trained on, and fresh ones that what it draws is compared with."""

    train: Table
    fresh: Table


@dataclass(frozen=True, kw_only=True)
class PointSet:
    """A distribution of points, with bounds that are known before any of them is drawn."""

    title: str
    columns: tuple[str, ...]
    ends: Ends
    draw: Callable[[int, int], Floats]
    """So many points with a seed."""
    shown: tuple[int, int] = (0, 1)
    """The columns to draw along and up."""
    coloured: int | None = None
    """The column whose value is a point's position on the surface."""

    def table(self, points: int, seed: int) -> Table:
        """So many points."""
        return table_of(self.draw(points, seed), self.columns, self.ends)

    def sides(self, points: int, run: int) -> Sides:
        """Those of a run: no point of one is in another."""
        return Sides(self.table(points, 2 * run), self.table(points, 2 * run + 1))


def table_of(values: Floats, columns: tuple[str, ...], ends: Ends) -> Table:
    """Points as a table of real columns with declared bounds."""
    declared = [
        Column(name=name, kind=Kind.REAL, role=Role.PLAIN, domain=Bounds(*pair), required=True)
        for name, pair in zip(columns, ends, strict=True)
    ]
    return Table(Schema(tuple(declared)), {c.name: c.from_floats(v) for c, v in zip(declared, values.T, strict=True)})


def matrix(table: Table) -> Floats:
    """The points of a table."""
    return np.column_stack([table.floats(name) for name in table.schema.names])


def outwards(values: Floats) -> Ends:
    """Whole numbers around each column."""
    return tuple((math.floor(low), math.ceil(high)) for low, high in zip(values.min(axis=0), values.max(axis=0), strict=True))


def _surface(name: str) -> Callable[[int, int], Floats]:
    """A surface in space, with the position along it as a fourth column."""

    def draw(points: int, seed: int) -> Floats:
        from sklearn import datasets

        places, position = getattr(datasets, name)(points, random_state=seed)
        return np.column_stack([places, position])

    return draw


def _blobs(points: int, seed: int) -> Floats:
    """Around three centres, which are drawn once: fresh points have the same."""
    from sklearn.datasets import make_blobs

    _, _, centres = make_blobs(3, centers=3, random_state=0, return_centers=True)
    return np.asarray(make_blobs(points, centers=centres, cluster_std=0.2, random_state=seed)[0])


def _curves(name: str, **knobs: Any) -> Callable[[int, int], Floats]:
    def draw(points: int, seed: int) -> Floats:
        from sklearn import datasets

        return np.asarray(getattr(datasets, name)(points, noise=NOISE, random_state=seed, **knobs)[0])

    return draw


_PLANE, _SPACE = ("x", "y"), ("x", "y", "z", "position")
_ROLLED = 4.5 * math.pi
SETS = {
    "s-curve": PointSet(
        title="S-curve",
        columns=_SPACE,
        ends=((-1.0, 1.0), (0.0, 2.0), (-2.0, 2.0), (-1.5 * math.pi, 1.5 * math.pi)),
        draw=_surface("make_s_curve"),
        shown=(0, 2),
        coloured=3,
    ),
    "swiss-roll": PointSet(
        title="Swiss roll",
        columns=_SPACE,
        ends=((-_ROLLED, _ROLLED), (0.0, 21.0), (-_ROLLED, _ROLLED), (1.5 * math.pi, _ROLLED)),
        draw=_surface("make_swiss_roll"),
        shown=(0, 2),
        coloured=3,
    ),
    "blobs": PointSet(title="blobs", columns=_PLANE, ends=((-3.0, 4.0), (-1.0, 6.0)), draw=_blobs),
    "circles": PointSet(title="circles", columns=_PLANE, ends=((-1.3, 1.3), (-1.3, 1.3)), draw=_curves("make_circles", factor=0.5)),
    "half-circles": PointSet(title="half circles", columns=_PLANE, ends=((-1.3, 2.3), (-0.8, 1.3)), draw=_curves("make_moons")),
}


def mnist_file(folder: str | Path | None) -> Path:
    """Where the images are; InputError where they are not."""
    root = data_folder(folder)
    if root is None or not (root / FILE).is_file():
        raise InputError(f"{FILE} is not here; set {VARIABLE} to the folder of the tables", where=MNIST)
    return root / FILE


class Digits(NamedTuple):
    """Images of digits and where UMAP places them."""

    pixels: Singles
    labels: Integers
    fitted: Any
    """What places them, and leads back."""
    places: Floats

    @property
    def ends(self) -> Ends:
        """Of the places, of which nobody knows any before they are there."""
        return outwards(self.places)

    def sides(self, run: int, points: int) -> Sides:
        """Places of images to train on, and of those left out."""
        order = np.random.default_rng(run).permutation(len(self.places))
        train, fresh = order[: min(points, len(order) - HELD)], order[-HELD:]
        return Sides(*(table_of(self.places[part], _PLANE, self.ends) for part in (train, fresh)))

    def nearest(self, places: Floats) -> Integers:
        """The image that is placed nearest to each place."""
        from scipy.spatial import cKDTree

        return np.asarray(cKDTree(self.places).query(places)[1])


@cache
def digits(path: Path, images: int) -> Digits:
    """The first images of a file in their places. Its UMAP takes a minute for all of them, so it is remembered."""
    import pandas as pd

    frame = pd.read_csv(path, nrows=images)
    pixels = frame.drop(columns="label").to_numpy(np.float32)
    fitted = umap(pixels, 0)
    return Digits(pixels, frame["label"].to_numpy(np.int64), fitted, np.asarray(fitted.embedding_, np.float64))


def umap(points: Floats | Singles, seed: int) -> Any:
    """UMAP into the plane, fitted to these points, with its own defaults (McInnes, Healy and Melville 2018)."""
    try:
        from umap import UMAP
    except ImportError:
        raise MissingExtra("umap-learn", "manifold", "the embedding of point clouds") from None
    return UMAP(random_state=seed, n_jobs=1).fit(points)
