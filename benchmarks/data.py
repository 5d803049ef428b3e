"""Rows to measure on: Adult where it is available, else the bundled town."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from hushtable.data import datasets
from hushtable.errors import InputError
from hushtable.table.table import Table


def census(rows: int | None = None) -> tuple[str, Table]:
    """A name and a table of people."""
    try:
        name, table = "Adult", datasets.load("adult")
    except InputError:
        name, table = "people", datasets.load("people")
    table = table.select(table.schema.released)
    if rows is not None:
        table = table.take(np.random.default_rng(20261115).permutation(table.rows)[:rows])
    return name, table


def clocked(work: Callable[[], Any], repeats: int = 1) -> tuple[Any, float, float]:
    """The result of the work, its CPU seconds and its wall seconds (the best of the repeats)."""
    best = (float("inf"), float("inf"))
    for _ in range(repeats):
        cpu, wall = time.process_time(), time.perf_counter()
        result = work()
        best = min(best, (time.process_time() - cpu, time.perf_counter() - wall))
    return result, *best
