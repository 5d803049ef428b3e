"""The Gaussian copula as statistics knows it: exact margins, exact correlations, and no privacy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hushtable.errors import InputError
from hushtable.pipeline.step import Core, Plan
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.preserve import Effect
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula.correlation import from_pairs
from hushtable.synthesize.copula.model import GaussianCopula, Joined
from hushtable.synthesize.copula.normal import Ties, expected_product, latent_correlations
from hushtable.synthesize.copula.private_margins import caveats_of, margin_queries, margins_of, pieces_of
from hushtable.table.arrays import Floats
from hushtable.table.schema import Schema

NAME = "gaussian-copula"
_WHY = "margins and correlations are read off the rows without noise"


@dataclass(frozen=True, kw_only=True)
class PlainCopula(Core):
    """A Gaussian copula with the margins and correlations of the rows themselves. Promises nothing.

    Columns are cells of histograms; each cell has its normal score, and what is estimated is the correlation of the latent normal
    variables. It keeps averages, no rows; but a rare level, or the end of an observed range, belongs to a person.
    """

    ties: Ties = Ties.CORRECTED
    """corrected: the correlation that explains that of the scores, given the margins; published: that of the scores itself."""
    anchor: str = ""
    """The column by whose average the levels of nominal categories are ordered; the target of the schema when empty (if it has at
    most 8 cells); "-" leaves them in their declared order."""

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that cannot be counted, by name."""
        margin_queries(schema, self.anchor, NAME)
        caveats = caveats_of(schema, self.anchor, NAME)
        return Plan(schema=schema, events=(Raw(_WHY),), effect=Effect.GENERATE, caveats=caveats)

    def fit(self, vault: Vault, rng: np.random.Generator) -> GaussianCopula:
        """Read margins and correlations; ``rng`` is not needed."""
        table = vault.open(Raw(_WHY), _WHY)
        if not table.rows:
            raise InputError("a copula needs at least one row", where=NAME)
        schema = table.schema
        queries = margin_queries(schema, self.anchor, NAME)
        counts = {query.columns[0]: table.counts(query.columns) for query in queries}
        exact = dict.fromkeys(counts, 0.0)
        margins = margins_of(schema, queries, counts, exact, exact, float(table.rows)).margins
        pieces = pieces_of(schema, margins)
        scores = np.stack([np.append(p.scores, 0.0)[p.groups][table.cells(n)] for n, p in zip(schema.names, pieces, strict=True)])
        products = (scores @ scores.T / table.rows)[np.triu_indices(len(scores), 1)]
        if self.ties is Ties.CORRECTED:
            # The correlations of the latent normal variables; their error is that of a mean of so many rows.
            values, errors = latent_correlations(pieces, products, expected_product, table.rows**-0.5)
            correlation = from_pairs(values, len(pieces), errors)
        else:
            correlation = from_pairs(_pearson(scores), len(schema))
        return GaussianCopula(schema, table.rows, Joined(margins, correlation), {"ties": str(self.ties)})


def _pearson(scores: Floats) -> Floats:
    """Pearson's correlation of the scores, 0 where a column does not vary."""
    centred = scores - scores.mean(1, keepdims=True)
    lengths = np.sqrt((centred**2).sum(1))
    products = centred @ centred.T / np.maximum(np.outer(lengths, lengths), 1e-12)
    return np.asarray(products[np.triu_indices(len(scores), 1)])
