"""Bits per byte of real text under a model of the released texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hushtable.evidence.confidence import NORMAL, Rate
from hushtable.evidence.finding import Finding, Utility
from hushtable.measures.catalogue import TEXT_BITS
from hushtable.measures.text.models import NO_TEXT, shared_texts
from hushtable.numerics.ngrams import Ngrams
from hushtable.pipeline.step import check_knobs
from hushtable.table.arrays import Integers

if TYPE_CHECKING:
    from hushtable.evidence.case import Case


@dataclass(frozen=True, kw_only=True)
class TextBits(Utility):
    """How well an interpolated model of bytes (Kneser-Ney), learnt from the release, predicts texts of control people.

    In bits per byte, the end of each text included; the interval is of the tested texts. Beside it stands a model of as many
    training rows. Bytes, so that every script and every new word has a price.
    """

    order: int = 6
    """Bytes that a model looks at, the last one and those before it."""
    learnt: int = 1_000_000
    """Bytes that a model learns from at most, in whole texts drawn at random."""
    tested: int = 200_000
    """Bytes that are tested at most."""

    def __post_init__(self) -> None:
        """Check the knobs."""
        check_knobs(
            self,
            order=(1 <= self.order <= 12, "must lie between 1 and 12"),
            learnt=(self.learnt >= 1, "must be at least 1"),
            tested=(self.tested >= 1, "must be at least 1"),
        )

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding for each column of free text."""
        names = shared_texts(case)
        if not names:
            return [TEXT_BITS.finding(None, n=case.control.rows, note=NO_TEXT)]
        return [self._of(case, name, rng) for name in names]

    def _of(self, case: Case, name: str, rng: np.random.Generator) -> Finding:
        texts = {which: [_bytes(t) for t in table.strings(name) if t is not None] for which, table in case.tables.items()}
        size = min(len(texts["release"]), len(texts["train"]))
        learnt = {which: _some(texts[which], self.learnt, rng, size) for which in ("release", "train")}
        tested = _some(texts["control"], self.tested, rng)
        if not sum(map(len, tested)) or not size:
            return TEXT_BITS.finding(None, n=0, note=f"the control has no {name}, or one of the other tables has none", scope=name)
        price = {which: _price(Ngrams.fit(some, 256, self.order), tested) for which, some in learnt.items()}
        ours, real = price["release"], price["train"]
        note = (
            f"a byte of {len(tested):,} real texts takes {ours.value:.3f} bits to a model of {len(learnt['release']):,} released "
        )
        note += f"texts, and {real.value:.3f} to one of real texts"
        return TEXT_BITS.finding(
            ours.value, baseline=real.value, interval=(ours.low, ours.high), n=len(tested), note=note, scope=name
        )


def _bytes(text: str) -> Integers:
    # A lone surrogate is no character, and has no bytes of its own.
    return np.frombuffer(text.encode("utf-8", "replace"), np.uint8).astype(np.int64)


def _some(texts: Sequence[Integers], most: int, rng: np.random.Generator, count: int | None = None) -> list[Integers]:
    """So many texts at random, the last one cut where all have so many bytes."""
    chosen, left = [], most
    for at in rng.permutation(len(texts))[:count]:
        if left <= 0:
            break
        chosen.append(texts[at][:left])
        left -= len(texts[at])
    return chosen


def _price(model: Ngrams, texts: Sequence[Integers]) -> Rate:
    """Bits over bytes, with the interval of a ratio of means."""
    bits, sizes = model.bits(texts), np.array([len(text) for text in texts], np.float64)
    value = float(bits.sum() / sizes.sum())
    spread = NORMAL * float(np.sqrt(((bits - value * sizes) ** 2).sum()) / sizes.sum())
    return Rate(value, max(0.0, value - spread), value + spread)
