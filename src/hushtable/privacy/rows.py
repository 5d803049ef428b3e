"""The number of rows: whether it is public, and what a step may then do with it.

It is public where neighbouring tables have the same number of rows: one record replaced by another, and one row for each person.
"""

from __future__ import annotations

from hushtable.errors import GuaranteeRefused, InputError
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event
from hushtable.privacy.query import Total
from hushtable.privacy.unit import Relation, Unit
from hushtable.privacy.vault import Vault
from hushtable.table.rows import Rows
from hushtable.table.schema import Schema


def require_fixed_rows(step: str, allowance: Allowance | Unit) -> None:
    """Refuse where neighbours may have different numbers of rows: the blocks of such a step are cut by their number."""
    unit = allowance.unit if isinstance(allowance, Allowance) else allowance
    if not unit.fixes_rows:
        reason = "a person with several rows" if unit.rows > 1 else "one record added or removed"
        raise GuaranteeRefused(
            f"{step}: blocks are counted off, so the number of rows must be public, and it is not for {reason}; "
            "ask for it with --relation replace_one and one row per person"
        )


def require_rows(step: str, table: Rows, rows: int) -> None:
    """Refuse a query that was planned for another number of rows than the table has: its sensitivity depends on that number."""
    if table.rows != rows:
        raise other_rows(step, rows)


def other_rows(step: str, rows: int) -> InputError:
    """What is wrong with a query that was planned for so many rows and asked of another number of them."""
    return InputError(f"a query planned for {rows} rows was asked of another number of rows", where=step)


def require_replaced(step: str, relation: Relation) -> None:
    """Refuse where the number of rows is not public."""
    if relation is not Relation.REPLACE_ONE:
        raise GuaranteeRefused(f"{step}: the number of rows must be public; ask for --relation replace_one")


def public_rows(vault: Vault, allowance: Allowance) -> int:
    """The number of rows, where it is public: asked for with noise too small to change it, and free."""
    return int(vault.measure(Total(), 1e-3, allowance.noise)[0])


def rows_event(budget: Allowance, schema: Schema) -> tuple[Event, ...]:
    """What a step plans for the number of rows: one free query where it is public, else none."""
    return (budget.event(Total(), schema),) if budget.unit.fixes_rows else ()
