"""The open table in the worker: read once, and put under every schema that is asked about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from hushtable.errors import InputError
from hushtable.studio import words
from hushtable.studio.questions import LIVE, QUESTIONS
from hushtable.table.columns import FREE, Column, Role
from hushtable.table.disk import read_text
from hushtable.table.files import form_of, opened
from hushtable.table.infer import Draft, examine
from hushtable.table.layout import Layout
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from hushtable.table.uniqueness import Uniqueness
from hushtable.table.values import Source, make

Watcher = Callable[[str, float], None]
Answer = TypeVar("Answer")


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
    cache: dict[str, Any] = field(default_factory=dict)
    """Answers that hold for as long as the schema does, for questions that are asked again."""
    prepared: tuple[str, Opened] | None = None
    """The YAML of a schema that a question made and held against the rows, and the rows under it."""

    @cached_property
    def live(self) -> Table:
        """The rows that a page's answers are worked out on."""
        if self.table.rows <= LIVE:
            return self.table
        return self.table.take(np.sort(np.random.default_rng(0).choice(self.table.rows, LIVE, replace=False, shuffle=False)))

    def held(self, person: str | None) -> Table:
        """All rows, held by the persons whom a key identifies; each by its own where none is named."""
        if person is None:
            return self.table
        return self._once(f"held by {person}", lambda: self.table.held_by(person))

    def at_hand(self, person: str | None) -> Table:
        """The rows that a page's answers are worked out on; of a person who is picked, all of them."""
        return self.live if person is None else self._once(f"at hand by {person}", lambda: _some(self.held(person)))

    def unique(self, person: str | None) -> Uniqueness:
        """Whom the columns that would be released single out."""
        return self._once(f"unique by {person}", lambda: Uniqueness(self.at_hand(person)))

    def _once(self, name: str, work: Callable[[], Answer]) -> Answer:
        if name not in self.cache:
            self.cache[name] = work()
        found: Answer = self.cache[name]
        return found

    def prepare(self, schema: Schema) -> str:
        """The YAML of another schema of these rows, held against them; InputError, without a value, where they differ."""
        revised = under(self, schema)
        text = revised.table.schema.dump()
        self.prepared = text, revised
        return text


def _some(table: Table) -> Table:
    """The rows of so many persons, picked at random, that a page can wait for; of fewer rows all."""
    if table.rows <= LIVE or table.persons is None:
        return table
    held = np.bincount(table.persons)
    order = np.random.default_rng(0).permutation(len(held))
    taken = np.zeros(len(held), bool)
    taken[order[: max(1, int(np.searchsorted(np.cumsum(held[order]), LIVE, side="right")))]] = True
    return table.take(np.flatnonzero(taken[table.persons]))


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
        if self._opened is None or self._file != file or at["schema"] is None:
            schema = None if at["schema"] is None else Schema.load(at["schema"])
            self._opened = self._read(Path(at["path"]), layout, schema, watch)
        else:
            self._opened = _next(self._opened, Path(at["schema"]))
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


def _next(opened: Opened, path: Path) -> Opened:
    """The same rows under the schema of a file, which a question may have prepared."""
    if opened.prepared is not None and opened.prepared[0] == read_text(path, path.name):
        return opened.prepared[1]
    return under(opened, Schema.load(path))


def under(opened: Opened, schema: Schema) -> Opened:
    """The same rows under another schema: only columns whose values are read in another way are read again."""
    old = opened.table
    missing = schema.missing == old.schema.missing
    unchanged = {c.name for c in schema if missing and c.name in old.schema and alike(old.schema[c.name], c)}
    if schema.names == old.schema.names and unchanged == set(schema.names):
        found = Opened(opened.path, opened.layout, opened.names, opened.source, old.under(schema), opened.draft)
        if "live" in opened.__dict__ and old.rows > LIVE:
            found.__dict__["live"] = opened.live.under(schema)
        return found
    read = tuple(column for column in schema if column.name not in unchanged)
    try:
        # The texts of a fault are shown on a page: how many rows differ, and none of their values.
        anew = make(replace(schema, columns=read, zeros=()), opened.names, opened.source, where=opened.path.name)
    except InputError as error:
        raise InputError([replace(fault, values=()) for fault in error.faults]) from None
    columns = tuple(c if c.name in unchanged else anew.schema[c.name] for c in schema)
    arrays = {name: old[name] if name in unchanged else anew[name] for name in schema.names}
    texts = {n: words for n, words in (*old.texts.items(), *anew.texts.items()) if n in schema and schema[n].kind in FREE}
    table = Table(replace(schema, columns=columns), arrays, texts, tuple(name for name in opened.names if name not in schema))
    return Opened(opened.path, opened.layout, opened.names, opened.source, table, opened.draft)


def alike(one: Column, other: Column) -> bool:
    """Whether two columns read the same values in the same way: they differ in roles, marks and what is said of them only."""
    return _bare(one) == _bare(other)


def _bare(column: Column) -> Column:
    domain = column.domain
    if domain is not None and hasattr(domain, "observed"):
        domain = replace(domain, observed=False)  # type: ignore[arg-type]
    return replace(column, role=Role.PLAIN, drafted=frozenset(), hierarchy=None, determined_by=None, domain=domain)
