"""Steps that write text for a released table, and read the texts of the rows behind it."""

from __future__ import annotations

from hushtable.errors import PlanError
from hushtable.privacy.event import PostProcessing
from hushtable.privacy.vault import Vault
from hushtable.table.schema import Schema
from hushtable.table.table import Table


def texts_to_write(schema: Schema, columns: tuple[str, ...], step: str) -> tuple[str, ...]:
    """The columns of text that are named, or all; refuses by name what is none."""
    if not schema.texts:
        raise PlanError(f"{step}: the table has no column of free text")
    if wrong := [name for name in columns if name not in schema.texts]:
        raise PlanError(f"{step}: {', '.join(wrong)} is no column of free text; there are {', '.join(schema.texts)}")
    return columns or schema.texts


def with_texts(schema: Schema, texts: tuple[str, ...]) -> Schema:
    """The schema with these columns of text alone."""
    return schema.select(name for name in schema.names if name not in schema.texts or name in texts)


def opened(vault: Vault, step: str) -> tuple[Table, Vault]:
    """The released table, which is read for nothing, and the vault of the rows behind it."""
    if vault.origin is None:
        raise PlanError(f"{step}: works on a released table: put it after the step that releases the other columns")
    return vault.open(PostProcessing("reads a released table"), "a text for each row of the released table"), vault.origin
