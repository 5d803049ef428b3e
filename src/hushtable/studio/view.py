"""What a screen is, and what it is given to show itself: the contract between the screens and the studio around them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from hushtable.errors import Fault, InputError
from hushtable.report.html import Html
from hushtable.studio import words
from hushtable.studio.forms import Form
from hushtable.studio.jobs import Job
from hushtable.studio.workspace import Workspace

if TYPE_CHECKING:
    from hushtable.studio.studio import Studio


class Mark(StrEnum):
    """How a step stands in the rail."""

    TODO = "to do"
    DONE = "done"
    STALE = "stale"
    ATTENTION = "attention"


@dataclass(frozen=True)
class Shown:
    """What a screen shows between the strip of choices and the command line."""

    content: Html
    command: Sequence[str] = ()
    """The words of the ``hush`` command that does the same; shown with Copy."""
    title: str = ""
    """What the tab says before the name of the screen: a percentage."""
    faults: Sequence[Fault] = ()
    """What is wrong, to be said on top of the page."""
    refresh: bool = False
    """Whether something is at work, so that a browser without script asks again by itself."""


@dataclass(frozen=True)
class View:
    """One request as a screen sees it: the open workspace, what the address asks for, and what was typed where it had faults."""

    studio: Studio
    screen: str
    query: Mapping[str, str] = field(default_factory=dict)
    typed: Form = field(default_factory=Form)
    """What was sent, where an action refused it: the fields show it again."""
    faults: Sequence[Fault] = ()
    token: str = ""

    @property
    def workspace(self) -> Workspace:
        """The open workspace; InputError where no table is open."""
        if self.studio.workspace is None:
            raise InputError(words.NO_TABLE, where="table")
        return self.studio.workspace

    @property
    def opened(self) -> bool:
        """Whether a table is open."""
        return self.studio.workspace is not None

    def to(self, screen: str, **query: object) -> str:
        """The address of a screen, with what it is asked for. Never with a value of a row."""
        asked = {name: str(value) for name, value in query.items() if value is not None and value != ""}
        return f"/{self.studio.session.prefix}/{screen}" + (f"?{urlencode(asked)}" if asked else "")

    def action(self, action: str, screen: str = "") -> str:
        """The address that a form posts to."""
        return self.to(f"{screen or self.screen}/{action}")

    def piece(self, piece: str, **query: object) -> str:
        """The address of a piece of this screen, which the script asks for."""
        return self.to(f"{self.screen}/-/{piece}", **query)

    def file(self, job: Job, path: str) -> str:
        """The address of a finished page of a job, which opens in a tab of its own and cannot call the studio."""
        return self.to(f"result/{self.studio.result(job, path)}")

    def value(self, name: str, otherwise: object = "") -> str:
        """What a field shows: what was typed, or else what holds."""
        return self.typed.get(name, "" if otherwise is None else str(otherwise))

    def fault(self, name: str) -> str:
        """What is wrong with a field."""
        return "; ".join(fault.reason for fault in self.faults if fault.where == name)

    async def ask(self, question: str, *, slot: str = "", limit: float | None = None, **arguments: Any) -> Any:
        """Ask the table worker about the open table under its present schema.

        TooLong after ``limit`` seconds, ten when absent: more is for what loads libraries and does not compute.
        """
        return await self.studio.ask(question, arguments, slot=slot, limit=limit)

    def start(
        self, verb: str, request: Mapping[str, Any], title: str, *, folder: str | None = None, kind: str = "runs",
        name: str = "", like: str = "", command: Sequence[str] = (),
    ) -> Job:  # fmt: skip
        """Start a job in the folder of that number under ``kind``, or in a new one."""
        return self.studio.start(
            verb, request, title, folder=self.workspace.numbered(kind, folder), name=name, like=like, command=command
        )

    def journal(self, change: str, reason: str = "", command: Sequence[str] = ()) -> None:
        """Note a decision of this screen."""
        self.workspace.journal.write(self.screen, change, reason, command)

    def refused(self, form: Form, faults: Sequence[Fault]) -> View:
        """The same screen with what was typed and what is wrong with it."""
        return replace(self, typed=form, faults=tuple(faults))


Show = Callable[[View], Awaitable[Shown]]
Action = Callable[[View, Form], Awaitable[str]]
"""Does something and returns where to go, ``view.to(...)``. An InputError, with every fault at once, shows the screen again."""
Piece = Callable[[View], Awaitable[Html]]
"""Markup that the script puts into its place once the page is there: what takes time, one at a time."""


def _todo(view: View) -> Mark:
    return Mark.TODO


@dataclass(frozen=True)
class Screen:
    """One screen: a step of the rail with one question, and what can be done there."""

    name: str
    """Its address, and its name in the journal."""
    label: str
    """Its name in the rail."""
    question: str
    show: Show
    actions: Mapping[str, Action] = field(default_factory=dict)
    pieces: Mapping[str, Piece] = field(default_factory=dict)
    mark: Callable[[View], Mark] = _todo
    """How it stands in the rail; asked for every page, so it must be quick."""
    in_rail: bool = True
    """Whether it is a step, or a page beside them."""
    part_of: str = ""
    """The step that it belongs to, where it is none itself: that one is marked as current."""
    needs_table: bool = True
    """Whether it can be shown only when a table is open."""
