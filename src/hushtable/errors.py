"""The errors a user can meet. Each says what it got, what it expected and where.

The exit code of the command line is part of the error: 2 for input we cannot use,
3 for a guarantee that cannot be given.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with an input: where it is, what is wrong, and how often.

    ``rows`` are 1-based positions in the data (the header is not counted). ``values`` holds
    examples only where showing them is harmless; a value of a secret or an identifier
    never enters a fault.
    """

    where: str
    reason: str
    count: int = 1
    rows: tuple[int, ...] = ()
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        """One line: place, reason, how many, examples."""
        text = f"{self.where}: {self.reason}"
        if self.values:
            text += " (" + ", ".join(repr(v) for v in self.values) + ")"
        if self.rows:
            shown = ", ".join(str(r) for r in self.rows)
            word = "row" if self.count == 1 else "rows"
            text += f"; {self.count:,} {word}, e.g. {shown}" if self.count > len(self.rows) else f"; {word} {shown}"
        return text


class HushError(Exception):
    """Anything hushtable refuses to do, with the exit code a command ends with."""

    exit_code = 2


class InputError(HushError):
    """The input cannot be used; every fault is listed at once."""

    def __init__(self, faults: Iterable[Fault] | Fault | str, *, where: str = "input") -> None:
        if isinstance(faults, str):
            faults = (Fault(where, faults),)
        elif isinstance(faults, Fault):
            faults = (faults,)
        self.faults: tuple[Fault, ...] = tuple(faults)
        super().__init__("\n".join(str(f) for f in self.faults))


class PlanError(HushError):
    """A step cannot work on this schema; found before any row is read."""


class GuaranteeRefused(PlanError):
    """The step could run, but the guarantee that was asked for would not hold."""

    exit_code = 3


class BudgetExceeded(HushError):
    """A query of the rows would overdraw the privacy budget; no row has moved."""

    exit_code = 3


class MissingExtra(HushError):
    """An optional library is needed; the message is the one command to type."""

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {library}, which is not installed: {install(extra)}")


def install(extra: str) -> str:
    """The command that installs an extra of this package."""
    return f"pip install 'hushtable[{extra}]'"
