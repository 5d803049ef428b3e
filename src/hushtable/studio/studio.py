"""One running studio: the open workspace, the table worker, the jobs, and the reading of a table."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hushtable.errors import Fault, HushError, InputError
from hushtable.studio import commands, places, words
from hushtable.studio.child import place
from hushtable.studio.files import Files
from hushtable.studio.jobs import Job, Jobs, State
from hushtable.studio.persons import persons
from hushtable.studio.questions import QUESTIONS
from hushtable.studio.session import Session
from hushtable.studio.words import persons as said_of_persons
from hushtable.studio.worker import TableAt, Worker
from hushtable.studio.workspace import Stamp, Workspace


@dataclass
class Reading:
    """A table that is being read, or that could not be."""

    path: Path
    layout: dict[str, Any]
    anew: bool
    """Whether its schema is to be drafted anew."""
    started: float = field(default_factory=time.monotonic)
    stage: str = ""
    share: float = 0.0
    faults: tuple[Fault, ...] = ()
    look: dict[str, Any] | None = None
    """What its first lines show, once they were looked at."""
    task: asyncio.Task[None] | None = None

    def ended(self, task: asyncio.Task[None]) -> None:
        """Take note of a fault of ours, so that it is said and not waited for."""
        if not task.cancelled() and (error := task.exception()) is not None:
            self.faults = (Fault("", words.out_of_order(place(error))),)

    @property
    def questioned(self) -> bool:
        """Whether its first line may be a person's record: somebody has to say so before anything else is done."""
        return not self.at_work and not self.faults and self.look is not None

    @property
    def at_work(self) -> bool:
        """Whether it is still being read."""
        return self.task is not None and not self.task.done()

    @property
    def elapsed(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self.started


class Studio:
    """Everything that a run of the studio holds; one person, one open table."""

    def __init__(self, root: Path, *, jobs: int = 1, worker: Worker | None = None, session: Session | None = None) -> None:
        self.session = session or Session()
        self.files = Files(root, self.session.name)
        self.worker = worker or Worker()
        self.at_once = jobs
        self.workspace: Workspace | None = None
        self.jobs: Jobs | None = None
        self.reading: Reading | None = None
        self.revealed: set[tuple[str, int]] = set()
        """The records whose values are shown: the job of the audit, and the training row. Gone with the session."""
        self._results: dict[str, Path] = {}

    async def close(self) -> None:
        """End the worker and the jobs, and let others open the workspace."""
        await self.leave()
        await self.worker.stop()

    def read(self, path: Path, layout: Mapping[str, Any] | None = None, *, anew: bool = False) -> None:
        """Begin to read a table; ``anew`` drafts its schema again. InputError while jobs of another table run."""
        if self.jobs is not None and self.jobs.open and self.workspace is not None and path.resolve() != self.workspace.table:
            raise InputError(words.JOBS_RUN, where="file")
        if self.reading is not None and self.reading.at_work:
            raise InputError(words.STILL_READING, where="file")
        written = dict(layout) if layout is not None else Workspace.layout_of(path)
        reading = self.reading = Reading(path.resolve(), written, anew, stage=words.READING)
        reading.task = asyncio.create_task(self._read(reading))
        reading.task.add_done_callback(reading.ended)

    async def stop_reading(self) -> None:
        """Stop reading; nothing is left of it."""
        reading, self.reading = self.reading, None
        if reading is not None and reading.task is not None:
            reading.task.cancel()
            await asyncio.gather(reading.task, return_exceptions=True)

    async def _read(self, reading: Reading) -> None:
        def watch(stage: str, share: float) -> None:
            reading.stage, reading.share = stage, share

        folder = Workspace.beside(reading.path)
        schema = None if reading.anew or not (folder / "schema.yaml").exists() else str(folder / "schema.yaml")
        stamp = Stamp.of(reading.path)
        try:
            if stamp is None:
                raise InputError(words.GONE, where=reading.path.name)
            look = await self.worker.ask("first_look", {"path": str(reading.path), "layout": reading.layout})
            reading.look = look
            if schema is None and reading.layout.get("header") is None and look["questioned"]:
                return
            if schema is None:
                reading.layout = look["needed"]
            at = TableAt(str(reading.path), reading.layout, schema, (str(stamp), str(Stamp.of(Path(schema))) if schema else ""))
            found = await self.worker.ask("read", table=at, watch=watch, limit=math.inf)
            await self._enter(reading, found, stamp, drafted=schema is None)
        except InputError as error:
            reading.faults = error.faults
        except HushError as error:
            reading.faults = (Fault("", str(error)),)

    async def _enter(self, reading: Reading, found: Mapping[str, Any], stamp: Stamp, *, drafted: bool) -> None:
        workspace = self.workspace
        if workspace is None or workspace.table != reading.path:
            workspace = Workspace.open(reading.path)
            await self._close_workspace()
            self.workspace = workspace
            self.jobs = Jobs(workspace.folder, self.at_once)
            places.remember(workspace.folder)
        project = workspace.project
        if project.hash and project.hash != found["hash"]:
            workspace.journal.write("open", words.TABLE_CHANGED)
        project.layout, project.hash, project.stamp = reading.layout, found["hash"], (stamp.size, stamp.time)
        project.rows, project.columns = found["rows"], found["columns"]
        workspace.save()
        if found["noticed"] is not None:
            workspace.notice(found["noticed"])
        if drafted:
            command = commands.schema(workspace)
            workspace.change_schema(found["schema"], "open", words.drafted(project.table), command=command)
        self.reading = None

    async def leave(self) -> None:
        """End the reading and the jobs, and let others open the workspace."""
        await self.stop_reading()
        await self._close_workspace()

    async def _close_workspace(self) -> None:
        if self.jobs is not None:
            await self.jobs.close()
        if self.workspace is not None:
            self.workspace.close()
        self.workspace, self.jobs = None, None
        self._results.clear()
        self.revealed.clear()

    def _table(self) -> TableAt | None:
        """The open table and its present schema, as the worker knows them."""
        if (workspace := self.workspace) is None:
            return None
        stamp = str(Stamp.of(workspace.table)), str(Stamp.of(workspace.schema))
        return TableAt(str(workspace.table), workspace.project.layout, str(workspace.schema), stamp)

    async def ask(self, question: str, arguments: Mapping[str, Any], *, slot: str = "", limit: float | None = None) -> Any:
        """Ask the worker about the open table, if there is one, under its present schema."""
        at = self._table()
        if at is not None and (answered := self._answered({"question": question, "arguments": arguments, "table": at.plain()})):
            return answered.result["answer"]
        return await self.worker.ask(question, arguments, table=at, slot=slot, limit=limit)

    def _answered(self, request: Mapping[str, Any]) -> Job | None:
        """The job that answered this question about this very table, if there is one."""
        done = (job for job in self.jobs.jobs.values() if job.verb == "answer") if self.jobs is not None else ()
        return next((job for job in done if job.state is State.DONE and request.items() <= job.request.items()), None)

    def answer_later(self, question: str, arguments: Mapping[str, Any], screen: str) -> Job:
        """Answer a question in a job of its own, to be shown on a screen when it is done."""
        at = self._table()
        if self.workspace is None or at is None or question not in QUESTIONS:
            raise InputError(words.NO_SUCH_QUESTION, where="question")
        request = {"question": question, "arguments": dict(arguments), "table": at.plain(), "screen": screen}
        folder = self.workspace.numbered("answers")
        return self.start("answer", request, words.answering(screen), folder=folder, like=question)

    def start(
        self, verb: str, request: Mapping[str, Any], title: str, *, folder: Path, name: str = "", like: str = "",
        command: Sequence[str] = (),
    ) -> Job:  # fmt: skip
        """Start a job of the open workspace."""
        if self.jobs is None or self.workspace is None:
            raise InputError(words.NO_TABLE, where="table")
        return self.jobs.start(
            verb, request, folder, title, name=name, like=like, command=command, table=self.workspace.project.hash
        )

    def stale(self, job: Job) -> bool:
        """Whether the table is another than when the job was started."""
        return self.workspace is None or self.workspace.changed or job.table != self.workspace.project.hash

    @property
    def unfinished(self) -> list[tuple[str, ...]]:
        """The commands of jobs of which none came to its end."""
        jobs = list(self.jobs.latest()) if self.jobs is not None else []
        done = {job.command for job in jobs if job.state is State.DONE}
        return [job.command for job in jobs if job.command not in done]

    def result(self, job: Job, path: str) -> str:
        """An id for a finished page in the folder of a job; the page itself is looked for when it is asked for."""
        own = self.session.name(f"{job.id}/{path}")
        self._results[own] = job.folder / path
        return own

    def page(self, id_: str, ending: str = ".html") -> Path:
        """The finished page (or the zip) with this id; InputError where there is none inside the workspace."""
        path = self._results.get(id_)
        if path is None or self.workspace is None or path.suffix != ending or not path.is_file():
            raise InputError(words.NO_SUCH_FILE, where="file")
        if not path.resolve().is_relative_to(self.workspace.folder.resolve()):
            raise InputError(words.NO_SUCH_FILE, where="file")
        return path

    def choices(self) -> list[tuple[str, str, str]]:
        """What was chosen so far: its name, its value, and the screen where it can be changed."""
        if self.workspace is None:
            return []
        project, roles = self.workspace.project, self.workspace.roles()
        quasi = [name for name, role in roles.items() if role == "quasi"]
        found = [
            (words.TABLE, project.table, "open"),
            (words.ROWS, words.number(project.rows), "open"),
            (words.PROTECTED, words.count_columns(len(quasi)), "columns"),
        ]
        own = persons(self.workspace)
        if own.by is not None:
            found.append((said_of_persons.LABEL, said_of_persons.short(own.by, own.rows), "columns"))
        if recipe := self.workspace.chosen("run").get("recipe"):
            found.append((words.RECIPE, str(recipe), "recipe"))
        latest = next((job for job in self.jobs.latest() if job.verb == "release"), None) if self.jobs else None
        if self.jobs is not None and latest is not None and latest.state is State.DONE:
            verdict = words.STALE if self.stale(latest) else words.assurance(latest.result.get("assurance", ""))
            found.append((words.PROMISE, verdict, "run"))
            audit = next((job for job in self.jobs.latest() if job.folder == latest.folder and job.name == "audit"), None)
            if audit is not None and audit.state is State.DONE:
                found.append((words.VERDICT, words.STALE if self.stale(latest) else audit.result["answer"], "audit"))
        return found
