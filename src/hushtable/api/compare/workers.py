"""Trials observed by several processes, each of which holds the split once. What a process observed is handed over at once."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from threading import current_thread, main_thread
from typing import cast

from threadpoolctl import threadpool_limits

from hushtable.api.compare.experiment import Experiment
from hushtable.api.compare.grid import Trial
from hushtable.api.compare.observation import Observation
from hushtable.errors import InputError

Task = tuple[Trial, int]
"""What to try, and the number of the run."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

FUTILE = 3
"""After so many processes that ended without an answer, one after the other, it is not the cells that are wrong."""
GUARD = "A script that compares with several workers does so under: if __name__ == '__main__'"


@dataclass(frozen=True)
class Update:
    """What has just been observed, and which cells are at work now; nothing has been observed when the work begins."""

    at_work: list[Task]
    task: Task | None = None
    observation: Observation | None = None


def observe_all(tasks: Sequence[Task], experiment: Experiment, workers: int) -> Iterator[Update]:
    """Each task with what was observed, as soon as it is done, after a first update that names what is at work.

    A process that ends without an answer (killed, out of memory) costs its cell alone, which says so and is marked ``lost``, and
    ``again`` like all that may go well another time.
    """
    if workers <= 1 or len(tasks) <= 1:
        yield from _here(tasks, experiment)
        return
    waiting, lost = deque(tasks), 0
    crew: dict[Connection, tuple[BaseProcess, Task]] = {}
    gone: list[BaseProcess] = []
    try:
        for _ in range(min(workers, len(tasks))):
            link, process = _hired(experiment)
            crew[link] = process, _handed(link, waiting)
        yield Update(_at_work(crew))
        while crew:
            for ready in wait(list(crew)):
                link = cast(Connection, ready)
                process, task = crew.pop(link)
                observation = _received(link, process)
                lost = lost + 1 if observation.lost else 0
                if lost >= FUTILE:
                    raise InputError(f"{lost} processes in a row ended without an answer. {GUARD}", where="workers")
                if waiting:
                    if observation.lost:
                        link, process = _hired(experiment)
                    crew[link] = process, _handed(link, waiting)
                else:
                    link.close()
                    gone.append(process)
                yield Update(_at_work(crew), task, observation)
    finally:
        for process, _ in crew.values():
            process.terminate()
        for process in (*gone, *(process for process, _ in crew.values())):
            process.join()


def _here(tasks: Sequence[Task], experiment: Experiment) -> Iterator[Update]:
    if tasks:
        yield Update([tasks[0]])
    for place, (trial, run) in enumerate(tasks):
        with threadpool_limits(1):
            observation = experiment.observe(trial, run)
        yield Update(list(tasks[place + 1 : place + 2]), (trial, run), observation)


def _hired(experiment: Experiment) -> tuple[Connection, BaseProcess]:
    """A new process that holds the experiment. Fork would copy locks and threads; spawn begins afresh, everywhere alike."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, experiment), daemon=True)
    with _one_thread(), _deaf():
        process.start()
    theirs.close()
    return ours, process


@contextmanager
def _one_thread() -> Iterator[None]:
    """New processes read how many threads they may use when they begin: cells run side by side, so one each."""
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


def _serve(link: Connection, experiment: Experiment) -> None:
    while True:
        try:
            trial, run = link.recv()
            link.send(experiment.observe(trial, run))
        except (EOFError, ConnectionError):
            return


def _handed(link: Connection, waiting: deque[Task]) -> Task:
    task = waiting.popleft()
    # Where it has ended already, waiting for its answer shows that.
    with suppress(ConnectionError):
        link.send(task)
    return task


def _received(link: Connection, process: BaseProcess) -> Observation:
    try:
        return cast(Observation, link.recv())
    except (EOFError, ConnectionError):
        process.join()
        reason = f"the process that made it ended with code {process.exitcode}; it may have run out of memory"
        return Observation(seconds=0.0, failed=reason, lost=True, again=True)


def _at_work(crew: dict[Connection, tuple[BaseProcess, Task]]) -> list[Task]:
    return [task for _, task in crew.values()]
