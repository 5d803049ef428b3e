"""Jobs: in turn, cancelled at any moment, and told apart however they end; nothing half-written stays."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from hushtable.errors import InputError
from hushtable.studio import words
from hushtable.studio.jobs import Job, Jobs, State
from hushtable.studio.pipe import GRACE
from hushtable.table.disk import owner
from tests.unit.studio.fake_job import SECRET

FAKE = "tests.unit.studio.fake_job"


@pytest.fixture
def jobs(tmp_path, run):
    """The jobs of a workspace with three runs, done by the fake process."""
    for number in ("001", "002", "003"):
        (tmp_path / "runs" / number).mkdir(parents=True)

    async def make():
        return Jobs(tmp_path, module=FAKE)

    made = run(make())
    yield made
    run(made.close())


def begin(jobs, verb, number="001", **request):
    return jobs.start(verb, request, jobs.folder / "runs" / number, verb, name="release", like=verb)


async def ended(job, seconds=30.0):
    for _ in range(int(seconds / 0.02)):
        if not job.state.open:
            return job
        await asyncio.sleep(0.02)
    raise AssertionError(f"{job.state} after {seconds} s")


async def at(job, state, stage=""):
    for _ in range(500):
        if job.state is state and stage in job.stages.current:
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"{job.state}, {job.stages.current}")


def alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    # A process that nobody waited for is dead all the same.
    with contextlib.suppress(OSError), open(f"/proc/{process}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"
    return True


def test_a_job_is_done_and_remembered(jobs, run):
    async def go():
        return await ended(begin(jobs, "quick", n=7))

    job = run(go())
    assert (job.state, job.result, job.share) == (State.DONE, {"n": 7}, 1.0)
    assert set(job.seconds) == {"counting"}
    again = Job.load(job.record)
    assert again is not None
    assert (again.state, again.result, again.id) == (State.DONE, {"n": 7}, "runs-001-release")
    assert job.record.stat().st_mode & 0o077 == 0


def test_jobs_run_one_after_the_other_in_their_order(jobs, run):
    async def go():
        first, second, third = (begin(jobs, "quick", number, n=i) for i, number in enumerate(("001", "002", "003")))
        assert (first.state, second.state, third.state) == (State.RUNNING, State.QUEUED, State.QUEUED)
        await jobs.cancel(second.id)
        assert second.state is State.CANCELLED
        await ended(third)
        return first, second, third

    first, second, third = run(go())
    assert first.ended <= third.started
    assert not (second.folder / "ran").exists()
    assert (third.folder / "ran").read_text() == "2"


def test_so_many_jobs_run_side_by_side_as_was_asked(tmp_path, run):
    for number in ("001", "002", "003"):
        (tmp_path / "runs" / number).mkdir(parents=True)

    async def go():
        jobs = Jobs(tmp_path, most=2, module=FAKE)
        states = [begin(jobs, "slow", number).state for number in ("001", "002", "003")]
        await jobs.close()
        return states

    assert run(go()) == [State.RUNNING, State.RUNNING, State.QUEUED]


def test_progress_has_a_total(jobs, run):
    async def go():
        job = begin(jobs, "slow")
        await at(job, State.RUNNING, "walking")
        while job.share == 0:
            await asyncio.sleep(0.02)
        share, efforts, counts = job.share, dict(job.stages.efforts), job.counts
        await jobs.cancel(job.id)
        return share, efforts, counts

    share, efforts, counts = run(go())
    assert 0 < share < 0.75
    assert efforts == {"walking": 3.0, "resting": 1.0}
    assert counts == (1, 2)


def test_a_cancelled_job_is_gone_in_time_and_leaves_nothing(jobs, run):
    async def go():
        job = begin(jobs, "slow")
        await at(job, State.RUNNING, "walking")
        process = jobs._pipes[job.id].process.pid
        begun = time.monotonic()
        await jobs.cancel(job.id)
        return job, process, time.monotonic() - begun

    job, process, took = run(go())
    assert job.state is State.CANCELLED
    assert took < GRACE
    assert not alive(process)
    assert [path.name for path in job.folder.iterdir()] == ["release.job.json"]


def test_a_job_that_will_not_stop_is_stopped_and_what_it_left_is_removed(jobs, run, monkeypatch):
    monkeypatch.setattr("hushtable.studio.pipe.Pipe.stop.__defaults__", (0.3,))

    async def go():
        job = begin(jobs, "stubborn")
        await at(job, State.RUNNING, "refusing")
        process = jobs._pipes[job.id].process.pid
        await jobs.cancel(job.id)
        return job, process

    job, process = run(go())
    assert job.state is State.CANCELLED
    assert not alive(process)
    assert [path.name for path in job.folder.iterdir()] == ["release.job.json"]
    assert GRACE == 3


def test_a_job_can_be_cancelled_before_its_process_has_begun(jobs, run):
    async def go():
        job = begin(jobs, "slow")
        await jobs.cancel(job.id)
        return job

    assert run(go()).state is State.CANCELLED


@pytest.mark.parametrize(
    ("verb", "said"),
    [
        ("refuses", ["k: must be at least 2", "column age: has no domain"]),
        ("plans", [": this cannot be done"]),
        ("breaks", [f": {words.out_of_order('ValueError')}"]),
        ("runs_out", [f": {words.out_of_order('MemoryError')}"]),
        ("dies", [f": {words.died(-9)}"]),
        ("leaves", [f": {words.died(3)}"]),
        ("babbles", [f": {words.out_of_order(words.NONSENSE)}"]),
        ("goes_on_and_on", [f": {words.out_of_order(words.NONSENSE)}"]),
    ],
)
def test_every_way_to_fail_is_told_apart_and_no_row_is_told(jobs, run, verb, said, monkeypatch):
    monkeypatch.setattr("hushtable.studio.jobs.LONGEST", 200_000)

    async def go():
        return await ended(begin(jobs, verb))

    job = run(go())
    assert job.state is State.FAILED
    assert [re.sub(r" at \S+, line \d+", "", str(fault)) for fault in job.faults] == said
    assert SECRET not in job.record.read_text()
    assert [path.name for path in job.folder.iterdir()] == ["release.job.json"]


def test_the_notes_of_an_error_come_along(jobs, run):
    async def go():
        return await ended(begin(jobs, "refuses"))

    assert run(go()).notes == ["nothing was spent"]


def test_a_job_that_says_too_much_does_not_hold_up_the_pages(jobs, run):
    async def go():
        job, slowest = begin(jobs, "floods"), 0.0
        while job.state.open:
            begun = time.perf_counter()
            await asyncio.sleep(0.01)
            slowest = max(slowest, time.perf_counter() - begun)
        return job, slowest

    job, slowest = run(go())
    assert job.result == {"flooded": True}
    assert len(job.stages.done) == 7
    assert slowest < 0.5


def test_what_a_job_prints_reaches_nobody(jobs, run):
    async def go():
        return await ended(begin(jobs, "prints"))

    job = run(go())
    assert (job.state, job.result) == (State.DONE, {})
    assert SECRET not in job.record.read_text()


def test_a_job_reaches_nothing_outside(jobs, run):
    async def go():
        return await ended(begin(jobs, "connects"))

    assert run(go()).result == {"refused": words.OFFLINE}


def test_the_last_job_like_it_says_how_long_it_usually_takes(jobs, run):
    async def go():
        first = await ended(begin(jobs, "quick", "001", n=1))
        second = begin(jobs, "quick", "002", n=2)
        other = begin(jobs, "slow", "003")
        found = jobs.usual(second), jobs.usual(other)
        await jobs.cancel(other.id)
        return first, found

    first, (usual, none) = run(go())
    assert usual == first.seconds
    assert none == {}


def test_one_job_of_a_kind_works_for_a_folder(jobs, run):
    async def go():
        job = begin(jobs, "slow")
        with pytest.raises(InputError, match=words.ALREADY_RUNNING):
            begin(jobs, "slow")
        await jobs.cancel(job.id)

    run(go())


def test_a_job_can_be_run_again(jobs, run):
    async def go():
        await ended(begin(jobs, "quick", n=4))
        return await ended(jobs.again("runs-001-release"))

    assert run(go()).result == {"n": 4}


def test_a_job_of_a_studio_that_ended_reads_interrupted(jobs, run):
    async def go():
        running, waiting = begin(jobs, "slow"), begin(jobs, "quick", "002", n=1)
        await at(running, State.RUNNING, "walking")
        # As it stands on the disk while the server is killed.
        kept = {job.record: job.record.read_text() for job in (running, waiting)}
        await jobs.close()
        for path, text in kept.items():
            path.write_text(text)
        # What its process left, where that was killed with the server.
        killed = subprocess.Popen([sys.executable, "-c", ""])
        killed.wait()
        (running.folder / f".{owner(killed.pid)}.release").mkdir()
        return Jobs(jobs.folder, module=FAKE)

    found = run(go())
    assert {job.state for job in found.jobs.values()} == {State.INTERRUPTED}
    assert found.open == []
    assert all(json.loads(job.record.read_text())["state"] == "interrupted" for job in found.jobs.values())
    assert {path.name for path in jobs.folder.glob("*/*/*")} == {"release.job.json"}


def test_a_damaged_record_is_left_alone(tmp_path, run):
    folder = tmp_path / "runs" / "001"
    folder.mkdir(parents=True)
    (folder / "release.job.json").write_text("{")

    async def go():
        return Jobs(tmp_path, module=FAKE).jobs

    assert run(go()) == {}


SERVER = """
import asyncio, sys, os
from pathlib import Path
from hushtable.studio.jobs import Jobs
async def main():
    jobs = Jobs(Path(sys.argv[1]), module="tests.unit.studio.fake_job")
    job = jobs.start("slow", {}, Path(sys.argv[1]) / "runs" / "001", "slow", name="release")
    while job.stages.current != "walking":
        await asyncio.sleep(0.02)
    print(jobs._pipes[job.id].process.pid, flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""


def test_a_job_ends_with_its_server_and_leaves_nothing(tmp_path):
    (tmp_path / "runs" / "001").mkdir(parents=True)
    server = subprocess.Popen([sys.executable, "-c", SERVER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    process = int(server.stdout.readline())
    assert alive(process)
    server.send_signal(signal.SIGKILL)
    server.wait()
    server.stdout.close()
    for _ in range(300):
        if not alive(process):
            break
        time.sleep(0.02)
    assert not alive(process)
    assert [path.name for path in (tmp_path / "runs" / "001").iterdir()] == ["release.job.json"]
