"""Small tables of categories that hang together, and vines fitted to them."""

from __future__ import annotations

import numpy as np

from hushtable.privacy.allowance import Allowance
from hushtable.privacy.concordance import Concordance
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Budget, Unit
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula.vine_certified import Vine
from hushtable.table.columns import Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table


def category(name: str, count: int, required: bool = True, kind: Kind = Kind.CATEGORY, role: Role = Role.QUASI) -> Column:
    return Column(name=name, kind=kind, role=role, domain=Levels(tuple(f"{name}{i}" for i in range(count))), required=required)


def chain(rows: int = 4000, seed: int = 0) -> Table:
    """Three ordered columns, each mostly equal to the one before it, and one that has nothing to do with them."""
    rng = np.random.default_rng(seed)
    schema = Schema(tuple(category(name, 4, kind=Kind.ORDINAL) for name in "abcx"))
    arrays = {"a": rng.integers(0, 4, rows)}
    for one, other in (("a", "b"), ("b", "c")):
        arrays[other] = np.where(rng.random(rows) < 0.8, arrays[one], rng.integers(0, 4, rows))
    arrays["x"] = rng.integers(0, 4, rows)
    return Table(schema, {name: array.astype(np.int32) for name, array in arrays.items()})


def fitted(table: Table, epsilon: float = 2.0, delta: float = 1e-6, unit: Unit | None = None, seed: int = 1, **knobs):
    step = Vine(**knobs)
    unit = unit or Unit(relation=step.relation)
    budget = Budget(epsilon, delta)
    vault = Vault.of(table, unit=unit, entropy=Entropy.seeded(seed), budget=budget, seed=seed)
    return step.fit(vault.named("vine", Allowance.of(budget, unit)), np.random.default_rng(seed))


def equal(table: Table, one: str, other: str) -> float:
    return float((table[one] == table[other]).mean())


def tau(table: Table, one: str, other: str) -> float:
    """Kendall's tau-a."""
    return int(Concordance((one, other), table.rows).answer(table)[0]) / (table.rows * (table.rows - 1) / 2)
