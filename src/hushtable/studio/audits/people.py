"""Whom the attacks find, each beside the released rows that give them away; values of a record only once they were asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hushtable.report.html import Child, Html, element
from hushtable.studio import words
from hushtable.studio.jobs import Job
from hushtable.studio.parts import button, form
from hushtable.studio.view import View
from hushtable.studio.words import audit as said

READING = 60.0
"""Seconds in which both tables are read, when the first record is shown."""


async def people(view: View, release: Job, main: Job) -> Html:
    """A page of the riskiest records, of everybody or of one group."""
    number = view.query.get("group", "")
    group, start = int(number) if number.isdigit() else None, view.query.get("start", "")
    found = await view.ask(
        "people", audit=main.request["out"], group=group, start=int(start) if start.isdigit() and len(start) < 9 else 0
    )  # fmt: skip
    run = release.folder.name
    groups = [
        element(
            "option",
            said.group(one["column"], one["level"], one["count"], alarm=one["alarm"]), value=str(place), selected=place == group,
        )
        for place, one in enumerate(found["groups"])
    ]  # fmt: skip
    pick = element(
        "form",
        element("input", type="hidden", name="run", value=run),
        element("input", type="hidden", name="tab", value="people"),
        element("label", said.GROUP, for_="field-group"),
        element("select", element("option", said.EVERYBODY, value=""), groups, id="field-group", name="group", data_submit=True),
        button(said.SHOW), method="get", action=view.to("audit"), class_="inline-fields",
    ) if groups else None  # fmt: skip
    if not found["records"]:
        return element("div", pick, element("p", said.NO_PEOPLE), id="people", class_="tab")
    lines = [
        said.tail(one["people"], words.percent(one["above"]), round(one["chance"])) for one in found["at_risk"]
    ]  # fmt: skip
    records = [await _record(view, main, record) for record in found["records"]]
    return element(
        "div",
        element("p", said.ONLY_CHANCE, class_="lead") if found["chance"] else None,
        element("p", said.tails(found["people"], lines)) if lines else None,
        element("p", said.PEOPLE_WHAT, class_="soft"),
        element("p", said.LOGGED, class_="soft"),
        pick,
        element("ol", records, class_="records-list"),
        _pages(view, run, found, group),
        id="people", class_="tab",
    )  # fmt: skip


def _pages(view: View, run: str, found: Mapping[str, Any], group: int | None) -> Html | None:
    size, start, of = len(found["records"]), found["start"], found["of"]
    if size == of:
        return None

    def to(at: int, label: str) -> Html:
        return element(
            "a", label, href=f"{view.to('audit', run=run, tab='people', group=group, start=at)}#tabs", class_="plain-button"
        )

    before = to(max(0, start - 20), said.EARLIER) if start else None
    after = to(start + size, said.LATER) if start + size < of else None
    return element(
        "nav",
        before,
        element("span", said.page(start + 1, start + size, of)),
        after,
        class_="buttons",
        aria_label=said.PEOPLE_PAGES,
    )


async def _record(view: View, main: Job, record: Mapping[str, Any]) -> Html:
    row, pairs = int(record["row"]), record["pairs"]
    open_ = (main.id, row) in view.studio.revealed
    if open_ and pairs:
        own = {name: main.request[name] for name in ("train", "release", "schema")}
        pairs = await view.ask(
            "person", limit=READING, audit=main.request["out"], row=row, holder=main.request.get("person"), **own
        )
    weak = f" ({said.PERHAPS})" if record["weak"] else ""
    head = element(
        "div",
        element("h3", said.row(row)),
        element("p", said.risk(words.percent(record["risk"]), len(record["attacks"])) + weak, class_="soft"),
        _show_button(view, main, row, shown=open_) if pairs else None,
        class_="record-head",
    )
    if pairs is None:
        body: Child = element("p", said.NOT_IN_MEMORY, class_="soft")
    elif not pairs:
        body = element("p", said.NO_PAIR, class_="soft")
    else:
        body = [_pair(pair, row, shown=open_) for pair in pairs]
    more = element("p", said.more_pairs(record["more"]), class_="soft") if record.get("more") else None
    return element("li", head, body, more, id=f"record-{row}", class_="record shown" if open_ else "record")


def _show_button(view: View, main: Job, row: int, *, shown: bool) -> Html:
    name, label = ("hide", said.HIDE_VALUES) if shown else ("show", said.SHOW_VALUES)
    fields = {key: view.query.get(key, "") for key in ("group", "start")} | {"run": main.folder.name, "row": str(row)}
    hidden = [element("input", type="hidden", name=key, value=value) for key, value in fields.items()]
    own = button(label, id=f"show-{row}", aria_label=f"{label} {said.show_row(row)}")
    return form(view, name, hidden, own, region=f"record-{row}", class_="inline")


def _pair(pair: Mapping[str, Any], row: int, *, shown: bool) -> Html:
    heads = [said.COLUMN, said.HERS, said.THEIRS, said.AGREES]
    lines = [
        element(
            "tr",
            element("th", side["column"], scope="row"),
            element("td", _value(side["ours"]), data_label=said.HERS),
            element("td", _value(side["theirs"]), data_label=said.THEIRS),
            element(
                "td", element("span", "= ", aria_hidden="true") if side["agrees"] else None, said.AGREEMENT[side["agreement"]],
                data_label=said.AGREES,
            ),
            class_="agrees" if side["agrees"] else None,
        )
        for side in pair["sides"]
    ]  # fmt: skip
    label = said.released(pair["released"], pair["agreeing"], pair["attacks"])
    drawn = element(
        "table", element("caption", f"{said.row(row)}: {label}", class_="unseen"),
        element("thead", element("tr", [element("th", head, scope="col") for head in heads])), element("tbody", lines),
        class_="pairing",
    )  # fmt: skip
    return element(
        "details",
        element("summary", label),
        element("div", drawn, class_="scroll", tabindex=0, role="region", aria_label=f"{said.row(row)}: {label}"),
        element("p", said.more_columns(pair["more"]), class_="soft") if pair["more"] else None,
        open=shown,
    )


def _value(text: str | None) -> Html:
    """A page of the riskiest records, of everybody or of one group."""
    return element("code", text) if text is not None else element("span", said.MISSING, class_="soft")
