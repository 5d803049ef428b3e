"""A tree grown by private choices, level by level."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event, Exponential
from hushtable.privacy.vault import Vault
from hushtable.synthesize.mixture.dependence_scores import DependenceScores
from hushtable.synthesize.mixture.integer_encoding import IntegerEncoding
from hushtable.synthesize.mixture.trees import CellCounts, Cuts, CutScores, Tree, class_weights, projections
from hushtable.table.schema import Schema

ROWS = 0.01
"""The share of the budget for the number of rows, where it only serves to choose a depth."""


class Split(StrEnum):
    """How leaves are cut."""

    CLASSES = "classes"
    """The cut of one column that separates the classes best, chosen privately; halves where there is no class."""
    DEPENDENCE = "dependence"
    """The cut of one column that sets all other columns apart the most, chosen privately."""
    BALANCED = "balanced"
    """The cut of one column that halves a leaf best, chosen privately."""
    RANDOM = "random"
    """Random projections, drawn without access to the rows: only the number of rows is paid for."""


@dataclass(frozen=True)
class TreeGrower:
    """How a tree is grown, and what that costs: the same queries at the same prices whatever the rows are.

    So the accounting needs no rule for queries that earlier answers make superfluous: where every leaf has become too small, the
    remaining queries are asked all the same, and their answers are not used.
    """

    encoding: IntegerEncoding
    split: Split
    depth: int
    share: float
    """Of the whole allowance."""

    @property
    def levels(self) -> int:
        """How often leaves are counted and cut."""
        return self.depth if Cuts(self.encoding).places and self.split is not Split.RANDOM else 0

    @property
    def spent(self) -> float:
        """The share of the whole allowance that it really takes; to know how many rows there are, a hundredth is enough."""
        if self.split is Split.RANDOM:
            return min(ROWS, self.share) if self.depth else 0.0
        return self.share if self.levels else 0.0

    def each(self, whole: Allowance) -> Allowance:
        """What each query may spend."""
        part = self.spent / max(2 * self.levels, 1)
        return whole.split([part, 1 - part])[0]

    def events(self, whole: Allowance, schema: Schema) -> tuple[Event, ...]:
        """The queries."""
        if not self.spent:
            return ()
        part = self.each(whole)
        count, choice = part.event(CellCounts(Tree.single(self.encoding)), schema), Exponential(part.choice)
        return (count,) if self.split is Split.RANDOM else (count, choice) * self.levels

    def grow(self, vault: Vault, whole: Allowance, least: int, rng: np.random.Generator) -> Tree:
        """Cut leaves while their noisy number of records is at least twice ``least``, at most ``depth`` times in a row.

        Each level counts the cells (a histogram) and then cuts every leaf that is still large enough (one choice each, on
        disjoint records: ``choose_each``). Each query takes an equal part of the share.
        """
        if not self.spent:
            return Tree.single(self.encoding)
        part = self.each(whole)
        if self.split is Split.RANDOM:
            rows = float(vault.spend(CellCounts(Tree.single(self.encoding)), part).sum())
            levels = int(np.log2(max(rows / least, 1.0)))
            return projections(self.encoding, min(self.depth, levels), rng)
        balanced = self.split is Split.BALANCED or self.encoding.classes == 1
        cuts, tree, open_ = Cuts(self.encoding), Tree.single(self.encoding), [0]
        for level in range(self.levels):
            counts = vault.spend(CellCounts(tree), part).reshape(tree.leaves, -1).astype(np.float64)
            open_ = [leaf for leaf in open_ if np.maximum(counts[leaf], 0).sum() >= 2 * least]
            scores: CutScores | DependenceScores = CutScores(tree, tuple(open_), cuts, class_weights(counts[open_]), balanced)
            if self.split is Split.DEPENDENCE:
                scores = DependenceScores(tree, tuple(open_), cuts)
            chosen = vault.choose_each(scores, part)
            halves = []
            for leaf, number in zip(open_, chosen.tolist(), strict=True):
                halves += [leaf, tree.leaves]
                tree = tree.split(leaf, cuts.weights(number), 0)
            open_ = halves
            vault.report((level + 1) / (self.levels + 1))
        return tree
