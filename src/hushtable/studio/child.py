"""What the processes beside the server share: the way to speak, to end with the server, and to tell an error without a row."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from hushtable.errors import Fault, HushError, InputError
from hushtable.studio.network import refuse_outgoing
from hushtable.studio.pipe import GRACE


class Voice:
    """The pipe to the server. Nothing else reaches it: whatever is printed goes nowhere."""

    def __init__(self) -> None:
        self._pipe: BinaryIO = os.fdopen(os.dup(1), "wb", buffering=0)
        self._lock = threading.Lock()
        self.about: dict[str, Any] = {}
        """What every line is about: the number of a question."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)

    def say(self, **message: Any) -> None:
        """Write a line."""
        line = json.dumps(self.about | message).encode() + b"\n"
        with self._lock:
            try:
                while line:
                    line = line[self._pipe.write(line) :]
            except BrokenPipeError:
                # The server is gone, and so is whoever would read it.
                os._exit(1)


def begin() -> Voice:
    """Set up a process: it reaches no network, is not stopped by the terminal's Ctrl-C, and speaks through a pipe."""
    refuse_outgoing()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _interrupt)
    voice = Voice()

    def end(kind: type[BaseException], error: BaseException, trace: object) -> None:
        # Only its type and place: its text may quote a row.
        if not issubclass(kind, KeyboardInterrupt):
            voice.say(broken=place(error))
        os._exit(1)

    sys.excepthook = end
    return voice


def _interrupt(number: int, frame: object) -> None:
    # As Ctrl-C: what is half-written is removed on the way out.
    raise KeyboardInterrupt


def lines() -> Iterator[dict[str, Any]]:
    """What the server says, until it is gone."""
    for line in sys.stdin.buffer:
        yield json.loads(line)


def end_with_server() -> None:
    """End this process, and all that it started, soon after the server is gone."""

    def watch() -> None:
        # Not through a buffer: its lock, held by this thread, would spoil an ordinary end.
        while os.read(0, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE)
        os.killpg(os.getpgid(0), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()


def message_of(error: HushError) -> dict[str, Any]:
    """An error of ours, in full."""
    faults = error.faults if isinstance(error, InputError) else (Fault("", str(error)),)
    return {"faults": faults_json(faults), "kind": type(error).__name__, "notes": [*getattr(error, "__notes__", ())]}


def place(error: BaseException) -> str:
    """The type of an error, and where in our code it was raised."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "hushtable" in Path(f.filename).parts]
    where = f" at {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"


def faults_json(faults: Iterable[Fault]) -> list[dict[str, Any]]:
    """Faults as plain values, without their examples: those are values of rows, and stay where the rows are."""
    return [{"where": f.where, "reason": f.reason, "count": f.count, "rows": list(f.rows)} for f in faults]


def faults_of(message: Mapping[str, Any]) -> list[Fault]:
    """The faults that a process told."""
    return [Fault(f["where"], f["reason"], f["count"], tuple(f["rows"])) for f in message["faults"]]
