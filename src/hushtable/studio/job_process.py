"""A job itself: a process that does one thing through the Python interface of hushtable, and tells how far it is."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from hushtable.display import Stages
from hushtable.errors import HushError
from hushtable.studio.child import Voice, begin, end_with_server, message_of
from hushtable.studio.verbs import VERBS

EVERY = 0.1
"""Seconds between two lines of progress of one stage."""


class JobProgress:
    """Progress that is told to the server, not more often than a person can see."""

    def __init__(self, voice: Voice) -> None:
        self.voice, self.stages = voice, Stages()
        self._last, self._stage = 0.0, ""

    def plan(self, stages: Mapping[str, float]) -> None:
        """These stages are to come."""
        self.stages.plan(stages)
        self.voice.say(plan={stage: float(effort) for stage, effort in stages.items()})

    def __call__(self, name: str, share: float) -> None:
        """So much of a stage is done."""
        self.stages.update(name, share)
        now, stage = time.monotonic(), name.partition(": ")[0]
        if share < 1 and stage == self._stage and now - self._last < EVERY:
            return
        self._last, self._stage = now, stage
        done, total = self.stages.place
        self.voice.say(name=name, share=float(share), done=int(done), total=int(total))


def run(verbs: Mapping[str, str] = VERBS) -> None:
    """Do what the first line asks for."""
    voice = begin()
    # Line by line and no further: the rest of the pipe is watched for its end.
    with open(0, "rb", buffering=0, closefd=False) as pipe:
        asked = _asked(pipe.readline())
    end_with_server()
    module, _, name = verbs[asked["verb"]].partition(":")
    try:
        result = getattr(import_module(module), name)(asked["request"], Path(asked["folder"]), JobProgress(voice))
    except HushError as error:
        voice.say(**message_of(error))
    else:
        voice.say(result=result)


def _asked(line: bytes) -> dict[str, Any]:

    asked = json.loads(line)
    assert isinstance(asked, dict)
    return asked


if __name__ == "__main__":
    run()
