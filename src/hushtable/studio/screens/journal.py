"""What was decided? The journal, and its export as a script and as text."""

from __future__ import annotations

import shlex

from hushtable.report.html import element, join
from hushtable.studio import words
from hushtable.studio.view import Screen, Shown, View
from hushtable.studio.words import journal as said


async def show(view: View) -> Shown:
    """Every decision, the latest first."""
    entries = view.workspace.journal.read()
    items = [
        element(
            "li",
            element("p", element("span", said.time(entry.time), class_="soft"), " · ", entry.screen.capitalize()),
            element("p", entry.change),
            element("p", f"{words.REASON}: {entry.reason}", class_="soft") if entry.reason else None,
            element("pre", element("code", shlex.join(entry.command)), tabindex=0) if entry.command else None,
        )
        for entry in reversed(entries)
    ]
    exports = [
        element("a", said.SCRIPT, href=view.to("journal.sh"), class_="plain-button"),
        element("a", said.TEXT, href=view.to("journal.md"), class_="plain-button"),
    ]
    listed = element("ol", items, class_="journal", reversed=True)
    return Shown(join(element("p", said.WHAT, class_="soft"), element("div", exports, class_="buttons"), listed))


SCREEN = Screen(name="journal", label=words.JOURNAL, question=said.QUESTION, show=show, in_rail=False)
