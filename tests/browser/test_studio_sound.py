"""What screens show once something was done: sound in both themes, at both widths. Before that they are in ``test_studio``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from hushtable.errors import Fault
from hushtable.studio.jobs import Job, State
from hushtable.studio.words import columns as said_of_columns
from hushtable.studio.words import open as said_of_open
from hushtable.studio.words import publish as said_of_publish
from tests.browser.test_studio import WIDTHS_AND_THEMES, Server, Window, serving, sound
from tests.browser.test_studio_audit import prepared
from tests.unit.studio.audited import attacked, released
from tests.unit.studio.client import Client
from tests.unit.studio.conftest import make_town
from tests.unit.studio.test_compare import finished

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SCREENS = (
    "run?job=runs-001-release",
    "run?job=runs-002-release",
    "run?job=runs-003-release",
    "compare",
    "compare?c=001&take=aim+epsilon%3D1",
    "audit?run=001&tab=attacks&known=choose",
    "audit?run=001&tab=people",
    "audit?run=001&tab=use",
    "audit?run=004",
    "publish?run=001",
    "publish?run=004",
)
"""A release that is done, one that failed, one that was cancelled; a comparison and how to take of it; an audit with its tabs; what
was not attacked; what was published, and what may not be yet."""


def happened(client: Client) -> None:
    """All that can be seen of jobs that ended, each way they end."""
    attacked(client, released(client))
    workspace = client.studio.workspace
    assert workspace is not None
    for state, faults in ((State.FAILED, [Fault("column income", "has a fault", 7, (1, 2, 3))]), (State.CANCELLED, [])):
        job = Job(workspace.numbered("runs"), "release", "release", {"options": {}}, "Release by mdav", state=state, faults=faults)
        job.save()
    released(client, hold_out=None)
    finished(client)


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The studio of a folder where much has happened, and its release was published."""
    folder, state = make_town(tmp_path_factory.mktemp("happened")), tmp_path_factory.mktemp("state")
    rows = "".join(f"2024-01-{day:02d},3\n" for day in range(1, 20))
    (folder / "visits.csv").write_text(f"2023-12-31,2\n{rows}")
    prepared(folder, state, happened)
    with serving(folder, state) as running:
        yield running


@pytest.fixture(scope="module")
def window(browser: Browser, town: Server) -> Iterator[Window]:
    """A window on it, its table open and its first release published."""
    context = browser.new_context()
    context.set_default_timeout(60_000)
    opened = Window(context, context.new_page())
    page = opened.page
    opened.watch(page)
    page.goto(town.link())
    page.wait_for_url("**/open")
    opened.base = page.url.removesuffix("/open")
    page.get_by_role("button", name=said_of_open.GO_ON_WITH).first.click()
    page.get_by_text(said_of_open.RIGHTLY).wait_for()
    publish(opened)
    yield opened
    context.close()
    # What is refused is answered with 422, which the browser notes.
    assert [fault for fault in opened.faults if "422" not in fault] == []


def publish(window: Window) -> None:
    """Take the release to its zip."""
    page = window.go("publish?run=001&new=1")
    for label in (said_of_publish.TITLE, said_of_publish.CONTACT, said_of_publish.LICENCE, said_of_publish.PURPOSE):
        page.get_by_label(label, exact=True).fill("A fictitious town")
    for label in (said_of_publish.BY, said_of_publish.REASON):
        page.get_by_label(label, exact=True).fill("Nobody in it exists")
    page.get_by_role("button", name=said_of_publish.PUBLISH, exact=True).click()
    page.get_by_text(said_of_publish.PUBLISHED).first.wait_for()


@pytest.fixture
def page(window: Window, size: tuple[int, int], theme: str) -> Page:
    """The page of the window, of this width and in this theme."""
    window.page.set_viewport_size({"width": size[0], "height": size[1]})
    window.page.emulate_media(color_scheme=theme)
    return window.page


def unfolded(page: Page) -> list[str]:
    """What is unsound of a page, all of it unfolded."""
    page.evaluate("for (const folded of document.querySelectorAll('details')) folded.open = true")
    return sound(page)


@pytest.mark.parametrize(
    ("size", "theme"),
    [WIDTHS_AND_THEMES[0], *(pytest.param(*one.values, marks=pytest.mark.nightly) for one in WIDTHS_AND_THEMES[1:])],
)
def test_what_was_done_is_sound(window: Window, page: Page):
    found = {}
    for screen in SCREENS:
        window.go(screen)
        found[screen] = unfolded(page)
    assert {screen: faults for screen, faults in found.items() if faults} == {}


@pytest.mark.parametrize(("size", "theme"), WIDTHS_AND_THEMES)
def test_what_is_refused_and_written_by_hand_is_sound(window: Window, page: Page):
    window.go("recipe?q=mdav")
    page.locator("#pick-mdav").first.click()
    page.locator("#setup").wait_for()
    page.locator("#field-seed").fill("-3")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("alert").wait_for()
    refused = unfolded(page)
    window.go("columns")
    page.get_by_role("button", name=said_of_columns.YAML).click()
    page.get_by_label(said_of_columns.YAML_FIELD).wait_for()
    written = unfolded(page)
    page.get_by_label(said_of_columns.YAML_FIELD).fill("columns:\n  sex: {kind: nonsense}\n")
    page.get_by_role("button", name=said_of_columns.YAML_SAVE).click()
    page.get_by_role("alert").wait_for()
    assert (refused, written, unfolded(page)) == ([], [], [])


@pytest.mark.parametrize(("size", "theme"), WIDTHS_AND_THEMES)
def test_a_first_line_that_is_questioned_is_sound(window: Window, page: Page):
    window.go("open?folder=")
    page.get_by_role("row", name="visits.csv").get_by_role("button").click()
    page.get_by_text("looks like somebody's record").first.wait_for()
    assert unfolded(page) == []
    window.go("open?folder=")
    page.get_by_role("button", name=said_of_open.GO_ON_WITH).first.click()
    page.get_by_text(said_of_open.RIGHTLY).wait_for()
