"""Raw rows that Spark's workers read, for whoever drafts a schema of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from pathlib import Path

import duckdb
import numpy as np

from hushtable.engine.compute import Compute
from hushtable.engine.draft import Counts
from hushtable.engine.spark import functions, translated
from hushtable.engine.spark_feed import Files
from hushtable.engine.spark_jobs import answers
from hushtable.engine.spark_read import decoded
from hushtable.engine.spark_rows import Clustered
from hushtable.engine.spark_source import Undecoded, undecoded
from hushtable.engine.spark_words import Texts, counted
from hushtable.engine.spark_work import Beginning
from hushtable.table.files import ParquetColumn, plain
from hushtable.table.layout import Layout
from hushtable.table.schema import Schema

TOGETHER = 1 << 20
"""Different values that are fetched at a time, about."""


@contextmanager
def on_cluster(given: str | Path, compute: Compute, layout: Layout) -> Iterator[OnCluster]:
    """The rows that a name stands for; what the cluster keeps of them is let go at the end."""
    with ExitStack() as held:
        yield OnCluster(undecoded(given, compute, layout), compute, held)


@dataclass(frozen=True, eq=False)
class OnCluster:
    """Rows that Spark's workers read."""

    raw: Undecoded
    compute: Compute
    held: ExitStack = field(repr=False)

    @property
    def where(self) -> str:
        """Their name."""
        return self.raw.feed.name

    @property
    def names(self) -> Sequence[str]:
        """Of the columns."""
        return [column.name for column in self.raw.columns]

    @property
    def rows(self) -> int:
        """How many there are."""
        return self.raw.rows

    @property
    def text(self) -> bool:
        """Whether they come from text files."""
        return isinstance(self.raw.feed, Files) and self.raw.feed.source.form == "csv"

    @cached_property
    def columns(self) -> Mapping[int, ParquetColumn]:
        """By their numbers."""
        return dict(enumerate(self.raw.columns))

    @cached_property
    def first(self) -> Sequence[str]:
        """The cells of the first row."""
        with translated(self.where):
            begin = self.raw.frame.filter(functions(self.raw.frame).col("id") == 0)
        found = answers(begin, Beginning(self.raw.feed, [column.pick for column in self.raw.columns]), self.where)
        return [answer.decode() for _, answer in sorted(found)]

    def sizes(self, part: int) -> Sequence[int]:
        """How many different values each column has, of one in so many."""
        with counted(self.raw, self.columns, self.where, dict.fromkeys(self.columns, part)) as found:
            return [found.sizes.get(number, 0) for number in self.columns]

    def different(self, parts: Sequence[int]) -> Callable[[int], Counts]:
        """The different values of each column by its number, of one in so many."""
        found, ready = (
            self.held.enter_context(
                counted(self.raw, self.columns, self.where, {number: part for number, part in enumerate(parts) if part > 1})
            ),
            dict[int, Texts](),
        )

        def of(number: int) -> Counts:
            if number not in ready:
                ready.clear()
                ready.update(found.of(self._together(number, found.sizes)))
            return self._typed(number, ready.pop(number))

        return of

    def read(self, schema: Schema, where: str) -> Clustered:
        """The rows under a schema."""
        return decoded(self.raw, schema, self.compute, where)

    def _together(self, number: int, sizes: Mapping[int, int]) -> list[int]:
        """The columns from one on that are fetched with it."""
        totals = accumulate(sizes.get(own, 0) for own in range(number, len(self.columns)))
        return [own for own, total in enumerate(totals, number) if own == number or total <= TOGETHER]

    def _typed(self, number: int, texts: Texts) -> Counts:
        with closing(duckdb.connect()) as connection:
            texts.register(connection)
            typed = connection.execute(f"SELECT w::{self.columns[number].kind} AS v, n FROM found ORDER BY first").fetchnumpy()
        return plain(typed["v"]), np.asarray(typed["n"]).astype(np.int64)
