"""What the source says of private language models in words, and what ours show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from hushtable.evidence.finding import Better
from hushtable.language.prune import Rule
from hushtable.studies import language_tasks as tasks
from hushtable.studies.language_filled import REWRITTEN
from hushtable.studies.language_published import BUDGETS
from hushtable.studies.language_results import Measured, bits_per_byte, gap
from hushtable.studies.report import Statement, Verdict
from hushtable.studies.verdicts import all_of, best, spoken, surely_better

NO_DP, *_PRIVATE = BUDGETS
NOTHING = "it was not run"
CHOSEN = (tasks.ONE[1], tasks.TWO[1])
"""Models whose layers plain cosines choose: where both rules choose the same, none is the better one."""
_PAIRS = ((tasks.LORA, tasks.PLAIN), (tasks.ONE[0], tasks.PLAIN_ONE), (tasks.TWO[0], tasks.PLAIN_TWO))
"""With privacy and without, of as many layers."""


def about_classifiers(found: Measured, task: str) -> Iterator[Statement]:
    """Of one task."""
    shares = {line.name: values for line in tasks.LINES if (values := found.shares(task, line.name))}
    for says, good, bad in (
        ("TSKD beats its student when that is trained directly with privacy (table 5.2).", tasks.TSKD, tasks.THREE),
        ("TSKD even beats its student trained without privacy (table 5.3).", tasks.TSKD, tasks.PLAIN_THREE),
        ("Pairwise cosines choose better layers than plain ones, 0.1 (table 5.5).", *tasks.ONE),
        ("Pairwise cosines choose better layers than plain ones, 0.3.", *tasks.TWO),
    ):
        if good in shares and bad in shares:
            same = bad in CHOSEN and found.layers(task, good) == found.layers(task, bad)
            why = f"; both choose the layers {found.layers(task, good)}" if same else ""
            chosen = Verdict.CONTRADICTED if same else best(good, {n: shares[n] for n in (good, bad)}, Better.HIGHER)
            yield Statement(says=says, verdict=chosen, because=spoken({n: shares[n] for n in (good, bad)}) + why)
    if {tasks.TSKD, tasks.LORA} <= set(shares):
        value, low, high = gap(shares[tasks.LORA], shares[tasks.TSKD])
        yield Statement(
            says="TSKD loses some points to the private teacher (table 5.2).",
            verdict=_above(low, high),
            because=f"teacher less student {_shown(value, low, high)}",
        )
    both = [(a, b) for a, b in _PAIRS[1:] if a in shares and b in shares]
    if both:
        yield Statement(
            says="Of pruned models, accuracy is higher with differential privacy than without (table 5.5).",
            verdict=all_of(best(a, {n: shares[n] for n in (a, b)}, Better.HIGHER) for a, b in both),
            because="; ".join(spoken({n: shares[n] for n in pair}) for pair in both),
        )
    for says, lines in (
        ("More layers left out lower the accuracy, with privacy (table 5.7).", [a for a, _ in _PAIRS]),
        ("More layers left out lower the accuracy, without privacy.", [b for _, b in _PAIRS]),
    ):
        own = {name: shares[name] for name in lines if name in shares}
        if len(own) == len(lines):
            yield Statement(says=says, verdict=_falling(list(own.values())), because=spoken(own))
    if shares:
        yield _above_majority(found, task, shares)


def _above_majority(found: Measured, task: str, shares: dict[str, list[float]]) -> Statement:
    most = (found.majority(task) or 0.0) / 100
    private = [line.name for line in tasks.LINES if line.private and line.name in shares]
    surely = [name for name in private if surely_better(shares[name], [most, most], Better.HIGHER)]
    some = Verdict.UNDECIDED if surely else Verdict.CONTRADICTED
    return Statement(
        says="(Unsaid, but all comparisons rest on it:) private models beat the majority class.",
        verdict=Verdict.CONFIRMED if private and len(surely) == len(private) else some,
        because=f"majority {most:.3g}; surely above it: {', '.join(surely) or 'none'}, of {len(private)}",
    )


def about_filled(found: Measured, task: str) -> Iterator[Statement]:
    """Table 5.10, of one task."""
    surprise = {budget: values for budget in BUDGETS if (values := found.surprise(task, budget))}
    if len(surprise) == len(BUDGETS):
        order = [*_PRIVATE, NO_DP]
        yield Statement(
            says="The perplexity of the model falls from epsilon 1 to 5, to 10, to none.",
            verdict=all_of(_lower(surprise[b], surprise[a]) for a, b in pairwise(order)),
            because="nats a token: " + spoken({budget: surprise[budget] for budget in order}),
        )
    for budget, own in surprise.items():
        value, low, high = gap(found.surprise(task, budget, "control"), own)
        yield Statement(
            says=f"A low perplexity shows memory of the training texts ({budget}).",
            verdict=_above(low, high),
            because=f"held-out less training texts, nats a token: {_shown(value, low, high)}",
        )
    scores = {budget: values for budget in BUDGETS if (values := found.scores(task, budget, "f1"))}
    if len(scores) == len(BUDGETS):
        order = [NO_DP, *reversed(_PRIVATE)]
        yield Statement(
            says="Written texts are the more like training texts the larger epsilon is (BERTScore), and the most without privacy.",
            verdict=all_of(best(a, {n: scores[n] for n in (a, b)}, Better.HIGHER) for a, b in pairwise(order)),
            because="F1: " + spoken({budget: scores[budget] for budget in order}),
        )
    for budget in (*BUDGETS, REWRITTEN):
        near, far = (found.nearest(task, budget, side) for side in ("train", "control"))
        if near and far:
            yield Statement(
                says=f"Written texts are closer to training than to held-out texts ({budget}).",
                verdict=_lower([-a for a in near], [-b for b in far]),
                because=spoken({"F1 with the nearest training text": near, "held-out": far}),
            )


def about_pruned(found: Measured, tenths: Iterable[int]) -> Iterator[Statement]:
    """Layers left out of a causal model."""
    here = [ten for ten in tenths if found.pruned(Rule.PAIRWISE, ten)]
    for rule in Rule:
        own = [found.pruned(rule, ten) for ten in here]
        if own and all(own):
            spent = {"whole": own[0]["whole"]} | {f"0.{ten}": one["left"] for ten, one in zip(here, own, strict=True)}
            steps = list(spent.values())
            yield Statement(
                says=f"The more layers are left out, the worse the model ({rule}).",
                verdict=all_of(_lower(a, b) for a, b in pairwise(steps)),
                because="bits a byte: "
                + ", ".join(f"{name} {bits_per_byte(bits, own[0]['bytes']):.3g}" for name, bits in spent.items()),
            )
    for ten in here:
        one, other = (found.pruned(rule, ten) for rule in (Rule.PAIRWISE, Rule.COSINE))
        if one and other:
            same = one["gone"] == other["gone"]
            yield Statement(
                says=f"Pairwise cosines choose better layers than plain ones (smollm2, 0.{ten}).",
                verdict=Verdict.CONTRADICTED if same else _lower(one["left"], other["left"]),
                because=f"bits a byte {bits_per_byte(one['left'], one['bytes']):.3g} against "
                f"{bits_per_byte(other['left'], other['bytes']):.3g}" + ("; the same layers go" if same else ""),
            )


def _lower(one: Sequence[float], other: Sequence[float]) -> Verdict:
    """Whether one is lower, text by text."""
    apart, none = np.subtract(one, other).tolist(), [0.0] * len(one)
    if surely_better(apart, none, Better.LOWER):
        return Verdict.CONFIRMED
    return Verdict.CONTRADICTED if surely_better(apart, none, Better.HIGHER) else Verdict.UNDECIDED


def _falling(groups: Sequence[Sequence[float]]) -> Verdict:
    """Whether each is surely worse than the one before; contradicted where the last is surely better than the first."""
    if surely_better(groups[-1], groups[0], Better.HIGHER):
        return Verdict.CONTRADICTED
    worse = [surely_better(a, b, Better.HIGHER) for a, b in pairwise(groups)]
    return Verdict.CONFIRMED if all(worse) else Verdict.UNDECIDED


def _above(low: float | None, high: float | None) -> Verdict:
    """Whether an interval lies above 0."""
    if low is None or high is None or low <= 0 <= high:
        return Verdict.UNDECIDED
    return Verdict.CONFIRMED if low > 0 else Verdict.CONTRADICTED


def _shown(value: float | None, low: float | None, high: float | None) -> str:
    if value is None or low is None or high is None:
        return NOTHING
    return f"{value:.3g} ({low:.3g} to {high:.3g})"
