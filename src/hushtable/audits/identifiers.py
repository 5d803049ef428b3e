"""Identifiers and texts in a release: as they are, in other letters and spaces, or behind a digest that anybody can compute.

They are compared as they are written, in whichever column of the release they stand, also in one that the training rows do not
have. A digest with a secret key or salt cannot be recognized, here or by anybody else who does not have it.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from hushtable.evidence.attack import judge
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Audit, Finding, Risk, uncomputed
from hushtable.evidence.pool import Pool
from hushtable.table.columns import FREE, NUMBERS, Column, Kind, Role
from hushtable.table.table import Table

DIGESTS = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256", "blake2b")
"""The digests that are tried, and CRC-32."""
SHORTEST = 8
"""The fewest characters at which the beginning of a digest is taken for one."""
BASE64 = (22, 27, 38, 43, 64, 86)
"""How many characters the digests have in base 64, without padding."""
TELLING = 0.9
"""The share of people with a value of their own that makes an identifier of any column."""
NONE = "the training rows have no such column"
RUN = 8
"""So many words in a row make a text recognizable: fewer are repeated by people who never read one another."""
MANY = 5
"""A run of words that more people than this wrote is a phrase."""
_HEX = re.compile(r"(?:0x)?([0-9a-f]+)")
_SIGNS = re.compile(r"[\s:{}-]+")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, kw_only=True)
class PublishedIdentifiers(Audit):
    """Identifiers and keys of people that stand in the release, as they are or as one of the usual digests.

    Letters, spaces and punctuation may differ. Digests are those of the identifier as written, stripped, in small or in capital
    letters; in hexadecimal, whole or cut to at least ``SHORTEST`` digits, or in base 64. A column that nobody declared, but in
    which ``TELLING`` of all people have a value of their own, is an identifier too; it has a finding if anybody is recognized.
    """

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding for each identifier of the training rows."""
        declared = [c for c in case.train.schema if c.role is Role.IDENTIFIER or c.kind is Kind.KEY]
        words = {word for name in _searched(case) for word in _words(case.release, name)}
        digits = {
            found[1] for word in words if (found := _HEX.fullmatch(_SIGNS.sub("", word.lower()))) and len(found[1]) >= SHORTEST
        }
        coded = {_base64(word.strip()) for word in words}
        hashed = bool(digits) or any(len(code) in BASE64 for code in coded)
        lengths = sorted({len(number) for number in digits})

        def forms(word: str) -> Iterator[str]:
            yield _folded(word)
            yield _base64(b64encode(word.strip().encode()).decode())
            for digest in _digests(word) if hashed else ():
                yield from (digest.hex()[:length] for length in lengths)
                yield _base64(b64encode(digest).decode())

        published = {_folded(word) for word in words} | digits | coded
        foreign = hashed or set(case.release.schema.names) - set(case.columns)
        does = "finds it, as it is or as a digest, in the release"

        def found(columns: Iterable[Column]) -> list[Finding]:
            return _findings(case, columns, "identifiers published", lambda word: published.intersection(forms(word)), does)

        known = [f for f in found(_telling(case)) if f.detail["hits"] + f.detail["control_hits"]] if foreign else []
        return [*found(declared), *known] or [uncomputed("identifiers published", case.train.rows, NONE)]


@dataclass(frozen=True, kw_only=True)
class PublishedTexts(Audit):
    """Texts of people that stand in the release, whole or ``RUN`` words of them in a row, in whatever letters and spaces.

    What more than ``MANY`` people wrote recognizes nobody, and is left out.
    """

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding for each free text of the training rows."""
        columns = [c for c in case.train.schema if c.kind is Kind.TEXT and c.role is not Role.IDENTIFIER]
        words = (word for name in (_searched(case) if columns else ()) for word in _words(case.release, name))
        published = {run for word in words for run in _runs(word)}
        does = f"finds it, or {RUN} words of it in a row, in the release"
        found = _findings(case, columns, "texts published", lambda word: published.intersection(_runs(word)), does, MANY)
        return found or [uncomputed("texts published", case.train.rows, NONE)]


def _findings(
    case: Case, columns: Iterable[Column], name: str, keys: Callable[[str], set[str]], does: str, most: int | None = None
) -> list[Finding]:
    """Whom the release knows, of all people who have a value, by keys of theirs that no more than ``most`` people have."""
    pool, findings = Pool.of(case), []
    for column in columns:
        if column.name not in case.control.schema:
            note = f"the control does not have {column.name}, so nothing says how much of it chance would find in the release"
            findings.append(uncomputed(name, case.train.rows, note, scope=column.name))
            continue
        words = np.concatenate([table.strings(column.name) for table in (case.train, case.control)])
        found = {word: keys(word) for word in dict.fromkeys(words) if word is not None}
        holders = Counter(
            key for _, key in {(who, key) for who, word in zip(pool.people.who, words, strict=True) for key in found.get(word, ())}
        )
        known = {word for word, held in found.items() if any(most is None or holders[key] <= most for key in held)}
        tried, hit = (pool.people.any(np.array([word in some for word in words])) for some in (found, known))
        trace = pool.trace(tried, hit, np.full(len(hit), -1))
        knows = f"knows a person's {column.name}"
        findings.append(judge(trace, name=name, scope=column.name, risk=Risk.SINGLING_OUT, naive=None, knows=knows, does=does))
    return findings


def _telling(case: Case) -> list[Column]:
    """Columns that nobody declared, and in which almost everybody, of training and control people, has a value of their own."""
    pool, others = Pool.of(case), [c for c in case.train.schema if c.role is not Role.IDENTIFIER and c.kind not in FREE]
    return [c for c in others if c.name in case.control.schema and pool.alone(_numbers(case, c.name)).mean() >= TELLING]


def _numbers(case: Case, name: str) -> NDArray[np.int64]:
    words = np.concatenate([table.strings(name) for table in (case.train, case.control)])
    return np.unique(words.astype(str), return_inverse=True)[1]


def _searched(case: Case) -> list[str]:
    """Columns of the release that may hold a name or a text: all but the numbers that every attack compares anyway."""
    return [c.name for c in case.release.schema if not (c.name in case.columns and c.kind in NUMBERS)]


def _words(table: Table, name: str) -> set[str]:
    return {str(word) for word in table.strings(name) if word is not None}


def _digests(word: str) -> Iterator[bytes]:
    for form in dict.fromkeys((word, word.strip(), word.strip().lower(), word.strip().upper())):
        for name in DIGESTS:
            yield hashlib.new(name, form.encode(), usedforsecurity=False).digest()
        yield crc32(form.encode()).to_bytes(4)


def _base64(text: str) -> str:
    """In the alphabet for addresses, without padding."""
    return text.rstrip("=").replace("+", "-").replace("/", "_")


def _folded(text: str) -> str:
    """Letters and digits alone, without case."""
    return "".join(_WORD.findall(text.casefold()))


def _runs(text: str) -> set[str]:
    """The whole text without spaces, and every ``RUN`` words of it in a row."""
    words = _WORD.findall(text.casefold())
    return {"".join(words), *(" ".join(words[at : at + RUN]) for at in range(len(words) - RUN + 1))}
