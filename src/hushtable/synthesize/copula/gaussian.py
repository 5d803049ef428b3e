"""The Gaussian copula as statistics knows it: exact margins, exact correlations, and no privacy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from hushtable.errors import InputError
from hushtable.numerics.concordance import pairs_fit
from hushtable.pipeline.step import Core, Plan, Reads
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.preserve import Effect
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula.correlation import from_pairs
from hushtable.synthesize.copula.model import GaussianCopula, Joined
from hushtable.synthesize.copula.normal import Ties, expected_product, latent_correlations
from hushtable.synthesize.copula.private_margins import caveats_of, margin_queries, margins_of, pieces_of
from hushtable.table.arrays import Floats
from hushtable.table.rows import Rows
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
        reads = Reads.COUNTS if pairs_fit(schema) else Reads.MEMORY
        return Plan(schema=schema, events=(Raw(_WHY),), effect=Effect.GENERATE, caveats=caveats, reads=reads)

    def fit(self, vault: Vault, rng: np.random.Generator) -> GaussianCopula:
        """Read margins and correlations; ``rng`` is not needed."""
        rows = vault.open_rows(Raw(_WHY), _WHY)
        if not rows.rows:
            raise InputError("a copula needs at least one row", where=NAME)
        schema = rows.schema
        queries = margin_queries(schema, self.anchor, NAME)
        counts = dict(zip((q.columns[0] for q in queries), rows.histograms([q.columns for q in queries]), strict=True))
        exact = dict.fromkeys(counts, 0.0)
        margins = margins_of(schema, queries, counts, exact, exact, float(rows.rows)).margins
        pieces = pieces_of(schema, margins)
        scores = {name: np.append(p.scores, 0.0)[p.groups] for name, p in zip(schema.names, pieces, strict=True)}
        products = _products(rows, scores)
        if self.ties is Ties.CORRECTED:
            # The correlations of the latent normal variables; their error is that of a mean of so many rows.
            values, errors = latent_correlations(pieces, products, expected_product, rows.rows**-0.5)
            correlation = from_pairs(values, len(pieces), errors)
        else:
            correlation = from_pairs(_pearson(rows, scores, products), len(schema))
        return GaussianCopula(schema, rows.rows, Joined(margins, correlation), {"ties": str(self.ties)})


def _products(rows: Rows, scores: Mapping[str, Floats]) -> Floats:
    """The mean product of the scores of each two columns: from the tables of pairs, or row by row where these are too large."""
    if not pairs_fit(rows.schema):
        table = rows.whole("a copula of columns with many values")
        of_rows = np.stack([own[table.cells(name)] for name, own in scores.items()])
        return np.asarray((of_rows @ of_rows.T / rows.rows)[np.triu_indices(len(scores), 1)])
    pairs = list(combinations(scores, 2))
    counts = rows.histograms(pairs)
    return np.array([scores[a] @ counts[i] @ scores[b] for i, (a, b) in enumerate(pairs)]) / rows.rows


def _pearson(rows: Rows, scores: Mapping[str, Floats], products: Floats) -> Floats:
    """Pearson's correlation of the scores, 0 where a column does not vary."""
    counts = rows.histograms([(name,) for name in scores])
    means, squares = (np.array([own**power @ counts[i] for i, own in enumerate(scores.values())]) / rows.rows for power in (1, 2))
    lengths = np.sqrt(np.maximum(squares - means**2, 0.0))
    first, second = np.triu_indices(len(scores), 1)
    return np.asarray((products - means[first] * means[second]) / np.maximum(lengths[first] * lengths[second], 1e-12))
