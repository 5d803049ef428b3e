"""The fitted model of AIM, MST and MWEM: a graphical model over the cells of the columns, and rows drawn from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hushtable.errors import InputError
from hushtable.pipeline.step import Arrays, Given
from hushtable.synthesize.histogram_cells import given_cells, table_of
from hushtable.synthesize.marginal.graphical import Graphical
from hushtable.table.schema import Schema
from hushtable.table.table import Table


@dataclass(frozen=True, eq=False)
class CountModel:
    """A graphical model of the cells of a schema's columns, and a summary of how it was fitted."""

    schema: Schema
    graphical: Graphical
    summary: dict[str, Any]
    """For the public card: plain values, functions of noisy answers and of public knowledge only."""

    @property
    def size(self) -> int:
        """As many rows as it draws where no number is asked for."""
        return max(2, round(self.graphical.total))

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """``n`` rows, by default the (noisy) total; ``given`` fixes columns, and the others follow as the model says."""
        rows = self.size if n is None else n
        fixed = given_cells(self.schema, given)
        try:
            return table_of(self.schema, self.graphical.draw(rows, rng, fixed or None))
        except InputError as error:
            if not fixed:
                raise
            raise InputError(f"no row can have these values of {', '.join(fixed)} together", where="given") from error

    def result(self) -> dict[str, Any]:
        """What was chosen and measured."""
        return self.summary

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """Schema, potentials and summary."""
        values, arrays = self.graphical.parts()
        return {"schema": self.schema.portable().dump(), "graphical": values, "summary": self.summary}, arrays

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        return cls(Schema.parse(values["schema"]), Graphical.from_parts(values["graphical"], arrays), values["summary"])
