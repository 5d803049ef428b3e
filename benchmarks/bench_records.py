"""records: every private recipe at several epsilons on several tables, beside the numbers of the previous version.

``python benchmarks/run.py records --recipes aim,mst --tables adult --epsilons 1 --rows 4000``. Each finished cell is one line of
``build/records/cells.jsonl``, and is not run again unless the sources change that releases are made of. ``--save`` keeps the
numbers in ``records.json``, which later versions are held against: a cell that lost more than noise is named.

A cell lost where AUC, the k-marginal score, that of the worst group or (upwards) the mean TVD is worse by more than 2.6 standard
errors of a difference of two means, and by more than ``LEAST``. The deviation between seeds is that of the recipe at this epsilon
where some table has several seeds, else the median over recipes, else ``SPREAD``. A few of a hundred numbers that did not change
are named too: look for cells that lose together, and run them with more seeds (``--seeds 5``).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import resource
import signal
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy as np

import hushtable as ht
from benchmarks import generated
from benchmarks.peers import table as show
from hushtable.data import datasets
from hushtable.errors import HushError, InputError
from hushtable.evidence.case import Case
from hushtable.measures.downstream import task_of
from hushtable.measures.downstream_models import predictions
from hushtable.measures.kmarginal import KMarginal
from hushtable.measures.margins import MarginDistances
from hushtable.measures.prediction_scores import scores_of
from hushtable.pipeline import recipe
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.unit import Unit
from hushtable.table.columns import Role
from hushtable.table.table import Table

HERE = Path(__file__).resolve().parent
PREVIOUS = HERE / "records.json"
EPSILONS, DELTA = (1.0, 10.0, 0.1, 3.0), 1e-5
ROWS, LIMIT = 8_000, 300
FIRST = (
    "best", "privsyn", "aim", "mst", "privbayes", "mwem", "field-groups", "dp-merf", "clustmix-certified", "dpcopula-marginals",
    "dpcopula-kendall", "independent", "vine-certified", "thresholded",
)  # fmt: skip
"""The order of the recipes; the others follow."""
REAL = "real rows"
"""The training rows in place of a release: what no recipe exceeds but by chance."""
BY = {"adult": "race", "texas": "race", "card": "education", "sd2011": "region"}
FILES = {"adult": "adult", "texas": "texas_inpatient", "card": "credit_card_default", "sd2011": "sd2011"}
GENERATED = {"survey24": 24, "survey40": 40}
DETERMINED = {"adult": {"education_num": "education"}, **dict.fromkeys(GENERATED, generated.DETERMINED)}
NUMBERS = {"auc": 1, "score": 1, "worst": 1, "tvd": -1}
"""What is held against the previous version, and which way is good."""
SPREAD = {"auc": 0.01, "score": 3.0, "worst": 10.0, "tvd": 0.002}
"""The standard deviation between seeds where it is not known."""
LEAST = {"auc": 0.004, "score": 1.5, "worst": 5.0, "tvd": 0.001}
"""Smaller differences matter to nobody."""
SURE = 2.6
ROOMS = ("table", "privacy", "numerics", "pipeline", "encode", "anonymize", "synthesize", "recipes")
"""The packages that decide what a release is."""


@dataclass(frozen=True)
class Cell:
    """One release to make and to measure."""

    table: str
    recipe: str
    epsilon: float
    seed: int
    rows: int


def main(folder: Path, options: Sequence[str] = ()) -> None:
    chosen = _options(options)
    chosen.out.mkdir(parents=True, exist_ok=True)
    path, sources = chosen.out / "cells.jsonl", _digest()
    # A cell that was stopped is tried again where it may take longer, one that broke off always.
    done = {
        cell: numbers for own, cell, numbers in _read(path) if own == sources and numbers.get("limit", chosen.limit) >= chosen.limit
    }
    present = [name for name in chosen.tables if _split(name, chosen.rows) is not None]
    for name in sorted(set(chosen.tables) - set(present)):
        print(f"{name} is not here: set HUSHTABLE_DATA to the folder that holds it")
    for cell in _cells(chosen, present):
        if cell not in done:
            done[cell] = _limited(cell, chosen.limit)
            with path.open("a", encoding="utf-8") as file:
                # The line break comes first: the last line may have been cut off when a run was stopped.
                file.write("\n" + json.dumps({"sources": sources, **asdict(cell), **done[cell]}))
            print(f"{cell.table}, {cell.recipe}, epsilon {cell.epsilon:g}, seed {cell.seed}: {_line(done[cell])}", flush=True)
    wanted = set(_cells(chosen, present))
    report({cell: numbers for cell, numbers in done.items() if cell in wanted})
    if chosen.save:
        save(done)


def _options(given: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run.py records", description=__doc__.splitlines()[0])
    proven = [name for name in recipe.names() if recipe.load(name).assurance is Assurance.PROVEN]
    ordered = [*(name for name in FIRST if name in proven), *(name for name in proven if name not in FIRST)]
    parser.add_argument("--recipes", type=_names, default=ordered, help="some of the private recipes, by comma")
    parser.add_argument("--tables", type=_names, default=[*FILES, *GENERATED], help="some of the tables, by comma")
    parser.add_argument("--epsilons", type=lambda text: [float(x) for x in text.split(",")], default=list(EPSILONS))
    parser.add_argument("--rows", type=int, default=ROWS, help="training rows at most")
    parser.add_argument("--seeds", type=int, default=1, help="releases of each cell")
    parser.add_argument("--limit", type=int, default=LIMIT, help="CPU seconds after which a cell is stopped")
    parser.add_argument("--out", type=Path, default=HERE.parent / "build" / "records", help="where finished cells are kept")
    parser.add_argument("--save", action="store_true", help=f"keep the numbers in {PREVIOUS.name}")
    chosen = parser.parse_args(given)
    unknown = [*(set(chosen.recipes) - set(recipe.names())), *(set(chosen.tables) - {*FILES, *GENERATED})]
    if unknown:
        parser.error(f"not known: {', '.join(sorted(unknown))}")
    return chosen


def _names(text: str) -> list[str]:
    return text.split(",")


def _cells(chosen: argparse.Namespace, tables: Iterable[str]) -> Iterator[Cell]:
    """The real rows, then recipe by recipe, the most important first."""
    tables = list(tables)
    for table in tables:
        yield Cell(table, REAL, 0.0, 0, chosen.rows)
    for seed in range(chosen.seeds):
        for name in chosen.recipes:
            for epsilon in chosen.epsilons:
                for table in tables:
                    yield Cell(table, name, epsilon, seed, chosen.rows)


@cache
def _split(name: str, rows: int) -> tuple[Table, Table] | None:
    """Training and control rows; None where the table is not to be had. Domains are taken for public knowledge."""
    if name in GENERATED:
        table = generated.with_lists(generated.survey(2 * rows, GENERATED[name]))
    else:
        try:
            table = datasets.load(FILES[name])
        except InputError:
            return None
        table = table.select(table.schema.released).declared("benchmark")
    order = np.random.default_rng(20261117).permutation(table.rows)
    held = min(table.rows // 4, 2 * rows)
    return table.take(order[held:][:rows]), table.take(order[:held])


def _limited(cell: Cell, limit: int) -> dict[str, object]:
    """The numbers of a cell, made in a child that is stopped after so many CPU seconds; or a note that says why there are none."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(cell, limit, theirs))
    child.start()
    theirs.close()
    try:
        numbers: dict[str, object] = ours.recv()
    except EOFError:
        child.join()
        stopped = child.exitcode in (-signal.SIGXCPU, -signal.SIGKILL)
        why = f"stopped after {limit} CPU s" if stopped else f"ended with {child.exitcode}"
        numbers = {"note": why, "limit": limit if stopped else 0}
    child.join()
    return numbers


def _child(cell: Cell, limit: int, pipe: multiprocessing.connection.Connection) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    pipe.send(measured(cell))
    pipe.close()


def measured(cell: Cell) -> dict[str, object]:
    """Make the release and measure it."""
    split = _split(cell.table, cell.rows)
    assert split is not None
    train, control = split
    start = time.process_time()
    try:
        release = train if cell.recipe == REAL else _release(cell, train)
    except HushError as error:
        return {"note": f"refused: {str(error).splitlines()[0][:160]}", "cpu": round(time.process_time() - start, 2)}
    cpu = time.process_time() - start
    case, rng = Case(train, release, control), np.random.default_rng(0)
    by = BY.get(cell.table, generated.BY)
    score, worst = KMarginal(by=by).run(case, rng)[:2]
    return {
        "auc": _rounded(auc(case)), "score": _rounded(score.value, 2), "ceiling": _rounded(score.baseline, 2),
        "worst": _rounded(worst.value, 2), "tvd": _rounded(MarginDistances().run(case, rng)[0].value, 5),
        "broken": _rounded(generated.broken(release, DETERMINED.get(cell.table, {}), train)), "cpu": round(cpu, 2),
    }  # fmt: skip


def _release(cell: Cell, train: Table) -> Table:
    """Whatever protects one record is measured, whether it is added or replaced."""
    unit = Unit(relation=recipe.load(cell.recipe).relation)
    return ht.release(train, cell.recipe, epsilon=cell.epsilon, delta=DELTA, unit=unit, seed=cell.seed).table


def auc(case: Case) -> float | None:
    """Of boosting that learnt the target from the release; None where there is nothing to learn from."""
    (target,) = (column.name for column in case.train.schema if column.role is Role.TARGET)
    task = task_of(case, target)
    if task.reason:
        return None
    learnt = predictions("boosting", task.rows["release"], task.test, task.shape)
    return float(scores_of(task.truth, learnt, classes=True)["AUC"](np.ones(len(task.truth))))


def report(done: Mapping[Cell, Mapping[str, object]]) -> None:
    """A table of what was measured, each number with its difference to the previous version, and a line for each loss."""
    previous = json.loads(PREVIOUS.read_text(encoding="utf-8")) if PREVIOUS.is_file() else {"version": "none", "cells": []}
    old = {_key(line): line for line in previous["cells"]}
    means = _means(done)
    rows = [[*key[:2], f"{key[2]:g}", *_shown(line, old.get(key))] for key, line in means.items()]
    head = ["table", "recipe", "epsilon", "AUC", "k-marginal", "ceiling", "worst group", "mean TVD", "broken", "CPU s"]
    show(f"records: in brackets the difference to version {previous['version']}", head, rows)
    lost = list(_lost(means, old))
    print(f"\n{len(lost)} numbers of {len(set(means) & set(old))} cells lost more than noise against version {previous['version']}")
    for line in lost:
        print(line)


def _shown(line: Mapping[str, object], before: Mapping[str, object] | None) -> list[str]:
    if "note" in line:
        return [str(line["note"]), *[""] * 6]
    digits = {"auc": 4, "score": 1, "ceiling": 1, "worst": 1, "tvd": 4, "broken": 3, "cpu": 1}
    cells = []
    for name, count in digits.items():
        value, earlier = line.get(name), (before or {}).get(name)
        text = "" if value is None else f"{value:.{count}f}"
        both = isinstance(value, float) and isinstance(earlier, float) and name in (*NUMBERS, "cpu")
        cells.append(f"{text} ({value - earlier:+.{count}f})" if both else text)
    return cells


def _means(done: Mapping[Cell, Mapping[str, object]]) -> dict[tuple[str, str, float, int], dict[str, object]]:
    """By table, recipe, epsilon and rows: the mean over seeds and, where there are several, the deviation between them."""
    seeds: dict[tuple[str, str, float, int], list[Mapping[str, object]]] = {}
    for cell, numbers in done.items():
        seeds.setdefault((cell.table, cell.recipe, cell.epsilon, cell.rows), []).append(numbers)
    means: dict[tuple[str, str, float, int], dict[str, object]] = {}
    for key, lines in seeds.items():
        held = [line for line in lines if "note" not in line]
        if not held:
            means[key] = {"note": lines[0]["note"]}
            continue
        means[key] = {"seeds": len(held)}
        for name in ("auc", "score", "ceiling", "worst", "tvd", "broken", "cpu"):
            values = [float(line[name]) for line in held if line.get(name) is not None]
            if values:
                means[key][name] = float(round(np.mean(values), 5))
            if len(values) > 1 and name in NUMBERS:
                means[key][f"{name} sd"] = float(round(np.std(values, ddof=1), 5))
    return means


def _lost(means: Mapping[tuple, Mapping[str, object]], old: Mapping[tuple, Mapping[str, object]]) -> Iterator[str]:
    for key, line in means.items():
        before = old.get(key)
        if before is None or "note" in before:
            continue
        if "note" in line:
            yield f"{key[0]}, {key[1]}, epsilon {key[2]:g}: {line['note']}"
            continue
        for name, way in NUMBERS.items():
            if name not in line or name not in before:
                continue
            sd = _spread(name, key, [*means.items(), *old.items()])
            error = sd * np.sqrt(1 / line["seeds"] + 1 / before["seeds"])
            allowed = max(LEAST[name], SURE * error)
            if way * (before[name] - line[name]) > allowed:
                what = f"{name} {before[name]:g} before, {line[name]:g} now; {allowed:.3g} would have been noise"
                yield f"{key[0]}, {key[1]}, epsilon {key[2]:g}: {what}"


def _spread(name: str, key: tuple, lines: Iterable[tuple[tuple, Mapping[str, object]]]) -> float:
    """The deviation between seeds of a recipe at an epsilon, over the tables for which it is known; else of any recipe."""
    known = [(other[1], float(line[f"{name} sd"])) for other, line in lines if other[2] == key[2] and f"{name} sd" in line]
    if own := [sd for recipe, sd in known if recipe == key[1]]:
        return float(np.sqrt(np.mean(np.square(own))))
    return float(np.median([sd for _, sd in known])) if len(known) >= 3 else SPREAD[name]


def save(done: Mapping[Cell, Mapping[str, object]]) -> None:
    """Keep the means as what later versions are held against."""
    cells = [
        {"table": key[0], "recipe": key[1], "epsilon": key[2], "rows": key[3], **line} for key, line in sorted(_means(done).items())
    ]
    lines = ",\n".join(f"  {json.dumps(cell)}" for cell in cells)
    PREVIOUS.write_text(f'{{"version": "{ht.__version__}", "cells": [\n{lines}\n]}}\n', encoding="utf-8")


def _read(path: Path) -> Iterator[tuple[str, Cell, dict[str, object]]]:
    """Finished cells; a line that was cut off is none."""
    for text in path.read_text(encoding="utf-8").splitlines() if path.is_file() else []:
        if text.endswith("}"):
            line = json.loads(text)
            cell = Cell(*(line.pop(name) for name in ("table", "recipe", "epsilon", "seed", "rows")))
            yield line.pop("sources"), cell, line


def _key(line: Mapping[str, object]) -> tuple[str, str, float, int]:
    return str(line["table"]), str(line["recipe"]), float(line["epsilon"]), int(line["rows"])


def _line(numbers: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in numbers.items())


def _digest() -> str:
    """Of the sources that releases are made of: a change makes every cell new."""
    root, total = Path(ht.__file__).parent, hashlib.sha256()
    for path in sorted(p for room in ROOMS for p in (root / room).rglob("*") if p.suffix in (".py", ".yaml")):
        total.update(path.read_bytes())
    return total.hexdigest()[:16]


def _rounded(value: float | None, digits: int = 4) -> float | None:
    return None if value is None else round(value, digits)
