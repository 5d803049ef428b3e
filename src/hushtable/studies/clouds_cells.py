"""The results of the study of point clouds: what generators draw, what UMAP leads back to, and which injected points return."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from hushtable.api.store import Result
from hushtable.audits.canaries import InjectedPoints
from hushtable.errors import InputError
from hushtable.evidence.case import Case
from hushtable.evidence.neighbours import search as neighbours
from hushtable.measures.features import features
from hushtable.measures.joint import Joint
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.options import UNPUBLISHED
from hushtable.pipeline.run import release
from hushtable.studies.clouds_sets import (
    HELD,
    IMAGES,
    MNIST,
    SETS,
    Digits,
    Ends,
    Sides,
    digits,
    matrix,
    outwards,
    table_of,
    umap,
)
from hushtable.table.arrays import Floats, Integers
from hushtable.table.table import Table

PAIRED = 1000
"""Points of each side that the Wasserstein distance pairs, at most."""
OFF = 0.99
"""So many of the points that a generator was trained on lie nearer to a fresh one than what is called off the shape."""
DRAWN, GRID, CLASSES = 600, 1000, 6
"""Points that are drawn, steps of the grid that they are drawn on, and classes of their positions."""
SHADES, PICTURES = 4, 12
"""Of pixels that are drawn, and images that are."""


@dataclass(frozen=True, kw_only=True)
class Generator:
    """A recipe as it is, but for refinement, and its knobs where all must be quick."""

    title: str
    recipe: str
    knobs: Mapping[str, int] = field(default_factory=dict)
    quick: Mapping[str, int] = field(default_factory=dict)
    cost: float = 1.0
    """Processor seconds for 4,000 points, about."""

    def draw(self, table: Table, seed: int, *, quick: bool) -> Table:
        """As many rows as there are."""
        recipe = recipes.load(self.recipe).set({**self.knobs, **(self.quick if quick else {})})
        return release(table, recipe, rows=table.rows, seed=seed, allow_copies=UNPUBLISHED).table


_UNREFINED, _FEW = {"refine": 0}, {"epochs": 20, "every": 4}
GENERATORS = {
    "vae": Generator(title="VAE", recipe="vae", knobs=_UNREFINED, quick={"epochs": 27}, cost=20),
    "gan": Generator(title="GAN", recipe="gan", knobs=_UNREFINED, quick=_FEW, cost=16),
    "dcgan": Generator(title="DCGAN", recipe="dcgan", knobs=_UNREFINED, quick=_FEW, cost=9),
    "ctgan": Generator(title="CTGAN", recipe="ctgan", knobs=_UNREFINED, quick=_FEW, cost=10),
    "dpgan": Generator(title="DPGAN", recipe="dpgan", quick=_FEW, cost=9),
    "argn": Generator(title="ARGN", recipe="argn", knobs=_UNREFINED, cost=2),
    "trees": Generator(title="trees", recipe="sequential", cost=5),
    "vae-refined": Generator(title="VAE, refined", recipe="vae", quick={"epochs": 27}, cost=20),
    "argn-refined": Generator(title="ARGN, refined", recipe="argn", cost=3),
}
FRESH = "fresh"
"""In place of a generator: the points that the others are trained on, which are as good as drawn points can be."""


def cell(name: str, generator: str, run: int, points: int, path: Path | None, *, quick: bool) -> Result:
    """How far what a generator draws from a set lies from fresh points; of the first run also what it draws."""
    sides, known = sides_of(name, run, points, path)
    start = time.process_time()
    made = sides.train if generator == FRESH else GENERATORS[generator].draw(sides.train, run, quick=quick)
    result = {"seconds": time.process_time() - start, **scores(sides, made, run)}
    return result if run else {**result, "points": _picture(name, made, known)}


def sides_of(name: str, run: int, points: int, path: Path | None) -> tuple[Sides, Digits | None]:
    """The points of a set, of the digits their places."""
    if name != MNIST:
        return SETS[name].sides(points, run), None
    assert path is not None
    known = digits(path, min(IMAGES, points + HELD))
    return known.sides(run, points), known


def scores(sides: Sides, made: Table, run: int) -> dict[str, float]:
    """Wasserstein distance, maximum mean discrepancy, and the share off the shape, all against fresh points."""
    rng = np.random.default_rng(run)
    # What is compared with takes the place of the training rows: points that were learnt by heart shall gain nothing by it.
    case = Case(train=sides.fresh, release=made, control=sides.train)
    space = features(case).points
    all_of = {which: space[which].spread(slice(None)).astype(np.float64) for which in space}
    tree = cKDTree(all_of["train"])
    near = {which: tree.query(all_of[which])[0] for which in ("release", "control")}
    discrepancy = Joint().run(case, rng)[0].value
    assert discrepancy is not None
    return {
        "wasserstein": wasserstein(all_of["release"], all_of["train"], rng),
        "mmd": discrepancy,
        "off": float(np.mean(near["release"] > np.quantile(near["control"], OFF))),
    }


def wasserstein(one: Floats, other: Floats, rng: np.random.Generator) -> float:
    """The 1-Wasserstein distance, exact for as many points of each: the mean way to the partner, where that is least."""
    from scipy.optimize import linear_sum_assignment

    count = min(PAIRED, len(one), len(other))
    some, others = (side[rng.permutation(len(side))[:count]] for side in (one, other))
    ways = cdist(some, others)
    return float(ways[linear_sum_assignment(ways)].mean())


def _picture(name: str, made: Table, known: Digits | None) -> dict[str, list[int]]:
    """Some of the points on a grid, with the classes of their colours."""
    points = matrix(made)[:DRAWN]
    if known is not None:
        return _placed(points, known.ends, known.labels[known.nearest(points)])
    one = SETS[name]
    ends = tuple(one.ends[at] for at in one.shown)
    return _placed(points[:, list(one.shown)], ends, None if one.coloured is None else classes(points[:, one.coloured], name))


def classes(positions: Floats, name: str) -> Integers:
    """Positions on a surface in a few classes of equal width."""
    coloured = SETS[name].coloured
    assert coloured is not None
    low, high = SETS[name].ends[coloured]
    return np.clip((positions - low) / (high - low) * CLASSES, 0, CLASSES - 1).astype(np.int64)


def _placed(points: Floats, ends: Ends, colours: Integers | None) -> dict[str, list[int]]:
    low, high = np.array(ends).T
    x, y = np.clip(np.round((points - low) / (high - low) * GRID), 0, GRID).astype(int).T
    return {"x": x.tolist(), "y": (GRID - y).tolist(), **({} if colours is None else {"colour": colours.tolist()})}


def unfolded(name: str, run: int, points: int, inverted: int, path: Path | None, *, quick: bool) -> Result:
    """The way of the source: UMAP of a set, a VAE of the places, and from there back to where the set is."""
    sides, known = sides_of(name, run, points, path)
    start = time.process_time()
    fitted = umap(matrix(sides.train), run) if known is None else known.fitted
    places = np.asarray(fitted.embedding_, np.float64)
    ends = outwards(places)
    learnt = sides.train if known is not None else table_of(places, ("x", "y"), ends)
    drawn = matrix(GENERATORS["vae"].draw(learnt, run, quick=quick))
    back = np.asarray(fitted.inverse_transform(drawn[:inverted].astype(np.float32)), np.float64)
    result: Result = {"seconds": time.process_time() - start}
    if known is not None:
        return result | _images(known, drawn[:inverted], back, pictures=not run)
    one = SETS[name]
    returned = table_of(
        np.asarray(fitted.inverse_transform(places[:inverted].astype(np.float32)), np.float64), one.columns, one.ends
    )
    made = table_of(back, one.columns, one.ends)
    real = matrix(sides.fresh)
    result |= {
        "drawn": scores(sides, made, run) | {"spread": _spread(matrix(made), real)},
        "returned": scores(sides, returned, run) | {"spread": _spread(matrix(returned), real)},
        "floor": scores(sides, sides.train.take(np.arange(inverted)), run),
    }
    if run:
        return result
    assert one.coloured is not None
    own = classes(matrix(sides.train)[:, one.coloured], name)
    nearest = cKDTree(places).query(drawn[:DRAWN])[1]
    pictures = {
        "real": _picture(name, sides.train, None),
        "places": _placed(places[:DRAWN], ends, own[:DRAWN]),
        "vae": _placed(drawn[:DRAWN], ends, own[nearest]),
        "back": _picture(name, made, None),
    }
    return result | {"pictures": pictures}


def _spread(points: Floats, real: Floats) -> float:
    """How far points are spread beside real ones: the mean over columns of the ratio of deviations."""
    return float(np.mean(points.std(axis=0) / real.std(axis=0)))


def _images(known: Digits, drawn: Floats, back: Floats, *, pictures: bool) -> Result:
    """Whether images that were led back show the digits of their places, and how near they come to real ones."""
    tree = cKDTree(known.pixels)
    far, nearest = map(np.asarray, tree.query(back))
    some = np.random.default_rng(0).choice(len(known.pixels), min(500, len(known.pixels)), replace=False)
    # The nearest to an image is itself, the second another one.
    apart, others = (np.asarray(part)[:, 1] for part in tree.query(known.pixels[some], 2))
    wanted = known.labels[known.nearest(drawn)]
    result: Result = {
        "images": len(back),
        "agree": int((known.labels[nearest] == wanted).sum()),
        "agree_real": float((known.labels[others] == known.labels[some]).mean()),
        "way": float(np.median(far) / np.median(apart)),
    }
    if not pictures:
        return result
    shown = {"back": back[:PICTURES], "nearest": known.pixels[nearest[:PICTURES]]}
    return result | {"pictures": {which: [_shades(image) for image in images] for which, images in shown.items()}}


def _shades(image: Floats) -> str:
    """A digit for each pixel, how dark it is."""
    return "".join(map(str, np.clip(image / 256 * (SHADES + 1), 0, SHADES).astype(int)))


@dataclass(frozen=True, kw_only=True)
class Line(InjectedPoints):
    """Memorization of points that lie evenly on a straight line through all that is declared: what they share can be learnt."""

    def invented(self, case: Case, rng: np.random.Generator) -> tuple[Table, Floats]:
        """The points, with their distances from the nearest real row."""
        way = np.linspace(0, 1, self.points + 2)[1:-1, None]
        low, high = np.array([(column.bounds.low, column.bounds.high) for column in case.train.schema]).T
        ends = tuple(zip(low, high, strict=True))
        points = table_of(low + way * (high - low), case.train.schema.names, ends)
        apart = neighbours.nearest(points, case.train, columns=case.columns).distance[:, 0]
        return points.take(apart > 0), apart[apart > 0]


LINE, FEW = "line", "few"
INJECTED: Mapping[str, str] = {LINE: "a tenth of the points on a line", FEW: "about four points far from all others"}


def audit_of(kind: str, points: int) -> InjectedPoints:
    """About half of the points of an audit are injected: a tenth of the set, or four."""
    return Line(points=points // 5, trainings=1) if kind == LINE else InjectedPoints(points=8, trainings=1)


def injected(kind: str, generator: str, run: int, points: int, *, quick: bool) -> Result:
    """How many points that were injected into the S-curve come back, beside as many that were not."""
    name = "s-curve"
    sides = SETS[name].sides(points, run)
    seen: list[tuple[Table, Table]] = []

    def again(table: Table, seed: int) -> Table:
        seen.append((table, GENERATORS[generator].draw(table, seed, quick=quick)))
        return seen[-1][1]

    start = time.process_time()
    case = Case(train=sides.train, release=sides.fresh, control=sides.fresh, generator=again)
    finding = audit_of(kind, points).run(case, np.random.default_rng(run))[0]
    if finding.value is None:
        raise InputError(finding.note, where=finding.name)
    counts = ("hits", "attempts", "control_hits", "control_attempts", "within", "injected", "left_out")
    result: Result = {"seconds": time.process_time() - start, **{key: finding.detail[key] for key in counts}}
    if run:
        return result
    table, made = seen[0]
    pictures = {"made": _marked(made, table, sides.train.rows)}
    return result | {"pictures": pictures | {"real": _marked(_first(table, sides.train.rows), table, sides.train.rows)}}


def _first(table: Table, real: int) -> Table:
    """Some of the rows of a table, those injected among them."""
    return table.take(np.r_[real : table.rows, 0:real])


def _marked(shown: Table, training: Table, real: int) -> dict[str, list[int]]:
    """Points in two colours: those that are nearest to an injected one, and all others."""
    some = shown.take(np.arange(min(DRAWN, shown.rows)))
    ours = neighbours.nearest(some, training).index[:, 0] >= real
    one = SETS["s-curve"]
    ends = tuple(one.ends[at] for at in one.shown)
    return _placed(matrix(some)[:, list(one.shown)], ends, ours.astype(np.int64))
