"""How far each cut of a leaf sets the other columns apart: the scores of a tree that models all columns, not the class alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from hushtable.privacy.unit import Relation
from hushtable.synthesize.mixture.trees import Cuts, Tree, inside_leaves
from hushtable.table.arrays import Integers
from hushtable.table.rows import Rows
from hushtable.table.schema import Schema
from hushtable.table.table import Table


@dataclass(frozen=True, eq=False)
class _LeafPairs:
    """For every two of the fields, and the class, the numbers of records with each pair of codes in each of some leaves."""

    additive: ClassVar[bool] = True
    tree: Tree
    leaves: tuple[int, ...]

    @property
    def reads(self) -> tuple[str, ...]:
        """All columns."""
        return self.tree.encoding.schema.names

    @property
    def sizes(self) -> list[int]:
        """How many codes each field has, and last the class."""
        encoding = self.tree.encoding
        return [*(f.cells for f in encoding.fields), *([encoding.classes] if encoding.target else [])]

    def answer(self, table: Table) -> Integers:
        """Pair by pair, leaves by codes by codes."""
        encoding, sizes = self.tree.encoding, self.sizes
        node, codes = inside_leaves(self.tree, self.leaves, table)
        inside = node >= 0
        own = [codes[inside, i] - span.start for i, span in enumerate(encoding.code_spans)]
        own += [encoding.labels(table)[inside]] if encoding.target else []
        counts = [
            np.bincount((node[inside] * sizes[a] + own[a]) * sizes[b] + own[b], minlength=len(self.leaves) * sizes[a] * sizes[b])
            for a, b in combinations(range(len(sizes)), 2)
        ]
        return np.concatenate(counts or [np.zeros(0, np.int64)])

    def counts(self, answer: Integers) -> dict[tuple[int, int], Integers]:
        """The answer as one array for each pair, either way around: leaves by codes by codes."""
        sizes, found, start = self.sizes, dict[tuple[int, int], Integers](), 0
        for a, b in combinations(range(len(sizes)), 2):
            shape = (len(self.leaves), sizes[a], sizes[b])
            own = answer[start : start + math.prod(shape)].reshape(shape)
            found |= {(a, b): own, (b, a): own.transpose(0, 2, 1)}
            start += math.prod(shape)
        return found


@dataclass(frozen=True, eq=False)
class DependenceScores:
    """For each candidate cut of each of some leaves, how different the other columns are left and right, leaf by leaf.

    With l and r the counts of a column's codes left and right, L and R their sums and T = L + R, a column (the class is one
    too) adds floor(sum |l R - r L| / T): the records that are out of place if left and right are taken to be alike.

    *What one record can change.* It lies in one leaf or in none of them. Say it is added left, with code k. Then the sum in the
    numerator changes by at most (R - r_k) + sum over the other codes of r = 2 (R - r_k) <= 2R. So the quotient f grows by at
    most 2R/(T + 1) <= 2. It falls by at most (f + 2R)/(T + 1), and f <= 2LR/T, so by at most 2R (L + T)/(T (T + 1)), which is
    below 2 (T - L)(T + L)/T^2 <= 2. Numbers that are at most 2 apart are so after rounding down. With m columns other than the
    one that is cut, a score changes by at most 2m; a replaced record is one less and one more: twice that.
    """

    tree: Tree
    leaves: tuple[int, ...]
    cuts: Cuts

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return self.tree.encoding.schema.names

    def over(self, rows: Rows) -> Integers:
        """Leaves by candidates."""
        asked = _LeafPairs(self.tree, self.leaves)
        found = asked.counts(rows.fold(asked))
        scores = np.zeros((len(self.leaves), len(self.cuts.places)), np.int64)
        for number, f in enumerate(self.tree.encoding.fields):
            mine = [i for i, (column, _) in enumerate(self.cuts.places) if column == number]
            at = [self.cuts.places[i][1] for i in mine]
            for other in range(len(asked.sizes)):
                if not mine or other == number:
                    continue
                counts = found[number, other]
                total = counts.sum(axis=1, keepdims=True)
                left = (np.cumsum(counts, axis=1) if f.ordered else counts)[:, at]
                right = total - left
                apart = np.abs(left * right.sum(2, keepdims=True) - right * left.sum(2, keepdims=True)).sum(axis=2)
                scores[:, mine] += apart // np.maximum(total.sum(axis=2), 1)
        return scores

    def answer(self, table: Table) -> Integers:
        """The same of rows in memory."""
        return self.over(table)

    def largest(self, schema: Schema, rows: int) -> int:
        """Half of the records out of place in all columns; on the way a numerator is at most 2LR <= T^2/2."""
        return rows * max(rows // 2, len(schema))

    def change(self, schema: Schema, relation: Relation) -> int:
        """All leaves together, as above."""
        one = 2 * max(len(schema) - 1, 1)
        return one if relation is Relation.ADD_REMOVE else 2 * one
