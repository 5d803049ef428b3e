"""The pages as a reader meets them: nothing is fetched, nothing is cut off, and everything can be reached by keyboard."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.unit.report.documents import Reader

NAMES = ("card", "audit", "utility", "comparison")
INTERNAL = ("audit", "utility", "comparison")
WIDTHS = (1280, 390)
RULES = {
    "light": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]},
    # Of all that is asked, only the colours differ in the dark.
    "dark": {"type": "rule", "values": ["color-contrast"]},
    # Of all that is asked, only what a table is can differ where its cells are not shown as cells.
    "cards": {
        "type": "rule",
        "values": ["aria-allowed-role", "aria-required-children", "aria-required-parent", "td-headers-attr", "th-has-data-cells"],
    },
}
OUTSIDE = """() => {
  const name = (svg) => svg.getAttribute("aria-label");
  const box = (svg) => svg.getBoundingClientRect();
  const all = [...document.querySelectorAll("svg")].filter((svg) => !svg.closest("details:not([open])"));
  // One drawing may be there in two sizes, of which the window shows one.
  const shown = new Set(all.filter((svg) => box(svg).width >= 1 && box(svg).height >= 1).map(name));
  const out = all.filter((svg) => box(svg).left < -1 || box(svg).right > innerWidth + 1);
  return [...out, ...all.filter((svg) => !shown.has(name(svg)))].map(name);
}"""
FEWER = """() => {
  // What is alike need not be looked at a hundred times: a few rows of a table, a few marks of a drawing, a few panels.
  const most = ["tbody tr:nth-child(n+4)", ".panels > :nth-child(n+4)", "dl > :nth-child(n+6)",
    "svg > g > [data-tip]:nth-child(n+4)", "svg > [data-tip]:nth-child(n+12)"];
  for (const one of document.querySelectorAll("details")) one.open = true;
  for (const one of document.querySelectorAll(most.join())) one.remove();
}"""
LETTERS = """() => [...document.querySelectorAll("svg text")].filter((text) => !text.closest("details:not([open])"))
  .filter((text) => text.getBoundingClientRect().width > 0)
  .map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)"""


def eventually(holds: Callable[[], bool], seconds: float = 5.0) -> None:
    """Wait until it holds. The policy of the pages forbids the browser to wait for an expression by itself."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came to hold"
        time.sleep(0.02)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_every_drawing_is_seen_and_nothing_sticks_out(visit: Any, name: str, width: int) -> None:
    opened = visit(name, width)
    page = opened.page
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "the page must not scroll sideways"
    assert page.evaluate(OUTSIDE) == []
    assert min(page.evaluate(LETTERS), default=10) > 7, "letters in drawings stay readable"
    for one in page.locator("details").all():
        one.evaluate("(details) => { details.open = true; }")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OUTSIDE) == []
    assert opened.faults == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_no_barrier_is_found(visit: Any, name: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    opened = visit(name, color_scheme=scheme)
    opened.page.evaluate(FEWER)
    # What passes need not be listed for every element, which takes most of the time.
    result = axe.run(opened.page, options={"runOnly": RULES[scheme], "resultTypes": ["violations"]}).response
    assert "color-contrast" in {rule["id"] for rule in result["passes"]}
    choice = result["violations"]
    assert [(v["id"], v["nodes"][0]["html"][:160], v["nodes"][0]["failureSummary"][:200]) for v in choice] == []
    assert opened.faults == []


@pytest.mark.parametrize("width", WIDTHS)
def test_the_first_screen_begins_with_the_verdict_and_what_to_do(visit: Any, width: int) -> None:
    page = visit("audit", width, 844).page
    tops = [page.locator(what).first.bounding_box()["y"] for what in ("h1", ".decided .value", ".reasons", ".answers", "#figures")]
    assert tops == sorted(tops)
    assert page.locator(".decided h3").inner_text() == "Should it be published?"
    assert tops[2] < 844, "what to do begins on the first screen"
    above = page.evaluate(
        """(y) => [...document.querySelectorAll("main *")].filter((e) => !e.children.length && e.textContent.trim()
          && e.getBoundingClientRect().top < y && e.getBoundingClientRect().width > 2 && getComputedStyle(e).clipPath === "none")
          .filter((e) => !e.closest("header, .decided, nav")).map((e) => e.textContent)""",
        tops[1],
    )
    assert above == [], "nothing but the title stands before the verdict"
    if width < 600:
        assert page.locator(".contents").bounding_box()["y"] > tops[3], "the contents come after the decision"
    answers = page.locator(".answers article h3").all_inner_texts()
    assert answers == ["What is promised?", "What did attacks achieve?", "What does it cost in accuracy?"]


def test_everything_but_the_summary_is_folded_until_it_is_asked_for(visit: Any) -> None:
    page = visit("audit").page
    shut = "document.querySelectorAll('section.folded > details:not([open])').length"
    whole = page.locator("section.folded").count()
    assert page.evaluate(shut) == whole > 8
    page.locator(".contents a[href='#margins']").click()
    eventually(lambda: page.locator("#margins > details[open]").count() == 1)
    page.locator("section.folded summary").first.focus()
    page.keyboard.press("Enter")
    assert page.evaluate(shut) == whole - 2
    page.get_by_role("button", name="open everything").click()
    assert page.evaluate(shut) == 0
    page.get_by_role("button", name="fold everything").click()
    assert page.evaluate(shut) == whole
    assert visit("audit", query="?all").page.evaluate(shut) == 0
    assert visit("audit", query="#margins").page.evaluate(shut) == whole - 1


def test_rows_of_wide_tables_are_cards_on_a_small_screen(visit: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    opened = visit("audit", 390, 844, query="?all")
    page = opened.page
    cell = page.locator("#inference table.cards tbody td").nth(1)
    label = cell.evaluate("(td) => getComputedStyle(td, '::before').content")
    assert label.strip('"') == cell.get_attribute("data-label") != ""
    wide = """() => [...document.querySelectorAll(".scroll")].filter((e) => e.scrollWidth > e.clientWidth + 1)
      .map((e) => e.getAttribute("aria-label"))"""
    assert page.evaluate(wide) == [], "no table needs to be scrolled sideways"
    page.evaluate(FEWER)
    result = axe.run(page, options={"runOnly": RULES["cards"], "resultTypes": ["violations"]}).response
    assert [(v["id"], v["nodes"][0]["html"][:160]) for v in result["violations"]] == []
    assert opened.faults == []


def test_contents_lead_to_every_section_and_mark_the_one_in_view(visit: Any) -> None:
    page = visit("audit").page
    links = page.locator(".contents a")
    assert links.count() > 10
    for at in (1, links.count() // 2, links.count() - 1):
        link = links.nth(at)
        link.click()
        target = page.locator(link.get_attribute("href"))
        eventually(lambda t=target: t.evaluate("(e) => Math.abs(e.getBoundingClientRect().top) < innerHeight"))
        assert target.locator("h2").first.inner_text() == link.inner_text()
    links.nth(2).click()
    eventually(lambda: page.locator(".contents a[aria-current]").count() == 1)


def test_headings_go_down_one_step_at_a_time(pages: dict[str, Path]) -> None:
    for name, path in pages.items():
        levels = [int(e.name[1]) for e in Reader(path.read_text(encoding="utf-8")).elements if re.fullmatch("h[1-6]", e.name)]
        assert levels[0] == 1, name
        assert all(after <= before + 1 for before, after in pairwise(levels)), name


def test_a_table_is_sorted_by_number_both_ways_and_by_keyboard(visit: Any) -> None:
    page = visit("audit", query="?all").page
    table = page.locator("#margins table.pivot")
    head = table.locator("thead th").nth(1)

    def column() -> list[float]:
        return [float(x) for x in table.evaluate("(t) => [...t.tBodies[0].rows].map((r) => r.cells[1].dataset.sort)") if x]

    before = column()
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert column() == sorted(before) != before
    head.locator("button").press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert column() == sorted(before, reverse=True)
    table.locator("thead th").nth(0).locator("button").click()
    assert head.get_attribute("aria-sort") is None
    names = table.evaluate("(t) => [...t.tBodies[0].rows].map((r) => r.cells[0].textContent)")
    assert names == sorted(names)


def test_numbers_are_sorted_as_they_are_written(visit: Any) -> None:
    page = visit("audit").page
    written = ["2.3 × 10⁻⁵", "−0.5", "12 %", "1,234", "–", "10⁻⁷", "0.3"]
    result = page.evaluate(
        """(written) => {
        const table = document.querySelector("table.sortable");
        const head = [...table.tHead.rows[0].cells].find((th) => th.classList.contains("num"));
        const body = table.tBodies[0];
        body.replaceChildren(...written.map((text) => {
          const row = document.createElement("tr");
          for (let i = 0; i <= head.cellIndex; i++) row.append(document.createElement("td"));
          row.lastChild.textContent = text;
          return row;
        }));
        head.querySelector("button").click();
        return [...body.rows].map((row) => row.lastChild.textContent);
        }""",
        written,
    )
    assert result == ["−0.5", "10⁻⁷", "2.3 × 10⁻⁵", "0.3", "12 %", "1,234", "–"]


def test_a_table_is_kept_as_a_file_that_a_spreadsheet_does_not_run(visit: Any) -> None:
    page = visit("audit", query="?all").page
    table = page.locator("#margins table.pivot")
    table.evaluate("(t) => { t.tBodies[0].rows[0].cells[0].textContent = '=1+1, \"x\"'; }")
    with page.expect_download() as waiting:
        page.locator("#margins .tools button", has_text="CSV").last.click()
    retained = waiting.value
    assert retained.suggested_filename == "INTERNAL-margins-one-by-one.csv"
    rows = list(csv.reader(io.StringIO(Path(retained.path()).read_text(encoding="utf-8-sig"), newline="")))
    assert rows[0] == [text.strip(" ↕") for text in table.locator("thead th").all_inner_texts()]
    assert len(rows) == 1 + table.locator("tbody tr").count()
    assert rows[1][0] == '\'=1+1, "x"'
    assert re.match(r"[\d.]+; [\d.]+$", rows[1][1]), "the value and its baseline"


def test_the_card_is_kept_without_the_word_internal(visit: Any) -> None:
    page = visit("card").page
    with page.expect_download() as waiting:
        page.locator(".tools button", has_text="CSV").first.click()
    assert not waiting.value.suggested_filename.startswith("INTERNAL")


def test_a_long_table_is_searched(visit: Any) -> None:
    page = visit("audit", query="?all").page
    tools = page.locator(".tools:has(input[type=search])").first
    frame = tools.locator("xpath=preceding-sibling::div[1]")
    rows = frame.locator("tbody tr:visible")
    whole = rows.count()
    assert whole > 10
    word = frame.locator("tbody tr td").first.inner_text().split()[0].strip(":,").lower()
    tools.get_by_label("Show only rows with").fill(word)
    assert 0 < rows.count() <= whole
    assert all(word in text.lower() for text in rows.all_inner_texts())
    assert tools.locator("[role=status]").inner_text() == f"{rows.count()} of {whole} rows"
    tools.get_by_label("Show only rows with").fill("no row has these words")
    assert rows.count() == 0
    tools.get_by_label("Show only rows with").fill("")
    assert rows.count() == whole


def test_colours_can_be_chosen(visit: Any) -> None:
    page = visit("audit", color_scheme="light").page
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="dark", exact=True).click()
    dark = page.evaluate(ground)
    assert dark != light
    page.get_by_role("button", name="auto", exact=True).click()
    assert page.evaluate(ground) == light
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(ground) == dark
    page.get_by_role("button", name="light", exact=True).click()
    assert page.evaluate(ground) == light
    pressed = page.locator(".contents .tools button[aria-pressed=true]")
    assert pressed.all_inner_texts() == ["light"]


def test_marks_show_their_numbers_by_pointer_and_by_keyboard(visit: Any) -> None:
    page = visit("audit", query="?all").page
    tip = page.locator(".tip")
    drawing = page.locator("#margins .panel svg").first
    mark = drawing.locator("[data-tip]").first
    title = mark.get_attribute("data-tip")
    assert not tip.is_visible()
    mark.scroll_into_view_if_needed()
    page.wait_for_timeout(100)  # Scrolling hides a tip, and is noticed late.
    mark.hover()
    assert tip.is_visible()
    assert tip.inner_text() == title
    page.keyboard.press("Escape")
    assert not tip.is_visible()
    drawing.focus()
    page.keyboard.press("ArrowRight")
    tip.wait_for(state="visible")
    assert tip.inner_text() == title
    page.keyboard.press("ArrowRight")
    eventually(lambda: tip.inner_text() != title)
    assert tip.inner_text() == drawing.locator("[data-tip]").nth(1).get_attribute("data-tip")
    page.keyboard.press("Escape")
    assert not tip.is_visible()
    assert page.locator("svg title").count() == 0, "a second tip of the browser's own would cover the first"


def test_marks_show_their_numbers_at_a_touch(visit: Any) -> None:
    page = visit("audit", 390, 844, query="?all", has_touch=True, is_mobile=True).page
    mark = page.locator("#margins .panel svg [data-tip]").first
    mark.scroll_into_view_if_needed()
    page.wait_for_timeout(100)
    mark.tap()
    tip = page.locator(".tip")
    assert tip.inner_text() == mark.get_attribute("data-tip")
    box = tip.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390


def test_without_a_script_everything_is_there(visit: Any) -> None:
    page = visit("audit", java_script_enabled=False).page
    assert page.locator("svg").count() > 10
    assert page.locator("a[download]").count() == 1
    assert page.locator("th button").count() == 0


@pytest.mark.parametrize("name", INTERNAL)
def test_every_printed_sheet_says_internal(visit: Any, name: str, tmp_path: Path) -> None:
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not installed")
    page = visit(name, color_scheme="dark").page
    page.pdf(path=tmp_path / "page.pdf", prefer_css_page_size=True)
    text = subprocess.run(["pdftotext", "-layout", tmp_path / "page.pdf", "-"], capture_output=True, text=True, check=True).stdout
    sheets = text.split("\f")[:-1]
    assert [at for at, sheet in enumerate(sheets) if "INTERNAL" not in sheet] == []
    assert [re.search(r"(\d+) */ *(\d+)\s*$", sheet).groups() for sheet in sheets] == [
        (str(at), str(len(sheets))) for at in range(1, len(sheets) + 1)
    ], "every sheet has its number"
    if name == "audit":
        assert len(sheets) <= 3, "paper shows the summary, and of the rest one line each"
        assert "p (corrected)" not in text
        page = visit(name, query="?all").page
        page.pdf(path=tmp_path / "all.pdf", prefer_css_page_size=True)
        every = subprocess.run(
            ["pdftotext", "-layout", tmp_path / "all.pdf", "-"], capture_output=True, text=True, check=True
        ).stdout
        assert len(every.split("\f")) > 8
        assert sum("p (corrected)" in sheet for sheet in every.split("\f")) > 2, "what is open is printed"
