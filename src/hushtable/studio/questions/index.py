"""A schema with one column set aside as the index of the file."""

from __future__ import annotations

from dataclasses import replace

from hushtable.studio.questions.room import Opened, Watcher
from hushtable.table.columns import Facet, Role


def index(opened: Opened, *, watch: Watcher, column: str) -> str:
    """The schema in which this column identifies rows, and is never released. A person said so: it is declared."""
    schema = opened.table.schema
    own = schema[column]
    return schema.with_columns(replace(own, role=Role.IDENTIFIER, drafted=own.drafted - {Facet.ROLE})).dump()
