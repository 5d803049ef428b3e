"""What a check of a release found: what is wrong, what could not be checked, and what it rests on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hushtable.errors import Fault

ESTABLISHES = (
    "It shows that the card agrees with its own ledger, its recipe and the data. That the run was the one the card describes "
    "rests on the word of whoever made it."
)


@dataclass(frozen=True)
class Unchecked:
    """Something on a card that was not checked, and why."""

    where: str
    reason: str

    def __str__(self) -> str:
        """One line."""
        return f"{self.where}: {self.reason}"


@dataclass(frozen=True, repr=False)
class Verification:
    """Whether a release is what its card says, as far as the folder can show it."""

    faults: tuple[Fault, ...] = ()
    """Where the card is contradicted by the files, its own ledger, its recipe, the data or the signature."""
    unchecked: tuple[Unchecked, ...] = ()
    """Guarantees on the card that were not checked: the folder cannot show them, or what is installed here cannot."""
    assumed: tuple[Unchecked, ...] = ()
    """What no folder could show, of any release: the word of whoever made the card."""
    exposed: tuple[str, ...] = ()
    """What a release that is what its card says still gives away: the columns that left unchanged, and rows of real people."""

    @property
    def holds(self) -> bool:
        """Whether every guarantee on the card was checked, and nothing contradicts it."""
        return not self.faults and not self.unchecked

    def __add__(self, other: Verification) -> Verification:
        """What two checks found together."""
        return Verification(
            self.faults + other.faults, self.unchecked + other.unchecked, self.assumed + other.assumed, self.exposed + other.exposed
        )

    def __repr__(self) -> str:
        """A line for each finding, and what it all establishes."""
        lines = [f"fault: {fault}" for fault in self.faults] + [f"not checkable: {one}" for one in self.unchecked]
        beside = [*(f"but: {one}" for one in self.exposed), *(f"assumed: {one}" for one in self.assumed)]
        return "\n".join([*(lines or ["ok"]), *beside, ESTABLISHES])


def later(version: str, than: str) -> bool:
    """Whether a version of hushtable comes after another: only such a one can have worded a card in a way not known here.

    A version is what a card says of itself, and whoever edits a card may write any: one that never was is not a later one.
    """
    numbers = [re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", text, re.ASCII) for text in (version, than)]
    one, two = ([int(part) for part in number.groups()] if number else None for number in numbers)
    return one is not None and two is not None and one > two


def worded(faults: Sequence[Fault], *, reworded: bool) -> Verification:
    """Sentences of a card that are not those expected: wrong, unless a later version of hushtable worded the card."""
    if not reworded:
        return Verification(tuple(faults))
    why = "the card says that a later version of hushtable worded it; check it with that version"
    return Verification(unchecked=tuple(Unchecked(fault.where, f"{fault.reason}; {why}") for fault in faults))
