"""Tasks done by several processes, each of which holds what is needed once. What a process has made is handed over at once."""

from __future__ import annotations

import os
import signal
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import current_thread, main_thread
from typing import Generic, TypeVar, cast

from threadpoolctl import threadpool_limits

from hushtable.errors import InputError

Task = TypeVar("Task")
Outcome = TypeVar("Outcome")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

FUTILE = 3
"""After so many processes that ended without an answer, one after the other, it is not the tasks that are wrong."""
GUARD = "A script that works with several workers does so under: if __name__ == '__main__'"


@dataclass(frozen=True)
class Update(Generic[Task, Outcome]):
    """What has just been done, and which tasks are at work now; nothing has been done when the work begins."""

    at_work: list[Task]
    task: Task | None = None
    outcome: Outcome | None = None
    lost: str = ""
    """Why there is no outcome, where the process of the task ended without an answer."""


def perform(tasks: Sequence[Task], make: Callable[[Task], Outcome], workers: int) -> Iterator[Update[Task, Outcome]]:
    """Each task with what was made of it, as soon as it is done, after a first update that names what is at work.

    ``make`` is sent to every process once, tasks and outcomes one by one. A process that ends without an answer (killed, out of
    memory) costs its task alone, which is ``lost``.
    """
    if workers <= 1 or len(tasks) <= 1:
        yield from _here(tasks, make)
        return
    waiting, lost = deque(tasks), 0
    crew: dict[Connection, tuple[BaseProcess, Task]] = {}
    gone: list[BaseProcess] = []
    try:
        for _ in range(min(workers, len(tasks))):
            link, process = _hired(make)
            crew[link] = process, _handed(link, waiting)
        yield Update(_at_work(crew))
        while crew:
            for ready in wait(list(crew)):
                link = cast(Connection, ready)
                process, task = crew.pop(link)
                outcome, why = _received(link, process)
                lost = lost + 1 if why else 0
                if lost >= FUTILE:
                    raise InputError(f"{lost} processes in a row ended without an answer. {GUARD}", where="workers")
                if waiting:
                    if why:
                        link, process = _hired(make)
                    crew[link] = process, _handed(link, waiting)
                else:
                    link.close()
                    gone.append(process)
                yield Update(_at_work(crew), task, cast(Outcome, outcome), why)
    finally:
        for process, _ in crew.values():
            process.terminate()
        for process in (*gone, *(process for process, _ in crew.values())):
            process.join()


def unforeseen(error: Exception) -> str:
    """The type of an error and where it arose. What it says itself may hold values of rows."""
    if isinstance(error, MemoryError):
        return "MemoryError: there was not enough memory; try fewer rows or fewer workers"
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: an error that was not foreseen, in {Path(place.filename).name}, line {place.lineno}"


def _here(tasks: Sequence[Task], make: Callable[[Task], Outcome]) -> Iterator[Update[Task, Outcome]]:
    if tasks:
        yield Update([tasks[0]])
    for place, task in enumerate(tasks):
        with threadpool_limits(1):
            outcome = make(task)
        yield Update(list(tasks[place + 1 : place + 2]), task, outcome)


def _hired(make: Callable[[Task], Outcome]) -> tuple[Connection, BaseProcess]:
    """A new process that holds what makes outcomes. Fork would copy locks and threads; spawn begins afresh, everywhere alike."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, make), daemon=True)
    with _one_thread(), _deaf():
        process.start()
    theirs.close()
    return ours, process


@contextmanager
def _one_thread() -> Iterator[None]:
    """New processes read how many threads they may use when they begin: tasks run side by side, so one each."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _deaf() -> Iterator[None]:
    """Ctrl-C reaches the whole group of processes, but the parent decides and ends the others: they inherit to ignore it."""
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _serve(link: Connection, make: Callable[[Task], Outcome]) -> None:
    while True:
        try:
            link.send(make(link.recv()))
        except (EOFError, ConnectionError):
            return


def _handed(link: Connection, waiting: deque[Task]) -> Task:
    task = waiting.popleft()
    # Where it has ended already, waiting for its answer shows that.
    with suppress(ConnectionError):
        link.send(task)
    return task


def _received(link: Connection, process: BaseProcess) -> tuple[object, str]:
    """What a process answers; or why it never will."""
    try:
        return link.recv(), ""
    except (EOFError, ConnectionError):
        process.join()
        return None, f"the process that made it ended with code {process.exitcode}; it may have run out of memory"


def _at_work(crew: dict[Connection, tuple[BaseProcess, Task]]) -> list[Task]:
    return [task for _, task in crew.values()]
