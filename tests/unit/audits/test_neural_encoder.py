"""The contrastive encoder and the search among its points."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from hushtable.audits.neural import encoder as encoders
from hushtable.audits.neural.contrastive import ContrastiveClosestRecord, ContrastiveInference, ContrastiveLinkability
from hushtable.audits.neural.domias import DomiasFlow
from hushtable.audits.neural.encoder import ABSENT, FIRST, GRID, MASKED, Records, Training, nearest
from hushtable.audits.neural.outliers import ContrastiveSinglingOut, _bins, _Crowd, outlier_factors
from hushtable.checks import example
from hushtable.errors import InputError, MissingExtra
from hushtable.evidence.case import Case
from hushtable.evidence.persons import People
from hushtable.table.columns import Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table

pytestmark = pytest.mark.neural
CONTRASTIVE = (ContrastiveSinglingOut, ContrastiveLinkability, ContrastiveInference, ContrastiveClosestRecord)
SMALL = {"width": 16, "epochs": 3}


@pytest.fixture
def case() -> Case:
    return Case(example(60, 0), example(70, 2), example(50, 1))


def table(towns: list[int], levels: tuple[str, ...], numbers: list[float]) -> Table:
    columns = (
        Column(name="town", kind=Kind.CATEGORY, domain=Levels(levels)),
        Column(name="size", kind=Kind.REAL, domain=Bounds(-100.0, 100.0)),
    )
    return Table(Schema(columns), {"town": np.array(towns, np.int32), "size": np.array(numbers)})


def spherical(rng: np.random.Generator, rows: int, dimensions: int = 5) -> np.ndarray:
    points = rng.normal(size=(rows, dimensions))
    return np.round(points / np.linalg.norm(points, axis=1, keepdims=True) * GRID) / GRID


@pytest.mark.parametrize("block", [2**24, 1])
def test_the_search_by_products_of_matrices_is_that_of_all_pairs(monkeypatch, block):
    monkeypatch.setattr(encoders, "BLOCK", block)
    rng = np.random.default_rng(0)
    targets = spherical(rng, 90)
    targets = np.concatenate([targets, targets[::-1]])
    queries = np.concatenate([spherical(rng, 30), targets[40:60]])
    squares = ((queries[:, None, :] - targets[None, :, :]) ** 2).sum(axis=2)
    index, distance = nearest(queries, targets)
    assert np.array_equal(index, squares.argmin(axis=1))
    assert np.allclose(distance, np.sqrt(squares.min(axis=1)), atol=1e-9)
    assert (distance[30:] == 0).all()
    cosines = (queries @ targets.T) / np.linalg.norm(targets, axis=1)
    assert (cosines[np.arange(50), index] > cosines.max(axis=1) - 1e-5).all()


def test_rows_are_measured_by_the_release_and_what_it_lacks_is_not_known():
    release = table([0, 1, -1], ("a", "b", "never used"), [1.0, 3.0, np.nan])
    train = table([0, 1, 2, -1], ("b", "c", "a"), [2.0, 3.0, np.nan, 2.0])
    control = table([0, 0], ("never used", "a"), [2.0, 5.0])
    records = Records.of(Case(train, release, control))
    assert records.codes[:, 0].tolist() == [FIRST + 1, MASKED, FIRST, ABSENT, FIRST, FIRST + 1, ABSENT, MASKED, MASKED]
    assert records.values[:, 1].tolist() == [0.0, 1.0, 0.0, 0.0, -1.0, 1.0, 0.0, 0.0, 3.0]
    assert records.codes[:, 1].tolist() == [FIRST, FIRST, ABSENT, FIRST, FIRST, FIRST, ABSENT, FIRST, FIRST]
    assert records.scales[1].tolist() == [2.0, 1.0]
    first, kind = records.distinct([1])
    assert len(first) == 5
    assert kind[0] == kind[3] == kind[7]
    assert kind[2] == kind[6] != kind[0]
    codes, values = records.inputs(records.rows["release"], [1])
    assert (codes[:, 0] == MASKED).all()
    assert values[:, 1].tolist() == [-1.0, 1.0, 0.0]


def test_bins_are_those_of_the_released_range_and_nothing_outside_it_fits():
    release = table([0] * 3, ("a",), [0.0, 5.0, 10.0])
    people = table([0] * 6, ("a",), [-1.0, 0.0, 4.9, 10.0, 10.1, np.nan])
    added = _bins(Records.of(Case(people, release, table([0] * 2, ("a",), [1.0, 2.0]))), 2)[:, 1]
    assert added.tolist() == [0, 1, 1, 2, 3, 0, 1, 2, 2, 1, 1]


def test_who_is_singled_out_and_who_is_alone():
    kinds = {"train": np.array([1, 2, 2, 3, 9]), "control": np.array([3, 4, 4, 5])}
    crowd = _Crowd(kinds, {"train": People(5), "control": People(4)}, {"train": np.array([0, 1, 3, 4]), "control": np.arange(4)}, 4)
    described = np.array([1, 2, 3, 4, 5, 6])
    assert crowd.singled("train", described)[0].tolist() == [True, True, True, False, False, False]
    assert crowd.singled("train", described)[1].tolist() == [0, 1, 3, -1, -1, -1]
    assert crowd.singled("control", described)[1].tolist() == [-1, -1, 0, -1, 3, -1]
    assert crowd.lone(described) == {"train": 1, "control": 1}


def test_a_person_in_several_cells_counts_once_in_each_and_once_in_all():
    kinds = {"train": np.array([1, 1, 2, 3]), "control": np.array([2, 4, 4, 5])}
    people = {"train": People(4, np.array([0, 0, 0, 1])), "control": People(4, np.array([0, 1, 1, 1]))}
    crowd = _Crowd.among(kinds, people, np.random.default_rng(0))
    described = np.array([1, 2, 3, 4, 5])
    assert crowd.singled("train", described)[0].tolist() == [True, True, True, False, False]
    assert crowd.singled("train", described)[1].tolist() == [0, 0, 3, -1, -1]
    assert crowd.singled("control", described)[1].tolist() == [-1, 0, -1, 1, 1]
    assert crowd.lone(described) == {"train": 2, "control": 1}


def test_an_outlier_stands_out_and_copies_do_not_change_that():
    points = np.concatenate([np.random.default_rng(0).normal(size=(60, 3)), [[9.0, 9.0, 9.0]]])
    factors = outlier_factors(np.concatenate([points, points]), 10)
    assert factors.argmax() == 60
    assert np.array_equal(factors[:61], factors[61:])
    assert np.array_equal(outlier_factors(np.zeros((4, 3)), 10), np.ones(4))


@pytest.mark.parametrize(
    "knobs",
    [
        {"width": 0},
        {"batch": 1},
        {"epochs": 0},
        {"steps": 0},
        {"patience": 0},
        {"temperature": 0.0},
        {"rate": -1.0},
        {"dimensions": -1},
    ],
)
def test_knobs_that_mean_nothing_are_refused(knobs):
    with pytest.raises(InputError, match=next(iter(knobs))):
        Training(**knobs)


@pytest.mark.parametrize(
    ("kind", "knobs"),
    [
        (ContrastiveSinglingOut, {"share": 0.0}), (ContrastiveSinglingOut, {"bins": 0}), (ContrastiveLinkability, {"random": -1}),
        (ContrastiveInference, {"tolerance": 1.0}), (ContrastiveClosestRecord, {"alpha": 1.0}),
        (ContrastiveClosestRecord, {"width": 0}),
        (DomiasFlow, {"noise": 0.0}), (DomiasFlow, {"outliers": 1.0}),
    ],
)  # fmt: skip
def test_knobs_of_the_attacks_are_checked_too(kind, knobs):
    with pytest.raises(InputError, match=next(iter(knobs))):
        kind(**knobs)


@pytest.mark.parametrize("audit", [*(kind(**SMALL) for kind in CONTRASTIVE), DomiasFlow()], ids=lambda a: type(a).__name__)
def test_without_the_library_the_one_command_is_named(monkeypatch, case, audit):
    monkeypatch.setattr("hushtable.learn.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'hushtable\[neural\]'"):
        audit.run(case, np.random.default_rng(0))


@pytest.mark.parametrize("kind", CONTRASTIVE)
def test_one_column_cannot_be_half_known(kind, case):
    one = Case(*(t.select(["age"]) for t in (case.train, case.release, case.control)))
    (finding,) = kind().run(one, np.random.default_rng(0))
    assert finding.value is None
    assert "two columns" in finding.note


def test_the_attacks_are_there_before_the_library_is_loaded():
    code = "import sys, hushtable.audits.neural.outliers, hushtable.audits.neural.domias; print('torch' in sys.modules)"
    findings = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert findings.stdout.strip() == "False"


class TestTrained:
    """What needs a network."""

    @pytest.fixture(autouse=True)
    def _library(self):
        pytest.importorskip("torch", reason="the neural attacks need torch")

    def test_only_known_columns_count_and_equal_rows_are_equal_points(self, case):
        encoder = Training(**SMALL).encoder(case)
        changed = replace(encoder.records, codes=encoder.records.codes.copy(), values=encoder.records.values + 1)
        changed.codes[:, 4] = FIRST
        known = [2, 3]
        points, same = encoder.points(known), encoders.Encoder(changed, encoder.net).points(known)
        assert all(np.array_equal(points[name], same[name]) for name in points)
        towns = {(case.train["town"][i], case.train["school"][i]): p for i, p in enumerate(points["train"].tolist())}
        shared = [i for i in range(case.release.rows) if (case.release["town"][i], case.release["school"][i]) in towns]
        assert shared
        for i in shared:
            assert points["release"][i].tolist() == towns[case.release["town"][i], case.release["school"][i]]
        assert np.allclose(np.linalg.norm(points["release"], axis=1), 1, atol=1e-5)

    def test_it_learns_from_the_release_alone(self, case):
        """Other people in the table and in the control change nothing in what is learnt."""
        other = Case(example(40, 7), case.release, example(30, 8))
        one, two = (Training(**SMALL).encoder(c).points([0, 1, 2]) for c in (case, other))
        assert np.allclose(one["release"], two["release"], atol=1e-5)
        moved = Case(case.train, example(70, 9), case.control)
        assert not np.allclose(one["train"], Training(**SMALL).encoder(moved).points([0, 1, 2])["train"], atol=1e-2)

    def test_attacks_with_the_same_knobs_share_one_encoder(self, case):
        one, two = ContrastiveLinkability(**SMALL), ContrastiveInference(**SMALL)
        assert one.encoder(case) is two.encoder(case)
        assert one.encoder(case) is not ContrastiveLinkability(**SMALL, encoder_seed=1).encoder(case)

    def test_training_tells_views_of_different_records_apart(self, case):
        """Half of a record finds the other half among all others far oftener than chance, and than before training."""
        trained, raw = (Training(width=32, epochs=epochs, patience=99).encoder(case) for epochs in (40, 1))
        columns = len(case.columns)

        def found(encoder: encoders.Encoder) -> float:
            one, other = encoder.points(range(columns))["release"], encoder.points(range(1, columns))["release"]
            return float((nearest(one, other)[0] == np.arange(case.release.rows)).mean())

        assert found(trained) > max(0.3, found(raw) + 0.1)

    def test_a_release_that_says_nothing_teaches_no_model(self, case):
        """Everything missing but the secret: the second guess is the first."""
        blank = case.release
        for column in blank.schema:
            if column.name != "sick":
                gone = {Kind.REAL: np.nan}.get(column.kind, -1 if column.coded else np.iinfo(np.int64).min)
                blank = blank.with_column(column, np.full(blank.rows, gone).astype(column.dtype))
        (finding,) = ContrastiveInference(**SMALL, secrets=("sick",)).run(
            Case(case.train, blank, case.control), np.random.default_rng(0)
        )
        assert finding.p > 0.01

    def test_masks_hide_from_one_column_to_all_but_one(self):
        from hushtable.audits.neural import contrast
        from hushtable.learn.loop import seeded

        with seeded(0):
            masks = contrast._masks(6000, 4).numpy()
        assert np.bincount(masks.sum(axis=1), minlength=5) == pytest.approx([0, 2000, 2000, 2000, 0], abs=200)
        assert masks.mean(axis=0) == pytest.approx(0.5, abs=0.03)

    def test_the_loss_is_that_of_finding_the_twin(self):
        import torch

        from hushtable.audits.neural.contrast import info_nce

        one, two = (
            torch.nn.functional.normalize(torch.from_numpy(np.random.default_rng(s).normal(size=(6, 3))), dim=1) for s in (0, 1)
        )
        cosines = (one @ two.T).numpy() / 0.2
        ways = (np.exp(cosines).sum(axis=axis) for axis in (0, 1))
        expected = np.mean([np.mean(np.log(total) - np.diag(cosines)) for total in ways])
        assert float(info_nce(one, two, 0.2)) == pytest.approx(expected)

    @pytest.mark.parametrize("kind", [*CONTRASTIVE, DomiasFlow])
    def test_the_same_seed_gives_the_same_findings_in_a_new_case(self, case, kind):
        audit = kind(epochs=2)
        cases = [Case(case.train, case.release, case.control) for _ in range(2)]
        one, two = (json.dumps([f.to_json() for f in audit.run(c, np.random.default_rng(3))]) for c in cases)
        assert one == two
