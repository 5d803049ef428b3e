"""Rows that Spark's workers read, under a schema: decoded once, into blocks that the cluster keeps.

They are decoded as on one machine: the words of a column are listed first, and what each means is said here, once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import NDArray

from hushtable.display import Progress, silent
from hushtable.engine import decoders
from hushtable.engine.compute import Compute
from hushtable.engine.decode import SHOWN, Decoder, Different, Each, Numbers, Words
from hushtable.engine.decoders import PLAIN, as_numbers, decoder_of, listed
from hushtable.engine.duckdb import READING, require_shape
from hushtable.engine.spark import translated
from hushtable.engine.spark_feed import Given, changed
from hushtable.engine.spark_jobs import answers, guarded, unpacked
from hushtable.engine.spark_rows import Blocks, Clustered
from hushtable.engine.spark_source import Undecoded, undecoded
from hushtable.engine.spark_words import Texts, counted
from hushtable.engine.spark_work import Bounding, Decoding, First, block_types
from hushtable.engine.store import stored
from hushtable.errors import InputError
from hushtable.table.arrays import Mask
from hushtable.table.columns import Bounds
from hushtable.table.files import ParquetColumn
from hushtable.table.layout import Layout
from hushtable.table.schema import Schema


def read(
    given: str | Path,
    schema: Schema,
    compute: Compute,
    layout: Layout | None = None,
    progress: Progress = silent,
    least: int = 2,
    *,
    generalized: bool = False,
) -> Clustered:
    """The rows of a source under a schema, kept by the cluster; InputError lists every fault of every column."""
    progress(READING, 0.0)
    rows = decoded(undecoded(given, compute, layout or Layout()), schema, compute, str(given), least, generalized=generalized)
    progress(READING, 1.0)
    return rows


def decoded(
    raw: Undecoded, schema: Schema, compute: Compute, where: str, least: int = 2, *, generalized: bool = False
) -> Clustered:
    """Raw rows under a schema; faults of their columns are reported of ``where``."""
    names = [column.name for column in raw.columns]
    require_shape(names, raw.rows, schema, where, least)
    if isinstance(raw.feed, Given) and len(stored(schema)) < len(schema.names):
        # Spark may hand out its rows in another order when it is asked again, and keys of other rows.
        needed = [column.pick for column in raw.columns if column.name in schema]
        with translated(where):
            raw = replace(raw, frame=raw.frame.select(*needed).persist())
    blocks = _Reading(raw, schema, where, generalized).blocks()
    return Clustered(blocks.schema, lambda: blocks, compute, ignored=tuple(name for name in names if name not in schema))


@dataclass(frozen=True, eq=False)
class _Reading:
    """One reading of raw rows under a schema."""

    raw: Undecoded
    schema: Schema
    where: str
    """What faults are reported of."""
    generalized: bool
    expressions: dict[str, str] = field(default_factory=dict)

    @cached_property
    def columns(self) -> Mapping[str, ParquetColumn]:
        """Of the source, by name."""
        return {column.name: column for column in self.raw.columns}

    def blocks(self) -> Blocks:
        """Decode all rows; the faults of all columns come at once, and before that nothing is handed out."""
        cells = {name: decoder_of(self, self.schema[name]) for name in stored(self.schema)}
        # Free text is read where it is needed; that it is there, if it must be, is seen now.
        checked = {c.name: Each(self.schema, c, self.where) for c in self.schema if c.name not in cells and c.required}
        own: dict[str, Decoder] = cells | checked
        by_words = {name for name, decoder in own.items() if isinstance(decoder, Words)}
        picks = {name: self.expressions.get(name, self.columns[name].pick) for name in own if name not in by_words}
        words = {name: (self._number(name), self.columns[name], self._present(name)) for name in by_words}
        free = [name for name in self.schema.names if name not in cells] if isinstance(self.raw.feed, Given) else []
        unread = {name: decoder.unread for name, decoder in own.items() if isinstance(decoder, Words)}
        schema = replace(self.schema, columns=tuple(cells[c.name].column if c.name in cells else c for c in self.schema))
        with translated(self.where):
            work = Decoding(self.raw.feed, own, tuple(cells), picks, words, {name: self.columns[name].pick for name in free})
            frame = self.raw.frame.mapInArrow(guarded(work), block_types(len(cells))).persist()
        blocks = Blocks(
            schema,
            frame,
            self.raw.parts,
            self.where,
            self.raw.feed,
            picks | {c.name: c.pick for c in self.raw.columns},
            self.raw.frame,
        )
        notes = blocks.listed()
        for number, note in notes:
            if number < 0:
                raise InputError(unpacked(note.partition(b"\0")[2]))
        for _, note in notes:
            found = json.loads(note) if note else {"faults": {}, "unread": {}, "free": {}}
            for name, faults in found["faults"].items():
                own[name].faults.add(unpacked(faults.encode()))
            for name, count in found["unread"].items():
                unread[name] -= count
            for name, known in found["free"].items():
                blocks.free.setdefault(name, {}).update({int(start): checksum for start, checksum in known.items()})
        if faults := [fault for c in self.schema if c.name in own for fault in own[c.name].faults.found.values()]:
            raise InputError(faults)
        if any(unread.values()) or blocks.rows != self.raw.rows:
            raise changed(self.where)
        return blocks

    def bounds(self, decoder: Numbers | Each) -> Sequence[Bounds]:
        """The least and the greatest number of each part of the rows that has any."""
        name = decoder.column.name
        work = Bounding(self.raw.feed, decoder, self.expressions.get(name, self.columns[name].pick))
        found = [json.loads(answer) for _, answer in answers(self.raw.frame, work, self.where)]
        return [Bounds(low, high, observed=True) for low, high in found]

    def values(self, own: ParquetColumn) -> Different | None:
        """The different values of a column; None where there are too many."""
        if own.name not in self._words:
            return None
        number = self._number(own.name)
        with closing(duckdb.connect()) as connection:
            self._words[own.name].register(connection)
            connection.execute(f"CREATE TEMP TABLE words{number} AS SELECT w, w::{own.kind} AS v, n FROM found")
            values, counts = listed(connection, number)

        def first(wrong: Mask) -> tuple[int, ...]:
            work = First(self.raw.feed, number, own, self._present(own.name), wrong, SHOWN)
            rows = sorted(row for row, _ in answers(self.raw.frame, work, self.where))
            return tuple(rows[:SHOWN])

        return Different(values, counts, first)

    def _present(self, name: str) -> NDArray[np.object_]:
        return np.array([word for word in self._words[name].words if word is not None] + [None], object)[:-1]

    def _number(self, name: str) -> int:
        return [column.name for column in self.raw.columns].index(name)

    @cached_property
    def _words(self) -> dict[str, Texts]:
        """The words of all columns that are read by them, and how many rows hold each: brought together by the cluster."""
        most = decoders.WORDS
        asked = {
            self._number(name): self.columns[name]
            for name in stored(self.schema)
            if self.columns[name].kind in PLAIN
            and not as_numbers(self.columns[name], self.schema[name])
            and not (self.raw.rows > most and 2 * self.raw.abouts[name] > self.raw.first)
        }
        if not asked:
            return {}
        with counted(self.raw, asked, self.where) as found:
            few = [number for number in asked if found.sizes.get(number, 0) <= most]
            return {asked[number].name: words for number, words in found.of(few).items()}
