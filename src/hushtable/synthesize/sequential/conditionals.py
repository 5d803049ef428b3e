"""Conditional distributions of one column given others: what a sequential synthesizer draws from.

Each learner sees cells (whole numbers) of the column and of its predictors, keeps counts or coefficients but no rows,
and draws cells for new predictor rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from scipy.special import ndtr, ndtri, softmax

from hushtable.numerics.fitting import fit
from hushtable.pipeline.step import Arrays
from hushtable.synthesize.sequential.grid import Grid
from hushtable.table.arrays import Floats, Integers, Singles

MANY = 64
"""A tree is grown on at most this many classes; more levels are first put into groups that behave alike."""
FEW = 20
"""A number with at most this many cells is split like a category."""


class Conditional(Protocol):
    """A fitted learner."""

    def draw(self, predictors: list[Integers], rng: np.random.Generator) -> Integers:
        """One cell for each row of predictor cells."""
        ...

    def support(self, cells: Integers, predictors: list[Integers]) -> tuple[Floats, Floats]:
        """For each row: how many of the rows it would be drawn from hold this cell, and how many they are."""
        ...

    def parts(self) -> Arrays:
        """Its arrays."""
        ...


@dataclass(frozen=True, eq=False)
class Marginal:
    """Draws from the column's own distribution, whatever the predictors."""

    counts: Integers

    @classmethod
    def fit(cls, cells: Integers, grid: Grid) -> Marginal:
        """Count."""
        return cls(np.bincount(cells, minlength=grid.count))

    def draw(self, predictors: list[Integers], rng: np.random.Generator) -> Integers:
        """As many as there are predictor rows."""
        return self.sample(len(predictors[0]), rng)

    def sample(self, n: int, rng: np.random.Generator) -> Integers:
        """``n`` independent draws."""
        return rng.choice(len(self.counts), n, p=self.counts / self.counts.sum())

    def support(self, cells: Integers, predictors: list[Integers]) -> tuple[Floats, Floats]:
        """Among all rows."""
        return self.counts[cells].astype(np.float64), np.full(len(cells), float(self.counts.sum()))

    def parts(self) -> Arrays:
        """The counts."""
        return {"counts": self.counts}

    @classmethod
    def from_parts(cls, arrays: Arrays, grids: list[Grid]) -> Self:
        """Rebuild it."""
        return cls(arrays["counts"].astype(np.int64))


@dataclass(frozen=True, eq=False)
class Tree:
    """A classification or regression tree whose leaves keep the counts of their cells.

    ``scores[i]`` turns predictor i's cells into numbers to split on; a category is ordered by how the target behaves
    under each of its levels, once per score column.
    """

    scores: list[Floats]
    feature: Integers
    threshold: Floats
    left: Integers
    right: Integers
    leaf_start: Integers
    """Where a node's cells begin in ``cells``; a node without any is no leaf."""
    cells: Integers
    running: Integers
    """Running counts of ``cells``, so that a random number picks one."""

    @classmethod
    def fit(cls, cells: Integers, grid: Grid, predictors: list[Integers], grids: list[Grid], min_leaf: int) -> Tree:
        """Grow a tree by CART (Breiman et al. 1984) with at least ``min_leaf`` rows in a leaf."""
        # Slow to import, and needed only where trees are grown.
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        classes = not grid.column.numeric or grid.count <= FEW + 1
        ranks = _middle_ranks(cells, grid.count)
        scores = [_scores(cells, grid, ranks, p, g, classes=classes) for p, g in zip(predictors, grids, strict=True)]
        design = _design(predictors, scores)
        if classes:
            grower = DecisionTreeClassifier(min_samples_leaf=min_leaf, criterion="entropy", random_state=0)
            grower.fit(design, _grouped(cells, grid.count, design))
        else:
            grower = DecisionTreeRegressor(min_samples_leaf=min_leaf, random_state=0)
            grower.fit(design, ranks[cells])
        tree = grower.tree_
        leaves = tree.apply(design)
        pairs, counts = np.unique(leaves * grid.count + cells, return_counts=True)
        start = np.searchsorted(pairs, np.arange(tree.node_count + 1) * grid.count)
        return cls(
            scores, tree.feature.astype(np.int64), tree.threshold.astype(np.float64), tree.children_left.astype(np.int64),
            tree.children_right.astype(np.int64), start, pairs % grid.count, np.cumsum(counts),
        )  # fmt: skip

    def draw(self, predictors: list[Integers], rng: np.random.Generator) -> Integers:
        """Fall to a leaf, then draw one of its cells by their counts."""
        node = self._fall(_design(predictors, self.scores))
        before = np.append(0, self.running)
        first, last = before[self.leaf_start[node]], before[self.leaf_start[node + 1]]
        ticket = first + np.floor(rng.random(len(node)) * (last - first)).astype(np.int64)
        return np.asarray(self.cells[np.searchsorted(self.running, ticket, side="right")])

    def support(self, cells: Integers, predictors: list[Integers]) -> tuple[Floats, Floats]:
        """Among the rows of the leaf."""
        node = self._fall(_design(predictors, self.scores))
        before = np.append(0, self.running)
        size = before[self.leaf_start[node + 1]] - before[self.leaf_start[node]]
        owner = np.repeat(np.arange(len(self.leaf_start) - 1), np.diff(self.leaf_start))
        wide = int(max(self.cells.max(initial=0), cells.max(initial=0))) + 1
        held, asked = owner * wide + self.cells, node * wide + cells
        place = np.minimum(np.searchsorted(held, asked), len(held) - 1)
        own = np.where(held[place] == asked, self.running[place] - before[place], 0)
        return own.astype(np.float64), size.astype(np.float64)

    def _fall(self, design: Singles) -> Integers:
        node = np.zeros(len(design), np.int64)
        open_ = np.arange(len(design))
        while len(open_):
            at = node[open_]
            inner = self.left[at] >= 0
            open_, at = open_[inner], at[inner]
            goes_left = design[open_, self.feature[at]] <= self.threshold[at]
            node[open_] = np.where(goes_left, self.left[at], self.right[at])
        return node

    def parts(self) -> Arrays:
        """The tree as arrays."""
        names = ("feature", "threshold", "left", "right", "leaf_start", "cells", "running")
        return {name: getattr(self, name) for name in names} | {f"score{i}": s for i, s in enumerate(self.scores)}

    @classmethod
    def from_parts(cls, arrays: Arrays, grids: list[Grid]) -> Self:
        """Rebuild it."""
        scores: list[Any] = [arrays[f"score{i}"] for i in range(len(grids))]
        rest: dict[str, Any] = {name: array for name, array in arrays.items() if not name.startswith("score")}
        return cls(scores=scores, **rest)


@dataclass(frozen=True, eq=False)
class Linear:
    """A linear model: of the normal scores for numbers, a multinomial logit for categories."""

    coefficients: Floats
    counts: Integers
    spread: float
    """Residual standard deviation of the normal scores; 0 marks a multinomial model."""
    scores: list[Floats]
    """What each predictor's cells count as: a category's indicators, a number's normal score and whether it is missing."""

    @classmethod
    def fit(cls, cells: Integers, grid: Grid, predictors: list[Integers], grids: list[Grid], min_leaf: int) -> Linear:
        """Least squares on normal scores, or multinomial logistic regression, each with a small ridge."""
        counts = np.bincount(cells, minlength=grid.count)
        ranks = _middle_ranks(cells, grid.count)
        scores = [_linear_scores(cells, ranks, p, g) for p, g in zip(predictors, grids, strict=True)]
        design = _with_constant(predictors, scores)
        if grid.column.numeric:
            target = _normal(ranks)[cells]
            gram = design.T @ design + np.eye(design.shape[1])
            beta = np.linalg.solve(gram, design.T @ target)
            fitted = design @ beta
            spread = max(float((target - fitted).std()), 1e-9)
            # Scores of all rows together are to be standard normal again, so that the column keeps its own distribution.
            whole = float(np.hypot(fitted.std(), spread))
            return cls(np.asarray(beta[:, None] / whole, np.float64), counts, spread / whole, scores)
        # Slow to import, and needed only for categories.
        from sklearn.linear_model import LogisticRegression

        present = np.flatnonzero(counts)
        weights = np.zeros((design.shape[1], grid.count))
        weights[0] = np.where(counts > 0, 0.0, -1e9)
        if len(present) > 1:
            model = LogisticRegression(C=1.0, max_iter=300, fit_intercept=False)
            fit(model, design, cells)
            coefficients = model.coef_ if len(present) > 2 else np.vstack([np.zeros(design.shape[1]), model.coef_[0]])
            weights[:, present] = coefficients.T
        return cls(weights, counts, 0.0, scores)

    def draw(self, predictors: list[Integers], rng: np.random.Generator) -> Integers:
        """A normal score pushed back through the column's own distribution, or a class by its probability."""
        design = _with_constant(predictors, self.scores)
        if self.spread > 0:
            level = ndtr(design @ self.coefficients[:, 0] + self.spread * rng.standard_normal(len(design)))
            shares = np.cumsum(self.counts) / self.counts.sum()
            return np.minimum(np.searchsorted(shares, level), len(shares) - 1)
        logits = design @ self.coefficients
        gumbel = -np.log(-np.log(rng.random(logits.shape)))
        return np.asarray(np.argmax(logits + gumbel, axis=1))

    def support(self, cells: Integers, predictors: list[Integers]) -> tuple[Floats, Floats]:
        """Among as many rows as it was fitted on, shared out by the model's probabilities."""
        design = _with_constant(predictors, self.scores)
        total = float(self.counts.sum())
        if self.spread > 0:
            ends = ndtri(np.append(0, np.cumsum(self.counts)) / total)
            middle = design @ self.coefficients[:, 0]
            low, high = ((ends[cells + i] - middle) / self.spread for i in (0, 1))
            chance = ndtr(high) - ndtr(low)
        else:
            chance = softmax(design @ self.coefficients, axis=1)[np.arange(len(cells)), cells]
        return total * chance, np.full(len(cells), total)

    def parts(self) -> Arrays:
        """The coefficients."""
        own = {"coefficients": self.coefficients, "counts": self.counts, "spread": np.array([self.spread])}
        return own | {f"score{i}": s for i, s in enumerate(self.scores)}

    @classmethod
    def from_parts(cls, arrays: Arrays, grids: list[Grid]) -> Self:
        """Rebuild it."""
        values: dict[str, Any] = dict(arrays)
        scores = [values[f"score{i}"] for i in range(len(grids))]
        return cls(values["coefficients"], values["counts"], float(values["spread"][0]), scores)


def _design(predictors: list[Integers], scores: list[Floats]) -> Singles:
    """float32, because that is what the grown tree compares."""
    return np.hstack([s[p] for p, s in zip(predictors, scores, strict=True)]).astype(np.float32)


def _middle_ranks(cells: Integers, count: int) -> Floats:
    """Each cell's average rank among the rows, in (0, 1): a scale on which squared differences mean the same everywhere."""
    counts = np.bincount(cells, minlength=count)
    return np.asarray((np.cumsum(counts) - counts / 2) / max(1, len(cells)))


def _scores(cells: Integers, grid: Grid, ranks: Floats, predictor: Integers, own: Grid, *, classes: bool) -> Floats:
    """For each predictor cell the numbers a tree may split on, one column each."""
    if own.column.numeric or own.column.kind == "ordinal":
        return own.numbers(np.arange(own.count))[:, None]
    if not classes:
        return _mean_ranks(cells, ranks, predictor, own.count)[:, None]
    target, count = _commonest(cells, grid.count)
    table = np.bincount(predictor * count + target, minlength=own.count * count).reshape(own.count, count).astype(float)
    sizes = table.sum(1)
    overall = table.sum(0) / table.sum()
    profile = (table + overall) / (sizes + 1)[:, None] - overall
    # The two directions in which the levels' profiles differ most.
    _, _, axes = np.linalg.svd(profile * np.sqrt(sizes)[:, None], full_matrices=False)
    return np.asarray(profile @ axes[:2].T)


def _commonest(cells: Integers, count: int) -> tuple[Integers, int]:
    """The cells themselves, or, where there are many, the commonest of them and one for all others."""
    if count <= MANY:
        return cells, count
    place = np.full(count, MANY - 1)
    place[np.argsort(-np.bincount(cells, minlength=count), kind="stable")[: MANY - 1]] = np.arange(MANY - 1)
    return place[cells], MANY


def _grouped(cells: Integers, count: int, design: Singles) -> Integers:
    """The cells themselves, or groups of them that have similar predictors when there are too many for a tree."""
    if count <= MANY:
        return cells
    sizes = np.bincount(cells, minlength=count)
    centred = (design - design.mean(0)) / (design.std(0) + 1e-9)
    means = np.stack([np.bincount(cells, column, minlength=count) for column in centred.T], axis=1) / (sizes[:, None] + 1)
    _, _, axes = np.linalg.svd(means * np.sqrt(sizes)[:, None], full_matrices=False)
    order = np.argsort(means @ axes[0], kind="stable")
    group = np.empty(count, np.int64)
    group[order] = np.minimum(np.cumsum(sizes[order]) * MANY // max(1, len(cells)), MANY - 1)
    return group[cells]


def _normal(ranks: Floats) -> Floats:
    """Ranks in (0, 1) as normal scores."""
    return np.asarray(ndtri(np.clip(ranks, 1e-6, 1 - 1e-6)))


def _linear_scores(cells: Integers, ranks: Floats, predictor: Integers, own: Grid) -> Floats:
    """For each predictor cell the numbers a linear model may weigh."""
    if own.column.numeric:
        missing = np.arange(own.count) == own.count - 1
        return np.stack([np.where(missing, 0.0, _normal(_middle_ranks(predictor, own.count))), missing], axis=1)
    if own.count <= MANY:
        return np.eye(own.count)
    return _normal(_mean_ranks(cells, ranks, predictor, own.count))[:, None]


def _mean_ranks(cells: Integers, ranks: Floats, predictor: Integers, count: int) -> Floats:
    """The target's mean rank under each predictor cell, drawn a little to the middle where rows are few."""
    totals = np.bincount(predictor, ranks[cells], minlength=count)
    return np.asarray((totals + 0.5) / (np.bincount(predictor, minlength=count) + 1))


def _with_constant(predictors: list[Integers], scores: list[Floats]) -> Floats:
    return np.hstack([np.ones((len(predictors[0]), 1)), *(s[p] for p, s in zip(predictors, scores, strict=True))])
