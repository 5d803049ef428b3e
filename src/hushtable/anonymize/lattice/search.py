"""The search for the best node: branch and bound over boxes of the lattice, with a proof or a stated gap.

A *box* is the set of nodes between a low and a high corner. Rows that are suppressed at the high corner because their
class is too small (or has too few distinct secrets) are suppressed in the whole box, and the loss of what stays is at least
that of the low corner: together they bound the loss of every node of the box from below, whatever else is demanded of
the classes. A box that cannot beat the best node so far is dropped; the most promising one is cut in two, of which one half
keeps its high corner, so each cut judges one node. When no box is left the best node is proven to be the optimum, and when
time runs out the least bound of the boxes left says how far from it we may be.

Nothing is assumed about l-diversity and t-closeness beyond what ``demands`` proves, and one search answers for many k and
many suppression limits at once, because the classes of a node answer them all.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from hushtable.anonymize.lattice.demands import Judge, Judgement
from hushtable.anonymize.lattice.losses import Loss
from hushtable.anonymize.lattice.nodes import Lattice, Node

TINY = 1e-12
"""Losses closer than this are the same."""
LARGE = 100_000
"""From so many nodes on, a greedy descent gives a good first answer before the proof."""


@dataclass(frozen=True)
class Goal:
    """The best node for this k that suppresses no more than this share of the rows."""

    k: int
    limit: float
    rest: int = 0
    """If rows are suppressed at all, those of at least so many persons: they are to make classes of their own."""


@dataclass(frozen=True)
class Solution:
    """The best node for a goal, and how good it is at least; ``node`` is None if no node reaches the goal."""

    goal: Goal
    node: Node | None
    value: float
    suppressed: int
    bound: float
    """No node is better than this."""
    checks: int
    """Nodes whose classes were formed."""
    tried: tuple[tuple[float, int], ...] = field(default=(), repr=False)
    """Loss and suppressed rows of the judged nodes that no other judged one beats in both."""

    @property
    def optimal(self) -> bool:
        """Whether it is proven that no node is better."""
        return self.bound >= self.value - TINY

    @property
    def gap(self) -> float:
        """How much better a node might be."""
        return 0.0 if self.optimal else self.value - self.bound


@dataclass(frozen=True)
class _Box:
    low: Node
    high: Node
    floors: tuple[int, ...]
    """For each k: rows suppressed in all of the box."""
    whole: tuple[bool, ...]
    """For each k: whether the high corner suppresses nothing."""
    least: tuple[float, ...]
    """For each k: no node of the box loses less."""


class Search:
    """One search, with some attributes at fixed levels if wished; stopped early it answers with the best so far."""

    def __init__(
        self, lattice: Lattice, judge: Judge, loss: Loss, goals: Sequence[Goal], fixed: Mapping[int, int] | None = None
    ) -> None:
        self.lattice, self.judge, self.loss, self.goals = lattice, judge, loss, tuple(goals)
        fixed = fixed or {}
        self.low = tuple(fixed.get(a, level) for a, level in enumerate(lattice.bottom))
        self.high = tuple(fixed.get(a, level) for a, level in enumerate(lattice.top))
        self.ks = tuple(dict.fromkeys(goal.k for goal in goals))
        self.place = tuple(self.ks.index(goal.k) for goal in goals)
        self.best: list[tuple[float, int, Node | None]] = [(math.inf, 0, None)] * len(self.goals)
        self.tried: list[list[tuple[float, int]]] = [[] for _ in self.ks]
        self.judged: dict[Node, tuple[tuple[int, ...], tuple[bool, ...]]] = {}

    def run(
        self, *, seconds: float = math.inf, checks: float = math.inf, report: Callable[[float], None] = lambda share: None
    ) -> list[Solution]:
        """Search until proven, or until so many seconds or checks."""
        end = time.monotonic() + seconds
        everything = self._box(self.low, self.high)
        boxes = [(0.0, 0, everything)] if self.low != self.high else []
        if self.lattice.nodes > LARGE:
            self._dive(end)
        count = 1
        while boxes and time.monotonic() < end and len(self.judged) < checks:
            bound, _, box = heapq.heappop(boxes)
            if not self._hopes(box):
                continue
            if count % 64 == 0:
                worst = max(value for value, _, _ in self.best)
                report(min(0.99, bound / worst) if 0 < worst < math.inf else 0.0)
            for half in self._cut(box):
                if half.low != half.high and (hopes := self._hopes(half)):
                    heapq.heappush(boxes, (max(bound, min(hopes)), count, half))
                    count += 1
        left = [box for _, _, box in boxes]
        return [self._solution(g, left) for g in range(len(self.goals))]

    def _solution(self, g: int, left: Sequence[_Box]) -> Solution:
        value, suppressed, node = self.best[g]
        bound = min([value, *(box.least[self.place[g]] for box in left if self._beats(box, g))])
        tried = self.tried[self.place[g]]
        return Solution(self.goals[g], node, value, suppressed, bound, len(self.judged), _front(tried))

    def _judge(self, node: Node) -> tuple[tuple[int, ...], tuple[bool, ...]]:
        """Form the classes of a node once, and offer it to every goal."""
        if node in self.judged:
            return self.judged[node]
        classes = self.lattice.classes(node)
        floors, whole = [], []
        for at, k in enumerate(self.ks):
            judgement = self.judge.keep(classes, k)
            floors.append(judgement.floor)
            whole.append(judgement.suppressed == 0)
            value = self.loss.value(node, classes, judgement.classes, k)
            self.tried[at].append((value, judgement.suppressed))
            for g, goal in enumerate(self.goals):
                if goal.k == k and self._allowed(goal, judgement):
                    self._offer(g, value, judgement.suppressed, node)
        self.judged[node] = tuple(floors), tuple(whole)
        return self.judged[node]

    def _offer(self, g: int, value: float, suppressed: int, node: Node) -> None:
        best, fewest, held = self.best[g]
        if value < best - TINY or (value <= best + TINY and held is not None and suppressed < fewest):
            self.best[g] = (value, suppressed, node)

    def _allowed(self, goal: Goal, judgement: Judgement) -> bool:
        enough = judgement.suppressed == 0 or (goal.rest <= judgement.people and judgement.suppressed < self.lattice.rows)
        return enough and self._within(goal, judgement.suppressed)

    def _within(self, goal: Goal, suppressed: int) -> bool:
        return suppressed <= self._most(goal)

    def _most(self, goal: Goal) -> int:
        """So many rows may be suppressed."""
        return math.floor(goal.limit * self.lattice.rows + 1e-9)

    def _box(self, low: Node, high: Node) -> _Box:
        floors, whole = self._judge(high)
        least = tuple(self.loss.least(low, floor, k) for floor, k in zip(floors, self.ks, strict=True))
        return _Box(low, high, floors, whole, least)

    def _beats(self, box: _Box, g: int) -> bool:
        """Whether the box may hold a better node for a goal."""
        goal, at = self.goals[g], self.place[g]
        if not self._within(goal, box.floors[at]):
            return False
        if self._most(goal) == 0 and not box.whole[at] and self.judge.merges:
            # Merging classes that hold makes classes that hold: with nothing suppressed below, nothing would be here.
            return False
        return box.least[at] < self.best[g][0] - TINY

    def _hopes(self, box: _Box) -> list[float]:
        """The bounds of the goals for which the box may hold a better node."""
        return [box.least[self.place[g]] for g in range(len(self.goals)) if self._beats(box, g)]

    def _cut(self, box: _Box) -> list[_Box]:
        """In two, where the least loss rises most: the upper half keeps its corner, the lower one's is judged."""
        _, attribute, level = max(
            (self.loss.rise(a, low, cut), -a, -cut)
            for a, (low, high) in enumerate(zip(box.low, box.high, strict=True))
            for cut in range(low + 1, high + 1)
        )
        a, cut = -attribute, -level
        return [self._box(_with(box.low, a, cut), box.high), self._box(box.low, _with(box.high, a, cut - 1))]

    def _dive(self, end: float) -> None:
        """From the top down, always to the neighbour that loses least for the first goal, until none is better."""
        node = self.high
        while time.monotonic() < end:
            below = [_with(node, a, level - 1) for a, level in enumerate(node) if level > self.low[a]]
            for lower in below:
                self._judge(lower)
            best = self.best[0][2]
            if best is None or best == node or best not in below:
                return
            node = best


def _with(node: Node, attribute: int, level: int) -> Node:
    return (*node[:attribute], level, *node[attribute + 1 :])


def _front(tried: Sequence[tuple[float, int]]) -> tuple[tuple[float, int], ...]:
    """Those that no other beats in both."""
    front: list[tuple[float, int]] = []
    for value, suppressed in sorted(tried):
        if not front or suppressed < front[-1][1]:
            front.append((value, suppressed))
    return tuple(front)
