"""A comparison as Markdown: the same decision, table and caveats as on the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hushtable.report.compare_text import (
    alarms,
    changes,
    ended,
    facts,
    headline,
    points,
    reading,
    setting,
    untried,
    verdict,
    with_interval,
)
from hushtable.report.html import INTERNAL
from hushtable.report.markdown import bullets, code, grid, plain
from hushtable.report.ranking import baselines, heads, measure, measures
from hushtable.report.words import number, sentence

if TYPE_CHECKING:
    from hushtable.api.compare.cell import Cell
    from hushtable.api.compare.comparison import Comparison


def comparison_markdown(comparison: Comparison) -> str:
    """A comparison as plain Markdown."""
    asked = [f"{code(one.expression)}: {plain(ended(one.description))}" for one in comparison.constraints]
    blocks = [
        "# Which release to publish",
        f"**{INTERNAL}**",
        *chosen(comparison),
        *_listed("Conditions", asked),
        "## All releases",
        _ranking(comparison),
        *_listed("Searched", [f"{plain(one.recipe)}: {plain(ended(one.words))}" for one in comparison.searched]),
        *_listed("What could not be run", [plain(f"{cell.id}: {ended(cell.failed)}") for cell in comparison.failures]),
        *_listed("The recipes", [plain(_recipe(recipe, comparison)) for recipe in comparison.recipe_names]),
        *_listed(
            "How to read this, and what it does not show", [plain(f"{term}: {ended(text)}") for term, text in reading(comparison)]
        ),
        *_block("What was not tried", untried(comparison)),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def chosen(comparison: Comparison) -> list[str]:
    """The choice: what to take and why, the command, the three facts, and what else to know."""
    first, *rest = headline(comparison)
    advice = comparison.recommendation
    return [
        f"**{plain(first)}**",
        plain(" ".join(rest)),
        f"To make it: {code(advice.command)}" if advice.command else "",
        plain(advice.made),
        bullets(plain(ended(f"{title}: {value}; {about}. {kind}")) for title, value, about, kind in facts(comparison)),
        *_block("Before you decide", advice.caveats),
        *_block("If you need something else", [sentence(words) for _, words in comparison.others]),
        *_block("What would change the choice", changes(comparison)),
        *_block("Why this one" if comparison.best else "Why none", advice.why),
    ]


def _ranking(comparison: Comparison) -> str:
    if not comparison.released:
        return "No release could be made." if comparison.cells else "Nothing was tried."
    names = measures(comparison)
    rows = [[plain(text) for text in _row(cell, names)] for cell in comparison.released]
    score, *others = (number(value) for value in baselines(comparison, names))
    real = ["", "fresh real rows", "", "", "", score, "", *others, ""]
    return grid([plain(head) for head in heads(comparison, names)], [*rows, real])


def _row(cell: Cell, names: Sequence[str]) -> list[str]:
    risk = "not attacked"
    if cell.worst:
        worst = f", {cell.worst.name}" if cell.worst.name else ""
        numbers = f"{points(cell.worst.value)}, at most {points(cell.worst.upper)}"
        risk = f"{numbers if cell.gain else with_interval(cell.worst, percent=True)}{worst}{' (audit void)' if cell.void else ''}"
    return [
        str(cell.rank),
        cell.id,
        f"{cell.assurance}: {cell.promise}" if cell.promise else str(cell.assurance),
        risk,
        alarms(cell),
        with_interval(cell.score),
        verdict(cell),
        *(number(measure(cell, name)) for name in names),
        number(cell.seconds),
    ]


def _recipe(recipe: str, comparison: Comparison) -> str:
    tried = [cell for cell in comparison.cells if cell.recipe == recipe]
    title = next((cell.title for cell in tried if cell.title), "")
    cite = next((cell.cite for cell in tried if cell.cite), "")
    settings = "; ".join(dict.fromkeys(setting(cell) for cell in tried))
    return " ".join(ended(part) for part in (f"{recipe}: {title}", f"Tried: {settings}", cite) if part)


def _block(title: str, items: Sequence[str]) -> list[str]:
    return _listed(title, [plain(ended(item)) for item in items])


def _listed(title: str, lines: Sequence[str]) -> list[str]:
    return [f"## {title}", bullets(lines)] if lines else []
