"""The grid of columns: a line for each, its switch of roles, its values masked, and its risk."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.report.html import Child, Html, element, join
from hushtable.studio.parts import bar, button, form
from hushtable.studio.view import View
from hushtable.studio.words import columns as said

SENTINELS = "sentinels"
"""The remark that numbers may mean a missing value, which questionnaires have in all their columns."""
MANY = "many"
"""The id of the form that the ticks belong to."""


def grid(view: View, entries: Sequence[Mapping[str, Any]], places: Mapping[str, int], *, hidden: Mapping[str, str],
         noticed: Mapping[str, Any], risks: Mapping[str, Any]) -> Html:  # fmt: skip
    """The table; ``places`` are those of all columns of the schema, and ``hidden`` is what leads back to this list."""
    rows = [line for entry in entries for line in _lines(view, entry, places[entry["name"]], hidden, noticed, risks)]
    heads = [element("th", head, scope="col") for head in said.HEADS]
    inner = element(
        "table", element("caption", said.CAPTION, class_="unseen"), element("thead", element("tr", heads)), element("tbody", rows),
        class_="grid cards", data_grid=True,
    )  # fmt: skip
    return element("div", inner, class_="scroll", role="region", aria_label=said.CAPTION)


def _lines(
    view: View,
    entry: Mapping[str, Any],
    place: int,
    hidden: Mapping[str, str],
    noticed: Mapping[str, Any],
    risks: Mapping[str, Any],
) -> list[Html]:
    name, fault = entry["name"], view.fault(f"column.{place}")
    reasons = (noticed.get("reasons") or {}).get(name) or {}
    label = (noticed.get("labels") or {}).get(name, "")
    box = element(
        "input",
        type="checkbox",
        form=MANY,
        name="column",
        value=place,
        id=f"tick-{place}",
        data_keep=True,
        aria_label=said.tick(name),
    )
    cells: list[tuple[str, Child]] = [
        ("", element("div", box, element("span", element("strong", _breakable(name)), _small(label)), class_="name-cell")),
        (said.KIND, _kind(view, entry, place)),
        (said.ROLE, join(_role(view, entry, place, hidden), _small(said.suggested(reasons.get(entry["role"], ""))))),
        (said.VALUES, _values(entry)),
    ]
    # With an id the focus finds its way back to a cell that holds no field.
    inner = [element("td", child, data_label=head or None, id=f"cell-{place}-{i}") for i, (head, child) in enumerate(cells)]
    risk = risks.get(name)
    where = None if risk is not None else view.piece("risk", column=place, **hidden)
    bars = risk_bars(risk) if risk is not None else element("span", said.WAITING, class_="soft")
    last = element(
        "td",
        element("div", bars, class_="risks", data_load=where),
        data_label=said.RISK,
        class_="risks-cell",
        id=f"cell-{place}-risk",
    )
    wrong = element("p", fault, class_="fault") if fault else None
    remarks = [wrong, *_remarks(view, entry, place, noticed.get("remarks") or [], hidden)]
    kind = f"role-{entry['role']}" + (" faulty" if fault else "")
    lines = [element("tr", inner, last, id=f"field-column.{place}", class_=kind, tabindex=-1 if fault else None)]
    if any(remarks):
        lines.append(element("tr", element("td", remarks, colspan=len(said.HEADS)), class_="remark"))
    return lines


def _breakable(name: str) -> Html:
    """A name that may go on in the next line after a mark in it, and not in the midst of a word."""
    parts = re.split(r"(?<=[_.\-/])", name)
    return join([element("wbr") if place else None, part] for place, part in enumerate(parts))


def _kind(view: View, entry: Mapping[str, Any], place: int) -> Html:
    domain = said.domain(entry["domain"])
    origin = said.source(observed=entry["observed"] or not domain, undeclared=entry["undeclared"])
    link = element("a", said.CHANGE, href=view.to("columns", view="column", column=place), aria_label=said.change(entry["name"]))
    return join(
        element("span", said.KINDS[entry["kind"]]),
        _small(f"{domain}, {origin}" if domain else origin),
        element("small", link, class_="why"),
    )


def _role(view: View, entry: Mapping[str, Any], place: int, hidden: Mapping[str, str]) -> Html:
    options = [
        element(
            "label",
            element(
                "input", type="radio", name="role", value=own, checked=own == entry["role"], id=f"role-{place}-{own}", data_live=120
            ),
            element("span", text),
        )
        for own, text in said.ROLES.items()
    ]  # fmt: skip
    legend = element("legend", said.role_of(entry["name"]), class_="unseen")
    fields = element("fieldset", legend, element("div", options, class_="switch small"), class_="field")
    return form(
        view,
        "role",
        hidden_fields(hidden),
        _hidden("column", place),
        fields,
        element("noscript", button(said.SAVE)),
        region="content",
    )


def _values(entry: Mapping[str, Any]) -> Html:
    shapes = element("code", " · ".join(entry["examples"])) if entry["examples"] else None
    return join(element("span", said.missing(entry["missing"], entry["without"])), element("div", shapes) if shapes else None)


def _small(text: str) -> Html | None:
    return element("small", text, class_="why") if text else None


def _remarks(
    view: View, entry: Mapping[str, Any], place: int, remarks: Sequence[Mapping[str, Any]], hidden: Mapping[str, str]
) -> list[Html]:
    """What seems to be the matter, as long as it still is, with what can be done about it at once."""
    found = [dict(r) for r in remarks if r["column"] == entry["name"] and _still(r, entry)]
    if entry["offer"]:
        found.append({"what": "offer", "codes": entry["offer"], "other": ""})
    lines = []
    for one in found:
        text, offer = said.remark(one["what"], one["codes"], one["other"], entry["kind"]), said.offered(one["what"], one["codes"])
        act = form(
            view, "offer", hidden_fields(hidden), _hidden("column", place), _hidden("what", one["what"]), button(offer),
            region="content", class_="inline",
        ) if offer else None  # fmt: skip
        like = sum((other["what"], other["codes"]) == (SENTINELS, one["codes"]) for other in remarks)
        every = form(
            view, "offer", hidden_fields(hidden), _hidden("column", place), _hidden("what", SENTINELS), _hidden("all", "yes"),
            button(said.alike(like)), region="content", class_="inline",
        ) if one["what"] == SENTINELS and like > 1 else None  # fmt: skip
        lines.append(element("div", element("span", text), act, every, class_="remark-line"))
    return lines


def _still(remark: Mapping[str, Any], entry: Mapping[str, Any]) -> bool:
    """Whether a remark on the draft says something of the column as it is now."""
    numbers = entry["kind"] in ("integer", "real", "date")
    match remark["what"]:
        case "words":
            return (numbers or entry["kind"] == "ordinal") and set(remark["codes"]) <= set(entry["missing"])
        case "sentinels":
            return numbers and not set(remark["codes"]) <= set(entry["missing"])
        case "weight" | "copy":
            return str(entry["role"]) != "identifier"
        case _:
            return True


def risk_bars(risk: Mapping[str, Any]) -> Html:
    """The three bars of a column."""
    if risk["alone"] is None:
        return element("span", said.NEVER_LEAVES, class_="soft")
    follows = risk["follows"]
    rows = [
        _bar(said.ALONE, risk["alone"]),
        _bar(said.ADDS, risk["adds"]),
        _bar(said.FOLLOWS, max((f["share"] for f in follows), default=0.0)),
    ]
    if follows:
        best = max(follows, key=lambda f: f["share"])
        source = said.follows(best["source"], best["share"], both=best["both"]) + said.more_sources(len(follows) - 1)
        rows.append(element("span", source, class_="follows"))
    return join(rows)


def _bar(label: str, share: float) -> Html:
    return element("span", element("span", label, aria_hidden="true"), bar(label, share), class_="risk")


def headline(found: Mapping[str, Any]) -> Html:
    """Whom the columns that others may know single out, and what the others do."""
    sampled = said.sampled(found["rows"], found["of"]) if found["rows"] < found["of"] else ""
    lines = [said.half(found), said.never(found["never"]), sampled]
    return join(
        element("p", said.headline(found), class_="lead"),
        [element("p", line, class_="soft") for line in lines if line],
        element("p", said.others(found), class_="caution") if said.others(found) else None,
    )


def hidden_fields(hidden: Mapping[str, str]) -> Html:
    """The fields that lead back to the list that was shown."""
    return join(_hidden(name, value) for name, value in hidden.items())


def _hidden(name: str, value: object) -> Html:
    return element("input", type="hidden", name=name, value=str(value))
