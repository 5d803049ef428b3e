"""Records at risk beside the released rows that give them away, as lines for whoever holds the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hushtable.display import listed
from hushtable.report.words import firsts, number, share

if TYPE_CHECKING:
    from hushtable.api.records import ExposedRecord
    from hushtable.evidence.beside import Side

HEADS = ["training row", "risk at least", "attacks", "released row", "agrees in"]
NONE = "no column that both have"


def record_rows(found: list[ExposedRecord]) -> list[list[str]]:
    """A line for each released row that gives a record away; one line where none does by itself."""
    rows = []
    for one in found:
        first = [number(one.record.row), share(one.record.risk), number(len(one.record.attacks))]
        if not one.pairs:
            rows.append([*first, "", ", ".join(hit.name for hit in firsts(one.record.attacks, lambda hit: hit.name))])
        for place, pair in enumerate(one.pairs):
            cells = ["", "", ""] if place else first
            rows.append([*cells, number(pair.released), listed(pair.agreeing, 8) or NONE])
    return rows


def side_row(side: Side) -> list[str]:
    """One column of the two rows."""
    return [side.column, str(side.agreement), *("missing" if text is None else text for text in (side.ours, side.theirs))]
