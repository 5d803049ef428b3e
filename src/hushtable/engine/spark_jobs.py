"""What goes to workers and comes back: functions on Arrow batches, and numbered bytes.

A worker that finds fault with what it reads says so in its answer, and the driver raises it: nothing but our own words comes back.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hushtable.engine.spark import Versions, translated, unlike, versions
from hushtable.errors import Fault, InputError, PlanError
from hushtable.table.arrays import Integers

Batches = Iterator[Any]
"""Of Arrow."""
Answers = Iterator[tuple[int, bytes]]
ANSWER = "number bigint, bytes binary"
FAULTS, REFUSED, OTHER, ROWS = -1, -2, -3, -4
"""Numbers of answers that are none: faults of the input, refusals, a worker of another version, and how many rows were seen."""
CHUNK = 1 << 16
"""Counts that come back as one answer."""
GATHERED = 1 << 28
"""Where partial sums are more bytes than this, the cluster adds them up before they come back."""


@dataclass(frozen=True)
class Task:
    """Work on the batches of one partition, as Spark calls it."""

    work: Callable[[Batches], Answers]
    versions: Versions

    def __call__(self, batches: Batches) -> Batches:
        """Answers; faults among them."""
        import pyarrow

        for number, answer in self._answers(batches):
            yield pyarrow.RecordBatch.from_arrays(
                [pyarrow.array([number], pyarrow.int64()), pyarrow.array([answer], pyarrow.binary())], names=["number", "bytes"]
            )

    def _answers(self, batches: Batches) -> Answers:
        if versions() != self.versions:
            yield OTHER, " ".join(versions()).encode()
        else:
            try:
                yield from self.work(batches)
            except InputError as error:
                yield FAULTS, packed(error.faults)
            except PlanError as error:
                yield REFUSED, str(error).encode()
        # Whoever writes to us waits until all is read.
        for _ in batches:
            pass


def task(work: Callable[[Batches], Answers]) -> Task:
    """Work for workers of our own version."""
    return Task(work, versions())


class OtherVersion(InputError):
    """A worker is of another version."""


@dataclass(frozen=True)
class Guarded:
    """Work whose results stay in the cluster, on the batches of one partition: its faults stop Spark, which names them."""

    work: Callable[[Batches], Batches]
    versions: Versions

    def __call__(self, batches: Batches) -> Batches:
        """What the work gives out."""
        if versions() != self.versions:
            raise OtherVersion("python {}, hushtable {}".format(*versions()))
        yield from self.work(batches)


def guarded(work: Callable[[Batches], Batches]) -> Guarded:
    """Work for workers of our own version."""
    return Guarded(work, versions())


def answers(frame: Any, work: Callable[[Batches], Answers], where: str) -> list[tuple[int, bytes]]:
    """What the partitions of a frame answer, in their order; InputError with the faults that workers found."""
    with translated(where):
        rows = frame.mapInArrow(task(work), ANSWER).collect()
    return checked([(int(row.number), bytes(row.bytes)) for row in rows], where)


def in_order(frame: Any, where: str) -> Iterator[Any]:
    """The rows of a frame as they lie, one partition after the other, none before it is asked for."""
    with translated(where):
        rows = iter(frame.toLocalIterator())
    while True:
        with translated(where):
            row = next(rows, None)
        if row is None:
            return
        yield row


def checked(found: list[tuple[int, bytes]], where: str) -> list[tuple[int, bytes]]:
    """Answers, where all are; InputError or PlanError where a worker found fault."""
    for number, answer in found:
        if number == OTHER:
            raise InputError(unlike(*answer.decode().split(" ")), where=where)
        if number == REFUSED:
            raise PlanError(answer.decode())
    if faults := [fault for number, answer in found if number == FAULTS for fault in unpacked(answer)]:
        raise InputError(dict.fromkeys(faults))
    return found


def packed(faults: Iterable[Fault]) -> bytes:
    """Faults as bytes."""
    return json.dumps([(f.where, f.reason, int(f.count), [*map(int, f.rows)], [*f.values]) for f in faults]).encode()


def unpacked(answer: bytes) -> list[Fault]:
    """Faults from bytes."""
    return [Fault(where, reason, count, tuple(rows), tuple(values)) for where, reason, count, rows, values in json.loads(answer)]


def partial_sums(total: Integers, rows: int) -> Answers:
    """The sum over one partition of so many rows, in pieces; what is zero is not sent."""
    flat = np.ascontiguousarray(total, np.int64).ravel()
    yield ROWS, _shrunk(np.array([rows], np.int64))
    for number, start in enumerate(range(0, len(flat), CHUNK)):
        piece = flat[start : start + CHUNK]
        if piece.any():
            yield number, _shrunk(piece)


def summed(frame: Any, work: Callable[[Batches], Answers], shape: tuple[int, ...], parts: int, where: str) -> tuple[Integers, int]:
    """The sum over all partitions, of which there are so many, and how many rows were seen."""
    total, rows = np.zeros(int(np.prod(shape)), np.int64), 0
    with translated(where):
        out = frame.mapInArrow(task(work), ANSWER)
        if parts * total.nbytes > GATHERED:
            out = out.repartition(max(1, min(parts, -(-len(total) // CHUNK))), "number").mapInArrow(task(_Adding()), ANSWER)
        found = out.collect()
    for number, answer in checked([(int(row.number), bytes(row.bytes)) for row in found], where):
        piece = grown(answer)
        if number == ROWS:
            rows += int(piece[0])
        else:
            total[number * CHUNK : number * CHUNK + len(piece)] += piece
    return total.reshape(shape), rows


@dataclass(frozen=True)
class _Adding:
    """Adds up pieces of the same number."""

    def __call__(self, batches: Batches) -> Answers:
        held: dict[int, Integers] = {}
        for batch in batches:
            for number, answer in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                if number < 0 and number != ROWS:
                    yield number, answer
                else:
                    held[number] = held[number] + grown(answer) if number in held else grown(answer)
        for number, piece in held.items():
            yield number, _shrunk(piece)


def _shrunk(numbers: Integers) -> bytes:
    return zlib.compress(numbers.tobytes(), 1)


def grown(answer: bytes) -> Integers:
    """Whole numbers from bytes."""
    return np.frombuffer(zlib.decompress(answer), np.int64)
