"""A vine with two trees: the target joined with every other column, then pairs of these in each class, from noisy tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self

import numpy as np

from hushtable.pipeline.step import Arrays, Given
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula.part_margins import measure_parts
from hushtable.synthesize.copula.vine_pairs import DROWNED, NONE, sides
from hushtable.synthesize.copula.vine_tables import (
    Dependences,
    PairCounts,
    chance,
    class_checkerboards,
    group_shares,
    groups,
    independent,
    spanning_tree,
)
from hushtable.synthesize.copula.vine_tree import Edge, TreeModel, raised
from hushtable.synthesize.histogram_cells import given_cells, spread, values_of
from hushtable.table.arrays import Floats
from hushtable.table.schema import Schema
from hushtable.table.table import Table


@dataclass(frozen=True, eq=False)
class ClassTrees:
    """The shares of the classes, and for each of them the tree of the other columns."""

    schema: Schema
    classes: str
    weights: Floats
    trees: tuple[TreeModel, ...]
    total: int
    summary: dict[str, Any]

    @property
    def size(self) -> int:
        """As many rows as it draws where no number is asked for."""
        return self.total

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """``n`` rows; ``given`` fixes columns to a value, and classes and the other columns are drawn given that."""
        rows = self.size if n is None else n
        fixed = given_cells(self.schema, given)
        inner = {name: value for name, value in (given or {}).items() if name != self.classes}
        weights = self._weights(fixed)
        label = spread(weights, rows, rng)
        arrays = {c.name: np.zeros(rows, c.dtype) for c in self.schema}
        arrays[self.classes] = values_of(self.schema[self.classes], label).astype(self.schema[self.classes].dtype)
        for number in np.unique(label):
            held = np.flatnonzero(label == number)
            drawn = self.trees[number].sample(len(held), rng, inner)
            for name in drawn.schema.names:
                arrays[name][held] = drawn[name]
        return Table(self.schema, arrays)

    def _weights(self, fixed: Mapping[str, int]) -> Floats:
        """The probability of each class, given the cells that are fixed."""
        if self.classes in fixed:
            return np.asarray(np.eye(len(self.weights))[fixed[self.classes]])
        if not fixed:
            return self.weights
        logs = np.log(self.weights) + [tree.log_likelihood(dict(fixed)) for tree in self.trees]
        weights = np.exp(logs - logs.max())
        return np.asarray(weights / weights.sum())

    def result(self) -> dict[str, Any]:
        """The tree and the noise."""
        return self.summary

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """The schema and the trees of all classes."""
        stored = [tree.parts() for tree in self.trees]
        arrays = {f"{k} {name}": array for k, (_, own) in enumerate(stored) for name, array in own.items()}
        values = {"schema": self.schema.portable().dump(), "classes": self.classes, "total": self.total, "summary": self.summary}
        return values | {"trees": [tree for tree, _ in stored]}, arrays | {"weights": self.weights}

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        trees = []
        for k, tree in enumerate(values["trees"]):
            start = f"{k} "
            own = {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
            trees.append(TreeModel.from_parts(tree, own))
        schema, weights = Schema.parse(values["schema"]), arrays["weights"].astype(np.float64)
        return cls(schema, values["classes"], weights, tuple(trees), values["total"], values["summary"])


@dataclass(frozen=True, eq=False)
class Classes:
    """The column that every other one is joined with, and the noisy numbers of records of its classes."""

    name: str
    counts: Floats
    coarse: int
    """Groups of a column when the tree is chosen."""


def fit_classes(
    vault: Vault, classes: Classes, of_margins: Mapping[str, Allowance], of_tree: Allowance, of_tables: list[Allowance]
) -> ClassTrees:
    """Every other column together with the classes; then one tree for all classes, by the dependence given them; then its tables.

    The queries are as many as for a vine of one tree, less one, and each costs the same: a record lies in one class.
    """
    schema, counts = vault.schema, classes.counts
    margins = measure_parts(vault, (classes.name,), of_margins, counts, "")
    shares = [np.stack([raised(own) for own in margins.shares[name]]) for name in margins.others]
    weights = counts / counts.sum()
    whole = [weights @ own for own in shares]
    others = schema.select(margins.others)
    vault.report(0.3)
    tree = _tree(vault, of_tree, classes, others, shares)
    vault.report(0.6)
    edges: list[list[Edge]] = [[] for _ in counts]
    strengths = {}
    for (parent, child), allowance in zip(tree, of_tables, strict=False):
        names = (others.names[parent], others.names[child])
        noise = allowance.deviation(PairCounts(names, NONE), schema)
        cells = max(DROWNED * float(counts.sum()) / (0.8 * noise * len(counts)), 4.0)
        most = sides(len(whole[parent]), len(whole[child]), cells)
        above, below = (groups(others[n], whole[i], m) for n, i, m in zip(names, (parent, child), most, strict=True))
        query = PairCounts(names, (above, below), classes.name)
        noisy = vault.spend(query, allowance).reshape(len(counts), *query.shape).astype(np.float64)
        one, two = (np.stack([group_shares(g, s) for s in shares[i]]) for g, i in ((above, parent), (below, child)))
        joints, factor = class_checkerboards(noisy, one, two, counts, noise)
        for of_class, joint in zip(edges, joints, strict=True):
            of_class.append(Edge(parent, child, above, below, joint))
        strengths[" - ".join(names)] = round(factor, 3)
    total = round(float(counts.sum()))
    trees = tuple(
        TreeModel(others, tuple(share[k] for share in shares), tuple(edges[k]), round(float(counts[k])), {})
        for k in range(len(counts))
    )
    summary = {"classes_of": classes.name, "noisy_sizes": [round(float(c)) for c in counts], "tree": strengths}
    return ClassTrees(schema, classes.name, raised(weights), trees, total, summary)


def _tree(vault: Vault, allowance: Allowance, classes: Classes, others: Schema, shares: list[Floats]) -> list[tuple[int, int]]:
    """The tree whose pairs are the most dependent given the classes, by noisy distances from independence."""
    counts = classes.counts
    weights = counts / counts.sum()
    grouped = [groups(column, weights @ share, classes.coarse) for column, share in zip(others, shares, strict=True)]
    coarse = [np.stack([group_shares(g, s) for s in share]) for g, share in zip(grouped, shares, strict=True)]
    pairs = list(combinations(range(len(others)), 2))
    expected = [
        np.concatenate([independent(a, b, count) for a, b, count in zip(coarse[i], coarse[j], counts, strict=True)])
        for i, j in pairs
    ]
    query = Dependences(others.names, tuple(grouped), tuple(expected), classes.name)
    distances = np.bincount(query.turns, vault.spend(query, allowance)) / np.bincount(query.turns)
    matrix = np.zeros((len(others), len(others)))
    for (i, j), distance, by_chance in zip(pairs, distances, map(chance, expected), strict=True):
        matrix[i, j] = matrix[j, i] = distance - by_chance
    return spanning_tree(matrix)
