"""Released texts to be read by eye."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hushtable.report.html import Html, element, join, table

LEAD = (
    "Some rows of the release, evenly over it. A released text that a training or control person wrote word for word is "
    "never shown here; whether there are any, the attacks on texts say."
)


def examples_section(examples: Sequence[Mapping[str, str | None]]) -> Html | None:
    """A line for each row, its text last; None where the release has no text."""
    if not examples:
        return None
    heads = list(examples[0])
    lines = [[element("span", "missing", class_="soft") if row.get(h) is None else row[h] for h in heads] for row in examples]
    return join(element("p", LEAD), table(heads, lines, label="Released texts"))
