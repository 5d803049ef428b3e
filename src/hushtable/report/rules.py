"""Rules of the real rows: how many released rows break each, and the rules as a schema would declare them."""

from __future__ import annotations

from collections.abc import Sequence

from hushtable.evidence.finding import Finding
from hushtable.report import findings as show
from hushtable.report.html import INTERNAL, Cell, Child, Html, element, join, table
from hushtable.report.words import number, share
from hushtable.table import entries, lenient

OBSERVED = (
    "These rules were read off the rows, so they are observed, not declared: one person more could have made a rule none. Copy "
    "into the schema of a private release only those that everybody knows without these rows; nothing is copied by itself."
)


def broken_rules(whole: Sequence[Finding], single: Sequence[Finding]) -> Html:
    """The rules that are shown one by one, and all of them as they would be declared."""
    return join(_table(whole, single) if single else None, _declared(whole))


def rules_yaml(findings: Sequence[Finding]) -> str:
    """The rules that were found as the entry ``zeros`` of a schema, with a warning; empty if there are none."""
    texts = _zeros(findings)
    if not texts:
        return ""
    return "\n".join([f"# {INTERNAL}", f"# {OBSERVED}", "zeros:", *(f"  - {entries.flow(text)}" for text in texts)]) + "\n"


def _table(whole: Sequence[Finding], single: Sequence[Finding]) -> Html:
    heads = ["What never happens, and the verdict", "Real", "By chance", "Released", "Share", "Fresh"]
    rows: list[list[Child | Cell]] = [
        [
            join(element("span", f.scope), show.verdict_line(f)), Cell("0", 0.0),
            Cell(share(lenient.finite(f.detail.get("expected"))), lenient.finite(f.detail.get("expected"))),
            Cell(number(lenient.whole(f.detail.get("rows"))), lenient.finite(f.detail.get("rows"))),
            Cell(show.value(f), f.value), Cell(show.baseline(f), f.baseline),
        ]
        for f in single
    ]  # fmt: skip
    every = max((lenient.whole(f.detail.get("rules")) or 0 for f in whole), default=0)
    lead = f"{number(len(single))} of {number(every)} rules: those that most released rows break, then the strongest. "
    more = "How many real and released rows break it; then the share by chance, if columns were unrelated, and that of fresh rows."
    return join(
        element("h3", "Rules, one by one"),
        element("p", lead + more, class_="soft"),
        table(heads, rows, label="Rules, one by one", numbers=range(1, len(heads)), class_="findings judged"),
    )


def _declared(whole: Sequence[Finding]) -> Html | None:
    texts = _zeros(whole)
    if not texts:
        return None
    lines = element("pre", element("code", "\n".join(["zeros:", *(f"  - {entries.flow(text)}" for text in texts)])), tabindex="0")
    return element("details", element("summary", "The rules as a schema would declare them"), element("p", OBSERVED), lines)


def _zeros(findings: Sequence[Finding]) -> list[str]:
    return [text for f in findings if not f.scope for text in lenient.texts(f.detail.get("zeros"))]
