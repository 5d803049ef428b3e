"""Random mixing with noise (DPMix): means of records that chance has put together."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hushtable.pipeline.step import Plan, PrivateCore, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.preserve import Effect
from hushtable.privacy.rows import require_fixed_rows
from hushtable.privacy.unit import Relation
from hushtable.privacy.vault import Vault
from hushtable.synthesize.counted import noted
from hushtable.synthesize.mixture import groups
from hushtable.synthesize.mixture.model import Mixture
from hushtable.synthesize.mixture.written import Written
from hushtable.table.schema import Schema

NAME = "dpmix"


@dataclass(frozen=True, kw_only=True)
class DPMix(PrivateCore):
    """Noisy means of random subsets of records, the class mixed like any other column (Lee et al. 2019).

    Which places of the table are mixed is drawn without a look at the rows, and every record is in the same number of mixtures,
    so ``GroupSums`` bounds what one record changes: Delta2 = sqrt(M) diameter / l. Each mixture becomes one row: numbers are its
    noisy means, levels are drawn by its noisy shares (the paper releases the shares themselves, which no table can hold).
    Means of random records lie near the mean of all, so little is left of how columns hang together: it is a baseline.
    For one record replaced by another: the number of rows is public.
    """

    least: int = 0
    """l, the records of a mixture; 0: so many that the noise of a share is about a tenth."""
    rounds: int = 1
    """M, in how many mixtures each record is; more mixtures, each with more noise."""

    def __post_init__(self) -> None:
        """Every knob in range."""
        check_knobs(
            self,
            least=(self.least == 0 or self.least >= 2, "must be at least 2, or 0 to be chosen"),
            rounds=(1 <= self.rounds <= 1000, "must lie between 1 and 1000"),
        )

    @property
    def relation(self) -> Relation:
        """The relation it is proven for."""
        return Relation.REPLACE_ONE

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns without bounds or levels, and any other relation than one record replaced by another."""
        written = Written.of(schema, "", NAME, classed=False)
        events = () if budget is None else groups.events(NAME, schema, budget, written, self.rounds)
        return Plan(
            schema=schema, events=events, effect=Effect.GENERATE,
            caveats=("a row is the noisy average of random records: how columns hang together is mostly averaged away",),
            public=("which places of the table are mixed, drawn without a look at the rows",),
        )  # fmt: skip

    def fit(self, vault: Vault, rng: np.random.Generator) -> Mixture:
        """Draw the subsets, and measure their sums once."""
        require_fixed_rows(NAME, vault.paid())
        written = Written.of(vault.schema, "", NAME, classed=False)
        model, size = groups.mixed(vault, written, self.least, self.rounds, None, rng, shrink=False)
        made = groups.as_mixtures(model, size, self.rounds)
        return replace(made, told=noted(made.told, groups.few(made.total, size)))
