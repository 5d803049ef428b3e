"""DPMix: noisy means of random subsets of records."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hushtable.pipeline.step import Plan, PrivateCore, check_knobs, reads_places
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.preserve import Effect
from hushtable.privacy.rows import require_fixed_rows
from hushtable.privacy.unit import Relation
from hushtable.privacy.vault import Vault
from hushtable.synthesize.histogram_cells import with_notes
from hushtable.synthesize.mixture import groups
from hushtable.synthesize.mixture.integer_encoding import IntegerEncoding
from hushtable.synthesize.mixture.model import Mixture
from hushtable.table.schema import Schema

NAME = "dpmix"


@dataclass(frozen=True, kw_only=True)
class DPMix(PrivateCore):
    """Noisy means of random subsets of records, the class mixed like any other column (Lee et al. 2019).

    Which places of the table are mixed is drawn without access to the rows, and every record is in the same number of mixtures,
    so ``GroupSums`` bounds what one record changes: Delta2 = sqrt(M) diameter / l. Each mixture becomes one row: numbers are its
    noisy means, levels are drawn by its noisy shares (the paper releases the shares themselves, which no table can hold).
    Means of random records lie near the mean of all, so little is left of the dependence between columns: it is a baseline.
    For one record replaced by another: the number of rows is public.
    """

    least: int = 0
    """l, the number of records in a mixture; 0: so many that the noise of a share is about a tenth."""
    rounds: int = 1
    """M, the number of mixtures that each record is in: more give more mixtures, each with more noise."""

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
        encoding = IntegerEncoding.of(schema, "", NAME, classed=False)
        events = () if budget is None else groups.events(NAME, schema, budget, encoding, self.rounds)
        return Plan(
            schema=schema, events=events, effect=Effect.GENERATE, reads=reads_places(budget),
            caveats=("a row is the noisy average of random records: dependence between columns is mostly averaged away",),
            public=("which places of the table are mixed, drawn without access to the rows",),
        )  # fmt: skip

    def fit(self, vault: Vault, rng: np.random.Generator) -> Mixture:
        """Draw the subsets, and measure their sums once."""
        require_fixed_rows(NAME, vault.paid())
        encoding = IntegerEncoding.of(vault.schema, "", NAME, classed=False)
        model, size = groups.mixed(vault, encoding, self.least, self.rounds, None, rng, shrink=False)
        model = groups.as_mixtures(model, size, self.rounds)
        return replace(model, summary=with_notes(model.summary, groups.few(model.total, size)))
