"""The open table in the worker: read once, and put under every schema that is asked about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from hushtable.errors import InputError
from hushtable.studio import words
from hushtable.studio.questions import QUESTIONS
from hushtable.table.columns import Column, Role
from hushtable.table.files import form_of, opened
from hushtable.table.infer import Draft, examine
from hushtable.table.layout import Layout
from hushtable.table.profile import Follows, following
from hushtable.table.schema import Schema
from hushtable.table.singling import Columns
from hushtable.table.table import Table
from hushtable.table.values import Source, make

LIVE = 300_000
"""So many rows, picked at random, give the answers that a page waits for; of fewer all are taken, and it is said which."""

Watcher = Callable[[str, float], None]


@dataclass(eq=False)
class Opened:
    """The rows of a file under one schema, and what was worked out about them."""

    path: Path
    layout: Layout
    names: list[str]
    """The columns of the file."""
    source: Source
    """Gives the raw values of one column by its name."""
    table: Table
    draft: Draft | None = None
    """What was drafted, where no schema was given."""
    kept: dict[str, Any] = field(default_factory=dict)
    """Answers that hold for as long as the schema does, for questions that are asked again."""

    @cached_property
    def live(self) -> Table:
        """The rows that a page's answers are worked out on."""
        if self.table.rows <= LIVE:
            return self.table
        return self.table.take(np.sort(np.random.default_rng(0).choice(self.table.rows, LIVE, replace=False, shuffle=False)))

    @cached_property
    def columns(self) -> Columns:
        """The columns that would be released, coded to be counted."""
        return Columns(self.live, self.live.schema.released if self.live.rows else ())

    @cached_property
    def follows(self) -> dict[str, tuple[Follows, ...]]:
        """From which others a column follows."""
        return following(self.columns)


class Room:
    """At most one table is open."""

    def __init__(self) -> None:
        self._file: tuple[Any, ...] = ()
        self._stamp = ""
        self._opened: Opened | None = None
        self._stack = ExitStack()

    def open(self, at: Mapping[str, Any], watch: Watcher) -> Opened:
        """The table that is asked about; read again where its file changed, and checked again where its schema did."""
        layout = Layout.of(**at["layout"])
        file, stamp = (at["path"], layout, at["stamp"][0]), at["stamp"][1]
        # A draft is not taken from before: it is asked for where a file may have to be read in another way.
        if self._opened is not None and (self._file, self._stamp) == (file, stamp) and at["schema"] is not None:
            return self._opened
        schema = None if at["schema"] is None else Schema.load(at["schema"])
        if self._opened is not None and self._file == file and schema is not None:
            self._opened = _under(self._opened, schema)
        else:
            self._opened = self._read(Path(at["path"]), layout, schema, watch)
        self._file, self._stamp = file, stamp
        return self._opened

    def _read(self, path: Path, layout: Layout, schema: Schema | None, watch: Watcher) -> Opened:
        self._stack.close()
        self._opened = None
        watch(words.READING, 0.0)
        # The rows stay in the database, so that a column can be read again under another kind.
        names, source = self._stack.enter_context(opened(path, layout))
        return read_under(path, layout, names, source, schema, watch)

    def ask(self, question: str, opened: Opened | None, arguments: Mapping[str, Any], watch: Watcher) -> Any:
        """The answer to a question. One that shows progress takes it as ``watch``."""
        if question not in QUESTIONS:
            raise InputError(words.NO_SUCH_QUESTION, where=question)
        module, _, name = QUESTIONS[question].partition(":")
        return getattr(import_module(module), name)(opened, watch=watch, **arguments)


def read_under(path: Path, layout: Layout, names: list[str], source: Source, schema: Schema | None, watch: Watcher) -> Opened:
    """The rows under a schema, or under a drafted one; how many columns were looked at is watched."""
    total = len(names) * (3 if schema is None else 1)
    seen = 0

    def watched(name: str) -> Any:
        nonlocal seen
        seen += 1
        watch(words.looking_at(min(seen, len(names)), len(names)), min(0.99, 0.2 + 0.8 * seen / max(1, total)))
        return source(name)

    draft = None
    if schema is None:
        draft = examine(names, watched, None if form_of(path) == "parquet" else layout, path.name)
    table = make(draft.schema if draft is not None else schema, names, watched, where=path.name)  # type: ignore[arg-type]
    return Opened(path, layout, names, source, table, draft)


def _under(opened: Opened, schema: Schema) -> Opened:
    """The same rows under another schema: only columns whose values are read in another way are read again."""
    old = opened.table.schema
    if schema.names == old.names and schema.missing == old.missing and all(_alike(old[c.name], c) for c in schema):
        table = opened.table.under(schema)
    else:
        table = make(schema, opened.names, opened.source, where=opened.path.name)
    return Opened(opened.path, opened.layout, opened.names, opened.source, table, opened.draft)


def _alike(one: Column, other: Column) -> bool:
    """Whether two columns read the same values in the same way: they differ in roles, marks and what is said of them only."""
    return _bare(one) == _bare(other)


def _bare(column: Column) -> Column:
    domain = column.domain
    if domain is not None and hasattr(domain, "observed"):
        domain = replace(domain, observed=False)  # type: ignore[arg-type]
    return replace(column, role=Role.PLAIN, drafted=frozenset(), hierarchy=None, determined_by=None, domain=domain)
