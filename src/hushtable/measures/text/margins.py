"""Texts one by one: how long they are, which words they use, how often they are missing or repeated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hushtable.evidence.finding import Finding, Utility
from hushtable.evidence.reading import floats_like
from hushtable.measures import catalogue
from hushtable.measures.divergence import total_variation
from hushtable.measures.text.models import NO_TEXT, shared_texts
from hushtable.pipeline.step import check_knobs
from hushtable.table.arrays import Floats, Integers
from hushtable.table.columns import CODED
from hushtable.table.words import words

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

LEVELS = 50
"""Columns of more levels are not put beside the length: most combinations would be empty."""


@dataclass(frozen=True, kw_only=True)
class TextMargins(Utility):
    """Length, words, missing and repeated texts of the release beside the training rows; control rows are the baseline."""

    bins: int = 10
    """Into so many parts of about equal size the lengths of real texts are cut."""

    def __post_init__(self) -> None:
        """Check the knob."""
        check_knobs(self, bins=(self.bins >= 2, "must be at least 2"))

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """The findings of each column of free text."""
        names = shared_texts(case)
        if not names:
            return [catalogue.TEXT_LENGTH.finding(None, n=case.release.rows, note=NO_TEXT)]
        return [finding for name in names for finding in self._of(case, name)]

    def _of(self, case: Case, name: str) -> list[Finding]:
        texts = {which: table.strings(name) for which, table in case.tables.items()}
        spelled = {which: [None if text is None else words(text) for text in own] for which, own in texts.items()}
        n, bins = case.release.rows, self._binned(spelled)
        size = int(max(part.max() for part in bins.values())) + 1
        length = {which: np.bincount(part, minlength=size) / len(part) for which, part in bins.items()}
        missing = {which: float(np.mean([text is None for text in own])) for which, own in texts.items()}
        repeated = {which: _repeated(own) for which, own in spelled.items()}
        vocabulary = _vocabularies(spelled)
        tvd, fresh = (total_variation(length["train"], length[which]) for which in ("release", "control"))
        findings = [
            catalogue.TEXT_LENGTH.finding(
                tvd, baseline=fresh, n=n, scope=name,
                note=f"{_mean(spelled['release'])} words on average, {_mean(spelled['train'])} in real ones",
            ),
            catalogue.TEXT_MISSING.finding(
                abs(missing["release"] - missing["train"]), baseline=abs(missing["control"] - missing["train"]), n=n, scope=name,
                note=f"{100 * missing['release']:.3g} of 100 are missing, {100 * missing['train']:.3g} in real rows",
            ),
            catalogue.REPEATED.finding(
                repeated["release"], baseline=repeated["train"], n=n, scope=name,
                note=f"{100 * repeated['release']:.3g} of 100 are repeated, {100 * (repeated['train'] or 0):.3g} in real rows",
            )
            if repeated["release"] is not None
            else catalogue.REPEATED.finding(None, n=n, scope=name, note="no released row has a text with a word"),
        ]  # fmt: skip
        if vocabulary["train"].any() and vocabulary["release"].any():
            value = total_variation(vocabulary["train"], vocabulary["release"])
            base = total_variation(vocabulary["train"], vocabulary["control"]) if vocabulary["control"].any() else None
            used = {which: int((own > 0).sum()) for which, own in vocabulary.items()}
            note = f"{used['release']:,} different words, {used['train']:,} in as many real rows as there are"
            findings.append(catalogue.VOCABULARY.finding(value, baseline=base, n=n, scope=name, note=note))
        else:
            findings.append(catalogue.VOCABULARY.finding(None, n=n, scope=name, note="one of the tables has no words"))
        return findings + self._joint(case, name, bins)

    def _binned(self, spelled: Mapping[str, list[list[str] | None]]) -> dict[str, Integers]:
        """The bin of each text by its words, the first for missing ones, the second for those without a word."""
        lengths = {which: np.array([-1 if text is None else len(text) for text in own]) for which, own in spelled.items()}
        real = lengths["train"][lengths["train"] > 0]
        inner = np.unique(np.quantile(real, np.linspace(0, 1, self.bins + 1)[1:-1])) if len(real) else np.empty(0)
        return {
            which: np.where(own <= 0, own + 1, 2 + np.searchsorted(inner, own, side="right")).astype(np.int64)
            for which, own in lengths.items()
        }

    def _joint(self, case: Case, name: str, bins: Mapping[str, Integers]) -> list[Finding]:
        """The length together with each column of few levels."""
        schema = case.train.schema
        findings = []
        for column in case.columns:
            if schema[column].kind not in CODED or not 2 <= len(schema[column].levels) <= LEVELS:
                continue
            levels = len(schema[column].levels) + 1
            codes = {which: _codes(floats_like(table, column, case.train), levels - 1) for which, table in case.tables.items()}
            size = (max(int(part.max()) for part in bins.values()) + 1) * levels
            mass = {which: np.bincount(bins[which] * levels + codes[which], minlength=size) / len(bins[which]) for which in bins}
            value, base = (total_variation(mass["train"], mass[which]) for which in ("release", "control"))
            note = f"how long a {name} is, among the rows with each {column}"
            findings.append(
                catalogue.TEXT_JOINT.finding(value, baseline=base, n=case.release.rows, scope=f"{name}, {column}", note=note)
            )
        return findings


def _codes(values: Floats, last: int) -> Integers:
    """Levels from 0 on; missing and unknown ones are the last."""
    return np.where(np.isfinite(values), values, last).astype(np.int64)


def _repeated(texts: list[list[str] | None]) -> float | None:
    known = [tuple(text) for text in texts if text]
    return 1 - len(set(known)) / len(known) if known else None


def _mean(texts: list[list[str] | None]) -> str:
    lengths = [len(text) for text in texts if text is not None]
    return f"{np.mean(lengths):.3g}" if lengths else "no"


def _vocabularies(spelled: Mapping[str, list[list[str] | None]]) -> dict[str, Floats]:
    """The share of each word, in one order for all tables."""
    counts = {which: Counter(word for text in own if text for word in text) for which, own in spelled.items()}
    known = {word: at for at, word in enumerate(dict.fromkeys(word for own in counts.values() for word in own))}
    shares = {}
    for which, own in counts.items():
        share = np.zeros(max(1, len(known)))
        share[[known[word] for word in own]] = list(own.values())
        shares[which] = share / max(1.0, float(share.sum()))
    return shares
