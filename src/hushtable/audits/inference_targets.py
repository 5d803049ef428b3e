"""What attribute inference is about: the column to guess, the known columns, when a guess is right, and blind guessing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hushtable.errors import Fault, InputError
from hushtable.evidence import known as knowledge_of
from hushtable.evidence.finding import Finding, Risk, uncomputed
from hushtable.evidence.looks import Offered, accepted, right
from hushtable.evidence.reading import alike
from hushtable.table.arrays import Floats, Mask
from hushtable.table.columns import FREE, NUMBERS, Bounds, Column, Kind, Levels, Role

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

DATE_TOLERANCE = 0.01
"""A guessed date is right within this share of its column's range: a date has no zero that a share could refer to."""
EVERYTHING = "all other columns"
QUASI = "quasi columns"


@dataclass(frozen=True, eq=False)
class Secret:
    """A column to guess, as numbers that mean the same in all tables: levels by code, NaN where missing.

    A guess g of a truth t is right if |g - t| <= share |t| + margin (both 0 for levels), or if both are missing.
    """

    name: str
    truth: dict[str, Floats]
    """Of ``train`` and ``control``."""
    offered: Floats
    """Of each released row, a generalized cell read as a value drawn from it."""
    share: float
    margin: float
    counted: dict[str, Floats] | None = None
    """For each person the share of all released values that is right, where these are not all in memory."""

    @classmethod
    def look(cls, case: Case, name: str, tolerance: float) -> Offered:
        """What is counted of a release that is larger than memory."""
        column = case.train.schema[name]
        number = column.kind in NUMBERS and column.kind is not Kind.DATE
        margin = DATE_TOLERANCE * case.encoding((name,)).ranges[name] if column.kind is Kind.DATE else 0.0
        return Offered(name, tolerance if number else 0.0, margin)

    @classmethod
    def of(cls, case: Case, name: str, tolerance: float) -> Secret:
        """The column as a secret of this case; ``tolerance`` is the share by which a number may be missed."""
        look = cls.look(case, name, tolerance)
        train, control, offered = alike([case.train, case.control, case.ordinary()], name)
        return cls(name, {"train": train, "control": control}, offered, look.share, look.margin, case.offered(look))

    @property
    def constant(self) -> bool:
        """Whether all people have one value, so that there is nothing to guess."""
        return len(np.unique(np.concatenate(list(self.truth.values())))) < 2

    def hits(self, which: str, guess: Floats) -> Mask:
        """Whose guess is right."""
        low, high = self._accepted(which)
        return ((low <= guess) & (guess <= high)) | (np.isnan(low) & np.isnan(guess))

    def blind(self, which: str) -> Floats:
        """For each person the chance that the value of a random released row is right."""
        if self.counted is not None:
            return self.counted[which]
        values = np.sort(self.offered[~np.isnan(self.offered)])
        return right(values, len(self.offered) - len(values), *self._accepted(which)) / len(self.offered)

    def best_constant(self) -> float:
        """The share of training rows for which the best one guess for all is right."""
        low, high = (np.sort(ends[~np.isnan(ends)]) for ends in self._accepted("train"))
        depth = np.searchsorted(low, low, side="right") - np.searchsorted(high, low, side="left")
        rows = len(self.truth["train"])
        return max(int(depth.max(initial=0)), rows - len(low)) / rows

    def _accepted(self, which: str) -> tuple[Floats, Floats]:
        """The least and the greatest guess that is right: one rule for scoring and for counting by sorting."""
        return accepted(self.truth[which], self.share, self.margin)


@dataclass(frozen=True)
class Knowledge:
    """What an attacker knows of a person, and which column is guessed from it."""

    secret: str
    label: str
    columns: tuple[str, ...]

    @property
    def scope(self) -> str:
        """The secret, and what it is guessed from unless that is everything."""
        return self.secret if self.label == EVERYTHING else f"{self.secret} from {self.label}"

    @property
    def known(self) -> str:
        """As in ``Finding``."""
        labels = {EVERYTHING: knowledge_of.ALL, QUASI: knowledge_of.QUASI}
        return labels.get(self.label, ", ".join(self.columns))

    @property
    def phrase(self) -> str:
        """To follow "an attacker who"."""
        return f"knows every column but {self.secret}" if self.label == EVERYTHING else f"knows {listed(self.columns)}"


def knowledge(case: Case, secret: str, known: Sequence[tuple[str, ...]] = ()) -> list[Knowledge]:
    """All other columns; the quasi columns where there are some; the sets that were asked for. None of them twice.

    Of a case that is attacked by somebody who holds some columns only those; by one who holds all, not the quasi columns.
    """
    if case.limited and case.known:
        held = tuple(name for name in case.known.columns if name != secret)
        label = QUASI if case.known.label == knowledge_of.QUASI else ", ".join(held)
        return [Knowledge(secret, label, held)] if held else []
    everything = tuple(name for name in case.columns if name != secret)
    quasi = tuple(name for name in everything if case.train.schema[name].role is Role.QUASI and case.known is None)
    sets = {everything: EVERYTHING}
    for label, columns in ((QUASI, quasi), *((", ".join(columns), columns) for columns in known)):
        if columns and secret not in columns:
            sets.setdefault(columns, label)
    return [Knowledge(secret, label, columns) for columns, label in sets.items()]


def secrets(case: Case, named: Sequence[str], attack: str) -> tuple[tuple[str, ...], list[Finding]]:
    """The columns to guess: those named, else secrets and targets, else the last one; and why some cannot be."""
    schema = case.train.schema
    unknown = [Fault("secrets", f"there is no column {name!r}") for name in named if name not in schema]
    if unknown:
        raise InputError(unknown)
    wanted = tuple(named) or schema.role(Role.SECRET, Role.TARGET) or case.compared[-1:]
    reasons = {name: _refusal(case, name) for name in wanted}
    rows = case.train.rows
    refused = [uncomputed(attack, rows, f"{n} {why}", scope=n, risk=Risk.INFERENCE) for n, why in reasons.items() if why]
    return tuple(name for name, why in reasons.items() if not why), refused


def column_to_guess(case: Case, named: str, kinds: Collection[Kind]) -> str | None:
    """The column named, else the first declared secret, else the first target, else the last; None where none can vary."""
    if named:
        if named not in case.columns or not _varies(case.train.schema[named]) or case.train.schema[named].kind not in kinds:
            raise InputError("is not among the released columns whose value could be guessed here", where=f"secret {named}")
        return named
    columns = [case.train.schema[name] for name in case.columns]
    fit = [column for column in columns if column.kind in kinds and _varies(column)]
    for role in (Role.SECRET, Role.TARGET):
        if chosen := [column.name for column in fit if column.role is role]:
            return chosen[0]
    return fit[-1].name if fit else None


def column_sets(case: Case, items: Sequence[str], knob: str) -> list[tuple[str, ...]]:
    """Items such as ``age+sex`` as columns, in the order of the table; InputError lists what is no compared column."""
    sets = [{item} if item in case.columns else {part.strip() for part in item.split("+")} for item in items]
    strange = sorted({name for names in sets for name in names} - set(case.columns))
    if strange:
        reason = "is not a column that all three tables can be compared on; columns are joined by +"
        raise InputError([Fault(knob, f"{name!r} {reason}") for name in strange])
    return [tuple(name for name in case.columns if name in names) for names in sets]


def listed(columns: Sequence[str], most: int = 5) -> str:
    """Names in words, the first few where there are many."""
    if len(columns) > most:
        return f"{', '.join(columns[: most - 1])} and {len(columns) - most + 1} more columns"
    return " and ".join(filter(None, (", ".join(columns[:-1]), columns[-1])))


def _refusal(case: Case, name: str) -> str:
    """Why a column cannot be guessed, or nothing."""
    column = case.train.schema[name]
    if name not in case.release.schema:
        return "is not in the release, so nothing can be learned about it"
    if name not in case.compared:
        if column.kind in FREE:
            return f"is {column.kind}: there is no rule by which a guess of it would be right"
        return f"is {column.role}: it says who somebody is, and is not guessed as a secret"
    if column.generalized or case.control.schema[name].generalized:
        return "is generalized in the original rows, so the true value is not known"
    return ""


def _varies(column: Column) -> bool:
    """Whether its domain has two values or more."""
    if isinstance(column.domain, Levels):
        return len(column.domain.levels) > 1
    return isinstance(column.domain, Bounds) and column.domain.high > column.domain.low
