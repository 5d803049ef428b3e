"""Redaction: what has the form of an identifier in free text becomes a placeholder."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from hushtable.anonymize.anonymized import Anonymized
from hushtable.errors import InputError
from hushtable.pipeline.step import Core, Plan, check_knobs, chosen
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.preserve import Effect
from hushtable.privacy.vault import Vault
from hushtable.table.disk import read_text
from hushtable.table.patterns import Pattern, scan
from hushtable.table.schema import Schema

_WHY = "redaction reads the rows"
NAME = "name"
"""What a word of the file of names counts as."""
_WORD = re.compile(r"\w+")
Phrases = Mapping[str, list[tuple[str, ...]]]


@dataclass(frozen=True, kw_only=True)
class Redact(Core):
    """Addresses of mail and web, and numbers of phones, cards and accounts, become placeholders such as ``[MAIL]``.

    Promises nothing: a scanner of forms knows no names, places or dates, and what a text says may be known of one person only. All
    other columns, and the rest of every text, leave as they are. With a file of ``names``, its words become ``[NAME]`` too,
    whatever their case; a name that is not in it stays. Missing texts stay missing.
    """

    reads_text: ClassVar[bool] = True

    columns: tuple[str, ...] = ()
    """The columns of free text; all when empty."""
    kinds: tuple[str, ...] = tuple(str(kind) for kind in Pattern)
    """What is masked: mail, url, iban, card, phone, digits."""
    names: str = ""
    """A file of words or names to mask, one a line; none when empty."""

    def __post_init__(self) -> None:
        """Known kinds."""
        known = ", ".join(Pattern)
        check_knobs(self, kinds=(bool(self.kinds) and set(self.kinds) <= set(Pattern), f"must be some of {known}"))

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that are no text, and a file of names that cannot be read."""
        columns = self._columns(schema)
        if self.names:
            self._phrases()
        caveats = (
            "redaction finds forms, not meaning: names, places, dates and everything else that is no pattern stay"
            + (", unless they stand in the file of names" if self.names else ""),
        )
        return Plan(schema=schema, events=(Raw(_WHY),), effect=Effect.EDIT_ROWS, moves=columns, caveats=caveats)

    def fit(self, vault: Vault, rng: np.random.Generator) -> Anonymized:
        """Mask every text; what stands twice is masked once."""
        table = vault.open(Raw(_WHY), _WHY)
        columns = self._columns(table.schema)
        phrases = self._phrases() if self.names else {}
        counts: dict[str, dict[str, int]] = {}
        for number, name in enumerate(columns, 1):
            texts, found = table.strings(name), Counter[str]()
            made = {text: self._masked(text, phrases) for text in set(texts) if text is not None}
            for text in texts:
                found.update(made[text][1] if text is not None else ())
            counts[name] = dict(sorted(found.items()))
            table = table.with_text(table.schema[name], [None if text is None else made[text][0] for text in texts])
            vault.report(number / len(columns))
        return Anonymized(table, {"masked": counts})

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        return chosen(
            schema, self.columns, schema.texts, "redact", "a column of free text", lambda c: c.name in schema.texts, "plain"
        )

    def _masked(self, text: str, phrases: Phrases) -> tuple[str, list[str]]:
        """The text with placeholders, and the kind of each."""
        spans = [(match.start, match.end, str(match.kind)) for match in scan(text) if match.kind in self.kinds]
        if phrases:
            taken = np.zeros(len(text) + 1, bool)
            for start, end, _ in spans:
                taken[start:end] = True
            spans = sorted([*spans, *((s, e, NAME) for s, e in _named(text, phrases) if not taken[s:e].any())])
        parts, last = [], 0
        for start, end, kind in spans:
            parts += [text[last:start], f"[{kind.upper()}]"]
            last = end
        return "".join([*parts, text[last:]]), [kind for _, _, kind in spans]

    def _phrases(self) -> Phrases:
        """The names as words, by their first one, the longest first."""
        found: dict[str, list[tuple[str, ...]]] = defaultdict(list)
        for line in read_text(Path(self.names), f"redact.names: {self.names}").splitlines():
            if words := tuple(_plain(word) for word in _WORD.findall(line)):
                found[words[0]].append(words)
        if not found:
            raise InputError("the file has no words", where=f"redact.names: {self.names}")
        return {first: sorted(set(some), key=lambda words: (-len(words), words)) for first, some in found.items()}


def _named(text: str, phrases: Phrases) -> Iterator[tuple[int, int]]:
    """Where names stand; none overlaps another."""
    words = [(match.start(), match.end(), _plain(match.group())) for match in _WORD.finditer(text)]
    at = 0
    while at < len(words):
        here = phrases.get(words[at][2], ())
        size = next((len(own) for own in here if tuple(w for _, _, w in words[at : at + len(own)]) == own), 0)
        if size:
            yield words[at][0], words[at + size - 1][1]
        at += size or 1


def _plain(word: str) -> str:
    return unicodedata.normalize("NFKC", word).casefold()
