"""How much of the machine a run may use. None of it can change a result or a guarantee."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from hushtable.errors import InputError

GB = 1 << 30
UNITS = {"KB": 1 << 10, "MB": 1 << 20, "GB": GB, "TB": 1 << 40}
LEAST = 256 << 20
"""Less memory than this is not enough to start with."""
PER_ROW = 400
"""Bytes of memory that a row takes at the peak of a release in memory, about."""


@dataclass(frozen=True, kw_only=True)
class Compute:
    """Where the rows are worked on, and with how much memory and how many workers."""

    engine: str = "auto"
    """``auto``, ``memory``, ``duckdb``, ``local[n]``, ``spark://HOST:PORT`` or ``sc://HOST:PORT``."""
    memory: int | None = None
    """Bytes; half of what the machine has when absent."""
    workers: int | None = None
    """One for each core when absent."""
    work: Path | None = None
    """A folder for what does not fit into memory: private, and removed at the end. A temporary one when absent."""

    def __post_init__(self) -> None:
        """All in range."""
        if not re.fullmatch(r"auto|memory|duckdb|local\[(\d+|\*)\]|(spark|sc)://\S+", self.engine):
            raise InputError(
                f"there is no engine {self.engine!r}; there are auto, memory, duckdb, local[n], spark://HOST:PORT, sc://HOST:PORT",
                where="engine",
            )
        if self.memory is not None and self.memory < LEAST:
            raise InputError(f"takes at least {LEAST >> 20} MB, got {self.memory >> 20} MB", where="memory")
        if self.workers is not None and self.workers < 1:
            raise InputError(f"takes at least one worker, got {self.workers}", where="workers")

    @property
    def limit(self) -> int:
        """Bytes of memory."""
        return self.memory or total_memory() // 2

    @property
    def threads(self) -> int:
        """Workers."""
        return self.workers or os.cpu_count() or 1

    @property
    def on_spark(self) -> bool:
        """Whether a cluster does the work, or Spark on this machine."""
        return self.engine.startswith(("local[", "spark://", "sc://"))


@runtime_checkable
class Worked(Protocol):
    """Rows that are worked on out of memory."""

    @property
    def compute(self) -> Compute:
        """With what of the machine."""
        ...


def compute_of(*rows: object) -> Compute:
    """What the first of these rows that are out of memory are worked on with."""
    return next((own.compute for own in rows if isinstance(own, Worked)), Compute())


def total_memory() -> int:
    """Bytes of the machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def bytes_of(text: str) -> int:
    """Bytes from a text such as ``4GB`` or ``800 MB``."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]B)\s*", text.upper())
    if found is None:
        raise InputError(f"expected a size such as 4GB or 800MB, got {text!r}", where="memory")
    return int(float(found[1]) * UNITS[found[2]])
