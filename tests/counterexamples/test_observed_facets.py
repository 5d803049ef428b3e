"""What was read off the rows stays so, whatever a step makes of it: bounds, kinds, decimals, missing codes, dropped columns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest

import hushtable as ht
from hushtable.api.mechanism import proven_recipes
from hushtable.audits.mechanism import twoworld
from hushtable.audits.mechanism.worlds import UNDECLARED
from hushtable.encode.bins import Bins
from hushtable.encode.learn_domain import LearnDomain, Learned
from hushtable.errors import GuaranteeRefused, PlanError
from hushtable.pipeline.learning import learning_domains
from hushtable.pipeline.recipe import Recipe, load
from hushtable.privacy.noise import Entropy
from hushtable.privacy.query import Total
from hushtable.synthesize.marginal.independent import Margins
from hushtable.table.columns import Facet, Kind
from tests.contract import broken

ROWS = 4000


def people(**canary: str) -> pd.DataFrame:
    """Wealth in thousands, a wage with one decimal, an answer and a day; the canary is one row more."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "wealth": [str(v) for v in rng.integers(30, 60, ROWS)],
            "wage": [f"{v:.1f}" for v in rng.uniform(10, 60, ROWS)],
            "day": [f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(ROWS)],
            # The last one, because a level more takes a draw of noise more.
            "answer": [("yes", "no")[i % 2] for i in range(ROWS)],
        }
    )
    plain = {"wealth": "40", "wage": "20.0", "answer": "yes", "day": "2024-01-01"}
    return pd.concat([frame, pd.DataFrame([plain | canary])], ignore_index=True) if canary else frame


CANARIES = {
    "a bound": {"wealth": "1234567"},
    "a decimal": {"wage": "35.12345"},
    "a missing code": {"answer": "?"},
    "another missing code": {"wealth": "NA"},
    "a kind": {"wealth": "abc"},
    "a level": {"answer": "perhaps"},
    "a date": {"day": "1823-05-17"},
    "a date format": {"day": "31.12.2024"},
    "a time of day": {"day": "2024-01-01 07:05"},
    "leading zeros": {"wealth": "0040"},
}


def test_uniform_bins_of_an_observed_domain_are_not_learnt():
    steps = (Bins(edges="uniform", bins=8), LearnDomain(share=1.0), Margins(share=9.0))
    half = ht.read(people()).declared(facets=[facet for facet in Facet if facet is not Facet.DOMAIN])
    for table in (half, ht.read(people())):
        with pytest.raises(PlanError, match=r"'learn-domain' would learn wealth, wage, .*earlier step"):
            ht.release(table, Recipe(recipe="x", steps=steps), epsilon=1.0)
        with pytest.raises(GuaranteeRefused, match="wealth: observed"):
            ht.release(table, Recipe(recipe="x", steps=(steps[0], Margins())), epsilon=1.0)


@pytest.mark.parametrize("recipe", ["independent", "mst", "privbayes"])
def test_a_draft_is_refused_until_it_is_declared(recipe):
    drafted = ht.read(people())
    with pytest.raises(GuaranteeRefused, match=r"wage: observed: true(.|\n)*missing codes"):
        ht.release(drafted, recipe, epsilon=1.0)
    for facet in Facet:
        others = [other for other in Facet if other is not facet]
        with pytest.raises(GuaranteeRefused, match=rf"wage: observed: \[{facet}\]"):
            ht.release(drafted.declared(facets=others), recipe, epsilon=1.0)
    released = ht.release(drafted.declared(by="the registry"), recipe, epsilon=1.0)
    assert released.guarantee.epsilon() <= 1.0
    assert any("the registry declared" in text for text in released.guarantee.public)


def test_a_dropped_column_must_be_declared_too():
    frame = people().assign(who=[f"p{i}" for i in range(ROWS)])
    drafted = ht.read(frame)
    assert drafted.schema["who"].kind is Kind.KEY
    columns = [c.declared() for c in drafted.schema if c.name != "who"]
    part = drafted.under(replace(drafted.schema.with_columns(*columns), drafted=False))
    with pytest.raises(GuaranteeRefused, match="who: observed: true"):
        ht.release(part, "independent", epsilon=1.0)


@pytest.mark.parametrize("canary", CANARIES.values(), ids=CANARIES)
def test_with_a_learnt_domain_nobody_sees_the_one_row_that_moved_a_facet(canary):
    """The same seeded noise in both worlds: whatever is published of the schema is then the same, but for counts off by one."""
    worlds = []
    for frame in (people(), people(**canary)):
        released = ht.release(
            ht.read(frame), "independent", epsilon=4.0, learn_domain=True, entropy=Entropy.seeded(3), unproven=True, seed=1
        )
        schema_text = released.table.schema.dump()
        assert next(iter(canary.values())) not in schema_text
        worlds.append((schema_text, released.dropped, released.guarantee.public))
    assert worlds[0] == worlds[1]


def test_a_column_that_is_left_out_was_seen_all_the_same():
    drafted = ht.read(people())
    names = [name for name in drafted.schema.names if name not in ("wealth", "wage")]
    half = drafted.under(replace(drafted.schema.with_columns(*(drafted.schema[n].declared() for n in names)), drafted=False))
    for steps in ((broken.Drops(), Margins()), (broken.Drops(), LearnDomain(), Margins())):
        with pytest.raises((GuaranteeRefused, PlanError), match="wealth"):
            ht.release(half, Recipe(recipe="x", steps=steps), epsilon=1.0)


def test_a_code_that_reads_its_columns_off_the_rows_is_refused():
    frame = people().assign(flag="n")
    declared = ht.read(frame).declared()
    with pytest.raises(GuaranteeRefused, match="other columns of the rows than its own schema says"):
        ht.release(declared, Recipe(recipe="x", steps=(broken.DropsConstants(), Bins(), Margins())), epsilon=1.0)


def test_the_careless_way_shows_each_of_them():
    """The broken twin: a draft that is declared without looking tells about the one row."""
    for canary in CANARIES.values():
        schemas = [ht.read(frame).schema.declared().dump() for frame in (people(), people(**canary))]
        assert schemas[0] != schemas[1]


def test_learnt_kinds_are_the_ones_that_anybody_would_see():
    released = ht.Synthesizer("independent", epsilon=4.0, learn_domain=True).fit(people())
    schema = released.release_.table.schema
    assert [schema[name].kind for name in schema.names] == [Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.CATEGORY]
    assert released.guarantee_.epsilon() <= 4.0
    assert not schema.undeclared
    assert not schema.drafted
    # The frame held text, and text comes back.
    assert 29 <= pd.to_numeric(released.sample()["wealth"]).mean() <= 60


def test_a_table_that_was_written_with_marks_is_read_with_them():
    drafted = ht.draft(people())
    again = ht.Schema.parse(drafted.dump())
    assert again == drafted
    some = drafted.declared(by="Jo: head of data", facets=["kind", "role"])
    assert ht.Schema.parse(some.dump()) == some
    assert some["wage"].undeclared == frozenset(Facet) - {Facet.KIND, Facet.ROLE}
    assert drafted.declared().undeclared == {}


@dataclass(frozen=True, kw_only=True)
class Unpaid(LearnDomain):
    """Learns nothing: what the rows gave away is called declared."""

    def fit(self, vault, rng):
        vault.spend(Total(), vault.paid())
        return Learned(vault.schema.declared(), ())


@pytest.mark.parametrize(
    "canary", [name if name == "kind" else pytest.param(name, marks=pytest.mark.nightly) for name in UNDECLARED]
)
def test_the_audit_of_a_mechanism_refutes_what_was_not_paid_for(canary):
    recipe = load("independent")
    options = twoworld.TwoWorldOptions(epsilon=0.5, canaries=[canary], runs=60, seed=1)
    (line,) = twoworld.audit(recipe, options)
    assert line.verdict.text.startswith("refused before a row was read")
    (line,) = twoworld.audit(replace(recipe, steps=(Unpaid(), *recipe.steps)), options)
    assert line.refuted


@pytest.mark.nightly
@pytest.mark.parametrize("name", proven_recipes())
def test_no_proven_recipe_shows_what_it_did_not_pay_for(name):
    """With a learnt domain, or refused: as many runs as refute what was not paid for."""
    recipe = load(name)
    for steps in (recipe, learning_domains(recipe)) if any(step.spends for step in recipe.steps) else (recipe,):
        options = twoworld.TwoWorldOptions(epsilon=2.0, canaries=list(UNDECLARED), runs=60, seed=1)
        for line in twoworld.audit(steps, options):
            assert not line.refuted, line
            assert steps is not recipe or not line.tested, line
