"""The studio on its real server in a real browser: the whole path, by pointer and by keyboard, in both themes and on a phone.

A request off loopback, a message in the console and a report of the content policy are faults of every test.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from hushtable.data.people import people
from hushtable.studio import places, words
from hushtable.studio.jobs import State
from hushtable.studio.words import columns as said_of_columns
from hushtable.studio.words import explorer as said_of_explorer
from hushtable.studio.words import levels as said_of_levels
from hushtable.studio.words import open as said_of_open
from hushtable.studio.words import recipe as said_of_recipe
from hushtable.studio.words import run as said_of_run
from hushtable.table import io
from tests.conftest import ROOT

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

COLUMNS = ("birth_date", "sex", "education", "smoker", "diagnosis", "income")
HUSH = "import sys; from hushtable.cli import main; sys.argv[0] = 'hush'; main()"
WIDE, NARROW = (1280, 800), (390, 844)
WIDTHS_AND_THEMES = [
    pytest.param(WIDE, "light", id="wide-light"),
    pytest.param(NARROW, "dark", id="narrow-dark"),
    pytest.param(WIDE, "dark", id="wide-dark", marks=pytest.mark.nightly),
    pytest.param(NARROW, "light", id="narrow-light", marks=pytest.mark.nightly),
]


@dataclass
class Server:
    """A studio that runs."""

    process: subprocess.Popen[str]
    environment: dict[str, str]
    folder: Path

    def link(self) -> str:
        """A fresh link, as the command line gives it."""
        command = [sys.executable, "-c", HUSH, "studio", "--url"]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=True, timeout=60)
        return done.stdout.strip()


@contextmanager
def serving(folder: Path, state: Path, before: str = "") -> Iterator[Server]:
    """A studio on a folder, ended with the block; ``before`` is done by its process before all else."""
    environment = {**os.environ, places.VARIABLE: str(state), "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    command = [sys.executable, "-c", before + HUSH, "studio", str(folder), "--no-browser"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            assert any(line.startswith("http") for line in process.stderr)
            yield Server(process, environment, folder)
        finally:
            process.terminate()
            process.wait(timeout=10)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The studio of a folder with a table and a hostile one."""
    folder = tmp_path_factory.mktemp("studio")
    io.write(people(300, 0).select(COLUMNS), folder / "people.csv")
    rows = "".join(f'{i},"<img src=x onerror=alert(1)>",{i % 5}\n' for i in range(40))
    (folder / "hostile.csv").write_text(f'nr,"<script>alert(2)</script>","""><b>"\n{rows}')
    state = tmp_path_factory.mktemp("state")
    with serving(folder, state) as running:
        yield running
    assert list(state.glob("studio-*.json")) == []


@dataclass
class Window:
    """A browser window on the studio, and what happened in it that should not."""

    context: BrowserContext
    page: Page
    base: str = ""
    faults: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        """Whatever a page logs, throws, or asks of another machine is a fault."""
        page.on("console", lambda message: self.faults.append(f"logs {message.text}"))
        page.on("pageerror", lambda error: self.faults.append(f"throws {error}"))
        page.on("request", lambda asked: self._asked(asked.url))

    def _asked(self, url: str) -> None:
        if urlsplit(url).hostname not in ("127.0.0.1", None) and not url.startswith("data:"):
            self.faults.append(f"asks for {url}")

    def go(self, screen: str) -> Page:
        """Show a screen."""
        self.page.goto(f"{self.base}/{screen}")
        return self.page


Opening = Callable[..., Window]


@pytest.fixture
def studio(browser: Browser, server: Server) -> Iterator[Opening]:
    """Opens the studio in a window of its own; what a window did that it should not is told at the end of every test."""
    windows: list[Window] = []

    def go(size: tuple[int, int] = WIDE, **options: Any) -> Window:
        context = browser.new_context(viewport={"width": size[0], "height": size[1]}, accept_downloads=True, **options)
        context.set_default_timeout(30_000)
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


def open_people(window: Window, name: str = "people.csv") -> None:
    """Read a table, unless it is open already."""
    page = window.go("open")
    if page.locator("#strip", has_text=name).count() == 0:
        if page.get_by_text(said_of_open.ANOTHER).count():
            page.get_by_text(said_of_open.ANOTHER).click()
        page.get_by_role("row", name=name).get_by_role("button").click()
        page.get_by_text(said_of_open.RIGHTLY).wait_for()


def choose(window: Window, recipe: str = "mdav") -> Page:
    """The page on which a recipe is set."""
    page = window.go(f"recipe?q={recipe}")
    own = page.locator(f"#pick-{recipe}")
    if own.evaluate("element => element.tagName") == "BUTTON":
        own.click()
    page.get_by_role("button", name=said_of_recipe.RUN, exact=True).wait_for()
    return page


def sound(page: Page) -> list[str]:
    """What a checker of accessibility finds, and whether the page is wider than its window."""
    from axe_playwright_python.sync_playwright import Axe

    results = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]})
    found = [f"{v['id']}: {v['nodes'][0]['html'][:160]}" for v in results.response["violations"]]
    if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
        found.append("wider than the window")
    return found


def test_from_a_table_to_the_card_of_its_release(studio: Opening, server: Server):
    window = studio()
    page = window.page
    open_people(window)
    page.get_by_role("link", name=said_of_open.GO_ON).click()
    page.get_by_text(re.compile("of people are unique by birth_date")).wait_for()
    expect(page.locator("[data-load]")).to_have_count(0)
    assert page.locator(".bar-number").count() == 3 * len(COLUMNS)
    page.get_by_role("link", name=said_of_columns.GO_ON).click()
    page.get_by_label(said_of_recipe.VALUES_WORDS[1][1]).check()
    page.locator("#choose-mdav").click()
    # The focus stays where it was: on what took the place of the button.
    expect(page.locator("#choose-mdav")).to_be_focused()
    page.get_by_text(said_of_recipe.UNTOUCHED).wait_for()
    page.get_by_label(said_of_recipe.SEED).fill("1")
    page.get_by_role("button", name=said_of_recipe.RUN, exact=True).click()
    page.get_by_role("progressbar").wait_for()
    expect(page).to_have_title(re.compile(r"^\d+ % · "))
    page.locator("#job").get_by_text(said_of_run.DONE).wait_for()
    assert not re.match(r"\d+ %", page.title())
    assert page.get_by_role("status").text_content().startswith(said_of_run.DONE)
    with window.context.expect_page() as opened:
        page.get_by_role("link", name=said_of_run.CARD).click()
    card = opened.value
    window.watch(card)
    card.get_by_role("heading", level=1).wait_for()
    # A page of its own origin, which is none: it has no cookie and no way back.
    assert card.evaluate("self.origin") == "null"
    assert card.evaluate("window.opener") is None
    asked = "fetch(arguments[0] || location.href.replace(/result.*/, 'open')).then(() => 'answered', () => 'refused')"
    assert card.evaluate(f"(function () {{ return {asked} }})()") == "refused"
    # That it was refused is what the page logs, here and nowhere else.
    window.faults = [fault for fault in window.faults if "Content Security Policy" not in fault and "Fetch API" not in fault]
    assert (server.folder / "people.studio" / "runs" / "001" / "release" / "card.json").exists()
    memory = Path(f"/proc/{server.process.pid}/status")
    if memory.exists():
        assert int(re.search(r"VmHWM:\s*(\d+)", memory.read_text()).group(1)) < 60 * 1024


def test_a_job_survives_a_reload_is_seen_in_two_tabs_and_is_cancelled_within_three_seconds(studio: Opening):
    window = studio()
    open_people(window)
    page = choose(window, "sequential")
    page.get_by_role("button", name=said_of_recipe.RUN, exact=True).click()
    page.get_by_role("progressbar").wait_for()
    page.reload()
    page.get_by_role("progressbar").wait_for()
    other = window.context.new_page()
    window.watch(other)
    other.goto(page.url)
    other.get_by_role("progressbar").wait_for()
    other.get_by_role("button", name=words.CANCEL).click()
    for tab in (page, other):
        expect(tab.locator("#content")).to_contain_text(said_of_run.ENDED[State.CANCELLED], timeout=5000)


def test_values_are_dragged_into_groups_and_levels_chosen_with_the_arrow_keys(studio: Opening):
    window = studio()
    open_people(window)
    page = window.go("levels?column=2")
    first = page.locator("tr[data-drag]").first.locator("td").nth(1).text_content()
    page.locator("tr[data-drag]").first.get_by_role("checkbox").check()
    page.get_by_label(said_of_levels.NEW_LABEL).fill("a group")
    page.get_by_role("button", name=said_of_levels.MOVE, exact=True).click()
    group = page.locator("[data-drop]").filter(has_text="a group")
    group.wait_for()
    line = page.locator("tr[data-drag]").nth(1)
    second = line.locator("td").nth(1).text_content()
    line.drag_to(group)
    page.get_by_role("option", name="a group (2)").wait_for(state="attached")
    for name in (first, second):
        row = page.locator("tr[data-drag]").filter(has=page.get_by_role("cell", name=name, exact=True))
        assert row.locator("td").last.text_content() == "a group"
    page.get_by_role("link", name=said_of_levels.EXPLORE).click()
    page.locator(".judged-plot").wait_for()
    ladder = page.get_by_role("group", name="birth_date").get_by_role("radio")
    ladder.first.focus()
    for level in (1, 2):
        page.keyboard.press("ArrowRight")
        # It is judged at once, and the focus stays on the level.
        expect(page.locator("#command")).to_contain_text(f"birth_date={level}")
        expect(ladder.nth(level)).to_be_focused()
    expect(page.locator("[data-load]")).to_have_count(0)
    page.get_by_role("button", name=said_of_explorer.MAKE_CURRENT).click()
    page.get_by_text(said_of_explorer.IS_CURRENT).wait_for()
    page = window.go("levels?column=2")
    for _ in range(2):
        page.get_by_role("button", name=said_of_levels.UNDO, exact=True).click()
    expect(page.locator("[data-drop]").filter(has_text="a group")).to_have_count(0)


@pytest.mark.parametrize(("size", "theme"), WIDTHS_AND_THEMES)
def test_every_screen_is_sound(studio: Opening, size: tuple[int, int], theme: str):
    window = studio(size, color_scheme=theme)
    open_people(window)
    found = {}
    for screen in (
        "open?folder=",
        "columns?risk=all",
        "columns?view=column&column=1",
        "columns?view=dictionary",
        "levels?column=2&beside=yes",
        "explorer?all=yes",
        "recipe?tried=1&q=mdav",
        "compare?new=1",
        "run",
        "journal",
    ):
        page = window.go(screen)
        page.evaluate("for (const folded of document.querySelectorAll('details')) folded.open = true")
        found[screen] = sound(page)
    assert found == {screen: [] for screen in found}


def test_the_page_fits_320_pixels(studio: Opening):
    window = studio((320, 600))
    open_people(window)
    for screen in (
        "open",
        "columns?risk=all",
        "columns?view=column&column=1",
        "levels?column=2",
        "explorer?all=yes",
        "recipe?tried=1",
        "compare?new=1",
        "journal",
    ):
        page = window.go(screen)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, screen


def test_without_script_everything_is_pages_and_forms(studio: Opening):
    window = studio(java_script_enabled=False)
    page = window.go("open")
    if not page.get_by_text(said_of_open.RIGHTLY).count():
        page.get_by_role("row", name="people.csv").get_by_role("button").click()
        # The page asks again by itself.
        page.get_by_text(said_of_open.RIGHTLY).wait_for()
    page = window.go("columns")
    page.get_by_role("link", name=said_of_columns.WITHOUT_SCRIPT).click()
    assert page.locator(".bar-number").count() == 3 * len(COLUMNS)
    page = choose(window)
    page.get_by_label(said_of_recipe.HOLD_OUT).fill("often")
    page.get_by_role("button", name=said_of_recipe.RUN, exact=True).click()
    assert page.get_by_role("alert").get_by_role("link").get_attribute("href") == "#field-hold_out"
    # A refused form is answered with 422, which the browser notes.
    window.faults = [fault for fault in window.faults if "422" not in fault]


def test_the_grid_is_one_tab_stop_and_walked_by_arrows(studio: Opening):
    window = studio()
    open_people(window)
    page = window.go("columns")
    expect(page.locator("[data-load]")).to_have_count(0)
    grid = page.locator("[data-grid]")
    assert grid.locator("[tabindex='0']").count() == 1
    grid.locator("[tabindex='0']").focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    place = page.evaluate("[document.activeElement.closest('tr').rowIndex, document.activeElement.closest('td').cellIndex]")
    assert place == [2, 2]
    assert grid.locator("[tabindex='0']").count() == 1


def test_a_role_is_changed_by_the_arrow_keys_and_undone(studio: Opening):
    window = studio()
    open_people(window)
    page = window.go("columns")
    expect(page.locator("[data-load]")).to_have_count(0)
    expect(page.locator("#headline .lead")).to_contain_text("education")
    page.locator("#tick-1").check()
    held = page.get_by_role("group", name=said_of_columns.role_of("education")).get_by_role("radio", checked=True)
    held.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#headline .lead")).to_be_visible()
    expect(page.locator("#headline .lead")).not_to_contain_text("education")
    # The focus is where it was, one step on, and the tick stays.
    expect(page.locator(":focus")).to_have_id("role-2-secret")
    expect(page.locator("#tick-1")).to_be_checked()
    assert page.locator("[data-grid] [tabindex='0']").count() == 1
    for key in ("ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    expect(page.locator(":focus")).to_have_id("role-2-plain")
    # At its end the switch leads on to the next cell.
    expect(page.locator("[data-load]")).to_have_count(0)
    page.keyboard.press("ArrowRight")
    expect(page.locator(":focus")).to_have_id("cell-2-3")
    page.get_by_role("button", name=said_of_columns.UNDO).click()
    expect(page.locator("#role-2-plain")).not_to_be_checked()
    expect(page.get_by_role("button", name=said_of_columns.REDO)).to_be_enabled()


def test_the_summary_of_faults_is_focused_and_leads_to_its_field(studio: Opening):
    window = studio()
    open_people(window)
    page = choose(window)
    page.get_by_label(said_of_recipe.SEED).fill("-3")
    page.get_by_role("button", name=said_of_recipe.RUN, exact=True).click()
    page.get_by_role("alert").get_by_role("link").click()
    assert page.evaluate("document.activeElement.id") == "field-seed"
    # A refused form is answered with 422, which the browser notes.
    window.faults = [fault for fault in window.faults if "422" not in fault]


def test_a_command_is_copied(studio: Opening):
    window = studio(permissions=["clipboard-read", "clipboard-write"])
    open_people(window)
    page = window.go("columns")
    page.get_by_role("button", name=words.COPY).click()
    expect(page.get_by_role("status")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == "hush profile people.csv --schema people.studio/schema.yaml"


def test_a_locked_screen_shows_nothing_more(studio: Opening):
    window = studio()
    open_people(window)
    page = window.go("columns")
    page.get_by_role("button", name=words.LOCK).click()
    assert page.get_by_role("heading").text_content() == words.LOCKED
    page.go_back()
    assert page.get_by_role("heading").text_content() == words.LOCKED
    # The refusal is noted by the browser.
    window.faults = [fault for fault in window.faults if "403" not in fault]


def test_markup_of_a_table_is_text(studio: Opening):
    window = studio()
    open_people(window, "hostile.csv")
    for screen in ("open", "columns", "recipe", "compare?new=1", "journal"):
        page = window.go(screen)
        assert page.locator("main img, main b, main script").count() == 0
    page = window.go("columns")
    assert page.get_by_text("<script>alert(2)</script>", exact=True).count() == 1
    open_people(window)
