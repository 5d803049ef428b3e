"""Layers left out of a causal model by the cosines of public texts (tables 5.5 to 5.7): how good and how fast it stays."""

from __future__ import annotations

import time
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from hushtable.api.store import Result
from hushtable.language.models import Sort, checkpoint
from hushtable.language.prune import Rule, kept
from hushtable.learn import network
from hushtable.studies.language_published import SST2
from hushtable.studies.language_tasks import rows, some

CAUSAL, PURPOSE = "smollm2", "a model of language"
TENTHS = (1, 2, 3)
"""Layers left out, in tenths of all: 3, 6 and 9 of 30."""
LENGTH = 128


@dataclass(frozen=True)
class Pruning:
    """How much is measured."""

    public: int
    """Texts whose cosines judge layers."""
    tested: int
    """Sentences of the development set."""
    repeats: int
    """Of which the median is the time."""


def pruned(data: str, size: Pruning, rule: Rule, tenths: int) -> Result:
    """The layers that go, the bits of development sentences under the whole model and under what is left, and seconds of each."""
    nets, layers, surprise = (network(f"hushtable.language.{name}", PURPOSE) for name in ("nets", "layers", "surprise"))
    _, public, held = rows(data, SST2, 1)
    language = nets.Language.load(checkpoint(CAUSAL, Sort.CAUSAL, "study language"))
    texts = some(held, size.tested)
    whole = len(layers.stack(language.net))
    stay = kept(layers.cosines(language, some(public, size.public), LENGTH).mean(0), round(whole * tenths / 10), rule)
    before, seconds, sizes = _measured(surprise, language, texts, size.repeats)
    layers.cut(language.net, stay)
    after, faster, _ = _measured(surprise, language, texts, size.repeats)
    return {
        "layers": whole, "gone": [layer for layer in range(whole) if layer not in stay], "bytes": sizes,
        "whole": before, "left": after, "seconds": [seconds, faster],
    }  # fmt: skip


def _measured(surprise: Any, language: Any, texts: list[str], repeats: int) -> tuple[list[float], float, list[int]]:
    """Bits of each text, the median of processor seconds, and bytes of each text."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        bits, sizes = surprise.bits(language, texts, LENGTH)
        times.append(time.process_time() - start)
    return np.asarray(bits).tolist(), median(times), np.asarray(sizes).tolist()


def task_name(rule: Rule, tenths: int) -> str:
    """Of the task of one pruned model."""
    return f"pruned-{rule}-{tenths}"
