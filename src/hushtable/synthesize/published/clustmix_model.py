"""The fitted model of ClustMix: one row for each noisy average of a cluster.

How many rows there are depends on the exact sizes of the classes, which the published proof overlooks: one record fewer can leave
one row fewer. The certified twin is the step ``clustmix-certified``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hushtable.pipeline.step import Arrays, Given, given_arrays
from hushtable.synthesize.published.clustmix_encoding import Draw, Encoding, Layout
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table


@dataclass(frozen=True, eq=False)
class ClustMixModel:
    """Noisy averages in places of the declared domains, with their class and the number of records in each."""

    encoding: Encoding
    vectors: Floats
    labels: Integers
    sizes: Integers
    draw: Draw
    summary: dict[str, Any]

    @property
    def schema(self) -> Schema:
        """Of the table."""
        return self.encoding.schema

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """One row for each mixture (two at least), or ``n`` rows of mixtures drawn by their sizes.

        A condition on the class or, where levels are drawn, on a category draws the mixtures by it; on other columns it
        only fixes them.
        """
        rows = max(2, len(self.labels)) if n is None else n
        fixed = given_arrays(self.schema, given, rows)
        if n is None and not fixed:
            owner = np.arange(rows) % len(self.labels)
        else:
            weights = self._weights(given or {})
            owner = rng.choice(len(weights), rows, p=weights / weights.sum())
        table = self.encoding.table(self.vectors[owner], self.labels[owner], rng, self.draw)
        return table.with_columns(*((self.schema[name], array) for name, array in fixed.items()))

    def _weights(self, given: Given) -> Floats:
        weights = self.sizes.astype(np.float64)
        for axis, span in zip(self.encoding.axes, self.encoding.spans, strict=True):
            name = axis.column.name
            if name in given and not axis.ordered and not self.encoding.coded(axis):
                weights = weights * self.encoding.shares(axis, self.vectors[:, span])[:, axis.column.levels.index(given[name])]
        if self.encoding.target in given:
            weights = weights * (self.labels == self.schema[self.encoding.target].levels.index(given[self.encoding.target]))
        return weights if weights.sum() > 0 else self.sizes.astype(np.float64)

    def result(self) -> dict[str, Any]:
        """What was chosen, and the least cluster that was averaged. Some of it is read off the rows, as the publication does."""
        return self.summary

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """Schema, encoding and the noisy averages."""
        values = {
            "schema": self.schema.portable().dump(),
            "target": self.encoding.target,
            "layout": str(self.encoding.layout),
            "draw": str(self.draw),
            "summary": self.summary,
        }
        return values, {"vectors": self.vectors, "labels": self.labels, "sizes": self.sizes}

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        encoding = Encoding.of(Schema.parse(values["schema"]), values["target"], Layout(values["layout"]))
        labels, sizes = (arrays[name].astype(np.int64) for name in ("labels", "sizes"))
        return cls(encoding, arrays["vectors"].astype(np.float64), labels, sizes, Draw(values["draw"]), values["summary"])
