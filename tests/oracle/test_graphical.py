"""The graphical model against the whole joint distribution, written out: marginals, conditions, the best fit."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from hushtable.synthesize.marginal.estimate import Stopping, estimate, loss_of
from hushtable.synthesize.marginal.graphical import Graphical
from hushtable.synthesize.marginal.junction import cells, triangulated
from hushtable.synthesize.marginal.measurement import Measurement


def aligned(array: np.ndarray, columns: tuple[str, ...], names: list[str]) -> np.ndarray:
    """With one axis for each name, of length 1 where it is not among the columns."""
    ordered = sorted(columns, key=names.index)
    shape = iter(array.transpose([columns.index(n) for n in ordered]).shape)
    return array.transpose([columns.index(n) for n in ordered]).reshape([next(shape) if n in columns else 1 for n in names])


def summed(joint: np.ndarray, columns: tuple[str, ...], names: list[str]) -> np.ndarray:
    ordered = sorted(columns, key=names.index)
    left = joint.sum(axis=tuple(i for i, n in enumerate(names) if n not in columns))
    return left.transpose([ordered.index(n) for n in columns])


def dense(model: Graphical) -> np.ndarray:
    """The joint distribution itself."""
    names = list(model.sizes)
    logs = np.zeros(list(model.sizes.values()))
    for columns, potential in model.potentials.items():
        logs = logs + aligned(potential, columns, names)
    joint = np.exp(logs)
    for columns, impossible in model.zeros.items():
        joint = joint * ~aligned(impossible, columns, names)
    return joint / joint.sum()


def some_model(rng: np.random.Generator) -> Graphical:
    names = [f"c{i}" for i in range(rng.integers(1, 7))]
    sizes = {n: int(rng.integers(1, 5)) for n in names}
    potentials: dict[tuple[str, ...], np.ndarray] = {}
    for _ in range(rng.integers(0, 6)):
        group = tuple(str(n) for n in rng.permutation(names)[: rng.integers(1, min(3, len(names)) + 1)])
        if not any(set(group) == set(other) for other in potentials):
            potentials[group] = rng.normal(0, 3, [sizes[n] for n in group])
    zeros = {}
    if rng.random() < 0.5 and len(names) > 1:
        group = tuple(str(n) for n in rng.permutation(names)[:2])
        zeros[group] = rng.random([sizes[n] for n in group]) < 0.3
        zeros[group].flat[0] = False
    return Graphical(sizes, potentials, 100.0, zeros)


@pytest.mark.parametrize("seed", range(40))
def test_any_marginal_of_any_model(seed):
    rng = np.random.default_rng(seed)
    model = some_model(rng)
    joint, names = dense(model), list(model.sizes)
    asked = [q for k in range(len(names) + 1) for q in itertools.permutations(names, k)]
    asked = [asked[i] for i in rng.permutation(len(asked))[:40]]
    for columns, result in zip(asked, model.project_all(asked), strict=True):
        np.testing.assert_allclose(result, 100 * summed(joint, columns, names), rtol=1e-9, atol=1e-12)
    assert model.tree.cells == cells(model.sizes, [*model.potentials, *model.zeros])


@pytest.mark.parametrize("seed", range(10))
def test_given_cells_the_rows_follow_the_conditional_distribution(seed):
    rng = np.random.default_rng(100 + seed)
    model = some_model(rng)
    joint, names = dense(model), list(model.sizes)
    at = np.unravel_index(rng.choice(joint.size, p=joint.ravel()), joint.shape)
    fixed = {n: int(at[i]) for i, n in enumerate(names) if rng.random() < 0.4}
    drawn = model.draw(20_000, rng, fixed)
    assert all((drawn[n] == cell).all() for n, cell in fixed.items())
    inside = joint * np.all([np.isin(g, fixed.get(n, g)) for n, g in zip(names, np.indices(joint.shape), strict=True)], axis=0)
    counts = np.zeros(joint.shape)
    np.add.at(counts, tuple(drawn[n] for n in names), 1)
    assert np.abs(counts / 20_000 - inside / inside.sum()).sum() < 0.05 * max(1, np.sqrt((inside > 0).sum() / 10))
    assert (counts[inside == 0] == 0).all()


def problem(seed: int) -> tuple[dict[str, int], list[Measurement]]:
    """A loop of pairs, single columns, one pair twice and one column nowhere, all inconsistent."""
    rng = np.random.default_rng(seed)
    sizes = {"a": 3, "b": 2, "c": 4, "d": 2, "e": 2}
    truth = rng.dirichlet(np.full(96, 0.3)).reshape(list(sizes.values())) * 1000
    asked = [("a", "b"), ("c", "b"), ("c", "d"), ("d", "a"), ("a",), ("c",), ("b", "c")]
    names = list(sizes)
    return sizes, [
        Measurement(q, summed(truth, q, names) + rng.normal(0, s, [sizes[n] for n in q]), s)
        for q, s in zip(asked, (10.0, 20.0, 15.0, 10.0, 5.0, 30.0, 12.0), strict=True)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_the_best_fit_is_the_best_over_all_joint_distributions(seed):
    sizes, measured = problem(seed)
    names, shape = list(sizes), list(sizes.values())

    def loss(logits: np.ndarray) -> tuple[float, np.ndarray]:
        joint = np.exp(logits - logits.max()).reshape(shape)
        joint /= joint.sum()
        total, slope = 0.0, np.zeros(shape)
        for m in measured:
            off = 1000 * summed(joint, m.columns, names) - m.counts
            total += float((off**2).sum()) / (2 * m.sigma**2)
            slope = slope + 1000 * aligned(off, m.columns, names) / m.sigma**2
        return total, (joint * (slope - (joint * slope).sum())).ravel()

    starts = np.random.default_rng(seed).normal(0, 0.1, (2, 96))
    wanted = {"maxiter": 5000, "ftol": 1e-14}
    best = min((minimize(loss, s, jac=True, method="L-BFGS-B", options=wanted) for s in starts), key=lambda result: result.fun)
    model = estimate(sizes, measured, total=1000.0, stopping=Stopping(20_000, 1e-9, 0.0))
    assert loss_of(model, measured) <= best.fun * (1 + 1e-4)
    joint = np.exp(best.x - best.x.max()).reshape(shape)
    for m in measured:
        np.testing.assert_allclose(model.project(m.columns), 1000 * summed(joint / joint.sum(), m.columns, names), atol=1.0)
    # Of all that fit as well it is the most even: a column that was not measured is uniform and independent.
    np.testing.assert_allclose(model.project(("a", "e")), np.repeat(model.project(("a",))[:, None], 2, 1) / 2)


def test_structural_zeros_hold_in_the_fit():
    sizes, measured = problem(7)
    zeros = {("b", "a"): np.array([[True, False, False], [False, False, True]])}
    model = estimate(sizes, measured, zeros=zeros)
    assert (model.project(("b", "a"))[zeros["b", "a"]] == 0).all()
    rows = model.draw(5000, np.random.default_rng(0))
    assert not zeros["b", "a"][rows["b"], rows["a"]].any()
    without = estimate(sizes, measured)
    assert (without.project(("b", "a"))[zeros["b", "a"]] > 0).all()


@pytest.mark.parametrize("seed", range(20))
def test_junction_trees_have_the_running_intersection(seed):
    rng = np.random.default_rng(seed)
    sizes = {f"c{i}": int(rng.integers(2, 9)) for i in range(12)}
    groups = [tuple(str(n) for n in rng.permutation(list(sizes))[: rng.integers(1, 4)]) for _ in range(rng.integers(0, 18))]
    tree = triangulated(sizes, groups)
    assert all(any(set(g) <= set(c) for c in tree.cliques) for g in groups)
    assert set().union(*tree.cliques) == set(sizes)
    assert not any(set(a) < set(b) for a in tree.cliques for b in tree.cliques)
    seen: set[str] = set()
    for clique, parent, separator in zip(tree.cliques, tree.parents, tree.separators, strict=True):
        assert clique[: len(separator)] == separator
        assert set(separator) == set(clique) & seen
        assert parent < 0 or set(separator) <= set(tree.cliques[parent])
        seen |= set(clique)
