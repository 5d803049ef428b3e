"""Canaries in texts: the beginning of a real text with an end of words drawn by lot, which no text has but by memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hushtable.audits.regenerate import no_generator, regenerate
from hushtable.errors import InputError
from hushtable.evidence.finding import Audit, Finding, uncomputed
from hushtable.numerics.ngrams import Ngrams
from hushtable.pipeline.step import check_knobs
from hushtable.table.arrays import Floats
from hushtable.table.table import Table
from hushtable.table.words import numbered, text_columns, words

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

Scorer = Callable[[Sequence[str], Table], Floats]
"""The logarithm of the likelihood of each text, given the row of a table beside it."""
FEWEST = 20
"""Different words that lots are drawn from."""


@dataclass(frozen=True, eq=False)
class Planted:
    """Canaries, each with one end that was planted and others that were not."""

    rows: Table
    """The rows that lent their other columns."""
    texts: list[list[str]]
    """For each canary the text that was planted, and then those with other ends."""

    def scores(self, scorer: Scorer) -> Floats:
        """Canaries x ends: how likely each is. All in one call: a scorer may depend on what it is given, but not on who is who."""
        ends = len(self.texts[0])
        rows = self.rows.take(np.repeat(np.arange(self.rows.rows), ends))
        return scorer([text for own in self.texts for text in own], rows).reshape(-1, ends)


@dataclass(frozen=True, kw_only=True)
class Planting(Audit):
    """An audit that plants canaries: texts that begin as a real one does and end in words drawn by lot."""

    costly: ClassVar[bool] = True

    canaries: int = 50
    """Canaries in each training; fewer where they would be over a tenth of the rows."""
    before: int = 5
    """Words of a real text that a canary begins with."""
    after: int = 10
    """Words drawn by lot that it ends in."""
    order: int = 3
    """Words that the model of the release looks at."""
    column: str = ""
    """The column of free text; the first when empty."""

    def __post_init__(self) -> None:
        """Numbers that make sense."""
        check_knobs(
            self,
            canaries=(self.canaries >= 1, "must be at least 1"),
            before=(self.before >= 0, "must not be negative"),
            after=(self.after >= 1, "must be at least 1"),
            order=(1 <= self.order <= 8, "must lie between 1 and 8"),
        )

    def ground(self, case: Case, name: str) -> Ground | Finding:
        """Where canaries are planted; a finding called ``name`` says why none can be."""
        if case.generator is None:
            return no_generator(name)
        column = column_to_plant(case, self.column)
        if column is None:
            return uncomputed(name, 0, "the training table has no such column of free text")
        known = vocabulary(case, column)
        if len(known) < FEWEST:
            return uncomputed(name, 0, f"{column} has fewer than {FEWEST} different words to draw from", scope=column)
        return Ground(column, known, min(self.canaries, max(1, case.train.rows // 10)))

    def trained(self, case: Case, ground: Ground, ends: int, rng: np.random.Generator) -> tuple[Planted, Scorer]:
        """Canaries of so many ends each, and a model of what the generator releases when it is run on them."""
        size = (self.before, self.after)
        changed, planted = plant(case.train, ground.column, ends, ground.count, size, ground.known, rng)
        return planted, model_of_release(case, changed, ground.column, self.order, int(rng.integers(2**31)))


@dataclass(frozen=True)
class Ground:
    """A column of text, the words that ends are drawn from, and how many canaries there are."""

    column: str
    known: list[str]
    count: int


def column_to_plant(case: Case, name: str = "") -> str | None:
    """The text column that canaries are planted in: the one that is named, else the first; None where there is none."""
    names = [column.name for column in text_columns(case.train.schema)]
    return name if name in names else None if name else next(iter(names), None)


def vocabulary(case: Case, name: str) -> list[str]:
    """The words of training and control texts: lots of words that a model does not know would be no lots."""
    texts = (text for table in (case.train, case.control) if name in table.schema for text in table.strings(name))
    return sorted({word for text in texts if text is not None for word in words(text)[:1000]})


def plant(
    table: Table, name: str, ends: int, count: int, size: tuple[int, int], known: list[str], rng: np.random.Generator
) -> tuple[Table, Planted]:
    """The table with ``count`` rows whose text is a canary, and the canaries: so many words of a real text, so many by lot."""
    rows = np.sort(rng.choice(table.rows, count, replace=False))
    before, after = size
    strings = table.strings(name)
    lots = rng.choice(np.array(known, object), (count, ends, after))
    texts = [[" ".join([*words(strings[row] or "")[:before], *end]) for end in own] for row, own in zip(rows, lots, strict=True)]
    changed = strings.copy()
    changed[rows] = [own[0] for own in texts]
    return table.with_text(table.schema[name], changed), Planted(table.take(rows), texts)


def model_of_release(case: Case, changed: Table, name: str, order: int, seed: int) -> Scorer:
    """The generator run on changed rows, and a model of the texts that it then releases (Meeus et al. 2025)."""
    release = regenerate(case, changed, seed)
    if name not in release.schema:
        raise InputError(f"the new release has no {name}", where="generator")
    spelled = [words(text) for text in release.strings(name) if text is not None]

    def score(texts: Sequence[str], rows: Table) -> Floats:
        coded, known = numbered([*spelled, *(words(text) for text in texts)])
        model = Ngrams.fit(coded[: len(spelled)], known, order)
        return -model.bits(coded[len(spelled) :])

    return score
