"""Models on disk: read back the same, and never a door for foreign code."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from hushtable.anonymize.microaggregate.microaggregate import Microaggregate
from hushtable.encode.bins import Bins
from hushtable.errors import InputError
from hushtable.pipeline import store
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.unit import Budget, Unit
from hushtable.privacy.vault import Vault
from hushtable.synthesize.marginal.independent import Margins
from hushtable.synthesize.sequential.sequential import Sequential
from hushtable.table.columns import Column, Kind, Levels
from hushtable.table.hierarchy import FileTree
from hushtable.table.schema import Schema
from hushtable.table.table import Table


def fitted(step, table):
    vault = Vault.of(table)
    if step.spends:
        vault = vault.named("x", Allowance.of(Budget(2.0, 1e-6), Unit())).through(Bins().fit(vault, np.random.default_rng(0)))
    return step.fit(vault, np.random.default_rng(0))


@pytest.mark.parametrize("step", [Sequential(), Sequential(methods=("age=linear", "sick=linear")), Margins()])
def test_a_model_samples_the_same_after_a_round_trip(small, tmp_path, step):
    model = fitted(step, small)
    store.save(model, tmp_path / "model.npz")
    again = store.load(tmp_path / "model.npz")
    one, two = (m.sample(60, np.random.default_rng(5)) for m in (model, again))
    assert all(np.array_equal(one[n], two[n], equal_nan=one[n].dtype.kind == "f") for n in one.schema.names)
    assert [p.name for p in tmp_path.iterdir()] == ["model.npz"]


@pytest.mark.parametrize("step", [Sequential(), Margins(), Microaggregate(k=3)])
def test_a_model_can_be_read_where_the_hierarchy_files_are_not(small, tmp_path, step):
    sick = small.schema["sick"]
    tree = FileTree("sick.csv", tuple((level, "*") for level in sick.levels))
    table = replace(small, schema=small.schema.with_columns(replace(sick, hierarchy=tree)))
    store.save(fitted(step, table), tmp_path / "model.npz")
    assert store.load(tmp_path / "model.npz").schema["sick"].levels == sick.levels


def test_a_file_that_names_foreign_code_is_refused(small, tmp_path):
    store.save(fitted(Sequential(), small), tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz") as stored:
        arrays = dict(stored)
    header = json.loads(bytes(arrays["model.json"])) | {"model": "subprocess:Popen"}
    arrays["model.json"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(tmp_path / "evil.npz", **arrays)
    with pytest.raises(InputError, match="no registered step"):
        store.load(tmp_path / "evil.npz")


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04"])
def test_something_else_is_no_model(tmp_path, content):
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(InputError, match="not a model file"):
        store.load(tmp_path / "x.npz")


def test_columns_may_be_called_anything(tmp_path):
    names = ("file", "b", "b/x", "allow_pickle", "model.json")
    schema = Schema(tuple(Column(name=n, kind=Kind.CATEGORY, domain=Levels(("u", "v"))) for n in names))
    rng = np.random.default_rng(0)
    table = Table(schema, {n: rng.integers(0, 2, 60).astype(np.int32) for n in names})
    for step in (Sequential(), Microaggregate(k=2, columns=names)):
        model = fitted(step, table)
        store.save(model, tmp_path / "model.npz")
        one, two = (m.sample(None, np.random.default_rng(1)) for m in (model, store.load(tmp_path / "model.npz")))
        assert all(np.array_equal(one[n], two[n]) for n in names)
