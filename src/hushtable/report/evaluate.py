"""One choice of levels and those one rung away from it, as lines of text and as a fragment for whoever holds the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hushtable.report.html import Html, element, join, pairs, table
from hushtable.report.words import number, share

if TYPE_CHECKING:
    from hushtable.anonymize.lattice.choices import Choice
    from hushtable.api.evaluate import Evaluation

PRIVATE = "Computed from the raw rows: for you alone, not for publication."
HEADS = ["column", "level", "k", "classes", "alone", "suppressed", "share", "loss", "meets it"]


def evaluated(evaluation: Evaluation) -> Html:
    """All of it for a notebook."""
    return join(
        element("p", PRIVATE, class_="soft"),
        pairs(facts(evaluation.choice)),
        table(["column", "level", "lost"], loss_rows(evaluation.choice), label="Columns", numbers=[1, 2]),
        table(HEADS, rung_rows(evaluation), label="One rung away", numbers=range(1, 8)) if evaluation.around else None,
    )


def facts(choice: Choice) -> list[tuple[str, str]]:
    """What the choice keeps, suppresses and loses, each with its name."""
    return [
        ("what is demanded, within the limit", "holds" if choice.met else "does not hold"),
        ("k of the classes that stay", number(choice.k)),
        ("classes", f"{number(choice.classes)}, of which {number(choice.kept)} stay"),
        ("smallest class before suppression", number(choice.smallest)),
        ("people alone before suppression", number(choice.alone)),
        ("rows suppressed", f"{number(choice.suppressed)} ({share(choice.suppressed_share)})"),
        (f"loss ({choice.loss_name})", number(choice.loss)),
    ]


def loss_rows(choice: Choice) -> list[list[str]]:
    """A line for each column: its level, and what it loses."""
    return [[name, number(level), share(choice.losses[name])] for name, level in choice.levels.items()]


def rung_rows(evaluation: Evaluation) -> list[list[str]]:
    """A line for each choice one rung away."""
    return [
        [
            rung.column, f"{number(rung.choice.levels[rung.column])} ({'coarser' if rung.up else 'finer'})", number(rung.choice.k),
            number(rung.choice.classes), number(rung.choice.alone), number(rung.choice.suppressed),
            share(rung.choice.suppressed_share), number(rung.choice.loss), "yes" if rung.choice.met else "no",
        ]
        for rung in evaluation.around
    ]  # fmt: skip
