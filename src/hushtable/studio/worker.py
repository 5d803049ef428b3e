"""The table worker as the server sees it: a process that holds the open table and answers small questions by name."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hushtable.errors import HushError, InputError
from hushtable.studio import words
from hushtable.studio.child import faults_of
from hushtable.studio.pipe import Broken, Pipe

LIMIT = 10.0
"""Seconds for an answer; opening a table may take any time, as it shows its progress and can be cancelled."""
MODULE = "hushtable.studio.worker_process"

Watcher = Callable[[str, float], None]
"""Is told the stage and its share, from 0 to 1."""


class Stale(Exception):
    """The answer is to a question that was asked again with other arguments since; nobody waits for it."""


class TooLong(HushError):
    """A question took longer than a page may wait; it can be run as a job."""

    def __init__(self, question: str, arguments: Mapping[str, Any]) -> None:
        super().__init__(words.TOO_LONG)
        self.question, self.arguments = question, dict(arguments)


class WorkerFailed(HushError):
    """The worker ended, or failed in a way that is a fault of ours; the next question starts another."""


@dataclass(frozen=True)
class TableAt:
    """Which table a question is about, as plain values: the file, its layout, its schema and the state of both."""

    path: str
    layout: Mapping[str, Any]
    schema: str | None
    """The file of the schema; None while there is none."""
    stamp: tuple[str, str] = ("", "")
    """One text for the file and one for its schema; where one changes, the worker reads that again."""

    def plain(self) -> dict[str, Any]:
        """As it goes through the pipe."""
        return {"path": self.path, "layout": dict(self.layout), "schema": self.schema, "stamp": list(self.stamp)}


class Worker:
    """Answers one question after the other. Of questions with the same ``slot`` only the newest is answered: others are Stale."""

    def __init__(self, limit: float = LIMIT, module: str = MODULE) -> None:
        self.limit, self.module = limit, module
        self.busy = ""
        """The question at work."""
        self._pipe: Pipe | None = None
        self._turn = asyncio.Lock()
        self._generations: dict[str, int] = {}
        self._number = 0

    async def start(self) -> None:
        """Start the process, so that it is ready when the first question comes."""
        if self._pipe is None or not self._pipe.alive:
            self._pipe = await Pipe.start(self.module)

    async def stop(self) -> None:
        """Stop the process; what it was asked ends with WorkerFailed."""
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            await pipe.kill()

    async def ask(
        self, question: str, arguments: Mapping[str, Any] | None = None, *, table: TableAt | None = None, slot: str = "",
        limit: float | None = None, watch: Watcher | None = None,
    ) -> Any:  # fmt: skip
        """The answer to a question: plain values. InputError, and whatever else the question raises of hushtable, comes through.

        ``slot`` is what the answer is for (a region of a page): an answer that was overtaken by a newer question is Stale.
        TooLong where it took over ``limit`` seconds beside the opening of the table: the process is then stopped, and the next
        question starts another.
        """
        generation = self._generations[slot] = self._generations.get(slot, 0) + 1
        async with self._turn:
            if slot and self._generations[slot] != generation:
                raise Stale
            self.busy = question
            try:
                answer = await self._answer(question, arguments or {}, table, limit or self.limit, watch)
            finally:
                self.busy = ""
        if slot and self._generations[slot] != generation:
            raise Stale
        return answer

    async def _answer(
        self, question: str, arguments: Mapping[str, Any], table: TableAt | None, limit: float, watch: Watcher | None
    ) -> Any:
        await self.start()
        pipe = self._pipe
        assert pipe is not None
        self._number += 1
        number = self._number
        asked = {
            "number": number,
            "question": question,
            "arguments": dict(arguments),
            "table": None if table is None else table.plain(),
        }
        try:
            await pipe.send(asked)
            left: float | None = None
            while True:
                begun = time.monotonic()
                message = await asyncio.wait_for(pipe.receive(), left)
                left = None if left is None else max(0.0, left - (time.monotonic() - begun))
                if message is None:
                    raise Broken
                if message.get("number") != number:
                    continue
                if "progress" in message:
                    if watch is not None:
                        watch(*message["progress"])
                elif "opened" in message:
                    left = limit if limit < math.inf else None
                elif "broken" in message:
                    # It ends by itself, and the next question must not meet it.
                    await self.stop()
                    raise WorkerFailed(words.out_of_order(str(message["broken"])))
                elif "faults" in message:
                    raise InputError(faults_of(message))
                else:
                    return message["answer"]
        except TimeoutError:
            await self.stop()
            raise TooLong(question, arguments) from None
        except Broken:
            await self.stop()
            raise WorkerFailed(words.WORKER_ENDED) from None
        except asyncio.CancelledError:
            # Whoever asked is gone, but the process would go on computing.
            await self.stop()
            raise
