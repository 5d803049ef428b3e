"""The ladder of a column as it is drawn: its values, the groups of each level, and what each level leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.report.html import Child, Html, element, join, table
from hushtable.studio.parts import post_button
from hushtable.studio.screens.level_column import NAME
from hushtable.studio.view import View
from hushtable.studio.words import levels as said

CHIPS = 6
"""So many groups of a level are shown unfolded."""


def values(view: View, column: Mapping[str, Any], found: Mapping[str, Any], whole: bool) -> Html:
    """The values of the column with the people who have each, those of few people hidden."""
    rows = [[value["label"], said.people(value["people"])] for value in found["values"]]
    listing = (
        table([said.VALUE, said.COUNT], rows, label=said.VALUES, numbers=[1], sortable=False, class_="narrow") if rows else None
    )
    number = str(column["number"])
    hidden = (
        element("div", element("p", said.hidden(found["hidden"]), class_="soft"),
                post_button(view, "show_values", said.SHOW_ALL, region="content", column=number), class_="alert")
        if found["hidden"] else None
    )  # fmt: skip
    shown = (
        element("div", element("p", said.SHOWN_ALL, class_="soft"),
                post_button(view, "hide_values", said.HIDE_ALL, region="content", column=number), class_="alert")
        if whole else None
    )  # fmt: skip
    notes: list[Child] = [
        element("p", said.unlisted(found["unlisted"]), class_="soft") if found["unlisted"] else None,
        element("p", said.missing(found["missing"]), class_="soft") if found["missing"] != 0 else None,
    ]
    pages = page_links(view, column, "page", found["page"], found["pages"])
    return element("section", element("h2", said.VALUES), element("div", listing, class_="value-list"), pages, hidden, shown, notes)


def page_links(view: View, column: Mapping[str, Any], name: str, page: int, pages: int, **more: object) -> Html | None:
    """A link to each page of a long list."""
    if pages < 2:
        return None
    links = [
        element(
            "a", str(at + 1), href=view.to(NAME, column=column["number"], **{name: at}, **more),
            aria_current="page" if at == page else None, aria_label=f"{said.PAGE} {at + 1}",
        )
        for at in range(pages)
    ]  # fmt: skip
    return element("nav", links, class_="pages", aria_label=said.PAGE)


def drawn_ladder(found: Mapping[str, Any], beside: Sequence[Mapping[str, int]] | None, levels: Mapping[str, int]) -> Html:
    """The ladder from the top down, with what each level leaves alone and beside the others."""
    others = {name: level for name, level in levels.items() if name != found["name"]}
    rungs = [
        _rung(
            place, level, None if beside is None or place >= len(beside) else beside[place], top=place == len(found["levels"]) - 1
        )
        for place, level in enumerate(found["levels"])
    ]
    note = element("p", f"{said.LEFT_BESIDE}: {said.beside(others)}.", class_="soft") if beside is not None else None
    return join(element("ol", reversed(rungs), class_="ladder", reversed=True, start=0), note)


def _rung(place: int, level: Mapping[str, Any], beside: Mapping[str, int] | None, *, top: bool) -> Html:
    groups = [] if place == 0 or top else [
        element("li", group["label"], " ", element("span", said.people(group["people"]), class_="soft"))
        for group in level["groups"]
    ]  # fmt: skip
    beyond = level["size"] - len(groups)
    rest: list[Child] = [element("li", said.more(beyond), class_="soft")] if groups and beyond > 0 else []
    what = said.TOP if top else said.AS_IS if place == 0 else said.size(level["size"])
    leaves: list[Child] = [element("div", element("dt", said.LEFT_ALONE), element("dd", said.leaves(level["leaves"])))]
    if beside is not None:
        leaves.append(element("div", element("dt", said.LEFT_BESIDE), element("dd", said.leaves(beside))))
    folded = groups[CHIPS:] + rest
    return element(
        "li",
        element(
            "div",
            element("p", element("strong", said.level(place)), f" · {what}"),
            element("ul", groups[:CHIPS], class_="chips") if groups else None,
            element(
                "details", element("summary", f"{said.ALL_GROUPS} ({said.level(place)})"), element("ul", folded, class_="chips")
            )
            if folded
            else None,
        ),
        element("dl", leaves),
        class_="rung",
    )
