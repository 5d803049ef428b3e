"""Coins that go with a person and the number of a row among its own: the same wherever the rows are, and whoever else is there.

A key is drawn; each coin is a keyed hash of a person and a number: SipHash-2-4 (Aumasson and Bernstein 2012), pseudorandom.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hushtable.table.arrays import Array, Integers

Words = NDArray[np.uint64]
SALTS = ("rows of a person", "are kept at once")
"""Two hashes of 64 bits: one alone could take two of a hundred million persons for one."""
START = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)


def hashed(words: NDArray[np.object_]) -> Words:
    """Two words of 64 bits for each text, the same wherever it stands."""
    import pandas as pd

    return np.stack([pd.util.hash_array(words, hash_key=salt, categorize=False) for salt in SALTS], axis=1)


def identified(array: Array, texts: NDArray[np.object_] | None) -> Words:
    """The words of the person of each row, from a column as it is in memory; any where the person is unknown."""
    if texts is not None:
        return np.asarray(np.append(hashed(texts), np.zeros((1, 2), np.uint64), axis=0)[array])
    values = array + 0.0 if array.dtype.kind == "f" else array.astype(np.int64)
    return values.view(np.uint64)[:, None]


def key_of(words: Callable[[int], Words], seed: int | None) -> Words:
    """The key: of two words that are drawn, or of a seed."""
    return words(2) if seed is None else np.random.default_rng(seed).integers(0, 2**64, 2, dtype=np.uint64)


def coins(key: Words, persons: Words, numbers: Integers) -> Words:
    """A coin for each row, of its person (one or several words) and its number among that person's rows."""
    with np.errstate(over="ignore"):
        state = [np.full(len(persons), START[i] ^ int(key[i % 2]), np.uint64) for i in range(4)]
        message = [*persons.T, numbers.astype(np.uint64)]
        for word in (*message, np.uint64((8 * len(message)) << 56)):
            state[3] = state[3] ^ word
            state = _round(_round(state))
            state[0] = state[0] ^ word
        state[2] = state[2] ^ np.uint64(0xFF)
        for _ in range(4):
            state = _round(state)
        return np.asarray(state[0] ^ state[1] ^ state[2] ^ state[3])


def _round(state: list[Words]) -> list[Words]:
    a, b, c, d = state
    a, c = a + b, c + d
    b, d = _turned(b, 13) ^ a, _turned(d, 16) ^ c
    a, c = _turned(a, 32) + d, c + b
    b, d = _turned(b, 17) ^ c, _turned(d, 21) ^ a
    return [a, b, _turned(c, 32), d]


def _turned(words: Words, bits: int) -> Words:
    return np.asarray((words << np.uint64(bits)) | (words >> np.uint64(64 - bits)))
