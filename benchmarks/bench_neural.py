"""neural: our networks, with and without refinement, beside mostlyai-engine and ctgan: speed, memory, quality, and what it leaks.

Every release is made in a process of its own, with one thread, so that CPU seconds and memory are its alone.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import hushtable as ht
from benchmarks.generated import survey
from benchmarks.neural_measures import HEADS, Judged, judge, mean
from benchmarks.neural_peers import ARGN, CTGAN, GAN, MOSTLY, argn_peer, gan_peer
from benchmarks.peers import Peer, ratio
from benchmarks.peers import table as show
from hushtable.data import datasets
from hushtable.errors import InputError
from hushtable.pipeline import recipe as recipes
from hushtable.table import io
from hushtable.table.table import Table

OURS = """
import os
os.environ["OMP_NUM_THREADS"] = os.environ["NUMBA_NUM_THREADS"] = "1"
from pathlib import Path
import hushtable as ht
from hushtable.pipeline import recipe as recipes
from hushtable.table import io
data, schema, out, name, settings, seed = sys.argv[1:]
train, recipe = ht.read(data, schema), recipes.load(name)
# Libraries are imported and code is compiled before the clock starts, as for the peers.
ht.release(train.take(list(range(300))), recipe.quick(), seed=0, allow_copies="measured only")
start, wall = clock(), time.time()
made = ht.release(train, recipe, settings=json.loads(settings), seed=int(seed), allow_copies="measured only")
report(start, wall)
io.write(made.table, Path(out))
"""
ROWS = 30_000
SEEDS = 3
MINUTES = 8
"""The most that mostlyai-engine may train, by the clock on the wall; it stops early by itself."""
EPOCHS = 5
"""Of a comparison of one epoch of CTGAN with another."""


@dataclass(frozen=True)
class Way:
    """One of our recipes with some knobs, and how many releases of it are made."""

    recipe: str
    settings: Mapping[str, str]
    seeds: int = SEEDS


WAYS = {
    "sequential, not refined": Way("sequential", {"refine": "0"}),
    "sequential": Way("sequential", {}),
    "argn, not refined": Way("argn", {"refine": "0"}),
    "argn": Way("argn", {}),
    "realtabformer": Way("realtabformer", {}, 1),
    "tabddpm": Way("tabddpm", {}, 1),
    "tvae": Way("tvae", {}, 1),
    "ctgan": Way("ctgan", {}, 1),
}


def tables() -> list[tuple[str, Table]]:
    """Two real ones where they are at hand, and a survey that everybody has."""
    found = []
    for name in ("adult", "credit_card_default"):
        try:
            found.append((name, datasets.load(name)))
        except InputError:
            print(f"neural: {name} is not at hand")
    return [*found, ("survey", survey(40_000))]


def split(people: Table) -> tuple[Table, Table]:
    """Training rows and held-out people."""
    people = people.select(people.schema.released)
    order = np.random.default_rng(20261115).permutation(people.rows)
    held = people.rows // 4
    return people.take(order[held:][:ROWS]), people.take(order[:held])


def measured(
    found: dict[str, float | str], path: Path, train: Table, control: Table
) -> tuple[dict[str, float | str], Judged | None]:
    """What a run reported, and how its release is judged, if it made one."""
    if "note" in found or not path.is_file():
        return found, None
    try:
        released, _ = ht.read_release(path, train.schema)
    except InputError as error:
        return {"note": f"made no table of this schema: {str(error).splitlines()[0][:100]}"}, None
    return found, judge(train, released, control)


def line(name: str, runs: list[tuple[dict[str, float | str], Judged | None]]) -> list[object]:
    """Means over the runs, or why there are none."""
    judged = [one for _, one in runs if one is not None]
    if not judged:
        return [name, runs[0][0].get("note", "made no release"), *[""] * (len(HEADS) + 1)]
    cost = [float(np.mean([float(found[key]) for found, one in runs if one is not None])) for key in ("cpu", "mb")]
    return [f"{name} ({len(judged)})", f"{cost[0]:.0f}", f"{cost[1]:.0f}", *mean(judged).cells()]


def main(folder: Path) -> None:
    ours, argn, gan = Peer(Path(sys.prefix)), argn_peer(folder / "mostly"), gan_peer(folder / "ctgan")
    for name, people in tables():
        train, control = split(people)
        data, schema = folder / f"{name}.csv", folder / f"{name}.yaml"
        io.write(train, data)
        schema.write_text(train.schema.dump(), encoding="utf-8")
        half = np.arange(control.rows // 2)
        fresh = judge(train, control.take(half), control.take(half + len(half)))
        rows: list[list[object]] = [["fresh rows", "", "", *fresh.cells()]]
        for way, how in WAYS.items():
            if how.recipe in recipes.names():
                rows.append(line(way, [_ours(ours, how, seed, (data, schema), train, control) for seed in range(how.seeds)]))
        out, coded = folder / f"{name}-peer.csv", ",".join(c.name for c in train.schema if not c.numeric)
        rows.append(line(MOSTLY, [measured(argn.run(ARGN, data, out, 0, MINUTES, coded, timeout=3600), out, train, control)]))
        out.unlink(missing_ok=True)
        quick = gan.run(GAN, data, out, 0, EPOCHS, coded, timeout=3600)
        rows.append(line(f"{CTGAN}, {EPOCHS} epochs", [measured(quick, out, train, control)]))
        out.unlink(missing_ok=True)
        title = f"neural: {name}, {train.rows:,} training rows; the number of releases is in brackets"
        show(title, ["release", "CPU s", "MB", *HEADS], rows)
        if "ctgan" in recipes.names():
            _epochs(ours, quick, folder, (data, schema))


def _ours(
    peer: Peer, how: Way, seed: int, files: tuple[Path, Path], train: Table, control: Table
) -> tuple[dict[str, float | str], Judged | None]:
    out = files[0].with_suffix(".released.csv")
    found = peer.run(OURS, *files, out, how.recipe, json.dumps(dict(how.settings)), seed, timeout=7200)
    result = measured(found, out, train, control)
    out.unlink(missing_ok=True)
    return result


def _epochs(peer: Peer, theirs: dict[str, float | str], folder: Path, files: tuple[Path, Path]) -> None:
    """An epoch of CTGAN: ours by the difference of two runs, so that coding and drawing are not counted; theirs with coding."""
    cpu = {}
    for epochs in (1, 1 + EPOCHS):
        settings = json.dumps({"epochs": str(epochs), "refine": "0"})
        cpu[epochs] = peer.run(OURS, *files, folder / "epochs.csv", "ctgan", settings, 0, timeout=3600)
    if any("note" in found for found in cpu.values()):
        print(f"neural: an epoch of ctgan: {cpu}")
        return
    epoch = (float(cpu[1 + EPOCHS]["cpu"]) - float(cpu[1]["cpu"])) / EPOCHS
    show("neural: an epoch of CTGAN", ["", "CPU s"], [["ours", epoch], [CTGAN, theirs.get("epoch", theirs.get("note", ""))]])
    print(f"theirs is {ratio(theirs, epoch, 'epoch')} ours")
