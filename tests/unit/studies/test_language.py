"""The study of private language models: what is impossible is marked, ours stands beside what was published, and what it says."""

from __future__ import annotations

import gzip
import math

import numpy as np
import pytest

from hushtable.language.prune import Rule
from hushtable.studies import language as study
from hushtable.studies import language_filled as filling
from hushtable.studies import language_pruned as pruning
from hushtable.studies import language_report
from hushtable.studies import language_tasks as tasks
from hushtable.studies.language_published import (
    BUDGETS,
    COLA,
    MRPC,
    RTE,
    SST2,
    TABLES,
    below_majority,
    impossible_f1,
    impossible_perplexity,
)  # fmt: skip
from hushtable.studies.language_results import Measured, gap
from hushtable.studies.report import Verdict
from hushtable.studies.study import Scope
from tests.language_models import sentence, tiny_causal, tiny_encoder

SIZE = tasks.Size(rows=80, pairs=60, public=20, tested=30, length=24, rate=0.5, steps=1, epochs=1)
FILL = filling.Fill(rows=60, public=30, warm=2, rate=0.5, steps=1, passes=1, scored=6, written=5, length=8)


def test_what_cannot_be_is_marked_and_what_can_is_not():
    assert "below 1" in impossible_perplexity(6.29e-3)
    assert "vocabulary" in impossible_perplexity(6.32e5)
    assert impossible_perplexity(48.7) == ""
    assert impossible_f1(0.3694, 0.3690, 0.3702)
    assert impossible_f1(0.3701, 0.3698, 0.3697) == ""
    assert "is that of the majority class" in below_majority(COLA, 69.12)
    assert "is below" in below_majority(MRPC, 63.33)
    assert below_majority(SST2, 92.31) == ""


def test_every_published_line_has_a_number_for_each_task_and_every_line_of_ours_its_place():
    assert all(len(values) == len(columns) for columns, lines in TABLES.values() for values in lines.values())
    published = {method for _, lines in TABLES.values() for method in lines}
    beside = [method for line in tasks.LINES for method in line.beside]
    assert set(beside) <= published
    assert len(set(beside)) == len(beside)
    assert set(tasks.FEW) <= {line.name for line in tasks.LINES}


def test_without_rows_or_models_only_the_published_numbers_are_judged(tmp_path, monkeypatch):
    monkeypatch.delenv("HUSHTABLE_DATA", raising=False)
    monkeypatch.setenv("HUSHTABLE_MODELS", str(tmp_path))
    work = study.plan(Scope(quick=True))
    assert not work.tasks
    report = work.report({})
    assert sum("not at hand" in reason for reason in report.skipped) == 4 + 2 + 1
    assert all(number.ours is None and number.why_not for number in report.numbers)
    assert [number for number in report.numbers if "majority" in number.data]


@pytest.fixture(scope="module")
def glue(tmp_path_factory):
    """The four tasks, of generated sentences whose class is their mood, or whether two are equal."""
    root, rng = tmp_path_factory.mktemp("data"), np.random.default_rng(0)
    for task in tasks.TASKS.values():
        heads = [*task.sentences, "label"]
        for path, count in zip(task.files(root), (150, 40), strict=True):
            path.parent.mkdir(exist_ok=True)
            lines = ["\t".join(heads)]
            for number in range(count):
                texts = [sentence(rng, bool(number % 2))] * len(task.sentences)
                texts = [texts[0], *(sentence(rng) if number % 2 else text for text in texts[1:])]
                lines.append("\t".join([*texts, task.classes[number % 2]]))
            with gzip.open(path, "wt", encoding="utf-8") as file:
                file.write("\n".join(lines))
    return root


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A tiny model of each kind under the names that the study looks for."""
    pytest.importorskip("transformers", reason="language models need transformers")
    root = tmp_path_factory.mktemp("models")
    tiny_encoder(root / "minilm", layers=6)
    tiny_causal(root / "smollm2", layers=10)
    return root


@pytest.fixture
def models(home, monkeypatch):
    monkeypatch.setenv("HUSHTABLE_MODELS", str(home))


def test_pairs_are_one_text_and_rows_are_apart(glue):
    train, others, held = tasks.rows(str(glue), RTE, 60)
    assert (train.rows, others.rows, held.rows) == (60, 90, 40)
    first, _, second = str(train.strings(tasks.TEXT)[0]).partition(tasks.BETWEEN)
    assert first
    assert second
    assert set(train.strings(tasks.LABEL)) == {"entailment", "not_entailment"}
    alone = tasks.rows(str(glue), RTE, 60, first=True)[0]
    assert next(iter(alone.strings(tasks.TEXT))) == first


@pytest.mark.neural
def test_what_is_planned_is_what_is_at_hand(glue, models):
    quick, full = (study.plan(Scope(quick=quick, data=glue)) for quick in (True, False))
    lines, few, texts, cuts = len(tasks.LINES), len(tasks.FEW), len(BUDGETS) + 1, 2 * len(pruning.TENTHS)
    assert len(quick.tasks) == lines + 3 * few + texts + cuts
    assert len(full.tasks) == 4 * (lines + texts) + cuts
    assert len({task.name for task in full.tasks}) == len(full.tasks)
    assert len(full.tables) == 4


@pytest.mark.neural
def test_classifiers_are_run_and_stand_in_the_report(glue, models):
    chosen = {SST2: (tasks.LORA, tasks.TSKD, tasks.THREE), MRPC: (tasks.PLAIN_ONE,)}
    results = {
        tasks.task_name(name, line.name, 0): tasks.cell(str(glue), SIZE, name, line, 0)
        for name, lines in chosen.items()
        for line in tasks.LINES
        if line.name in lines
    }
    report = language_report.report(Measured(results, 1), "", ())
    ours = [number for number in report.numbers if number.ours is not None and number.method != "always the larger class"]
    assert {(number.data.split()[0], number.method) for number in ours if number.published is not None} == {
        (SST2, "BERT-base, DP"), (SST2, "DistilBERT, DP"), (SST2, "BERT-tiny, DP"), (SST2, "BERT-tiny, TSKD"),
        (SST2, "DistilBERT, TSKD"), (MRPC, "pairwise, LoRA"), (MRPC, "0.2, LoRA"),
    }  # fmt: skip
    assert all(number.low <= number.ours <= number.high for number in ours)
    constant = [number for number in report.numbers if number.method == "always the larger class"]
    assert [number.ours for number in constant] == [50.0, 50.0]
    assert len(results[tasks.task_name(MRPC, tasks.PLAIN_ONE, 0)]["layers"]) == 5
    assert len(results[tasks.task_name(SST2, tasks.TSKD, 0)]["layers"]) == 3
    assert any("TSKD beats its student" in one.says for one in report.statements)


@pytest.mark.neural
def test_filled_texts_are_measured_and_stand_in_the_report(glue, models):
    budgets = (BUDGETS[0], BUDGETS[1], filling.REWRITTEN)
    results = {filling.task_name(MRPC, own, 0): filling.filled(str(glue), FILL, MRPC, own, 0) for own in budgets}
    for own in budgets[:2]:
        one = results[filling.task_name(MRPC, own, 0)]
        assert {side: len(values) for side, values in one["surprise"].items()} == {"train": 6, "control": 6}
        assert all(value > 0 for values in one["surprise"].values() for value in values)
        assert len(one["random"]["f1"]) == 5
    rewritten = results[filling.task_name(MRPC, filling.REWRITTEN, 0)]
    assert 0.5 < np.mean(rewritten["kept"]) <= 1
    assert len(rewritten["own"]["f1"]) == len(rewritten["kept"]) == 6
    assert "surprise" not in rewritten
    report = language_report.report(Measured(results, 1), "", ())
    table = {(one.method, one.measure): one for one in report.numbers if one.data == MRPC}
    one = table[BUDGETS[1], "perplexity"]
    assert one.low < one.ours < one.high
    assert "below 1" in one.why_not
    assert table[BUDGETS[2], "perplexity"].ours is None
    assert table[BUDGETS[0], "gap"].low < table[BUDGETS[0], "gap"].high
    assert sum("shows memory" in one.says for one in report.statements) == 2


@pytest.mark.neural
def test_a_causal_model_is_pruned_and_stands_in_the_report(glue, models):
    size = pruning.Pruning(public=6, tested=5, repeats=1)
    results = {pruning.task_name(rule, 3): pruning.pruned(str(glue), size, rule, 3) for rule in Rule}
    own = results[pruning.task_name(Rule.PAIRWISE, 3)]
    assert own["layers"] == 10
    assert len(own["gone"]) == 3
    assert own["whole"] != own["left"]
    report = language_report.report(Measured(results, 1), "", ())
    assert sum("smollm2, 0.3" in one.says for one in report.statements) == 1
    grid = next(part for part in report.parts if getattr(part, "title", "").startswith("Layers left out of smollm2"))
    assert [row[1] for row in grid.rows] == ["3 of 10", "3 of 10"]


def _filled(shift: float) -> dict:
    texts = np.linspace(2, 4, 20)
    return {
        "surprise": {"train": (texts + shift).tolist(), "control": (texts + 1).tolist()},
        "random": {"f1": [0.3], "precision": [0.3], "recall": [0.3]},
        "nearest": {"train": [0.5, 0.6], "control": [0.4, 0.5]},
        "examples": [],
    }


def test_what_the_source_says_is_judged_by_what_was_measured():
    shifts = dict(zip(BUDGETS, (0.0, 0.9, 0.6, 0.3), strict=True))
    falling = {filling.task_name(RTE, own, 0): _filled(shift) for own, shift in shifts.items()}
    rising = {filling.task_name(RTE, own, 0): _filled(-shift) for own, shift in shifts.items()}
    for results, verdict in ((falling, Verdict.CONFIRMED), (rising, Verdict.CONTRADICTED)):
        said = {one.says: one for one in language_report.report(Measured(results, 1), "", ()).statements}
        assert said["The perplexity of the model falls from epsilon 1 to 5, to 10, to none."].verdict is verdict
    memory = {
        one.says: one.verdict for one in language_report.report(Measured(falling, 1), "", ()).statements if "memory" in one.says
    }
    assert [verdict for says, verdict in memory.items() if "no DP" in says] == [Verdict.CONFIRMED]
    assert [verdict for says, verdict in memory.items() if "epsilon 1)" in says] == [Verdict.UNDECIDED]


def test_accuracies_of_one_run_are_compared_over_texts_and_of_several_over_runs():
    def right(*counts: int, line: str) -> dict:
        own = {"texts": 100, "majority": 60, "layers": [0, 1, 2]}
        return {tasks.task_name(COLA, line, run): {"right": count, **own} for run, count in enumerate(counts)}

    one = Measured({**right(90, line=tasks.TSKD), **right(60, line=tasks.THREE)}, 1)
    said = {own.says: own.verdict for own in language_report.report(one, "", ()).statements}
    assert said["TSKD beats its student when that is trained directly with privacy (table 5.2)."] is Verdict.CONFIRMED
    assert len(one.shares(COLA, tasks.TSKD)) == 100
    value, low, high = one.accuracy(COLA, tasks.TSKD)
    assert (value, low < 90 < high) == (90.0, True)
    several = Measured({**right(61, 59, line=tasks.TSKD), **right(60, 60, line=tasks.THREE)}, 2)
    assert several.shares(COLA, tasks.TSKD) == [0.61, 0.59]
    said = {own.says: own.verdict for own in language_report.report(several, "", ()).statements}
    assert said["TSKD beats its student when that is trained directly with privacy (table 5.2)."] is Verdict.UNDECIDED


def test_a_gap_has_welchs_interval():
    from scipy.stats import ttest_ind

    one, other = np.array([1.0, 2.0, 4.0, 3.5]), np.array([0.5, 1.0, 0.0])
    value, low, high = gap(one.tolist(), other.tolist())
    oracle = ttest_ind(one, other, equal_var=False).confidence_interval()
    assert value == one.mean() - other.mean()
    assert (low, high) == pytest.approx((oracle.low, oracle.high))
    assert gap([1.0], [2.0, 3.0]) == (None, None, None)


def test_perplexity_is_the_exponential_of_the_mean_surprise():
    own = Measured({filling.task_name(SST2, BUDGETS[0], 0): _filled(0.0)}, 1)
    assert own.perplexity(SST2, BUDGETS[0])[0] == pytest.approx(math.exp(3.0))
