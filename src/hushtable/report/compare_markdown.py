"""Many releases of one table, tried and judged, as Markdown: the same decision, table and caveats as on the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.report.compare_text import changes, ended, facts, headline, reading, untried
from hushtable.report.html import INTERNAL
from hushtable.report.markdown import bullets, code, grid, plain
from hushtable.report.ranking import alarms, asked, measure, measures, setting
from hushtable.report.trials import Trial, Trials
from hushtable.report.words import number, sentence


def comparison_markdown(told: Mapping[str, Any]) -> str:
    """What ``comparison.json`` holds as plain Markdown."""
    read = Trials.of(told)
    first, *rest = headline(read)
    blocks = [
        "# Which release to publish",
        f"**{INTERNAL}**",
        f"**{plain(first)}**",
        plain(" ".join(rest)),
        bullets(plain(ended(f"{title}: {value}; {said}. {kind}")) for title, value, said, kind in facts(read)),
        *_block("Mind", read.caveats),
        *_block("If you need something else", [sentence(words) for _, words in read.others]),
        *_block("What would change the choice", changes(read)),
        *_block("Why this one" if read.chosen else "Why none", read.why),
        f"To make it: {code(read.command)}" if read.command else "",
        *_listed("What was asked", [f"{code(expression)}: {plain(ended(words))}" for expression, words in read.constraints]),
        "## All releases",
        _ranking(read),
        *_listed("Searched", [f"{plain(recipe)}: {plain(ended(words))}" for recipe, words in read.searched]),
        *_listed("What could not be run", [plain(f"{t.id}: {ended(t.failed)}") for t in read.failures]),
        *_listed("The recipes", [plain(_recipe(recipe, read)) for recipe in read.recipes]),
        *_listed("How to read this, and what it does not say", [plain(f"{term}: {ended(said)}") for term, said in reading(read)]),
        *_block("What was not tried", untried(read)),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _ranking(read: Trials) -> str:
    if not read.ran:
        return "No release could be made." if read.trials else "Nothing was tried."
    names = measures(read)
    heads = ["#", "release", "promise", "risk", "alarms", read.axis.label, "asked", *names, "seconds"]
    return grid([plain(head) for head in heads], [[plain(cell) for cell in _cells(t, names)] for t in read.ran])


def _cells(trial: Trial, names: Sequence[str]) -> list[str]:
    worst = f", {trial.risk.name}" if trial.risk.name else ""
    void = " (audit void)" if trial.void else ""
    return [
        str(trial.number),
        trial.id,
        f"{trial.assurance}: {trial.promise}" if trial.promise else trial.assurance,
        f"{trial.risk.told(percent=True)}{worst}{void}" if trial.risk.value is not None else "not attacked",
        alarms(trial),
        trial.score.told(),
        asked(trial),
        *(number(measure(trial, name)) for name in names),
        number(trial.seconds),
    ]


def _recipe(recipe: str, read: Trials) -> str:
    tried = [t for t in read.trials if t.recipe == recipe]
    title, cite = (next((text for text in texts if text), "") for texts in ([t.title for t in tried], [t.cite for t in tried]))
    settings = "; ".join(dict.fromkeys(setting(t) for t in tried))
    return " ".join(f"{part.removesuffix('.')}." for part in (f"{recipe}: {title}", f"Tried: {settings}", cite) if part)


def _block(title: str, items: Sequence[str]) -> list[str]:
    return _listed(title, [plain(ended(item)) for item in items])


def _listed(title: str, lines: Sequence[str]) -> list[str]:
    return [f"## {title}", bullets(lines)] if lines else []
