"""Jobs: one release, audit or comparison, each in a process of its own, one at a time while the others wait."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from hushtable.display import Stages
from hushtable.errors import Fault, InputError
from hushtable.studio import words
from hushtable.studio.child import faults_json, faults_of
from hushtable.studio.pipe import Broken, Pipe
from hushtable.table.disk import OWNER, remove_abandoned, unfinished, whole_file

MODULE = "hushtable.studio.job_process"
LONGEST = 4 * 1024 * 1024
"""Bytes of the longest line of a job."""
MARK = ".job.json"
"""How the record of a job ends; it lies in the folder that the job works for."""


class State(StrEnum):
    """Where a job is."""

    QUEUED = "queued"
    RUNNING = "running"
    CANCELLING = "cancelling"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"

    @property
    def open(self) -> bool:
        """Whether it has still to end."""
        return self in (State.QUEUED, State.RUNNING, State.CANCELLING)


@dataclass
class Job:
    """One job, and what is known of it."""

    folder: Path
    """What it works for: a folder of the workspace."""
    name: str
    """Its name there: release, audit."""
    verb: str
    request: dict[str, Any]
    title: str
    like: str = ""
    """Jobs that are like each other take like times: the name of a recipe."""
    command: tuple[str, ...] = ()
    """The command that does the same."""
    table: str = ""
    """The hash of the table when it was started."""
    state: State = State.QUEUED
    started: float = 0.0
    ended: float = 0.0
    seconds: dict[str, float] = field(default_factory=dict)
    """How long each stage took that is done."""
    result: dict[str, Any] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    stages: Stages = field(default_factory=Stages)
    began: dict[str, float] = field(default_factory=dict)
    """When each stage began."""
    counts: tuple[int, int] | None = None
    """What the stage at work counts, and how many there are."""

    @property
    def id(self) -> str:
        """Its name in URLs: no path, and nothing of a row."""
        return f"{self.folder.parent.name}-{self.folder.name}-{self.name}"

    @property
    def record(self) -> Path:
        """The file in which it is noted."""
        return self.folder / f"{self.name}{MARK}"

    @property
    def share(self) -> float:
        """What of it is done."""
        return 1.0 if self.state is State.DONE else self.stages.share

    @property
    def elapsed(self) -> float:
        """Seconds for which it has run, or ran."""
        return 0.0 if not self.started else (self.ended or time.time()) - self.started

    def save(self) -> None:
        """Write the record; it appears whole."""
        plain = {
            "name": self.name, "verb": self.verb, "title": self.title, "like": self.like, "command": list(self.command),
            "table": self.table, "state": str(self.state), "started": self.started, "ended": self.ended, "seconds": self.seconds,
            "request": self.request, "result": self.result, "notes": self.notes,
            "faults": faults_json(self.faults),
        }  # fmt: skip
        with whole_file(self.record, private=True) as partial:
            partial.write_text(json.dumps(plain, indent=1, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Job | None:
        """A job from its record; None where that is damaged."""
        try:
            plain = json.loads(path.read_text(encoding="utf-8"))
            return cls(
                path.parent, plain["name"], plain["verb"], plain["request"], plain["title"], plain["like"], tuple(plain["command"]),
                plain["table"], State(plain["state"]), plain["started"], plain["ended"], plain["seconds"], plain["result"],
                faults_of(plain),
                plain["notes"],
            )  # fmt: skip
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def update(self, message: Mapping[str, Any], now: float) -> None:
        """Take note of a line of progress."""
        if "plan" in message:
            self.stages.plan({str(name): float(effort) for name, effort in message["plan"].items()})
            return
        name, share = str(message["name"]), float(message["share"])
        stage = name if name in self.stages.efforts else name.partition(": ")[0]
        self.began.setdefault(stage, now)
        self.stages.update(name, share)
        self.counts = (int(message["done"]), int(message["total"])) if message.get("total") else None
        if share >= 1 and stage not in self.seconds:
            self.seconds[stage] = now - self.began[stage]


class Jobs:
    """All jobs of an open workspace: those that wait, the one that runs, and those that ended."""

    def __init__(self, folder: Path, most: int = 1, module: str = MODULE, done: Callable[[Job], None] = lambda job: None) -> None:
        self.folder, self.most, self.module, self.done = folder, most, module, done
        self.jobs: dict[str, Job] = {}
        self._pipes: dict[str, Pipe] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        for record in sorted(folder.glob(f"*/*/*{MARK}")):
            job = Job.load(record)
            if job is not None:
                self._found(job)

    def _found(self, job: Job) -> None:
        # It was at work when the studio ended; nobody else can be running it, as the workspace is ours.
        if job.state.open:
            job.state, job.ended = State.INTERRUPTED, job.ended or time.time()
            job.save()
            remove_abandoned(job.folder, rf"\.{OWNER}\..*")
        self.jobs[job.id] = job

    def start(
        self, verb: str, request: Mapping[str, Any], folder: Path, title: str, *, name: str = "", like: str = "",
        command: Sequence[str] = (), table: str = "",
    ) -> Job:  # fmt: skip
        """Put a job in the queue; it begins at once if none is running.

        ``request`` is plain values, and ``folder`` a folder of the workspace, for which there is at most one job of each ``name``.
        """
        job = Job(folder, name or verb, verb, dict(request), title, like, tuple(command), table)
        known = self.jobs.get(job.id)
        if known is not None and known.state.open:
            raise InputError(words.ALREADY_RUNNING, where="job")
        job.save()
        self.jobs.pop(job.id, None)
        self.jobs[job.id] = job
        self._next()
        return job

    def again(self, id_: str) -> Job:
        """The same job once more, in its folder: one that keeps what it finished goes on from there."""
        old = self.find(id_)
        return self.start(
            old.verb, old.request, old.folder, old.title, name=old.name, like=old.like, command=old.command, table=old.table
        )

    async def cancel(self, id_: str) -> None:
        """End a job; returns when it has ended, after at most the grace of its process."""
        job = self.find(id_)
        if job.state is State.QUEUED:
            job.state, job.ended = State.CANCELLED, time.time()
            job.save()
        elif job.state is State.RUNNING:
            job.state, task = State.CANCELLING, self._tasks[id_]
            if (pipe := self._pipes.get(id_)) is not None:
                await pipe.stop()
            await asyncio.gather(task, return_exceptions=True)

    def find(self, id_: str) -> Job:
        """The job with this id; InputError where there is none."""
        if id_ not in self.jobs:
            raise InputError(words.NO_SUCH_JOB, where="job")
        return self.jobs[id_]

    def latest(self) -> Iterator[Job]:
        """All jobs, the one that was started last first."""
        return reversed(list(self.jobs.values()))

    @property
    def open(self) -> list[Job]:
        """The jobs that have not ended, in the order in which they run."""
        return [job for job in self.jobs.values() if job.state.open]

    def usual(self, job: Job) -> dict[str, float]:
        """How long each stage took in the last job like this one; empty where there was none."""
        for other in self.latest():
            if other is not job and other.state is State.DONE and (other.verb, other.like) == (job.verb, job.like):
                return other.seconds
        return {}

    async def close(self) -> None:
        """End everything: jobs that run are cancelled, those that wait are left to be started again."""
        for job in self.open:
            if job.state is State.QUEUED:
                job.state, job.ended = State.INTERRUPTED, time.time()
                job.save()
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def _next(self) -> None:
        running = sum(job.state in (State.RUNNING, State.CANCELLING) for job in self.jobs.values())
        for job in self.open:
            if running < self.most and job.state is State.QUEUED:
                job.state, job.started = State.RUNNING, time.time()
                running += 1
                self._tasks[job.id] = asyncio.create_task(self._run(job))

    async def _run(self, job: Job) -> None:
        try:
            await self._work(job)
        except asyncio.CancelledError:
            job.state = State.INTERRUPTED
            raise
        except OSError as error:
            job.faults, job.state = [Fault("", words.cannot_start(error))], State.FAILED
        finally:
            job.ended = time.time()
            self._pipes.pop(job.id, None)
            self._tasks.pop(job.id, None)
            # A full disk must not keep the next job from its turn.
            with contextlib.suppress(InputError):
                job.save()
            self._next()
            self.done(job)

    async def _work(self, job: Job) -> None:
        job.save()
        pipe = self._pipes[job.id] = await Pipe.start(self.module, longest=LONGEST)
        try:
            if job.state is State.RUNNING:
                await pipe.send({"verb": job.verb, "request": job.request, "folder": str(job.folder)})
                ended = await self._listen(job, pipe)
            else:
                ended = {}
        finally:
            await pipe.stop()
            for rest in unfinished(job.folder, pipe.process.pid):
                shutil.rmtree(rest) if rest.is_dir() else rest.unlink(missing_ok=True)
        if "result" in ended:
            job.result, job.state = ended["result"], State.DONE
            # A stage may end without a word.
            now = time.time()
            job.seconds = {stage: job.seconds.get(stage, now - begun) for stage, begun in job.began.items()}
        elif job.state is State.CANCELLING:
            job.state = State.CANCELLED
        elif "faults" in ended:
            job.faults, job.notes, job.state = faults_of(ended), ended["notes"], State.FAILED
        else:
            why = words.out_of_order(str(ended["broken"])) if "broken" in ended else words.died(pipe.process.returncode)
            job.faults, job.state = [Fault("", why)], State.FAILED

    async def _listen(self, job: Job, pipe: Pipe) -> dict[str, Any]:
        """Take note of the progress until the job says how it ended, or is gone: then nothing."""
        while True:
            try:
                message = await pipe.receive()
            except Broken:
                return {"broken": words.NONSENSE}
            if message is None:
                return {}
            if message.keys() & {"result", "faults", "broken"}:
                return message
            job.update(message, time.time())
            # A job that says too much must not keep the server from its pages.
            await asyncio.sleep(0)
