"""Identifiers in a release: as they are, in other letters and signs, or behind a digest that anybody can compute.

A digest with a secret key or salt cannot be recognized, here or by anybody else who does not have it.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from hushtable.audits.published import recognized, released_words, spelled
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Audit, Finding, uncomputed
from hushtable.evidence.pool import Pool
from hushtable.table.columns import FREE, Column, Kind, Role

DIGESTS = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256", "blake2b")
"""The digests that are tried, and CRC-32."""
SHORTEST = 8
"""The fewest hexadecimal digits that are taken for the beginning of a digest."""
BASE64 = (22, 27, 38, 43, 64, 86)
"""How many characters the digests have in base 64, without padding."""
TELLING = 0.9
"""The share of people with a value of their own that makes an identifier of any column."""
_HEX = re.compile(r"(?:0x)?([0-9a-f]+)")
_SIGNS = re.compile(r"[\s:{}-]+")


@dataclass(frozen=True, kw_only=True)
class PublishedIdentifiers(Audit):
    """Identifiers and keys of people that stand in the release, as they are or as one of the usual digests.

    Letters, spaces and punctuation may differ. Digests are those of the identifier as written, stripped, in small or in capital
    letters; in hexadecimal, whole or cut to at least ``SHORTEST`` digits, or in base 64. A column that nobody declared, but in
    which ``TELLING`` of all people have a value of their own, is an identifier too; it has a finding if anybody is recognized.
    """

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding for each identifier of the training rows."""
        name, does = "identifiers published", "finds it, as it is or as a digest, in the release"
        published = Published.of(released_words(case))
        declared = [c for c in case.train.schema if c.role is Role.IDENTIFIER or c.kind is Kind.KEY]
        findings = recognized(case, declared, published.forms, name=name, does=does)
        if published.hashed or set(case.release.schema.names) - set(case.columns):
            others = recognized(case, _telling(case), published.forms, name=name, does=does)
            findings += [f for f in others if f.detail.get("hits", 0) + f.detail.get("control_hits", 0)]
        return findings or [uncomputed(name, case.train.rows, "the training rows have no identifier")]


@dataclass(frozen=True, eq=False)
class Published:
    """The words of a release, to look identifiers up in."""

    words: frozenset[str]
    """Each in its letters and digits alone; as the hexadecimal number or the base 64 code that it may be."""
    lengths: tuple[int, ...]
    """How many digits these numbers have."""
    hashed: bool
    """Whether there may be a digest at all."""

    @classmethod
    def of(cls, words: set[str]) -> Published:
        """From words as they are written."""
        numbers = [match[1] for word in words if (match := _HEX.fullmatch(_SIGNS.sub("", word.lower())))]
        digits = {number for number in numbers if len(number) >= SHORTEST}
        codes = {_base64(word.strip()) for word in words}
        hashed = bool(digits) or any(len(code) in BASE64 for code in codes)
        plain = {"".join(spelled(word)) for word in words}
        return cls(frozenset((plain | codes | digits) - {""}), tuple(sorted({len(number) for number in digits})), hashed)

    def forms(self, identifier: str) -> set[str]:
        """Those forms of an identifier that were released."""
        return set(self.words.intersection(self._possible(identifier)))

    def _possible(self, identifier: str) -> Iterator[str]:
        yield "".join(spelled(identifier))
        yield _base64(b64encode(identifier.strip().encode()).decode())
        for digest in _digests(identifier) if self.hashed else ():
            yield from (digest.hex()[:length] for length in self.lengths)
            yield _base64(b64encode(digest).decode())


def _digests(identifier: str) -> Iterator[bytes]:
    stripped = identifier.strip()
    for form in dict.fromkeys((identifier, stripped, stripped.lower(), stripped.upper())):
        yield crc32(form.encode()).to_bytes(4)
        yield from (hashlib.new(name, form.encode(), usedforsecurity=False).digest() for name in DIGESTS)


def _base64(text: str) -> str:
    """In the alphabet for addresses, without padding."""
    return text.rstrip("=").replace("+", "-").replace("/", "_")


def _telling(case: Case) -> list[Column]:
    """Columns that nobody declared, and in which almost everybody, of training and control people, has a value of their own."""
    pool = Pool.of(case)

    def alone(name: str) -> float:
        words = np.concatenate([case.train.strings(name), case.control.strings(name)]).astype(str)
        return float(pool.alone(np.unique(words, return_inverse=True)[1]).mean())

    others = [
        c for c in case.train.schema if c.role is not Role.IDENTIFIER and c.kind not in FREE and c.name in case.control.schema
    ]
    return [column for column in others if alone(column.name) >= TELLING]
