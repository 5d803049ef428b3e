"""The sections of the study of point clouds: pictures, what the source says, and numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from hushtable.api.store import Result
from hushtable.evidence.confidence import Rate, clopper_pearson
from hushtable.evidence.finding import Better
from hushtable.report.html import Html
from hushtable.report.words import number, share
from hushtable.studies.clouds_cells import FRESH, GENERATORS, INJECTED, LINE
from hushtable.studies.clouds_drawing import DIGITS, MARKED, POSITIONS, Panel, Row, images, multiples
from hushtable.studies.clouds_sets import MNIST, SETS
from hushtable.studies.clouds_statements import Cells, Pooled, Returned, memory_statements, pooled, umap_statements
from hushtable.studies.report import Figure, Grid, Number, Numbers, Part, Section, Statements, over_runs

TITLES = {name: one.title for name, one in SETS.items()} | {MNIST: "MNIST, in the places of UMAP"}
METHODS = {FRESH: "fresh points"} | {name: one.title for name, one in GENERATORS.items()}
PUBLISHED = ("vae", "gan", "dcgan", "ctgan", "dpgan")
"""The generators of the source."""
OURS = ("vae-refined", "argn", "argn-refined", "trees")
ATTACKED = ("vae", "gan", "dcgan", "ctgan", "dpgan", "argn", "trees")
"""Those into whose points others are injected."""
MEASURES = {
    "wasserstein": "Wasserstein distance from fresh points",
    "mmd": "maximum mean discrepancy from fresh points",
    "off": "share off the shape",
}


def mean(cells: Sequence[Result], measure: str) -> float | None:
    """Over runs."""
    return over_runs([one[measure] for one in cells])[0]


def shapes(made: Cells, names: Sequence[str], note: str, said: Statements) -> Section:
    """Pictures of all sets, and how far from fresh points they are."""
    figures = (
        Figure(
            name="point-clouds",
            title="Point sets and what the generators of the source draw",
            caption="Colour: position on the surface, or, for MNIST, the digit of the nearest real point. Both axes are the same "
            "in all panels of a row; surfaces are seen from the side.",
            drawn=_multiples(made, names, (FRESH, *PUBLISHED)),
        ),
        Figure(
            name="point-clouds-ours",
            title="The same with refinement, and by our networks and trees",
            caption="ARGN is the autoregressive network; trees are sequential ones. Refined: as their recipes release them.",
            drawn=_multiples(made, names, (FRESH, *OURS)),
        ),
    )
    tables = tuple(
        Numbers(title=title[0].upper() + title[1:], note=note, numbers=tuple(_numbers(made, names, measure)))
        for measure, title in MEASURES.items()
    )
    lead = "Five sets of points that can be seen whole, and one of images that cannot."
    return Section(
        title="Shapes",
        lead=lead,
        parts=(figures[0], *([said] if said.statements else []), figures[1], *tables, _seconds(made, names, note)),
    )


def _numbers(made: Cells, names: Sequence[str], measure: str) -> Iterator[Number]:
    for name in names:
        for generator, title in METHODS.items():
            values = [one[measure] for one in made[name, generator]]
            named: dict[str, Any] = {"data": TITLES[name], "method": title, "measure": MEASURES[measure], "better": Better.LOWER}
            if values:
                yield Number.over(values, **named)
            else:
                yield Number(**named, why_not="it was refused")


def _seconds(made: Cells, names: Sequence[str], note: str) -> Grid:
    rows = []
    for generator in GENERATORS:
        values = [one["seconds"] for name in names for one in made[name, generator]]
        if values:
            rows.append((METHODS[generator], str(len(values)), number(float(np.mean(values))), number(float(np.sum(values)))))
    heads = ("generator", "trainings", "processor seconds each", "in all")
    return Grid(title="What training and drawing take", heads=heads, rows=tuple(rows), note=note)


def _multiples(made: Cells, names: Sequence[str], columns: Sequence[str]) -> Html:
    rows = []
    for name in names:
        panels = [_panel(made[name, generator], "real" if generator == FRESH else METHODS[generator]) for generator in columns]
        rows.append(Row(TITLES[name], panels, DIGITS if name == MNIST else POSITIONS))
    titles = ", ".join(METHODS[generator] for generator in columns)
    return multiples(rows, len(columns), f"Points of {', '.join(TITLES[name] for name in names)}: {titles}")


def _panel(cells: Sequence[Result], name: str) -> Panel:
    if not cells:
        return Panel(name, None, ("refused",))
    far, kernel, off = (mean(cells, measure) or 0.0 for measure in MEASURES)
    hover = f"{name}: Wasserstein distance {number(far)}, discrepancy {number(kernel)}, off the shape {share(off)}"
    return Panel(name, cells[0].get("points"), (f"W {far:.2f}", f"MMD {kernel:.3f}", f"off {100 * off:.0f} %"), hover)


WAYS = {"floor": "fresh points", "returned": "real places, led back", "drawn": "places of the VAE, led back"}
STATIONS = {"real": "real", "places": "by UMAP", "vae": "VAE there", "back": "led back"}


def by_umap(back: Mapping[str, Sequence[Result]], note: str) -> Section:
    """Surfaces and digits unfolded by UMAP, learnt there, and led back."""
    surfaces = {name: runs for name, runs in back.items() if runs and name != MNIST}
    digits = back.get(MNIST, ())
    parts: list[Part] = []
    rows = [Row(TITLES[name], [Panel(t, picture(runs, key)) for key, t in STATIONS.items()]) for name, runs in surfaces.items()]
    if rows:
        drawn = multiples(rows, 4, f"UMAP of {', '.join(row.title for row in rows)}, a VAE of the places, and back")
        caption = "The way of the source: UMAP of a set, a VAE that learns the places, and the inverse of UMAP from there."
        parts.append(Figure(name="point-clouds-umap", title="Unfolded, learnt and led back", caption=caption, drawn=drawn))
    if digits:
        parts.append(_led(digits))
    if parts:
        parts.append(umap_statements(back, TITLES))
    if surfaces:
        numbers = tuple(one for name, runs in surfaces.items() for one in _ways(name, runs))
        parts.append(Numbers(title="Surfaces led back", note=f"{note} As many fresh points as are led back.", numbers=numbers))
    if digits:
        parts.append(Numbers(title="Digits led back", note=note, numbers=tuple(_led_numbers(digits))))
    lead = "What is lost on the way: of places of real points that are led back at once, and of those that a VAE draws."
    return Section(title="By UMAP and back", lead=lead, parts=tuple(parts))


def _ways(name: str, runs: Sequence[Result]) -> Iterator[Number]:
    for key, method in WAYS.items():
        for measure, words in MEASURES.items():
            values = [one[key][measure] for one in runs]
            yield Number.over(values, data=TITLES[name], method=method, measure=words, better=Better.LOWER)
        if key != "floor":
            values = [one[key]["spread"] for one in runs]
            yield Number.over(values, data=TITLES[name], method=method, measure="spread beside that of real points")


def _led(digits: Sequence[Result]) -> Figure:
    pairs = list(zip(picture(digits, "back") or (), picture(digits, "nearest") or (), strict=True))
    return Figure(
        name="point-clouds-digits",
        title="Digits from places that a VAE drew",
        caption="Above, images that the inverse of UMAP makes of places; below each, the real image that is nearest to it.",
        drawn=images(pairs, ("led back", "nearest real"), "Digits led back from UMAP"),
    )


def _led_numbers(digits: Sequence[Result]) -> Iterator[Number]:
    hits, count = (sum(one[key] for one in digits) for key in ("agree", "images"))
    named = {"data": MNIST, "measure": "nearest real image shows the digit of the place", "better": Better.HIGHER}
    yield _rate(clopper_pearson(hits, count), method="VAE, led back", **named)
    yield Number.over([one["agree_real"] for one in digits], method="real images", **named)
    measure = "way to the nearest real image, beside that between real ones"
    yield Number.over([one["way"] for one in digits], data=MNIST, method="VAE, led back", measure=measure)


def _rate(rate: Rate, **named: Any) -> Number:
    return Number(ours=rate.value, low=rate.low, high=rate.high, **named)


def memory(returned: Returned, note: str) -> Section:
    """Injected points: those that come back, beside those that were left out."""
    numbers = tuple(one for (kind, generator), runs in returned.items() if runs for one in _back(kind, generator, pooled(runs)))
    rows = []
    for kind, words in INJECTED.items():
        trained = next((real for generator in ATTACKED if (real := picture(returned[kind, generator], "real"))), None)
        panels = [Panel("trained on", trained), *(_returned(returned[kind, generator], generator) for generator in ATTACKED)]
        rows.append(Row(words, panels, MARKED))
    if not numbers:
        return Section(title="Injected points", parts=())
    figure = Figure(
        name="point-clouds-injected",
        title="Points that were injected into the S-curve, and what came back",
        caption="Red: nearer to an injected point than to any other that was learnt from. Under a panel: how many injected points "
        "come back, and how many of their like that were left out.",
        drawn=multiples(rows, 4, "Injected points: " + "; ".join(INJECTED.values())),
    )
    table = Numbers(
        title="Injected points that come back",
        note=f"{note} A point comes back if a released row is nearer than half of the way to the nearest real one. A fair coin "
        "decides which are injected; the way to the nearest released row is a share of the way to the nearest real one, to 0.05.",
        numbers=numbers,
    )
    lead = (
        f"Of {INJECTED[LINE]} a generator can learn the line; of a few, each on its own, only the point itself. Where those that "
        "were left out come back as often as those injected, nothing was memorized."
    )
    return Section(title="Injected points", lead=lead, parts=(figure, memory_statements(returned), table))


def _returned(runs: Sequence[Result], generator: str) -> Panel:
    if not runs:
        return Panel(METHODS[generator], None, ("refused",))
    sums = pooled(runs)
    lines = (f"back {100 * sums.inside.value:.0f} %", f"left out {100 * sums.outside.value:.0f} %")
    return Panel(METHODS[generator], picture(runs, "made"), lines)


def _back(kind: str, generator: str, sums: Pooled) -> Iterator[Number]:
    named: dict[str, Any] = {"data": INJECTED[kind], "method": METHODS[generator]}
    for which, rate, way in (("an injected", sums.inside, sums.way), ("a left-out", sums.outside, sums.other_way)):
        yield _rate(rate, **named, measure=f"{which} point comes back", better=Better.LOWER)
        measure = f"how near a released row comes to {which} point (median)"
        why = "" if way is not None else "fewer than half have a released row nearer than the nearest real one"
        yield Number(**named, measure=measure, ours=way, why_not=why)


def picture(runs: Sequence[Result], key: str) -> Any:
    """What was drawn in the first run; None if that was refused."""
    return next((one["pictures"][key] for one in runs if "pictures" in one), None)
