"""What a study is: tasks that are made one by one, in any order and any process, and the report of their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from hushtable.api.store import Result, Store
from hushtable.display import Progress, silent
from hushtable.studies import report as reports
from hushtable.table.table import Table


@dataclass(frozen=True, kw_only=True)
class Scope:
    """How much of a study is run, and on what."""

    data: Path | None = None
    """The folder of the real tables; HUSHTABLE_DATA when absent."""
    quick: bool = False
    """Few rows, few settings, one run: to see that it works and about what comes out."""
    runs: int | None = None
    """Runs of whatever is random; what the study takes when absent."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """One result of a study."""

    name: str
    """Of the file of its result: letters, digits, hyphens, points. No other task of the study has it, and whatever decides the
    result beside the study's identity is in it."""
    title: str
    """While it is at work."""
    make: Callable[[], Result]
    """The result, plain values as JSON holds them. It is sent to other processes: a ``partial`` of a function of a module, with
    small arguments. A table is loaded (and remembered) where it is needed, not sent. A ``HushError`` is a refusal, and is
    reported as ``{"refused": ...}``."""
    cost: float = 1.0
    """How long it takes beside the others: those that take longest begin first."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """A study within a scope: what is to be made, and what becomes of it."""

    tasks: Sequence[Task]
    report: Callable[[Mapping[str, Result]], reports.Report]
    """From the results of all tasks by name. A task that was refused has ``title`` and ``refused`` instead."""
    identity: Sequence[object] = ()
    """What decides results and is in the name of no task, such as the number of rows: a folder of other values is refused."""
    tables: Sequence[Table] = ()
    """The rows: a folder with results of others is refused."""


@dataclass(frozen=True, kw_only=True)
class Study:
    """A published study, to be repeated."""

    name: str
    title: str
    source: str
    """The publication."""
    plan: Callable[[Scope], Work]


def slug(name: str) -> str:
    """A name that can be part of a file's."""
    return "".join(c if c.isalnum() or c == "-" else "_" for c in name)


Data = TypeVar("Data")
"""A data set, as the study has prepared it."""


@dataclass(frozen=True)
class Report:
    """What came out of a study."""

    text: str
    """Every number, published ones beside ours."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Pages and figures by the name of their file."""


@dataclass(frozen=True, eq=False)
class Setting:
    """One method with one choice of its knobs on one data set: a result for each run."""

    name: str
    """Of the files of its results, which a number follows."""
    title: str
    """While it is at work."""
    make: Callable[[int], Result]
    """The result of the run of this number."""


def repeat(store: Store, settings: Sequence[Setting], runs: int, progress: Progress) -> list[list[Result]]:
    """The results of so many runs of every setting; those that are in the store are not made again."""
    results: list[list[Result]] = [[] for _ in settings]
    for place, setting in enumerate(settings):
        for number in range(runs):
            progress(setting.title, (place + number / runs) / len(settings))
            results[place].append(store.get_or_make(f"{setting.name}-{number}", partial(setting.make, number)))
    return results


@dataclass(frozen=True, eq=False)
class Resumable(Generic[Data]):
    """A study whose results are stored one by one, so that one that was stopped goes on where it stopped."""

    identity: Sequence[object]
    """What makes it this study and no other: a folder of any other is refused."""
    sets: Sequence[Data]
    tables: Sequence[Table]
    """The rows of the data sets, which belong to its identity too."""
    examine: Callable[[Data, Store, Progress], Mapping[str, Any]]
    """All results of one data set."""
    report: Callable[[list[Mapping[str, Any]]], Report]
    """The report of the results of all data sets."""

    def run(self, folder: Path | None = None, progress: Progress = silent) -> str:
        """The study as text; with a folder its pages and figures are written there, and it may be stopped and go on."""
        store = Store.open(folder, self.identity, self.tables)
        results = []
        for place, one in enumerate(self.sets):
            results.append(self.examine(one, store, self._part(place, progress)))
        report = self.report(results)
        for name, text in report.files.items():
            store.write(name, text)
        return report.text

    def _part(self, place: int, progress: Progress) -> Progress:
        """The progress of one of the data sets, as a part of the whole."""
        return lambda title, share: progress(title, (place + share) / len(self.sets))
