"""Tasks done by several processes: each once, and a process that ends without an answer costs its own task alone."""

from __future__ import annotations

from contextlib import suppress
from multiprocessing import Pipe
from threading import Thread

import pytest

from hushtable.api import workers
from hushtable.errors import InputError


def square(number: int) -> int:
    return number * number


class _Hand(Thread):
    """A process that is a thread; it ends without an answer when it is given one of these."""

    exitcode = -9

    def __init__(self, link, deadly):
        super().__init__(daemon=True)
        self.link, self.deadly = link, deadly

    def run(self):
        with suppress(EOFError):
            while (task := self.link.recv()) not in self.deadly:
                self.link.send(square(task))
        self.link.close()

    def terminate(self):
        pytest.fail("nothing is at work any more")


def crew(monkeypatch, count, deadly, hires=None):
    def hired(make):
        if hires is not None:
            hires.append(make)
        ours, theirs = Pipe()
        hand = _Hand(theirs, deadly)
        hand.start()
        return ours, hand

    monkeypatch.setattr(workers, "_hired", hired)
    return list(workers.perform(range(count), square, 3))


def test_every_task_is_done_once_and_a_lost_process_costs_its_own(monkeypatch):
    hires = []
    first, *done = crew(monkeypatch, 9, {4, 8}, hires)
    assert len(hires) <= 5, "only what ended is replaced"
    assert first.task is None
    assert first.at_work == [0, 1, 2]
    assert sorted(update.task for update in done) == list(range(9))
    assert {update.task for update in done if "code -9" in update.lost} == {4, 8}
    assert all(update.outcome == square(update.task) for update in done if not update.lost)
    assert done[-1].at_work == []


def test_where_no_process_answers_it_is_not_the_tasks_that_are_wrong(monkeypatch):
    monkeypatch.setattr(_Hand, "terminate", lambda hand: None)
    with pytest.raises(InputError, match="__main__"):
        crew(monkeypatch, 9, set(range(9)))


def test_one_worker_works_here():
    updates = list(workers.perform([2, 3], square, 1))
    assert [update.at_work for update in updates] == [[2], [3], []]
    assert [update.outcome for update in updates] == [None, 4, 9]


@pytest.mark.slow
def test_processes_of_their_own_give_what_one_gives():
    assert {update.task: update.outcome for update in workers.perform([2, 3, 4], square, 2) if update.task} == {2: 4, 3: 9, 4: 16}
