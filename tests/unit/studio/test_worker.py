"""The table worker: asked by name, newest first, stopped when it takes too long, and started again."""

from __future__ import annotations

import asyncio
import time

import pytest

from hushtable.errors import InputError
from hushtable.studio.worker import Stale, TooLong, Worker, WorkerFailed
from tests.unit.studio.fake_worker import SECRET


@pytest.fixture(scope="module")
def worker(run, state):
    made = Worker(module="tests.unit.studio.fake_worker")
    yield made
    run(made.stop())


def test_a_question_is_answered_and_its_progress_told(worker, run):
    told = []
    assert run(worker.ask("echo", {"text": "ä"}, watch=lambda *step: told.append(step))) == "ä"
    assert told == [("echoing", 0.5)]


def test_every_fault_comes_through(worker, run):
    with pytest.raises(InputError) as caught:
        run(worker.ask("refuse"))
    assert [str(fault) for fault in caught.value.faults] == ["age: is no column", "k: too small; rows 1, 2"]


def test_an_unknown_question_is_refused(worker, run):
    with pytest.raises(InputError):
        run(worker.ask("__import__"))


def test_questions_wait_for_their_turn(worker, run):
    async def go():
        return await asyncio.gather(*(worker.ask("echo", {"text": i}) for i in range(20)))

    assert run(go()) == list(range(20))


def test_of_questions_for_one_place_only_the_newest_is_answered(worker, run):
    async def go():
        asked = [asyncio.create_task(worker.ask("sleep", {"seconds": i / 1000}, slot="ladder")) for i in range(5)]
        asked.append(asyncio.create_task(worker.ask("echo", {"text": "other"}, slot="other")))
        return await asyncio.gather(*asked, return_exceptions=True)

    *early, last, other = run(go())
    assert all(isinstance(answer, Stale) for answer in early)
    assert (last, other) == (0.004, "other")


def test_a_question_that_takes_too_long_is_stopped_and_the_next_is_answered(worker, run):
    async def go():
        first, begun = await worker.ask("pid"), time.monotonic()
        with pytest.raises(TooLong) as caught:
            await worker.ask("sleep", {"seconds": 60}, limit=0.3)
        return first, caught.value, time.monotonic() - begun, await worker.ask("pid")

    first, error, took, second = run(go())
    assert (error.question, error.arguments) == ("sleep", {"seconds": 60})
    assert took < 5
    assert first != second


def test_nobody_waits_for_more_than_ten_seconds():
    assert Worker().limit == 10


def test_a_fault_of_ours_is_told_by_its_place_and_another_worker_starts(worker, run):
    with pytest.raises(WorkerFailed) as caught:
        run(worker.ask("fail"))
    assert "ValueError" in str(caught.value)
    assert SECRET not in str(caught.value)
    assert run(worker.ask("echo", {"text": "again"})) == "again"


def test_a_worker_that_died_is_started_again(worker, run):
    with pytest.raises(WorkerFailed):
        run(worker.ask("die"))
    assert run(worker.ask("echo", {"text": "again"})) == "again"


def test_whoever_gives_up_stops_the_work(worker, run):
    async def go():
        first = await worker.ask("pid")
        asked = asyncio.create_task(worker.ask("sleep", {"seconds": 60}))
        await asyncio.sleep(0.1)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        return first, await worker.ask("pid")

    first, second = run(go())
    assert first != second
