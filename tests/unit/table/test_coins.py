"""Coins of persons are SipHash-2-4, as its authors print it."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.table.coins import coins, key_of

KEY = np.frombuffer(bytes(range(16)), np.uint64)
VECTORS = {1: 0x93F5F5799A932462, 2: 0x3F2ACC7F57C29BDB, 3: 0xB8AD50C6F649AF94}
"""Of the messages 00 01 02 and so on of 8, 16 and 24 bytes."""


@pytest.mark.parametrize("words", VECTORS)
def test_a_coin_is_the_hash_of_a_person_and_a_number(words):
    message = np.frombuffer(bytes(range(8 * words)), np.uint64)
    assert coins(KEY, message[None, :-1], message[-1:].view(np.int64)).tolist() == [VECTORS[words]]


def test_a_key_is_drawn_or_of_a_seed():
    drawn = np.array([3, 4], np.uint64)
    assert key_of(lambda count: drawn[:count], None).tolist() == [3, 4]
    assert key_of(lambda count: drawn[:count], 1).tolist() == key_of(lambda count: drawn, 1).tolist() != [3, 4]
