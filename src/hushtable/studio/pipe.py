"""A child process of the server, and the two pipes to it: JSON, one value on a line. It ends with the server, however that ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Mapping
from typing import Any

from hushtable.studio.network import OFFLINE

GRACE = 3.0
"""Seconds between asking a child to stop and stopping it."""
LONGEST = 64 * 1024 * 1024
"""Bytes of the longest line a child may write."""


class Broken(Exception):
    """A child wrote what is no line of ours."""


class Pipe:
    """One child process. What it writes on standard error is not kept: it might quote a row."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    @classmethod
    async def start(cls, module: str, *, longest: int = LONGEST) -> Pipe:
        """Start a module of hushtable in a process group of its own; no module in the current folder can take its place."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", module,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, **OFFLINE}, limit=longest, start_new_session=True,
        )  # fmt: skip
        return cls(process)

    async def send(self, message: Mapping[str, Any]) -> None:
        """Write a line; one that cannot be delivered shows when the next is read."""
        assert self.process.stdin is not None
        with contextlib.suppress(ConnectionError):
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            await self.process.stdin.drain()

    async def receive(self) -> dict[str, Any] | None:
        """The next line, None at the end. Broken where it is too long or is no JSON object."""
        assert self.process.stdout is not None
        try:
            line = await self.process.stdout.readline()
            message = json.loads(line) if line else None
        except ValueError:
            raise Broken from None
        if message is not None and not isinstance(message, dict):
            raise Broken
        return message

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self.process.returncode is None

    async def stop(self, grace: float = GRACE) -> None:
        """Ask it and its own children to stop, and stop them after the grace."""
        if self.alive:
            self._signal(signal.SIGTERM)
            try:
                await asyncio.wait_for(self.process.wait(), grace)
            except TimeoutError:
                self._signal(signal.SIGKILL)
                await self.process.wait()
        # What it had started may be there still.
        self._signal(signal.SIGKILL)

    async def kill(self) -> None:
        """Stop it at once."""
        self._signal(signal.SIGKILL)
        await self.process.wait()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)
