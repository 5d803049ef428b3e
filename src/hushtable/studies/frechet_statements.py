"""What the source says of Frechet means in words, and what our numbers say to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from hushtable.api.store import Result
from hushtable.evidence.finding import Better
from hushtable.report.words import number
from hushtable.studies.frechet_ways import DP, HYBRID, K_ANONYMITY
from hushtable.studies.report import Statement, Statements, Verdict
from hushtable.studies.verdicts import best, spoken

Curves = Mapping[str, Sequence[tuple[float, float]]]


def said(name: str, table: Mapping[str, Sequence[Result]], swept: Mapping[str, Curves], published: Sequence[str]) -> Statements:
    """Of the hybrid's clusters, and of how the mean moves by epsilon, k and rows."""
    found = [
        _hybrid_wins(table, published),
        _course("The mean moves less the larger epsilon is (figure 3.2)", {DP: swept["3.2 epsilon"][DP]}, falling=True),
        _course("The mean moves more the larger k is (figure 3.2)", swept["3.2 k"], falling=False),
        _course(
            "The mean moves less the more rows there are, in every way (figure 3.1)",
            {kind: swept["3.1"][kind] for kind in (K_ANONYMITY, DP, HYBRID)},
            falling=True,
        ),
    ]
    return Statements(title=f"What the source says: {name}", statements=tuple(one for one in found if one is not None))


def _hybrid_wins(table: Mapping[str, Sequence[Result]], published: Sequence[str]) -> Statement | None:
    """By the agreement of clusters and classes, as published."""
    runs = {line: [one["nmi"] for one in table[line] if "nmi" in one] for line in published}
    hybrid = next(line for line in published if line.startswith(HYBRID))
    if not all(runs.values()):
        return None
    # What was drawn once, because nothing in it is random, is the same in every run.
    repeated = {line: values * len(runs[hybrid]) if len(values) == 1 else values for line, values in runs.items()}
    says = "The hybrid keeps clusters better than k-anonymity and than DP (table 3.3)"
    return Statement(says=says, verdict=best(hybrid, repeated, Better.HIGHER), because=f"NMI: {spoken(runs)}")


def _course(says: str, curves: Curves, *, falling: bool) -> Statement | None:
    """Whether every curve goes one way from its first point to its last, and never far back in between."""
    drawn = {kind: [y for _, y in sorted(curve)] for kind, curve in curves.items() if len(curve) > 1}
    if not drawn:
        return None
    sign = -1.0 if falling else 1.0
    ends = {kind: sign * (ys[-1] - ys[0]) for kind, ys in drawn.items()}
    steady = all(sign * (b - a) >= 0 for ys in drawn.values() for a, b in pairwise(ys))
    verdict = Verdict.UNDECIDED
    if all(end > 0 for end in ends.values()) and steady:
        verdict = Verdict.CONFIRMED
    elif any(end < 0 for end in ends.values()):
        verdict = Verdict.CONTRADICTED
    parts = [f"{kind}: {', '.join(number(y) for y in ys)}" for kind, ys in drawn.items()]
    return Statement(says=says, verdict=verdict, because=f"Distances of the means from the first to the last: {'; '.join(parts)}")
