"""A grid of hybrids: its cells, its metrics, what is said of its axes, and input that cannot be used."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

import hushtable as ht
from hushtable.api.compare import experiment
from hushtable.api.compare.cell import Estimate
from hushtable.api.compare.experiment import Experiment
from hushtable.api.hybrid.effects import effects, mean_of, sample_of
from hushtable.api.hybrid.grid import Grid, Stage
from hushtable.api.hybrid.hypotheses import Verdict
from hushtable.api.hybrid.metrics import SCORE, SINGLING_OUT, TVD, change
from hushtable.api.hybrid.options import HybridOptions
from hushtable.api.hybrid.result import HybridCell, HybridGrid
from hushtable.errors import InputError
from hushtable.pipeline.recipe import load
from hushtable.table.columns import Role
from hushtable.table.schema import Schema
from tests.unit.api.hybrid.planted import AS_SAID, planted, table

SMALL = {"k": [5, 20, 50], "beta": [0.2, 0.5, 1], "generators": "sequential"}


@pytest.fixture(scope="module")
def whole() -> HybridGrid:
    """The grid of the source, as it says."""
    return planted()


def verdicts(grid: HybridGrid) -> dict[str, Verdict]:
    return {one.name: one.verdict for one in grid.hypotheses}


def test_the_grid_of_the_source_has_336_cells_and_what_they_are_held_against(whole):
    stages = Counter(cell.place.stage for cell in whole.cells)
    # 4 k x (3 betas x 2 samplings + 1) x 3 transitions x 2 orders x 2 generators; anonymized: 4 k x (3 transitions and none).
    assert stages == {Stage.HYBRID: 336, Stage.ORIGINAL: 1, Stage.GENERATED: 2, Stage.ANONYMIZED: 16}
    assert len({cell.place for cell in whole.cells}) == len(whole.cells) == len({cell.id for cell in whole.cells})
    assert whole.values == {
        "k": [5, 10, 20, 50],
        "beta": [0.1, 0.2, 0.5, 1.0],
        "sampling": ["random", "stratified"],
        "transition": ["single", "uniform", "conditional"],
        "order": ["pre", "post"],
        "generator": ["argn", "sequential"],
    }
    assert "original" not in {cell.id for cell in whole.comparison.cells}


def test_cells_are_read_by_their_axes(whole):
    some = whole.select(order="post", transition="uniform", generator="argn", k=10)
    assert len(some) == 7
    assert {cell.place.order for cell in some} == {"post"}
    assert whole.alone(some[0]).id == "argn"
    level = whole.level("transition", "conditional", "singling-out")
    assert level.cells == 112
    betas = sum(2 * beta for beta in (0.1, 0.2, 0.5)) / 7 + 1 / 7
    assert level.mean.value == pytest.approx(0.02 + 0.03 + 0.006 - 0.015 * betas, abs=0.002)
    effect = whole.effect("transition", "uniform", "conditional", "singling-out")
    assert (effect.pairs, effect.groups) == (112, 28)
    assert effect.difference.low < 0.03 < effect.difference.high
    assert whole.effect("beta", 0.1, 1.0, "score").pairs == 96
    assert whole.stage("original", "singling-out").value == pytest.approx(0.3, abs=0.02)
    with pytest.raises(InputError, match="there is no axis orders"):
        whole.select(orders="pre")


def test_what_the_source_says_is_confirmed_where_it_is_planted(whole):
    assert verdicts(whole) == {
        "k": Verdict.CONFIRMED, "transition": Verdict.CONFIRMED, "order": Verdict.CONFIRMED, "sampling": Verdict.CONFIRMED,
        "beta": Verdict.CONFIRMED, "stages": Verdict.CONFIRMED,
    }  # fmt: skip
    words = next(one.words for one in whole.hypotheses if one.name == "order")
    assert "of 100 people higher with order post than with order pre (168 pairs on 28 samples" in words


def test_the_opposite_is_contradicted_where_it_is_planted():
    turned = AS_SAID | {"conditional": -0.02, "post": -0.012, "stratified": -0.02, "k": 0.06, "hybrid": 0.08, "beta": 0.015}
    assert verdicts(planted(turned, **SMALL)) == {
        "k": Verdict.CONTRADICTED, "transition": Verdict.CONTRADICTED, "order": Verdict.CONTRADICTED,
        "sampling": Verdict.CONTRADICTED, "beta": Verdict.CONTRADICTED, "stages": Verdict.CONTRADICTED,
    }  # fmt: skip


def test_nothing_is_decided_where_nothing_is_planted_and_the_noise_is_large():
    nothing = AS_SAID | {"conditional": 0.0, "post": 0.0, "stratified": 0.0, "beta": 0.0}
    quiet = verdicts(planted(nothing, **SMALL))
    # Both are true here; how often beta is decided by chance is tested below.
    assert {name for name, verdict in quiet.items() if verdict is not Verdict.UNDECIDED} - {"beta"} == {"k", "stages"}
    loud = verdicts(planted(nothing, noise=0.2, **SMALL))
    assert loud["k"] is Verdict.UNDECIDED
    few = verdicts(planted(k=[5], beta=[0.5], generators="sequential"))
    assert set(few.values()) == {Verdict.UNDECIDED}, "one sample says nothing about others"


def test_intervals_count_samples_and_not_cells():
    lucky = [(sample, float(sample)) for sample in range(4) for _ in range(50)]
    estimate, groups = mean_of(lucky)
    assert (estimate.value, groups) == (1.5, 4)
    single, _ = mean_of([(sample, float(sample)) for sample in range(4)])
    assert (estimate.low, estimate.high) == (single.low, single.high)
    assert mean_of([(0, 1.0), (0, 2.0), (1, 3.0)]) == (Estimate(2.25), 2)


def test_the_interval_of_an_effect_covers_and_one_that_counts_cells_does_not():
    rng, runs, true = np.random.default_rng(5), 300, 0.01
    places = [place for place in Grid.of(HybridOptions.of(None, SMALL), table()).places.values() if place.stage is Stage.HYBRID]
    samples = list(dict.fromkeys(sample_of(place) for place in places))
    covered = Counter()
    for _ in range(runs):
        # Each sample has its own luck with strata, and each cell a little more.
        luck = dict(zip(samples, 0.02 * rng.standard_normal(len(samples)), strict=True))
        values = [luck[sample_of(p)] + 0.002 * rng.standard_normal() + true * (p.sampling == "stratified") for p in places]
        cells = [
            HybridCell(id=str(i), place=place, metrics={"score": Estimate(value)})
            for i, (place, value) in enumerate(zip(places, values, strict=True))
        ]
        found = {(one.axis, one.start, one.stop): one.difference for one in effects(cells) if one.metric == "score"}
        ours, shares = found["sampling", "random", "stratified"], found["beta", 0.2, 1.0]
        by_place = {cell.place: cell.metrics["score"].value for cell in cells}
        pairs = [(p, replace(p, sampling="stratified")) for p in places if p.sampling == "random"]
        naive, _ = mean_of([(i, by_place[b] - by_place[a]) for i, (a, b) in enumerate(pairs)])
        # Of pairs along beta half have strata on one side.
        for name, one, truth in (("ours", ours, true), ("naive", naive, true), ("beta", shares, -true / 2)):
            covered[name] += one.low <= truth <= one.high
    for name in ("ours", "beta"):
        assert binom.cdf(covered[name], runs, 0.95) > 1e-3
        assert binom.sf(covered[name], runs, 0.95) > 1e-3
    assert binom.cdf(covered["naive"], runs, 0.95) < 1e-9


def test_a_change_is_positive_where_it_is_better_and_absent_where_there_is_nothing_to_lose():
    assert change(SINGLING_OUT, Estimate(0.02, 0.01, 0.03), Estimate(0.04, 0.03, 0.05)) == pytest.approx(50)
    assert change(TVD, Estimate(0.2), Estimate(0.1)) == pytest.approx(-100)
    assert change(SCORE, Estimate(0.9), Estimate(0.8)) == pytest.approx(12.5)
    assert change(SINGLING_OUT, Estimate(0.0), Estimate(0.01, -0.01, 0.03)) is None
    assert change(SINGLING_OUT, None, Estimate(0.04, 0.03, 0.05)) is None


def test_changes_are_held_against_the_same_generator(whole):
    cell = whole.select(generator="argn", transition="single", order="pre")[0]
    alone = whole.alone(cell)
    expected = 100 * (alone.value("singling-out") - cell.value("singling-out")) / alone.value("singling-out")
    assert cell.changes["singling-out"] == pytest.approx(expected)
    assert all(not other.changes for other in whole.select(Stage.ANONYMIZED))


def test_a_grid_is_written_and_read_back_exactly(whole):
    plain = json.loads(json.dumps(whole.to_json()))
    again = HybridGrid.from_json(plain)
    assert json.loads(json.dumps(again.to_json())) == plain
    assert str(again) == str(whole)


def test_options_are_written_and_read_back_exactly():
    options = HybridOptions.of(None, {"k": 5, "generators": [load("sequential"), "argn"], "seed": 3, "runs": 2})
    assert HybridOptions.from_json(json.loads(json.dumps(options.to_json()))) == options


def test_cells_that_are_one_are_one():
    options = HybridOptions.of(None, SMALL | {"anonymizers": ["k-anonymity", "mdav", "safe-k"], "epsilons": [2.0]})
    grid = Grid.of(options, table())
    places = [place for place in grid.places.values() if place.stage is Stage.HYBRID]
    by = {name: [place for place in places if place.anonymizer == name] for name in options.anonymizers}
    assert {name: len(some) for name, some in by.items()} == {"k-anonymity": 3 * 5 * 3 * 2, "mdav": 3 * 5, "safe-k": 3 * 3 * 2}
    assert {(place.transition, place.order) for place in by["mdav"]} == {("none", None)}
    assert {(place.beta, place.sampling, place.epsilon) for place in by["safe-k"]} == {(None, None, 2.0)}
    assert len(grid.notes) == 2
    assert all(trial.unproven == (trial.epsilon is not None) for trial in grid.trials)


def test_a_cell_that_fails_says_why_and_the_others_are_still_compared():
    grid = planted(failing="k=20 beta=0.2", **SMALL)
    assert {cell.failed for cell in grid.failures} == {"too few rows of everything"}
    assert len(grid.hybrids) == 3 * 5 * 6 - 12
    assert grid.effect("k", 5, 20, "singling-out").pairs == 30 - 12
    assert "Too few rows" in grid.page()
    assert "too few rows" in grid.markdown()


@pytest.mark.parametrize(
    ("settings", "faults"),
    [
        (
            {"k": [1, 5], "beta": [0, 2], "generators": ["agn", "mdav"], "transition": "x", "order": "mid", "runs": 0, "kk": 1},
            {"k": 1, "beta": 2, "generators": 2, "transition": 1, "order": 1, "runs": 1, "kk": 1},
        ),
        ({"anonymizers": "mdav"}, {"transition": 1}),
        ({"anonymizers": "safe-k"}, {"epsilon": 1}),
        ({"generators": "mst"}, {"epsilon": 1}),
        ({"k": []}, {"k": 1}),
        ({"density": "flat"}, {"density": 1}),
        ({"anonymizers": ["safe-k"], "l": 2, "epsilons": 1}, {"safe-k": 1}),
        ({"k": [5, 5000, 9000], "generators": "sequential"}, {"k": 2}),
        ({"generators": ["sequential", "dpmix"], "epsilons": 1}, {"hybrid-post-dpmix": 1}),
    ],
)
def test_all_faults_are_listed_before_any_work(settings, faults, monkeypatch):
    monkeypatch.setattr(Experiment, "observe", lambda *more: pytest.fail("a cell was run"))
    with pytest.raises(InputError) as error:
        ht.hybrid(table(), **settings)
    assert Counter(fault.where for fault in error.value.faults) == faults


def test_a_schema_without_quasi_identifiers_is_refused_before_any_work(monkeypatch):
    monkeypatch.setattr(Experiment, "observe", lambda *more: pytest.fail("a cell was run"))
    plain = table()
    columns = tuple(replace(c, role=Role.PLAIN) if c.role is Role.QUASI else c for c in plain.schema)
    with pytest.raises(InputError, match="quasi"):
        ht.hybrid(plain.under(Schema(columns)), **SMALL)


def test_a_small_grid_really_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(experiment, "MEASURES", {"margins": {}, "downstream": {"models": "linear", "seeds": "0"}})
    options = {"k": [3], "beta": [0.5, 1], "sampling": "stratified", "transition": ["uniform", "conditional"], "order": "post"}
    run = {"generators": "sequential", "only": ["singling-out"], "rows": 200, "seed": 0}
    grid = ht.hybrid(table(), **options, **run, folder=tmp_path / "grid")
    assert not grid.failures
    promises = {cell.place.transition: cell.promise for cell in grid.select(beta=0.5)}
    assert promises["uniform"].startswith("k-anonymity with k = 2 over age, town, grade, of the table it was made from")
    assert promises["conditional"] == "nothing"
    assert {"hybrid.json", "hybrid.html", "hybrid.md", "cells", "recipes", "study.txt"} == {
        p.name for p in (tmp_path / "grid").iterdir()
    }
    assert ht.render(tmp_path / "grid", "md").text == grid.markdown()
    assert ht.render(tmp_path / "grid", "html").kind == "hybrid"
