"""What a release is good for: columns, pairs, models and queries, each beside the same number for fresh rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hushtable.report.html import Child, Html, element, table
from hushtable.studio.audits.judged import judged
from hushtable.studio.jobs import Job
from hushtable.studio.view import View
from hushtable.studio.words import audit as said


async def use(view: View, release: Job, main: Job) -> Html:
    """All measures by what they are about, the worst first."""
    found = await view.ask("use", audit=main.request["out"])
    return element("div", element("p", said.USE_WHAT), [_measured(page) for page in found], id="use", class_="tab")


def _measured(page: Mapping[str, Any]) -> Html:
    """All measures by what they are about, the worst first."""
    parts: list[Child] = [element("h2", said.USE_TITLES[page["anchor"]]), element("p", page["lead"], class_="soft")]
    if not page["whole"] and not page["parts"]:
        return element("section", parts, element("p", said.NOTHING_MEASURED, class_="soft"))
    if page["parts"]:
        rows = [
            [judged(one, one["of"]), one["name"], one["value"], said.fresh(one["fresh"]), one["between"], one["direction"]]
            for one in page["parts"]
        ]
        heads = [page["scope"], said.MEASURE_ALONE, said.RELEASED, said.FRESH, said.INTERVAL, said.DIRECTION]
        drawn = table(heads, rows, label=said.one_by_one(page["scope"]), numbers=(2, 3), sortable=False, class_="findings judged")
        parts += [drawn, element("p", said.more_parts(page["more"]), class_="soft") if page["more"] else None]
    if page["whole"]:
        rows = [
            [judged(one, one["name"]), one["value"], said.fresh(one["fresh"]), one["between"], one["meaning"]]
            for one in page["whole"]
        ]
        heads = [said.MEASURE, said.RELEASED, said.FRESH, said.INTERVAL, said.MEANING]
        whole = table(
            heads,
            rows,
            label=said.as_a_whole(said.USE_TITLES[page["anchor"]]),
            numbers=(1, 2),
            sortable=False,
            class_="findings judged",
        )
        parts.append(element("details", element("summary", said.AS_A_WHOLE), whole) if page["parts"] else whole)
    parts += [Html(drawn) for drawn in page["drawn"]]
    return element("section", parts)
