"""How similar the most similar released text is to each person's: copies with some words changed are found as well."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hushtable.audits.membership import ScoreAttack, Scores
from hushtable.audits.text.columns import no_text, people_with_text, unread
from hushtable.evidence.finding import Finding
from hushtable.evidence.similarity import Vectors
from hushtable.table.words import text_columns

if TYPE_CHECKING:
    from hushtable.evidence.case import Case
    from hushtable.evidence.looks import Look

NAME = "text similarity"


@dataclass(frozen=True, kw_only=True)
class NearestTexts(ScoreAttack):
    """Membership by the similarity of a person's text to the nearest released one.

    Similar are texts that share rare words, or four letters in a row (the cosine of their TF-IDF vectors). Rarity is counted in
    training, control and released texts together. Who has no text is not attacked.
    """

    def looks(self, case: Case, rng: np.random.Generator) -> list[Look] | None:
        """None where there is no text to be read; else all released texts."""
        return None if text_columns(case.train.schema, case.release.schema, case.control.schema) else []

    def scores(self, case: Case, rng: np.random.Generator) -> Iterator[Scores | Finding]:
        """One for each column of free text."""
        columns = text_columns(case.train.schema, case.release.schema, case.control.schema)
        if not columns:
            yield no_text(NAME, case)
        for column in columns:
            sides = people_with_text(case, column.name)
            if not all(len(rows) for rows, _ in sides.values()):
                yield unread(NAME, column.name, sides)
                continue
            (ours, own), (others, theirs), (places, released) = (sides[which] for which in ("train", "control", "release"))
            vectors = Vectors.of(own, theirs, released)
            near, other = vectors.nearest(0, 2), vectors.nearest(1, 2)
            yield Scores(
                NAME, f"knows a person's {column.name} and measures how similar the nearest released one is",
                -near.distance[:, 0], -other.distance[:, 0], ours, others, places[near.index[:, 0]], scope=column.name,
            )  # fmt: skip
