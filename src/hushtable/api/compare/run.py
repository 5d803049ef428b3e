"""Running a comparison: one split for all cells, cells side by side in processes, each kept as soon as it is done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from hushtable import __version__
from hushtable.api.best_of import payable
from hushtable.api.compare import search as searching
from hushtable.api.compare.advice import recommended
from hushtable.api.compare.caveats import Setting, provided
from hushtable.api.compare.cell import ATTACKED, Study, findings_of
from hushtable.api.compare.choice import Cell, chosen, front, judged, ranked
from hushtable.api.compare.comparison import Comparison, recipe_file
from hushtable.api.compare.constraint import Constraint, parsed
from hushtable.api.compare.grid import Trial, trials
from hushtable.api.compare.summary import Axis, baseline_of, summed, target_of
from hushtable.api.compare.workers import made
from hushtable.api.hold_out import hold_out as split
from hushtable.api.store import Store
from hushtable.display import Progress, silent
from hushtable.errors import Fault, HushError, InputError
from hushtable.measures import catalogue
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.recipe import Recipe
from hushtable.privacy.unit import Unit, default_delta
from hushtable.table.arguments import require_tables, several
from hushtable.table.columns import Kind
from hushtable.table.table import Table

GUESSES = {catalogue.AUC.name: 0.5, catalogue.R2.name: 0.0}
"""What guessing scores."""
FEWEST = 40
"""Rows without which nothing can be split, attacked and predicted."""


@dataclass(frozen=True, eq=False)
class _Bench:
    """A comparison at work."""

    study: Study
    axis: Axis
    constraints: list[Constraint]
    runs: int
    workers: int
    kept: Store
    progress: Progress
    finished: Callable[[Cell], None]
    observed: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def run(self, wanted: Sequence[Trial]) -> None:
        """Observe these trials, so many runs of each; what the folder holds is not made again."""
        tasks = [(trial, run) for run in range(self.runs) for trial in wanted]
        again: dict[str, dict[str, Any]] = {}
        todo = [(trial, run) for trial, run in tasks if not self.kept.has(_name(trial, run))]
        for task, observed, busy in made(todo, self.study, self.workers):
            if task is not None:
                name = _name(*task)
                if observed.get("again"):
                    again[name] = observed
                else:
                    self.kept.put(name, dict(observed))
                if task[1] == self.runs - 1:
                    self.finished(self.cell(task[0], again))
            left = sum(not self.kept.has(_name(*one)) and _name(*one) not in again for one in todo)
            self.progress(f"{left} left; at work: {', '.join(busy) or 'nothing'}", 1 - left / max(len(todo), 1))
        for trial in wanted:
            self.observed[trial.id] = self._runs(trial, again)

    def _runs(self, trial: Trial, again: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
        names = [_name(trial, run) for run in range(self.runs)]
        # What failed by accident is not in the folder, and is tried again next time.
        return [again[name] if name in again else self.kept.get(name) for name in names if name in again or self.kept.has(name)]

    def cell(self, trial: Trial, again: Mapping[str, dict[str, Any]] | None = None) -> Cell:
        """One cell, judged."""
        observed = self._runs(trial, again) if again is not None else self.observed[trial.id]
        return judged(summed(trial, observed, self.axis), [findings_of(one) for one in observed], self.constraints)

    def search(self, wanted: list[Trial]) -> tuple[list[Trial], list[dict[str, str]]]:
        """Halve the gap between what fits and what does not, all recipes side by side."""
        found = searching.searchable(wanted)
        for _ in range(searching.MOST):
            cells = {trial.id: self.cell(trial) for _, known in found.values() for trial in known}
            gaps = [searching.gap(knob, known, cells) for knob, known in found.values()]
            more = [middle for gap in gaps if gap is not None and (middle := gap.middle) is not None]
            if not more:
                break
            self.run(more)
            for trial in more:
                found[trial.recipe.recipe][1].append(trial)
        cells = {trial.id: self.cell(trial) for _, known in found.values() for trial in known}
        told = [searching.told(name, knob, known, cells) for name, (knob, known) in found.items()]
        return list({t.id: t for t in [*wanted, *(t for _, known in found.values() for t in known)]}.values()), told


def compare(
    table: Table,
    recipes: Sequence[str | Recipe] | str = "default",
    *,
    target: str = "",
    grid: Mapping[str, Iterable[object]] | None = None,
    epsilons: Sequence[float] = (),
    constraints: Sequence[str] = (),
    runs: int = 1,
    search: bool = False,
    hold_out: float = 0.25,
    person: str | None = None,
    rows_per_person: int = 1,
    workers: int = 1,
    rows: int | None = None,
    attacked: int = ATTACKED,
    only: Iterable[str] = (),
    public: bool = False,
    delta: float | None = None,
    seed: int = 0,
    folder: str | Path | None = None,
    named: Mapping[str, str] | None = None,
    progress: Progress = silent,
    finished: Callable[[Cell], None] = lambda cell: None,
) -> Comparison:
    """Release a table in many ways, attack and measure every release on the same held-out rows, and say which way to take.

    ``recipes`` are names, files or objects; ``default`` is a set that suits the schema. ``grid`` holds values by ``recipe.knob``,
    ``epsilons`` those of all differentially private recipes. ``constraints`` are conditions such as ``max_risk<0.05``; that no
    attack raises an alarm is asked for too, unless they name alarms. ``search`` looks for the last setting of each recipe that
    keeps them. ``public`` says that the rows are public or other people's, so that choosing by them is free. ``person`` is the key
    column that tells persons apart, of whom each lies on one side of the split and holds at most ``rows_per_person`` rows.
    ``attacked`` rows of each side are attacked at most, by the audits that ``only`` names (all but the costly ones when empty);
    measures of utility are always taken, and are not named there.

    With a folder every cell is kept as soon as it is done, and the same call goes on where one was stopped; other constraints,
    recipes or more runs use what is there. In a script, more than one worker needs ``if __name__ == "__main__":``.
    """
    start = time.perf_counter()
    require_tables(table=table)
    epsilons, constraints, only = several(epsilons), several(constraints), several(only)
    _checked(runs=runs, workers=workers, attacked=attacked, epsilons=epsilons)
    judges = parsed(list(constraints))
    used = _used(table, rows, seed)
    goal = target_of(used, target)
    wanted, notes = trials(used.schema, [recipes] if isinstance(recipes, (str, Recipe)) else recipes, grid or {}, epsilons)
    _person(used, person, rows_per_person)
    study = Study(
        *split(used, hold_out, seed, by=person), goal, seed, delta, attacked, tuple(only), person=person,
        rows_per_person=rows_per_person,
    )  # fmt: skip
    axis = Axis.of(used.schema, goal)
    kept = Store.open(Path(folder) if folder is not None else None, study.knobs, (study.train, study.control))
    bench = _Bench(study, axis, judges, runs, workers, kept, progress, finished)
    bench.run(wanted)
    found: list[dict[str, str]] = []
    if search:
        wanted, found = bench.search(wanted)
    cells = [bench.cell(trial) for trial in wanted]
    on_front = front(cells)
    cells = [provided(cell | {"front": cell["id"] in on_front}, public=public) for cell in cells]
    take, _ = chosen(cells)
    words = {"data": "DATA", "schema": "SCHEMA", "folder": str(folder or "DIR")} | dict(named or {})
    unit = next((study.unit(trial.recipe) for trial in wanted if take is not None and trial.id == take["id"]), Unit())
    setting = Setting(
        axis.label, public, **words, delta=delta, payable=_payable(study, wanted, unit),
        budgets=len({trial.epsilon for trial in wanted if trial.spends}), unit=unit,
        repeated="" if person is not None else _repeated(used), guess=GUESSES.get(axis.name), searched=search,
        capped=max(study.train.rows, study.control.rows) > attacked, runs=runs, rows=used.rows, whole=table.rows,
    )  # fmt: skip
    files = {cell["id"]: str(Path(words["folder"]) / "recipes" / recipe_file(cell["id"])) for cell in cells}
    advice = recommended(cells, judges, setting, files)
    observed = [one for trial in wanted for one in bench.observed[trial.id] if not one["failed"]]
    result = Comparison(
        {
            "made": {
                "hushtable": __version__, "seed": seed, "runs": runs, "audits": [*study.attacks, *study.measured],
                "attacked": attacked, "public": public, "seconds": time.perf_counter() - start,
            },
            "table": {
                "rows": used.rows, "train": study.train.rows, "control": study.control.rows, "columns": len(used.schema.names),
                "target": goal,
            },
            "constraints": [{"expression": one.expression, "told": one.told} for one in judges],
            "utility": axis.to_json(baseline_of(observed, axis)),
            "cells": ranked(cells, take),
            "recommendation": advice,
            "searched": found,
            "notes": notes,
        },
        _marked(wanted, [advice["id"], *(other["id"] for other in advice["others"])], public=public),
    )  # fmt: skip
    _write(result, kept)
    return result


def _checked(*, runs: int, workers: int, attacked: int, epsilons: Sequence[float]) -> None:
    faults = []
    if runs < 1:
        faults.append(Fault("runs", f"at least one, got {runs}"))
    if workers < 1:
        faults.append(Fault("workers", f"at least one, got {workers}"))
    if attacked < 2:
        faults.append(Fault("attacked", f"at least two rows, got {attacked}"))
    faults += [
        Fault("epsilon", f"must be a positive and finite number, got {e!r}")
        for e in epsilons
        if not (isinstance(e, Real) and 0 < e < float("inf"))
    ]
    if faults:
        raise InputError(faults)


def _used(table: Table, rows: int | None, seed: int) -> Table:
    """All rows, or so many of them drawn at random."""
    if rows is not None and rows < table.rows:
        table = table.take(np.sort(np.random.default_rng([seed, 5]).permutation(table.rows)[: max(rows, 0)]))
    if table.rows < FEWEST:
        raise InputError(f"has {table.rows} rows; a comparison needs at least {FEWEST}", where="table")
    return table


def _name(trial: Trial, run: int) -> str:
    return f"{trial.file}-{run}"


def _person(table: Table, person: str | None, rows: int) -> None:
    faults = [Fault("rows_per_person", f"at least one, got {rows}")] if rows < 1 else []
    if person is not None and person not in table.schema:
        faults.append(Fault("person", f"there is no column {person!r}; there are {', '.join(table.schema.names)}"))
    if person is None and rows > 1:
        faults.append(Fault("person", "name the key column that tells persons apart, if they hold several rows"))
    if faults:
        raise InputError(faults)


def _repeated(table: Table) -> str:
    """The first key column in which a value stands more than once; empty if there is none."""
    keys = [column.name for column in table.schema if column.kind is Kind.KEY]
    return next((name for name in keys if len(known := table[name][~table.missing(name)]) > len(np.unique(known))), "")


def _payable(study: Study, wanted: Sequence[Trial], unit: Unit) -> tuple[str, ...]:
    """The private recipes that were tried, whatever their scores: a list chosen by scores would be a look that nobody paid for."""
    tried = {trial.recipe.recipe: trial.recipe for trial in wanted if trial.spends and trial.recipe.recipe in recipes.names()}
    delta = default_delta(study.train.schema.size) if study.delta is None else study.delta
    most = max((trial.epsilon for trial in wanted if trial.epsilon is not None), default=1.0)
    found = []
    for name, recipe in tried.items():
        try:
            payable(study.train.schema, [recipe], epsilon=most, delta=delta, unit=unit)
        except HushError:
            continue
        found.append(name)
    return tuple(found)


def _marked(wanted: Sequence[Trial], ids: Sequence[str | None], *, public: bool) -> dict[str, Recipe]:
    """Recipes that say what they were tuned on; one that was tuned on private rows before stays so."""
    by_id = {trial.id: trial.recipe for trial in wanted}
    found = {name: by_id[name] for name in dict.fromkeys(ids) if name is not None}
    return {name: replace(r, tuned="public" if public and r.tuned != "private" else "private") for name, r in found.items()}


def _write(result: Comparison, kept: Store) -> None:
    if kept.folder is None:
        return
    shelf = kept.folder / "recipes"
    shelf.mkdir(mode=0o700, exist_ok=True)
    files = result.files()
    for old in shelf.glob("*.yaml"):
        # What an earlier call with other constraints recommended.
        if f"recipes/{old.name}" not in files:
            old.unlink()
    for name, text in files.items():
        kept.write(name, text)
