"""Two worlds that differ in one record, each released sixty times: the published form gives it away, the certified ones do not."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import beta as beta_distribution

from hushtable.anonymize.private.blocks import Blocks
from hushtable.anonymize.private.ranking import Ranking
from hushtable.anonymize.private.safe import Safe
from hushtable.anonymize.published.beta_k_eps import BetaKEps
from hushtable.pipeline.step import Core
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.noise import Entropy
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.privacy.vault import Vault
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table

RUNS = 60
BUDGET = Budget(1.0, 1e-6)
SCHEMA = Schema(
    (
        Column(name="pay", kind=Kind.INTEGER, domain=Bounds(0, 1000), required=True),
        Column(name="ill", kind=Kind.CATEGORY, domain=Levels(("no", "yes", "rare")), required=True),
    )
)


def world(canary: bool, rows: int = 120) -> Table:
    """Everybody is alike, but for one who earns most and has the rare illness."""
    pay, ill = np.zeros(rows, np.int64), np.zeros(rows, np.int32)
    if canary:
        pay[0], ill[0] = 1000, 2
    return Table(SCHEMA, {"pay": pay, "ill": ill})


ALLOWED = {relation: Allowance.of(BUDGET, Unit(relation=relation)) for relation in Relation}


def releases(step: Core, table: Table, relation: Relation) -> list[Table]:
    collected = []
    for seed in range(RUNS):
        vault = Vault.of(table, unit=Unit(relation=relation), entropy=Entropy.seeded(seed), seed=seed)
        model = step.fit(vault.named("step", ALLOWED[relation]), np.random.default_rng(seed))
        collected.append(model.sample(None, np.random.default_rng(seed)))
    return collected


def upper(hits: int) -> float:
    """Clopper-Pearson at 97.5 %."""
    return float(beta_distribution.ppf(0.975, hits + 1, RUNS - hits)) if hits < RUNS else 1.0


def audited(step: Core, relation: Relation, *guesses: Callable[[Table], bool]) -> list[float]:
    """Lower bounds on epsilon, at 95 %, from guessing in which world a release was made."""
    with_canary = releases(step, world(True), relation)
    without = releases(step, world(False, 120 if relation is Relation.REPLACE_ONE else 119), relation)
    collected = []
    for guess in guesses:
        false, missed = upper(sum(map(guess, without))), upper(RUNS - sum(map(guess, with_canary)))
        sure = 1 - BUDGET.delta
        collected.append(max(math.log(max(sure - missed, 1e-9) / false), math.log(max(sure - false, 1e-9) / missed)))
    return collected


def someone_earns(table: Table) -> bool:
    return bool((table["pay"] > 0).any())


def someone_is_rare(table: Table) -> bool:
    return bool((table["ill"] == 2).any())


def several_incomes(table: Table) -> bool:
    return len(np.unique(table["pay"])) > 1


def test_the_published_form_gives_the_one_who_earns_most_away():
    """No noise where nobody earns, noise as wide as the one income where somebody does: epsilon is far above the 0.1 claimed."""
    assert audited(BetaKEps(beta=1.0, k=10, epsilon0=0.1), Relation.REPLACE_ONE, someone_earns)[0] > 2.5


CERTIFIED = [
    (Blocks(k=20), Relation.REPLACE_ONE, someone_earns),
    (Ranking(k=20), Relation.REPLACE_ONE, someone_earns),
    (Safe(levels=("pay=*", "ill=0")), Relation.ADD_REMOVE, several_incomes),
    (Safe(levels=("pay=3", "ill=*")), Relation.ADD_REMOVE, several_incomes),
]


@pytest.mark.parametrize(("step", "relation", "guess"), CERTIFIED)
def test_the_certified_forms_are_not_refuted(step, relation, guess):
    assert max(audited(step, relation, guess, someone_is_rare)) <= BUDGET.epsilon


def test_the_audit_finds_noise_that_is_far_too_small():
    """The broken twin measures blocks without the noise that it pays for: the two worlds are distinguished every time."""

    class Quiet(Vault):
        def measure(self, query, scale, noise=None):
            super().measure(query, scale, self.allowance.noise)
            return query.answer(self._table)

    def quiet(table: Table) -> Table:
        vault = Vault.of(table, unit=Unit(relation=Relation.REPLACE_ONE), entropy=Entropy.seeded(0))
        listening = Quiet(_table=table, unit=vault.unit, entropy=vault.entropy, allowance=ALLOWED[Relation.REPLACE_ONE])
        return Blocks(k=20).fit(listening, np.random.default_rng(0)).sample(None, np.random.default_rng(0))

    assert someone_earns(quiet(world(True)))
    assert not someone_earns(quiet(world(False)))
