"""A table worker without a table, whose questions are slow, fail or die."""

from __future__ import annotations

import os
import time

from hushtable.errors import Fault, InputError
from hushtable.studio import worker_process
from hushtable.studio.questions import room

SECRET = "Maria Musterfrau"


def echo(opened, *, watch, text):
    watch("echoing", 0.5)
    return text


def sleep(opened, *, watch, seconds):
    time.sleep(seconds)
    return seconds


def refuse(opened, *, watch):
    raise InputError([Fault("age", "is no column"), Fault("k", "too small", 2, (1, 2))])


def fail(opened, *, watch):
    raise ValueError(SECRET)


def die(opened, *, watch):
    os._exit(1)


def pid(opened, *, watch):
    return os.getpid()


if __name__ == "__main__":
    room.QUESTIONS.update(
        {one.__name__: f"tests.unit.studio.fake_worker:{one.__name__}" for one in (echo, sleep, refuse, fail, die, pid)}
    )
    worker_process.main()
