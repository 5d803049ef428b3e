"""The power of an audit: which planted leaks it notices. That nothing was found means something only beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hushtable.table import lenient


@dataclass(frozen=True, kw_only=True)
class Power:
    """What was planted in a copy of the release, and how many tests raised an alarm every time."""

    shares: tuple[float, ...]
    """Shares of the released rows that were replaced by training rows, the smallest first."""
    noticed: tuple[int, ...]
    """How many tests noticed each of them."""
    tests: int
    smallest: float | None = None
    """The smallest share that the audit as a whole noticed; None if it noticed none."""
    parts: Mapping[str, float | None] = field(default_factory=dict)
    """For each leak of a part of a row, the smallest share that was noticed; None if none was."""

    @property
    def largest(self) -> float:
        """The largest share that was planted."""
        return max(self.shares, default=0.1)

    def to_json(self) -> dict[str, Any]:
        """As ``audit.json`` holds it."""
        return {
            "shares": list(self.shares),
            "audit": self.smallest,
            "tests": self.tests,
            "noticed": list(self.noticed),
            "parts": dict(self.parts),
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Power:
        """Read it back; what is missing is empty."""
        return cls(
            shares=tuple(lenient.finite(share) or 0.0 for share in plain.get("shares") or ()),
            noticed=tuple(lenient.whole(count) or 0 for count in plain.get("noticed") or ()),
            tests=lenient.whole(plain.get("tests")) or 0,
            smallest=lenient.finite(plain.get("audit")),
            parts={name: lenient.finite(share) for name, share in lenient.mapping(plain.get("parts")).items()},
        )
