"""What a study is: tasks that are made one by one, in any order and any process, and the report of their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hushtable.api.store import Result
from hushtable.studies.report import Report
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
    report: Callable[[Mapping[str, Result]], Report]
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
