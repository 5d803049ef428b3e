"""The different values of columns: counted by workers, each in its part of the rows, and brought together by the cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from hushtable.engine.spark import functions, translated
from hushtable.engine.spark_feed import changed
from hushtable.engine.spark_jobs import FAULTS, ROWS, guarded, unpacked
from hushtable.engine.spark_source import Undecoded
from hushtable.engine.spark_work import LISTED, Listing
from hushtable.errors import InputError
from hushtable.table.arrays import Integers
from hushtable.table.files import ParquetColumn


@dataclass(frozen=True, eq=False)
class Texts:
    """The different values of a column, as texts, and None where some rows have none."""

    words: NDArray[np.object_]
    counts: Integers
    """How many rows hold each."""
    first: Integers
    """The number of the first row that does, counted from 0."""

    def register(self, connection: duckdb.DuckDBPyConnection) -> None:
        """As the table ``found`` of DuckDB: w, n and first."""
        import pyarrow

        held = {"w": pyarrow.array(self.words, pyarrow.string()), "n": self.counts, "first": self.first}
        connection.register("found", pyarrow.table(held))


@dataclass(frozen=True, eq=False)
class Counted:
    """The different values of some columns, which the cluster keeps."""

    frame: Any
    sizes: Mapping[int, int]
    """How many there are, by the number of the column; a missing one left out."""
    where: str

    def of(self, numbers: Sequence[int]) -> dict[int, Texts]:
        """Those of these columns."""
        with translated(self.where):
            found = self.frame.filter(functions(self.frame).col("place").isin([*numbers])).toArrow()
        places, words = found["place"].to_numpy(), found["word"].to_numpy(zero_copy_only=False)
        held, first = (found[name].to_numpy().astype(np.int64) for name in ("held", "first"))
        return {number: Texts(words[own], held[own], first[own]) for number in numbers for own in [places == number]}


@contextmanager
def counted(
    raw: Undecoded, columns: Mapping[int, ParquetColumn], where: str, parts: Mapping[int, int] | None = None
) -> Iterator[Counted]:
    """The different values of some columns, by their numbers; of some of these one in so many, as the hashes of values say.

    InputError with the faults of workers, and where the rows are not as many as before.
    """
    with translated(where):
        sql = functions(raw.frame)
        listed = raw.frame.mapInArrow(guarded(Listing(raw.feed, columns, parts or {})), LISTED)
        frame = listed.groupBy("place", "word").agg(sql.sum("held").alias("held"), sql.min("first").alias("first")).persist()
        try:
            totals = frame.groupBy("place").agg(sql.count("word").alias("words"), sql.sum("held").alias("held")).collect()
            found = Counted(frame, {int(row.place): int(row.words) for row in totals}, where)
            if FAULTS in found.sizes:
                answers = found.of([FAULTS])[FAULTS].words
                raise InputError(dict.fromkeys(fault for answer in answers for fault in unpacked(answer.encode())))
            if found.sizes.get(ROWS, 0) > 1:
                raise InputError(
                    "its workers have several versions of DuckDB, which pick values differently: give them one", where=where
                )
            if sum(int(row.held) for row in totals if row.place == ROWS) != raw.rows:
                raise changed(where)
            yield found
        finally:
            frame.unpersist()
