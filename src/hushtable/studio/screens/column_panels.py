"""One column, the schema as YAML, and a data dictionary: what is changed beside the grid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hushtable.report.html import Html, element, join, table
from hushtable.studio.files import DICTIONARIES
from hushtable.studio.parts import button, field, form, select, switch
from hushtable.studio.screens.column_grid import hidden_fields
from hushtable.studio.view import View
from hushtable.studio.words import columns as said


def column(view: View, entry: Mapping[str, Any], place: int, noticed: Mapping[str, Any]) -> Html:
    """All that is said of one column but its role."""
    own = {"view": "column", "column": str(place)}
    kinds = list(said.KINDS.items())
    given, name = not entry["observed"], entry["name"]
    label = (noticed.get("labels") or {}).get(name, "")
    why = ((noticed.get("reasons") or {}).get(name) or {}).get(entry["kind"], "")
    fields = [
        field(view, "label", said.LABEL_FIELD, label, hint=said.LABEL_HINT, maxlength=200),
        select(view, "kind", said.KIND_FIELD, kinds, entry["kind"], hint=said.why(why)),
        field(view, "missing", said.MISSING_FIELD, ", ".join(entry["own_missing"]), hint=said.MISSING_HINT),
    ]
    if entry["coded"] or entry["numbers"]:
        options = [("rows", said.DOMAIN_ROWS), ("given", said.DOMAIN_GIVEN)]
        hint = "" if given else said.READ_HIDDEN
        fields.append(switch(view, "domain", said.DOMAIN, options, "given" if given else "rows", hint=hint))
    if entry["numbers"]:
        low, high = entry["domain"].get("range") or ("", "")
        ends = join(field(view, "low", said.LOW, low), field(view, "high", said.HIGH, high))
        fields.append(element("div", ends, class_="knob-fields"))
    if entry["coded"]:
        hint = said.ORDER_HINT if entry["kind"] == "ordinal" else ""
        fields.append(area(view, "levels", said.LEVELS, "\n".join(entry["levels"]), 8, hint=hint))
    if entry["coded"] or entry["numbers"]:
        fields.append(reason(view, "reason", said.DOMAIN_REASON))
    head = element("h2", name, id=f"field-column.{place}", tabindex=-1)
    fault = view.fault(f"column.{place}")
    return join(
        back(view, place),
        head,
        element("p", fault, class_="fault") if fault else None,
        element("p", said.DETAILS, class_="soft"),
        form(view, "change", hidden_fields(own), fields, button(said.SAVE, main=True), region="content", class_="fields"),
    )


def back(view: View, place: int | None = None) -> Html:
    """The way back, to where the column stands."""
    start = None if place is None else place // 50 * 50 or None
    anchor = "" if place is None else f"#field-column.{place}"
    return element("p", element("a", said.BACK, href=view.to("columns", start=start) + anchor))


def reason(view: View, name: str, label: str, hint: str = said.REASON_HINT) -> Html:
    """One field for why something is public knowledge, with what is said most often."""
    options = element("datalist", [element("option", value=one) for one in said.REASONS], id=f"{name}s")
    return join(field(view, name, label, hint=hint, list=f"{name}s", maxlength=300), options)


def area(view: View, name: str, label: str, value: str, rows: int, *, hint: str = "") -> Html:
    """A labelled field of several lines."""
    fault = view.fault(name)
    described = " ".join([f"hint-{name}"] * bool(hint) + [f"fault-{name}"] * bool(fault)) or None
    own = element(
        "textarea", "\n" + view.value(name, value), id=f"field-{name}", name=name, rows=rows, spellcheck="false",
        autocomplete="off", aria_invalid="true" if fault else None, aria_describedby=described,
    )  # fmt: skip
    beside = [element("p", hint, class_="hint", id=f"hint-{name}")] if hint else []
    beside += [element("p", fault, class_="fault", id=f"fault-{name}")] if fault else []
    return element("div", element("label", label, for_=f"field-{name}"), own, beside, class_="field")


def yaml(view: View, text: str, faulty: Html | None) -> Html:
    """The schema as it is written, with the lines of the grid that have faults below it."""
    lines = min(40, text.count("\n") + 3)
    fields = [area(view, "yaml", said.YAML_FIELD, text, lines, hint=said.YAML_HINT), button(said.YAML_SAVE, main=True)]
    return join(
        back(view),
        element("h2", said.YAML_TITLE),
        element("p", said.YAML_SHOWN, class_="caution"),
        form(view, "yaml", hidden_fields({"view": "yaml"}), fields, region="content", class_="fields yaml"),
        faulty,
    )


def dictionary(view: View) -> Html:
    """The files of the start folder that could be one, and the reason for all that they declare."""
    files = view.studio.files
    at = view.typed.get("folder") or view.query.get("folder", "")
    folder = files.folder(at)
    entries, _ = files.listing(folder, DICTIONARIES)
    own = view.workspace.table.resolve()
    up = None
    if folder != files.root:
        above = "" if folder.parent == files.root else files.id(folder.parent)
        up = element("p", element("a", said.UP, href=view.to("columns", view="dictionary", folder=above)))
    folders = [
        [element("a", f"{e.name}/", href=view.to("columns", view="dictionary", folder=e.id)), ""] for e in entries if e.folder
    ]
    found = [e for e in entries if not e.folder and (folder / e.name).resolve() != own]
    files_ = [[e.name, button(said.TAKE, name="file", value=e.id, aria_label=f"{said.TAKE}: {e.name}")] for e in found]
    rows = [*folders, *files_]
    listing = table([said.FILE, said.ACTION], rows, label=said.FILES, sortable=False, class_="files") if rows else None
    empty = element("p", said.NO_DICTIONARY) if not found else None
    fields = [reason(view, "reason", said.DICTIONARY_REASON), element("h2", said.folder(folder.name)), up, empty, listing]
    return join(
        back(view),
        element("h2", said.DICTIONARY_TITLE),
        element("p", said.DICTIONARY_HINT, class_="soft"),
        form(view, "dictionary", hidden_fields({"view": "dictionary", "folder": at}), fields, region="content", class_="fields"),
    )


def described(found: Mapping[str, Any]) -> Html | None:
    """What a data dictionary did the last time, and what it contradicts."""
    if not found:
        return None
    faults = [element("li", f"{fault['where']}: {fault['reason']}") for fault in found["faults"]]
    wrong = join(element("p", said.contradicted(len(faults))), element("ul", faults)) if faults else None
    return element("div", element("p", said.described(found)), wrong, class_="caution")
