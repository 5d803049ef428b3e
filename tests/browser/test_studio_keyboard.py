"""The studio without a mouse: every screen by Tab, and the whole way from a file to the zip."""

from __future__ import annotations

import json

import pytest

import hushtable as ht
from hushtable.studio.words import audit as said_of_audit
from hushtable.studio.words import columns as said_of_columns
from hushtable.studio.words import open as said_of_open
from hushtable.studio.words import publish as said_of_publish
from hushtable.studio.words import recipe as said_of_recipe
from hushtable.studio.words import run as said_of_run
from tests.browser.keyboard import Keyboard
from tests.browser.test_steward import PATIENT, settled, write_register
from tests.browser.test_studio import expect, open_people, server, studio
from tests.browser.test_studio_trouble import look, start

__all__ = ["look", "server", "start", "studio"]
SCREENS = (
    "open?folder=",
    "columns?risk=all",
    "columns?view=column&column=1",
    "columns?view=dictionary",
    "levels?column=2&beside=yes",
    "explorer?all=yes",
    "recipe?tried=1&q=mdav",
    "compare?new=1",
    "journal",
)


@pytest.mark.nightly
def test_tab_reaches_everything_on_every_screen_and_shows_where_it_is(studio):
    window = studio()
    open_people(window)
    found = {}
    for screen in SCREENS:
        page = window.go(screen)
        settled(page)
        # What is unfolded has more to reach.
        page.evaluate("for (const folded of document.querySelectorAll('details')) folded.open = true")
        found[screen] = Keyboard(page).unreached()
    assert json.dumps({screen: faults for screen, faults in found.items() if faults}, indent=1) == "{}"


@pytest.mark.nightly
def test_a_register_is_taken_to_a_published_bundle_by_the_keyboard_alone(start, look, tmp_path):
    server = start()
    write_register(server.folder / "wards.csv", stays=500)
    page = look(server).page
    page.set_default_timeout(PATIENT)
    keys = Keyboard(page)
    keys.enter(page.get_by_role("row", name="wards.csv").get_by_role("button"))
    page.get_by_text(said_of_open.RIGHTLY).wait_for()
    keys.enter(page.get_by_role("link", name=said_of_open.GO_ON))

    page.wait_for_url("**/columns")
    settled(page)
    # The grid is one stop. Down to the third column, along its line to the switch, and another role by the arrows.
    keys.to(page.locator("[data-grid] [tabindex='0']"))
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):
        keys.press(key)
    expect(page.locator(":focus")).to_have_id("role-2-quasi")
    keys.press("ArrowRight")
    expect(page.get_by_role("button", name=said_of_columns.UNDO, exact=True)).to_be_enabled()
    expect(page.locator(":focus")).to_have_id("role-2-secret")
    settled(page)
    keys.enter(page.get_by_role("button", name=said_of_columns.UNDO, exact=True))
    expect(page.locator("#role-2-quasi")).to_be_checked()
    keys.enter(page.locator("summary", has_text=said_of_columns.SEVERAL))
    keys.tick(page.get_by_label(said_of_columns.EVERY))
    keys.type(page.get_by_label(said_of_columns.REASON), "the hospital's data dictionary")
    if page.get_by_label(said_of_columns.WHOLE_CODES).count():
        keys.tick(page.get_by_label(said_of_columns.WHOLE_CODES))
    keys.enter(page.get_by_role("button", name=said_of_columns.MAKE_PUBLIC))
    page.get_by_text(said_of_columns.marked(0, 11)).wait_for()
    keys.enter(page.get_by_role("link", name=said_of_columns.GO_ON))

    # Another answer by an arrow key; what fits follows, and the focus stays on the answer.
    keys.to(page.get_by_label(said_of_recipe.USE_WORDS[0][1]))
    keys.press("ArrowRight")
    expect(page.get_by_label(said_of_recipe.USE_WORDS[1][1])).to_be_focused()
    expect(page.locator("#choose-aim")).to_be_visible()
    keys.press("ArrowLeft")
    expect(page.locator("#choose-independent")).to_be_visible()
    keys.enter(page.locator("#choose-mst"))
    expect(page.locator("#choose-mst")).to_be_focused()
    keys.enter(page.get_by_role("link", name=said_of_recipe.TO_SETUP))
    keys.type(page.get_by_label(said_of_recipe.EPSILON), "2")
    keys.enter(page.get_by_role("button", name=said_of_recipe.RUN, exact=True))

    page.locator("#job").get_by_text(said_of_run.DONE).wait_for()
    keys.enter(page.get_by_role("link", name=said_of_run.TO_AUDIT))
    keys.enter(page.get_by_role("button", name=said_of_audit.START))
    page.get_by_role("link", name=said_of_audit.REPORT).wait_for()
    keys.enter(page.get_by_role("link", name=said_of_audit.PEOPLE, exact=True))
    page.locator("#people").wait_for()
    keys.enter(page.get_by_role("link", name=said_of_audit.TO_PUBLISH))

    for label, text in (
        (said_of_publish.TITLE, "Stays"), (said_of_publish.CONTACT, "The data office"), (said_of_publish.LICENCE, "CC BY 4.0"),
        (said_of_publish.PURPOSE, "Planning of beds"),
    ):  # fmt: skip
        keys.type(page.get_by_label(label, exact=True), text)
    if page.get_by_label(said_of_publish.REASON, exact=True).count():
        keys.type(page.get_by_label(said_of_publish.BY, exact=True), "The data office")
        keys.type(page.get_by_label(said_of_publish.REASON, exact=True), "A trial: nobody in it exists")
    keys.enter(page.get_by_role("button", name=said_of_publish.PUBLISH, exact=True))
    page.get_by_text(said_of_publish.PUBLISHED).first.wait_for()
    with page.expect_download() as saved:
        keys.enter(page.get_by_role("link", name=said_of_publish.DOWNLOAD))
    saved.value.save_as(tmp_path / "saved.zip")
    assert ht.verify(tmp_path / "saved.zip").faults == ()
    assert keys.faults == []
