"""Running a comparison: one split for all cells, cells side by side in processes, each saved as soon as it is done."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from hushtable import __version__
from hushtable.api.best_of import payable
from hushtable.api.compare import search
from hushtable.api.compare.advice import recommend
from hushtable.api.compare.axis import Axis, target_of
from hushtable.api.compare.caveats import Setting
from hushtable.api.compare.cell import Cell, in_one_unit
from hushtable.api.compare.choice import chosen, front, judge, ranked
from hushtable.api.compare.comparison import Comparison, Constraint, Recommendation, RunInfo, Searched, TableInfo, recipe_file
from hushtable.api.compare.experiment import Experiment
from hushtable.api.compare.follows import follow_note, sources
from hushtable.api.compare.grid import Trial, trials
from hushtable.api.compare.observation import Observation
from hushtable.api.compare.options import CompareOptions
from hushtable.api.compare.summary import baseline, summarize
from hushtable.api.hold_out import hold_out
from hushtable.api.persons import repeated_key
from hushtable.api.store import Store
from hushtable.api.workers import perform
from hushtable.display import Progress, announce, meant, silent
from hushtable.errors import HushError, InputError
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.release import today
from hushtable.privacy.unit import Unit, default_delta
from hushtable.table.arguments import require_tables
from hushtable.table.table import Table

FEWEST = 40
"""Rows without which nothing can be split, attacked and predicted."""


def compare(
    table: Table,
    options: CompareOptions | Recipe | str | Sequence[str | Recipe] | None = None,
    *,
    folder: str | Path | None = None,
    named: Mapping[str, str] | None = None,
    progress: Progress = silent,
    finished: Callable[[Cell], None] = lambda cell: None,
    **settings: Any,
) -> Comparison:
    """Release a table in many ways, attack and measure every release on the same held-out rows, and say which way to take.

    What is tried and asked for is in ``CompareOptions``: give it whole, or recipes and its fields by name, as in
    ``compare(table, ["mdav", "aim"], epsilons=[1, 4], constraints=["max_gain<0.02"], seed=0)``. ``named`` are the names of the
    files (data, schema) in the command that is recommended; ``finished`` is called with every cell as soon as it is done.

    With a folder every cell is saved as soon as it is done, and the same call goes on where one was stopped; other constraints,
    recipes or more runs use what is there. In a script, more than one worker needs ``if __name__ == "__main__":``.
    """
    require_tables(table=table)
    asked = CompareOptions.of(options, settings)

    def wanted(train: Table) -> Wanted:
        return Wanted(*trials(train.schema, asked.recipes, asked.grid, asked.epsilons))

    outcome = compare_trials(table, asked, wanted, folder=folder, named=named, progress=progress, finished=finished)
    if folder is not None:
        outcome.write(outcome.comparison.files())
    return outcome.comparison


@dataclass(frozen=True)
class Wanted:
    """What a comparison is to try."""

    trials: Sequence[Trial]
    """The releases among which one is chosen."""
    notes: Sequence[str] = ()
    """What was left out, and why."""
    beside: Sequence[Trial] = ()
    """Releases that are observed as well, and never chosen."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """A comparison, with all that was observed."""

    comparison: Comparison
    runs: Mapping[str, Sequence[Observation]]
    """The runs of every trial by its name, of those beside the comparison too."""
    store: Store

    def write(self, files: Mapping[str, str]) -> None:
        """Write files to the folder of the comparison, if there is one."""
        if self.store.folder is None:
            return
        shelf = self.store.folder / "recipes"
        shelf.mkdir(mode=0o700, exist_ok=True)
        for old in shelf.glob("*.yaml"):
            # What an earlier call with other constraints recommended.
            if f"recipes/{old.name}" not in files:
                old.unlink()
        for name, text in files.items():
            self.store.write(name, text)


def compare_trials(
    table: Table,
    asked: CompareOptions,
    wanted: Callable[[Table], Wanted],
    *,
    folder: str | Path | None = None,
    named: Mapping[str, str] | None = None,
    progress: Progress = silent,
    finished: Callable[[Cell], None] = lambda cell: None,
) -> Outcome:
    """Observe the trials that ``wanted`` lists for the training rows, and compare them; with a folder it saves each run.

    The page of what came out is the caller's to write (``Outcome.write``).
    """
    start = time.perf_counter()
    used = _sampled(table, asked)
    target = target_of(used, asked.target)
    experiment = _experiment(used, target, asked)
    tried = wanted(experiment.train)
    store = Store.open(None if folder is None else Path(folder), experiment.knobs, (experiment.train, experiment.control))
    work = _Work(experiment, Axis.of(used.schema, target), asked, store, progress, finished)
    work.run([*tried.beside, *tried.trials])
    names = {"folder": str(folder or "DIR")} | dict(named or {})
    return Outcome(_comparison(work, tried, table, used, names, start), work.observed, store)


def _comparison(work: _Work, tried: Wanted, table: Table, used: Table, names: Mapping[str, str], start: float) -> Comparison:
    """The trials that were observed, compared."""
    wanted, asked, experiment = list(tried.trials), work.options, work.experiment
    searched = list[Searched]()
    if asked.search:
        wanted, searched = work.search(wanted)
    cells = _on_front(in_one_unit([work.cell(trial) for trial in wanted]))
    axis = replace(work.axis, baseline=baseline(work.succeeded(wanted), work.axis))
    setting = replace(_setting(work, table, used, wanted, cells, names), axis=axis)
    files = {cell.id: str(Path(setting.folder) / "recipes" / recipe_file(cell.id)) for cell in cells}
    recommendation = recommend(cells, asked.conditions, setting, files)
    return Comparison(
        run=_run_info(experiment, asked, time.perf_counter() - start),
        table=_table_info(used, experiment),
        constraints=tuple(map(Constraint.of, asked.conditions)),
        axis=axis,
        cells=tuple(ranked(cells, chosen(cells, asked.conditions)[0])),
        recommendation=recommendation,
        searched=tuple(searched),
        notes=tuple(tried.notes),
        recipes=_tuned(wanted, recommendation, public=asked.public),
    )


@dataclass(frozen=True, eq=False)
class _Work:
    """A comparison while it runs."""

    experiment: Experiment
    axis: Axis
    options: CompareOptions
    store: Store
    progress: Progress
    finished: Callable[[Cell], None]
    observed: dict[str, list[Observation]] = field(default_factory=dict)
    """The runs of each trial by its name."""

    def run(self, wanted: Sequence[Trial]) -> None:
        """Observe these trials, so many runs of each; what the folder holds is not made again."""
        tasks = [(trial, run) for run in range(self.options.runs) for trial in wanted]
        todo = [(trial, run) for trial, run in tasks if not self.store.has(_name(trial, run))]
        # What failed by accident is not in the folder, and is tried again next time.
        accidents: dict[str, Observation] = {}
        announce(self.progress, {self._shown(*task): 1.0 for task in todo})
        for update in perform(todo, self.experiment, self.options.workers):
            if update.task is not None:
                self._take(update.task, update.outcome or _lost(update.lost), accidents)
                self.progress(self._shown(*update.task), 1.0)
            for trial, run in update.at_work[:1]:
                self.progress(self._shown(trial, run), 0.0)
        for trial in wanted:
            self.observed[trial.id] = self._runs(trial, accidents)

    def _shown(self, trial: Trial, run: int) -> str:
        """What is at work, for people."""
        return trial.id if self.options.runs == 1 else f"{trial.id}, run {run + 1} of {self.options.runs}"

    def _take(self, task: tuple[Trial, int], observation: Observation, accidents: dict[str, Observation]) -> None:
        """Save an observation, and report its cell if it was the last run."""
        trial, run = task
        if observation.again:
            accidents[_name(trial, run)] = observation
        else:
            self.store.put(_name(trial, run), observation.to_json())
        if run == self.options.runs - 1:
            self.finished(self._judged(trial, self._runs(trial, accidents)))

    def _runs(self, trial: Trial, accidents: Mapping[str, Observation]) -> list[Observation]:
        runs = []
        for name in (_name(trial, run) for run in range(self.options.runs)):
            if name in accidents:
                runs.append(accidents[name])
            elif self.store.has(name):
                runs.append(Observation.from_json(self.store.get(name)))
        return runs

    def cell(self, trial: Trial) -> Cell:
        """One cell, judged."""
        return self._judged(trial, self.observed[trial.id])

    def _judged(self, trial: Trial, runs: Sequence[Observation]) -> Cell:
        cell = summarize(trial, runs, self.axis, public=self.options.public)
        return judge(cell, [run.findings for run in runs], self.options.conditions)

    def succeeded(self, wanted: Sequence[Trial]) -> list[Observation]:
        """All runs of these trials that gave a release."""
        return [run for trial in wanted for run in self.observed[trial.id] if not run.failed]

    def search(self, wanted: Sequence[Trial]) -> tuple[list[Trial], list[Searched]]:
        """Halve the gap between what fits and what does not, all recipes side by side; all trials, and the last that fit."""
        by_recipe = search.searchable(wanted)
        for _ in range(search.MOST):
            gaps = [search.gap(knob, tried, self._cells(tried)) for knob, tried in by_recipe.values()]
            middles = [gap.middle for gap in gaps if gap is not None]
            more = [trial for trial in middles if trial is not None]
            if not more:
                break
            self.run(more)
            for trial in more:
                by_recipe[trial.recipe.recipe][1].append(trial)
        every = [*wanted, *(trial for _, tried in by_recipe.values() for trial in tried)]
        results = [search.result(name, knob, tried, self._cells(tried)) for name, (knob, tried) in by_recipe.items()]
        return list({trial.id: trial for trial in every}.values()), results

    def _cells(self, tried: Sequence[Trial]) -> dict[str, Cell]:
        return {trial.id: self.cell(trial) for trial in tried}


def _sampled(table: Table, options: CompareOptions) -> Table:
    """All rows, or so many of them drawn at random."""
    if options.rows is not None and options.rows < table.rows:
        order = np.random.default_rng([options.seed, 5]).permutation(table.rows)
        table = table.take(np.sort(order[: max(options.rows, 0)]))
    if table.rows < FEWEST:
        raise InputError(f"has {table.rows} rows; a comparison needs at least {FEWEST}", where="table")
    return table


def _experiment(table: Table, target: str, options: CompareOptions) -> Experiment:
    """One split of the table, in which each person lies on one side."""
    if options.person is not None and options.person not in table.schema:
        near, known = meant(options.person, table.schema.names), ", ".join(table.schema.names)
        raise InputError(f"there is no column {options.person!r}{near}; there are {known}", where="person")
    train, control = hold_out(table, options.hold_out, options.seed, by=options.person)
    return Experiment(
        train, control, target, options.seed, options.delta, options.attacked, options.only, person=options.person,
        rows_per_person=options.rows_per_person,
    )  # fmt: skip


def _on_front(cells: Sequence[Cell]) -> list[Cell]:
    best = front(cells)
    return [replace(cell, front=cell.id in best) for cell in cells]


def _setting(
    work: _Work, whole: Table, used: Table, wanted: Sequence[Trial], cells: Sequence[Cell], names: Mapping[str, str]
) -> Setting:
    """What the recommendation depends on besides the cells."""
    options, experiment = work.options, work.experiment
    take, _ = chosen(cells, options.conditions)
    unit = next((experiment.unit(trial.recipe) for trial in wanted if take is not None and trial.id == take.id), Unit())
    return Setting(
        label=work.axis.label,
        public=options.public,
        data=names.get("data", "DATA"),
        schema=names.get("schema", "SCHEMA"),
        folder=names["folder"],
        delta=options.delta,
        private=tuple(dict.fromkeys(trial.recipe.recipe for trial in wanted if trial.spends)),
        payable=_payable(experiment, wanted, unit),
        budgets=len({trial.epsilon for trial in wanted if trial.spends}),
        unit=unit,
        repeated="" if options.person is not None else repeated_key(used),
        guess=work.axis.guess,
        follows=follow_note(experiment.target, sources(used, experiment.target)),
        control=min(experiment.control.rows, options.attacked),
        capped=max(experiment.train.rows, experiment.control.rows) > options.attacked,
        runs=options.runs,
        rows=used.rows,
        whole=whole.rows,
    )


def _payable(experiment: Experiment, wanted: Sequence[Trial], unit: Unit) -> tuple[str, ...]:
    """The private recipes that were tried, whatever their scores: a list chosen by scores would be a query nobody paid for."""
    tried = {trial.recipe.recipe: trial.recipe for trial in wanted if trial.spends and trial.recipe.recipe in recipes.names()}
    schema = experiment.train.schema
    delta = default_delta(schema.size) if experiment.delta is None else experiment.delta
    most = max((trial.epsilon for trial in wanted if trial.epsilon is not None), default=1.0)
    names = []
    for name, recipe in tried.items():
        try:
            payable(schema, [recipe], epsilon=most, delta=delta, unit=unit)
        except HushError:
            continue
        names.append(name)
    return tuple(names)


def _run_info(experiment: Experiment, options: CompareOptions, seconds: float) -> RunInfo:
    return RunInfo(
        version=__version__,
        seed=options.seed,
        runs=options.runs,
        audits=(*experiment.attacks, *experiment.measured),
        attacked=options.attacked,
        public=options.public,
        seconds=seconds,
        date=today(),
    )


def _table_info(used: Table, experiment: Experiment) -> TableInfo:
    return TableInfo(
        title=used.schema.title,
        rows=used.rows,
        train=experiment.train.rows,
        control=experiment.control.rows,
        columns=len(used.schema.names),
        target=experiment.target,
    )


def _tuned(wanted: Sequence[Trial], recommendation: Recommendation, *, public: bool) -> dict[str, Recipe]:
    """The recipes that are named, marked with what they were tuned on; one that was tuned on private rows before stays so."""
    by_id = {trial.id: trial.recipe for trial in wanted}
    tuned = {}
    for name in (recommendation.id, *(other.id for other in recommendation.others)):
        if name is not None:
            recipe = by_id[name]
            tuned[name] = replace(recipe, tuned="public" if public and recipe.tuned != "private" else "private")
    return tuned


def _lost(reason: str) -> Observation:
    """Of a process that ended without an answer; it may go well another time."""
    return Observation(seconds=0.0, failed=reason, again=True)


def _name(trial: Trial, run: int) -> str:
    return f"{trial.file}-{run}"
