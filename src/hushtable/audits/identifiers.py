"""Identifiers in a release: as they are, in other letters and signs, or behind a digest that anybody can compute.

A digest with a secret key or salt cannot be recognized by anybody who does not have the key. So a released column that is an
identifier, or looks like one, is reported whether or not anybody is recognized in it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hushtable.audits.digests import CASED, CASELESS, Runs, addressed, base64, digests, ends
from hushtable.audits.released_words import recognized, released_columns, spelled, values_of, with_reserved_error
from hushtable.evidence.finding import Audit, Better, Finding, Subject, uncomputed
from hushtable.evidence.pool import Pool
from hushtable.table.columns import FREE, Column, Kind, Role

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

RESERVED = 0.03
"""The part of the error that is reserved for identifiers: with as many control as training people ten of them raise an alarm."""
SHORTEST = 4
"""The fewest characters of a beginning or end of an identifier that may stand for it."""
IDENTIFYING = 0.9
"""A column in which this share of people have a value of their own is treated as an identifier."""
FEWEST = 10
"""With fewer different values a column is not judged by how they are written."""
_SIGNS = re.compile(r"[\s:{}-]+")
_CODE = re.compile(r"(?=\D*\d)[\w+/=:.{}-]{6,}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class PublishedIdentifiers(Audit):
    """Identifiers and keys of people that are in the release, as they are or as one of the usual digests.

    Letters, spaces and punctuation may differ, what all values of a released column begin or end with is set aside, an
    identifier may be reversed, or cut at one end as long as no other has the same rest. Digests are those of ``digests``, in
    hexadecimal, decimal, base 32 or base 64, whole or cut at one end. A column that nobody declared, but in which
    ``IDENTIFYING`` of all people have a value of their own, is an identifier too; it has a finding if anybody is recognized.

    One finding more has no test and needs none: the released columns that are identifiers, or look like them.
    """

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding for each identifier of the training rows, and one for all identifiers of the release, if it has any."""
        name, does = "identifiers published", "finds it, as it is or as a digest, in the release"
        published = Published.of(released_columns(case).values())

        def recognized_by(columns: Iterable[Column]) -> list[Finding]:
            known = ((c, published.forms_among(values_of(case, c.name))) for c in columns)
            return [f for c, forms in known for f in recognized(case, [c], forms, name=name, does=does)]

        findings = recognized_by(c for c in case.train.schema if _identifies(c))
        if published.hashed or set(case.release.schema.names) - set(case.columns):
            others = recognized_by(_identifying(case))
            findings += [f for f in others if f.detail.get("hits", 0) + f.detail.get("control_hits", 0)]
        none = [uncomputed(name, case.train.rows, "the training table has no identifier column")]
        return (with_reserved_error(findings, RESERVED) or none) + _released(case)


@dataclass(frozen=True, eq=False)
class Published:
    """The words of a release, to look identifiers up in."""

    words: frozenset[str]
    """Each in its letters and digits alone, whole, without what all of its column share, and in parts; or as a code of base 64."""
    lengths: tuple[int, ...]
    """How long those are that may be the end of an identifier."""
    runs: tuple[Runs, ...]
    """What in them may be a digest."""

    @classmethod
    def of(cls, columns: Iterable[set[str]]) -> Published:
        """From the words of each column as they are written."""
        words = {form for column in columns for form in (*column, *_cores(column))}
        parts = {word: spelled(word) for word in words}
        plain = {"".join(own) for own in parts.values()} | {part for own in parts.values() for part in own if len(part) >= SHORTEST}
        codes = {addressed(word.strip()) for word in words}
        small = {form for word in words for form in (word.lower(), _SIGNS.sub("", word.lower()))}
        runs = (*(Runs.of(one, small) for one in CASELESS), *(Runs.of(one, codes) for one in CASED))
        return cls(frozenset((plain | codes) - {""}), tuple(sorted({len(word) for word in plain if len(word) >= SHORTEST})), runs)

    @property
    def hashed(self) -> bool:
        """Whether there may be a digest at all."""
        return any(one.candidates for one in self.runs)

    def forms_among(self, identifiers: set[str]) -> Callable[[str], set[str]]:
        """A function from an identifier to its released forms; an end counts if no other of these identifiers has the same."""
        holders = Counter(end for word in identifiers for end in self._ends(word))
        return lambda word: self.forms(word) | {end for end in self._ends(word) if holders[end] == 1}

    def forms(self, identifier: str) -> set[str]:
        """The forms of a whole identifier that are in the release."""
        plain = "".join(spelled(identifier))
        forms = {form for form in (plain, plain[::-1], base64(identifier.strip().encode())) if form in self.words}
        searched = [one for one in self.runs if one.candidates]
        return forms.union(*(one.holding(digest) for digest in digests(identifier) for one in searched)) if searched else forms

    def _ends(self, identifier: str) -> set[str]:
        return {end for end in ends("".join(spelled(identifier)), self.lengths) if end in self.words}


def _cores(column: set[str]) -> Iterator[str]:
    """The words without what all of them begin and end with, in whatever letters."""
    words = [word.strip() for word in column if word.strip()]
    lowered = [word.lower() for word in words]
    before = _shared(lowered)
    after = _shared([word[before:][::-1] for word in lowered])
    if len(set(lowered)) > 1 and before + after:
        yield from (word[before : len(word) - after] for word in words)


def _shared(words: list[str]) -> int:
    """With how many characters all of them begin."""
    first, last = min(words, default=""), max(words, default="")
    return next((at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), min(len(first), len(last)))


def _identifies(column: Column) -> bool:
    return column.role is Role.IDENTIFIER or column.kind is Kind.KEY


def _released(case: Case) -> list[Finding]:
    """The released columns that are identifiers by their name, or look like them by their values; nothing if there are none."""
    declared = [name for name in case.release.schema.names if name in case.train.schema and _identifies(case.train.schema[name])]
    like = [name for name, words in released_columns(case).items() if name not in declared and _coded(case, name, words)]
    sentences = [
        f"the release has {what}: {', '.join(names)}"
        for what, names in (("an identifier column", declared), ("a column whose values look like identifiers", like))
        if names
    ]
    note = (
        f"{'; '.join(sentences)}; anyone with a list of these identifiers, or the key they were made with, knows whose row each is"
    )
    finding = Finding(
        name="identifier columns", value=float(len(declared) + len(like)), better=Better.LOWER, subject=Subject.PRIVACY,
        n=len(case.release.schema), span=(0.0, None), note=note, detail={"columns": [*declared, *like]},
    )  # fmt: skip
    return [finding] if sentences else []


def _coded(case: Case, name: str, words: set[str]) -> bool:
    """Whether almost every row has a value of its own, all of them codes of almost the same length."""
    rows = int((~case.release.missing(name)).sum())
    measured = case.release.schema[name].kind in (Kind.REAL, Kind.DATE)
    if measured or len(words) < max(FEWEST, IDENTIFYING * rows):
        return False
    codes = [word for word in words if _CODE.fullmatch(word)]
    usual = Counter(map(len, codes)).most_common(1)
    return bool(usual) and sum(abs(len(code) - usual[0][0]) <= 1 for code in codes) >= IDENTIFYING * len(words)


def _identifying(case: Case) -> list[Column]:
    """Columns not declared as identifiers in which almost all training and control people have a value of their own."""
    pool = Pool.of(case)

    def alone(name: str) -> float:
        words = np.concatenate([case.train.strings(name), case.control.strings(name)]).astype(str)
        return float(pool.alone(np.unique(words, return_inverse=True)[1]).mean())

    others = [
        c for c in case.train.schema if c.role is not Role.IDENTIFIER and c.kind not in FREE and c.name in case.control.schema
    ]
    return [column for column in others if alone(column.name) >= IDENTIFYING]
