"""What a guarantee states, in sentences: nothing is rounded to the good side, and what cannot be read is not stated."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from hushtable.privacy.criteria import Counted
from hushtable.privacy.event import DiscreteLaplace, Raw
from hushtable.privacy.guarantee import Assurance, Claim, Guarantee
from hushtable.privacy.ledger import Entry
from hushtable.privacy.preserve import Form, Promise, Syntactic
from hushtable.privacy.stated import NOTHING, StatedGuarantee, chance, digits
from hushtable.privacy.unit import Relation, Unit

PURE = Guarantee(ledger=(Entry("a", DiscreteLaplace(1.0, 1.0), "counts"),))
K = Promise(kind=Syntactic.K_ANONYMITY, value=5, quasi=("age", "sex"))
RAW = (Entry("a", Raw("reads"), "reads"),)
CLAIMED = Guarantee(ledger=RAW, claims=(Claim("1-differential privacy", ("a gap",)),))


@pytest.mark.parametrize(
    ("guarantee", "headline", "figure"),
    [
        (PURE, "proven: epsilon 1", "ε = 1"),
        (replace(PURE, promises=(K,)), "proven: epsilon 1; verified: k-anonymity, k = 5", "ε = 1"),
        (Guarantee(ledger=RAW, promises=(K,)), "verified: k-anonymity, k = 5", "k = 5"),
        (Guarantee(ledger=RAW, promises=(replace(K, kind=Syntactic.T_CLOSENESS, value=0.2, secret="pay"),)),
         "verified: t-closeness, t = 0.2", "t = 0.2"),
        (CLAIMED, "claimed, not proven", "only a claim"),
        (replace(CLAIMED, promises=(K,)), "claimed, not proven; verified: k-anonymity, k = 5", "only a claim"),
        (Guarantee(ledger=RAW), "nothing is promised", "nothing"),
        (Guarantee(), "nothing is promised", "nothing"),
    ],
)  # fmt: skip
def test_headline_and_figure(guarantee: Guarantee, headline: str, figure: str) -> None:
    assert guarantee.headline() == headline
    stated = StatedGuarantee.of(guarantee)
    assert stated.figure == figure
    assert StatedGuarantee.from_json(guarantee.to_json()) == stated


def test_a_guarantee_and_its_card_state_the_same_sentences() -> None:
    proven = replace(PURE, delta=1e-6, unit=Unit(rows=3, by="patient", relation=Relation.REPLACE_ONE))
    for guarantee in (PURE, proven, Guarantee(ledger=RAW, promises=(K,)), CLAIMED, Guarantee()):
        assert StatedGuarantee.from_json(guarantee.to_json()).sentences() == StatedGuarantee.of(guarantee).sentences()
    assert StatedGuarantee.of(PURE).sentences() == [
        "Adding or removing any one record changes the probability of any conclusion that anybody could draw from this table by a "
        "factor of at most 2.72."
    ]
    (line,) = StatedGuarantee.of(proven).sentences()
    assert line.startswith("Replacing any one person (who holds at most 3 rows) by another makes no conclusion")
    assert line.endswith("more than 2.72 times as likely, plus a probability of at most 1 in 1,000,000.")
    assert StatedGuarantee.of(Guarantee()).sentences() == [NOTHING]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (
            {},
            "finds at least 5 rows that match; by these columns alone, a guess which of them is theirs is right with a "
            "probability of at most 1 in 5.",
        ),
        ({"counted": Counted.PERSONS}, "finds rows of at least 5 people that match"),
        ({"form": Form.DERIVED}, "made only from groups of at least 5 rows that look alike in age and sex"),
        ({"form": Form.DERIVED, "counted": Counted.PERSONS}, "at least 5 people whose rows look alike in age and sex"),
        ({"kind": Syntactic.K_MAP, "form": Form.DERIVED}, "a sample of groups of at least 5 people that look alike in age and sex"),
        (
            {"kind": Syntactic.L_DIVERSITY, "secret": "pay", "variant": "entropy"},
            "5 well-represented values of pay, by the",
        ),
        ({"kind": Syntactic.T_CLOSENESS, "secret": "pay", "value": 0.2}, "pay is distributed within 0.2 of how it is in the whole"),
        ({"quasi": tuple("abcdef")}, "Whoever knows a person’s a, b, c and 3 more columns finds"),
        ({"quasi": ("x" * 50,)}, f"{'x' * 39}…"),
    ],
)
def test_each_promise_has_a_sentence(changed: dict[str, Any], words: str) -> None:
    stated = StatedGuarantee(assurance=Assurance.VERIFIED, promises=(replace(K, **changed),))
    assert words in stated.sentences()[0]


def test_where_persons_may_hold_several_rows_no_probability_of_a_row_is_stated() -> None:
    stated = StatedGuarantee(assurance=Assurance.VERIFIED, promises=(K,), unit=Unit(rows=2))
    (line,) = stated.sentences()
    assert line.endswith("finds at least 5 rows that match, and cannot see from these columns which one is theirs.")


def test_the_factor_is_rounded_up_and_a_large_epsilon_is_said_to_protect_hardly_anybody() -> None:
    assert StatedGuarantee(epsilon=math.log(2)).factor() == "2"
    assert StatedGuarantee(epsilon=1.0).factor() == "2.72"
    assert StatedGuarantee(epsilon=9.99).factor() == "21,900"
    large = StatedGuarantee(assurance=Assurance.PROVEN, epsilon=100.0)
    assert large.factor() == "e to the power 100"
    assert large.sentences()[0].startswith("An epsilon this large protects hardly anybody. ")


@pytest.mark.parametrize(
    "spoilt",
    [
        {}, {"assurance": "certified"}, {"epsilon": "1", "delta": None, "unit": 3, "relation": 5, "promises": 7, "claims": "x"},
        {"promises": [{"kind": "m_invariance", "value": 3}, {"kind": "k_anonymity", "value": "five"}, "text"]},
        {"unit": {"rows": -3, "by": ""}, "criteria": [1], "epsilon": float("nan"), "delta": True},
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_not_stated(spoilt: dict[str, Any]) -> None:
    stated = StatedGuarantee.from_json(spoilt)
    assert stated == StatedGuarantee()
    assert stated.sentences() == [NOTHING]
    assert stated.in_symbols() == "Differential privacy: none (epsilon is infinite)."


def test_cover_means_all_columns_that_others_may_know_at_once() -> None:
    assert StatedGuarantee().covers_quasi
    assert StatedGuarantee(quasi=("age", "sex"), promises=(K,)).covers_quasi
    assert not StatedGuarantee(quasi=("age", "sex", "town"), promises=(K, replace(K, quasi=("town",)))).covers_quasi


@pytest.mark.parametrize(("probability", "text"), [(1e-6, "1 in 1,000,000"), (0.0153, "1 in 65"), (1.2345e-7, "1 in 8,100,445")])
def test_a_chance_is_never_said_to_be_rarer_than_it_is(probability: float, text: str) -> None:
    assert chance(probability) == text


@pytest.mark.parametrize(("value", "text"), [(0.9163, "0.9163"), (1e-9, "0.000000001"), (12350.0, "12,350"), (5.0, "5")])
def test_numbers_have_no_e_notation(value: float, text: str) -> None:
    assert digits(value, 4) == text
