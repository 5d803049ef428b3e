"""Mail addresses, phone numbers, cards, accounts, links and long numbers in people's texts that stand in a release as well."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hushtable.audits.released_words import recognized, released_words, with_reserved_error
from hushtable.evidence.finding import Audit, Finding, uncomputed
from hushtable.pipeline.step import check_knobs
from hushtable.table.columns import Column
from hushtable.table.patterns import scan
from hushtable.table.words import text_columns

if TYPE_CHECKING:
    from hushtable.evidence.case import Case
    from hushtable.evidence.looks import Look

NAME = "identifiers in texts"
RESERVED = 0.02
"""The part of the error that is reserved: few people write a number into a text, and fewer numbers may be released."""


@dataclass(frozen=True, kw_only=True)
class TextPatterns(Audit):
    """What has the form of an identifier within a person's text (``table.patterns``) and stands in the release, in any spelling.

    Only people whose text holds such a string are attacked. What more than ``most`` people wrote, the number of an office or a
    link to a newspaper, identifies nobody and is left out. The detail counts those of the release by kind.
    """

    most: int = 5
    """What more people than this wrote is common."""

    def __post_init__(self) -> None:
        """Check the knob."""
        check_knobs(self, most=(self.most >= 1, "must be at least 1"))

    def looks(self, case: Case, rng: np.random.Generator) -> list[Look] | None:
        """None where there is no text to be read; else all released texts."""
        return None if text_columns(case.train.schema) else []

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding for each free text of the training rows."""
        columns = text_columns(case.train.schema)
        if not columns:
            return [uncomputed(NAME, case.train.rows, "the training table has no column of free text")]
        published = [match for text in sorted(released_words(case)) for match in scan(text)]
        keys = {match.key for match in published}
        kinds = Counter(str(match.kind) for match in published)
        findings = []
        for column in columns:
            own = {text: {match.key for match in scan(text)} for text in _distinct(case, column.name)}
            if not any(own.values()):
                note = f"no {column.name} holds a mail address, a link, or the number of a phone, a card or an account"
                findings.append(uncomputed(NAME, case.train.rows, note, scope=column.name))
                continue
            findings += self._recognized(case, column, own, keys, dict(kinds))
        return with_reserved_error(findings, RESERVED)

    def _recognized(
        self, case: Case, column: Column, own: dict[str, set[str]], published: set[str], kinds: dict[str, int]
    ) -> list[Finding]:
        return recognized(
            case, [column], lambda text: own[text] & published, name=NAME, most=self.most,
            does="finds a mail address, a link or a number of it in the release",
            tried=lambda text: bool(own[text]), detail={"released": kinds},
        )  # fmt: skip


def _distinct(case: Case, name: str) -> dict[str, None]:
    tables = (table for table in (case.train, case.control) if name in table.schema)
    return dict.fromkeys(text for table in tables for text in table.strings(name) if text is not None)
