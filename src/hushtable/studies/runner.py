"""Repeat a published study, its numbers beside ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from hushtable.display import Progress, silent
from hushtable.errors import InputError
from hushtable.studies import frechet, generators, manifold
from hushtable.studies.study import Report
from hushtable.table.disk import refuse_existing, whole_folder


@dataclass(frozen=True, kw_only=True)
class StudyOptions:
    """Where the tables lie, where the report goes, and how much of a study is run."""

    data: Path | None = None
    """The folder of the real tables; HUSHTABLE_DATA when absent."""
    folder: Path | None = None
    """A folder for text, pages and figures. A study that can go on takes one where it was stopped, any other a new one."""
    quick: bool = False
    """The small data sets only, or few of the rows."""
    runs: int | None = None
    """Runs of a study that can go on; 3 when absent, 1 if quick."""


def study(
    name: str,
    *,
    data: str | Path | None = None,
    folder: str | Path | None = None,
    quick: bool = False,
    runs: int | None = None,
    progress: Progress = silent,
) -> str:
    """Repeat a published study and return its report as text. Takes minutes; ``generators``, unless quick, hours.

    ``manifold`` (what anonymization on manifolds leaves of classifiers), ``frechet`` (of means and clusters) or ``generators``
    (private generators by epsilon). ``data`` is the folder of the real tables. With a ``folder`` the text is written there with its
    pages and figures; ``generators`` that was stopped goes on there.
    """
    if name not in (*_WHOLE, *_RESUMABLE):
        raise InputError(f"expected manifold, frechet or generators, got {name!r}", where="study")
    options = StudyOptions(
        data=None if data is None else Path(data), folder=None if folder is None else Path(folder), quick=quick, runs=runs
    )
    if name in _RESUMABLE:
        return _RESUMABLE[name](options, progress)
    if runs is not None:
        raise InputError("is for the study generators", where="--runs")
    if options.folder is not None:
        refuse_existing(options.folder)
    report = _WHOLE[name](options, progress)
    if options.folder is not None:
        with whole_folder(options.folder) as partial:
            for file, text in ({"study.txt": report.text} | dict(report.files)).items():
                (partial / file).write_text(text, encoding="utf-8")
    return report.text


def _manifold(options: StudyOptions, progress: Progress) -> Report:
    return Report(manifold.text(manifold.run(options.data, progress, quick=options.quick)))


def _frechet(options: StudyOptions, progress: Progress) -> Report:
    return frechet.run(progress, quick=options.quick)


def _generators(options: StudyOptions, progress: Progress) -> str:
    scope = generators.QUICK if options.quick else generators.FULL
    scope = replace(scope, runs=options.runs or scope.runs)
    return generators.resumable(options.data, scope).run(options.folder, progress)


_WHOLE: dict[str, Callable[[StudyOptions, Progress], Report]] = {"manifold": _manifold, "frechet": _frechet}
"""Studies that are run as a whole."""
_RESUMABLE: dict[str, Callable[[StudyOptions, Progress], str]] = {"generators": _generators}
"""Studies that go on where they were stopped."""
