"""What came out of the study of language models, by task, line and budget."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from hushtable.api.store import Result
from hushtable.evidence.confidence import wilson
from hushtable.language.prune import Rule
from hushtable.studies import language_filled as filling
from hushtable.studies import language_pruned as pruning
from hushtable.studies import language_tasks as tasks
from hushtable.studies.report import over_runs

Interval = tuple[float | None, float | None, float | None]
"""A value and the ends of its interval, as far as there are any."""
NONE: Interval = (None, None, None)


@dataclass(frozen=True)
class Measured:
    """The results of all tasks that were made."""

    results: Mapping[str, Result]
    runs: int

    def classifiers(self, task: str, line: str) -> list[Result]:
        """Of all runs that were not refused."""
        return [one for run in range(self.runs) if "right" in (one := self._get(tasks.task_name(task, line, run)))]

    def accuracy(self, task: str, line: str) -> Interval:
        """In percent: of one run with its binomial interval, of several with that of their mean."""
        own = self.classifiers(task, line)
        if len(own) == 1:
            rate = wilson(own[0]["right"], own[0]["texts"])
            return 100 * own[0]["right"] / own[0]["texts"], 100 * rate.low, 100 * rate.high
        return over_runs([100 * one["right"] / one["texts"] for one in own])

    def shares(self, task: str, line: str) -> list[float]:
        """What a test compares: the accuracies of runs, or of a single one whether each text was right."""
        own = self.classifiers(task, line)
        if len(own) == 1:
            right, texts = own[0]["right"], own[0]["texts"]
            return [1.0] * right + [0.0] * (texts - right)
        return [one["right"] / one["texts"] for one in own]

    def majority(self, task: str) -> float | None:
        """The share of the larger class among the tested texts, in percent."""
        own = [one for line in tasks.LINES for one in self.classifiers(task, line.name)]
        return 100 * own[0]["majority"] / own[0]["texts"] if own else None

    def layers(self, task: str, line: str) -> str:
        """The numbers of the layers that were left in."""
        own = self.classifiers(task, line)
        return ", ".join(str(layer) for layer in own[0]["layers"]) if own else ""

    def filled(self, task: str, budget: str) -> list[Result]:
        """Of all runs that were not refused."""
        return [one for run in range(self.runs) if "random" in (one := self._get(filling.task_name(task, budget, run)))]

    def surprise(self, task: str, budget: str, side: str = "train") -> list[float]:
        """Nats a token of each text, means over runs where there are several; the same texts in every run and budget."""
        own = [one["surprise"][side] for one in self.filled(task, budget) if "surprise" in one]
        return np.mean(own, axis=0).tolist() if own else []

    def perplexity(self, task: str, budget: str, side: str = "train") -> Interval:
        """The exponential of the mean over texts, with that of its interval."""
        middle, low, high = over_runs(self.surprise(task, budget, side))
        return tuple(None if value is None else math.exp(value) for value in (middle, low, high))  # type: ignore[return-value]

    def scores(self, task: str, budget: str, part: str, among: str = "random") -> list[float]:
        """Parts of BERTScore, of each written text of all runs."""
        return [value for one in self.filled(task, budget) for value in one[among][part]]

    def nearest(self, task: str, budget: str, side: str) -> list[float]:
        """F1 of each written text with the nearest of a side."""
        return [value for one in self.filled(task, budget) for value in one["nearest"][side]]

    def pruned(self, rule: Rule, tenths: int) -> Result:
        """Of one pruned causal model; empty where it was refused."""
        own = self._get(pruning.task_name(rule, tenths))
        return own if "gone" in own else {}

    def _get(self, name: str) -> Result:
        return self.results.get(name, {})


def gap(one: Sequence[float], other: Sequence[float]) -> Interval:
    """The mean of one less that of another, of other texts, with Welch's interval of 95 %."""
    if min(len(one), len(other)) < 2:
        return NONE
    value = float(np.mean(one) - np.mean(other))
    parts = [float(np.var(values, ddof=1)) / len(values) for values in (one, other)]
    if not sum(parts):
        return value, value, value
    degrees = sum(parts) ** 2 / sum(part**2 / (len(v) - 1) for part, v in zip(parts, (one, other), strict=True))
    reach = float(student.ppf(0.975, degrees)) * math.sqrt(sum(parts))
    return value, value - reach, value + reach


def bits_per_byte(bits: Sequence[float], sizes: Sequence[int]) -> float:
    """All bits over all bytes."""
    return sum(bits) / max(sum(sizes), 1)
