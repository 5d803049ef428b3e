"""A real browser, and real pages for it: a small release, its audit, its utility and a comparison."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import hushtable as ht
from hushtable.data.people import people

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
COLUMNS = ("birth_date", "sex", "education", "smoker", "diagnosis", "income", "readmitted")
ATTACKS = ("identical-matches", "closest-record", "membership", "linkability", "inference", "properties")
MEASURES = ("margins", "association", "downstream", "discriminator", "queries", "losses", "groups")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests; without one they are skipped."""
    path = os.environ.get("HUSHTABLE_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("no browser found: install chromium, or set HUSHTABLE_CHROMIUM to one")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    # The sandbox of the browser cannot be used by root.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=path, args=arguments)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages by name, each a file as a user would open it."""
    from hushtable.api.compare.comparison import Comparison
    from tests.unit.report.comparisons import ordinary

    folder = tmp_path_factory.mktemp("pages")
    train, control = ht.hold_out(people(300, 0).select(COLUMNS), 0.3, 0)
    released = ht.release(train, "mdav", settings={"k": "5"}, seed=0)
    ht.save(released, folder / "release")
    ht.audit(train, released, control, only=[*ATTACKS, *MEASURES], gates=["max_risk<0.2"]).save(folder / "audit")
    ht.utility(train, released, only=["margins", "association"]).save(folder / "utility")
    (folder / "comparison.html").write_text(Comparison.from_json(ordinary()).page(), encoding="utf-8")
    results = {
        "card": "release/card.html",
        "audit": "audit/audit.html",
        "utility": "utility/audit.html",
        "comparison": "comparison.html",
    }
    return {name: folder / path for name, path in results.items()}


@dataclass
class Opened:
    """A page in a window, and what it did that it should not."""

    page: Page
    faults: list[str] = field(default_factory=list)


@pytest.fixture
def visit(browser: Browser, pages: dict[str, Path]) -> Iterator[Any]:
    """Opens a page by its name; whatever it logs, throws or asks of the network is a fault."""
    contexts = []

    def go(name: str, width: int = 1280, height: int = 800, query: str = "", **options: Any) -> Opened:
        context = browser.new_context(viewport={"width": width, "height": height}, accept_downloads=True, **options)
        context.set_default_timeout(8000)
        # A whole audit is a long page: on a busy machine it takes its time to load.
        context.set_default_navigation_timeout(40_000)
        contexts.append(context)
        opened = Opened(context.new_page())
        address = pages[name].as_uri() + query

        def route(asked: Any) -> None:
            if asked.request.url.split("#")[0] == address.split("#")[0]:
                asked.continue_()
            else:
                opened.faults.append(f"asks for {asked.request.url}")
                asked.abort()

        opened.page.route("**/*", route)
        opened.page.on("console", lambda message: opened.faults.append(f"logs {message.text}"))
        opened.page.on("pageerror", lambda error: opened.faults.append(f"throws {error}"))
        opened.page.goto(address)
        return opened

    yield go
    for context in contexts:
        context.close()
