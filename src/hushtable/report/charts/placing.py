"""Where to write names beside marks, so that none covers a mark or another name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hushtable.report.words import wide


@dataclass(frozen=True)
class Box:
    """A rectangle; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether the two have an inner point in common."""
        return self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom

    def inside(self, other: Box) -> bool:
        """Whether it lies within the other."""
        return self.left >= other.left and self.right <= other.right and self.top >= other.top and self.bottom <= other.bottom


@dataclass(frozen=True)
class Wish:
    """A mark and what to write beside it: the first of the texts that finds room."""

    x: float
    y: float
    texts: Sequence[str]
    stretch: float = 1.0
    """How much wider than usual its letters are."""
    insists: bool = False
    """Whether it rather crosses a line than be shortened."""


@dataclass(frozen=True)
class Place:
    """Where a text starts, on its base line, and what it reads."""

    x: float
    y: float
    text: str


def place(
    wishes: Iterable[Wish], frame: Box, *, marks: Sequence[Box], lines: Sequence[Box] = (), size: float = 12.0, gap: float = 8.0
) -> list[Place | None]:
    """A place for each wish, the earlier ones first; None where there is no room at all.

    No text meets a mark or another text; a line is crossed only where there is no other room.
    """
    taken: list[Box] = []
    places: list[Place | None] = []
    for wish in wishes:
        spot = None
        for text, met in _tries(wish, (*marks, *lines), marks):
            spots = (s for s in _spots(wish, wish.stretch * wide(text, size), size, gap) if s.inside(frame))
            free = next((s for s in spots if not any(s.meets(box) for box in (*met, *taken))), None)
            if free:
                # A little air, so that two names never read as one.
                taken.append(Box(free.left - 4, free.top, free.right + 4, free.bottom))
                spot = Place(free.left, free.bottom - 0.28 * size, text)
                break
        places.append(spot)
    return places


def _tries(wish: Wish, everything: Sequence[Box], marks: Sequence[Box]) -> list[tuple[str, Sequence[Box]]]:
    """What to write and what it must not meet, the best first."""
    if wish.insists:
        return [(text, met) for text in wish.texts for met in (everything, marks)]
    return [*((text, everything) for text in wish.texts), *((text, marks) for text in reversed(wish.texts))]


def _spots(wish: Wish, width: float, size: float, gap: float) -> Iterable[Box]:
    """Right of the mark, left, above, below, the corners, then the same a little further away."""
    half, high = width / 2, 1.15 * size
    for away in (gap, 1.7 * gap, 2.6 * gap):
        corner = 0.6 * away
        for left, top in (
            (wish.x + away, wish.y - high / 2),
            (wish.x - away - width, wish.y - high / 2),
            (wish.x + corner, wish.y - corner - high),
            (wish.x + corner, wish.y + corner),
            (wish.x - corner - width, wish.y - corner - high),
            (wish.x - corner - width, wish.y + corner),
            (wish.x - half, wish.y - away - high),
            (wish.x - half, wish.y + away),
        ):
            yield Box(left, top, left + width, top + high)
