"""What the source says of Frechet means in words, and what our numbers say to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from hushtable.api.store import Result
from hushtable.report.words import interval, number
from hushtable.studies.frechet_ways import DP, HYBRID, K_ANONYMITY
from hushtable.studies.report import Statement, Statements, Verdict, over_runs

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
    values = {line: over_runs([one["nmi"] for one in table[line] if "nmi" in one]) for line in published}
    known = {line: (middle, low, high) for line, (middle, low, high) in values.items() if middle is not None}
    hybrid = next((line for line in known if line.startswith(HYBRID)), None)
    if hybrid is None or len(known) < len(published):
        return None
    parts = [
        f"{line} {number(m)}" + (f" ({interval(low, high)})" if low is not None else "") for line, (m, low, high) in known.items()
    ]
    _, low, high = known[hybrid]
    # What is drawn once, because nothing in it is random, is its own interval.
    others = [(m if lo is None else lo, m if hi is None else hi) for line, (m, lo, hi) in known.items() if line != hybrid]
    verdict = Verdict.UNDECIDED
    if low is not None and all(low > hi for _, hi in others):
        verdict = Verdict.CONFIRMED
    elif high is not None and any(high < lo for lo, _ in others):
        verdict = Verdict.CONTRADICTED
    says = "The hybrid keeps clusters better than k-anonymity and than DP (table 3.3)"
    return Statement(says=says, verdict=verdict, because=f"NMI: {'; '.join(parts)}")


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
