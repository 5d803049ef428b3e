"""Texts in a release, in whatever letters and spaces they are written."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hushtable.audits.released_words import recognized, released_words, sharing, spelled
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Audit, Finding, uncomputed
from hushtable.table.columns import Kind, Role

RESERVED = 0.03
"""The part of the error that is kept for texts: with as many control as training people ten of them raise an alarm."""
RUN = 8
"""So many words in a row make a text recognizable: fewer are repeated by people who never read one another."""
MANY = 5
"""A run of words that more people than this wrote is a phrase."""


@dataclass(frozen=True, kw_only=True)
class PublishedTexts(Audit):
    """Texts of people that stand in the release, whole or ``RUN`` words of them in a row, in whatever letters and spaces.

    What more than ``MANY`` people wrote recognizes nobody, and is left out.
    """

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding for each free text of the training rows."""
        name, columns = "texts published", [c for c in case.train.schema if c.kind is Kind.TEXT and c.role is not Role.IDENTIFIER]
        if not columns:
            return [uncomputed(name, case.train.rows, "the training rows have no free text")]
        published = {run for text in released_words(case) for run in _runs(text)} - {""}
        does = f"finds it, or {RUN} words of it in a row, in the release"
        found = recognized(case, columns, lambda text: published.intersection(_runs(text)), name=name, does=does, most=MANY)
        return sharing(found, RESERVED)


def _runs(text: str) -> set[str]:
    """The whole text without spaces, and every ``RUN`` words of it in a row."""
    words = spelled(text)
    return {"".join(words), *(" ".join(words[at : at + RUN]) for at in range(len(words) - RUN + 1))}
