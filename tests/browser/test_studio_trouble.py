"""The studio when things go wrong: it is killed, cannot write, is opened twice, or meets a table that is wide or long."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import hushtable as ht
from hushtable.data.people import people
from hushtable.studio import words
from hushtable.studio.jobs import State
from hushtable.studio.words import columns as said_of_columns
from hushtable.studio.words import open as said_of_open
from hushtable.studio.words import recipe as said_of_recipe
from hushtable.studio.words import run as said_of_run
from hushtable.table import io
from tests.browser.test_studio import COLUMNS, WIDE, Server, Window, expect, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser

LIMITED = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0})); "
"""No file may grow beyond so many bytes: as on a disk that is full, what is longer cannot be written."""
Start = Callable[..., Server]
Look = Callable[[Server], Window]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts studios of a folder with a table; each is ended with the test."""
    folder, state = tmp_path / "folder", tmp_path / "state"
    folder.mkdir()
    state.mkdir()
    io.write(people(300, 0).select(COLUMNS), folder / "people.csv")
    with contextlib.ExitStack() as stack:
        yield lambda limit=0: stack.enter_context(serving(folder, state, LIMITED.format(limit) if limit else ""))


@pytest.fixture
def look(browser: Browser) -> Iterator[Look]:
    """Opens a window on a studio; what it logs or asks of other machines is told at the end."""
    windows: list[Window] = []

    def go(server: Server) -> Window:
        context = browser.new_context(viewport={"width": WIDE[0], "height": WIDE[1]})
        context.set_default_timeout(60_000)
        window = Window(context, context.new_page())
        windows.append(window)
        window.watch(window.page)
        window.page.goto(server.link())
        window.page.wait_for_url("**/open")
        window.base = window.page.url.removesuffix("/open")
        return window

    yield go
    for window in windows:
        window.context.close()
    assert [fault for window in windows for fault in window.faults] == []


def read(window: Window, name: str = "people.csv", said: str = said_of_open.RIGHTLY) -> None:
    """Open a table, until something is said of it."""
    page = window.go("open")
    page.get_by_role("row", name=name).get_by_role("button").click()
    page.get_by_text(said).first.wait_for()


def run(window: Window, recipe: str) -> None:
    """Start a release by a recipe."""
    page = window.go(f"recipe?q={recipe}")
    page.locator(f"#pick-{recipe}").click()
    page.get_by_role("button", name=said_of_recipe.RUN, exact=True).click()
    page.wait_for_url("**/run?*")


def children(process: int) -> list[int]:
    """The processes that a process started."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True, timeout=30)
    pairs = [map(int, line.split()) for line in listed.stdout.splitlines()]
    return [own for own, parent in pairs if parent == process]


def alive(process: int) -> bool:
    """Whether a process still works: one that nobody waited for is dead all the same."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False, timeout=30)
    return state.stdout.strip()[:1] not in ("", "Z")


@pytest.mark.nightly
def test_of_a_studio_that_is_killed_nothing_stays_and_the_next_one_says_interrupted(start, look):
    server = start()
    window = look(server)
    read(window)
    run(window, "sequential")
    window.page.locator("[data-job]").get_by_role("table").wait_for()
    begun = children(server.process.pid)
    assert len(begun) == 2
    server.process.kill()
    end = time.monotonic() + 10
    while any(map(alive, begun)):
        assert time.monotonic() < end, "a process outlives its studio"
        time.sleep(0.1)
    # Whoever looks at the page is told, and what to do.
    expect(window.page.get_by_role("alert")).to_contain_text(words.LOST, timeout=15_000)
    window.context.close()
    # It has lost its studio, and said so in its console.
    window.faults.clear()
    assert sorted(path.name for path in (server.folder / "people.studio" / "runs" / "001").iterdir()) == [
        "release.job.json", "schema.yaml",
    ]  # fmt: skip
    window = look(start())
    read(window)
    page = window.go("run")
    page.locator("#job").get_by_text(said_of_run.ENDED[State.INTERRUPTED]).wait_for()
    assert page.get_by_role("button", name=said_of_run.AGAIN).count() == 1


def test_a_second_studio_is_told_that_the_first_has_the_table_open(start, look):
    read(look(start()))
    read(look(start()), said=words.in_use("people.studio"))


def test_a_folder_that_cannot_be_written_is_said_and_what_to_do(start, look):
    server = start()
    if os.geteuid() == 0:
        (server.folder / "people.studio").write_text("Where the folder should be. Nothing else keeps root from writing.")
    else:
        server.folder.chmod(0o500)
    try:
        read(look(server), said="The private folder people.studio beside the table cannot be written")
    finally:
        server.folder.chmod(0o700)


@pytest.mark.parametrize("limit", [700, 16_384], ids=["at-once", "in-mid-job"])
def test_a_full_disk_is_said_and_nothing_half_written_stays(start, look, limit):
    server = start(limit)
    window = look(server)
    folder = server.folder / "people.studio"
    if limit < 1000:
        read(window, said="cannot be written: File too large")
        assert [path.name for path in folder.rglob("*") if "schema" in path.name or path.name.startswith(".")] == []
        return
    # What is compiled at the first release is kept: that needs a disk which is not full.
    ht.release(ht.read(server.folder / "people.csv"), "sequential", seed=0)
    read(window)
    run(window, "sequential")
    window.page.locator("#job").get_by_text(said_of_run.ENDED[State.FAILED]).wait_for()
    window.page.get_by_text("cannot be written: File too large").first.wait_for()
    assert sorted(path.name for path in (folder / "runs" / "001").iterdir()) == ["release.job.json", "schema.yaml"]


def test_two_tabs_change_one_schema(start, look):
    """A tab that shows an older state changes what it was asked to change, and nothing else."""
    window = look(start())
    read(window)
    window.go("columns")
    other = window.context.new_page()
    window.watch(other)
    other.goto(window.page.url)
    for tab, column, role in ((window.page, "sex", "secret"), (other, "income", "plain")):
        group = tab.get_by_role("group", name=said_of_columns.role_of(column))
        group.get_by_label(said_of_columns.ROLES[role], exact=True).check()
        expect(tab.get_by_role("button", name=said_of_columns.UNDO)).to_be_enabled()
        expect(group.get_by_label(said_of_columns.ROLES[role], exact=True)).to_be_checked()
        tab.locator("form[aria-busy]").wait_for(state="detached")
    page = window.go("columns")
    for column, role in (("sex", "secret"), ("income", "plain")):
        group = page.get_by_role("group", name=said_of_columns.role_of(column))
        expect(group.get_by_label(said_of_columns.ROLES[role], exact=True)).to_be_checked()


@pytest.mark.slow
@pytest.mark.nightly
def test_a_table_of_1500_columns_stays_usable(start, look):
    server = start()
    rng = np.random.default_rng(0)
    names = [f"item_{number:04d}" for number in range(1500)]
    rows = "\n".join(",".join(map(str, row)) for row in rng.integers(0, 5, (60, 1500)))
    (server.folder / "wide.csv").write_text(",".join(names) + "\n" + rows + "\n")
    window = look(server)
    read(window, "wide.csv")
    for screen in ("open", "columns"):
        page = window.go(screen)
        # What a browser shows at once, whatever the table has.
        assert page.evaluate("document.getElementsByTagName('*').length") < 8000, screen
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDE[0], screen
    page.get_by_label(said_of_columns.FIND).fill("item_1234")
    page.get_by_role("button", name=said_of_columns.FIND_BUTTON).click()
    group = page.get_by_role("group", name=said_of_columns.role_of("item_1234"))
    group.get_by_label(said_of_columns.ROLES["secret"], exact=True).check()
    expect(page.get_by_role("button", name=said_of_columns.UNDO)).to_be_enabled()
    expect(group.get_by_label(said_of_columns.ROLES["secret"], exact=True)).to_be_checked()


@pytest.mark.nightly
def test_a_table_of_a_million_rows_is_read_with_progress_and_stopped_when_asked(start, look):
    server = start()
    table = people(100_000, 0).select(COLUMNS)
    io.write(table, server.folder / "tenth.csv")
    head, *rows = (server.folder / "tenth.csv").read_text().splitlines(keepends=True)
    (server.folder / "long.csv").write_text(head + 10 * "".join(rows))
    window = look(server)
    page = window.go("open")
    opened = time.monotonic()
    page.get_by_role("row", name="long.csv").get_by_role("button").click()
    page.get_by_role("progressbar").wait_for()
    assert time.monotonic() - opened < 5
    page.get_by_role("button", name=words.CANCEL).click()
    page.get_by_text(said_of_open.LISTING).first.wait_for(state="attached")
    assert not (server.folder / "long.studio").exists()
    page.set_default_timeout(300_000)
    read(window, "long.csv")
    page = window.go("columns")
    page.get_by_text(said_of_columns.sampled(300_000, 1_000_000)).wait_for()
