"""Nothing public says what only suppressed rows had, and nothing is called proven or verified that is not."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

import hushtable as ht
from hushtable.anonymize.lattice import recode
from hushtable.anonymize.lattice.demands import Demand, Judge
from hushtable.anonymize.lattice.generalize import Generalize
from hushtable.anonymize.lattice.losses import LossName, Priced, make
from hushtable.anonymize.lattice.nodes import Lattice
from hushtable.anonymize.lattice.search import Goal, Search
from hushtable.anonymize.recoding.mondrian import Mondrian
from hushtable.anonymize.transition.transition import Transition
from hushtable.errors import InputError, PlanError
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.run import release
from hushtable.pipeline.verify import verify
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.hierarchy import FileTree, IntervalTree, PrefixTree
from hushtable.table.schema import Schema
from hushtable.table.table import Table


def generalized(table: Table, *more: object, **knobs: object):
    return release(table, Recipe(recipe="r", steps=(Generalize(**knobs), *more)), seed=1)


def one(column: Column, values: object, dtype: object = np.int32) -> Table:
    return Table(Schema((column,)), {column.name: np.array(values, dtype)})


def everything(folder) -> str:
    return "\n".join(p.read_text(encoding="utf-8") for p in sorted(folder.rglob("*")) if p.is_file())


def test_stars_are_a_class_when_k_and_l_are_measured():
    q = Column(name="q", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(tuple("abcdefgh")))
    ill = Column(name="ill", kind=Kind.CATEGORY, role=Role.SECRET, domain=Levels(("flu", "hiv")))
    arrays = {"q": np.array([0] * 50 + [1] * 50 + [2, 3, 4, 5, 6], np.int32), "ill": np.array([0, 1] * 50 + [1] * 5, np.int32)}
    table = Table(Schema((q, ill)), arrays)
    for step in (Generalize(k=5, suppressed="star", limit=0.1), Mondrian(k=5)):
        actual = release(table, Recipe(recipe="r", steps=(step,)), seed=1).guarantee.criteria
        assert actual["k"] == 5
        assert actual["secrets"]["ill"]["l_distinct"] == 1
        assert actual["secrets"]["ill"]["t"] > 0.4


def test_the_extremes_of_suppressed_rows_are_nowhere(tmp_path):
    age = Column(name="age", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(17, 97, observed=True))
    ages = [17, 97, *np.random.default_rng(0).integers(29, 61, 298)]
    output = ht.release(one(age, ages, np.int64), "k-anonymity", seed=1)
    ht.save(output, tmp_path / "r")
    assert output.result["generalize"]["suppressed_rows"] > 0
    text = everything(tmp_path / "r")
    assert "97" not in json.dumps(output.result["generalize"]["columns"])
    assert "[17" not in text
    assert "97]" not in text
    assert not verify(tmp_path / "r").faults


def test_codes_of_suppressed_rows_are_nowhere(tmp_path):
    levels = Levels(("73139", "73140", "80001", "73155"), observed=True)
    code = Column(name="zip", kind=Kind.CATEGORY, role=Role.QUASI, domain=levels, hierarchy=PrefixTree((3,)))
    other = Column(name="b", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(("x", "y")))
    arrays = {"zip": np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 3], np.int32), "b": np.array([0] * 9 + [1], np.int32)}
    table = Table(Schema((code, other)), arrays)
    for number, more in enumerate([(), (Transition(how="uniform"),)]):
        ht.save(generalized(table, *more, k=3, limit=0.2, levels=("zip=1", "b=0")), tmp_path / str(number))
        assert "73155" not in everything(tmp_path / str(number))
        assert not verify(tmp_path / str(number)).faults


def test_a_file_of_labels_is_public_and_can_be_read_back(tmp_path):
    tree = FileTree("t.csv", (("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*")))
    column = Column(name="t", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(("a", "b", "c"), observed=True), hierarchy=tree)
    for number, levels in enumerate(("t=0", "t=1", "t=2")):
        ht.save(generalized(one(column, [0, 0, 0, 1, 1, 1, 2, 2, 2]), k=3, limit=0.0, levels=(levels,)), tmp_path / str(number))
        assert not verify(tmp_path / str(number)).faults


@pytest.mark.parametrize("name", LossName)
def test_choices_may_be_given_as_text(name):
    rng = np.random.default_rng(3)
    columns = [Column(name=f"q{i}", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(0, 31)) for i in range(3)]
    table = Table(Schema(tuple(columns)), {c.name: (rng.beta(1, 3, 300) * 31).astype(np.int64) for c in columns})
    text, choice = (generalized(table, k=5, loss=loss).result["generalize"] for loss in (str(name), name))
    assert text == choice
    with pytest.raises(InputError, match="must be one of"):
        Generalize(loss="nothing")


def test_one_row_may_go_where_the_limit_is_one_row():
    """1/49 of 49 is a little less than 1 in floating point."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        columns = [Column(name=f"q{i}", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(0, 7)) for i in range(2)]
        table = Table(Schema(tuple(columns)), {c.name: rng.integers(0, 8, 49) for c in columns})
        lattice = Lattice.of(table, table.schema.names)
        judge, loss = Judge.of(lattice, (), star=False), make(LossName.GEOMETRIC, lattice, (1.0, 1.0))
        actual = Search(lattice, judge, loss, [Goal(4, 1 / 49)]).run()[0]
        best = np.inf
        for node in itertools.product(*(range(ladder.top + 1) for ladder in lattice.ladders)):
            classes = lattice.classes(node)
            remaining = judge.keep(classes, 4)
            if remaining.suppressed <= 1:
                best = min(best, loss.value(node, classes, remaining.classes, 4))
        assert actual.value == pytest.approx(best)


def test_local_recoding_ends_and_keeps_to_its_limit():
    real = Column(name="x", kind=Kind.REAL, role=Role.QUASI, domain=Bounds(0.0, 5.0), decimals=1)
    values = np.repeat(np.round(np.random.default_rng(1).integers(0, 50, 60) / 10, 1), 4)
    assert generalized(one(real, values, float), k=3, local=True).table.rows == 240
    letters = Column(name="q", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(tuple("abc")))
    result = generalized(one(letters, [0] * 40 + [1] * 40 + [2] * 2), k=5, local=True, limit=1.0)
    assert result.table.rows == 82
    assert result.result["generalize"]["local"]


def test_a_recursive_demand_below_one_is_not_empty():
    q = Column(name="q", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(("a", "b")))
    s = Column(name="s", kind=Kind.CATEGORY, role=Role.SECRET, domain=Levels(("x", "y")))
    table = Table(Schema((q, s)), {"q": np.array([0, 1] * 20, np.int32), "s": np.array([0] * 36 + [1] * 4, np.int32)})
    with pytest.raises(InputError, match="no generalization"):
        generalized(table, k=2, demands=("s:recursive:1:0.1",))


def test_what_cannot_be_is_refused_in_words():
    whole = Column(name="n", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(0, 9), hierarchy=IntervalTree((0.5, 1)))
    with pytest.raises(InputError, match="finer than the column's own steps"):
        generalized(one(whole, [1, 2, 3, 4], np.int64), k=2)
    letters = Column(name="q", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(tuple("abc")))
    with pytest.raises(PlanError, match="'q' is named twice"):
        generalized(one(letters, [0, 0, 1]), k=2, columns=("q", "q"))


@pytest.mark.parametrize("diversity", ["distinct", "entropy", "recursive"])
def test_a_missing_secret_hides_nobody(diversity):
    """All who answered said no: one who did not answer makes that no secret."""
    q = Column(name="q", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(("a", "b")))
    s = Column(name="s", kind=Kind.CATEGORY, role=Role.SECRET, domain=Levels(("no", "yes")))
    arrays = {"q": np.array([0] * 20 + [1] * 20, np.int32), "s": np.array([0] * 10 + [-1] * 10 + [0, 1] * 10, np.int32)}
    remaining = generalized(
        Table(Schema((q, s)), arrays),
        k=2,
        l=2 if diversity != "entropy" else 1.5,
        diversity=diversity,
        c=3.0,
        limit=0.5,
        levels=("q=0",),
    )
    assert set(remaining.table.strings("q")) == {"b"}
    mixed = release(Table(Schema((q, s)), arrays), Recipe(recipe="r", steps=(Mondrian(k=2, l=2),)), seed=1)
    assert mixed.guarantee.criteria["secrets"]["s"]["l_distinct"] == 2
    assert mixed.guarantee.criteria["classes"] == 1


def test_the_end_of_a_released_range_is_nobodys_age(tmp_path):
    """The oldest person is suppressed for the other column; the range that others share with them is released."""
    age = Column(name="age", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(23, 97, observed=True))
    other = Column(name="b", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(("x", "y")))
    ages = np.array([*np.random.default_rng(0).integers(23, 96, 200), 97])
    table = Table(Schema((age, other)), {"age": ages, "b": np.array([0] * 200 + [1], np.int32)})
    ht.save(generalized(table, k=3, limit=0.1, levels=("age=5", "b=0")), tmp_path / "r")
    assert "97" not in (tmp_path / "r" / "data.csv").read_text()
    assert not {"97]", "97)"} & set(everything(tmp_path / "r").replace(",", " ").split())


def test_no_label_that_only_suppressed_rows_had_is_an_example():
    levels = Levels(("73139", "99999", "80001"), observed=True)
    code = Column(name="zip", kind=Kind.CATEGORY, role=Role.QUASI, domain=levels, hierarchy=PrefixTree((3,)))
    result = generalized(one(code, [0] * 5 + [1] + [2] * 5), k=3, limit=0.2, levels=("zip=1",))
    assert "999" not in json.dumps(result.result)


def halves(first: list[int], second: list[int]) -> Lattice:
    """Rows that agree in one column and differ in the other: so many of each secret in either half."""
    columns = [Column(name=n, kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(("a", "b"))) for n in ("p", "q")]
    secret = Column(name="s", kind=Kind.CATEGORY, role=Role.SECRET, domain=Levels(("x", "y")))
    rows = sum(first) + sum(second)
    arrays = {
        "p": np.zeros(rows, np.int32),
        "q": np.repeat([0, 1], [sum(first), sum(second)]).astype(np.int32),
        "s": np.repeat([0, 1, 0, 1], [*first, *second]).astype(np.int32),
    }
    return Lattice.of(Table(Schema((*columns, secret)), arrays), ("p", "q"), ("s",))


def test_a_class_is_not_refined_where_what_is_left_would_not_hold():
    lattice = halves([5, 5], [10, 0])
    judge = replace(Judge.of(lattice, (Demand.parse("s:distinct:2"),), star=True), patient=True)
    begun = recode.Recoding.everywhere(lattice, (1, 1))
    refined = recode._refined(lattice, judge, begun.levels, begun.gone, 2, Priced.of(lattice, LossName.GEOMETRIC))
    assert (refined[0] == 0).all(), "the column in which all agree is written as it is"
    assert (refined[1] == 1).all(), "the other one is not: half of the class has one secret only"


def test_rows_of_stars_join_no_class_that_would_not_hold():
    for second, taken in (([1, 1], True), ([9, 0], False)):
        lattice = halves([3, 3], second)
        judge = replace(Judge.of(lattice, (Demand.parse("s:entropy:1.9"),), star=True), patient=True)
        q = lattice.ladders[1].codes(0)
        levels = np.where(q == 0, 0, 1).astype(np.int16)[None].repeat(2, axis=0)
        start = recode.Recoding(lattice, levels, np.zeros(len(q), bool))
        joined = recode._absorbed(start, judge, 2, Priced.of(lattice, LossName.GEOMETRIC))
        assert (joined is not None) == taken
