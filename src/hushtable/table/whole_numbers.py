"""What whole numbers are: the key of a record, a code that stands for something else, a scale, or something counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hushtable.table import naming
from hushtable.table.columns import Kind, Levels
from hushtable.table.guess import Guess, Words
from hushtable.table.moments import MOMENT, all_dates
from hushtable.table.person_numbers import WHY, numbers_people
from hushtable.table.roles import protecting

FEW = 30
"""Whole numbers of so many values at most can be a short list of codes."""
STEPS = 8
"""Whole numbers of so many values at most can be a scale."""
PANEL = 50
"""So many whole numbers at least that all stand equally often, more than once, number people of whom each has as many rows."""
UNIQUE = 0.98
"""The share of distinct values from which whole numbers count as unique."""


def whole_kind(column: Words) -> Guess:
    """Whole numbers: a key, a code, a scale, or something counted."""
    words = column.words
    digits = [word.lstrip("+-").partition(".")[0] for word in words]
    padded = any(len(word) > 1 and word.startswith("0") for word in digits)
    if len(words) > 20 and column.matches(naming.DAY) and all(len(word) == 8 for word in words) and all_dates(words, "%Y%m%d"):
        return Guess(Kind.DATE, "dates written like %Y%m%d", {"format": "%Y%m%d"})
    if numbered := _whole_key(column, padded=padded):
        return numbered
    if padded:
        return (running(column) if len(words) > 20 else None) or Guess(Kind.CATEGORY, "codes with leading zeros")
    amount = column.matches(naming.AMOUNT) or column.matches(naming.COUNTED)
    if len(words) <= 2 and not (amount and len(words) == 2 and set(column.numbers) != {0, 1}):
        return Guess(Kind.CATEGORY, "two values" if len(words) == 2 else "one value", weak=True)
    if not amount and (code := _code(column)):
        return code
    return Guess(Kind.INTEGER, "whole numbers")


def _whole_key(column: Words, *, padded: bool) -> Guess | None:
    words = column.words
    if len(words) <= 20:
        return None
    named = column.matches(naming.PERSONAL_ID) and not column.matches(naming.PLACE)
    if named and not (column.matches(naming.AMOUNT) and column.distinct_share < 0.5):
        return key(column, "its name, and many values")
    if len(words) >= PANEL and column.counts.min() == column.counts.max() > 1:
        return key(column, "each of many numbers stands equally often")
    if column.distinct_share <= UNIQUE or (column.matches(naming.AMOUNT) and not column.matches(naming.ORDERING)):
        return None
    dense = max(column.numbers) - min(column.numbers) < 1.5 * len(words)
    if padded or dense or column.matches(naming.IDENTIFIER) or column.matches(naming.PLACE):
        return place(column) or key(column, "nearly a number to a row")
    return None


def _code(column: Words) -> Guess | None:
    """Whole numbers that stand for something else; None where nothing says so."""
    words, few = column.words, len(column.words) <= FEW
    numbers = sorted(column.numbers)
    if column.matches(naming.SCALE) and len(words) <= STEPS and numbers[-1] - numbers[0] < 2 * len(words):
        levels = tuple(sorted(words, key=float))
        return Guess(Kind.ORDINAL, "a scale, by its name", {"domain": Levels(levels, observed=True)})
    if column.matches(naming.SCALE):
        return None
    if column.matches(naming.CODE) or (few and (column.matches(naming.FEW_CODES) or column.matches(naming.OUTCOME))):
        return place(column) or Guess(Kind.CATEGORY, "codes, by its name")
    if few and _irregular(column):
        remark = (
            "holds few whole numbers with gaps, in no regular shape: drafted as codes. Make it an integer if they count something."
        )
        return Guess(Kind.CATEGORY, "codes, by gaps and shape", remarks=(remark,))
    return None


def _irregular(column: Words) -> bool:
    """Whether a histogram of few whole numbers has gaps between its values and several peaks, as lists of codes have."""
    order = np.argsort(column.numbers)
    numbers = np.array(column.numbers)[order]
    counts = column.counts[order].astype(float)
    gaps = np.diff(numbers)
    if len(numbers) < 5 or column.present < 100 or numbers[0] < 0 or gaps.max() < 2:
        return False
    # Amounts are often round, and then their gaps are alike: 10, 20, 30.
    if len(set(gaps.tolist())) == 1 or np.gcd.reduce(numbers) > 1:
        return False
    noise = 3 * np.sqrt(counts)
    down = counts[1:-1] + noise[1:-1] < np.minimum(counts[:-2] - noise[:-2], counts[2:] - noise[2:])
    return int(down.sum()) >= 2


def place(column: Words) -> Guess | None:
    """A place that nearly every row has to itself is no key to be dropped without a word, but what others know best."""
    if not column.matches(naming.PLACE) or column.distinct_share <= 0.5 or len(column.words) <= 20:
        return None
    coarser = "hierarchy: {prefix: [3, 2, 1]}" if all(len(word) >= 4 for word in column.words) else "a hierarchy file"
    remark = (
        f"seems to be a place with {len(column.words):,} values in {column.rows:,} rows: others may know it, and nearly everybody "
        f"is alone in it. It is kept as a category; give it {coarser}, or leave it out with role: identifier."
    )
    return Guess(Kind.CATEGORY, "a place, by its name", remarks=(remark,))


def running(column: Words) -> Guess | None:
    """A key of people by the form of its values alone, with the way out where they number things; None if it is not that."""
    if not numbers_people(column):
        return None
    guess = key(column, WHY)
    return replace(guess, remarks=tuple(f"{remark} If it numbers things, give it the kind category." for remark in guess.remarks))


def key(column: Words, reason: str) -> Guess:
    """A key, which is dropped, with what it seems to number."""
    if all(map(MOMENT.fullmatch, column.words)):
        remark = "seems to hold dates in a form that is not read, and is dropped: write them like 2024-01-31 or 2024-01-31 07:00."
    elif column.matches(naming.HOUSEHOLD):
        people = column.present / max(1, len(column.words))
        remark = (
            f"seems to number households ({people:.1f} rows to each): drafted as a key, which is dropped. To protect whole "
            f"households: {protecting(column.name, column.counts)}."
        )
    elif column.distinct_share <= 0.5 or (column.distinct_share <= UNIQUE and numbers_people(column)):
        remark = (
            f"seems to number people or records that hold several rows ({1 / column.distinct_share:.1f} each): drafted as a key, "
            f"which is dropped. To protect people and not rows: {protecting(column.name, column.counts)}."
        )
    else:
        remark = "has almost as many values as rows: drafted as a key, which is dropped."
    return Guess(Kind.KEY, reason, remarks=(remark,))
