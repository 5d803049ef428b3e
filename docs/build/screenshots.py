"""Pictures of pages for the README and the documentation, taken of a demonstration in a real browser.

::

    hush demo --out demo --rows 1500
    python -m docs.build.screenshots demo
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
AUDIT = "private/audit-aim/audit.html"
SIZE = {"width": 1280, "height": 900}


def take(demo: Path, folder: Path) -> Path:
    """The first screen of an audit as ``report.png``."""
    path = os.environ.get("HUSHTABLE_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    # The sandbox of the browser cannot be used by root.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=path, args=arguments)
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto((demo / AUDIT).resolve().as_uri())
        page.screenshot(path=folder / "report.png")
        browser.close()
    return folder / "report.png"


if __name__ == "__main__":
    print(take(Path(sys.argv[1]), Path(__file__).parents[1]))
