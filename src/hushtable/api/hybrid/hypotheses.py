"""What the source says of hybrids, decided on the cells of a grid: confirmed, contradicted or undecided, with the numbers.

M. N. Plasencia Palacios, thesis, University of Trieste 2025, section 5.3, averages over all cells without intervals. Here each
statement is a condition on paired differences. What holds is said of this table, this split and these cells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from hushtable.api.compare.cell import Estimate
from hushtable.api.hybrid.effects import STAGE, Effect
from hushtable.api.hybrid.grid import Stage, Value
from hushtable.api.hybrid.metrics import DISCRIMINATOR, INFERENCE, LINKABILITY, METRICS, SCORE, SINGLING_OUT, WORST, Metric

HARDLY = 0.01
"""A difference of no more than this, one of 100 people, hardly matters."""
RISK = SINGLING_OUT
"""The risk by which statements about risk are decided: the one that the source draws; the others stand beside it."""


class Verdict(StrEnum):
    """Whether a statement holds for the cells of a grid."""

    CONFIRMED = "confirmed"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"


@dataclass(frozen=True, kw_only=True)
class Hypothesis:
    """A statement about hybrids, and what the cells say to it."""

    name: str
    statement: str
    verdict: Verdict
    words: str
    """The numbers that decided, in sentences."""
    decided_by: tuple[Effect, ...] = ()
    beside: tuple[Effect, ...] = ()
    """The same differences of other metrics, which decide nothing."""

    def to_json(self) -> dict[str, Any]:
        """As ``hybrid.json`` holds it."""
        return {
            "name": self.name,
            "statement": self.statement,
            "verdict": str(self.verdict),
            "words": self.words,
            "decided_by": [effect.to_json() for effect in self.decided_by],
            "beside": [effect.to_json() for effect in self.beside],
        }


Rule = Callable[[Estimate], Verdict]


def _rises(difference: Estimate) -> Verdict:
    """Whether the second is surely larger, or surely smaller."""
    if difference.low is None or difference.high is None:
        return Verdict.UNDECIDED
    if difference.low > 0:
        return Verdict.CONFIRMED
    return Verdict.CONTRADICTED if difference.high < 0 else Verdict.UNDECIDED


def _falls(difference: Estimate) -> Verdict:
    """Whether the second is surely smaller, or surely larger."""
    turned = {Verdict.CONFIRMED: Verdict.CONTRADICTED, Verdict.CONTRADICTED: Verdict.CONFIRMED}
    risen = _rises(difference)
    return turned.get(risen, risen)


def _hardly(difference: Estimate) -> Verdict:
    """Whether the two are surely within one of 100 people, or surely further apart."""
    if difference.low is None or difference.high is None:
        return Verdict.UNDECIDED
    if difference.low >= -HARDLY and difference.high <= HARDLY:
        return Verdict.CONFIRMED
    return Verdict.CONTRADICTED if difference.low > HARDLY or difference.high < -HARDLY else Verdict.UNDECIDED


@dataclass(frozen=True)
class _Statement:
    """What is said, and between which values of an axis of which metric it is decided, by which rule."""

    name: str
    text: str
    axis: str
    steps: Callable[[Sequence[Value]], list[tuple[Value, Value]]]
    metric: Metric
    rule: Rule
    beside: tuple[Metric, ...] = ()


def _ends(values: Sequence[Value]) -> list[tuple[Value, Value]]:
    return [(values[0], values[-1])]


def _to_conditional(values: Sequence[Value]) -> list[tuple[Value, Value]]:
    """From each public way to each that draws raw values of a class; what pays or reads one statistic is another matter."""
    public = [value for value in values if value in ("single", "uniform")]
    return [(start, stop) for stop in values if str(stop).startswith("conditional") for start in public]


def _between(start: Value, stop: Value) -> Callable[[Sequence[Value]], list[tuple[Value, Value]]]:
    return lambda values: [(start, stop)] if start in values and stop in values else []


_OTHERS = (INFERENCE, LINKABILITY, WORST)
_STATEMENTS = (
    _Statement("k", "the value of k hardly matters for the risk", "k", _ends, RISK, _hardly, _OTHERS),
    _Statement("transition", "the conditional transition leaks most", "transition", _to_conditional, RISK, _rises, _OTHERS),
    _Statement("order", "PRE leaks less than POST", "order", _between("pre", "post"), RISK, _rises, _OTHERS),
    _Statement(
        "sampling", "stratified sampling keeps more utility than random sampling", "sampling", _between("random", "stratified"),
        SCORE, _rises, (DISCRIMINATOR,),
    ),
    _Statement("beta", "protection grows with beta", "beta", _ends, RISK, _falls, _OTHERS),
    _Statement(
        "stages", "singling out falls from the original to the anonymized table, and from there to the hybrid", STAGE,
        lambda values: [(str(Stage.ORIGINAL), str(Stage.ANONYMIZED)), (str(Stage.ANONYMIZED), str(Stage.HYBRID))],
        RISK, _falls, _OTHERS,
    ),
)  # fmt: skip


def hypotheses(found: Sequence[Effect], values: Mapping[str, Sequence[Value]]) -> list[Hypothesis]:
    """Every statement that the axes of a grid can say something to, with its verdict.

    Of several differences a statement needs all: it is contradicted by one that surely goes the other way.
    """
    by_key = {(one.axis, one.start, one.stop, one.metric): one for one in found}
    return [_decided(one, by_key, values) for one in _STATEMENTS if one.axis == STAGE or one.axis in values]


Keyed = Mapping[tuple[str, Value, Value, str], Effect]


def _decided(one: _Statement, by_key: Keyed, values: Mapping[str, Sequence[Value]]) -> Hypothesis:
    steps = one.steps(values.get(one.axis, ()))
    # Where singling out was not among the attacks, the worst of those that were stands for the risk.
    measured = any(metric == one.metric.name for _, _, _, metric in by_key)
    metric = one.metric if measured or one.metric is not RISK else WORST
    deciding = [effect for step in steps if (effect := by_key.get((one.axis, *step, metric.name))) is not None]
    answers = [one.rule(effect.difference) for effect in deciding]
    verdict = Verdict.UNDECIDED
    if Verdict.CONTRADICTED in answers:
        verdict = Verdict.CONTRADICTED
    elif answers and len(answers) == len(steps) and set(answers) == {Verdict.CONFIRMED}:
        verdict = Verdict.CONFIRMED
    others = [other for other in one.beside if other is not metric]
    beside = [effect for step in steps for m in others if (effect := by_key.get((one.axis, *step, m.name))) is not None]
    words = " ".join(_words(effect) for effect in deciding) or "No two cells were alike but for it."
    if len(deciding) < len(steps) and deciding:
        words += " Not all that it speaks of was tried."
    return Hypothesis(
        name=one.name, statement=one.text, verdict=verdict, words=words, decided_by=tuple(deciding), beside=tuple(beside)
    )  # fmt: skip


def _words(effect: Effect) -> str:
    """A difference as a sentence."""
    metric, size = METRICS[effect.metric], effect.difference
    unit, factor, digits = (" of 100 people", 100.0, 2) if metric.people else ("", 1.0, 3)
    value = f"{factor * abs(size.value):.{digits}f}{unit}"
    ends = ""
    if size.low is not None and size.high is not None:
        ends = f", 95 % interval {factor * size.low:+.{digits}f} to {factor * size.high:+.{digits}f}"
    groups = f" on {effect.groups} sample{'' if effect.groups == 1 else 's'}" if effect.groups < effect.pairs else ""
    way = "higher" if size.value > 0 else "lower"
    named = effect.axis if effect.axis != STAGE else ""
    stop, start = (f"{named} {shown}".strip() for shown in (_shown(effect.stop), _shown(effect.start)))
    return f"{metric.label.capitalize()} is {value} {way} with {stop} than with {start} ({effect.pairs} pairs{groups}{ends})."


def _shown(value: Value) -> str:
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)
