"""A data steward takes a register to a published bundle, screen by screen. The pictures of the documentation are made on the way::

HUSHTABLE_PICTURES=docs python -m pytest -n 0 -m nightly tests/browser/test_steward.py
"""

from __future__ import annotations

import os
import random
import re
import zipfile
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import hushtable as ht
from hushtable.studio.words import audit as said_of_audit
from hushtable.studio.words import columns as said_of_columns
from hushtable.studio.words import publish as said_of_publish
from hushtable.studio.words import recipe as said_of_recipe
from hushtable.studio.words import run as said_of_run
from tests.browser.test_studio import expect
from tests.browser.test_studio_trouble import look, read, start
from tests.conftest import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["look", "start"]
PATIENT = 300_000
"""Milliseconds for a job: what is tested here is not how busy the machine is."""


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Where pictures go: to the documentation where that is asked for."""
    folder = Path(os.environ.get("HUSHTABLE_PICTURES") or tmp_path / "pictures")
    folder.mkdir(exist_ok=True)
    return folder


def write_register(path: Path, stays: int = 1200) -> None:
    """Stays of nobody, as a spreadsheet in Europe writes them, with a few words among numbers and wards of a few people."""
    draw = random.Random(7)
    wards = ["Medicine 1"] * 40 + ["Medicine 2"] * 30 + ["Surgery"] * 25 + ["Neurology"] * 10 + ["Palliative", "Isolation"]
    codes = ["I10"] * 30 + ["E11"] * 22 + ["J44"] * 15 + ["I50"] * 12 + ["C34"] * 6 + ["G20"] * 4 + ["A15", "E84"]
    lines = ["birth_date;sex;postcode;ward;admitted;days;diagnosis;weight_kg;crp;copayment;died"]
    for _ in range(stays):
        days = 1 + int(draw.expovariate(0.15))
        cells = (
            (date(1930, 1, 1) + timedelta(draw.randrange(25_000))).strftime("%d.%m.%Y"),
            draw.choice("fm"),
            draw.choice(["10115", "10117", "10119", "20095", "50667", "80331"]),
            draw.choice(wards),
            (date(2025, 1, 1) + timedelta(draw.randrange(360))).strftime("%d.%m.%Y"),
            days,
            draw.choice(codes),
            f"{draw.gauss(78, 14):.1f}".replace(".", ","),
            "n/a" if draw.random() < 0.12 else f"{draw.expovariate(0.05):.1f}".replace(".", ","),
            f"{10 * min(28, days)},00",
            draw.choice(["no"] * 12 + ["yes"]),
        )
        lines.append(";".join(map(str, cells)))
    path.write_text("\n".join(lines) + "\n", encoding="cp1252")


def settled(page: Page) -> None:
    """Wait until nothing of a page is still to come."""
    expect(page.locator("[data-load]")).to_have_count(0, timeout=PATIENT)


@pytest.mark.nightly
def test_a_steward_takes_a_register_to_a_published_bundle(start, look, pictures):
    server = start()
    write_register(server.folder / "wards.csv")
    window = look(server)
    page = window.page
    read(window, "wards.csv")
    assert page.get_by_text("comma").first.is_visible()

    page = window.go("columns")
    settled(page)
    page.screenshot(path=pictures / "studio-columns.png")
    page.get_by_text(said_of_columns.SEVERAL).click()
    page.get_by_label(said_of_columns.EVERY).check()
    page.get_by_label(said_of_columns.REASON).fill("the hospital's data dictionary")
    if page.get_by_label(said_of_columns.WHOLE_CODES).count():
        page.get_by_label(said_of_columns.WHOLE_CODES).check()
    page.get_by_role("button", name=said_of_columns.MAKE_PUBLIC).click()
    page.get_by_text(said_of_columns.marked(0, 11)).wait_for()

    page = window.go("recipe")
    page.locator("#choose-mst").click()
    settled(page)
    page.get_by_text(re.compile("100 people become 100 ±")).wait_for()
    page.get_by_role("button", name=said_of_recipe.RUN, exact=True).click()
    page.locator("#job").get_by_text(said_of_run.DONE).wait_for(timeout=PATIENT)

    page = window.go("audit")
    page.get_by_role("button", name=said_of_audit.START).click()
    page.get_by_role("link", name=said_of_audit.REPORT).wait_for(timeout=PATIENT)
    settled(page)
    page.screenshot(path=pictures / "studio-audit.png")

    page = window.go("publish")
    for label, text in (
        (said_of_publish.TITLE, "Stays on the wards, 2025"),
        (said_of_publish.CONTACT, "The data office"),
        (said_of_publish.LICENCE, "CC BY 4.0"),
        (said_of_publish.PURPOSE, "Planning of beds"),
    ):
        page.get_by_label(label, exact=True).fill(text)
    if page.get_by_label(said_of_publish.REASON, exact=True).count():
        page.get_by_label(said_of_publish.BY, exact=True).fill("The data office")
        page.get_by_label(said_of_publish.REASON, exact=True).fill("A trial: nobody in it exists")
    page.get_by_role("button", name=said_of_publish.PUBLISH, exact=True).click()
    page.get_by_text(said_of_publish.PUBLISHED).first.wait_for(timeout=PATIENT)
    settled(page)
    page.screenshot(path=pictures / "studio-publish.png")

    (bundle,) = (server.folder / "wards.studio" / "runs" / "001").glob("*.zip")
    assert ht.verify(bundle).faults == ()
    with zipfile.ZipFile(bundle) as opened:
        assert not [name for name in opened.namelist() if "private" in name or "audit" in name or "journal" in name]
    shown = set(re.findall(r"studio-\w+\.png", (ROOT / "docs" / "pages" / "studio.md").read_text(encoding="utf-8")))
    assert shown == {path.name for path in pictures.glob("studio-*.png")}
