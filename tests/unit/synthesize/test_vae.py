"""Variational autoencoders of tables."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from hushtable.encode.layout import Layout, Openings
from hushtable.errors import InputError
from hushtable.privacy.noise import Entropy
from hushtable.privacy.vault import Vault
from hushtable.synthesize.neural.vae import Autoencoder, Vae
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from tests.unit.synthesize.chains import category

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.neural

from hushtable.synthesize.neural import vae_net  # noqa: E402

SMALL = {"widths": (32,), "latent": 4, "epochs": 20, "refine": 0, "rate": 1e-2}


def fitted(table, seed=0, **knobs):
    vault = Vault.of(table, entropy=Entropy.seeded(seed), seed=seed)
    return Vae(**(SMALL | knobs)).fit(vault, np.random.default_rng(seed))


def number(name, low=-10.0, high=10.0, required=True):
    return Column(name=name, kind=Kind.REAL, domain=Bounds(low, high), required=required)


def mixed(rows=600, seed=0):
    """Two categories that agree nine times in ten, a number that follows the first, and one that is often missing."""
    rng = np.random.default_rng(seed)
    one = rng.integers(0, 3, rows)
    two = np.where(rng.random(rows) < 0.9, one, rng.integers(0, 3, rows))
    height = 4.0 * one - 4 + rng.normal(0, 0.3, rows)
    age = np.where(one == 0, np.nan, rng.normal(2, 1, rows))
    schema = Schema((category("one", 3), category("two", 3), number("height"), number("age", required=False)))
    return Table(schema, {"one": one.astype(np.int32), "two": two.astype(np.int32), "height": height, "age": age})


@pytest.fixture(scope="module")
def trained():
    """Clumps need a prior with clumps: between them a standard normal one would put rows."""
    return fitted(mixed(), prior="mixture", components=8)


def logits(rows=7, seed=0):
    generator = torch.Generator().manual_seed(seed)
    sizes = torch.tensor([3, 1, 5])
    segments = torch.nn.functional.one_hot(torch.arange(3).repeat_interleave(sizes), 3).float()
    own = torch.stack([torch.randint(0, int(size), (rows,), generator=generator) for size in sizes], 1)
    return torch.randn(rows, 9, generator=generator), own + torch.tensor([0, 3, 4]), segments


def test_one_softmax_serves_all_columns():
    raw, own, segments = logits()
    parts = [raw[:, :3].log_softmax(1), raw[:, 3:4].log_softmax(1), raw[:, 4:].log_softmax(1)]
    expected = -torch.cat(parts, 1).gather(1, own).sum(1)
    assert torch.allclose(vae_net.level_loss(raw, own, segments, 0.0), expected, atol=1e-5)


def test_without_robustness_the_beta_divergence_is_the_likelihood():
    raw, own, segments = (part.double() if part.is_floating_point() else part for part in logits())
    values, means = torch.randn(7, 2, dtype=torch.float64), torch.randn(7, 2, dtype=torch.float64)
    sigma = torch.tensor([0.1, 0.7], dtype=torch.float64)
    for kind in (
        lambda beta, x: vae_net.level_loss(x, own, segments, beta).sum(),
        lambda beta, x: vae_net.number_loss(values, means, x[0, :2].abs() + sigma, beta).sum(),
    ):
        exact, near, far = (raw.clone().requires_grad_() for _ in range(3))
        losses = [kind(beta, x) for beta, x in zip((0.0, 1e-7, 0.3), (exact, near, far), strict=True)]
        for loss in losses:
            loss.backward()
        assert losses[1].item() == pytest.approx(losses[0].item(), rel=1e-4)
        assert torch.allclose(exact.grad, near.grad, rtol=1e-3, atol=1e-4)
        assert not torch.allclose(exact.grad, far.grad, rtol=1e-2, atol=1e-2)


def test_the_formulas_are_those_of_the_beta_divergence():
    beta, raw, own, segments = 0.2, *logits()
    shares = [raw[:, :3].softmax(1), raw[:, 3:4].softmax(1), raw[:, 4:].softmax(1)]
    picked = torch.cat(shares, 1).gather(1, own)
    powers = torch.stack([(share ** (beta + 1)).sum(1) for share in shares], 1)
    expected = (-(beta + 1) / beta * (picked**beta - 1) + powers - 1).sum(1)
    assert torch.allclose(vae_net.level_loss(raw, own, segments, beta), expected, atol=1e-5)
    x, mean, sigma = torch.tensor([0.4]), torch.tensor([0.1]), torch.tensor([0.25])
    grid = torch.linspace(-5, 5, 200_001, dtype=torch.float64)
    density = torch.exp(-((grid - 0.1) ** 2) / (2 * 0.25**2)) / (2 * np.pi * 0.25**2) ** 0.5
    integral = torch.trapezoid(density ** (beta + 1), grid).item()
    own_density = (2 * np.pi * 0.25**2) ** (-beta / 2) * np.exp(-beta * 0.3**2 / (2 * 0.25**2))
    expected = -(beta + 1) / beta * (own_density - 1) + integral - 1
    assert vae_net.number_loss(x, mean, sigma, beta).item() == pytest.approx(expected, rel=1e-5)


def test_a_learnt_spread_is_the_true_one_also_when_robust():
    values = torch.randn(200_000, 1, generator=torch.Generator().manual_seed(0)) * 0.3
    sigmas = torch.linspace(0.2, 0.4, 41)
    for beta in (0.0, 0.3):
        losses = [vae_net.number_loss(values, torch.zeros(1), sigma, beta).mean().item() for sigma in sigmas]
        assert sigmas[int(np.argmin(losses))].item() == pytest.approx(0.3, abs=0.011)


def test_a_mixture_of_one_standard_component_is_the_standard_prior():
    one, two = (vae_net.Vae([3], 1, [4], 2, components) for components in (1, 2))
    with torch.no_grad():
        two.centres.zero_()
    mean, log_variance = torch.randn(50_000, 2) * 0 + 0.7, torch.zeros(50_000, 2) - 1
    latent = mean + (log_variance / 2).exp() * torch.randn(50_000, 2)
    exact, drawn = (net.divergence(latent, mean, log_variance).mean().item() for net in (one, two))
    assert drawn == pytest.approx(exact, abs=0.02)


def test_rows_come_out_as_they_went_in(trained):
    table, model = mixed(), trained
    drawn = model.sample(4000, np.random.default_rng(1))
    assert (drawn["one"] == drawn["two"]).mean() > 0.75
    assert np.abs(np.bincount(drawn["one"], minlength=3) / 4000 - np.bincount(table["one"], minlength=3) / 600).max() < 0.1
    heights = [drawn["height"][drawn["one"] == level].mean() for level in range(3)]
    assert np.allclose(heights, [-4, 0, 4], atol=1.0)
    gaps = [drawn.missing("age")[drawn["one"] == level].mean() for level in range(3)]
    assert gaps[0] > 0.8
    assert max(gaps[1:]) < 0.2
    assert not drawn.missing("height").any()
    curve = model.result()["training"]
    assert len(curve["loss"]) == len(curve["held"]) <= 20
    assert curve["held"][-1] < curve["held"][0]


def test_what_is_given_is_met_and_the_rest_follows(trained):
    model, rng = trained, np.random.default_rng(1)
    drawn = model.sample(500, rng, {"one": "one2"})
    assert (drawn["one"] == 2).all()
    assert (drawn["two"] == 2).mean() > 0.75
    assert drawn["height"].mean() == pytest.approx(4, abs=1)
    drawn = model.sample(300, rng, {"height": "0"})
    assert (drawn["height"] == 0).all()
    assert (drawn["one"] == 1).mean() > 0.9
    with pytest.raises(InputError, match="no value"):
        model.sample(10, rng, {"one": "nonsense"})
    assert model.sample(0, rng).rows == 0
    assert model.sample(0, rng, {"one": "one2"}).rows == 0


def test_drawing_from_a_stored_model_needs_no_torch(monkeypatch):
    model = fitted(mixed(), epochs=1)
    values, arrays = model.parts()
    assert all(array.dtype == np.float32 for array in arrays.values())
    monkeypatch.setitem(sys.modules, "torch", None)
    again = Autoencoder.from_parts(json.loads(json.dumps(values)), arrays)
    one, two = (own.sample(100, np.random.default_rng(2)) for own in (model, again))
    assert all(np.array_equal(one[name], two[name], equal_nan=True) for name in one.arrays)


def test_outliers_disturb_the_robust_one_less():
    """Two numbers on a line; one row in twenty lies anywhere. What is drawn is measured against the line."""

    def line(seed, spoilt):
        rng = np.random.default_rng(seed)
        x = rng.normal(0, 1, 800)
        rows = np.column_stack([x, x + rng.normal(0, 0.2, 800)])
        if spoilt:
            rows[:40] = rng.uniform(-10, 10, (40, 2))
        schema = Schema((number("x"), number("y")))
        return Table(schema, {"x": rows[:, 0], "y": rows[:, 1]})

    def away(table):
        drawn = [np.sort(table["x"] - table["y"]), np.sort(table["x"])]
        clean = line(9, False)
        real = [np.sort(clean["x"] - clean["y"]), np.sort(clean["x"])]
        return sum(np.abs(one - two).mean() for one, two in zip(drawn, real, strict=True))

    knobs = {"epochs": 25}
    distances = {}
    for spoilt in (False, True):
        table = line(1, spoilt)
        for name, own in {"likelihood": {}, "beta": {"reconstruction": "beta", "beta": 0.3}}.items():
            distances[name, spoilt] = away(fitted(table, **knobs, **own).sample(800, np.random.default_rng(3)))
    assert distances["beta", True] < 0.7 * distances["likelihood", True], distances
    assert distances["beta", False] < 2 * distances["likelihood", False] + 0.05, distances


def test_awkward_tables():
    wide = Table(Schema((category("place", 1000),)), {"place": np.arange(500, dtype=np.int32)})
    assert fitted(wide, epochs=1).sample(None, np.random.default_rng(0)).rows == 500
    flat = Table(Schema((number("x"),)), {"x": np.full(40, 3.0)})
    assert np.allclose(fitted(flat).sample(20, np.random.default_rng(0))["x"], 3, atol=2)
    with pytest.raises(InputError, match="no rows"):
        fitted(flat.take(np.arange(0)))
    with pytest.raises(InputError, match="widths"):
        Vae(widths=())


def test_draws_are_refined_unless_that_is_declined():
    table = mixed(300)
    model = fitted(table, epochs=5, refine=1)
    assert model.result()["refinement"]["rounds"] == 1
    assert "training" in model.result()


def test_training_that_was_stopped_goes_on_to_the_same_bits(tmp_path):
    """The weight of the divergence rises with the steps taken: how many there were must be kept."""
    table = mixed(200)

    def trained(work, stop=2.0):
        def report(share):
            if share > stop:
                raise KeyboardInterrupt

        layout = Layout.of(table)
        openings = Openings.found(layout, layout.encode(table))
        return vae_net.train(Vae(**(SMALL | {"epochs": 4})), table, layout, layout.encode(table), openings, 5, report, work)[0]

    whole = trained(None)
    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path, stop=0.6)
    again = trained(tmp_path)
    assert all(np.array_equal(whole[name], again[name]) for name in whole)
