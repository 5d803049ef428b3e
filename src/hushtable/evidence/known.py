"""What an attacker is assumed to hold of a person: the quasi-identifiers, all released columns, or some that are named.

A release that keeps columns as they were can always be linked by somebody who holds all of them. That is a leak, but another one
than a release that somebody can link who knows only what neighbours and registers know: so both are tried and told apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hushtable.errors import Fault, InputError
from hushtable.table.arguments import several
from hushtable.table.columns import Role

if TYPE_CHECKING:
    # A case carries what its attackers hold.
    from hushtable.evidence.case import Case

ALL, QUASI, BOTH = "all", "quasi", "both"
_KNOWING = {ALL: "all columns", QUASI: "the quasi-identifiers"}


@dataclass(frozen=True)
class Known:
    """What one attacker holds of every person."""

    label: str = ALL
    """``all``, ``quasi``, or the columns joined by a comma: as ``Finding.known`` has it."""
    columns: tuple[str, ...] = ()
    """The columns, in the order of the table; empty for all."""

    @property
    def whole(self) -> bool:
        """Whether it is all that was released."""
        return self.label == ALL

    @property
    def noun(self) -> str:
        """To follow "knows": the attacker holds it of whoever is attacked."""
        if self.label == QUASI:
            return "a person's quasi-identifiers"
        return "a person's whole row" if self.whole else f"a person's {' and '.join(self.columns)}"


def knowing(label: str) -> str:
    """What the attacker holds, to follow the name of an attack; empty where nothing of the kind applies."""
    return f"knowing {_KNOWING.get(label, label)}" if label else ""


def parse_known(given: str | Iterable[str]) -> tuple[str, ...]:
    """``quasi``, ``all``, ``both``, or columns, which one text joins by commas."""
    texts = several(given)
    names = tuple(part.strip() for text in texts for part in str(text).split(",")) if len(texts) == 1 else tuple(map(str, texts))
    names = tuple(dict.fromkeys(name for name in names if name))
    if not names:
        raise InputError("expected quasi, all, both, or columns with commas between them", where="known")
    if len(names) > 1 and (odd := [name for name in names if name in (ALL, QUASI, BOTH)]):
        raise InputError(f"{', '.join(odd)} cannot be joined with columns", where="known")
    return names


def attackers(case: Case, known: str | Iterable[str] = BOTH) -> tuple[tuple[Known, ...], str]:
    """Who attacks this case, and why somebody who was to be tried by default is not; InputError for a column it lacks."""
    names = parse_known(known)
    quasi = tuple(name for name in case.compared if case.train.schema[name].role is Role.QUASI)
    if names == (ALL,):
        return (Known(),), ""
    if names == (QUASI,):
        if not quasi:
            raise InputError(f"{_no_quasi(case)}; name the columns that others may know, or all", where="known")
        return (Known(QUASI, quasi),), ""
    if names == (BOTH,):
        if quasi and len(quasi) < len(case.compared):
            return (Known(), Known(QUASI, quasi)), ""
        why = "all released columns are quasi-identifiers" if quasi else _no_quasi(case)
        return (Known(),), f"{why}, so the only attacker who was tried holds all released columns"
    return (_listed(case, names),), ""


def _listed(case: Case, names: Sequence[str]) -> Known:
    if strange := [name for name in names if name not in case.compared]:
        reason = "is not a column that all three tables can be compared on; or give quasi, all or both"
        raise InputError([Fault("known", f"{name!r} {reason}") for name in strange])
    columns = tuple(name for name in case.compared if name in names)
    return Known() if columns == case.compared else Known(", ".join(columns), columns)


def _no_quasi(case: Case) -> str:
    if case.train.schema.quasi:
        return "the release has none of the quasi-identifiers"
    return "the schema names no quasi-identifiers"
