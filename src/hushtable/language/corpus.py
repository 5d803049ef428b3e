"""Rows as prompts and texts: what a model of language is shown of a row, and what it is to write.

A prompt holds the other columns of a row as they are written. The texts of a row follow one another, each with its name before it,
so that a later one is written in view of those before; a row is one sequence, and one gradient.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hushtable.table.columns import Column
from hushtable.table.schema import Schema
from hushtable.table.table import Table

CHAT = ("<|im_start|>", "<|im_end|>")
"""Marks of turns, of a model that answers: it writes better when it is asked in them."""
TOPIC = ".topic"
"""What the name of the column that holds the topic of a text ends with."""
LONG = 60
"""Characters of a value that a prompt shows."""
FEW = 50
"""Levels of a column up to which one of them is worth asking for without a row."""
Words = Mapping[str, Sequence[str]]
"""For each column of text and each row the words that its text is to hold, as a prompt names them."""


@dataclass(frozen=True)
class Piece:
    """A part of a row's sequence."""

    text: str
    written: bool
    """Whether the model is to write it, or is shown it."""


@dataclass(frozen=True)
class Corpus:
    """How the rows of a schema are put to a model."""

    schema: Schema
    texts: tuple[str, ...]
    """The columns to write, in order."""
    chat: bool
    """Whether the model knows turns of a conversation."""

    @property
    def shown(self) -> list[Column]:
        """The columns that a prompt shows, topics last: they speak of the text itself."""
        columns = [column for column in self.schema if column.name not in self.schema.texts]
        return sorted(columns, key=lambda column: column.name.endswith(TOPIC))

    def prompt(self, known: Mapping[str, str], words: Mapping[str, str] | None = None) -> str:
        """What stands before the first text of a row with these values, and words that each text is to hold."""
        about = f" in {self.schema.title}" if self.schema.title else ""
        called = [f"{_called(name)}: {value[:LONG]}" for name, value in known.items()]
        to_hold = [f"words of the {name}: {own}" for name, own in (words or {}).items() if own]
        values = "; ".join([*called, *to_hold])
        asked = f"Write one realistic {' and '.join(map(_called, self.texts))}{about}. {values}"
        return f"{CHAT[0]}user\n{asked}{CHAT[1]}\n{CHAT[0]}assistant\n" if self.chat else f"{asked}\n\n"

    def prompts(self, table: Table, words: Words | None = None) -> list[str]:
        """The prompt of each row; a missing value is not spoken of."""
        columns = {column.name: table.strings(column.name) for column in self.shown if column.name in table.schema}
        rows = ({name: str(words[row]) for name, words in columns.items() if words[row] is not None} for row in range(table.rows))
        return [self.prompt(known, {name: own[row] for name, own in (words or {}).items()}) for row, known in enumerate(rows)]

    def pieces(self, table: Table, words: Words | None = None) -> list[list[Piece]]:
        """The sequence of each row: its prompt, and its texts with what leads to each; a missing text is left out."""
        found = [[Piece(prompt, written=False)] for prompt in self.prompts(table, words)]
        for name in self.texts:
            for row, text in enumerate(table.strings(name)):
                if text is not None:
                    found[row] += [Piece(self.lead(name), written=False), Piece(text, written=True)]
        return found

    def lead(self, name: str) -> str:
        """What stands before a text; nothing where there is only one."""
        return f"\n{name}: " if len(self.texts) > 1 else ""

    def public(self, count: int, rng: np.random.Generator) -> list[str]:
        """Prompts from levels that the schema declares, drawn with equal chances: no row is needed."""
        columns = [c for c in self.shown if c.coded and not c.generalized and 1 < len(c.levels) <= FEW]
        draws = {column.name: rng.integers(len(column.levels), size=count) for column in columns}
        return [self.prompt({c.name: str(c.levels[draws[c.name][place]]) for c in columns}) for place in range(count)]


def _called(name: str) -> str:
    return "topic" if name.endswith(TOPIC) else name.replace("_", " ")
