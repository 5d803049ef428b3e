"""The screens Audit and Publish in a real browser, on a table that was released and attacked before."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hushtable.studio import places
from hushtable.studio.studio import Studio
from hushtable.studio.words import audit as said
from hushtable.studio.words import open as said_of_open
from hushtable.studio.words import publish as said_of_publish
from hushtable.studio.worker import Worker
from tests.browser.test_studio import NARROW, WIDE, Server, Window, serving, sound
from tests.conftest import ROOT
from tests.unit.studio.audited import attacked, released
from tests.unit.studio.client import Client
from tests.unit.studio.conftest import PATIENT, make_town, open_table

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The studio of a folder whose table was released and attacked."""
    folder, state = make_town(tmp_path_factory.mktemp("audited")), tmp_path_factory.mktemp("state")
    prepared(folder, state, lambda client: attacked(client, released(client)))
    with serving(folder, state) as running:
        yield running


def prepared(folder: Path, state: Path, work: Callable[[Client], object]) -> None:
    """A studio that opens the table of a folder, has something done to it, and ends."""

    async def prepare() -> None:
        client = Client(Studio(folder, worker=Worker(PATIENT)))
        await client.enter()
        await open_table(client)
        work(client)
        await client.studio.close()

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(places.VARIABLE, str(state))
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "src")]))
        # The browser has an event loop of its own in this thread.
        with ThreadPoolExecutor(1) as pool:
            pool.submit(lambda: asyncio.run(prepare())).result()


def test_from_the_verdict_to_the_zip(browser: Browser, audited: Server, tmp_path: Path):
    context = browser.new_context(viewport={"width": WIDE[0], "height": WIDE[1]}, accept_downloads=True)
    context.set_default_timeout(30_000)
    window = Window(context, context.new_page())
    page = window.page
    window.watch(page)
    page.goto(audited.link())
    page.wait_for_url("**/open")
    window.base = page.url.removesuffix("/open")
    page.get_by_role("button", name=said_of_open.GO_ON_WITH).first.click()
    page.get_by_text(said_of_open.RIGHTLY).wait_for()
    page.get_by_role("link", name=said.LABEL).click()
    page.locator(".decided").wait_for()
    page.get_by_role("link", name=said.KNOWN["all"], exact=True).click()
    expect(page.get_by_role("link", name=said.KNOWN["all"], exact=True)).to_have_attribute("aria-current", "true")
    page.get_by_role("link", name=said.PEOPLE, exact=True).click()
    first = page.get_by_role("button", name=re.compile(f"^{said.SHOW_VALUES} the values")).first
    shown = first.get_attribute("id")
    # Until the script is there a form leaves the page, and takes the focus with it.
    page.wait_for_load_state()
    first.focus()
    page.keyboard.press("Enter")
    page.locator(".record.shown").wait_for()
    # The button that hides them again stands where the one was that showed them.
    assert page.evaluate("document.activeElement.id") == shown
    assert page.locator(".record.shown .agrees").count()
    screens = ("audit?tab=attacks&known=choose", "audit?tab=people", "audit?tab=use", "publish?new=1")
    for size, theme in ((WIDE, "light"), (NARROW, "dark")):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.emulate_media(color_scheme=theme)
        for screen in screens:
            window.go(screen)
            assert sound(page) == [], (screen, size, theme)
    page.set_viewport_size({"width": 320, "height": 600})
    for screen in screens:
        window.go(screen)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, screen
    page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    window.go("publish")
    for label, text in (
        (said_of_publish.TITLE, "A town"), (said_of_publish.CONTACT, "data@example.org"), (said_of_publish.LICENCE, "CC BY 4.0"),
        (said_of_publish.PURPOSE, "teaching"), (said_of_publish.BY, "A. Steward"), (said_of_publish.REASON, "a fictitious town"),
    ):  # fmt: skip
        page.get_by_label(label, exact=True).fill(text)
    page.get_by_role("button", name=said_of_publish.PUBLISH, exact=True).click()
    page.get_by_text("hush verify people-001.zip").wait_for()
    with page.expect_download() as saved:
        page.get_by_role("link", name=said_of_publish.DOWNLOAD).click()
    saved.value.save_as(tmp_path / "saved.zip")
    assert (tmp_path / "saved.zip").read_bytes() == (
        audited.folder / "people.studio" / "runs" / "001" / "people-001.zip"
    ).read_bytes()
    context.close()
    assert window.faults == []
