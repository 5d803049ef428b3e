"""Answer a question that takes longer than a page may wait."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hushtable.display import Progress
from hushtable.studio.questions.room import Room


def answer(request: Mapping[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """As the table worker answers it, which finds the answer in the record of this job."""
    room = Room()
    opened = room.open(request["table"], progress)
    return {"answer": room.ask(request["question"], opened, request["arguments"], progress)}
