"""Free texts of people that are in a release, whatever their case, punctuation and spaces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable.audits.membership import ScoreAttack, Scores
from hushtable.audits.released_words import recognized_rows, released_words, with_reserved_error
from hushtable.evidence.finding import Finding, uncomputed
from hushtable.evidence.pool import Pool
from hushtable.evidence.similarity import held
from hushtable.numerics.suffixes import Suffixes, released_runs
from hushtable.pipeline.step import check_knobs
from hushtable.table.arrays import Floats, Integers, Mask
from hushtable.table.words import numbered, text_columns, words

if TYPE_CHECKING:
    from hushtable.evidence.case import Case
    from hushtable.evidence.looks import Look

RESERVED = 0.03
"""The part of the error that is reserved for texts: with as many control as training people ten published texts raise an alarm."""


@dataclass(frozen=True, kw_only=True)
class VerbatimTexts(ScoreAttack):
    """Free texts of people that are in the release, whole or some words of them in a row, whatever their case and spaces.

    For each place of a person's text the longest run of words that stands anywhere in the release (in a suffix array; Nasr et al.
    2023) is looked up. What more than ``most`` people wrote identifies nobody, and is left out. Texts that follow a pattern have
    long runs in common by chance: so people are also ordered by the run that says most, each word counting by its rarity among
    the words of all people, and those beyond the control are counted.
    """

    run_length: int = 8
    """So many words in a row identify a text: shorter runs occur in texts of different people by chance."""
    most: int = 5
    """A run of words that more people than this wrote is a common phrase."""

    def __post_init__(self) -> None:
        """Check the knobs."""
        super().__post_init__()
        check_knobs(self, run_length=(self.run_length >= 1, "must be at least 1"), most=(self.most >= 1, "must be at least 1"))

    def looks(self, case: Case, rng: np.random.Generator) -> list[Look] | None:
        """None where there is no text to be read; else all released texts."""
        return None if text_columns(case.train.schema) else []

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """For each free text of the training rows who is published, and how well the runs order people."""
        name, columns = "texts published", text_columns(case.train.schema)
        if not columns:
            return [uncomputed(name, case.train.rows, "the training table has no column of free text")]
        does = f"finds it, or {self.run_length} words of it in a row, in the release"
        findings = []
        for column in columns:
            detail: dict[str, Any] = {}

            def hits(texts: NDArray[np.object_], who: Integers, name: str = column.name, detail: dict[str, Any] = detail) -> Mask:
                found = self._found(case, name, texts, who)
                ours = np.arange(len(texts)) < case.train.rows
                longest = (int(found.longest[side].max(initial=0)) for side in (ours, ~ours))
                detail.update(zip(("longest_run", "control_longest_run"), longest, strict=True))
                return (found.longest >= self.run_length) | found.whole

            findings.append(recognized_rows(case, column, hits, name=name, does=does, detail=detail))
        return [*with_reserved_error(findings, RESERVED), *super().run(case, rng)]

    def scores(self, case: Case, rng: np.random.Generator) -> Iterator[Scores | Finding]:
        """For each column of free text the information in the run that says most."""
        for column in text_columns(case.train.schema, case.control.schema):
            sides = [table.strings(column.name) for table in (case.train, case.control)]
            found = self._found(case, column.name, np.concatenate(sides), Pool.of(case).people.who)
            ours, others = (np.flatnonzero(held(texts)) for texts in sides)
            train, control = np.split(found.information, [case.train.rows])
            yield Scores(
                "longest run", f"knows a person's {column.name} and searches the release for runs of its words",
                train[ours], control[others], ours, others, np.full(len(ours), -1), scope=column.name,
            )  # fmt: skip

    def _found(self, case: Case, name: str, texts: NDArray[np.object_], who: Integers) -> _Found:
        """What of each row's text is in the release and rare; worked out once for both tests."""
        return case.once(("released runs", name, len(texts), self.most), lambda: self._searched(case, texts, who))

    def _searched(self, case: Case, texts: NDArray[np.object_], who: Integers) -> _Found:
        released = [own for text in sorted(released_words(case)) if (own := words(text))]
        spelled = [words(text) if text is not None else [] for text in texts]
        coded, known = numbered([*spelled, *released])
        suffixes = Suffixes.of(coded)
        runs = released_runs(suffixes, len(released), who, self.most)[: suffixes.starts[len(texts)]]
        starts = suffixes.starts[: len(texts)]
        # The mark after each text says nothing.
        joined = np.concatenate([np.append(text, known) for text in coded[: len(texts)]])
        counts = np.bincount(joined, minlength=known + 1)
        rarity = np.log2(max(1, counts[:known].sum()) / np.maximum(counts, 1))
        rarity[known] = 0.0
        total = np.concatenate([[0.0], np.cumsum(rarity[joined])])
        information = total[np.arange(len(runs)) + runs] - total[:-1]
        published = {"".join(text) for text in released}
        together = ["".join(text) for text in spelled]
        holders = Counter(text for text, _ in {*zip(together, who.tolist(), strict=True)})
        rare = {text for text, people in holders.items() if people <= self.most and text in published}
        return _Found(
            np.maximum.reduceat(runs, starts),
            np.maximum.reduceat(information, starts),
            np.array([text in rare for text in together]),
        )


class _Found(NamedTuple):
    """For each row."""

    longest: Integers
    """The length of its longest rare run of words that is released."""
    information: Floats
    """The bits that the words of such a run have, in the run that has most."""
    whole: Mask
    """Whether the whole text is released, and rare."""
