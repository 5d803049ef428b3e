"""Whether the values of a column are the running numbers of people, who hold several rows each, or codes of something else.

No single sign decides. A number of people has one form (``V000123``, ``P-00417``, ``2019-0042``) whose last digits run on from a
start; there are many of them, each in a few rows, and none in very many more than others; and its name does not speak of places,
diagnoses or goods. A list of codes lacks one of these: its values are composed (``I10.9``, ``E05000026``), leave most numbers
out (flights), or a few of them fill the table. What is left to doubt stays a category.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from hushtable.table import naming
from hushtable.table.arrays import Integers
from hushtable.table.guess import Words

WHY = "running numbers in one form, each in a few rows"
MANY = 100
"""So many different numbers at least, where no name says that they are people."""
ROWS_EACH = 100
"""So many rows to a number at most, on average: beyond that it is a measuring device, a shop or a ward."""
UNIFORM = 0.98
"""The share of the different values that are of one form; beside them there may be slips, and a word for nobody."""
TOP, HEAVY = 0.05, 0.4
"""Where the most frequent twentieth of the values fills more of the table than this, they are goods or diagnoses."""
HEADS = 20
"""So many numbers at least stand behind each head (a site, a year): many heads with few numbers each are codes."""
COVERED = 0.5
"""The share of the numbers from the start on that are there, where people are numbered one after the other."""
SPARSE = {3: COVERED, 4: 0.1}
"""The same where the numbers are filled up with zeros to so many digits: a sample of the people leaves most numbers out. Of longer
ones, which nobody writes without need, any share will do."""
LONG = 5

OTHERS = (naming.THING, naming.GOODS, naming.PLACE, naming.CODE, naming.FEW_CODES, naming.QUASI, naming.SECRET)
"""What the name of a column may speak of that does not number people."""

Head = tuple[str, str]
"""What stands before a number: letters, which are those of a site or of all, and a year."""
_FORM = re.compile(r"(?P<letters>[^\W\d_]{0,8})[-_/. #:]?(?P<year>(?:(?:19|20)?\d\d[-_/. ])?)(?P<number>\d{1,12})")


def numbers_people(column: Words) -> bool:
    """Whether the values seem to number people or records, of whom some hold several rows."""
    named = column.matches(naming.PERSON)
    if not named and any(map(column.matches, OTHERS)):
        return False
    if not named and not (len(column.words) >= MANY and column.present <= ROWS_EACH * len(column.words)):
        return False
    behind, counts = _numbers(column)
    if len(counts) < UNIFORM * len(column.words) or counts.sum() <= len(counts) or (not named and _top_heavy(counts)):
        return False
    letters = {head for head, _ in behind}
    if not named and any(naming.matches(head, pattern) for head in letters for pattern in (naming.GOODS, naming.CODE)):
        return False
    return _run_on(behind, letters, named=named)


def _numbers(column: Words) -> tuple[dict[Head, list[str]], Integers]:
    """The numbers behind each head that has many of them, and how many rows have each."""
    behind = defaultdict[Head, list[tuple[str, int]]](list)
    for word, count in zip(column.words, column.counts.tolist(), strict=True):
        if part := _FORM.fullmatch(word):
            behind[part["letters"].upper(), part["year"]].append((part["number"], count))
    many = {head: some for head, some in behind.items() if len(some) >= HEADS}
    counts = np.array([count for some in many.values() for _, count in some], np.int64)
    return {head: [number for number, _ in some] for head, some in many.items()}, counts


def _top_heavy(counts: Integers) -> bool:
    """Whether few of the values fill much of the table."""
    most = np.sort(counts)[::-1][: max(1, round(TOP * len(counts)))]
    return bool(most.sum() > HEAVY * counts.sum())


def _run_on(behind: Mapping[Head, Sequence[str]], letters: set[str], *, named: bool) -> bool:
    """Whether the numbers behind each head run on from a start, as far as their form leaves that open."""
    numbers = [number for some in behind.values() for number in some]
    widths = np.bincount([len(number) for number in numbers])
    width, fixed = int(widths.argmax()), widths.max() >= UNIFORM * len(numbers)
    zeros = sum(number[0] == "0" for number in numbers) / len(numbers)
    years = {year for _, year in behind} - {""}
    if width < 3 or (years and width < 4) or _composed(numbers):
        return False
    if named or (fixed and years and all(len(year) == LONG for year in years)):
        return fixed or not zeros
    if zeros and not fixed:
        return False
    if letters == {""} and not years:
        # Digits alone may be anything; a code seldom begins with zeros.
        return zeros >= COVERED and width >= LONG and _covered(behind, from_start=True) >= COVERED
    if zeros and len(letters) == 1:
        return width >= LONG or _covered(behind, from_start=True) >= SPARSE[width]
    # Filled up behind several heads, not filled up at all, or begun at a round number.
    counted = zeros > 0 or not fixed
    return (counted or width >= LONG) and _covered(behind, from_start=counted) >= COVERED


def _composed(numbers: Sequence[str]) -> bool:
    """Whether all begin with zeros and other digits alike (``05000026``): parts of a code, and no number that was filled up."""
    low, high = min(numbers), max(numbers)
    common = next((place for place, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high)))
    return low.startswith("0") and bool(low[:common].strip("0"))


def _covered(behind: Mapping[Head, Sequence[str]], *, from_start: bool) -> float:
    """The share of the numbers up to the largest that are there, from one on or from the smallest."""
    room = 0
    for some in behind.values():
        numbers = list(map(int, some))
        room += max(numbers) - (0 if from_start else min(numbers) - 1)
    return sum(map(len, behind.values())) / max(room, 1)
