"""More budget never hurts: a larger epsilon lowers neither the margins nor what a model learns from a release, and gains."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations, pairwise

import numpy as np
import pytest

from hushtable.pipeline.recipe import load
from hushtable.pipeline.run import release
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

RECIPES = ("aim", "privsyn", "mst", "mwem", "privbayes", "field-groups", "independent", "thresholded")
"""The private recipes that must obey."""
WITHOUT = ("independent", "thresholded")
"""Of these, those that keep no dependence, or none that is rare: what a model learns from them says nothing."""
BUDGETS = (0.1, 3.0, 30.0)
"""At the first of these noise must cost something even where margins are all there is: nothing is to gain else."""
SEEDS = (1, 2)
SLACK = 0.012, 0.02
"""By how much chance may lower the mean agreement of the margins, and the AUC, from one budget to the next."""
GAIN = 0.01
"""By how much the agreement must be larger at the largest budget than at the smallest."""
EDGES = {"hours": (10, 20, 30, 35, 40, 45, 50, 60), "gain": (1, 200, 1000, 4000)}

Released = Callable[[float, int], Table]


@cache
def town(rows: int = 4000, seed: int = 0) -> Table:
    """Two hidden causes, levels and a number that follow them, gains that are mostly zero, and a target that all of it decides."""
    rng = np.random.default_rng(seed)
    wealth, age = rng.normal(size=(2, rows))
    gain = np.where(wealth + rng.normal(size=rows) > 1.6, np.exp(6 + rng.normal(size=rows) + 0.5 * wealth), 0.0)
    arrays = {
        "school": np.digitize(wealth + 0.7 * rng.normal(size=rows), (-1, 0, 0.5, 1.2)),
        "job": np.digitize(wealth - age + 0.7 * rng.normal(size=rows), (-1.5, -0.7, 0, 0.7, 1.5)),
        "status": np.digitize(age + 0.5 * rng.normal(size=rows), (-0.6, 0.8)),
        "hours": np.clip(np.rint(40 + 9 * age * rng.normal(size=rows) + 4 * wealth), 0, 80).astype(np.int64),
        "gain": np.clip(np.rint(gain), 0, 9999).astype(np.int64),
        "sex": rng.integers(0, 2, rows),
    }
    rich = wealth + 1.2 * (gain > 0) + 0.8 * (arrays["sex"] == 1) * (arrays["status"] == 1) + rng.normal(size=rows) * 0.6 > 0.9
    sizes = {"school": 5, "job": 6, "status": 3, "sex": 2, "rich": 2}
    columns = tuple(
        Column(name=n, kind=Kind.CATEGORY, domain=Levels(tuple(f"{n}{i}" for i in range(sizes[n]))), required=True)
        if n in sizes
        else Column(name=n, kind=Kind.INTEGER, domain=Bounds(0, 80 if n == "hours" else 9999), required=True)
        for n in arrays
    )
    target = Column(name="rich", kind=Kind.CATEGORY, domain=Levels(("no", "yes")), required=True, role=Role.TARGET)
    arrays = {n: v.astype(np.int32) if n in sizes else v for n, v in arrays.items()}
    return Table(Schema((*columns, target)), {**arrays, "rich": rich.astype(np.int32)})


def cells(table: Table) -> np.ndarray:
    """The columns on a public grid, one line each."""
    return np.array([np.digitize(table[n], EDGES[n]) if n in EDGES else table[n] for n in table.schema.names])


def agreement(real: Table, released: Table) -> float:
    """One less the mean total variation distance of all pairs and triples of columns."""
    one, two = cells(real), cells(released)
    apart = []
    for columns in (c for way in (2, 3) for c in combinations(range(len(one)), way)):
        codes = [np.ravel_multi_index(tuple(table[list(columns)]), (10,) * len(columns)) for table in (one, two)]
        shares = [np.bincount(code, minlength=10 ** len(columns)) / len(code) for code in codes]
        apart.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return 1 - float(np.mean(apart))


def learnt(released: Table) -> float:
    """The AUC on fresh rows of a small model of the release."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    if len(np.unique(released["rich"])) < 2:
        return 0.5
    *features, target = cells(released)
    *fresh, truth = cells(town(seed=1))
    model = HistGradientBoostingClassifier(max_iter=30, max_leaf_nodes=8, random_state=0).fit(np.transpose(features), target)
    return float(roc_auc_score(truth, model.predict_proba(np.transpose(fresh))[:, 1]))


def hurts(released: Released, models: bool = True) -> list[str]:
    """What a larger budget made worse, or not better, in the mean over some seeds."""
    tables = {budget: [released(budget, seed) for seed in SEEDS] for budget in BUDGETS}
    near = [float(np.mean([agreement(town(), table) for table in tables[budget]])) for budget in BUDGETS]
    auc = [float(np.mean([learnt(table) for table in tables[budget]])) for budget in BUDGETS] if models else []
    faults = [f"gains {near[-1] - near[0]:.3f}"] if near[-1] < near[0] + GAIN else []
    for name, scores, slack in (("margins", near, SLACK[0]), ("auc", auc, SLACK[1])):
        faults += [f"{name} fall: {a:.3f} to {b:.3f}" for a, b in pairwise(scores) if b < a - slack]
    return faults


def by_recipe(name: str) -> Released:
    return lambda epsilon, seed: release(town(), load(name), epsilon=epsilon, delta=1e-5, seed=seed).table


@pytest.mark.parametrize("name", RECIPES)
def test_more_budget_never_hurts(name):
    assert hurts(by_recipe(name), models=name not in WITHOUT) == []


def test_a_rule_that_inverts_or_ignores_the_budget_or_forgets_the_target_is_found():
    good = cache(by_recipe("privbayes"))

    def forgetful(epsilon: float, seed: int) -> Table:
        table = good(epsilon, seed)
        mixed = np.random.default_rng(seed).permutation(table["rich"])
        return table if epsilon < 10 else table.with_columns((table.schema["rich"], mixed))

    assert any("margins fall" in fault for fault in hurts(lambda epsilon, seed: good(9 / epsilon, seed)))
    assert any("gains" in fault for fault in hurts(lambda _, seed: good(0.3, seed)))
    assert any("auc fall" in fault for fault in hurts(forgetful))
