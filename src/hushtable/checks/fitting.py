"""Fitting a step the way the battery does it: on a vault of a small table, reproducibly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hushtable.checks.tables import annotated, example, observed
from hushtable.encode.bins import Bins
from hushtable.errors import GuaranteeRefused, HushError, PlanError
from hushtable.pipeline.step import Code, Coder, Core, Model, Step
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.noise import Entropy
from hushtable.privacy.taint import Taint
from hushtable.privacy.unit import Budget, Unit
from hushtable.privacy.vault import Vault
from hushtable.table.schema import Schema
from hushtable.table.table import Table

BUDGET = Budget(2.0, 1e-6)


def unit(step: Step) -> Unit:
    """One record, under the relation that the step says its proof is for, if it says so."""
    return Unit(relation=step.relation)


def allowance(step: Step, budget: Budget = BUDGET) -> Allowance | None:
    """What it may spend, if it spends anything."""
    return Allowance.of(budget, unit(step)) if step.spends else None


def locked(step: Step, table: Table, seed: int = 1, budget: Budget = BUDGET) -> Vault:
    """The table in a vault, with noise from a seed."""
    vault = Vault.of(table, unit=unit(step), entropy=Entropy.seeded(seed), budget=budget if step.spends else None, seed=seed)
    if reaches_behind(step, table.schema):
        # What was released before is of nobody in these rows.
        vault = vault.released(example(table.rows, seed=9), Taint.DP)
    return vault.named("step", allowance(step, budget))


def reaches_behind(step: Step, schema: Schema) -> bool:
    """Whether it works on a released table, and reads the rows that are behind it."""
    try:
        return step.reads_text and step.plan(schema, allowance(step)).behind
    except HushError:
        return False


def fit(step: Step, table: Table, seed: int = 1) -> tuple[Code | Model, Vault]:
    """The fitted step, and the vault with the ledger of what it read."""
    assert isinstance(step, (Coder, Core))
    vault = locked(step, table, seed)
    try:
        return step.fit(vault, np.random.default_rng(1)), vault
    except GuaranteeRefused:
        if not step.spends and vault.allowance is None:
            raise GuaranteeRefused("fit spends budget, but 'spends' is False: override the property") from None
        raise


def output(step: Step, table: Table) -> Table:
    """What a core makes of a table, or a coder after its way there and back."""
    fitted, _ = fit(step, table)
    if isinstance(step, Core):
        return fitted.sample(None, np.random.default_rng(2))  # type: ignore[union-attr]
    return fitted.undo(fitted.apply(table), np.random.default_rng(2))  # type: ignore[union-attr]


def plain(step: Step, rows: int = 120) -> Table:
    """The example, with a column of free text for a step that reads some."""
    return annotated(example(rows)) if step.reads_text else example(rows)


def suited(step: Step, rows: int = 120) -> Table:
    """A table the step itself can work on: the example, cut into bins if it must be, or undeclared if it learns domains."""
    table = plain(step, rows)
    if step.learns_domains:
        # From few rows nothing can be learnt, and saying so is right: they come many times.
        many = table.take(np.tile(np.arange(table.rows), 200))
        return replace(many, schema=observed(table.schema))
    try:
        step.plan(table.schema, allowance(step))
        return table
    except PlanError:
        return Bins().fit(Vault.of(table), np.random.default_rng(0)).apply(table)
