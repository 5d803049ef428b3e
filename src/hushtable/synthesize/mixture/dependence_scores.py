"""How far each cut of a leaf sets the other columns apart: the scores of a tree that models all columns, not the class alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hushtable.privacy.unit import Relation
from hushtable.synthesize.mixture.trees import Cuts, Tree
from hushtable.table.arrays import Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table


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

    def answer(self, table: Table) -> Integers:
        """Leaves by candidates."""
        encoding = self.tree.encoding
        codes = encoding.codes(table)
        place = np.full(self.tree.leaves, -1)
        place[list(self.leaves)] = np.arange(len(self.leaves))
        node = place[self.tree.leaf(codes)]
        inside = node >= 0
        starts = [span.start for span in encoding.code_spans]
        own = [codes[inside, i] - start for i, start in enumerate(starts)]
        sizes = [f.cells for f in encoding.fields]
        others = [*zip(own, sizes, strict=True), *([(encoding.labels(table)[inside], encoding.classes)] if encoding.target else [])]
        scores = np.zeros((len(self.leaves), len(self.cuts.places)), np.int64)
        for number, f in enumerate(encoding.fields):
            mine = [i for i, (column, _) in enumerate(self.cuts.places) if column == number]
            at = [self.cuts.places[i][1] for i in mine]
            for other, (code, size) in enumerate(others):
                if not mine or other == number:
                    continue
                group = (node[inside] * f.cells + own[number]) * size + code
                shape = (len(self.leaves), f.cells, size)
                counts = np.bincount(group, minlength=int(np.prod(shape))).reshape(shape)
                total = counts.sum(axis=1, keepdims=True)
                left = (np.cumsum(counts, axis=1) if f.ordered else counts)[:, at]
                right = total - left
                apart = np.abs(left * right.sum(2, keepdims=True) - right * left.sum(2, keepdims=True)).sum(axis=2)
                scores[:, mine] += apart // np.maximum(total.sum(axis=2), 1)
        return scores

    def largest(self, schema: Schema, rows: int) -> int:
        """Half of the records out of place in all columns; on the way a numerator is at most 2LR <= T^2/2."""
        return rows * max(rows // 2, len(schema))

    def change(self, schema: Schema, relation: Relation) -> int:
        """All leaves together, as above."""
        one = 2 * max(len(schema) - 1, 1)
        return one if relation is Relation.ADD_REMOVE else 2 * one
