"""The private synthesizer that a table and a budget call for, chosen by a fixed rule from public facts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hushtable.pipeline.step import Plan, PrivateCore
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.vault import Vault
from hushtable.synthesize.marginal.aim import Aim
from hushtable.synthesize.marginal.pooled import PooledModel
from hushtable.synthesize.marginal.privsyn import PrivSyn
from hushtable.synthesize.marginal.workload import target_of
from hushtable.table.schema import Schema

WIDE = 60
"""From so many columns on, noisy distances of all pairs cost more than a choice after the other."""


@dataclass(frozen=True, kw_only=True)
class Best(PrivateCore):
    """The core that scored best on public and generated tables with such columns, budget and target.

    The rule reads the number of columns, the budget, and whether there is a target: all of it public, so nothing is paid for the
    choice, and the promise is that of the core that is chosen. The card names it. Where delta is 0, or there are more columns than
    all pairs can be compared for, that is ``aim``, else ``privsyn``.
    """

    keeps_groups = True
    target: str = ""
    """The column that the release is made for (a class to predict); when empty, the one with the role target, if any."""

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """That of the core that is chosen."""
        return self.chosen(schema, budget).plan(schema, budget)

    def fit(self, vault: Vault, rng: np.random.Generator) -> PooledModel:
        """Fit the core that is chosen."""
        core = self.chosen(vault.schema, vault.paid())
        model = core.fit(vault, rng)
        knobs = {"target": core.target} | ({"first": core.first} if isinstance(core, PrivSyn) else {})
        named = {"chosen": type(core).__name__.lower(), "with": {name: value for name, value in knobs.items() if value != ""}}
        return replace(model, summary=named | model.summary)

    def chosen(self, schema: Schema, budget: Allowance | None) -> Aim | PrivSyn:
        """The rule. Domain sizes take no part: those of binned numbers are not known before the rows are read."""
        target = target_of(schema, self.target, "best")
        if len(schema) > WIDE or (budget is not None and budget.rho is None):
            return Aim(target=target)
        return PrivSyn(target=target)
