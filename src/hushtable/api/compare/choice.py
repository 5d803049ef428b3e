"""The choice: which cells keep the constraints, which lie on the front of risk and utility, their order, and which to take.

Proven, verified and measured are three kinds of evidence and are never added up. A cell is chosen by its score among those that
keep every constraint; only where scores cannot be told apart does the kind of evidence decide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.api.compare.constraint import Constraint
from hushtable.evidence.finding import Finding
from hushtable.evidence.verdict import STRENGTH

Cell = dict[str, Any]
NOISE = 0.01
"""Scores that differ by no more than this are taken for equal, whatever their intervals say."""
MOST = 0.05
"""Scores that differ by more than this are not, however wide: an interval that holds everything says that nothing is known."""


def judged(cell: Cell, runs: Sequence[Sequence[Finding]], constraints: Sequence[Constraint]) -> Cell:
    """The cell with the constraints it misses. A void audit keeps none of them."""
    if cell["failed"]:
        return cell | {"fits": False, "misses": []}
    misses = [f"valid audit: {reason}" for reason in cell["void"][:1]]
    misses += [why for constraint in constraints if (why := constraint.miss(cell, runs))]
    return cell | {"fits": not misses, "misses": misses}


def front(cells: Sequence[Cell]) -> list[str]:
    """The cells that no other beats: none has as small an upper bound of risk and as large a score, and one of them better.

    Only cells whose audit is valid take part; of cells that are equal in both, all or none are on the front.
    """
    known = [c for c in cells if not c["failed"] and not c["void"] and c["risk"] and c["score"]]
    places = {c["id"]: (c["risk"]["high"], -c["score"]["value"]) for c in known}

    def beaten(place: tuple[float, float]) -> bool:
        return any(other != place and other[0] <= place[0] and other[1] <= place[1] for other in places.values())

    return [name for name, place in places.items() if not beaten(place)]


def chosen(cells: Sequence[Cell]) -> tuple[Cell | None, Cell | None]:
    """The cell to take, and the one with the best score of those that fit; they differ where evidence decided.

    Of the cells whose score cannot be told from the best (their interval holds it and they are within ``MOST``, or they are within
    ``NOISE``), the one with the strongest kind of evidence is taken, of these the one with the strictest promise, of these the one
    with the best score.
    """
    fitting = [c for c in cells if c["fits"] and c["score"]]
    if not fitting:
        fitting = [c for c in cells if c["fits"]]
        return (max(fitting, key=_strictness), None) if fitting else (None, None)
    best = max(fitting, key=lambda c: (c["score"]["value"], *_strictness(c)))
    top = best["score"]["value"]
    level = [c for c in fitting if top - c["score"]["value"] <= (MOST if c["score"]["high"] >= top else NOISE)]
    return max(level, key=lambda c: (*_strictness(c), c["score"]["value"])), best


def _strictness(cell: Mapping[str, Any]) -> tuple[float, float]:
    """The kind of evidence, and within a kind the smaller epsilon or the larger k."""
    held = cell["guarantee"]
    strength = STRENGTH[cell["assurance"]]
    within = -(held["epsilon"] or 0.0) if strength == STRENGTH["proven"] else float(held["k"] or 0.0)
    return strength, within


def ranked(cells: Sequence[Cell], first: Cell | None) -> list[Cell]:
    """In order: the one to take, those that fit by score, the others by how much they miss, those that failed."""

    def order(cell: Cell) -> tuple[float, ...]:
        score = -cell["score"]["value"] if cell["score"] else float("inf")
        return (
            bool(cell["failed"]),
            not cell["fits"],
            len(cell["misses"]),
            first is None or cell["id"] != first["id"],
            score,
            cell["risk"]["high"] if cell["risk"] else float("inf"),
        )

    return [cell | {"rank": place} for place, cell in enumerate(sorted(cells, key=order), 1)]


def nearest(cells: Sequence[Cell]) -> Cell | None:
    """Where nothing fits: the cell that misses the fewest constraints, of these the one with the best score."""
    tried = [c for c in cells if not c["failed"]]
    return min(tried, key=lambda c: (len(c["misses"]), -(c["score"]["value"] if c["score"] else 0.0)), default=None)


def strictest(cells: Sequence[Cell], constraints: Sequence[Constraint]) -> tuple[str, int]:
    """The constraint that most cells miss, and how many; the validity of the audit counts as one."""
    named = {constraint.name: constraint.expression for constraint in constraints}
    counts = Counter(miss.partition(": ")[0] for c in cells for miss in c["misses"])
    if not counts:
        return "", 0
    name, count = counts.most_common(1)[0]
    return named.get(name, name), count
