"""What a study is: its report, and the loop of those that can be stopped and go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from hushtable.api.store import Result, Store
from hushtable.display import Progress, silent
from hushtable.table.table import Table

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


def slug(name: str) -> str:
    """A name that can be part of a file's."""
    return "".join(c if c.isalnum() or c == "-" else "_" for c in name)
