"""The choice: which cells keep the conditions, which lie on the front of risk and utility, their order, and which to take.

Proven, verified and measured are three kinds of evidence and are never added up. Where conditions say what is wanted, a cell is
chosen by its score among those that keep all of them, and only where scores cannot be distinguished does the kind of evidence
decide. Where none does, the knee of the front is taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hushtable.api.compare.cell import Cell, Miss, MissKind
from hushtable.api.compare.knee import alike, knee
from hushtable.evidence.condition import Condition, Outcome, Promised

if TYPE_CHECKING:
    from hushtable.api.compare.axis import Axis
    from hushtable.evidence.finding import Finding

VALID = "valid audit"
"""The condition that every cell must keep: an audit that counts."""


def judge(cell: Cell, runs: Sequence[Sequence[Finding]], conditions: Sequence[Condition]) -> Cell:
    """The cell with the conditions it misses. A void audit keeps none of them."""
    if cell.failed:
        return cell
    misses = [Miss(VALID, reason, MissKind.VOID) for reason in cell.void[:1]]
    promised = Promised(cell.assurance, cell.guarantee.epsilon, cell.guarantee.k)
    score = None if cell.score is None else cell.score.lower
    for condition in conditions:
        outcome = condition.judge_runs(runs, promised, score)
        if not outcome.holds:
            misses.append(Miss(condition.name, outcome.reason, _kind(outcome)))
    return replace(cell, fits=not misses, misses=tuple(misses))


def _kind(outcome: Outcome) -> MissKind:
    if outcome.unknown:
        return MissKind.UNKNOWN
    return MissKind.BLIND if outcome.blind else MissKind.LIMIT


def front(cells: Sequence[Cell]) -> list[str]:
    """The cells that no other beats: none has as small an upper bound of what attacks gain and as large a score, and one better.

    Only cells whose audit is valid take part; of cells that are equal in both, all or none are on the front.
    """
    places = {
        c.id: (c.worst.upper, -c.score.value)
        for c in cells
        if not c.failed and not c.void and c.worst is not None and c.score is not None
    }

    def beaten(place: tuple[float, float]) -> bool:
        return any(other != place and other[0] <= place[0] and other[1] <= place[1] for other in places.values())

    return [name for name, place in places.items() if not beaten(place)]


def undecided(conditions: Sequence[Condition]) -> bool:
    """Whether nothing was asked for that says what is wanted: no condition, or on alarms alone."""
    return all(condition.name == "alarms" for condition in conditions)


def chosen(cells: Sequence[Cell], conditions: Sequence[Condition]) -> tuple[Cell | None, Cell | None]:
    """The cell to take, and the one with the best score of those that fit; they differ where the promise decided.

    Without conditions it is the knee of the front. With conditions, of the cells whose score cannot be distinguished from the
    best the one with the strongest kind of evidence is taken, of these the one with the strictest promise, of these the one with
    the best score.
    """
    fitting = [c for c in cells if c.fits]
    scored = [(c, c.score) for c in fitting if c.score is not None]
    if not scored:
        return max(fitting, key=lambda c: c.strictness, default=None), None
    best, top = max(scored, key=lambda pair: (pair[1].value, *pair[0].strictness))
    if undecided(conditions):
        return knee([c for c, _ in scored]), best
    level = [(c, s) for c, s in scored if alike(s, top)]
    return max(level, key=lambda pair: (*pair[0].strictness, pair[1].value))[0], best


def ranked(cells: Sequence[Cell], first: Cell | None) -> list[Cell]:
    """In order: the one to take, those that fit by score, the others by how much they miss, those that failed."""

    def order(cell: Cell) -> tuple[float, ...]:
        return (
            bool(cell.failed),
            not cell.fits,
            len(cell.misses),
            first is None or cell.id != first.id,
            float("inf") if cell.score is None else -cell.score.value,
            float("inf") if cell.worst is None else cell.worst.upper,
        )

    return [replace(cell, rank=place) for place, cell in enumerate(sorted(cells, key=order), 1)]


def strictest(cells: Sequence[Cell], conditions: Sequence[Condition]) -> tuple[str, int]:
    """The condition that most cells miss, and how many; the validity of the audit counts as one."""
    expressions = {condition.name: condition.expression for condition in conditions}
    counts = Counter(miss.condition for c in cells for miss in c.misses)
    if not counts:
        return "", 0
    name, count = counts.most_common(1)[0]
    return expressions.get(name, name), count


@dataclass(frozen=True)
class Rivals:
    """The cells that would be chosen if something else were asked."""

    barred: Cell | None = None
    """A better score than the chosen one's (the best of all where none is chosen), which misses a condition."""
    near: tuple[Cell, ...] = ()
    """Cells that fit, and whose score cannot be distinguished from that of the chosen one."""
    firmer: Cell | None = None
    """The best of those that fit with a stronger kind of evidence."""
    safer: Cell | None = None
    """The best of those on the front that fit, promise as much, and from which attacks gain less at most."""


def rivals(cells: Sequence[Cell], take: Cell | None, axis: Axis, named: Sequence[Cell] = ()) -> Rivals:
    """What else would be chosen, beyond the cells that the recommendation has ``named`` itself."""
    others = [c for c in cells if not c.failed and c is not take and c.score is not None]
    barred = axis.best([c for c in others if not c.fits and (take is None or axis.beats(c, take))])
    if barred in named:
        barred = None
    if take is None:
        return Rivals(barred)
    fitting = [c for c in others if c.fits]
    near = tuple(c for c in fitting if c.score and take.score and alike(c.score, take.score))
    stronger = [c for c in fitting if c.strength > take.strength]
    firmer = None if any(c in named for c in stronger) else axis.best(stronger)
    bound = None if take.worst is None else take.worst.upper
    strict = [c for c in fitting if c.front and not c.void and c.strictness >= take.strictness]
    safer = axis.best([c for c in strict if c.worst and bound is not None and c.worst.upper < bound])
    return Rivals(barred, near, firmer, None if safer is firmer or safer in named else safer)
