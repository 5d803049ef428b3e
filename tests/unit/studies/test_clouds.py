"""The study of point clouds: its sets, how far points lie apart, what is drawn of them, and one pass with tiny knobs."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from hushtable.errors import HushError, InputError, MissingExtra
from hushtable.studies import clouds, clouds_cells, clouds_sections, clouds_sets
from hushtable.studies.clouds_cells import FEW, FRESH, GENERATORS, LINE, injected, scores, wasserstein
from hushtable.studies.clouds_drawing import Panel, Row, images, multiples
from hushtable.studies.clouds_sets import MNIST, SETS, Sides, matrix, mnist_file, table_of
from hushtable.studies.clouds_statements import memory_statements, pooled, shape_statements, umap_statements
from hushtable.studies.report import Verdict
from hushtable.studies.study import Scope


@pytest.mark.parametrize("name", SETS)
def test_a_set_lies_in_its_declared_bounds_and_no_run_shares_a_point(name):
    one = SETS[name]
    train, fresh = one.sides(500, 0)
    points = one.draw(500, 0)
    low, high = np.array(one.ends).T
    assert ((points >= low) & (points <= high)).all()
    assert np.allclose(matrix(train), points, atol=1e-6)
    assert not any(column.observed for column in train.schema)
    later = one.sides(500, 1)
    rows = np.concatenate([matrix(side) for side in (train, fresh, *later)])
    assert len(np.unique(rows, axis=0)) == 2000


def test_blobs_of_all_runs_have_the_same_three_centres():
    from sklearn.cluster import KMeans

    centres = [KMeans(3, n_init=1, random_state=0).fit(SETS["blobs"].draw(600, seed)).cluster_centers_ for seed in (0, 1)]
    assert np.allclose(*(np.sort(one[:, 0]) for one in centres), atol=0.1)


def test_the_wasserstein_distance_is_that_of_the_best_pairing():
    rng = np.random.default_rng(0)
    one = rng.normal(size=(60, 2))
    assert wasserstein(one, one[::-1], rng) == pytest.approx(0, abs=1e-12)
    assert wasserstein(one, one + np.array([3.0, 4.0]), rng) == pytest.approx(5)
    line, other = rng.random((50, 1)), rng.random((50, 1))
    # On a line the sorted points are partners.
    assert wasserstein(line, other, rng) == pytest.approx(np.abs(np.sort(line[:, 0]) - np.sort(other[:, 0])).mean())


def test_fresh_points_are_near_and_a_filled_disc_is_off_two_circles():
    one = SETS["circles"]
    sides = one.sides(400, 0)
    near = scores(sides, one.table(400, 77), 0)
    rng = np.random.default_rng(0)
    disc = table_of(rng.uniform(-1, 1, (400, 2)), one.columns, one.ends)
    far = scores(sides, disc, 0)
    assert near["off"] < 0.05 < 0.3 < far["off"]
    assert near["wasserstein"] < far["wasserstein"]
    assert near["mmd"] < far["mmd"]


def test_points_learnt_by_heart_gain_nothing():
    sides = SETS["half-circles"].sides(300, 0)
    assert scores(sides, sides.train, 0)["wasserstein"] > 0


@pytest.mark.parametrize("kind", [LINE, FEW])
def test_injected_points_come_back_from_a_generator_that_copies_and_only_those(kind, monkeypatch):
    monkeypatch.setattr(clouds_cells.Generator, "draw", lambda self, table, seed, *, quick: table)
    result = injected(kind, "trees", 0, 300, quick=True)
    assert result["hits"] == result["attempts"] > 0
    # On a line the neighbours of a point that was left out are near it; of points far from all others few have one.
    left_out = result["control_hits"] / result["control_attempts"]
    assert (left_out > 0.5) == (kind == LINE)
    marked = result["pictures"]["real"]["colour"]
    assert sum(marked) >= result["attempts"] * 0.9
    assert pooled([result]).way == 0.0


def test_injected_points_do_not_come_back_from_a_generator_that_forgets_them(monkeypatch):
    monkeypatch.setattr(clouds_cells.Generator, "draw", lambda self, table, seed, *, quick: SETS["s-curve"].table(table.rows, 99))
    result = injected(LINE, "trees", 0, 300, quick=True)
    rates = pooled([result])
    assert rates.p > 0.05
    assert abs(rates.inside.value - rates.outside.value) < 0.3


def test_a_task_says_what_it_lacks(monkeypatch, tmp_path):
    with pytest.raises(InputError, match="HUSHTABLE_DATA"):
        mnist_file(tmp_path)
    monkeypatch.setitem(__import__("sys").modules, "umap", None)
    with pytest.raises(MissingExtra, match="manifold"):
        clouds_sets.umap(np.zeros((10, 2)), 0)


def test_without_images_the_digits_are_skipped_and_every_task_can_be_sent(tmp_path):
    work = clouds.STUDY.plan(Scope(data=tmp_path, quick=True))
    names = [task.name for task in work.tasks]
    assert len(set(names)) == len(names)
    assert not any(MNIST in name for name in names)
    assert all(pickle.loads(pickle.dumps(task)).name == task.name for task in work.tasks)
    refused = {task.name: {"title": task.title, "refused": "needs torch"} for task in work.tasks}
    report = work.report(refused)
    assert any("HUSHTABLE_DATA" in line for line in report.skipped)
    assert any("needs torch" in line for line in report.skipped)
    assert all(number.why_not for number in report.numbers)
    assert not report.statements


def test_a_full_scope_has_three_runs_of_4000_points(tmp_path):
    full, quick = (clouds.STUDY.plan(Scope(data=tmp_path, quick=quick)) for quick in (False, True))
    assert "s-curve-vae-2" in {task.name for task in full.tasks}
    assert "s-curve-vae-1" not in {task.name for task in quick.tasks}
    assert full.identity != quick.identity
    assert clouds.POINTS == 4000


@pytest.fixture
def tiny(monkeypatch):
    """Two sets, two generators, few points."""
    monkeypatch.setattr(clouds, "QUICK", 120)
    monkeypatch.setattr(clouds, "SETS", {name: SETS[name] for name in ("s-curve", "blobs")})
    trees = GENERATORS["trees"]
    for module in (clouds, clouds_cells, clouds_sections):
        monkeypatch.setattr(module, "GENERATORS", dict.fromkeys(GENERATORS, trees))
    monkeypatch.setattr(clouds, "unfolded", lambda *args, **knobs: (_ for _ in ()).throw(InputError("no UMAP", where="here")))


def test_one_pass_with_trees_in_place_of_networks(tiny, tmp_path):
    work = clouds.STUDY.plan(Scope(data=tmp_path, quick=True, runs=2))
    results = {}
    for task in work.tasks:
        try:
            results[task.name] = json.loads(json.dumps(task.make()))
        except HushError as error:
            results[task.name] = {"title": task.title, "refused": str(error)}
    report = work.report(results)
    assert {figure.name for figure in report.figures} == {"point-clouds", "point-clouds-ours", "point-clouds-injected"}
    numbers = {(one.data, one.method, one.measure): one for one in report.numbers}
    fresh = numbers["blobs", "fresh points", clouds_sections.MEASURES["wasserstein"]]
    assert fresh.ours is not None
    assert fresh.low is not None
    assert fresh.low <= fresh.ours <= fresh.high
    assert any("quick" in part.note.lower() for part in report.parts if hasattr(part, "note"))
    assert any("no UMAP" in line for line in report.skipped)
    # All are the same trees: nobody is better.
    assert {one.verdict for one in report.statements if "GAN" in one.says} == {Verdict.UNDECIDED}
    json.dumps(report.to_json())


def _cells(far):
    sets = list(SETS)
    made = {(name, generator): [] for name in [*sets, MNIST] for generator in (FRESH, *GENERATORS)}
    for generator, values in far.items():
        for name in sets:
            made[name, generator] = [{"wasserstein": value, "off": 0.1} for value in values]
    return made, sets


@pytest.mark.parametrize(
    ("gan", "verdict"),
    [((0.50, 0.52, 0.51), Verdict.CONFIRMED), ((0.05, 0.06, 0.05), Verdict.CONTRADICTED), ((0.1, 0.9, 0.2), Verdict.UNDECIDED)],
)
def test_the_vae_must_be_surely_nearer_on_every_set(gan, verdict):
    made, sets = _cells({"vae": (0.2, 0.21, 0.22), "gan": gan})
    said = shape_statements(made, sets, digits=False).statements
    assert said[0].verdict is verdict
    assert "S-curve" in said[0].because


def test_one_run_decides_nothing():
    made, sets = _cells({"vae": (0.2,), "gan": (0.9,)})
    assert {one.verdict for one in shape_statements(made, sets, digits=True).statements} == {Verdict.UNDECIDED}


def test_a_gan_that_wins_on_one_set_contradicts():
    made, sets = _cells({"vae": (0.2, 0.21, 0.22), "dcgan": (0.5, 0.52, 0.51)})
    made["blobs", "dcgan"] = [{"wasserstein": value} for value in (0.01, 0.02, 0.015)]
    (said,) = [one for one in shape_statements(made, sets, digits=False).statements if "DCGAN" in one.says]
    assert said.verdict is Verdict.CONTRADICTED
    assert "4 of 5" in said.because


@pytest.mark.parametrize(("spread", "verdict"), [(0.5, Verdict.CONFIRMED), (1.0, Verdict.CONTRADICTED)])
def test_points_led_back_crowd_or_do_not(spread, verdict):
    runs = [{"drawn": {"spread": spread + d}, "returned": {"spread": 1.0}} for d in (0.0, 0.01, 0.02)]
    (said,) = umap_statements({"s-curve": runs}, {"s-curve": "S-curve"}).statements
    assert said.verdict is verdict


def test_a_few_points_that_come_back_contradict():
    grid = np.linspace(0, 1, 21).tolist()
    one = {
        "hits": 8,
        "attempts": 8,
        "control_hits": 0,
        "control_attempts": 8,
        "within": grid,
        "injected": [8] * 21,
        "left_out": [0] * 21,
    }
    line = one | {"control_hits": 8, "left_out": [8] * 21}
    said = memory_statements({(LINE, "vae"): [line], (FEW, "vae"): [one]}).statements
    assert [each.verdict for each in said] == [Verdict.CONFIRMED, Verdict.CONTRADICTED]
    none = one | {"hits": 0, "injected": [0] * 21}
    said = memory_statements({(LINE, "vae"): [], (FEW, "vae"): [none]}).statements
    assert [each.verdict for each in said] == [Verdict.CONFIRMED]
    assert pooled([none]).way is None


def test_panels_are_one_path_for_each_colour_and_wrap():
    picture = {"x": [0, 500, 1000], "y": [0, 500, 1000], "colour": [0, 1, 1]}
    row = Row("a set", [Panel("real", picture), Panel("refused one", None, ("refused",)), Panel("third", picture)])
    drawn = multiples([row], 2, "points")
    assert drawn.count("<path") == 4
    assert drawn.count("h0") == 6
    assert drawn.count("<rect") == 3
    assert "refused" in drawn


def test_images_are_drawn_by_shade():
    blank, dark = "0" * 784, "4" * 784
    drawn = images([(blank, dark)], ("made", "real"), "digits")
    assert drawn.count("<path") == 1
    assert drawn.count("h28") == 28


def test_sides_are_tables_of_one_schema():
    sides = SETS["swiss-roll"].sides(50, 3)
    assert isinstance(sides, Sides)
    assert sides.train.schema == sides.fresh.schema
    assert sides.train.schema.names == ("x", "y", "z", "position")


@pytest.mark.neural
@pytest.mark.slow
def test_a_network_is_trained_and_its_draws_are_in_the_picture():
    pytest.importorskip("torch", reason="torch is not installed: pip install hushtable[neural]")
    tiny = replace(GENERATORS["vae"], quick={"epochs": 1, "latent": 2})
    GENERATORS["tiny"] = tiny
    try:
        first, again = (clouds_cells.cell("s-curve", "tiny", 0, 100, None, quick=True) for _ in range(2))
    finally:
        del GENERATORS["tiny"]
    assert len(first["points"]["x"]) == 100
    assert set(first["points"]["colour"]) <= set(range(6))
    assert {key: first[key] for key in ("wasserstein", "points")} == {key: again[key] for key in ("wasserstein", "points")}
