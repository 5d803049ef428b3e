"""What a comparison found: its advice, the plane of risk and use, and all releases in a list, the best first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hushtable.report.html import Child, Html, element, join, table
from hushtable.studio import words
from hushtable.studio.jobs import Job
from hushtable.studio.parts import post_button
from hushtable.studio.screens.compare_form import to_columns
from hushtable.studio.view import View
from hushtable.studio.words import compare as said


def results(view: View, job: Job, found: Mapping[str, Any]) -> Html:
    """The advice once all is done, the plane, and the list."""
    if not found["cells"]:
        return element("p", said.NONE_YET, class_="soft") if job.state.open else element("p", "")
    advice = None
    if found["finished"]:
        lists = [
            (said.CAVEATS, found["caveats"]),
            (said.OTHERS, found["others"]),
            (said.WHY, found["why"]),
            (said.NOTES, found["notes"]),
        ]
        folded = [
            element("details", element("summary", head), element("ul", [element("li", line) for line in lines]))
            for head, lines in lists
            if lines
        ]
        first, *rest = found["words"]
        advice = element("div", element("p", element("strong", first), " ", " ".join(rest)), folded, class_="panel-box")
    heads = [*said.HEADS[:5], found["label"], *said.HEADS[5:]]
    rows = [_row(view, job, cell, found.get("best", "")) for cell in found["cells"]]
    drawing = None
    if found["plane"]:
        drawing = element(
            "section", element("h2", said.PLANE), element("p", said.PLANE_TEXT, class_="soft"),
            element("figure", Html(found["plane"]), class_="plane"),
        )  # fmt: skip
    listing = element(
        "section", element("h2", said.RANKED), table(heads, rows, label=said.RANKED, sortable=False, numbers=(0,), class_="ranked")
    )
    return join(element("h2", said.RESULTS[found["finished"]]), advice, drawing, listing)


def _row(view: View, job: Job, cell: Mapping[str, Any], best: str) -> list[Child]:
    number = element("span", str(cell["rank"]), id=f"release-{cell['rank']}", tabindex=-1)
    name = element("strong", cell["id"])
    if cell["failed"]:
        return [number, name, _failed(view, cell), "", "", "", "", "", ""]
    fits = element(
        "span", f"{'✓' if cell['fits'] else '✗'} {cell['verdict']}", class_=f"verdict {'calm' if cell['fits'] else 'watch'}"
    )
    kind = element("span", words.assurance(cell["assurance"]), class_=f"badge {cell['assurance']}")
    fields = {"c": job.folder.name, "cell": cell["id"]}
    return [
        number, join(name, element("br"), said.RECOMMENDED) if cell["id"] == best else name,
        join(kind, element("br"), element("span", cell["promise"], class_="why")), cell["gain"], cell["alarms"], cell["score"],
        fits, words.duration(cell["seconds"]), post_button(view, "take", said.TAKE, about=cell["id"], **fields),
    ]  # fmt: skip


def _failed(view: View, cell: Mapping[str, Any]) -> Html:
    """Why a cell gave no release, with what mends it; the library's own words are folded away."""
    lacking = cell["undeclared"]
    why = said.REFUSED[cell["refused"]] if lacking is None else said.needs_declared(lacking)
    columns = element("a", words.CHANGE, href=view.to("columns")) if cell["refused"] == "columns" else None
    return join(
        element("strong", said.FAILED), element("p", why, " ", columns if lacking is None else to_columns(view)),
        element("details", element("summary", said.IN_FULL), element("p", cell["failed"], class_="why")),
    )  # fmt: skip
