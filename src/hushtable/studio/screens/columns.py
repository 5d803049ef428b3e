"""Who could be recognised by what? A line for each column, its values masked, and its risk filled in as it is worked out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.report.html import Child, Html, element, join
from hushtable.studio import commands, words
from hushtable.studio.parts import bar
from hushtable.studio.view import Mark, Screen, Shown, View
from hushtable.studio.words import columns as said


async def show(view: View) -> Shown:
    """The grid; with ``risk=all`` with every bar at once, for a browser without script."""
    found = await view.ask("grid")
    whole = view.query.get("risk") == "all"
    names = [entry["name"] for entry in found["columns"]]
    risks = {r["name"]: r for r in await view.ask("risk", columns=names)} if whole else {}
    rows = [_row(view, number, entry, risks.get(entry["name"])) for number, entry in enumerate(found["columns"])]
    heads = [element("th", head, scope="col") for head in said.HEADS]
    grid = element(
        "table", element("caption", said.CAPTION, class_="unseen"), element("thead", element("tr", heads)), element("tbody", rows),
        class_="grid cards", data_grid=True,
    )  # fmt: skip
    headline = await view.ask("headline") if whole else None
    content = join(
        _headline(headline)
        if headline
        else element("p", said.COUNTING, class_="lead", id="headline", data_load=view.piece("headline")),
        element("noscript", element("p", element("a", said.WITHOUT_SCRIPT, href=view.to("columns", risk="all"))))
        if not whole
        else None,
        element("div", grid, class_="scroll", tabindex=0, role="region", aria_label=said.CAPTION),
        _notes(found["notes"]),
    )
    return Shown(content, commands.profile(view.workspace))


def _row(view: View, number: int, entry: Mapping[str, Any], risk: Mapping[str, Any] | None) -> Html:
    domain = said.domain(entry["domain"], observed=entry["observed"])
    missing = said.missing(entry["missing"], entry["without"])
    cells: list[tuple[str, Child]] = [
        ("", element("strong", entry["name"])),
        (said.KIND, join(said.KINDS[entry["kind"]], _why(entry["kind_reason"]))),
        (said.ROLE, join(said.ROLES[entry["role"]], _why(entry["role_reason"]))),
        (said.DOMAIN, domain),
        (said.MISSING, missing),
        (said.EXAMPLES, element("code", " · ".join(entry["examples"])) if entry["examples"] else words.NOTHING),
    ]
    inner = [element("td", child, data_label=label or None) for label, child in cells]
    place = None if risk is not None else view.piece("risk", column=number)
    bars = _risk(risk) if risk is not None else element("span", said.WAITING, class_="soft")
    return element(
        "tr", inner, element("td", bars, class_="risks-cell", data_label=said.RISK, data_load=place), class_=f"role-{entry['role']}"
    )


def _why(reason: str) -> Html | None:
    return element("small", reason, class_="why") if reason else None


def _risk(risk: Mapping[str, Any]) -> Html:
    if risk["alone"] is None:
        return element("span", said.NEVER_LEAVES, class_="soft")
    rows = [(said.ALONE, bar(said.ALONE, risk["alone"])), (said.ADDS, bar(said.ADDS, risk["adds"]))]
    lines: list[Child] = [
        element("span", element("span", label, aria_hidden="true"), drawn, class_="risk") for label, drawn in rows
    ]
    if follows := risk["follows"]:
        lines.append(element("span", said.follows([f["source"] for f in follows]), class_="follows"))
    return join(lines)


def _headline(found: Mapping[str, Any]) -> Html:
    inner = [element("p", said.headline(found), class_="lead")]
    if found["rows"] < found["of"]:
        inner.append(element("p", said.sampled(found["rows"], found["of"]), class_="soft"))
    return element("div", inner, id="headline")


def _notes(notes: Sequence[str]) -> Html | None:
    if not notes:
        return None
    return element("details", element("summary", said.notes(len(notes))), element("ul", [element("li", note) for note in notes]))


async def headline(view: View) -> Html:
    """Whom the columns that others may know single out."""
    return _headline(await view.ask("headline"))


async def risk(view: View) -> Html:
    """The bars of one column."""
    names = list(view.workspace.roles())
    number = view.query.get("column", "")
    if not number.isdigit() or int(number) >= len(names):
        return element("span", words.NOTHING)
    return _risk((await view.ask("risk", columns=[names[int(number)]]))[0])


def mark(view: View) -> Mark:
    """Read, once there are columns that others may know."""
    return Mark.DONE if "quasi" in view.workspace.roles().values() else Mark.ATTENTION


SCREEN = Screen(
    name="columns", label=said.LABEL, question=said.QUESTION, show=show, pieces={"headline": headline, "risk": risk}, mark=mark
)
