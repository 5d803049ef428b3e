"""Rows of a fitted model, drawn block by block, each from a generator of its own.

So the rows depend on the seed alone, and not on how much memory there is or who draws which block; and a table that was drawn
never has to lie in memory as a whole. Rows that a differentially private model drew are post-processing in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hushtable.pipeline.fitted import Fitted
from hushtable.pipeline.publish import own_domains, rounded
from hushtable.table.schema import Schema
from hushtable.table.table import Table

BLOCK = 1 << 16
"""Rows of a block."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """A table that is still to be drawn."""

    fitted: Fitted
    rows: int
    """How many are asked for; fewer are drawn where hardly any is possible."""
    seed: int

    @property
    def schema(self) -> Schema:
        """Of the rows as they leave."""
        return own_domains(self._block(0, 1)[0]).schema

    def blocks(self, first: int = 0) -> Iterator[Table]:
        """The blocks in order, from this one on."""
        for table, _ in self._blocks(first):
            yield table

    def table(self, report: Callable[[float], None] = lambda share: None) -> tuple[Table, dict[str, Any]]:
        """All of it, and what became of rows that the schema declares impossible."""
        parts, redrawn = list[Table](), dict[str, Any]()
        for block, again in self._blocks(0):
            parts.append(block)
            for name, value in again.items():
                redrawn[name] = redrawn.get(name, 0) + value if isinstance(value, int) else value
            report(min(1.0, len(parts) * BLOCK / self.rows))
        return Table.concat(parts), redrawn

    def _blocks(self, first: int) -> Iterator[tuple[Table, dict[str, Any]]]:
        for number in range(first, -(-self.rows // BLOCK)):
            yield self._block(number, min(BLOCK, self.rows - number * BLOCK))

    def _block(self, number: int, rows: int) -> tuple[Table, dict[str, Any]]:
        rng = np.random.default_rng([self.seed, number])
        table, redrawn = self.fitted.possible(rounded(self.fitted.undone(rows, rng)), rng)
        return table.take(rng.permutation(table.rows)), redrawn


def drawn(fitted: Fitted, rows: int | None, rng: np.random.Generator) -> Drawn | None:
    """The blocks of so many rows (of as many as the model says without a number); None where they are one block.

    Nor is there one where the model does not say how many rows it draws, or where something was read off the rows: what a block
    holds of it would differ from block to block.
    """
    count = getattr(fitted.model, "size", None) if rows is None else rows
    declared = not fitted.origin.undeclared and not fitted.schema.undeclared
    if count is None or count <= BLOCK or not declared or not hasattr(fitted.model, "size"):
        return None
    return Drawn(fitted, count, int(rng.integers(2**63)))
