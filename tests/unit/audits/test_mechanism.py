"""The worlds, the transcript of a run, and the report of a mechanism audit."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import pytest

from hushtable.api.mechanism import MechanismReport, audit_mechanism, proven_recipes
from hushtable.audits.mechanism import bounds, onerun, scores, twoworld
from hushtable.audits.mechanism.guessing import judge
from hushtable.audits.mechanism.lines import Bound, Bounds, CanaryLine, QueryLine, Stated, Verdict
from hushtable.audits.mechanism.twoworld import TwoWorldOptions
from hushtable.audits.mechanism.watch import Transcript, watched
from hushtable.audits.mechanism.worlds import CANARIES, HOLDS, table, worlds
from hushtable.encode.bins import Bins
from hushtable.errors import InputError
from hushtable.pipeline.recipe import Recipe, load
from hushtable.pipeline.run import release
from hushtable.pipeline.step import Core, Plan
from hushtable.privacy.event import DiscreteGaussian, Raw
from hushtable.privacy.guarantee import Claim, Guarantee, Void
from hushtable.privacy.ledger import Entry
from hushtable.privacy.preserve import Effect
from hushtable.privacy.unit import Relation
from hushtable.synthesize.marginal.independent import Margins
from hushtable.table.defaults import plain_text

MARGINS = Recipe(recipe="margins", steps=(Bins(), Margins()))


def rows(table):
    texts = [[plain_text(str(text)) for text in table.strings(name)] for name in table.schema.names]
    return Counter(zip(*texts, strict=True))


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("k", [0, 10])
@pytest.mark.parametrize("name", CANARIES)
def test_the_worlds_are_neighbours(name, relation, k):
    pair = worlds(name, relation, k=k)
    more, less = rows(pair.within) - rows(pair.without), rows(pair.without) - rows(pair.within)
    units = HOLDS + 1 if name == "person" else 1
    assert more.total() == units
    assert less.total() == (0 if relation is Relation.ADD_REMOVE else units)
    assert pair.unit.relation is relation


def test_the_tie_lies_on_a_multiple_of_k_and_the_lone_category_has_one_holder():
    pair = worlds("tie", Relation.ADD_REMOVE, k=10)
    assert (pair.within.rows, pair.without.rows) == (20, 19)
    lone = worlds("lone", Relation.REPLACE_ONE)
    assert [(t.strings("town") == "lone").sum() for t in (lone.within, lone.without)] == [1, 0]


def test_a_canary_that_is_not_there_is_named():
    with pytest.raises(InputError, match="no canary 'bird'; there are corner"):
        worlds("bird", Relation.ADD_REMOVE)


def test_watching_a_recipe_changes_nothing_but_the_names():
    pair, transcript = worlds("crowd", Relation.ADD_REMOVE), Transcript()
    entropy = [twoworld.seeded(4) for _ in range(2)]
    plain = release(pair.within, MARGINS, epsilon=2.0, seed=4, entropy=entropy[0], unproven=True)
    seen = release(pair.within, watched(MARGINS, transcript), epsilon=2.0, seed=4, entropy=entropy[1], unproven=True)
    assert rows(plain.table) == rows(seen.table)
    assert [e.event for e in plain.guarantee.ledger] == [e.event for e in seen.guarantee.ledger]
    assert [type(one.question).__name__ for one in transcript.asked] == ["Histogram"] * 3
    assert transcript.log_ratio == 0.0, "without another world there is nothing to compare with"


def test_the_ratio_of_the_answers_is_the_exact_one_and_has_one_sign_in_both_worlds():
    """With a budget so large that there is no noise to speak of, the ratio gives the world away every time."""
    pair = worlds("corner", Relation.ADD_REMOVE)
    for here, there, sign in ((pair.within, pair.without, 1), (pair.without, pair.within, -1)):
        transcript = Transcript(rival=there, sign=sign)
        release(here, watched(MARGINS, transcript), epsilon=200.0, seed=1, unproven=True)
        assert transcript.answers == 3
        assert sign * transcript.log_ratio > 10


def test_a_release_becomes_numbers_that_the_canary_moves():
    pair = worlds("lone", Relation.ADD_REMOVE)
    transcript = Transcript()
    released = release(pair.within, watched(MARGINS, transcript), epsilon=50.0, seed=0, unproven=True)
    result = scores.features(released, transcript, pair)
    assert result["rows"] == released.table.rows
    assert result["somebody like the canary in town"] == float("lone" in released.table.strings("town"))
    assert any(name.startswith("model.arrays.town[") for name in result)
    assert any(name.startswith("card.") for name in result)
    assert all(np.isfinite(list(result.values())))
    outside = scores.features(released, transcript, pair, inside=False)
    assert not any(name.startswith(("model", "card")) or name == scores.TRANSCRIPT for name in outside)
    assert scores.refused(InputError("x"))[scores.REFUSED] == 1.0


@dataclass(frozen=True, kw_only=True)
class Copies(Core):
    """Hands out the rows as they are, and says that this is private."""

    fails: bool = False
    """Whether it refuses where the lone category is there."""

    def plan(self, schema, budget):
        return Plan(schema=schema, events=(Raw("copies"),), effect=Effect.GENERATE)

    def fit(self, vault, rng):
        from hushtable.anonymize.anonymized import Anonymized

        held = vault.open(Raw("copies"), "copies")
        if self.fails and "lone" in held.strings("town"):
            raise InputError("no")
        return Anonymized(held)


@pytest.mark.parametrize(("step", "canary"), [(Copies(), "lone"), (Copies(), "label"), (Copies(fails=True), "lone")])
def test_a_copy_and_a_refusal_that_tells_are_refuted_by_few_runs(step, canary):
    recipe = Recipe(recipe="copies", steps=(step,))
    (line,) = twoworld.audit(recipe, TwoWorldOptions(epsilon=1.0, canaries=[canary], runs=60, seed=0))
    assert line.refuted
    assert line.bounds.epsilon.value == pytest.approx(line.bounds.epsilon.ceiling)
    assert line.stated.source == twoworld.NOBODY
    assert bool(line.unreleased) is step.fails


def test_one_run_refutes_a_copy_and_finds_nothing_where_nothing_is():
    copy = onerun.one_run(Recipe(recipe="copies", steps=(Copies(),)), epsilon=1.0, canaries=200, repeats=1, seed=0)
    assert copy.refuted
    assert copy.bounds.right == copy.bounds.guesses > 0
    assert CanaryLine.from_json(copy.to_json()) == copy
    fair = onerun.one_run(MARGINS, epsilon=1.0, canaries=200, repeats=1, seed=0)
    assert not fair.refuted
    with pytest.raises(InputError, match="at least 40"):
        onerun.one_run(MARGINS, epsilon=1.0, canaries=10)
    with pytest.raises(InputError, match="holds 1000 different"):
        onerun.planted(2000, np.random.default_rng(0))


def test_a_canary_that_the_recipe_refuses_is_not_tested_and_says_why():
    options = TwoWorldOptions(epsilon=2.0, canaries=["person", "tie"], runs=4, seed=0)
    lines = twoworld.audit(load("beta-k-eps-certified"), options)
    assert lines[0].verdict == Verdict("not tested")
    assert lines[0].why
    assert not lines[0].tested
    assert lines[1].stated.relation == "replace_one"
    assert load("beta-k-eps-certified").relation is Relation.REPLACE_ONE


def test_runs_follow_from_the_time_of_one():
    assert [twoworld.budgeted(seconds) for seconds in (1e-9, 0.015, 0.1, 5.0)] == [2000, 2000, 300, 60]


def test_no_runs_that_differ_are_no_evidence():
    assert judge([{}] * 40, [{}] * 40, delta=0.0, tail=0.025, also="rho").epsilon.value == 0.0


def test_the_report_is_plain_and_goes_on_where_it_stopped(tmp_path, monkeypatch):
    plain = {"epsilon": 2.0, "canaries": ["crowd"], "runs": 12, "seed": 0, "folder": tmp_path / "out"}
    first = audit_mechanism(MARGINS, **plain)
    assert json.loads((tmp_path / "out" / "mechanism.json").read_text()) == first.to_json()
    assert not first.refuted
    assert first.label == "not refuted"
    page = (tmp_path / "out" / "mechanism.html").read_text()
    assert "not refuted (at least" in page
    monkeypatch.setattr(twoworld._Audited, "line", lambda self: pytest.fail("was done already"))
    assert audit_mechanism(MARGINS, **plain).to_json() == first.to_json()
    with pytest.raises(InputError, match="other rows, audits or settings"):
        audit_mechanism(MARGINS, **plain | {"runs": 10})


def stated(source, epsilon=1.0, **more):
    return Stated(source=source, epsilon=epsilon, delta=0.0, **more)


SHOWN = Bounds(epsilon=Bound(0.5, 2.0), evaluated=30, tail=0.025)


@pytest.mark.parametrize(
    ("here", "verdict"),
    [
        (stated(twoworld.LEDGER), "not refuted (at least 0.5, at most the stated 1)"),
        (stated(twoworld.VOID), "not refuted (at least 0.5; the ledger adds up to 1, but its proof is void)"),
        (stated(twoworld.CLAIM), "not refuted (at least 0.5; claimed 1)"),
        (stated(twoworld.NOBODY), "not refuted (at least 0.5; asked about 1; the recipe states none)"),
        (stated(twoworld.NOBODY, claimed=0.25), "not refuted (at least 0.5; asked about 1; its publication claims 0.25)"),
    ],
)
def test_at_most_is_said_only_of_what_is_proven(here, verdict):
    assert twoworld.verdict(here, SHOWN) == Verdict(verdict)


@pytest.mark.parametrize("source", [twoworld.LEDGER, twoworld.CLAIM, twoworld.NOBODY])
def test_too_few_runs_say_how_many_are_needed(source):
    few = twoworld.verdict(stated(source), replace(SHOWN, epsilon=Bound(0.5, 0.9)))
    assert few.too_few
    assert not few.refuted
    assert few.text.startswith(f"too few runs to refute: at least {2 * bounds.needed(1.0)} are needed")
    assert "no more than 0.9" in few.text
    assert "more than anybody can make" in twoworld.verdict(stated(source, 50.0), SHOWN).text
    guesses = twoworld.verdict(stated(source, 5.0), replace(SHOWN, guesses=40, right=20, tail=None))
    assert guesses.text.startswith("too few guesses to refute")


def test_runs_that_could_refute_by_mu_are_not_too_few():
    here = stated(twoworld.LEDGER, 3.0, mu=0.5)
    assert "by mu alone" in twoworld.verdict(here, replace(SHOWN, other=("mu", Bound(0.1, 1.0)))).text
    assert twoworld.verdict(here, replace(SHOWN, other=("mu", Bound(0.1, 0.4)))).too_few


LINE = {
    "canary": "corner", "told": "(a) the only record", "rows": 101, "relation": "add_remove", "unit": "record", "public": ["n"],
    "source": "the ledger", "epsilon_stated": 2.0, "delta": 1e-6, "rho": 0.1, "mu": None, "evaluated": 6, "ceiling": 0.5,
    "tail": 0.01, "epsilon_lb": 0.0, "guess_epsilon": None, "rho_lb": 0.02, "rho_ceiling": 0.3, "runs": 12, "seconds": 0.5,
    "guess_rho": {"score": "rows", "threshold": 3.0, "above": True, "false": 1, "missed": 2}, "seconds_per_run": 0.01,
    "unreleased": 0, "claims": [], "refuted": False, "too_few": True, "verdict": "too few runs to refute",
}  # fmt: skip
CLAIMED = {k: v for k, v in LINE.items() if not k.startswith(("rho_", "guess_rho", "too_few"))}
CLAIMED |= {"source": "nobody", "claimed": 0.25, "rho": None, "guess_epsilon": LINE["guess_rho"]}
UNTESTED = {"canary": "tie", "told": "(c) between", "rows": 20, "verdict": "not tested", "refuted": False, "why": "no budget"}
ONE_RUN = {k: v for k, v in CLAIMED.items() if k not in ("tail", "guess_epsilon", "seconds_per_run", "unreleased")}
ONE_RUN |= {"guesses": 24, "right": 13}


@pytest.mark.parametrize("plain", [LINE, CLAIMED, UNTESTED, ONE_RUN])
def test_the_keys_of_a_saved_line_stay(plain):
    line = CanaryLine.from_json(plain)
    assert line.to_json() == plain
    assert line.tested is ("epsilon_lb" in plain)


def test_the_keys_of_a_saved_query_stay():
    plain = {
        "question": "Histogram", "tried": 3, "holds": True, "l1": 1.0, "l2": 1.0, "most": 1.0, "coordinates": 1, "neighbours": 40,
        "stated": {"l1": 1.0, "l2": 1.0, "coordinates": 1},
    }  # fmt: skip
    assert QueryLine.from_json(plain).to_json() == plain
    assert QueryLine.from_json(plain).holds


def test_what_a_guarantee_states_and_who_states_it():
    paid = Entry("margins", DiscreteGaussian(20.0, 1.0, 1), "histogram")
    proven = Guarantee(ledger=(paid,), delta=1e-6)
    raw = Guarantee(ledger=(Entry("x", Raw("reads"), "reads"),))
    claimed = Guarantee(ledger=raw.ledger, claims=(Claim("epsilon = 0.5", ("a gap",)),))
    result = {"x": {"claimed_epsilon": 0.5}}
    assert twoworld.stated(proven, 1.0, {}).source == twoworld.LEDGER
    assert twoworld.stated(replace(proven, voids=(Void.SEEDED_NOISE,)), 1.0, {}).source == twoworld.LEDGER
    assert twoworld.stated(replace(proven, voids=(Void.ROW_COUNT,)), 1.0, {}).source == twoworld.VOID
    assert twoworld.stated(replace(proven, bound=2.0), 1.0, {}).epsilon == 2.0, "what one run spent is no promise"
    assert twoworld.stated(raw, 1.0, {}).source == twoworld.NOBODY
    assert twoworld.stated(claimed, None, result).epsilon == 0.5
    assert twoworld.stated(claimed, 0.5, result).source == twoworld.CLAIM
    other = twoworld.stated(claimed, 1.0, result)
    assert (other.source, other.claimed) == (twoworld.NOBODY, 0.5)


@pytest.mark.parametrize(("runs", "label"), [(8, "too few runs"), (24, "not refuted")])
def test_the_page_draws_no_bar_up_to_what_nobody_proved(runs, label):
    plain = audit_mechanism(load("noise"), epsilon=1.0, canaries=["tie"], runs=runs, seed=0).to_json()
    plain |= {"lines": [line | {"epsilon_lb": 0.2, "refuted": False} for line in plain["lines"]], "refuted": False, "label": label}
    page = MechanismReport.from_json(plain).page()
    assert "whisker" not in page.split("</style>")[1]
    assert "asked about 1.00" in page
    assert "the recipe states none" in page
    assert "Nothing proves that epsilon is not larger" in page
    proven = {"lines": [line | {"source": twoworld.LEDGER} for line in plain["lines"]]}
    assert "whisker" in MechanismReport.from_json(plain | proven).page().split("</style>")[1]


def test_a_seed_gives_the_same_report_but_for_the_time():
    options = TwoWorldOptions(epsilon=2.0, canaries=["tie"], runs=8, seed=3)
    one, two = (replace(twoworld.audit(MARGINS, options)[0], seconds=0.0, seconds_per_run=0.0) for _ in range(2))
    assert one == two
    assert one.tested


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({}, "give one"),
        *(({"epsilon": wrong}, "positive number") for wrong in (0.0, -1.0, float("nan"), float("inf"))),
        *(({"epsilon": 1.0, "delta": wrong}, "must lie in") for wrong in (-1e-6, 1.0, float("nan"))),
        ({"epsilon": 1.0, "relation": "friends"}, "add_remove or replace_one"),
        ({"epsilon": 1.0, "canaries": ["bird"]}, "no canary bird"),
        ({"epsilon": 1.0, "runs": 2}, "at least 4"),
        ({"epsilon": 1.0, "seed": -1}, "not negative"),
        ({"epsilon": 1.0, "relation": "replace_one", "one_run": True}, "add_remove"),
    ],
)
def test_bad_input_is_refused_before_any_run(wrong, match, monkeypatch):
    monkeypatch.setattr(twoworld._Audited, "line", lambda self: pytest.fail("was run"))
    with pytest.raises(InputError, match=match):
        audit_mechanism(MARGINS, **wrong)


def test_the_recipes_that_are_said_to_be_proven_are_found_by_themselves():
    result = proven_recipes()
    assert {"independent", "frechet", "sample-independent"} <= set(result)
    assert not {"beta-k-eps", "mdav", "noise"} & set(result)


def test_rows_of_a_table_are_as_given():
    assert table([(3, "b", "no")]).strings("town").tolist() == ["b"]
