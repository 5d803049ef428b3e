"""What a release says of itself: what holds, what is public, what would break it, and never an epsilon it did not earn."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.anonymize.microaggregate.microaggregate import Microaggregate
from hushtable.anonymize.sample import Sample
from hushtable.encode.bins import Bins
from hushtable.pipeline.run import release
from hushtable.privacy import accountant
from hushtable.privacy.event import (
    Approximate,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    PostProcessing,
    Raw,
    SampledGaussian,
    Zcdp,
)
from hushtable.privacy.guarantee import Assurance, Claim, Guarantee, Void, rounded_up
from hushtable.privacy.ledger import Entry, Ledger
from hushtable.privacy.preserve import Form, Promise, Syntactic
from hushtable.privacy.unit import Relation, Unit
from hushtable.synthesize.marginal.independent import Margins
from tests.unit.privacy.cases import Says, people, recipe

PAID = Entry("margins", DiscreteGaussian(20.0, 1.0, 1), "histogram of age")
PEEK = Entry("bins", Raw("reads quantiles off the rows"), "reads quantiles off the rows")
PROVEN = Guarantee(ledger=(PAID,), delta=1e-6, public=("the schema",))
K = Promise(kind=Syntactic.K_ANONYMITY, value=5, quasi=("age", "town"))
CLAIM = Claim("epsilon = 1 by theorem 2", ("the row count leaks",))
EPSILON = re.compile(r"\d+(\.\d+)?(, [\d.e-]+\))?-differential privacy|epsilon (is|=) \d")


def heads(guarantee: Guarantee) -> dict[str, list[str]]:
    sentences: dict[str, list[str]] = {}
    for head, text in guarantee.sentences():
        sentences.setdefault(head, []).append(text)
    return sentences


def test_a_proven_release_says_what_holds_what_is_public_and_what_breaks_it():
    sentences = heads(PROVEN)
    assert PROVEN.assurance is Assurance.PROVEN
    assert sentences["Proven"] == [
        f"({rounded_up(PROVEN.epsilon(), 4):.4g}, 1e-06)-differential privacy when one record is added or removed."
    ]
    assert f"{math.exp(PROVEN.epsilon()):.3g}" in sentences["Which means"][0]
    assert sentences["Assumed public"] == ["the schema."]
    breaks = " ".join(sentences["What would break it"])
    for danger in ("second release", "publishing the audit", "more than 1 row"):
        assert danger in breaks
    assert all(text.endswith(".") for texts in sentences.values() for text in texts)
    assert PROVEN.explain().count("\n") == len(PROVEN.sentences()) - 1


def test_pure_epsilon_is_told_without_a_delta():
    pure = Guarantee(ledger=(Entry("s", DiscreteLaplace(2.0, 1.0), "w"),))
    assert heads(pure)["Proven"] == ["0.5-differential privacy when one record is added or removed."]
    assert "the odds change by a factor of at most" in pure.explain()
    assert "on top" not in pure.explain()


def test_replace_one_says_that_the_number_of_rows_is_public():
    exchanged = replace(PROVEN, unit=Unit(relation=Relation.REPLACE_ONE))
    sentences = heads(exchanged)
    assert "replaced by another" in sentences["Proven"][0]
    assert "left out" not in sentences["Which means"][0]
    assert "the exact number of rows" in sentences["Assumed public"][0]
    assert "the exact number of rows" in exchanged.to_json()["public"]
    assert "number of rows" not in PROVEN.explain()


def test_persons_are_called_persons():
    sentences = heads(replace(PROVEN, unit=Unit(rows=3, by="who")))
    assert "one person (at most 3 rows)" in sentences["Proven"][0]
    assert "any one person been left out" in sentences["Which means"][0]
    assert not any("more than" in text for text in sentences["What would break it"])


@pytest.mark.parametrize(
    ("promise", "words"),
    [
        (K, ("in the release is shared by at least 5 rows", "cannot tell which")),
        (replace(K, form=Form.DERIVED), ("made only from a table", "at most once in 5")),
        (
            replace(K, kind=Syntactic.K_MAP, form=Form.DERIVED),
            ("made only from a sample of a table", "nobody knows who was sampled"),
        ),
        (Promise(kind=Syntactic.L_DIVERSITY, value=2, quasi=("age",), secret="ill", variant="distinct"), ("distinct l-diversity",)),
        (
            Promise(kind=Syntactic.T_CLOSENESS, value=0.2, quasi=("age",), secret="ill", variant="equal"),
            ("t-closeness with t = 0.2",),
        ),
    ],
)
def test_a_verified_release_says_what_was_measured_and_on_what(promise, words):
    guarantee = Guarantee(ledger=(PEEK,), promises=(promise,), public=("the schema",))
    sentences = heads(guarantee)
    assert guarantee.assurance is Assurance.VERIFIED
    assert all(word in sentences["Verified"][0] for word in words)
    assert "none, epsilon is infinite" in sentences["Differential privacy"][0]
    assert "bins" in sentences["Differential privacy"][0]
    breaks = " ".join(sentences["What would break it"])
    assert "another release of the same people" in breaks
    assert "holds several of the rows" in breaks
    assert ("learning who was sampled" in breaks) == (promise.kind is Syntactic.K_MAP)


def test_rows_that_one_person_may_share_are_not_called_people():
    sentences = heads(Guarantee(unit=Unit(rows=4), ledger=(PEEK,), promises=(replace(K, form=Form.DERIVED),)))
    assert sentences["But"] == ["rows are counted, and one person may hold 4 of those that look alike."]


def test_a_claim_is_told_with_its_gap_and_never_as_ours():
    claimed = Guarantee(ledger=(PEEK,), claims=(CLAIM,))
    sentences = heads(claimed)
    assert claimed.assurance is Assurance.CLAIMED
    assert sentences["Claimed"] == ["the publication states epsilon = 1 by theorem 2."]
    assert sentences["Gap in the claim"] == ["the row count leaks."]
    assert "Proven" not in sentences


def test_a_release_without_promises_says_so():
    for guarantee in (Guarantee(), Guarantee(ledger=(PEEK,)), Guarantee(ledger=(Entry("s", PostProcessing("p"), "w"),))):
        assert guarantee.assurance is Assurance.NONE
        assert guarantee.epsilon() == guarantee.rho() == math.inf
        assert "nothing" in heads(guarantee)["Promised"][0]
    assert heads(Guarantee())["Differential privacy"] == ["not promised."]


events = st.sampled_from(
    [DiscreteGaussian(2.0, 1.0, 1), DiscreteLaplace(5.0, 1.0), Zcdp(0.01), Approximate(0.1, 1e-9), PostProcessing("p")]
)
ledgers = st.lists(st.builds(lambda e: Entry("s", e, "w"), events), max_size=4)


@given(ledgers, st.integers(0, 4), st.sampled_from([0.0, 1e-6]), st.booleans(), st.booleans())
def test_no_finite_epsilon_is_printed_once_a_look_was_raw(before, place, delta, promised, claimed):
    entries = [*before[:place], PEEK, *before[place:]]
    guarantee = Guarantee(
        ledger=tuple(entries),
        delta=delta,
        promises=(K,) if promised else (),
        claims=(Claim("safety", ("a gap",)),) if claimed else (),
    )
    assert guarantee.epsilon() == guarantee.rho() == math.inf
    assert guarantee.assurance is not Assurance.PROVEN
    assert "Proven" not in heads(guarantee)
    assert not EPSILON.search(guarantee.explain())
    document = guarantee.to_json()
    assert (document["epsilon"], document["delta"], document["rho"]) == ("infinity", None, None)
    assert document["not_private"] == ["bins: reads quantiles off the rows"]
    json.dumps(document, allow_nan=False)


@pytest.mark.parametrize("void", list(Void))
def test_every_void_takes_the_proof_away_and_is_told(void):
    spoiled = replace(PROVEN, voids=(void,))
    assert spoiled.epsilon() == spoiled.rho() == math.inf
    assert spoiled.assurance is Assurance.NONE
    assert str(void) in heads(spoiled)["The proof is void"][0]
    assert str(void) in spoiled.to_json()["caveats"]
    assert not EPSILON.search(spoiled.explain())


@pytest.mark.parametrize("happened", [Gaussian(5.0, 1.0), SampledGaussian(1.0, 0.01, 10)])
def test_floating_point_noise_is_seen_in_the_ledger(happened):
    guarantee = Guarantee(ledger=(PAID, Entry("sgd", happened, "w")), delta=1e-6)
    assert guarantee.all_voids == (Void.FLOAT_NOISE,)
    assert guarantee.epsilon() == math.inf
    assert math.isfinite(Ledger(guarantee.ledger).epsilon(1e-6))  # the ledger alone would not know


def test_noise_whose_low_bits_were_rounded_away_does_not_void_the_proof():
    guarantee = Guarantee(ledger=(PAID, Entry("sgd", SampledGaussian(1.0, 0.01, 10, 2.0**-12), "w")), delta=1e-6)
    assert guarantee.all_voids == ()
    assert math.isfinite(guarantee.epsilon())


def test_a_card_holds_the_same_epsilon_and_its_ledger_adds_up():
    document = json.loads(json.dumps(PROVEN.to_json(), allow_nan=False))
    again = Ledger(Entry.from_json(entry) for entry in document["ledger"])
    assert document["epsilon"] == pytest.approx(again.epsilon(document["delta"], tight=document["accountant"] == "pld"))
    assert document["epsilon"] <= again.epsilon(document["delta"])
    assert document["rho"] == pytest.approx(again.rho())
    assert PROVEN.epsilon(1e-9) > PROVEN.epsilon()


def test_the_guarantees_of_real_recipes_explain_themselves():
    proven = release(people(), recipe(Bins(), Margins()), epsilon=1.0).guarantee
    mapped = release(people(), recipe(Microaggregate(k=5), Sample(beta=0.5))).guarantee
    raw = release(people(), recipe(Says(opens=(Raw("copies"),)))).guarantee
    assert [g.assurance for g in (proven, mapped, raw)] == [Assurance.PROVEN, Assurance.VERIFIED, Assurance.NONE]
    assert "Proven: (0." in proven.explain()
    assert "the schema, which whoever made the release declared" in heads(proven)["Assumed public"][0]
    assert "k-map with k = 5" in heads(mapped)["Verified"][0]
    assert not EPSILON.search(mapped.explain() + raw.explain())


def test_where_noisy_answers_decided_the_looks_the_budget_is_what_is_promised():
    entries = (Entry("aim", DiscreteGaussian(30.0, 1.0, 1), "histogram of a"),)
    fixed, adaptive = (Guarantee(ledger=entries, delta=1e-6, bound=bound) for bound in (None, 1.0))
    assert fixed.epsilon() < 0.2
    assert adaptive.epsilon() == 1.0
    assert adaptive.rho() == pytest.approx(accountant.zcdp_rho(1.0, 1e-6))
    assert adaptive.epsilon(1e-9) > 1.0
    assert Guarantee.from_json(adaptive.to_json()).epsilon() == 1.0
    assert "bound" not in fixed.to_json()
    raw = Guarantee(ledger=(*entries, Entry("trees", Raw("reads rows"), "a")), delta=1e-6, bound=1.0)
    assert not {"bound", "spent"} & set(raw.to_json()), "what a raw look spends is no number, and JSON has no word for it"
    overdrawn = Guarantee(ledger=(Entry("aim", DiscreteGaussian(2.0, 1.0, 1), "a"),), delta=1e-6, bound=0.1)
    assert overdrawn.epsilon() > 1.0


def test_a_k_is_that_of_the_release_over_all_quasi_identifiers_and_the_headline_says_where_it_is_not():
    def held(*promises: Promise) -> Guarantee:
        return Guarantee(ledger=(PEEK,), promises=promises)

    k = Promise(kind=Syntactic.K_ANONYMITY, value=5, quasi=("age", "sex"))
    part, wide = replace(k, quasi=("age",), value=9), replace(k, quasi=("age", "sex", "town"), value=3)
    asked = ("age", "sex")
    for promises, expected, headline in (
        ((k,), 5, "verified: k-anonymity, k = 5"),
        ((k, wide, part), 3, "verified: k-anonymity, k = 5; k-anonymity, k = 3; k-anonymity, k = 9 over 1 of 2 columns"),
        ((part, replace(part, quasi=("sex",))), None, "verified: k-anonymity, k = 9 over 1 of 2 columns"),
        ((replace(k, form=Form.DERIVED),), None, "verified: k-anonymity, k = 5 (derived)"),
        ((replace(k, kind=Syntactic.K_MAP, form=Form.DERIVED),), None, "verified: k-map, k = 5 (derived)"),
    ):
        assert held(*promises).k(asked) == expected
        assert held(*promises).headline(asked) == headline
    assert held(part).k() == 9
    assert held(part, replace(part, quasi=("sex",))).k() is None
    assert Guarantee().k(asked) is None


def test_every_promise_is_stated_with_its_evidence_whom_it_protects_and_over_which_columns():
    k = Promise(kind=Syntactic.K_ANONYMITY, value=5, quasi=("age", "sex", "town", "school"), form=Form.DERIVED)
    assert [str(one) for one in Guarantee(promises=(k,)).statements()] == [
        "k-anonymity with k = 5 over age, sex and 2 more, of the table it was made from (verified)"
    ]
    assert Guarantee().statements() == ()
    (proven,) = replace(PROVEN, unit=Unit(relation=Relation.REPLACE_ONE)).statements()
    assert proven.evidence is Assurance.PROVEN
    assert re.fullmatch(
        r"differential privacy with epsilon [\d.]+, delta 1e-06, for one record replaced by another \(proven\)", str(proven)
    )
    claimed = Guarantee(claims=(Claim("differential privacy", ("a gap",)),))
    assert "; ".join(map(str, claimed.statements())) == (
        "nothing; its source claims differential privacy, which is not proven (epsilon is infinite)"
    )
