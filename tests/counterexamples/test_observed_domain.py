"""A domain read off the rows gives away who is in them; a domain that was paid for does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hushtable.encode.bins import Bins
from hushtable.encode.learn_domain import LearnDomain
from hushtable.errors import GuaranteeRefused
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.run import release
from hushtable.privacy.event import Raw
from hushtable.privacy.noise import Entropy
from hushtable.synthesize.marginal.independent import Margins
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from hushtable.table.values import make

SCHEMA = """
columns:
  town: {kind: category}
  pay:  {kind: integer}
"""
ROWS = 400


def people(*, alice: bool) -> Table:
    """Many ordinary people, and Alice, who lives alone in her town and earns more than all others."""
    rng = np.random.default_rng(0)
    town = [("north", "south")[i % 2] for i in range(ROWS)] + ["alice's"] * alice
    pay = [str(v) for v in rng.integers(1000, 4000, ROWS)] + ["987654"] * alice
    raw = {"town": np.array(town, object), "pay": np.array(pay, object)}
    return make(Schema.parse(SCHEMA), list(raw), lambda name: raw[name])


def declared(table: Table) -> Table:
    """What a careless user does: the mark is removed, though nobody but the rows knew the domain."""
    columns = tuple(replace(c, domain=replace(c.domain, observed=False)) for c in table.schema)
    return replace(table, schema=replace(table.schema, columns=columns))


def shows(table: Table) -> bool:
    """Whether a released schema or row has Alice's town, or her pay as a bound."""
    town, pay = table.schema["town"], table.schema["pay"]
    return "alice's" in town.levels or pay.bounds.high >= 900_000 or bool((table["pay"] > 500_000).any())


STEPS = (Bins(edges="tree", share=0.1), Margins())


def test_a_domain_read_off_the_rows_tells_that_alice_is_there():
    assert shows(release(declared(people(alice=True)), Recipe(recipe="x", steps=STEPS), epsilon=1.0).table)
    assert not shows(release(declared(people(alice=False)), Recipe(recipe="x", steps=STEPS), epsilon=1.0).table)
    with pytest.raises(GuaranteeRefused, match="learn-domain"):
        release(people(alice=True), Recipe(recipe="x", steps=STEPS), epsilon=1.0)


def test_a_learnt_domain_does_not():
    recipe = Recipe(recipe="x", steps=(LearnDomain(share=1.0), *STEPS))
    for seed in range(5):
        released = release(people(alice=True), recipe, epsilon=2.0, entropy=Entropy.seeded(seed), unproven=True)
        assert not shows(released.table)
        assert {"north", "south"} < set(released.table.schema["town"].levels)
        assert not any(column.observed for column in released.table.schema)
    # Fresh noise, and so much epsilon that it never drowns the range.
    released = release(people(alice=True), recipe, epsilon=64.0)
    assert not any(isinstance(entry.event, Raw) for entry in released.guarantee.ledger)
    assert released.guarantee.epsilon() <= 64.0
