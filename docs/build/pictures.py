"""A picture of every recipe: a small public table, and the same table as the recipe releases it.

The table is drawn here and is about nobody. A private recipe gets a budget that is large for its few rows, and noise from a seed,
so that the picture is the same in every build. A seed voids the proof: that does not matter for a picture, and is why no release
has one.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

import numpy as np

import hushtable as ht
from hushtable.errors import HushError, MissingExtra
from hushtable.pipeline import recipe as recipes
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Unit
from hushtable.report.html import Html, element, join
from hushtable.table.cell import Interval
from hushtable.table.columns import Bounds, Cells, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

ROWS, EPSILON, SEED = 240, 20.0, 3
SIDE, GAP, TOP = 250, 40, 22
GROUPS = ("a", "b", "c")
SETTINGS = {"sample": {"beta": 0.5}, "swap": {"rate": 0.4, "columns": ["group"]}, "pram": {"keep": 0.6, "columns": ["group"]}}
"""Where a recipe's own default would change next to nothing of so small a table."""
Span = tuple[float, float]
ROOMS = ("anonymize", "encode", "learn", "pipeline", "privacy", "recipes", "synthesize", "table")


def toy(rows: int = ROWS) -> Table:
    """Two numbers and a group: a bow, and a cloud above it."""
    rng = np.random.default_rng(SEED)
    bow, group = rng.uniform(0, np.pi, rows), rng.choice(3, rows, p=[0.45, 0.3, 0.25])
    cloud = group == 2
    x = np.where(cloud, rng.normal(7.4, 0.8, rows), 5 - 3.9 * np.cos(bow) + rng.normal(0, 0.25, rows))
    y = np.where(cloud, rng.normal(7.6, 0.7, rows), 1.5 + 4.2 * np.sin(bow) + rng.normal(0, 0.25, rows))
    group = np.where(cloud, 2, (x > 5).astype(int))
    schema = Schema(
        (
            *(
                Column(name=name, kind=Kind.REAL, role=Role.QUASI, domain=Bounds(0.0, 10.0), decimals=1, required=True)
                for name in ("x", "y")
            ),
            Column(name="group", kind=Kind.CATEGORY, role=Role.SECRET, domain=Levels(GROUPS), required=True),
        )
    )
    numbers = {n: schema[n].from_floats(np.clip(v, 0, 10)) for n, v in (("x", x), ("y", y))}
    return Table(schema, {**numbers, "group": group.astype(schema["group"].dtype)})


def picture(name: str) -> Html | str:
    """Before and after as one drawing; a sentence where the recipe cannot run on this table."""
    recipe, before = recipes.load(name), toy()
    private = any(step.spends for step in recipe.steps)
    try:
        release = ht.release(
            before, recipe, settings=SETTINGS.get(name), epsilon=EPSILON if private else None, delta=1e-5 if private else None,
            unit=Unit(relation=recipe.relation), seed=SEED, unproven=True, entropy=Entropy.seeded(SEED),
            allow_copies="nobody in this table exists",
        )  # fmt: skip
    except MissingExtra as error:
        return f"No picture: {error}."
    except HushError as error:
        return f"No picture: on the small table of the pictures, {str(error).splitlines()[0]}"
    label = f"{name}: {before.rows} rows before, {release.table.rows} after"
    width = 2 * SIDE + GAP
    return element(
        "svg",
        element("title", label),
        _panel(before, 0, f"before: {before.rows} rows"),
        _panel(release.table, SIDE + GAP, f"after: {release.table.rows} rows"),
        viewBox=f"0 0 {width} {SIDE + TOP + 4}",
        role="img",
        class_="hush-picture",
        aria_label=label,
    )


def cached(name: str, folder: Path) -> Html | str:
    """The picture, made again only when the recipe or the code that it runs has changed."""
    path = folder / f"{name}.{_fingerprint()[:16]}.txt"
    if path.is_file():
        return _of(path.read_text(encoding="utf-8"))
    drawing = picture(name)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{name}.????????????????.txt"):
        old.unlink()
    path.write_text(drawing, encoding="utf-8")
    return drawing


def _of(text: str) -> Html | str:
    return Html(text) if text.startswith("<svg") else text


def _fingerprint() -> str:
    root = Path(recipes.__file__).parents[1]
    files = sorted(path for room in ROOMS for path in (root / room).rglob("*") if path.suffix in (".py", ".yaml"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in (*files, Path(__file__)))).hexdigest()


def _panel(table: Table, left: float, title: str) -> Html:
    names = [column.name for column in table.schema if column.kind in (Kind.REAL, Kind.INTEGER)][:2]
    scales = [_scale(table, name) for name in names]
    marks = [_mark(spans, group, count, left, scales) for (spans, group), count in _cells(table, names)]
    frame = element("rect", x=left + 0.5, y=TOP, width=SIDE - 1, height=SIDE, class_="hush-frame")
    return join(element("text", title, x=left, y=14), frame, marks)


def _scale(table: Table, name: str) -> tuple[float, float]:
    """The declared bounds; of coordinates that a recipe made up, those of the values."""
    if name in ("x", "y"):
        return 0.0, 10.0
    values = table.floats(name)
    return float(np.nanmin(values)), float(np.nanmax(values))


def _cells(table: Table, names: list[str]) -> list[tuple[tuple[tuple[Span, ...], str], int]]:
    """From where to where rows reach along both axes, and their group: each place with its number of rows."""
    spans = [_spans(table, name) for name in names]
    groups = table.strings("group") if "group" in table.schema else np.full(table.rows, None)
    seen = Counter((tuple(span[i] for span in spans), str(groups[i] or "*")) for i in range(table.rows))
    return sorted(seen.items())


def _spans(table: Table, name: str) -> list[Span]:
    """For each row the values it may stand for; a cell that says nothing reaches everywhere."""
    column, low_high = table.schema[name], _scale(table, name)
    if not isinstance(column.domain, Cells):
        return [low_high if np.isnan(v) else (float(v), float(v)) for v in table.floats(name)]
    reach = [cell.span for cell in column.domain.cells]
    ends = [(max(s.low, low_high[0]), min(s.high, low_high[1])) if isinstance(s, Interval) else low_high for s in reach]
    return [ends[code] if code >= 0 else low_high for code in table[name].astype(int)]


def _mark(spans: tuple[Span, ...], group: str, count: int, left: float, scales: list[Span]) -> Html:
    (x0, x1), (y0, y1) = [
        tuple((end - low) / ((high - low) or 1.0) for end in span) for span, (low, high) in zip(spans, scales, strict=True)
    ]
    inner = SIDE - 12
    at, to = left + 6 + x0 * inner, left + 6 + x1 * inner
    top, bottom = TOP + 6 + (1 - y1) * inner, TOP + 6 + (1 - y0) * inner
    kind = f"hush-{group if group in GROUPS else 'any'}"
    if to - at < 0.5 and bottom - top < 0.5:
        return _point(at, top, min(count ** (1 / 3), 2.6), group, kind)
    return element("rect", x=at - 1, y=top - 1, width=to - at + 2, height=bottom - top + 2, class_=f"hush-box {kind}")


def _point(x: float, y: float, size: float, group: str, kind: str) -> Html:
    """A circle, a square or a triangle: groups differ in shape first, in colour second. Larger where rows fall together."""
    if group == "b":
        return element("rect", x=x - 2.2 * size, y=y - 2.2 * size, width=4.4 * size, height=4.4 * size, class_=kind)
    if group == "c":
        across, up = 2.8 * size, 5 * size
        return element("path", d=f"M{x:.1f} {y - 0.6 * up:.1f}l{across:.1f} {up:.1f}h{-2 * across:.1f}z", class_=kind)
    return element("circle", cx=x, cy=y, r=2.4 * size, class_=kind)
