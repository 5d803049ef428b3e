"""One event loop for all tests of the studio, so that they share one table worker: to start it takes longer than to use it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from hushtable.data.people import people
from hushtable.studio import places
from hushtable.studio.studio import Studio
from hushtable.studio.worker import Worker
from hushtable.table import io
from tests.conftest import ROOT
from tests.unit.studio.client import Client

PATIENT = 120.0
"""Seconds for an answer: what is tested here is not how busy the machine is."""
COLUMNS = ("person_id", "birth_date", "sex", "education", "income", "diagnosis")


@pytest.fixture(scope="session")
def run() -> Iterator[Callable[[Coroutine[Any, Any, Any]], Any]]:
    """Run a coroutine to its end."""
    with asyncio.Runner() as runner:
        yield runner.run


@pytest.fixture(scope="session", autouse=True)
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What the studio keeps for its owner, and where processes that it starts find these tests."""
    folder = tmp_path_factory.mktemp("state")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(places.VARIABLE, str(folder))
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "src")]))
        yield folder


def make_town(folder: Path) -> Path:
    """A start folder with a small table, one below it, and what is not to be opened."""
    table = people(120, seed=3).select(COLUMNS)
    io.write(table, folder / "people.csv")
    (folder / "below").mkdir()
    io.write(table, folder / "below" / "deeper.csv.gz")
    (folder / "notes.pdf").write_text("no table")
    (folder / "kept.private").mkdir()
    return folder


@pytest.fixture
def town(tmp_path: Path) -> Path:
    """A start folder of one's own."""
    return make_town(tmp_path)


@pytest.fixture(scope="session")
def worker(run: Callable[..., Any], state: Path) -> Iterator[Worker]:
    """The worker of all studios here: it goes from table to table."""
    started = Worker(PATIENT)
    yield started
    run(started.stop())


@pytest.fixture
def client(town: Path, worker: Worker, run: Callable[..., Any]) -> Iterator[Client]:
    """A window on a studio that has no table open yet."""
    opened = Client(Studio(town, worker=worker))
    run(opened.enter())
    yield opened
    run(opened.studio.leave())


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, run: Callable[..., Any], worker: Worker) -> Iterator[Client]:
    """A window on a studio with an open table, for tests that change nothing of it."""
    opened = Client(Studio(make_town(tmp_path_factory.mktemp("shared")), worker=worker))
    run(opened.enter())
    run(open_table(opened))
    yield opened
    run(opened.studio.leave())


async def open_table(client: Client, name: str = "people.csv") -> None:
    """Read a table of the start folder to the end."""
    entries, _ = client.studio.files.listing(client.studio.files.root)
    page = await client.get("open")
    await client.send(page.form("open/table", file=next(e.id for e in entries if e.name == name)))
    reading = client.studio.reading
    if reading is not None and reading.task is not None:
        await asyncio.gather(reading.task, return_exceptions=True)
