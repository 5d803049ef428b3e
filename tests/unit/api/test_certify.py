"""The certificate of the audits: what rises is said to rise, what does not is marked, and a stopped study goes on."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from hushtable.api.certificate import Certificate, Expect, curve, judged, spearman
from hushtable.api.certify import KNOBS, LEAKS, MODELS, Study, certify, privacy_audits
from hushtable.audits.indicators import IdenticalMatches
from hushtable.data.people import people
from hushtable.errors import InputError, MissingExtra
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Audit, Better, Finding, Subject

ROWS = 150


def finding(name: str, value: float, **more) -> Finding:
    plain = {"better": Better.LOWER, "subject": Subject.PRIVACY, "n": 1, "note": "told", "baseline": 0.0}
    return Finding(name=name, value=value, **(plain | more))


@dataclass(frozen=True, kw_only=True)
class Several(Audit):
    """Metrics of every kind, from the share of copies."""

    calls: list[int] = field(default_factory=list, compare=False, repr=False)
    stop: int = 10**9

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        self.calls.append(1)
        if len(self.calls) > self.stop:
            raise KeyboardInterrupt
        ids = case.row_ids()
        share = float(np.isin(ids["release"], ids["train"]).mean())
        return [
            finding("flat", 0.3 + 0.001 * float(rng.random()), low=0.2, high=0.4),
            finding("down", 1 - share),
            finding("rows", float(np.nanmean(case.release.floats("income")))),
            finding("safety", 1 - share, better=Better.HIGHER),
            finding("bare", 0.5, baseline=None),
            finding("fit", 1 - share, subject=Subject.UTILITY),
            *(finding("by column", share * weight, scope=f"c{weight}") for weight in (1, 3)),
        ]


@dataclass(frozen=True, kw_only=True)
class Refusing(Audit):
    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        raise InputError("needs something else", where="refusing")


@pytest.fixture(scope="module")
def table():
    return people(3 * ROWS + 30, seed=4)


def test_releases_that_are_the_same_are_audited_once(table):
    several = Several()
    certify(table, models=["leaky", "noisy"], audits={"several": several}, rows=30, quick=True)
    assert len(several.calls) == 5


@pytest.fixture(scope="module")
def certificate(table) -> Certificate:
    audits = {"copies": IdenticalMatches(), "several": Several(), "refusing": Refusing()}
    return certify(table, models=["leaky", "noisy"], audits=audits, rows=ROWS, quick=True)


def line(certificate: Certificate, model: str, name: str):
    return next(line for c in certificate.curves if c.model == model for line in c.lines if line.name == name)


def test_verdicts_follow_the_leak(certificate):
    verdicts = {
        name: line(certificate, "leaky", name).verdict for name in ("identical match share", "flat", "down", "safety", "by column")
    }
    assert verdicts == {
        "identical match share": "rises", "flat": "does not rise", "down": "does not rise", "safety": "rises", "by column": "rises"
    }  # fmt: skip
    assert line(certificate, "leaky", "bare").verdict == ""
    assert line(certificate, "leaky", "down").rho == -1
    assert line(certificate, "leaky", "safety").rho == 1
    assert line(certificate, "leaky", "bare").rho is None
    assert ("leaky", "flat") in certificate.failing
    assert ("leaky", "safety") not in certificate.failing
    assert "fit" not in {line.name for c in certificate.curves for line in c.lines}


def test_levels_are_the_planted_shares(certificate):
    result = line(certificate, "leaky", "identical match share")
    assert result.levels == [0.0, 0.5, 1.0]
    assert result.values == pytest.approx([0, 0.5, 1])
    noisy = line(certificate, "noisy", "identical match share")
    assert noisy.values[0] == result.values[0]
    assert noisy.values[-1] < 0.1


def test_scopes_are_averaged_and_told_apart(certificate):
    result = line(certificate, "leaky", "by column")
    assert (result.scope, result.scopes) == ("", 2)
    assert result.values == pytest.approx([0, 1, 2])
    apart = [s for s in certificate.curves[0].scopes if s.name == "by column"]
    assert [s.values[-1] for s in apart] == pytest.approx([1, 3])


def test_metrics_that_go_together_are_correlated(certificate):
    correlation = certificate.curves[0].correlation
    at = {name: i for i, name in enumerate(correlation.names)}
    assert correlation.matrix[at["identical match share"]][at["by column"]] == pytest.approx(1)
    assert correlation.matrix[at["identical match share"]][at["down"]] == pytest.approx(-1)
    assert correlation.matrix[at["identical match share"]][at["bare"]] is None


def test_what_was_left_out_and_refused_is_said(certificate):
    text = certificate.text()
    assert "150 train, 150 control, 150 fresh; 30 of its 480 rows were not used" in text
    assert certificate.refused == {"refusing": "refusing: needs something else"}
    assert "! flat is not as expected on: leaky" in text
    assert set(certificate.seconds) == {"copies", "several", "refusing"}
    json.dumps(certificate.to_json())


def bare(certificate: Certificate) -> dict:
    return {key: value for key, value in certificate.to_json().items() if key != "seconds"}


def test_a_stopped_study_goes_on_and_ends_the_same(table, tmp_path):
    models = ["leaky", "overfit", "size", "outliers"]
    knobs = {"rows": ROWS, "quick": True, "seed": 7, "generator": "sequential"}
    whole = certify(table, models=models, audits={"several": Several()}, **knobs)
    folder = tmp_path / "study"
    with pytest.raises(KeyboardInterrupt):
        certify(table, models=models, audits={"several": Several(stop=4)}, folder=folder, **knobs)
    assert len(list((folder / "cells").glob("leak-*.json"))) == 3
    assert not (folder / "certificate.json").exists()
    # The knob that stops it is part of the study's name: without it, it is the same study.
    path = folder / "study.txt"
    path.write_text(path.read_text().replace("stop=4", f"stop={10**9}"))
    second = Several()
    again = certify(table, models=models, audits={"several": second}, folder=folder, **knobs)
    assert bare(again) == bare(whole)
    cells = sum("findings" in json.loads(p.read_text()) for p in (folder / "cells").iterdir())
    assert len(second.calls) == cells - 4
    third = certify(table, models=models, audits={"several": Several()}, folder=folder, **knobs)
    assert third.to_json() == again.to_json()
    assert json.loads((folder / "certificate.json").read_text()) == json.loads(json.dumps(again.to_json()))
    assert (folder / "certificate.html").read_text() == again.page()
    assert folder.stat().st_mode & 0o077 == 0


def test_only_aggregates_are_kept(table, tmp_path):
    certify(table, models=["leaky"], audits={"copies": IdenticalMatches()}, rows=60, quick=True, folder=tmp_path / "s")
    for path in (tmp_path / "s" / "cells").iterdir():
        held = json.loads(path.read_text())
        assert set(held) == {"findings", "seconds"}
        assert not {"detail", "trace"} & {key for record in held["findings"] for key in record}


@pytest.mark.parametrize(
    "other",
    [{"seed": 8}, {"rows": 50}, {"quick": False}, {"generator": "sequential"}, {"audits": {"several": Several()}}, {"table": 5}],
)
def test_a_folder_of_another_study_is_refused(table, tmp_path, other):
    first = {"models": ["leaky"], "audits": {"copies": IdenticalMatches()}, "rows": 40, "quick": True, "folder": tmp_path / "s"}
    certify(table, **first)
    changed = people(3 * ROWS + 30, seed=other["table"]) if "table" in other else table
    with pytest.raises(InputError, match="another folder"):
        certify(changed, **(first | {k: v for k, v in other.items() if k != "table"}))


def test_each_person_stands_in_one_part_with_all_their_rows(table):
    several = table.take(np.repeat(np.arange(90), 1 + np.arange(90) % 4)).held_by("person_id")
    parts = Study(several, {}, 10_000, 0, None, True, lambda name, share: None).parts
    people = [set(part.persons) for part in parts.values()]
    assert [len(who) for who in people] == [30, 30, 30]
    assert len(set.union(*people)) == 90
    assert sum(part.rows for part in parts.values()) == several.rows
    bounded = Study(several, {}, 45, 0, None, True, lambda name, share: None).parts
    assert {len(set(part.persons)) for part in bounded.values()} == {18}


def test_a_study_by_person_goes_through_every_model(table):
    several = table.take(np.repeat(np.arange(90), 3)).held_by("person_id")
    certificate = certify(several, audits={"copies": IdenticalMatches()}, rows=90, quick=True, models=["leaky", "outliers"])
    assert certificate.rows["train"] == 90


def test_trees_stand_in_where_no_network_can_be_trained(table, monkeypatch):
    monkeypatch.setattr("hushtable.pipeline.extras.find_spec", lambda name: None)
    certificate = certify(table, models=["overfit"], audits={"copies": IdenticalMatches()}, rows=ROWS, quick=True)
    assert "The generator is sequential, with ever smaller leaves; argn is taken where PyTorch is installed" in certificate.text()
    assert certificate.notes["overfit"] in certificate.page()
    assert line(certificate, "overfit", "identical match share").verdict == "rises"
    named = certify(table, models=["overfit"], audits={}, rows=ROWS, quick=True, generator="sequential")
    assert "PyTorch" not in named.notes["overfit"]
    with pytest.raises(MissingExtra):
        certify(table, models=["overfit"], audits={}, generator="argn")


@pytest.mark.neural
@pytest.mark.parametrize("generator", ["argn", "realtabformer"])
def test_a_network_is_overfitted_along_one_training(table, monkeypatch, generator):
    pytest.importorskip("torch", reason="networks need torch")
    monkeypatch.setattr("hushtable.api.generator_curves.RATIOS", (1.0, 1.05, 1.1, 1.15, 1.2, 1.3))
    small = table.select([*table.schema.names[:1], "sex", "diagnosis", "height_cm", "smoker"])
    certificate = certify(small, models=["overfit"], audits={"copies": IdenticalMatches()}, rows=ROWS, generator=generator)
    result = line(certificate, "overfit", "identical match share")
    assert result.levels[0] == 1.0
    assert result.levels[-1] >= 1.3
    assert result.levels == sorted(result.levels)
    assert result.values[-1] > 2 * max(result.values[0], 0.02)
    assert f"The generator is {generator}, along one training run" in certificate.text()
    assert "cuts them" in certificate.page()


def test_a_budget_is_raised_and_its_noise_is_said_to_be_fresh(table):
    audits = {"copies": IdenticalMatches()}
    certificate = certify(table.select(["sex", "smoker", "diagnosis"]), models=["dp"], audits=audits, rows=ROWS, quick=True)
    result = line(certificate, "dp", "identical match share")
    assert result.levels == [1.0, 10.0, 100.0]
    assert result.verdict == ""
    assert "cannot be repeated to the bit" in certificate.text()
    assert "cannot be repeated to the bit" in certificate.page()
    assert not certificate.failing


def test_a_table_that_no_budget_can_be_spent_on_is_left_out_of_that_model(table):
    drafted = table.select(["sex", "smoker", "height_cm"])
    domain = replace(drafted.schema["height_cm"].domain, observed=True)
    drafted = drafted.under(drafted.schema.with_columns(replace(drafted.schema["height_cm"], domain=domain)))
    certificate = certify(drafted, models=["leaky", "dp"], audits={"copies": IdenticalMatches()}, rows=60, quick=True)
    assert {curve.model for curve in certificate.curves} == {"leaky"}
    assert "dp: Left out, as best refuses this table" in certificate.text()
    assert "height_cm" in certificate.notes["dp"]
    assert "Left out" in certificate.page()


def test_bad_wishes_are_refused(table, tmp_path):
    with pytest.raises(InputError, match="mdav cannot be trained ever further; argn, realtabformer, sequential can"):
        certify(table, models=["overfit"], audits={}, generator="mdav")
    with pytest.raises(InputError, match="no risk model"):
        certify(table, models=["leeky"], audits={})
    with pytest.raises(InputError, match="at least two people"):
        certify(table.take(np.arange(5)), audits={})
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thing").touch()
    for name in ("full", "full/thing"):
        with pytest.raises(InputError, match="no study"):
            certify(table, audits={}, folder=tmp_path / name)
    with pytest.raises(InputError):
        privacy_audits(["nothing"])


def test_utility_and_costly_audits_are_left_out_unless_named():
    audits = privacy_audits()
    assert {"identical-matches", "closest-record"} <= set(audits)
    assert not {"margins", "downstream", "properties", "coverage"} & set(audits)
    assert not any(audit.costly for audit in audits.values())
    assert set(privacy_audits(["properties"])) == {"properties"}


def test_every_registered_audit_has_the_knobs_that_are_turned():
    audits = privacy_audits()
    for name, (knob, _) in KNOBS.items():
        assert name not in audits or hasattr(audits[name], knob)
    whole, covert = (
        {"leaky", "noisy", "overfit", "size", "outliers", "dp", "knobs"},
        {"handful", "partial", "rare", "digests", "texts"},
    )
    assert set(MODELS) == whole | covert
    assert LEAKS == (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


@pytest.mark.parametrize(
    ("values", "width", "expect", "told"),
    [
        ([0, 0.5, 1], 0.1, Expect.RISE, "rises"),
        ([0, 0.55, 0.5, 1], 0.1, Expect.RISE, "rises"),
        ([0, 0.9, 0.5, 1], 0.1, Expect.RISE, "falls in between"),
        ([0, 0.9, 0.75, 0.6, 1], 0.1, Expect.RISE, "falls in between"),
        ([0, 0.1, 0.15], 0.1, Expect.RISE, "does not rise"),
        ([1, 0.5, 0], 0.1, Expect.RISE, "does not rise"),
        ([0.5, 0.5], 0, Expect.RISE, "does not rise"),
        ([0.5, 0.6, 0.4], 0.1, Expect.STAY, "stays"),
        ([0.5, 0.6, 0.9], 0.1, Expect.STAY, "drifts"),
        ([0.5, 0.1, 0.5], 0.1, Expect.STAY, "drifts"),
        ([0, 1], 0, Expect.NOTHING, ""),
        ([1], 0, Expect.RISE, ""),
    ],
)
def test_judging_a_curve(values, width, expect, told):
    assert judged(values, [v - width for v in values], [v + width for v in values], expect) == told


def test_spearman_is_that_of_scipy():
    from scipy.stats import spearmanr

    rng = np.random.default_rng(0)
    for _ in range(20):
        one, two = rng.integers(0, 5, 8), rng.integers(0, 5, 8)
        assert spearman(one, two) == pytest.approx(spearmanr(one, two).statistic)
    assert spearman([1, 2], [3, 3]) is None


def test_a_metric_without_a_value_somewhere_has_no_curve():
    def record(value):
        return {"audit": "a", "name": "m", "scope": "", "value": value, "low": None, "high": None, "better": "lower", "baseline": 0}

    assert curve("leaky", "leaky", "x", Expect.RISE, [(0.0, [record(0.0)]), (1.0, [record(None)])]).lines == []
    assert curve("leaky", "leaky", "x", Expect.RISE, [(0.0, [record(0.0)]), (1.0, [])]).lines == []
    [line] = curve("leaky", "leaky", "x", Expect.RISE, [(0.0, [record(0.0)]), (1.0, [record(1.0)])]).lines
    assert (line.verdict, line.low) == ("rises", [0.0, 1.0])
