"""Mask filling: what is trained, what is paid, and how masks are filled."""

from __future__ import annotations

import numpy as np
import pytest

import hushtable as ht
from hushtable.errors import GuaranteeRefused, InputError, PlanError
from hushtable.language.cells import Cells
from hushtable.language.fill import Lengths
from hushtable.language.filled import edges
from hushtable.language.models import Sort, checkpoint
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.plan import plan
from hushtable.privacy.event import DiscreteGaussian, SampledGaussian
from hushtable.privacy.unit import Budget, Relation, Unit
from tests.language_models import sentences
from tests.unit.language.test_votes import desk, fast

pytestmark = pytest.mark.neural


@pytest.fixture(scope="module")
def public(tmp_path_factory):
    path = tmp_path_factory.mktemp("public") / "public.txt"
    path.write_text("\n".join(sentences(100)), encoding="utf-8")
    return str(path)


@pytest.fixture
def quick(public, installed_models):
    return {"public": public, "steps": 2, "rate": 0.5, "warm": 5, "length": 12, "mask-fill.rounds": 3}


@pytest.fixture
def filler(installed_models):
    from hushtable.language import fill_net

    made = fill_net.loaded(checkpoint("minilm", Sort.ENCODER, "test"))
    how = fill_net.Training(least=0.15, most=1.0, rank=2, speed=2e-3, seed=1)
    rows = [made.row([], [own]) for own in made.ids(list(sentences(200)), 16)]
    fill_net.learnt(made, rows, how, 3)
    return made, rows, how


def test_lengths_are_counted_once_a_row_on_public_bins():
    table = desk()
    query = Lengths(
        "note", Cells.of(table.schema, (), "test", 10), 12, lambda texts: np.array([min(len(t.split()), 12) for t in texts])
    )
    counts = query.answer(table).reshape(3, -1)
    assert counts.sum() == table.rows
    assert counts[:, -1].sum() == table.missing("note").sum()
    assert counts.shape[1] == len(edges(12))
    for row in range(0, table.rows, 9):
        less = query.answer(table.take(np.delete(np.arange(table.rows), row)))
        assert np.abs(counts.ravel() - less).sum() == 1
    assert query.sensitivity(table.schema, Relation.ADD_REMOVE)[0] == 1


def test_bins_of_lengths_end_with_the_longest():
    assert edges(5).tolist() == [0, 1, 2, 3, 4, 6]
    assert edges(1).tolist() == [0, 1, 2]


def test_gradients_of_rows_are_those_of_each_alone(filler):
    """The ghost norms of a batch equal the gradients of each row by itself, masks and padding and all."""
    import torch

    from hushtable.language import fill_net
    from hushtable.learn.ghost import Tape

    made, rows, _ = filler
    how = fill_net.Training(least=1.0, most=1.0, rank=2, speed=1e-3, seed=1)
    for name, parameter in made.named_parameters():
        parameter.requires_grad_(name.startswith("encoder.") and parameter.requires_grad)
    batch = [rows[0], made.row([5, 6], [[7, 8, 9]]), made.row([5], [[]])]
    norms = Tape.of(made, lambda: fill_net.losses(made, batch, how)).squared_norms()
    for row, norm in zip(batch, norms, strict=True):
        made.zero_grad()
        fill_net.losses(made, [row], how).sum().backward()
        alone = sum(p.grad.square().sum() for p in made.parameters() if p.grad is not None)
        assert torch.allclose(alone, norm, rtol=1e-3, atol=1e-8)
    assert norms[2] == 0


def test_only_open_places_are_filled_and_never_with_marks(filler):
    from hushtable.language import fill_net

    made, rows, _ = filler
    half = [fill_net.Row(row.tokens, [mark and place % 2 == 0 for place, mark in enumerate(row.open)]) for row in rows[:70]]
    found = fill_net.filled(made, half, 10, 20, np.random.default_rng(0))
    for row, own in zip(half, found, strict=True):
        assert len(own) == len(row.tokens)
        assert [t for t, mark in zip(own, row.open, strict=True) if not mark] == [
            t for t, mark in zip(row.tokens, row.open, strict=True) if not mark
        ]
        assert not {t for t, mark in zip(own, row.open, strict=True) if mark} & set(made.never.tolist())
    again = fill_net.filled(made, half, 10, 20, np.random.default_rng(0))
    assert found == again
    assert found != fill_net.filled(made, half, 10, 20, np.random.default_rng(1))
    assert fill_net.filled(made, [made.row([], [[]])], 10, 20, np.random.default_rng(0)) == [
        [made.begin, made.between, made.between]
    ]


def test_what_stood_in_an_open_place_is_not_read(filler):
    from hushtable.language import fill_net

    made, rows, _ = filler
    other = [fill_net.Row([9 if mark else t for t, mark in zip(r.tokens, r.open, strict=True)], r.open) for r in rows[:20]]
    one, two = (fill_net.filled(made, some, 4, 20, np.random.default_rng(0)) for some in (rows[:20], other))
    assert one == two


def test_public_training_learns_and_is_restored(filler):
    import torch

    from hushtable.language import fill_net

    made, rows, how = filler
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        before = fill_net.losses(made, rows, how).mean()
    weights = fill_net.weights(made)
    again = fill_net.restored(made.language.checkpoint, weights)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        assert torch.allclose(fill_net.losses(again, rows, how).mean(), before, atol=1e-5)
    longer = fill_net.loaded(made.language.checkpoint)
    fill_net.learnt(longer, rows, fill_net.Training(least=0.15, most=1.0, rank=2, speed=1e-2, seed=1), 60)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        assert fill_net.losses(longer, rows, how).mean() < before - 0.3


def test_lengths_and_steps_are_planned_as_paid(quick):
    recipe = recipes.load("mask-fill").set(quick)
    own = [e.event for e in plan(recipe, desk().schema, budget=Budget(1.0, 1e-6)).ledger.entries if e.step == "mask-fill"]
    assert [type(event) for event in own] == [DiscreteGaussian, SampledGaussian]
    assert (own[1].rate, own[1].steps) == (0.5, 2)
    with pytest.raises(GuaranteeRefused, match="delta"):
        plan(recipe.set({"bins.edges": "uniform"}), desk().schema, budget=Budget(1.0, 0.0))
    with pytest.raises(GuaranteeRefused, match="add-remove"):
        plan(recipe, desk().schema, budget=Budget(1.0, 1e-6), unit=Unit(relation=Relation.REPLACE_ONE))


def test_a_release_is_proven_saved_and_drawn_from(quick, tmp_path):
    released = ht.release(desk(), fast("mask-fill"), epsilon=2.0, delta=1e-6, settings=quick, seed=1)
    assert released.guarantee.assurance == "proven"
    assert released.guarantee.epsilon() <= 2.0 + 1e-9
    assert released.table.schema.names == ("mood", "age", "note")
    drawn = ht.draw(ht.save_model(released, tmp_path / "it.model"), 9, {"mood": "bad"}, seed=1).table
    assert drawn.rows == 9
    assert max(len(str(text)) for text in drawn.strings("note")) < 200


def test_a_person_with_several_rows_is_sampled_as_a_whole(quick):
    unit = Unit(by="who", rows=2)
    released = ht.release(desk(), fast("mask-fill"), epsilon=2.0, delta=1e-6, settings=quick, unit=unit, seed=1)
    assert released.guarantee.epsilon() <= 2.0 + 1e-9


def test_what_cannot_be_used_is_refused(quick, tmp_path):
    schema, budget = desk().schema, Budget(1.0, 1e-6)
    with pytest.raises(InputError, match="give public texts"):
        plan(recipes.load("mask-fill").set({"length": 12}), schema, budget=budget)
    with pytest.raises(PlanError, match="reads 64 tokens at once"):
        plan(recipes.load("mask-fill").set({**quick, "length": 100}), schema, budget=budget)
    with pytest.raises(InputError, match="encoder is needed"):
        plan(recipes.load("mask-fill").set({**quick, "encoder": "smollm2"}), schema, budget=budget)
    empty = tmp_path / "empty.txt"
    empty.write_text("\n \n")
    with pytest.raises(InputError, match="holds no text"):
        plan(recipes.load("mask-fill").set({**quick, "public": str(empty)}), schema, budget=budget)
    with pytest.raises(InputError, match="most"):
        recipes.load("mask-fill").set({**quick, "most": 0.1})


def test_pseudo_log_likelihood_is_that_of_one_mask_at_a_time(filler):
    """Of every text, each open place masked by itself, in a forward pass of its own."""
    import torch

    from hushtable.language import fill_net

    made, rows, _ = filler
    batch = [*rows[:5], made.row([5, 6], [[7, 8, 9], [4]]), made.row([5], [[]])]
    total, counts = fill_net.pseudo_log_likelihoods(made, batch)
    for row, own, count in zip(batch, total, counts, strict=True):
        alone = []
        for place in np.flatnonzero(row.open):
            tokens = list(row.tokens)
            tokens[place] = made.mask
            ids = torch.tensor([tokens])
            with torch.no_grad():
                logits = made.logits(made.states(ids, torch.ones_like(ids)))[0, place]
            alone.append(float(logits.log_softmax(0)[row.tokens[place]]))
        assert count == len(alone) == sum(row.open)
        assert own == pytest.approx(sum(alone), abs=1e-3)
    assert (total[-1], counts[-1]) == (0, 0)


def test_a_filled_model_judges_texts_under_their_own_labels(quick):
    released = ht.release(desk(), fast("mask-fill"), epsilon=2.0, delta=1e-6, settings=quick, seed=1)
    model, table = released.fitted.model, released.table.take(np.arange(20))
    total, counts = model.pseudo_log_likelihood(table)
    assert len(total) == 20
    assert (total[counts > 0] < 0).all()
    other = table.with_column(table.schema["mood"], 1 - np.clip(table["mood"], 0, 1))
    assert not np.allclose(model.pseudo_log_likelihood(other)[0], total)
    perplexity = float(np.exp(-total.sum() / counts.sum()))
    assert 1 < perplexity < len(model._filler().bias)


def test_training_without_privacy_follows_its_rows_and_leaves_the_head(filler):
    import torch

    from hushtable.language import fill_net

    made, _, _ = filler
    own = [made.row([], [[7, 8, 9, 10, 11, 12]])] * 4
    before, head = fill_net.pseudo_log_likelihoods(made, own)[0], {k: v.copy() for k, v in made.head().items()}
    fill_net.tuned(made, own, fill_net.Training(least=0.15, most=1.0, rank=2, speed=1e-2, seed=1), 30)
    assert (fill_net.pseudo_log_likelihoods(made, own)[0] > before + 1).all()
    assert all(torch.equal(torch.from_numpy(head[k]), torch.from_numpy(v)) for k, v in made.head().items())


def test_the_head_begins_with_how_often_tokens_are_in_public(filler):
    """Before a step is taken it is no worse than a count of tokens, and far better than guessing; unseen tokens stay possible."""
    from hushtable.language import fill_net

    made = fill_net.loaded(filler[0].language.checkpoint)
    rows = filler[1]
    fill_net.learnt(made, rows, filler[2], 0)
    chances = made.bias.exp().detach().numpy()
    counts = np.bincount([t for row in rows for t, mark in zip(row.tokens, row.open, strict=True) if mark], minlength=len(chances))
    assert chances.sum() == pytest.approx(1, rel=1e-4)
    assert chances.min() > 0
    assert np.argmax(chances) == np.argmax(counts)
    total, number = fill_net.pseudo_log_likelihoods(made, rows)
    assert -total.sum() / number.sum() < np.log(len(chances)) - 1
