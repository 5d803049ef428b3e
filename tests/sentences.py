"""Tables with a label and a free text: sentences of a small grammar, with rare names and numbers in them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from hushtable.table import io
from hushtable.table.columns import Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

OPENINGS = ("Hello", "Dear team", "Hi", "Good morning", "To whom it may concern", "Hey")
WHO = ("my sister", "the neighbour", "our driver", "a colleague", "the clerk", "my doctor", "a friend of ours", "the new tenant")
GOOD = ("thanked you for", "was pleased with", "praised", "enjoyed", "asked again for", "kept")
BAD = ("complained about", "returned", "was angry about", "never received", "lost", "refused")
WHAT = (
    "the parcel",
    "the invoice",
    "the last visit",
    "the repair",
    "the second letter",
    "the contract",
    "the treatment",
    "the bill",
)
WHEN = ("on Monday", "last week", "in the morning", "after lunch", "before the holidays", "yesterday", "two days ago")
SYLLABLES = ("ba", "ren", "to", "mi", "lak", "su", "vor", "ne", "gal", "dri", "pho", "qua", "zet", "ulm", "isk", "ojo")
LABELS = ("good", "bad")
SCHEMA = Schema(
    columns=(
        Column(name="label", kind=Kind.CATEGORY, domain=Levels(LABELS), role=Role.TARGET),
        Column(name="branch", kind=Kind.CATEGORY, domain=Levels(("north", "south", "west")), role=Role.QUASI),
        Column(name="note", kind=Kind.TEXT),
    )
)


def sentence(rng: np.random.Generator, label: str) -> str:
    """One text: a name in every one of them, a phone number in some."""
    name = " ".join("".join(rng.choice(SYLLABLES, 3)).capitalize() for _ in range(2))
    parts = [rng.choice(OPENINGS) + ",", f"{rng.choice(WHO)} {name}", rng.choice(GOOD if label == "good" else BAD)]
    parts += [rng.choice(WHAT), f"{rng.choice(WHEN)}."]
    if rng.random() < 0.4:
        parts += [f"{rng.choice(WHO).capitalize()} {rng.choice((*BAD, *GOOD))} {rng.choice(WHAT)} {rng.choice(WHEN)}."]
    if rng.random() < 0.2:
        parts += [f"Call 0{rng.integers(1, 10)}{rng.integers(10**7, 10**8)}."]
    return " ".join(parts)


def notes(rows: int, seed: int) -> Table:
    """Independent rows of one kind."""
    rng = np.random.default_rng([17, seed])
    labels = rng.choice(LABELS, rows, p=[0.6, 0.4])
    return noted([sentence(rng, label) for label in labels], labels, rng.choice(("north", "south", "west"), rows))


def noted(texts: list[str | None], labels: object = "good", branches: object = "north") -> Table:
    """A table of these texts."""
    return io.read(pd.DataFrame({"label": labels, "branch": branches, "note": pd.array(texts, object)}), SCHEMA)


def rewritten(table: Table, texts: dict[int, str | None]) -> Table:
    """The table with some of its texts replaced."""
    own = list(table.strings("note"))
    for row, text in texts.items():
        own[row] = text
    return noted(own, table.strings("label"), table.strings("branch"))


AWKWARD: list[str | None] = [
    "",
    " ",
    None,
    "a",
    "ok",
    "😀😀🎉",
    "今天天气很好，我们去公园散步吧。",
    "Привет, как дела? Позвони мне завтра.",
    "नमस्ते दुनिया",
    "مرحبا بالعالم 🌍",
    "word " * 20_000,
    "x" * 100_000,
    "1 " * 50_000,
    "!!! ???",
    "nai\u0308ve café",
    "\u200b",
    "line\nbreak\ttab",
    "a@b.com 07911 123456",
]
"""Texts that break programs."""
