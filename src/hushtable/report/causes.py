"""What to do about the alarms of an audit, by cause, and who gains by them: the words of ``evidence.verdict.cause``."""

from __future__ import annotations

from hushtable.evidence.known import ALL, QUASI
from hushtable.evidence.verdict import Evidence, Reach
from hushtable.report.html import Html, element, join
from hushtable.report.words import number, sentence

REACHED = {
    Reach.QUASI: "Somebody who knows only the quasi-identifiers of a person gains by it, and so does whoever knows more.",
    Reach.ALL: (
        "Somebody who knows only the quasi-identifiers gains nothing beyond chance; somebody who already holds all other columns "
        "of a person does, and finds their row or joins two sources by it. Both count."
    ),
    Reach.LISTED: "Somebody who knows the columns that were named gains by it.",
}
"""Who gains, by how little they must hold."""


def who_gains(evidence: Evidence) -> str:
    """What an attacker must hold to gain something, with the alarms of each; empty where nobody does, or it was not asked."""
    words = REACHED.get(evidence.reach, "")
    counts = [
        f"{number(sum(f.known == label for f in evidence.alarms))} of {number(tried)} attacks {phrase}"
        for label, phrase in ((QUASI, "with the quasi-identifiers"), (ALL, "with all columns"))
        if (tried := sum(f.known == label for f in evidence.tested))
    ]
    return f"{words} Alarms: {', '.join(counts)}." if words and counts else words


def not_tried(evidence: Evidence) -> str:
    """Who was not tried, where nobody who was gained anything: that is no more than it is."""
    tried = {f.known for f in evidence.tested} - {""}
    if not tried or ALL in tried:
        return ""
    return "Nobody was tried who holds all released columns (--known): what such an attacker gains is not known."


def what_to_do(evidence: Evidence) -> list[str]:
    """A sentence for each cause, the weightiest first."""
    return [sentence(cause.text) for cause in evidence.advised]


def causes_list(evidence: Evidence) -> Html:
    """The causes of alarms, each with the columns and what would remove it; nothing where there are none."""
    if not evidence.advised:
        return join()
    items = [
        element(
            "li", element("strong", sentence(cause.why)), f" {sentence(f'To remove it: {cause.remedy}')}", _explains(cause.alarms)
        )
        for cause in evidence.advised
    ]
    lead = "By cause: any one of its remedies removes it. Audit again afterwards; what is left may have another cause."
    return element("div", element("h3", "What to do"), element("p", lead, class_="soft"), element("ul", items), class_="causes")


def _explains(alarms: tuple[str, ...]) -> Html | None:
    if not alarms:
        return None
    count = f"Explains {number(len(alarms))} alarm{'' if len(alarms) == 1 else 's'}"
    return element("details", element("summary", count), element("ul", [element("li", label) for label in alarms]))
