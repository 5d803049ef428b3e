"""The chances of a target's classes given the other columns, learnt by boosting: what a release is most often used for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from hushtable.synthesize.boosted import Boosted, Codes
from hushtable.table.arrays import Array, Floats, Integers, Mask

MOST, FEWEST = 10, 50
"""The most classes, and the least rows of a class that chances are learnt of."""


@dataclass(frozen=True, eq=False)
class Odds:
    """One class against the others, for each class; for two, the second against the first."""

    column: int
    classes: Integers
    """Cells of the column."""
    boosted: list[Boosted]
    priors: Floats
    """The log-odds of each class where nothing else is known."""

    @classmethod
    def fit(cls, codes: Codes, column: int, classes: Integers, ordered: Mask, weights: Floats, held: Mask) -> Self:
        """Learn from weighted rows; those of other classes are left out, and those held back say when to stop."""
        known = np.isin(codes[:, column], classes)
        codes, weights, held = codes[known], weights[known], held[known]
        others = _without(codes, column)
        boosted, priors = [], []
        for one in classes[1:] if len(classes) == 2 else classes:
            own = codes[:, column] == one
            boosted.append(Boosted.fit(others, ordered, own, weights, held))
            priors.append(np.log(weights[own].sum() / weights[~own].sum()))
        return cls(column, classes, boosted, np.array(priors))

    def logs(self, codes: Codes) -> Floats:
        """The logarithm of the chance of each row's own class; 0 for a row of another class."""
        others = _without(codes, self.column)
        odds = np.stack([b.score(others) + prior for b, prior in zip(self.boosted, self.priors, strict=True)], axis=1)
        chances = -np.logaddexp(0, np.concatenate([odds, -odds], axis=1) if len(self.classes) == 2 else -odds)
        chances -= np.logaddexp.reduce(chances, axis=1, keepdims=True)
        place = np.searchsorted(self.classes, codes[:, self.column]).clip(max=len(self.classes) - 1)
        own: Floats = np.take_along_axis(chances, place[:, None], axis=1)[:, 0]
        return np.where(self.classes[place] == codes[:, self.column], own, 0.0)

    def parts(self) -> dict[str, Array]:
        """Its arrays."""
        arrays = {f"{place}/{name}": array for place, b in enumerate(self.boosted) for name, array in b.parts().items()}
        return arrays | {"column": np.array(self.column), "classes": self.classes, "priors": self.priors}

    @classmethod
    def from_parts(cls, arrays: dict[str, Array]) -> Self:
        """Rebuild it."""
        boosted = [
            Boosted.from_parts({name: arrays[f"{place}/{name}"] for name in ("column", "cells", "value")})
            for place in range(len(arrays["priors"]))
        ]
        return cls(int(arrays["column"]), arrays["classes"], boosted, arrays["priors"])


def classes(real: Codes, drawn: Codes, column: int) -> Integers:
    """The classes with enough rows on both sides; none if there are too many, or fewer than two."""
    counts = np.minimum(*(np.bincount(codes[:, column], minlength=256) for codes in (real, drawn)))
    found = np.flatnonzero(counts >= FEWEST)
    return found if 2 <= len(found) <= MOST else found[:0]


def _without(codes: Codes, column: int) -> Codes:
    """The codes with one column that says nothing."""
    codes = codes.copy()
    codes[:, column] = 0
    return codes
