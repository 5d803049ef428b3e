"""Conditional distributions of one column given others: what a sequential synthesizer draws from.

Each learner sees cells (whole numbers) of the column and of its predictors, keeps counts or coefficients but no rows,
and draws cells for new predictor rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from scipy.special import ndtr, ndtri, softmax

from hushtable.encode.cells import Grid
from hushtable.numerics.fitting import fit
from hushtable.pipeline.step import Arrays
from hushtable.table.arrays import Floats, Integers, Mask, Singles

MANY = 64
"""A tree is grown on at most this many classes; more levels are first put into groups that behave alike."""
FEW = 20
"""A number with at most this many cells is split like a category."""
BORROWED = (0, 1, 3, 10, 30, 100, 300)
"""Weights of the node above, in rows, of which the likeliest is taken."""


class Growth(NamedTuple):
    """How far a tree is grown, and how far its nodes are believed."""

    rows: int
    """The least number of rows in a leaf."""
    prune: float
    """What a further leaf must add to the log-likelihood of rows left out, in nats; 0 keeps all leaves."""
    shrink: int
    """The largest weight of the node above in the distribution of each node, in rows."""
    least: int
    """The least number of rows of a leaf in a range from which a number is drawn."""


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
    under each of its levels, once per score column. A node's distribution is mixed with that of the node above, which is mixed
    in turn (-1 among the cells stands for a draw from above). A number of many cells is drawn from ranges of its leaf instead,
    which pool rows of the leaf.
    """

    scores: list[Floats]
    feature: Integers
    threshold: Floats
    left: Integers
    right: Integers
    leaf_start: Integers
    """Where a node's cells begin in ``cells``; a node without any is never drawn from."""
    cells: Integers
    running: Integers
    """Running counts of ``cells``, so that a random number picks one."""
    last: Integers
    """Where each of ``cells`` is the first of a range, the last one; empty where each stands for itself."""

    @classmethod
    def fit(cls, cells: Integers, grid: Grid, predictors: list[Integers], grids: list[Grid], growth: Growth) -> Tree:
        """Grow a tree by CART (Breiman et al. 1984), and prune it by cost and complexity to the leaves that the rows justify."""
        # Slow to import, and needed only where trees are grown.
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        classes = not grid.column.numeric or grid.count <= FEW + 1
        ranks = _middle_ranks(cells, grid.count)
        scores = [_scores(cells, grid, ranks, p, g, classes=classes) for p, g in zip(predictors, grids, strict=True)]
        design = _design(predictors, scores)
        if classes:
            grower = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=growth.rows, random_state=0)
            grower.fit(design, _grouped(cells, grid.count, design))
        else:
            grower = DecisionTreeRegressor(min_samples_leaf=growth.rows, random_state=0)
            grower.fit(design, ranks[cells])
        tree = grower.tree_
        leaves = tree.apply(design)
        if classes:
            pairs, kept, left, right = _nodes(tree, leaves, cells, grid.count, growth)
            last = np.empty(0, np.int64)
        else:
            # Which branches stay is judged by cells of many rows: of the finest ones a leaf has seen too few.
            _, _, left, right = _nodes(tree, leaves, *_coarse(cells, grid.count), growth)
            rest = _remaining(leaves, _parents(tree.children_left, tree.children_right), left)
            pairs, last, kept = _ranges(rest, cells, grid.count, growth.least)
        return cls(
            scores, tree.feature.astype(np.int64), tree.threshold.astype(np.float64), left, right,
            np.searchsorted(pairs, np.arange(tree.node_count + 1) * (grid.count + 1)), pairs % (grid.count + 1) - 1,
            np.cumsum(kept), last,
        )  # fmt: skip

    def draw(self, predictors: list[Integers], rng: np.random.Generator) -> Integers:
        """Fall to a leaf, then draw one of its cells by their counts, or climb to the node above and draw there."""
        node = self._fall(_design(predictors, self.scores))
        parent, before = _parents(self.left, self.right), np.append(0, self.running)
        entry = np.zeros(len(node), np.int64)
        open_ = np.arange(len(node))
        while len(open_):
            at = node[open_]
            first, last = before[self.leaf_start[at]], before[self.leaf_start[at + 1]]
            ticket = first + np.floor(rng.random(len(at)) * (last - first)).astype(np.int64)
            entry[open_] = np.searchsorted(self.running, ticket, side="right")
            open_ = open_[self.cells[entry[open_]] < 0]
            node[open_] = parent[node[open_]]
        cells = self.cells[entry]
        if not len(self.last):
            return cells
        return np.asarray(cells + np.floor(rng.random(len(cells)) * (self.last[entry] - cells + 1)).astype(np.int64))

    def support(self, cells: Integers, predictors: list[Integers]) -> tuple[Floats, Floats]:
        """Among the rows of the leaf and what it borrows from above, shared out by the model's probabilities."""
        node = self._fall(_design(predictors, self.scores))
        parent, before = _parents(self.left, self.right), np.append(0, self.running)
        owner = np.repeat(np.arange(len(self.leaf_start) - 1), np.diff(self.leaf_start))
        wide = int(max(self.cells.max(initial=0), cells.max(initial=0))) + 2
        held = owner * wide + self.cells + 1
        end = held + self.last - self.cells if len(self.last) else held

        def share(at: Integers, which: Integers) -> Floats:
            asked = at * wide + which + 1
            place = np.maximum(np.searchsorted(held, asked, side="right") - 1, 0)
            own = np.where((held[place] <= asked) & (asked <= end[place]), self.running[place] - before[place], 0)
            size = before[self.leaf_start[at + 1]] - before[self.leaf_start[at]]
            return np.asarray(own / (end[place] - held[place] + 1) / np.maximum(size, 1))

        size = (before[self.leaf_start[node + 1]] - before[self.leaf_start[node]]).astype(np.float64)
        chance, climbing = np.zeros(len(cells)), np.ones(len(cells))
        while climbing.any():
            chance += climbing * share(node, cells)
            climbing *= share(node, np.full(len(cells), -1))
            node = np.maximum(parent[node], 0)
        return chance * size, size

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
        names = ("feature", "threshold", "left", "right", "leaf_start", "cells", "running", "last")
        return {name: getattr(self, name) for name in names} | {f"score{i}": s for i, s in enumerate(self.scores)}

    @classmethod
    def from_parts(cls, arrays: Arrays, grids: list[Grid]) -> Self:
        """Rebuild it; trees of earlier versions have no ranges."""
        scores: list[Any] = [arrays[f"score{i}"] for i in range(len(grids))]
        rest: dict[str, Any] = {name: array for name, array in arrays.items() if not name.startswith("score")}
        return cls(scores=scores, **{"last": np.empty(0, np.int64)} | rest)


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
    def fit(cls, cells: Integers, grid: Grid, predictors: list[Integers], grids: list[Grid], growth: Growth) -> Linear:
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


def _parents(left: Integers, right: Integers) -> Integers:
    """The node above each node; -1 for the root."""
    parent = np.full(len(left), -1)
    for children in (left, right):
        inner = np.flatnonzero(children >= 0)
        parent[children[inner]] = inner
    return parent


def _nodes(
    tree: Any, leaves: Integers, cells: Integers, count: int, growth: Growth
) -> tuple[Integers, Integers, Integers, Integers]:
    """The cells of each node, as sorted ``node * (count + 1) + cell + 1``, with their counts; and the nodes below each, pruned.

    Below the root every node borrows some rows from the node above, as its cell -1. How many, and which branches stay, is what
    makes each row likeliest under the tree without that row. Where none are borrowed, only leaves are drawn from, and have cells.
    """
    left, right = tree.children_left.astype(np.int64), tree.children_right.astype(np.int64)
    parent = _parents(left, right)
    levels = _levels(leaves, cells, count, parent)
    tried = [rows for rows in BORROWED if rows <= growth.shrink]
    results = [_pruned(_left_out(levels, count, parent, rows), left, right, growth.prune) for rows in tried]
    best = max(range(len(tried)), key=lambda at: results[at][0])
    borrowed, stays = tried[best], results[best][1]
    left, right = np.where(stays, left, -1), np.where(stays, right, -1)
    pairs = np.concatenate([pairs for pairs, _ in levels])
    places, rows = pairs // count * (count + 1) + pairs % count + 1, np.concatenate([held for _, held in levels])
    if borrowed:
        places = np.append(places, np.arange(1, len(parent)) * (count + 1))
        rows = np.append(rows, np.full(len(parent) - 1, borrowed))
    reached = np.zeros(len(parent), np.bool_)
    reached[0] = True
    reached[left[stays]] = reached[right[stays]] = True
    drawn = (reached & (~stays | bool(borrowed)))[places // (count + 1)]
    order = np.argsort(places[drawn])
    return places[drawn][order], rows[drawn][order], left, right


def _levels(leaves: Integers, cells: Integers, count: int, parent: Integers) -> list[tuple[Integers, Integers]]:
    """The counts of all nodes as ``node * count + cell``, level by level from the root's."""
    depth = np.zeros(len(parent), np.int64)
    for node in range(1, len(parent)):  # a node stands after the one above it
        depth[node] = depth[parent[node]] + 1
    pairs, counts = np.unique(leaves * count + cells, return_counts=True)
    levels = []
    for level in range(int(depth.max()), -1, -1):
        here = depth[pairs // count] == level
        levels.append((pairs[here], counts[here]))
        if level:
            above = parent[pairs[here] // count] * count + pairs[here] % count
            pairs, where = np.unique(np.concatenate([pairs[~here], above]), return_inverse=True)
            counts = np.bincount(where, np.concatenate([counts[~here], counts[here]])).astype(np.int64)
    return levels[::-1]


def _left_out(levels: list[tuple[Integers, Integers]], count: int, parent: Integers, borrowed: int) -> Floats:
    """The log-likelihood of each node's rows if it were a leaf, each row under the tree without it."""
    total, before, chances = np.zeros(len(parent)), np.empty(0, np.int64), np.empty(0)
    for level, (pairs, held) in enumerate(levels):
        node = pairs // count
        rows = np.bincount(node, held)[node] - 1
        above = chances[np.searchsorted(before, parent[node] * count + pairs % count)] if level else np.full(len(node), 1 / count)
        weight = borrowed if level else 1
        chances = (held - 1 + weight * above) / np.maximum(rows + weight, 1)
        total += np.bincount(node, held * np.log(np.maximum(chances, 1e-9)), minlength=len(parent))
        before = pairs
    return total


def _pruned(likelihood: Floats, left: Integers, right: Integers, penalty: float) -> tuple[float, Mask]:
    """The best likelihood of a pruned tree, and which nodes stay divided: those whose branches add more than the penalty."""
    best, stays = likelihood.tolist(), left >= 0
    if penalty:
        for node in range(len(left) - 1, -1, -1):
            if left[node] >= 0:
                branches = best[left[node]] + best[right[node]] - penalty
                stays[node] = branches > best[node]
                best[node] = max(branches, best[node])
        for node in range(len(left)):  # below a node that is a leaf now, nothing is left
            if left[node] >= 0 and not stays[node]:
                stays[left[node]] = stays[right[node]] = False
        return best[0], stays
    return float(likelihood[left < 0].sum()), stays


def _remaining(leaves: Integers, parent: Integers, left: Integers) -> Integers:
    """The leaves of the pruned tree in which rows lie."""
    final = np.zeros(len(parent), np.int64)
    for node in range(1, len(parent)):
        final[node] = node if final[parent[node]] == parent[node] and left[parent[node]] >= 0 else final[parent[node]]
    return final[leaves]


def _ranges(leaves: Integers, cells: Integers, count: int, least: int) -> tuple[Integers, Integers, Integers]:
    """Ranges of at least ``least`` rows in each leaf: the first cell as ``leaf * (count + 1) + cell + 1``, the last cell, the rows.

    A cell of so many rows stands alone, and so does missing; what is left over joins the range before, or stays where that is a
    cell alone: a frequent value must not be spread over a range.
    """
    pairs, counts = np.unique(leaves * count + cells, return_counts=True)
    ranges: list[list[int]] = []
    for leaf, cell, held in zip((pairs // count).tolist(), (pairs % count).tolist(), counts.tolist(), strict=True):
        same = bool(ranges) and ranges[-1][0] == leaf and cell < count - 1
        if same and ranges[-1][3] < least and held < least:
            ranges[-1][2:] = [cell, ranges[-1][3] + held]
        else:
            ranges.append([leaf, cell, cell, held])
    merged: list[list[int]] = []
    for leaf, first, last, held in ranges:
        if merged and merged[-1][0] == leaf and held < least and last < count - 1 and merged[-1][1] < merged[-1][2]:
            merged[-1][2:] = [last, merged[-1][3] + held]
        else:
            merged.append([leaf, first, last, held])
    table = np.array(merged)
    return table[:, 0] * (count + 1) + table[:, 1] + 1, table[:, 2], table[:, 3]


def _coarse(cells: Integers, count: int) -> tuple[Integers, int]:
    """Cells of at least one row in ``MANY``, frequent ones alone and missing too; and how many there are."""
    counts = np.bincount(cells, minlength=count)
    starts, rows, least = [0], 0, len(cells) / MANY
    for cell, held in enumerate(counts[:-1].tolist()):
        if rows and (held >= least or rows >= least):
            starts.append(cell)
            rows = 0
        rows += held
    starts.append(count - 1)
    return np.searchsorted(starts, cells, side="right") - 1, len(starts)


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
