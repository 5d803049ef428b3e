"""Marginals of a model are right in arrays of any size, and no array is larger than was said."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from hushtable.synthesize.marginal import projection
from hushtable.synthesize.marginal.graphical import Graphical
from hushtable.synthesize.marginal.projection import Projection


def model(seed: int) -> Graphical:
    """Seven columns in random triples and pairs, with random potentials."""
    rng = np.random.default_rng(seed)
    sizes = {f"c{i}": int(rng.integers(1, 6)) for i in range(7)}
    groups = [tuple(rng.choice(list(sizes), int(rng.integers(2, 4)), replace=False).tolist()) for _ in range(5)]
    return Graphical(sizes, {g: rng.normal(size=[sizes[n] for n in g]) for g in groups}, 1.0)


def brute_force(found: Graphical, columns: tuple[str, ...]) -> np.ndarray:
    names = list(found.sizes)
    logs = np.zeros([found.sizes[n] for n in names])
    for group, potential in found.potentials.items():
        ordered = sorted(group, key=names.index)
        shape = [found.sizes[n] if n in group else 1 for n in names]
        logs = logs + potential.transpose([group.index(n) for n in ordered]).reshape(shape)
    joint = np.exp(logs) / np.exp(logs).sum()
    retained = sorted(columns, key=names.index)
    margin = joint.sum(axis=tuple(i for i, n in enumerate(names) if n not in columns))
    return margin.transpose([retained.index(n) for n in columns])


@pytest.mark.parametrize("seed", range(8))
def test_a_marginal_cut_into_parts_is_the_same_and_no_array_exceeds_the_limit(seed, monkeypatch):
    result = model(seed)
    whole = Projection.of_model(result.propagation, result.beliefs)
    largest = max(table.size for table in whole.joint)
    output, product = [], projection._product

    def watched(*arguments):
        output.append(product(*arguments))
        return output[-1]

    monkeypatch.setattr(projection, "_product", watched)
    for columns in [c[::-1] for size in (2, 3) for c in combinations(result.sizes, size)]:
        cells = math.prod(result.sizes[n] for n in columns)
        tight = replace(whole, limit=cells, branches={})
        np.testing.assert_allclose(whole.of(columns), brute_force(result, columns), atol=1e-12)
        output.clear()
        np.testing.assert_allclose(tight.of(columns), brute_force(result, columns), atol=1e-12)
        assert max((array.size for array in output), default=0) <= max(cells, largest)
        assert sum(retained.size for retained in tight.branches.values()) <= cells


def test_columns_at_the_ends_of_a_chain_of_wide_separators_have_a_marginal():
    """Each clique has 160,000 cells; the separator of 8,000 with both ends would have 3,200,000 in one array."""
    sizes = {"a": 20, "b": 20, "c": 20, "d": 20, "e": 20}
    rng = np.random.default_rng(0)
    groups = [("a", "b", "c", "d"), ("b", "c", "d", "e")]
    chain = Graphical(sizes, {g: rng.normal(size=[20] * 4) for g in groups}, 1000.0)
    asked = replace(Projection.of_model(chain.propagation, chain.beliefs), limit=1000)
    np.testing.assert_allclose(1000.0 * asked.of(("a", "e")), chain.project(("a", "e")), rtol=1e-10)
    assert asked.of(("a", "e")).sum() == pytest.approx(1.0)
