"""GANs under the parents in a Bayesian network."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hushtable.privacy.noise import Entropy
from hushtable.privacy.vault import Vault
from hushtable.synthesize.neural.gan.gan import Adversarial, Gan
from hushtable.synthesize.neural.gan.published import PublishedGan
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.synthesize.chains import category, chain

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.neural

from hushtable.synthesize.neural.gan import parents  # noqa: E402
from hushtable.synthesize.neural.gan.nets import DenseCritic  # noqa: E402

SMALL = {"loss": "bce", "net": "dense", "condition": "network", "layers": 1, "width": 32, "noise": 8, "batch": 200, "every": 50}


def fitted(table, kind=Gan, **knobs):
    vault = Vault.of(table, entropy=Entropy.seeded(1), seed=1)
    return kind(**(SMALL | knobs)).fit(vault, np.random.default_rng(1))


def same(one, two):
    return all(np.array_equal(one[name], two[name], equal_nan=True) for name in one.arrays)


def stored(model):
    values, arrays = model.parts()
    return type(model).from_parts(json.loads(json.dumps(values)), {name: np.array(array) for name, array in arrays.items()})


@pytest.fixture(scope="module")
def model():
    return fitted(chain(1500), epochs=25, rate=3e-3, refine=0)


def test_draws_have_the_cells_that_they_are_given(model):
    assert isinstance(model, Adversarial)
    above = {parent for own in model.result()["parents"].values() for parent in own}
    assert above
    assert above <= set("abc")
    table, drawn = chain(1500), model.sample(3000, np.random.default_rng(0))
    for name in above:
        shares = [np.bincount(own[name], minlength=4) / own.rows for own in (table, drawn)]
        assert np.abs(shares[0] - shares[1]).max() < 0.1
    agree = [(own["a"] == own["b"]).mean() for own in (table, drawn)]
    assert agree[1] > agree[0] - 0.15


def test_a_parent_may_be_given(model):
    name = next(parent for own in model.result()["parents"].values() for parent in own)
    drawn = model.sample(200, np.random.default_rng(0), {name: f"{name}2"})
    assert drawn.rows == 200
    assert (drawn[name] == 2).all()


def test_it_is_stored_with_its_network(model):
    one, two = (own.sample(300, np.random.default_rng(4)) for own in (model, stored(model)))
    assert same(one, two)


def test_where_nothing_depends_on_anything_there_is_no_condition():
    rng = np.random.default_rng(0)
    schema = Schema((category("a", 3), category("b", 3)))
    table = Table(schema, {name: rng.integers(0, 3, 200).astype(np.int32) for name in "ab"})
    alone = fitted(table, epochs=1, refine=0)
    assert alone.result().get("parents", {}) == {}
    assert alone.sample(50, np.random.default_rng(0)).rows == 50
    assert stored(alone).sample(50, np.random.default_rng(0)).rows == 50


def test_the_gradient_behind_vectors_is_that_of_the_rows():
    torch.manual_seed(0)
    critic = parents.Embedded(DenseCritic(5 + parents.WIDTH, 8, 2, dropout=0.0), (3, 4))
    rows = torch.cat([torch.randn(6, 5), torch.tensor([[0.0, 3], [2, 0], [1, 1], [0, 0], [2, 3], [1, 2]])], 1)
    free = rows.clone().requires_grad_()
    (expected,) = torch.autograd.grad(critic(free).sum(), free)
    assert torch.allclose(critic.gradient(rows)[:, :5], expected[:, :5], atol=1e-6)
    # Another cell is another vector.
    other = rows.clone()
    other[:, 5] = (other[:, 5] + 1) % 3
    assert not torch.allclose(critic(rows), critic(other))


def test_the_published_noise_is_for_the_change_of_one_number():
    exact = np.zeros((2000, 10))
    noisy = parents.noisy_vectors(exact, 0.5, np.random.default_rng(0))
    assert np.abs(noisy).mean() == pytest.approx(2 / 0.5, rel=0.05)


def test_the_published_form_is_stored_with_its_noisy_vectors():
    published = fitted(chain(300), PublishedGan, epochs=1)
    arrays = published.parts()[1]
    assert any(name.startswith("condition/vectors/") for name in arrays)
    one, two = (own.sample(100, np.random.default_rng(4)) for own in (published, stored(published)))
    assert same(one, two)
