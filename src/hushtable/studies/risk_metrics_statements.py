"""What chapter 4 of Plasencia Palacios (2025) says in words, and what our numbers say of it, table by table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Protocol

from hushtable.api.certificate import Curve, Expect, Line, judged
from hushtable.evidence.confidence import Rate
from hushtable.studies.plasencia import ADULT, TEXAS, above, mean, shown
from hushtable.studies.plasencia_metrics import DCR, DISTANCE, DOMIAS, GTCAP, IMS, LEARNED, LINK, NEAR, RADIUS, RISKS, SINGLING
from hushtable.studies.report import Statement, Verdict
from hushtable.studies.risk_curves import ends, line_of, rising
from hushtable.studies.risk_metrics_published import LEAKY, OVERFIT, PRIVATE, SYNTHPOP
from hushtable.studies.verdicts import all_of

GENERATORS = ("RTF", "synthpop", "AIM", "PATE-GAN")
STRONG = 0.93
"""The least correlation that the thesis reports under leaks."""
LITTLE = 0.05
"""A rise of less is called none."""
REACHED = 0.9
"""What is called the maximum."""


class Measured(Protocol):
    """What was measured on a table."""

    @property
    def curves(self) -> Mapping[str, Curve]:
        """By risk model."""

    @property
    def seconds(self) -> Mapping[str, float]:
        """By metric."""

    def likeness(self, generator: str) -> list[Rate]:
        """How well its rows are distinguished from real ones, in each run."""


def about(title: str, one: Measured) -> Iterator[Statement]:
    """Everything that is said, as far as it was measured on this table."""
    curves = one.curves
    for model, what in ((LEAKY, "the share of leaked rows"), (OVERFIT, "the overfit ratio"), (SYNTHPOP, "the overfit ratio")):
        for metric in RISKS if model in curves else ():
            line = line_of(curves[model], metric)
            if line is not None:
                yield Statement(says=f"{metric} rises with {what} ({model}).", verdict=rising(line), because=ends(line))
    yield from _about_leaks(curves)
    yield from _about_overfit(curves)
    yield from _about_private(curves)
    yield from _about_outliers(title, curves)
    yield from _about_knobs(title, curves)
    yield from _about_size(curves)
    yield from _about_likeness(title, one)
    yield from _about_seconds(one.seconds)


def correlations(curve: Curve | None) -> dict[str, dict[str, float | None]]:
    """Between the metrics of table 4.3 along a curve."""
    if curve is None:
        return {}
    names, matrix = curve.correlation.names, curve.correlation.matrix
    kept = [metric for metric in RISKS if metric in names]
    return {a: {b: matrix[names.index(a)][names.index(b)] for b in kept} for a in kept}


def _about_leaks(curves: Mapping[str, Curve]) -> Iterator[Statement]:
    if LEAKY not in curves:
        return
    full = {metric: _last(line_of(curves[LEAKY], metric)) for metric in RISKS}
    highest = [metric for metric in (IMS, DCR, SINGLING, DISTANCE, GTCAP) if full[metric] is not None]
    yield Statement(
        says="When all released rows are leaked, the indicators, singling out, distance inference and GTCAP reach about 1.",
        verdict=all_of(_beyond(full[metric], REACHED) for metric in highest),
        because=_rates(full, highest),
    )
    short = [metric for metric in (LINK, LEARNED, DOMIAS) if full[metric] is not None]
    yield Statement(
        says="Linkability, ML inference and DOMIAS do not reach their maximum.",
        verdict=all_of(_opposite(_beyond(full[metric], REACHED)) for metric in short),
        because=_rates(full, short),
    )
    yield _correlated(f"Under leaks metrics are nearly perfectly correlated, at {STRONG} or more.", curves[LEAKY])


def _about_overfit(curves: Mapping[str, Curve]) -> Iterator[Statement]:
    if LEAKY not in curves or OVERFIT not in curves:
        return
    pairs = {
        metric: (_last(line_of(curves[OVERFIT], metric)), _last(line_of(curves[LEAKY], metric)))
        for metric in (DCR, SINGLING, DISTANCE)
    }
    shares = {m: (a.value / b.value if b.value else 0.0) for m, (a, b) in pairs.items() if a is not None and b is not None}
    yield Statement(
        says="At the largest overfit ratio risks are about half as large as when all rows are leaked.",
        verdict=all_of(Verdict.CONFIRMED if 0.25 <= share <= 0.8 else Verdict.CONTRADICTED for share in shares.values()),
        because="; ".join(f"{metric} {share:.2f} of it" for metric, share in shares.items()) or "nothing was measured",
    )
    least = {model: _least_correlation(curves[model]) for model in (LEAKY, OVERFIT)}
    leaky, overfit = least[LEAKY], least[OVERFIT]
    if leaky is not None and overfit is not None:
        yield Statement(
            says="Along the overfit ratio metrics are less correlated than along leaks.",
            verdict=Verdict.CONFIRMED if overfit < leaky else Verdict.CONTRADICTED,
            because=f"the least correlation of two metrics is {overfit:.2f}, along leaks {leaky:.2f}",
        )


def _about_private(curves: Mapping[str, Curve]) -> Iterator[Statement]:
    for model in (PRIVATE, "private, PATE-GAN"):
        if model in curves:
            lines = {metric: line for metric in RISKS if (line := line_of(curves[model], metric)) is not None}
            yield Statement(
                says=f"The metrics hardly answer to epsilon ({model.removeprefix('private, ')}).",
                verdict=all_of(_hardly(line) for line in lines.values()),
                because="; ".join(f"{metric}: {ends(line)}" for metric, line in lines.items()),
            )


def _about_outliers(title: str, curves: Mapping[str, Curve]) -> Iterator[Statement]:
    for generator in ("RTF", "synthpop"):
        plain, over = (curves.get(f"outliers, {generator}, ratio {ratio:g}") for ratio in (1.0, 1.6))
        if plain is None or over is None:
            continue
        for curve, what in ((plain, generator), (over, f"an overfitted {generator}")):
            lines = {metric: line for metric in RISKS if (line := line_of(curve, metric)) is not None}
            moved = {metric: line for metric, line in lines.items() if _stays(line) is not Verdict.CONFIRMED}
            kept = f"{len(lines) - len(moved)} of {len(lines)} metrics stay"
            yield Statement(
                says=f"Removing outliers does not lower the risk of {what}.",
                verdict=all_of(_not_lower(line) for line in lines.values()),
                because="; ".join([kept, *(f"{metric}: {ends(line)}" for metric, line in moved.items())]),
            )
        domias = line_of(over, DOMIAS)
        if title == ADULT and domias is not None:
            says = f"Of an overfitted {generator}, removing outliers lowers DOMIAS."
            yield Statement(says=says, verdict=above(_first(domias), _last(domias)), because=ends(domias))
        low, high = line_of(plain, DCR), line_of(over, DCR)
        if low is not None and high is not None:
            yield Statement(
                says=f"The distance is higher for an overfitted {generator} whatever share of outliers is removed.",
                verdict=all_of(above(_at(high, i), _at(low, i)) for i in range(len(low.levels))),
                because=f"overfitted {ends(high)}; not {ends(low)}",
            )


def _about_knobs(title: str, curves: Mapping[str, Curve]) -> Iterator[Statement]:
    for model in (LEAKY, OVERFIT):
        curve = curves.get(model)
        closest = _last(line_of(curve, DCR))
        others = {line.scope: _last(line) for line in (curve.scopes if curve else ()) if line.name == NEAR}
        if closest is not None and others:
            yield Statement(
                says=f"The closest record alone detects more than means over several neighbours ({model}).",
                verdict=all_of(above(closest, other) for other in others.values()),
                because=_rates({"1 nearest": closest, **others}, ["1 nearest", *others]),
            )
    curve = curves.get(OVERFIT)
    radii = {line.scope: _last(line) for line in (curve.scopes if curve else ()) if line.name == RADIUS}
    known = {scope: rate.value for scope, rate in radii.items() if rate is not None}
    if len(known) > 1:
        values = list(known.values())
        grows = values[-1] > values[0] and all(b >= a - 0.01 for a, b in pairwise(values))
        equal = max(values) - min(values) < 1e-9
        why = "the same for all radii, as keys and target are levels" if equal and title == ADULT else ""
        yield Statement(
            says="A larger radius gives a higher GTCAP.",
            verdict=Verdict.CONFIRMED if grows else Verdict.CONTRADICTED,
            because="; ".join(filter(None, [*(f"{scope} {value:.3f}" for scope, value in known.items()), why])),
        )


def _about_size(curves: Mapping[str, Curve]) -> Iterator[Statement]:
    curve = curves.get("size")
    distance = line_of(curve, DCR)
    if distance is not None:
        says = "The distance rises sharply with the number of released rows."
        yield Statement(says=says, verdict=rising(distance), because=ends(distance))
    lines = {metric: line for metric in (GTCAP, LINK) if (line := line_of(curve, metric)) is not None}
    if lines:
        yield Statement(
            says="GTCAP and linkability do not depend on the number of released rows.",
            verdict=all_of(_stays(line) for line in lines.values()),
            because="; ".join(f"{metric}: {ends(line)}" for metric, line in lines.items()),
        )


def _about_likeness(title: str, one: Measured) -> Iterator[Statement]:
    found = {name: mean(one.likeness(name)) for name in GENERATORS}
    known = {name: rate for name, rate in found.items() if rate is not None}
    ours, theirs = ([known[name] for name in some if name in known] for some in (GENERATORS[:2], GENERATORS[2:]))
    if ours and theirs:
        yield Statement(
            says="Rows of private generators are less like real ones than those of the others.",
            verdict=all_of(above(private, plain) for private in theirs for plain in ours),
            because=_rates(known, known),
        )
    if title == TEXAS and known:
        yield Statement(
            says="On Texas the rows of every generator can be distinguished from real ones with certainty.",
            verdict=all_of(_beyond(rate, 0.99) for rate in known.values()),
            because=_rates(known, known),
        )


def _about_seconds(seconds: Mapping[str, float]) -> Iterator[Statement]:
    if not seconds:
        return
    slow, fast = (max(seconds[m] for m in some) for some in ((GTCAP, DISTANCE), (IMS, DCR)))
    yield Statement(
        says="IMS and the distance are fast; GTCAP and distance inference take longest.",
        verdict=Verdict.CONFIRMED if slow > fast and slow >= max(seconds[m] for m in RISKS) else Verdict.CONTRADICTED,
        because="; ".join(f"{metric} {seconds[metric]:.2g} s" for metric in sorted(RISKS, key=lambda m: -seconds[m])),
    )


def _correlated(says: str, curve: Curve) -> Statement:
    least = _least_correlation(curve)
    if least is None:
        return Statement(says=says, verdict=Verdict.UNDECIDED, because="nothing varies")
    verdict = Verdict.CONFIRMED if least >= STRONG else Verdict.CONTRADICTED
    return Statement(says=says, verdict=verdict, because=f"the least correlation of two metrics is {least:.2f}")


def _least_correlation(curve: Curve) -> float | None:
    matrix = correlations(curve)
    return min((r for a in matrix for b, r in matrix[a].items() if a != b and r is not None), default=None)


def _stays(line: Line) -> Verdict:
    """All intervals meet the first: that is what can be seen of it."""
    return Verdict.CONFIRMED if judged(line.values, line.low, line.high, Expect.STAY) == "stays" else Verdict.CONTRADICTED


def _hardly(line: Line) -> Verdict:
    """Whether a metric rises by less than ``LITTLE``; contradicted where it surely rises by more."""
    if line.low[-1] > line.high[0] + LITTLE:
        return Verdict.CONTRADICTED
    return Verdict.CONFIRMED if line.values[-1] - line.values[0] < LITTLE else Verdict.UNDECIDED


def _not_lower(line: Line) -> Verdict:
    lower = above(_first(line), _last(line))
    return Verdict.CONTRADICTED if lower is Verdict.CONFIRMED else Verdict.CONFIRMED


def _beyond(rate: Rate | None, least: float) -> Verdict:
    if rate is None or rate.low < least <= rate.high:
        return Verdict.UNDECIDED
    return Verdict.CONFIRMED if rate.low >= least else Verdict.CONTRADICTED


def _opposite(verdict: Verdict) -> Verdict:
    return {Verdict.CONFIRMED: Verdict.CONTRADICTED, Verdict.CONTRADICTED: Verdict.CONFIRMED}.get(verdict, verdict)


def _at(line: Line | None, place: int) -> Rate | None:
    return None if line is None else Rate(line.values[place], line.low[place], line.high[place])


def _first(line: Line | None) -> Rate | None:
    return _at(line, 0)


def _last(line: Line | None) -> Rate | None:
    return _at(line, -1)


def _rates(rates: Mapping[str, Rate | None], names: Iterable[str]) -> str:
    return "; ".join(f"{name} {shown(rate)}" for name in names if (rate := rates[name]) is not None)
