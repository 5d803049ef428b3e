"""The comparison in a real browser: what its controls say, by keyboard, and what stays as it is without them."""

from __future__ import annotations

from typing import Any


def test_asking_for_less_risk_names_the_best_of_what_is_left(visit: Any) -> None:
    opened = visit("comparison")
    page = opened.page
    answer, pale = page.locator(".answer"), page.locator("tr.dimmed")
    assert pale.count() == 0
    before = page.locator("#choice").inner_text()
    slider = page.get_by_role("slider", name="Largest gain")
    slider.focus()
    for _ in range(5):
        slider.press("ArrowLeft")
    assert slider.get_attribute("aria-valuetext") == "2 of 100"
    assert answer.inner_text().startswith(
        "8 of 17 releases answer. The best score among them: 3 aim epsilon=4, AUC for income 0.862"
    )
    assert pale.count() == 9
    assert page.locator("svg.wide a.dimmed").count() == 9
    page.locator("select").select_option(label="verified or proven")
    page.get_by_role("checkbox").check()
    page.get_by_role("slider", name="Largest epsilon").press("ArrowLeft")
    assert "8 of 17" in answer.inner_text(), "four is still allowed, and all of these were verified or proven"
    slider.press("Home")
    assert answer.inner_text() == "None of 17 releases answers."
    page.get_by_role("button", name="Start again").click()
    assert pale.count() == 0
    assert "17" not in answer.inner_text()
    assert page.locator("#choice").inner_text() == before, "the recommendation is not the script's to change"
    assert opened.faults == []


def test_a_mark_tells_its_numbers_and_leads_to_its_line(visit: Any) -> None:
    opened = visit("comparison")
    page = opened.page
    mark = page.get_by_role("link", name="1. mdav k=10")
    mark.focus()
    assert page.locator(".tip").inner_text().startswith("1. mdav k=10: 1.2 more of 100 people, at most 2.6")
    mark.press("Enter")
    assert page.url.endswith("#release-1")
    assert page.locator("tr:target").inner_text().startswith("1")
    assert opened.faults == []


def test_without_a_script_there_is_no_control_that_does_nothing(visit: Any) -> None:
    page = visit("comparison", java_script_enabled=False).page
    assert not page.locator(".controls").is_visible()
    assert page.locator("svg.plane.wide").is_visible()
    assert not page.locator("svg.plane.slim").is_visible()


def test_a_phone_gets_the_drawing_made_for_it(visit: Any) -> None:
    page = visit("comparison", 390).page
    assert page.locator("svg.plane.slim").is_visible()
    assert not page.locator("svg.plane.wide").is_visible()
