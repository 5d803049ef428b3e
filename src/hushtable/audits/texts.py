"""Free texts of people that are in a release, whatever their case, punctuation and spaces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hushtable.audits.released_words import recognized, released_words, spelled, with_reserved_error
from hushtable.evidence.finding import Audit, Finding, uncomputed
from hushtable.table.columns import Kind, Role

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

RESERVED = 0.03
"""The part of the error that is reserved for texts: with as many control as training people ten published texts raise an alarm."""
RUN = 8
"""So many words in a row identify a text: shorter runs occur in texts of different people by chance."""
MANY = 5
"""A run of words that more people than this wrote is a common phrase."""


@dataclass(frozen=True, kw_only=True)
class PublishedTexts(Audit):
    """Free texts of people that are in the release, whole or ``RUN`` words of them in a row, whatever their case and spaces.

    What more than ``MANY`` people wrote identifies nobody, and is left out.
    """

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding for each free text of the training rows."""
        name, columns = "texts published", [c for c in case.train.schema if c.kind is Kind.TEXT and c.role is not Role.IDENTIFIER]
        if not columns:
            return [uncomputed(name, case.train.rows, "the training table has no column of free text")]
        published = {run for text in released_words(case) for run in _runs(text)} - {""}
        does = f"finds it, or {RUN} words of it in a row, in the release"
        findings = recognized(case, columns, lambda text: published.intersection(_runs(text)), name=name, does=does, most=MANY)
        return with_reserved_error(findings, RESERVED)


def _runs(text: str) -> set[str]:
    """The whole text without spaces, and every ``RUN`` words of it in a row."""
    words = spelled(text)
    return {"".join(words), *(" ".join(words[at : at + RUN]) for at in range(len(words) - RUN + 1))}
