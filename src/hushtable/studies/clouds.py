"""What generators learn of point clouds: the distribution-learning pictures of Garg 2025, repeated, with numbers under each.

An S-curve, a Swiss roll, blobs, circles, half circles and the places of handwritten digits are drawn from by each generator.
What it draws stands beside fresh points: a Wasserstein distance, a discrepancy, and the share that lies off the shape. Surfaces are
also unfolded by UMAP, learnt there by a VAE and led back; and points are injected, to see which of them come back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from hushtable.api.store import Result
from hushtable.errors import InputError
from hushtable.report.words import number
from hushtable.studies.clouds_cells import GENERATORS, INJECTED, PAIRED, cell, injected, unfolded
from hushtable.studies.clouds_sections import ATTACKED, METHODS, PUBLISHED, TITLES, by_umap, mean, memory, shapes
from hushtable.studies.clouds_sets import MNIST, SETS, mnist_file
from hushtable.studies.clouds_statements import Cells, Returned, shape_statements
from hushtable.studies.report import Report, refusals
from hushtable.studies.study import Scope, Study, Task, Work

POINTS, QUICK = 4000, 1000
INVERTED, QUICK_INVERTED = 500, 300
"""Places that are led back to a surface."""
LED, QUICK_LED = 60, 24
"""Images that are led back."""
SOURCE = "S. Garg, Bridging AI and Privacy, thesis, Umea University 2025, section 4.8, figures 4.3 to 4.10"


def plan(scope: Scope) -> Work:
    """All sets, generators and runs; the digits only where they are at hand."""
    points, runs = QUICK if scope.quick else POINTS, scope.runs or (1 if scope.quick else 3)
    path, skipped = _digits(scope.data)
    names = [*SETS, *([MNIST] if path else [])]
    tasks = [
        *_cells(names, points, runs, path, quick=scope.quick),
        *_unfolded(names, points, runs, path, quick=scope.quick),
        *_injected(points, runs, quick=scope.quick),
    ]
    knobs = [(one.recipe, dict(one.knobs), dict(one.quick) if scope.quick else {}) for one in GENERATORS.values()]
    size = path.stat().st_size if path else 0
    return Work(
        tasks=tasks,
        report=partial(report, names=names, runs=runs, points=points, quick=scope.quick, skipped=skipped),
        identity=("point-clouds", points, knobs, size),
    )


STUDY = Study(name="point-clouds", title="What generators learn of point clouds", source=SOURCE, plan=plan)


def _digits(folder: Path | None) -> tuple[Path | None, tuple[str, ...]]:
    try:
        return mnist_file(folder).resolve(), ()
    except InputError as error:
        return None, (str(error),)


def _cells(names: Sequence[str], points: int, runs: int, path: Path | None, *, quick: bool) -> Iterator[Task]:
    for name in names:
        for generator, title in METHODS.items():
            for run in range(runs):
                make = partial(cell, name, generator, run, points, path if name == MNIST else None, quick=quick)
                cost = GENERATORS[generator].cost if generator in GENERATORS else 0.5
                yield Task(name=f"{name}-{generator}-{run}", title=f"{TITLES[name]}: {title}", make=make, cost=cost)


def _unfolded(names: Sequence[str], points: int, runs: int, path: Path | None, *, quick: bool) -> Iterator[Task]:
    for name in names:
        if name != MNIST and SETS[name].coloured is None:
            continue
        count = (QUICK_LED if quick else LED) if name == MNIST else (QUICK_INVERTED if quick else INVERTED)
        for run in range(runs):
            make = partial(unfolded, name, run, points, count, path if name == MNIST else None, quick=quick)
            yield Task(name=f"umap-{name}-{run}", title=f"{TITLES[name]}: UMAP and back", make=make, cost=60)


def _injected(points: int, runs: int, *, quick: bool) -> Iterator[Task]:
    for kind, words in INJECTED.items():
        for generator in ATTACKED:
            for run in range(runs):
                make = partial(injected, kind, generator, run, points, quick=quick)
                title = f"{words}: {METHODS[generator]}"
                yield Task(name=f"{kind}-{generator}-{run}", title=title, make=make, cost=GENERATORS[generator].cost)


def report(
    results: Mapping[str, Result], *, names: Sequence[str], runs: int, points: int, quick: bool, skipped: tuple[str, ...]
) -> Report:
    """Pictures and numbers of all that was made."""

    def found(task: str) -> list[Result]:
        each = [results.get(f"{task}-{run}", {"refused": ""}) for run in range(runs)]
        return [one for one in each if "refused" not in one]

    made: Cells = {(name, generator): found(f"{name}-{generator}") for name in names for generator in METHODS}
    back = {name: found(f"umap-{name}") for name in names}
    returned: Returned = {(kind, generator): found(f"{kind}-{generator}") for kind in INJECTED for generator in ATTACKED}
    size = f"{points:,} points of each set, " + ("one run" if runs == 1 else f"{runs} runs")
    note = f"Quick: {size}, a third of the usual epochs." if quick else f"{size}, recipes as they are."
    said = shape_statements(made, [name for name in names if name != MNIST], digits=MNIST in names)
    return Report(
        title=STUDY.title,
        source=SOURCE,
        lead=_lead(made, names, size, quick=quick),
        sections=tuple(one for one in (shapes(made, names, note, said), by_umap(back, note), memory(returned, note)) if one.parts),
        notes=_notes(made, names),
        skipped=(*skipped, *refusals(results)),
    )


def _lead(made: Cells, names: Sequence[str], size: str, *, quick: bool) -> str:
    sets = [name for name in names if name != MNIST]
    nearer = 0
    for name in sets:
        ours = mean(made[name, "vae"], "wasserstein")
        theirs = [mean(made[name, other], "wasserstein") for other in PUBLISHED[1:]]
        nearer += ours is not None and all(other is not None and ours < other for other in theirs)
    return (
        f"Each generator learns from {size}{', with a third of its epochs' if quick else ''}; what it draws is compared with fresh "
        f"points. Without refinement the VAE lies nearer to them than every GAN on {nearer} of the {len(sets)} sets that are "
        "generated. Numbers under a panel: W, the Wasserstein distance; MMD, the discrepancy; off, the share off the shape."
    )


def _notes(made: Cells, names: Sequence[str]) -> tuple[str, ...]:
    changes = []
    for generator in ("vae", "argn"):
        pairs = [
            (mean(made[name, generator], "wasserstein"), mean(made[name, f"{generator}-refined"], "wasserstein")) for name in names
        ]
        known = np.array([pair for pair in pairs if None not in pair], float)
        if len(known):
            before, after = known.mean(axis=0)
            changes.append(f"{METHODS[generator]} {number(before)} to {number(after)}")
    refining = f" It changes the mean Wasserstein distance of {' and of '.join(changes)}." if changes else ""
    return (
        "Networks are shown as they draw (refine 0). The recipes weigh draws by boosted trees that know the points, which is what "
        f"would be released.{refining}",
        f"The Wasserstein distance is exact, of order 1: {PAIRED:,} points of each side are paired so that the mean way is least. "
        "It and the discrepancy are in standard deviations of the real points, and against points that no generator "
        "saw; the row of fresh points says how far those that it was trained on lie from them.",
        "A drawn point is off the shape if it is farther from all fresh points than 99 of 100 real ones are.",
        "The source prints pictures and no numbers, and neither sizes of networks nor epochs; our learning rates are those of the "
        "recipes, not its 0.0001. DPGAN is as published: its epsilon of 1 is claimed, not proven.",
        "UMAP that was fitted to images of 784 pixels cannot place points of 4 columns, as the source says it did: here each set "
        "has its own.",
    )
