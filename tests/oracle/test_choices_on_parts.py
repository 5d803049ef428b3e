"""One choice for each part of the records, at one price: the law of all choices together, for every pair of neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import chi2

from hushtable.checks import private
from hushtable.errors import BudgetExceeded, GuaranteeRefused, InputError
from hushtable.privacy import choice
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Exponential
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.privacy.vault import Vault
from hushtable.synthesize.mixture.clustmix_certified import ClustMixCertified
from hushtable.table.columns import Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.statistical.fit import ACCEPT
from tests.unit.privacy.exact import judge

SCHEMA = Schema(tuple(Column(name=n, kind=Kind.CATEGORY, domain=Levels(("a", "b", "c")), required=True) for n in ("part", "value")))
RECORDS = tuple(product(range(3), repeat=2))


@dataclass(frozen=True)
class Commonest:
    """For each part, how often each value is in it."""

    stated: int = 1
    columns: tuple[str, ...] = ("part", "value")

    def answer(self, table):
        return table.counts(("part", "value"))

    def largest(self, schema, rows):
        return rows

    def change(self, schema, relation):
        return self.stated if relation is Relation.ADD_REMOVE else 2 * self.stated


def table_of(records) -> Table:
    array = np.array(records, np.int32).reshape(-1, 2)
    return Table(SCHEMA, {"part": array[:, 0], "value": array[:, 1]})


def law(records, rate: float) -> np.ndarray:
    """The logarithms of the probabilities of all choices together."""
    logs = rate * Commonest().answer(table_of(records)).astype(float)
    logs -= logsumexp(logs, axis=1, keepdims=True)
    return (logs[0][:, None, None] + logs[1][None, :, None] + logs[2][None, None, :]).ravel()


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize(("factor", "holds"), [(1.0, True), (2.5, False)])
def test_all_choices_together_cost_one_epsilon_and_one_rho(relation, factor, holds):
    epsilon = 0.8

    def check(part):
        rate = part * epsilon / (2 * Commonest().change(SCHEMA, relation))
        for rest in combinations_with_replacement(RECORDS[::3], 2):
            near = [law((*rest, r), rate) for r in RECORDS]
            pairs = product(near, repeat=2) if relation is Relation.REPLACE_ONE else ((law(rest, rate), p) for p in near)
            for p, q in pairs:
                assert np.abs(p - q).max() <= epsilon + 1e-9
                for alpha in (1.5, 2.0, 8.0):
                    for one, other in ((p, q), (q, p)):
                        divergence = logsumexp(alpha * one + (1 - alpha) * other) / (alpha - 1)
                        assert divergence <= alpha * epsilon**2 / 8 + 1e-9

    judge(check, factor, holds=holds)


def vault(table: Table, seed: int = 1, **unit) -> Vault:
    unit, budget = Unit(**unit), Budget(1.0, 1e-6)
    locked = Vault.of(table, unit=unit, entropy=Entropy.seeded(seed), budget=budget)
    return locked.named("test", Allowance.of(budget, unit))


TABLE = table_of([(0, 0)] * 6 + [(0, 1)] * 2 + [(1, 2)] * 5 + [(1, 0)] + [(2, 1)] * 3)


@dataclass(frozen=True)
class Repeated(Commonest):
    """The same parts many times over, to see the law of the draws."""

    def answer(self, table):
        return np.tile(super().answer(table)[:2], (1000, 1))


def test_each_part_is_drawn_by_its_own_scores(monkeypatch):
    monkeypatch.setattr(choice, "BATCH", 32)  # one of a batch is used: many parts need no large ones
    drawn = Vault.of(TABLE, entropy=Entropy.seeded(11)).choose_each(Repeated(), Allowance(epsilon=0.9)).reshape(-1, 2)
    scores = Commonest().answer(TABLE)
    for part, factor in product(range(2), (1.0, 0.7, 1.3)):
        weights = np.exp(0.45 * factor * scores[part])
        expected = weights / weights.sum() * len(drawn)
        counts = np.bincount(drawn[:, part], minlength=3)
        p = float(chi2.sf(((counts - expected) ** 2 / expected).sum(), 2))
        assert p > ACCEPT if factor == 1.0 else p < 1e-6
    assert abs(np.corrcoef(drawn[:, 0] == 0, drawn[:, 1] == 2)[0, 1]) < 0.13  # four standard errors


def test_they_are_paid_for_once():
    locked = vault(TABLE)
    parts = locked.paid().split([1.0, 1.0])
    assert locked.choose_each(Commonest(), parts[0]).shape == (3,)
    (entry,) = locked.ledger.entries
    assert isinstance(entry.event, Exponential)
    assert entry.event.cost().rho <= parts[0].rho
    with pytest.raises(BudgetExceeded):
        [locked.choose_each(Commonest(), parts[1]) for _ in range(10)]


def test_a_person_with_several_rows_and_a_replaced_one_slow_the_choice_down(monkeypatch):
    seen = []
    monkeypatch.setattr("hushtable.privacy.vault.exponential", lambda scores, rate, entropy: seen.append(rate) or 0)
    for unit in ({}, {"relation": Relation.REPLACE_ONE}, {"rows": 3}):
        locked = vault(TABLE, **unit)
        locked.choose_each(Commonest(), Allowance(unit=locked.unit, epsilon=0.25))
    assert seen[0] == 2 * seen[3] == 3 * seen[6]


def test_what_it_refuses():
    with pytest.raises(InputError, match="at least 1"):
        vault(TABLE).choose_each(Commonest(stated=0), Allowance(epsilon=0.1))
    open_ = Schema(tuple(Column(name=c.name, kind=c.kind, domain=Levels(("a", "b", "c"), observed=True)) for c in SCHEMA))
    with pytest.raises(GuaranteeRefused, match="read off the rows"):
        vault(Table(open_, TABLE.arrays)).choose_each(Commonest(), Allowance(epsilon=0.1))


def test_the_battery_adds_up_what_the_parts_change(monkeypatch):
    from hushtable.synthesize.mixture import trees

    assert private._sensitivity(ClustMixCertified(least=5, split="balanced")) == ""
    monkeypatch.setattr(trees.CutScores, "change", lambda self, schema, relation: 1)
    monkeypatch.setattr(trees.CutScores, "answer", lambda self, table: np.full((len(self.leaves), 4), 2 * table.rows))
    assert "it says 1" in private._sensitivity(ClustMixCertified(least=5, split="balanced"))
