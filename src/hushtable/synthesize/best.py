"""The private synthesizer that a table and a budget call for, chosen by a fixed rule from public facts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hushtable.pipeline.step import Plan, PrivateCore
from hushtable.privacy.allowance import Allowance, Noise
from hushtable.privacy.vault import Vault
from hushtable.synthesize.marginal.aim import Aim
from hushtable.synthesize.marginal.model import CountModel
from hushtable.synthesize.marginal.mst import Mst
from hushtable.synthesize.marginal.pooled import PooledModel
from hushtable.synthesize.marginal.privsyn import PrivSyn
from hushtable.synthesize.marginal.workload import target_of
from hushtable.table.schema import Schema

BROAD, WIDE = 30, 60
"""Above so many columns the weights of drawn rows lose at a large epsilon, and at any epsilon."""
LARGE = 3.0
"""From this epsilon on it is large."""


@dataclass(frozen=True, kw_only=True)
class Best(PrivateCore):
    """The core that scored best on public and generated tables with such columns and such a budget.

    The rule reads the number of columns and the budget, which are public, so nothing is paid for the choice, and the promise is
    that of the core that is chosen. The card names it: ``aim`` where delta is 0, ``mst`` above 60 columns, and above 30 from
    epsilon 3 on, else ``privsyn``.
    """

    keeps_groups = True
    target: str = ""
    """The column that the release is made for (a class to predict); when empty, the one with the role target, if any."""

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """That of the core that is chosen."""
        return self.chosen(schema, budget).plan(schema, budget)

    def fit(self, vault: Vault, rng: np.random.Generator) -> CountModel | PooledModel:
        """Fit the core that is chosen."""
        core = self.chosen(vault.schema, vault.paid())
        model = core.fit(vault, rng)
        return replace(model, summary={"chosen": type(core).__name__.lower()} | model.summary)

    def chosen(self, schema: Schema, budget: Allowance | None) -> Aim | Mst | PrivSyn:
        """The rule. Domain sizes take no part: those of binned numbers are not known before the rows are read."""
        target = target_of(schema, self.target, "best")
        if budget is not None and budget.noise is Noise.LAPLACE:
            return Aim(target=target)
        large = budget is not None and budget.whole is not None and budget.whole.epsilon >= LARGE
        if len(schema) > (BROAD if large else WIDE):
            return Mst(target=target)
        return PrivSyn(target=target)
