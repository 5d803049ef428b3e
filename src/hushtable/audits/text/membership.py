"""Membership by likelihood: how likely a person's text is to a model of the release, beside one of other people's texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hushtable.audits.membership import HALF, Halves, ScoreAttack, Scores
from hushtable.audits.text.columns import no_text, people_with_text, unread
from hushtable.evidence.finding import Finding
from hushtable.numerics.ngrams import Ngrams
from hushtable.pipeline.step import check_knobs
from hushtable.table.words import numbered, text_columns, words

if TYPE_CHECKING:
    from hushtable.evidence.case import Case
    from hushtable.evidence.looks import Look

NAME = "text likelihood"


@dataclass(frozen=True, kw_only=True)
class TextMembership(ScoreAttack):
    """Membership by the likelihood of a person's text: that under a model of the release over that under a model of a reference.

    Both are Kneser-Ney models of words (Meeus et al. 2025 score released texts by such models, without a reference). The reference
    is a random half of the control people, of whom nobody is tested: so training and control people are treated alike, and the
    test is exact. The score is the mean over the words of a text, so that long texts are not ahead by their length.
    """

    order: int = 3
    """Words that a model looks at, the last one and those before it."""

    def __post_init__(self) -> None:
        """Check the knobs."""
        super().__post_init__()
        check_knobs(self, order=(1 <= self.order <= 8, "must lie between 1 and 8"))

    def looks(self, case: Case, rng: np.random.Generator) -> list[Look] | None:
        """None where there is no text to be read; else all released texts."""
        return None if text_columns(case.train.schema, case.release.schema, case.control.schema) else []

    def scores(self, case: Case, rng: np.random.Generator) -> Iterator[Scores | Finding]:
        """One for each column of free text."""
        columns = text_columns(case.train.schema, case.release.schema, case.control.schema)
        if not columns:
            yield no_text(NAME, case)
            return
        halves = Halves.of(case, rng)
        for column in columns:
            sides = people_with_text(case, column.name)
            rows = sides["control"][0]
            reference = np.isin(rows, halves.reference)
            if not all(len(some) for some, _ in sides.values()) or reference.all() or not reference.any():
                yield unread(NAME, column.name, {**sides, "control": (rows[~reference], [])})
                continue
            coded, known = numbered(words(text) for _, some in sides.values() for text in some)
            ends = np.cumsum([len(some) for _, some in sides.values()])
            parts = dict(
                zip(sides, (coded[end - len(some) : end] for end, (_, some) in zip(ends, sides.values(), strict=True)), strict=True)
            )
            ours, released = parts["train"], parts["release"]
            usual = [text for text, own in zip(parts["control"], reference, strict=True) if own]
            others = [text for text, own in zip(parts["control"], reference, strict=True) if not own]
            models = [Ngrams.fit(some, known, self.order) for some in (usual, released)]
            train, control = (
                (models[0].bits(some) - models[1].bits(some)) / np.array([len(text) + 1 for text in some])
                for some in (ours, others)
            )
            persons = sides["train"][0]
            yield Scores(
                NAME, f"knows a person's {column.name}, has those of others, and compares how likely it is to models of both",
                train, control, persons, rows[~reference], np.full(len(persons), -1), scope=column.name, remark=HALF,
            )  # fmt: skip
