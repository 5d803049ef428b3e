"""The noise of the tables of a network, of margins and of groups is as wide as the card says; 0.7 and 1.3 times it is not."""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np
import pytest

from hushtable.privacy.allowance import Allowance, Noise
from hushtable.privacy.noise import Entropy
from hushtable.privacy.query import Histogram
from hushtable.privacy.unit import Budget, Unit
from hushtable.privacy.vault import Vault
from hushtable.synthesize.marginal.field_groups import FieldGroups
from hushtable.synthesize.marginal.histograms import Histograms
from hushtable.synthesize.marginal.mwem import Mwem
from hushtable.synthesize.network.privbayes import PrivBayes
from hushtable.synthesize.network.privbayes_published import PrivBayesPublished
from tests.unit.privacy.exact import judge
from tests.unit.synthesize.test_network import chain

STEPS = {
    "published": PrivBayesPublished(degree=2),
    "privbayes": PrivBayes(degree=2),
    "mwem": Mwem(rounds=4),
    "groups": FieldGroups(cells=36),
}


class Overheard(Vault):
    """A vault that keeps the noise of the joint tables it has answered."""

    noise: list[np.ndarray]

    def measure(self, query, scale, noise=Noise.GAUSSIAN):
        """Answer, and keep the difference to the truth."""
        answer = super().measure(query, scale, noise)
        if isinstance(query, (Histogram, Histograms)):
            self.noise.append((len(query.columns), answer - query.answer(self._table)))
        return answer


def overheard(step, delta: float) -> tuple[np.ndarray, float]:
    """The noise of the widest tables over some runs, and its standard deviation as on the card."""
    table, result = chain(300, 4, 6), []
    unit, budget = Unit(relation=step.relation), Budget(2.0, delta)
    for seed in range(8):
        vault = Vault.of(table, unit=unit, budget=budget, entropy=Entropy.seeded(seed)).named("it", Allowance.of(budget, unit))
        listening = Overheard(**{f.name: getattr(vault, f.name) for f in fields(vault)})
        object.__setattr__(listening, "noise", [])
        summary = step.fit(listening, np.random.default_rng(seed)).result()
        widest = max(width for width, _ in listening.noise)
        result += [noise for width, noise in listening.noise if width == widest]
    sigma = summary["noise_of_a_cell"] if "noise_of_a_cell" in summary else summary["noise_scale"] * math.sqrt(2)
    return np.concatenate(result), sigma


@pytest.mark.parametrize("delta", [1e-6, 0.0])
@pytest.mark.parametrize("name", STEPS)
def test_tables_are_as_noisy_as_is_told(name, delta):
    noise, stated = overheard(STEPS[name], delta)
    # A Laplace has a kurtosis of 6: the standard error of its deviation is sqrt(5/4/n), 4 % for 864 cells.
    slack = 4 * math.sqrt(5 / 4 / len(noise))
    assert slack < 0.2
    for wrong, holds in ((1.0, True), (0.7, False), (1.3, False)):

        def check(factor):
            assert float(noise.std()) == pytest.approx(factor * stated, rel=slack)

        judge(check, wrong, holds=holds)
