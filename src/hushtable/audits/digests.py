"""Digests of a word that anybody can compute, and the ways to write one."""

from __future__ import annotations

import hashlib
import re
from base64 import b32encode, b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from zlib import crc32

DIGESTS = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256", "blake2b")
"""The digests that are tried, and CRC-32."""


def digests(word: str) -> Iterator[bytes]:
    """Of the word as written, stripped, in small and in capital letters, with an end of line; and of its hexadecimal digests."""
    stripped = word.strip()
    for form in dict.fromkeys((word, stripped, stripped.lower(), stripped.upper(), stripped + "\n")):
        yield crc32(form.encode()).to_bytes(4)
        yield from (_digest(name, form) for name in DIGESTS)
    yield from (_digest(name, _digest(name, stripped).hex()) for name in DIGESTS)


@dataclass(frozen=True)
class Writing:
    """A way to write a digest: its letters and digits, which are searched for inside of words."""

    write: Callable[[bytes], str]
    runs: re.Pattern[str]
    """Matches what may be a digest in this writing, whole or cut."""


def base64(data: bytes) -> str:
    """In the alphabet for addresses, without padding."""
    return addressed(b64encode(data).decode())


def addressed(code: str) -> str:
    """A code of base 64 in that alphabet."""
    return code.rstrip("=").replace("+", "-").replace("/", "_")


# A long run without a digit or a capital inside is a word of a language; one of hexadecimal digits alone is looked up as such.
_CODE = re.compile(r"(?![0-9a-fA-F]+\b)(?=[A-Za-z_-]*(?:[0-9]|[a-z][A-Z]))[\w-]{12,}", re.ASCII)
CASELESS = (
    Writing(bytes.hex, re.compile(r"[0-9a-f]{6,}")),
    Writing(lambda digest: b32encode(digest).decode().rstrip("=").lower(), re.compile(r"\b(?=[a-z]*[2-7])[a-z2-7]{12,}\b")),
    Writing(lambda digest: str(int.from_bytes(digest)), re.compile(r"(?<![a-f0-9])[0-9]{8,}(?![a-f0-9])")),
)
"""Hexadecimal, base 32, decimal: capitals mean nothing."""
CASED = (Writing(base64, _CODE), Writing(lambda digest: base64(digest.hex().encode()), _CODE))
"""Base 64, of the digest itself and of its hexadecimal digits."""


@dataclass(frozen=True, eq=False)
class Runs:
    """The parts of released words that may be a digest in one writing."""

    writing: Writing
    candidates: frozenset[str]
    lengths: tuple[int, ...]

    @classmethod
    def of(cls, writing: Writing, words: Iterable[str]) -> Runs:
        """All runs inside of these words."""
        candidates = frozenset(run for word in words for run in writing.runs.findall(word))
        return cls(writing, candidates, tuple(sorted({len(run) for run in candidates})))

    def holding(self, digest: bytes) -> Iterator[str]:
        """Those that are the digest, its beginning or its end."""
        return (end for end in ends(self.writing.write(digest), self.lengths) if end in self.candidates)


def ends(word: str, lengths: Iterable[int]) -> Iterator[str]:
    """The beginnings and ends of a word that have these lengths."""
    for length in lengths:
        if length <= len(word):
            yield word[:length]
            yield word[-length:]


def _digest(name: str, word: str) -> bytes:
    return hashlib.new(name, word.encode(), usedforsecurity=False).digest()
