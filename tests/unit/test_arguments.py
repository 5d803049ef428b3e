"""What people give by mistake: frames for tables, a text for a list, a text for a number, a folder that is public."""

from __future__ import annotations

import copy
import json
import pickle
import stat
from dataclasses import dataclass

import numpy as np
import pytest

import hushtable as ht
from hushtable import errors
from hushtable.api.audit import pick_audits
from hushtable.api.compare.comparison import Comparison
from hushtable.api.compare.experiment import Experiment
from hushtable.api.compare.grid import trials
from hushtable.api.compare.observation import Observation
from hushtable.api.pareto import pareto
from hushtable.api.release import save_private
from hushtable.api.store import Store
from hushtable.api.utility import utilities
from hushtable.evidence.finding import Better, Finding, Subject, Utility
from hushtable.table.disk import whole_file, whole_folder
from tests.unit.test_face import alike, table

# Tables


@pytest.mark.parametrize("way", ["to_pandas", "to_polars"])
@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda frame: ht.release(frame, "mdav"), ["table"]),
        (lambda frame: ht.hold_out(frame, 0.2), ["table"]),
        (lambda frame: ht.audit(frame, frame, frame), ["train", "released", "control"]),
        (lambda frame: ht.utility(frame, frame), ["real", "released"]),
        (lambda frame: ht.utility(table(), table(), frame), ["control"]),
        (lambda frame: ht.compare(frame), ["table"]),
        (lambda frame: ht.best_of(frame, ["mst"], epsilon=1.0), ["table"]),
    ],
)
def test_a_frame_in_place_of_a_table_is_refused_with_what_to_do(call, names, way):
    with pytest.raises(ht.InputError, match=r"hushtable\.read") as error:
        call(getattr(table(), way)())
    assert [fault.where for fault in error.value.faults] == names


# One text is a list of one


def test_one_text_is_a_list_of_one():
    train, control = ht.hold_out(table(), 0.3, seed=1)
    output = ht.release(train, "mdav", k=5, seed=1)
    report = ht.audit(train, output, control, only="coverage", gates="alarms<1")
    assert report.run.audits == ("coverage",)
    assert [gate.expression for gate in report.gates] == ["alarms<1"]
    assert ht.utility(train, output, control, only="margins").run.audits == ("margins",)


def test_a_gate_may_ask_what_the_card_promises():
    train, control = ht.hold_out(table(), 0.3, 0)
    output = ht.release(train, "mdav", k=5, seed=1)
    gates = ["k>=5", "k>=6", "promise=verified", "promise=proven", "epsilon<=9"]
    report = ht.audit(train, output, control, only="coverage", gates=gates)
    assert [gate.holds for gate in report.gates] == [True, False, True, False, False]
    assert not any(gate.unknown for gate in report.gates)
    assert all(gate.unknown for gate in ht.audit(train, output.table, control, only="coverage", gates=gates).gates)


def test_a_format_may_be_one_text(tmp_path):
    report = ht.utility(table(), table(), only="margins")
    report.save(tmp_path / "report", "md")
    assert {p.name for p in (tmp_path / "report").iterdir()} == {"audit.json", "audit.md"}


def test_a_comparison_takes_one_text_or_number_for_a_list(monkeypatch):
    monkeypatch.setattr(Experiment, "observe", lambda experiment, trial, run: Observation(failed="was not made", seconds=0.0))
    given = {"grid": {"mdav.k": "50"}, "epsilons": 1.0, "constraints": "alarms<100", "only": "linkability"}
    plain = ht.compare(table(), ["mdav", "mst"], **given).to_json()
    assert {cell["id"] for cell in plain["cells"]} == {"mdav k=50", "mst epsilon=1"}
    assert [one["expression"] for one in plain["constraints"]] == ["alarms<100"]
    assert plain["made"]["audits"][0] == "linkability"
    wanted, _ = trials(table().schema, ["mdav"], {"mdav.k": 50})
    assert [trial.id for trial in wanted] == ["mdav k=50"]


# Numbers


@pytest.mark.parametrize(
    ("call", "where"),
    [
        (lambda: ht.release(table(), "mst", epsilon="1"), "epsilon"),
        (lambda: ht.release(table(), "mst", epsilon=1.0, delta="1e-6"), "delta"),
        (lambda: ht.release(table(), "mst", epsilon=1.0, rows="10"), "rows"),
        (lambda: ht.release(table(), "mst", epsilon=1.0, rows=10.5), "rows"),
        (lambda: ht.release(table(), "mdav", seed="1"), "seed"),
        (lambda: ht.release(table(), "mdav", seed=-1), "seed"),
        (lambda: ht.hold_out(table(), "0.2"), "hold-out"),
        (lambda: ht.hold_out(table(), 0.2, "1"), "seed"),
        (lambda: ht.hold_out(table(), float("nan")), "hold-out"),
        (lambda: ht.compare(table(), "mst", epsilons="1"), "epsilon"),
        (lambda: ht.compare(table(), "mst", epsilons=["1"]), "epsilon"),
    ],
)
def test_a_text_in_place_of_a_number_is_refused(call, where):
    with pytest.raises(ht.InputError) as error:
        call()
    assert [fault.where for fault in error.value.faults] == [where]


def test_numbers_of_numpy_are_numbers():
    assert ht.release(table(), "independent", epsilon=np.float64(5), rows=np.int64(20)).table.rows == 20
    assert ht.hold_out(table(), np.float32(0.25), np.int64(1))[1].rows == 50


@pytest.mark.parametrize("ks", [[float("nan")], [float("inf")], [2.5]])
def test_a_sheet_is_of_whole_numbers(ks):
    with pytest.raises(ht.InputError, match="whole number"):
        pareto(table(), ks=ks)


# Utility


def test_utility_attacks_nobody_and_names_all_that_would():
    output = ht.release(table(), "mdav", k=5, seed=1)
    with pytest.raises(ht.InputError) as error:
        ht.utility(table(), output, only=["linkability", "margins", "membership"])
    assert [fault.where for fault in error.value.faults] == ["linkability", "membership"]
    assert "hushtable.audit" in str(error.value)


@dataclass(frozen=True, kw_only=True)
class Clearing(Utility):
    """A measure that clears releases."""

    def run(self, case, rng):
        """No risk."""
        return [Finding(name="risk", value=0.0, better=Better.LOWER, subject=Subject.PRIVACY, n=1, p=1.0, note="none")]


def test_without_a_control_nothing_about_privacy_counts():
    name = f"{__name__}:Clearing"
    assert ht.utility(table(), table(), only=name).void
    assert not ht.utility(table(), table(), table(300), only=name).void
    assert not ht.utility(table(), table(), only="margins").void


def test_every_measure_that_is_run_by_itself_may_be_named():
    assert utilities()
    assert {pick_audits([name])[name].subject for name in utilities()} == {"utility"}


# What is private stays out of what is public


@pytest.fixture
def released(tmp_path):
    return ht.save(ht.release(table(), "mdav", k=5, seed=1), tmp_path / "release")


WRITERS = {
    "audit": lambda path: ht.utility(table(), table(), only=["margins"]).save(path),
    "page": lambda path: ht.show(ht.utility(table(), table(), only=["margins"]), path),
    "cells": lambda path: Store.open(path, ["knobs"], [table()]),
    "comparison": lambda path: Comparison.from_json({"cells": []}).save(path),
    "sheet": lambda path: pareto(table(), ks=[2], limits=[1.0]).save(path),
    "rows": lambda path: save_private({"train": table()}, path),
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("depth", ["private", "deeper/private"])
def test_nothing_private_is_written_into_a_release(released, name, depth):
    before = sorted(released.rglob("*"))
    with pytest.raises(ht.InputError, match="inside a release"):
        WRITERS[name](released / depth)
    assert sorted(released.rglob("*")) == before
    assert not ht.verify(released).faults


def test_the_card_of_a_release_may_lie_in_another(released):
    ht.show(ht.release(table(), "mdav", k=5, seed=1), released / "page.html")
    assert (released / "page.html").exists()


def test_a_page_overwrites_nothing(tmp_path):
    path = tmp_path / "notes.html"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(ht.InputError, match="exists already"):
        ht.show(table(), path)
    assert path.read_text(encoding="utf-8") == "mine"


def test_what_is_private_is_its_owners_from_the_first_byte(tmp_path):
    with whole_file(tmp_path / "page", private=True) as partial:
        assert stat.S_IMODE(partial.stat().st_mode) == 0o600
        partial.write_text("x", encoding="utf-8")
    with whole_folder(tmp_path / "folder", private=True) as inside:
        assert stat.S_IMODE(inside.stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "page").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "promise", [{"assurance": "proven"}, {"epsilon": 1.0}, {"assurance": "proven", "epsilon": 1.0, "delta": 1e-6}]
)
def test_a_card_that_promises_more_than_its_ledger_gives_is_refused(tmp_path, promise):
    folder = ht.save(ht.release(table(), "sequential", seed=1), tmp_path / "release")
    assert ht.read_release(folder, table().schema)[1].recipe == "sequential"
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    card["guarantee"] |= promise
    (folder / "card.json").write_text(json.dumps(card), encoding="utf-8")
    with pytest.raises(ht.InputError, match="is not what its card says"):
        ht.read_release(folder, table().schema)


# Errors have public names


@pytest.mark.parametrize("name", ["HushError", "InputError", "PlanError", "GuaranteeRefused", "BudgetExceeded", "MissingExtra"])
def test_every_error_has_a_public_name(name):
    assert getattr(ht, name) is getattr(errors, name)
    assert name in dir(ht)


# A model that was paid for can be kept


@pytest.mark.parametrize("copied", [lambda thing: pickle.loads(pickle.dumps(thing)), copy.deepcopy])
@pytest.mark.parametrize("recipe", ["mst", "independent", "sequential"])
def test_a_fitted_synthesizer_can_be_copied_and_draws_the_same_rows(copied, recipe):
    epsilon = None if recipe == "sequential" else 1.0
    model = ht.Synthesizer(recipe, epsilon=epsilon, schema=table().schema).fit(table().to_pandas())
    again = copied(model)
    assert again.sample(50, random_state=3).equals(model.sample(50, random_state=3))
    assert again.guarantee_.to_json() == model.guarantee_.to_json()


def test_a_copied_table_is_the_same_and_cannot_be_written_to():
    again = pickle.loads(pickle.dumps(table()))
    assert alike(again, table())
    with pytest.raises(ValueError, match="read-only"):
        again["age"][0] = 20
    with pytest.raises(TypeError):
        again.arrays["age"] = table()["age"]


# States


@pytest.mark.parametrize("state", [np.random.RandomState, np.random.default_rng])
def test_a_state_of_numpy_is_a_state(state):
    def made(number):
        fitted = ht.Synthesizer("sequential", schema=table().schema, random_state=state(number)).fit(table().to_pandas())
        return fitted.sample(40, random_state=state(number))

    assert made(1).equals(made(1))
    assert not made(1).equals(made(2))


def test_what_is_no_state_is_refused():
    with pytest.raises(ht.InputError, match="random_state"):
        ht.Synthesizer("sequential", schema=table().schema, random_state="seven").fit(table().to_pandas())
