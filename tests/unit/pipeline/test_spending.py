"""An error after a paid look says what was spent; one before it, or without a budget, has nothing to say."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from hushtable.api.best_of import best_of
from hushtable.data.people import people
from hushtable.encode.bins import Bins, Edges
from hushtable.errors import GuaranteeRefused, InputError
from hushtable.pipeline.recipe import Recipe, load
from hushtable.pipeline.run import release
from hushtable.synthesize.marginal.independent import Margins

BUDGET = {"epsilon": 2.0, "delta": 1e-6}


@dataclass(frozen=True, kw_only=True)
class Failing(Margins):
    """Pays for every margin, then ends in an error."""

    error: type[BaseException] = InputError

    def fit(self, vault, rng):
        super().fit(vault, rng)
        raise self.error("no model came of it")


def recipe(error: type[BaseException]) -> Recipe:
    return Recipe(recipe="failing", steps=(Bins(edges=Edges.TREE), Failing(error=error)))


@pytest.mark.parametrize("error", [InputError, GuaranteeRefused, MemoryError, KeyboardInterrupt, ZeroDivisionError])
def test_whatever_ends_a_run_keeps_its_kind_and_says_what_was_spent(small, error):
    with pytest.raises(error, match="no model came of it") as ended:
        release(small, recipe(error), **BUDGET)
    (note,) = ended.value.__notes__
    assert note.startswith("The budget is spent although nothing was released: epsilon 2 at delta 1e-06, by bins (")
    assert note.endswith(f":Failing ({len(small.schema)} queries).")


def test_a_refusal_before_a_look_has_no_note(small):
    with pytest.raises(GuaranteeRefused) as ended:
        release(small, Recipe(recipe="raw", steps=(Bins(edges=Edges.QUANTILE), Margins())), **BUDGET)
    assert not hasattr(ended.value, "__notes__")


def test_of_several_runs_all_are_spent(small):
    with pytest.raises(InputError) as ended:
        best_of(small, [Recipe(recipe="failing", steps=(Bins(), Failing()))], **BUDGET)
    assert "epsilon 2 at delta 1e-06, by best-of (1 query)" in ended.value.__notes__[-1]


def test_a_number_of_rows_that_a_step_cannot_give_is_refused_before_a_look():
    with pytest.raises(InputError, match="releases the rows that it is left with") as ended:
        release(people(300, seed=1), load("safe-k"), rows=100, **BUDGET)
    assert not hasattr(ended.value, "__notes__")
