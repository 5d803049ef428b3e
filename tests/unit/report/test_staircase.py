"""The picture of the budget: it climbs to what was spent, and is not drawn where nothing is proven."""

from __future__ import annotations

import pytest

from hushtable.pipeline.card import Card
from hushtable.privacy.event import DiscreteGaussian, Exponential, PostProcessing, Raw
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.ledger import Entry, Ledger
from hushtable.privacy.stated import StatedGuarantee
from hushtable.report import budget
from hushtable.report.charts import staircase

ACCESSES = [
    Entry("bins", DiscreteGaussian(30.0, 1.0, 1), "ranges of age"),
    Entry("aim", Exponential(0.1), "choice by misfit"),
    Entry("aim", DiscreteGaussian(20.0, 1.0, 1), "histogram of age, income"),
]


def plain(entries):
    return tuple(entry.to_json() for entry in entries)


def test_the_last_stair_is_what_everything_costs():
    stairs = staircase.climb(plain(ACCESSES), 1e-6)
    heights = [stair.epsilon for stair in stairs]
    assert heights == sorted(heights)
    assert heights[-1] == pytest.approx(Ledger(ACCESSES).epsilon(1e-6))


def test_each_step_is_given_in_every_currency_and_rho_adds_up():
    stairs = staircase.climb(plain(ACCESSES), 1e-6)
    page = str(staircase.by_step(stairs, 1e-6))
    assert "all together" in page
    assert "1 private choice, 1 noisy answer" in page
    rho = [Ledger(part).rho() for part in (ACCESSES[:1], ACCESSES[1:], ACCESSES)]
    assert rho[0] + rho[1] == pytest.approx(rho[2])
    assert staircase._mu(ACCESSES[:1]) == pytest.approx(1 / 30)
    assert staircase._mu(ACCESSES) > staircase._mu(ACCESSES[1:])


def test_free_accesses_take_no_stair():
    free = [*ACCESSES, Entry("aim", PostProcessing("reads what was released"), "draws rows")]
    assert len(staircase.climb(plain(free), 1e-6)) == len(ACCESSES)


@pytest.mark.parametrize(
    "ledger",
    [
        plain([*ACCESSES, Entry("peek", Raw("reads rows"), "reads rows")]),
        [{"event": "Unheard"}],
        [],
        plain([Entry("aim", PostProcessing("free"), "free")]),
    ],
)
def test_nothing_is_drawn_where_nothing_is_proven(ledger):
    assert staircase.climb(ledger, 1e-6) == []


def test_without_a_delta_only_pure_accesses_climb():
    assert staircase.climb(plain(ACCESSES), 0.0) == []
    assert [s.epsilon for s in staircase.climb(plain([ACCESSES[1], ACCESSES[1]]), 0.0)] == pytest.approx([0.1, 0.2])


def test_the_section_lists_what_was_assumed_and_folds_a_long_ledger():
    many = [Entry("aim", Exponential(0.01 * (i + 1)), f"choice {i}") for i in range(budget.SHOWN + 1)]
    stated = StatedGuarantee(assurance=Assurance.PROVEN, epsilon=1.0, delta=1e-6)
    page = str(budget.section(Card(ledger=plain(many), stated=stated, public=("the schema",))))
    assert "Assumed to be public" in page
    assert "<li>the schema</li>" in page
    assert "<summary>" in page
    void = str(budget.section(Card(ledger=plain(ACCESSES), public=("the schema",))))
    assert "Assumed to be public" not in void
