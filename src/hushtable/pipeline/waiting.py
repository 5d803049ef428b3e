"""Codes that are undone only after the last core, because a coder among them spans the cores in between."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hushtable.pipeline.step import Code
from hushtable.privacy.ledger import Entry
from hushtable.table.schema import Schema


@dataclass(frozen=True)
class Waiting:
    """Codes of earlier segments, and what they lead back to."""

    codes: tuple[Code, ...]
    start: Schema
    """Of the columns that they lead back to."""
    origin: Schema
    """Where the marks of these columns come from."""
    read: tuple[Entry, ...]
    """The accesses to the rows that were made until they were fitted: what they lead back to depends on them."""

    def also(self, later: Waiting) -> Waiting:
        """With codes of a later segment, which lead back to columns that these lead back from."""
        return replace(self, codes=(*self.codes, *later.codes), read=(*self.read, *later.read))

    def marks(self, last: Schema) -> Schema:
        """The schema that marks come from, with those that its columns have got by the last segment."""
        marked = (c.marked(last[c.name].undeclared) if c.name in last else c for c in self.origin)
        return replace(self.origin, columns=tuple(marked), drafted=self.origin.drafted or last.drafted)
