"""The table worker itself: it holds the open table, and answers questions until the server is gone."""

from __future__ import annotations

import os
import queue
import threading
from typing import TYPE_CHECKING, Any

from hushtable.errors import HushError
from hushtable.studio.child import Voice, begin, lines, message_of

if TYPE_CHECKING:
    from hushtable.studio.questions.room import Room


def main() -> None:
    """Answer question after question."""
    voice = begin()
    asked: queue.Queue[dict[str, Any]] = queue.Queue()

    def listen() -> None:
        for message in lines():
            asked.put(message)
        # The server is gone. Nothing is half-written here: files are the server's.
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    # The libraries take a second or two to load: after the thread that notices the end of the server was started.
    from hushtable.studio.questions.room import Room

    room = Room()
    while True:
        answer(asked.get(), room, voice)


def answer(message: dict[str, Any], room: Room, voice: Voice) -> None:
    """Answer one question, or tell why not. What is a fault of ours ends the process, which tells its place."""
    voice.about = {"number": message["number"]}

    def watch(stage: str, share: float) -> None:
        voice.say(progress=[stage, share])

    try:
        opened = None if message["table"] is None else room.open(message["table"], watch)
        voice.say(opened=True)
        voice.say(answer=room.ask(message["question"], opened, message["arguments"], watch))
    except HushError as error:
        voice.say(**message_of(error))


if __name__ == "__main__":
    main()
