"""Repeat published studies, their numbers beside ours: one runner for all, side by side, which goes on where it was stopped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from hushtable.api.store import Result, Store
from hushtable.api.workers import perform, unforeseen
from hushtable.display import Progress, announce, meant, silent
from hushtable.errors import HushError, InputError
from hushtable.studies.report import Report
from hushtable.studies.show_markdown import markdown_of
from hushtable.studies.show_page import figures_of, page_of
from hushtable.studies.show_text import text_of
from hushtable.studies.study import Scope, Study, Task, Work

STUDIES = {
    "attacks": "hushtable.studies.attacks:STUDY",
    "clustmix": "hushtable.studies.clustmix:STUDY",
    "constraints": "hushtable.studies.constraints:STUDY",
    "frechet": "hushtable.studies.frechet:STUDY",
    "generators": "hushtable.studies.generators:STUDY",
    "hybrid": "hushtable.studies.hybrid:STUDY",
    "kctgan": "hushtable.studies.kctgan:STUDY",
    "language": "hushtable.studies.language:STUDY",
    "manifold": "hushtable.studies.manifold:STUDY",
    "point-clouds": "hushtable.studies.clouds:STUDY",
    "risk-metrics": "hushtable.studies.risk_metrics:STUDY",
}
ALL = "all"
TITLE = "What the sources report and what we measure"
LEAD = (
    "Every table and figure of the publications that this library implements, as far as the data are to be had: what was "
    "published, what we measure, the interval of ours, and whether the two can be compared; where not, why. Nothing was tuned on "
    "what it is compared in."
)
QUICK = (
    "This is the quick run: few rows, few settings, short training and one run of each, to see that it works and about what "
    "comes out."
)


@dataclass(frozen=True)
class Repeated:
    """One study, or all of them, with what came out."""

    reports: Mapping[str, Report]
    quick: bool = False

    @property
    def title(self) -> str:
        """Of the page."""
        return TITLE if len(self.reports) > 1 else next(iter(self.reports.values())).title

    @property
    def lead(self) -> str:
        """What the page says first."""
        said = [LEAD] if len(self.reports) > 1 else []
        return " ".join([*said, *([QUICK] if self.quick else [])])

    def text(self) -> str:
        """For a terminal."""
        return text_of(self.reports)

    def markdown(self, figures: str = "") -> str:
        """For the site or a wiki; ``figures`` is the folder, with a slash, in which the drawings lie."""
        return markdown_of(self.reports, title=self.title, lead=self.lead, figures=figures)

    def page(self) -> str:
        """As a page."""
        return page_of(self.reports, title=self.title, lead=self.lead)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"quick": self.quick, "studies": {name: report.to_json() for name, report in self.reports.items()}}


def study(
    name: str,
    *,
    data: str | Path | None = None,
    folder: str | Path | None = None,
    quick: bool = False,
    runs: int | None = None,
    workers: int = 1,
    progress: Progress = silent,
) -> Repeated:
    """Repeat a published study, or ``all``: every number of the source beside ours, what it says in words beside what we find.

    ``STUDIES`` names them. Unless ``quick`` most take hours. ``data`` is the folder of the real tables; what is not at hand is
    left out and named. With a ``folder`` every result is written as soon as it is there, the same call goes on where one was
    stopped, and at the end there are ``study.json``, ``study.md``, ``study.html`` and the figures. In a script, more than one
    worker needs ``if __name__ == "__main__":``.
    """
    if name != ALL and name not in STUDIES:
        raise InputError(
            f"there is no study {name!r}{meant(name, STUDIES)}; there are {', '.join(STUDIES)} and {ALL}", where="study"
        )
    if runs is not None and runs < 1:
        raise InputError(f"at least one, got {runs}", where="runs")
    scope = Scope(data=None if data is None else Path(data), quick=quick, runs=runs)
    place = None if folder is None else Path(folder)
    running = [_Running.of(one, scope, place, alone=name != ALL) for one in (STUDIES if name == ALL else [name])]
    failed = _make(running, workers, progress)
    repeated = Repeated({one.name: one.report(failed) for one in running}, quick)
    if place is not None:
        for one in running:
            for file, drawing in figures_of(repeated.reports[one.name]).items():
                one.store.write(file, drawing)
        top = Store(place)
        top.write("study.json", json.dumps(repeated.to_json(), indent=1, ensure_ascii=False))
        top.write("study.md", repeated.markdown())
        top.write("study.html", repeated.page())
    return repeated


Job = tuple[str, Task]
"""The study, and what of it is to be made."""


@dataclass(frozen=True, eq=False)
class _Running:
    """A study while it runs."""

    name: str
    work: Work
    store: Store

    @classmethod
    def of(cls, name: str, scope: Scope, folder: Path | None, *, alone: bool) -> _Running:
        work = load(name).plan(scope)
        own = folder if folder is None or alone else folder / name
        settings = [name, "quick" if scope.quick else "full", *work.identity]
        return cls(name, work, Store.open(own, settings, work.tables))

    def report(self, failed: Mapping[tuple[str, str], str]) -> Report:
        results = {}
        for task in self.work.tasks:
            why = failed.get((self.name, task.name))
            results[task.name] = self.store.get(task.name) if why is None else {"title": task.title, "refused": why}
        return self.work.report(results)


def load(name: str) -> Study:
    """The study of this name, whose module is imported only now."""
    module, _, attribute = STUDIES[name].partition(":")
    return cast(Study, getattr(import_module(module), attribute))


def attempt(job: Job) -> Result:
    """The result of a task; what is refused says why, and what fails in a way that nobody foresaw is not for the store."""
    _, task = job
    try:
        return task.make()
    except HushError as error:
        return {"title": task.title, "refused": str(error)}
    except Exception as error:  # noqa: BLE001 - one task must not cost the hours of all others
        return {"failed": unforeseen(error)}


def _make(running: list[_Running], workers: int, progress: Progress) -> dict[tuple[str, str], str]:
    """Make what is not there yet, all studies side by side, long tasks first; why tasks failed, by study and name."""
    stores = {one.name: one.store for one in running}
    jobs = [(one.name, task) for one in running for task in one.work.tasks if not one.store.has(task.name)]
    jobs.sort(key=lambda job: -job[1].cost)
    announce(progress, {_shown(job): job[1].cost for job in jobs})
    failed: dict[tuple[str, str], str] = {}
    for update in perform(jobs, attempt, workers):
        if update.task is not None:
            name, task = update.task
            result = update.outcome or {"failed": update.lost}
            if "failed" in result:
                failed[name, task.name] = result["failed"]
            else:
                stores[name].put(task.name, result)
            progress(_shown(update.task), 1.0)
        for job in update.at_work[:1]:
            progress(_shown(job), 0.0)
    return failed


def _shown(job: Job) -> str:
    return f"{job[0]}: {job[1].title}"
