"""Who a row is about, said on Columns in a real browser; from then on people are counted on every screen."""

from __future__ import annotations

import json
import re

from hushtable.studio.words import audit as said_of_audit
from hushtable.studio.words import persons as said
from hushtable.studio.words import recipe as said_of_recipe
from hushtable.studio.words import run as said_of_run
from tests.browser.test_steward import settled
from tests.browser.test_studio import expect
from tests.browser.test_studio_trouble import look, read, start
from tests.unit.studio.test_persons import KEY, make_visits

__all__ = ["look", "start"]


def test_who_a_row_is_about_is_said_on_columns_and_holds_on_every_screen(start, look):
    server = start()
    make_visits(server.folder)
    window = look(server)
    read(window, "visits.csv")
    repeat = f"Values of {KEY} repeat"
    page = window.go("recipe")
    # Wherever it matters it is said that nobody has said it, with the way to where it can be.
    page.locator("#choose-mst").click()
    page.locator("#setup").get_by_text(repeat).wait_for()
    page.locator("#setup").get_by_role("link", name=said.TO_COLUMNS).click()
    page.wait_for_url("**/columns#persons")
    settled(page)
    expect(page.locator("#headline .lead")).to_contain_text("of rows are unique")
    expect(page.locator("#persons")).to_contain_text(repeat)
    # On Columns itself no link leads away from it.
    expect(page.locator("#persons").get_by_role("link", name=said.TO_COLUMNS)).to_have_count(0)
    # The key that repeats is proposed, and what is usual.
    expect(page.get_by_label(said.FIELD)).to_have_value(KEY)
    page.get_by_label(said.ROWS).fill("none")
    page.get_by_role("button", name=said.SAVE, exact=True).first.click()
    page.get_by_role("alert").get_by_role("link").click()
    expect(page.get_by_label(said.ROWS)).to_be_focused()
    page.get_by_label(said.ROWS).fill("2")
    page.get_by_role("button", name=said.SAVE, exact=True).first.click()

    expect(page.locator("#strip")).to_contain_text(said.short(KEY, 2))
    settled(page)
    expect(page.locator("#headline .lead")).to_contain_text("of people are unique")
    expect(page.locator("#persons")).not_to_contain_text(repeat)
    expect(page.locator("#command")).to_contain_text(f"--person {KEY}")

    page = window.go("recipe?q=mdav")
    page.locator("#pick-mdav").click()
    expect(page.locator("#setup code").first).to_have_text("mdav")
    expect(page.locator("#setup")).to_contain_text(said.protected(KEY, 2))
    expect(page.locator("#setup")).not_to_contain_text(repeat)
    expect(page.locator("#command")).to_contain_text(f"--person {KEY} --rows-per-person 2")
    settled(page)
    page.get_by_role("button", name=said_of_recipe.RUN, exact=True).click()
    page.locator("#job").get_by_text(said_of_run.DONE).wait_for()
    run = server.folder / "visits.studio" / "runs" / "001"
    request = json.loads((run / "release.job.json").read_text())["request"]
    assert request["options"]["unit"] == {"by": KEY, "rows": 2}

    page = window.go("audit")
    page.get_by_role("button", name=said_of_audit.START).click()
    page.get_by_role("progressbar").wait_for()
    expect(page.locator("#command")).to_contain_text(f"--person {KEY}")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text(re.compile("^The audit was cancelled")).wait_for()

    page = window.go("publish")
    expect(page.locator("#card")).to_contain_text("is shared by at least 5 people")
    expect(page.locator("#content")).not_to_contain_text(repeat)
    # A release for whom it was made stays so: to say otherwise now is noticed where it would be attacked.
    page = window.go("columns")
    page.get_by_label(said.FIELD).select_option(value="")
    page.get_by_role("button", name=said.SAVE, exact=True).first.click()
    expect(page.locator("#strip")).not_to_contain_text(said.short(KEY, 2))
    page = window.go("audit")
    page.get_by_text(said.OTHER).wait_for()
    # A refused form is answered with 422, which the browser notes.
    window.faults = [fault for fault in window.faults if "422" not in fault]
