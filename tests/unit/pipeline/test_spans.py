"""A coder that spans the cores after it: what they see, what is undone when, and what is left of a promise."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from hushtable.anonymize.microaggregate.microaggregate import Microaggregate
from hushtable.anonymize.sample import Sample
from hushtable.checks import example
from hushtable.errors import InputError
from hushtable.pipeline import registry
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.run import release
from hushtable.pipeline.step import Coder, Plan
from hushtable.pipeline.store import SavedModel, load, save
from hushtable.pipeline.structure import with_structure
from hushtable.privacy.event import Raw
from hushtable.privacy.preserve import Form
from hushtable.privacy.unit import Unit
from hushtable.synthesize.sequential.sequential import Sequential
from hushtable.table.columns import Bounds, Column, Kind, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table


def doubled(schema):
    own = schema["age"]
    there = Column(name="twice", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(2 * own.bounds.low, 2 * own.bounds.high))
    return replace(schema, columns=(*(c for c in schema if c.name != "age"), there))


@dataclass(frozen=True)
class Doubling:
    """Age, written as twice the age."""

    original: Schema
    stability: int = 1

    @property
    def schema(self):
        return doubled(self.original)

    def apply(self, table):
        arrays = {name: table[name] for name in table.schema.names if name != "age"} | {"twice": 2 * table["age"]}
        return Table(self.schema, arrays, persons=table.persons)

    def undo(self, table, rng):
        own = self.original["age"]
        arrays = {name: table[name] for name in table.schema.names if name != "twice"}
        arrays["age"] = own.from_floats(table.floats("twice") / 2)
        names = [name for name in self.original.names if name in arrays]
        columns = tuple(own if name == "age" else table.schema[name] for name in names)
        return Table(replace(self.original, columns=columns), {name: arrays[name] for name in names})

    def parts(self):
        return {"schema": self.original.portable().dump()}, {}

    @classmethod
    def from_parts(cls, values, arrays):
        return cls(Schema.parse(values["schema"]))


@dataclass(frozen=True, kw_only=True)
class Doubles(Coder):
    """Write age as twice the age."""

    spans: bool = True
    """Whether it waits."""
    reads: bool = False
    """Whether it reads the rows."""

    def plan(self, schema, budget):
        return Plan(schema=doubled(schema), events=(Raw("looks"),) if self.reads else (), stability=1, spans=self.spans)

    def fit(self, vault, rng):
        if self.reads:
            vault.open(Raw("looks"), "looks")
        return Doubling(vault.schema)


GROUPED = ("town", "school", "twice")


def made(*steps, table=None):
    return release(example(300) if table is None else table, Recipe(recipe="spans", steps=steps), seed=1, allow_copies="a test")


def test_every_core_works_on_what_it_made_and_the_release_has_the_columns_back():
    released = made(Doubles(), Microaggregate(k=3, columns=GROUPED), Sequential())
    assert released.table.schema.names == example().schema.names
    assert released.result["microaggregate"]["columns"] == list(GROUPED)
    assert released.table["age"].max() <= 99


def test_without_it_the_columns_are_back_after_their_own_core():
    released = made(Doubles(spans=False), Microaggregate(k=3, columns=GROUPED), Sequential())
    assert released.table.schema.names == example().schema.names
    (promise,) = released.guarantee.promises
    assert "age" in promise.quasi


def test_a_promise_survives_only_if_the_code_read_no_rows():
    steps = Microaggregate(k=3, columns=GROUPED), Sequential()
    (kept,) = made(Doubles(), *steps).guarantee.promises
    assert (kept.form, kept.value) == (Form.DERIVED, 3)
    lost = made(Doubles(reads=True), *steps).guarantee
    assert not lost.promises
    assert lost.culprits[0].step.endswith("Doubles")
    # The same code, undone at once, is read by the grouping alone, which is measured on the table that it leaves.
    assert made(Doubles(reads=True, spans=False), *steps).guarantee.promises


def test_a_code_that_reads_an_anonymized_table_keeps_what_that_promises():
    first = Microaggregate(k=3, columns=("age", "town", "school"))
    (kept,) = made(first, Doubles(reads=True), Sample(beta=0.9), Sequential()).guarantee.promises
    assert kept.form is Form.DERIVED


def test_several_wait_in_the_order_in_which_they_came():
    modes = registry.load("hushtable.encode.modes:Modes")
    released = made(modes(columns=("pay",)), Doubles(), Sample(beta=0.9), Sequential())
    assert released.table.schema.names == example().schema.names
    assert released.table.schema["pay"].kind is Kind.INTEGER


def test_a_saved_model_leads_back_too(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "known", lambda target: True)
    monkeypatch.setitem(registry.STEPS, "doubles", f"{__name__}:Doubles")
    released = made(Doubles(), Sample(beta=0.9), Sequential())
    drawn = SavedModel.of(released).draw(50, seed=3, given={"pay": "1000"})
    again = load(save(released, tmp_path / "m.model"), trust=True).draw(50, seed=3, given={"pay": "1000"})
    assert again.table.schema.names == example().schema.names
    assert np.array_equal(drawn.table["age"], again.table["age"])
    with pytest.raises(InputError, match="no column age"):
        SavedModel.of(released).draw(50, given={"age": "30"})


def test_what_the_rows_gave_away_stays_marked():
    table = example(300)
    columns = [c.marked(frozenset({"domain"})) if c.name in ("age", "pay") else c for c in table.schema]
    seen = Table(replace(table.schema, columns=tuple(columns)), dict(table.arrays))
    released = made(Doubles(), Sample(beta=0.9), Sequential(), table=seen)
    assert {name for name in released.table.schema.names if released.table.schema[name].observed} == {"age", "pay"}


def test_determined_columns_are_left_out_before_it_and_computed_again_at_the_end():
    table = example(300)
    schema = table.schema.with_determined("sick", "town", {"north": "no", "south": "yes", "east": "no", "west": "no", "": "no"})
    table = table.under(schema)
    recipe = Recipe(recipe="spans", steps=(Doubles(), Sample(beta=0.9), Sequential()))
    names = [type(step).__name__ for step in with_structure(recipe, table.schema, None, Unit()).steps]
    assert names == ["Determined", "Doubles", "Sample", "Sequential"]
    released = made(*recipe.steps, table=table)
    assert np.array_equal(released.table["sick"] == 1, released.table["town"] == 1)
