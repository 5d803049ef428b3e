"""Whoever knows the seed of the noise takes it away again; noise from the system stays."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.encode.bins import Bins
from hushtable.pipeline.run import release
from hushtable.privacy.allowance import Allowance, Noise
from hushtable.privacy.guarantee import Assurance, Void
from hushtable.privacy.noise import SYSTEM, Entropy, discrete_gaussian, gaussian_variance
from hushtable.privacy.query import Histogram
from hushtable.privacy.unit import Budget, Unit
from hushtable.privacy.vault import Vault
from hushtable.synthesize.marginal.independent import Margins
from tests.unit.privacy.cases import people, recipe

AGES = Histogram(("age",))


def test_a_known_seed_gives_back_the_exact_counts():
    """A hundred counts under noise of scale 30, and not one is hidden."""
    noisy = Vault.of(people(), entropy=Entropy.seeded(7)).measure(AGES, 30.0)
    noise = discrete_gaussian(gaussian_variance(30.0), noisy.size, Entropy.seeded(7))
    np.testing.assert_array_equal(noisy - noise, AGES.answer(people()))


def test_noise_from_the_system_cannot_be_taken_away():
    """That a second draw hits all hundred counts has a probability below 10^-100."""
    noisy = Vault.of(people()).measure(AGES, 30.0)
    for guess in (SYSTEM, Entropy.seeded(7)):
        noise = discrete_gaussian(gaussian_variance(30.0), noisy.size, guess)
        assert (noisy - noise != AGES.answer(people())).any()


@pytest.mark.parametrize("noise", list(Noise))
def test_a_whole_step_is_undone_by_running_it_on_nobody(noise):
    """The same seed on an empty table yields the noise alone."""
    budget = Budget(1.0, 1e-6 if noise is Noise.GAUSSIAN else 0.0)
    allowance = Allowance.of(budget, Unit())
    answers = {}
    for name, table in (("people", people()), ("nobody", people(0))):
        for source in ("seeded", "system"):
            vault = Vault.of(table, entropy=Entropy.seeded(3) if source == "seeded" else SYSTEM)
            parts = allowance.split([1.0] * len(vault.schema))
            columns = zip(vault.schema.names, parts, strict=True)
            answers[name, source] = np.concatenate([vault.spend(Histogram((column,)), part) for column, part in columns])
    exact = np.concatenate([Histogram((name,)).answer(people()) for name in people().schema.names])
    np.testing.assert_array_equal(answers["people", "seeded"] - answers["nobody", "seeded"], exact)
    assert (answers["people", "system"] - answers["nobody", "system"] != exact).any()


def test_a_seeded_release_repeats_itself_and_says_that_it_proves_nothing():
    steps = (Bins(bins=8), Margins())
    seeded = [release(people(), recipe(*steps), epsilon=1.0, entropy=Entropy.seeded(1), seed=1, unproven=True) for _ in range(2)]
    fresh = [release(people(), recipe(*steps), epsilon=1.0, seed=1) for _ in range(2)]
    same = [all(np.array_equal(a.table[n], b.table[n]) for n in a.table.schema.names) for a, b in (seeded, fresh)]
    assert same == [True, False]
    assert [released.guarantee.assurance for released in (*seeded, *fresh)] == [Assurance.NONE] * 2 + [Assurance.PROVEN] * 2
    assert all(Void.SEEDED_NOISE in released.guarantee.all_voids for released in seeded)
