"""What is asked of a step where people hold several rows: k rows that are one person's hide nobody."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hushtable.checks.fitting import BUDGET, fit, plain, suited
from hushtable.errors import GuaranteeRefused
from hushtable.pipeline.step import Code, Coder, Core
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.noise import Entropy
from hushtable.privacy.preserve import unmet
from hushtable.privacy.unit import Unit
from hushtable.privacy.vault import Vault
from hushtable.table.columns import Bounds, Kind
from hushtable.table.table import Table

HELD = 5
"""So many equal rows each person holds."""
LOST = (
    "knows no more which rows belong to one person: make it of the table it is given (with_columns, take, select), or pass its "
    "persons on"
)


def promises(step: Core) -> str:
    """Whether a step that promises k, l or t keeps it by persons; one whose proof is for single records says so in its plan."""
    table = _held(suited(step))
    unit = Unit(relation=step.relation, rows=HELD)
    allowance = Allowance.of(BUDGET, unit) if step.spends else None
    try:
        promised = step.plan(table.schema, allowance).promises
    except GuaranteeRefused:
        return ""
    if not promised:
        return ""
    budget = BUDGET if step.spends else None
    vault = Vault.of(table, unit=unit, budget=budget, entropy=Entropy.seeded(1), seed=1).named("step", allowance)
    released = step.fit(vault, np.random.default_rng(1)).sample(None, np.random.default_rng(2))
    if released.persons is None:
        return f"the table it makes {LOST}"
    for known in (released, _recognized(released, table)):
        for why in (unmet(promise, known) for promise in promised):
            if why:
                return f"where each person holds {HELD} equal rows, {why} by persons: count persons (Table.persons), not rows"
    return ""


def follow(step: Coder) -> str:
    """Whether a coder leaves every row to the person who held it, there and back."""
    code, _ = fit(step, suited(step))
    assert isinstance(code, Code)
    table = _held(plain(step))
    assert table.persons is not None
    encoded = code.apply(table)
    back = code.undo(encoded, np.random.default_rng(1))
    for word, result in (("encodes", encoded), ("brings back", back)):
        if result.persons is None or (result.rows == table.rows and not np.array_equal(result.persons, table.persons)):
            return f"the table it {word} {LOST}"
    return ""


def _held(table: Table) -> Table:
    """Every row as many times as a person holds rows; where there is a plain date, each person has one of their own."""
    many = table.take(np.repeat(np.arange(table.rows), HELD))
    many = replace(many, persons=np.repeat(np.arange(table.rows), HELD))
    if not _dated(many):
        return many
    assert many.persons is not None
    return many.with_column(many.schema["born"], int(many.schema["born"].bounds.low) + 86_400 * many.persons)


def _recognized(released: Table, table: Table) -> Table:
    """What was released with the persons that its own dates identify, if they were left as they are; whatever it says itself."""
    if not _dated(released) or not _dated(table) or not np.isin(released["born"], table["born"]).all():
        return released
    return released.held_by("born")


def _dated(table: Table) -> bool:
    return "born" in table.schema and table.schema["born"].kind is Kind.DATE and isinstance(table.schema["born"].domain, Bounds)
