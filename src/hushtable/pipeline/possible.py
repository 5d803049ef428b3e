"""Rows that can exist: what a model draws, without the combinations that the schema declares to be impossible.

That a row is drawn again because it breaks a public rule is post-processing of the model and of fresh randomness: no private row is
read, nothing is spent, and anybody may know how often it happened.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hushtable.table.broken import breaks_any
from hushtable.table.rules import Zero
from hushtable.table.table import Table

EXCESS = 100
"""At most so many rows are drawn for each that is wanted; then those that are possible are all there are."""
BATCH = 1_000_000
"""The most rows of one draw beyond the first."""


def only_possible(table: Table, zeros: Sequence[Zero], draw: Callable[[int], Table]) -> tuple[Table, dict[str, Any]]:
    """As many rows as the table has, none of which breaks a zero, and what became of the others, for the card.

    ``draw`` draws more rows as those of the table were drawn. Every row is drawn until it is possible, so the result follows the
    model's distribution given that no zero is broken. Where hardly any row is possible there are fewer of them.
    """
    zeros = [zero for zero in zeros if zero.columns <= set(table.schema.names)]
    if not zeros or not table.rows:
        return table, {}
    wanted, drawn = table.rows, table.rows
    parts = [table.take(~breaks_any(table, zeros))]
    while (held := sum(part.rows for part in parts)) < wanted and drawn < EXCESS * wanted:
        # As many as are likely to be enough, by what was possible so far.
        likely = math.ceil(1.1 * (wanted - held) * drawn / max(held, 1)) + 10
        more = draw(min(likely, BATCH, EXCESS * wanted - drawn))
        drawn += more.rows
        parts.append(more.take(~breaks_any(more, zeros)))
        if not more.rows:
            break
    possible = Table.concat(parts) if len(parts) > 1 else parts[0]
    result: dict[str, Any] = {"drawn": drawn, "impossible": drawn - possible.rows}
    if possible.rows < wanted:
        result["note"] = (
            f"of {drawn:,} rows that the model drew only {possible.rows:,} are possible by the declared zeros, where {wanted:,} "
            "were wanted"
        )
    return possible.take(np.arange(min(wanted, possible.rows))), result
