"""k, k-map, l and t against their definitions, on small tables with gaps, cells and suppressed rows, and on real ones."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from hushtable.privacy import criteria
from hushtable.privacy.criteria import Classes
from hushtable.table import io
from hushtable.table.cell import ANYTHING, Cell, Interval
from hushtable.table.columns import MISSING_INTEGER, Bounds, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table

AGE = Column(name="age", kind=Kind.INTEGER, domain=Bounds(0, 29))
TOWN = Column(name="town", kind=Kind.CATEGORY, domain=Levels(("a", "b", "c")))
AGE_CELLS = (AGE.interval_cell(Interval(0, 9)), AGE.interval_cell(Interval(10, 29)), AGE.interval_cell(Interval(5, 5)), ANYTHING)
TOWN_CELLS = (TOWN.set_cell(frozenset("ab")), TOWN.set_cell(frozenset("c")), ANYTHING)
REST = (
    Column(name="sex", kind=Kind.CATEGORY, domain=Levels(("f", "m"))),
    Column(name="who", kind=Kind.KEY),
    Column(name="ill", kind=Kind.CATEGORY, domain=Levels(("flu", "cold", "none", "other"))),
    Column(name="pay", kind=Kind.INTEGER, domain=Bounds(0, 9)),
    Column(name="rank", kind=Kind.ORDINAL, domain=Levels(("low", "middle", "high"))),
)
SEEDS = range(20)


def released(seed: int, rows: int = 40) -> Table:
    """A generalized table: intervals, sets, ``*``, missing values, suppressed rows and persons with several rows."""
    rng = np.random.default_rng(seed)
    schema = Schema((AGE.generalize(AGE_CELLS), TOWN.generalize(TOWN_CELLS), *REST))
    arrays = {
        "age": rng.integers(-1, 4, rows).astype(np.int32),
        "town": rng.integers(-1, 3, rows).astype(np.int32),
        "sex": rng.integers(-1, 2, rows).astype(np.int32),
        "who": rng.integers(0, 12, rows).astype(np.int32),
        "ill": rng.integers(-1, 4, rows).astype(np.int32),
        "pay": np.where(rng.random(rows) < 0.2, MISSING_INTEGER, rng.integers(0, 5, rows) * 2),
        "rank": rng.integers(-1, 3, rows).astype(np.int32),
    }
    return Table(schema, arrays, {"who": np.array([f"p{i}" for i in range(12)], object)})


def classes_by_hand(table: Table, quasi: tuple[str, ...]) -> list[list[int]]:
    """Rows written alike on the quasi-identifiers, those with nothing but ``*`` among them."""
    groups_of_rows: dict[tuple, list[int]] = {}
    for row, key in enumerate(zip(*(table.strings(name) for name in quasi), strict=True)):
        groups_of_rows.setdefault(key, []).append(row)
    return list(groups_of_rows.values())


@pytest.mark.parametrize("quasi", [("age",), ("age", "town"), ("age", "town", "sex"), ("sex",)])
@pytest.mark.parametrize("seed", SEEDS)
def test_k_counts_rows_or_persons_written_alike(seed, quasi):
    table = released(seed)
    by_hand = classes_by_hand(table, quasi)
    classes = Classes(table, quasi)
    assert sorted(classes.sizes) == sorted(len(rows) for rows in by_hand)
    assert criteria.k_anonymity(classes) == min(len(rows) for rows in by_hand)
    stars = np.all([table.strings(name) == "*" for name in quasi], axis=0)
    assert classes.suppressed.tolist() == (stars & ~stars.all()).tolist()
    persons = [len({table["who"][row] for row in rows}) for rows in by_hand]
    classes = Classes(table.held_by("who"), quasi)
    assert criteria.k_anonymity(classes) == min(persons)
    caps = criteria.reidentification(classes)
    assert caps["prosecutor"] == pytest.approx(1 / min(persons))
    assert caps["marketer"] == pytest.approx(len(persons) / sum(persons))
    assert caps["unique"] == pytest.approx(persons.count(1) / sum(persons))


@pytest.mark.parametrize("secret", ["ill", "pay", "rank"])
@pytest.mark.parametrize("seed", SEEDS)
def test_l_diversity_in_all_its_variants(seed, secret):
    table, quasi = released(seed), ("age", "town")
    texts = table.strings(secret)
    # Not to answer is no value that hides another.
    by_hand = [Counter(text for text in texts[rows] if text is not None) for rows in classes_by_hand(table, quasi)]
    classes = Classes(table, quasi)
    assert criteria.distinct_l(classes, secret) == min(len(counts) for counts in by_hand)
    entropies = [-sum(v / c.total() * math.log(v / c.total()) for v in c.values()) for c in by_hand]
    assert criteria.entropy_l(classes, secret) == pytest.approx(math.exp(min(entropies)) if all(by_hand) else 0.0)
    for c in (0.5, 1.0, 2.0, 3.0):
        assert criteria.recursive_l(classes, secret, c) == min(recursive_by_hand(counts, c) for counts in by_hand)


def recursive_by_hand(counts: Counter, c: float) -> int:
    """The largest l with r_1 < c (r_l + r_(l+1) + ...)."""
    r = sorted(counts.values(), reverse=True)
    return max([level for level in range(1, len(r) + 1) if r[0] < c * sum(r[level - 1 :])], default=0)


@pytest.mark.parametrize(("secret", "ordered"), [("ill", False), ("pay", False), ("pay", True), ("rank", True), ("rank", False)])
@pytest.mark.parametrize("seed", SEEDS)
def test_t_closeness_is_the_earth_mover_distance(seed, secret, ordered):
    table, quasi = released(seed), ("age", "town")
    by_hand = classes_by_hand(table, quasi)
    order = {"rank": ("low", "middle", "high")}.get(secret, tuple(map(str, range(10))) + REST[2].levels)
    whole = Counter(table.strings(secret))  # suppressed rows are released too
    values = [v for v in (*order, None) if v in whole]
    largest = 0.0
    for rows in by_hand:
        own = Counter(table.strings(secret)[rows])
        gaps = [own[v] / own.total() - whole[v] / whole.total() for v in values]
        if ordered:
            largest = max(largest, sum(abs(sum(gaps[: i + 1])) for i in range(len(gaps))) / (len(values) - 1))
        else:
            largest = max(largest, sum(map(abs, gaps)) / 2)
    assert criteria.t_closeness(Classes(table, quasi), secret, ordered=ordered) == pytest.approx(largest)


def covers(cell: Cell | str | None, value: object) -> bool:
    """Whether a released value could be this person's."""
    if cell is None or isinstance(cell, str):
        return cell == value
    if cell.span is None:
        return True
    return value is not None and (int(value) if isinstance(cell.span, Interval) else value) in cell.span


def people(seed: int, rows: int = 60) -> Table:
    """The population: plain values, some missing."""
    rng = np.random.default_rng(1000 + seed)
    age = np.where(rng.random(rows) < 0.1, MISSING_INTEGER, rng.integers(0, 30, rows))
    coded = {name: rng.integers(-1, most, rows).astype(np.int32) for name, most in (("town", 3), ("sex", 2))}
    return Table(Schema((AGE, TOWN, REST[0])), {"age": age, **coded})


@pytest.mark.parametrize("seed", SEEDS)
def test_k_map_counts_the_people_a_row_could_be(seed):
    table, population, quasi = released(seed), people(seed), ("age", "town", "sex")
    cells = {"age": (*AGE_CELLS, None), "town": (*TOWN_CELLS, None), "sex": ("f", "m", None)}
    fewest = population.rows
    for rows in classes_by_hand(table, quasi):
        released_cells = [cells[name][table[name][rows[0]]] for name in quasi]
        matching = zip(*(population.strings(name) for name in quasi), strict=True)
        fewest = min(fewest, sum(all(covers(c, v) for c, v in zip(released_cells, person, strict=True)) for person in matching))
    assert criteria.k_map(table, population, quasi) == fewest


def test_k_map_against_a_population_that_is_generalized_itself():
    """A person told as [10, 29] may be anywhere in it: only a cell that covers all of it matches, never its code number."""
    schema = Schema((AGE.generalize((AGE.interval_cell(Interval(0, 29)), *AGE_CELLS)),))
    population = Table(schema, {"age": np.array([0, 0, 1, 1, 1, 2, 3, 4, -1], np.int32)})
    for text, fewest in {"[0, 29]": 7, "[0, 9]": 4, "[10, 29]": 1, "5": 1}.items():
        table = Table(schema, {"age": np.array([schema["age"].levels.index(text)], np.int32)})
        assert criteria.k_map(table, population, ("age",)) == fewest, text
    plain = Table(Schema((AGE,)), {"age": np.array([5])})
    assert criteria.k_map(plain, population, ("age",)) == 1
    sampled = population.take(np.array([0, 2, 5]))
    assert criteria.k_map(sampled, population, ("age",)) == 1


FACTS = {"adult_k3.csv.gz": (3, 2837), "adult_k10.csv": (10, 462), "adult_k20.csv": (20, 89)}


@pytest.mark.parametrize("name", FACTS)
def test_known_facts_of_published_anonymized_tables(real_data: Path, name: str):
    """The tables that come with pyCANON: their k, their number of classes, and that a class has only one income."""
    path = real_data / "adult" / "anonymized_examples" / name
    if not path.is_file():
        pytest.skip(f"{name} is not in {path.parent.name}")
    quasi = ("age", "education", "occupation", "relationship", "sex", "native_country")
    table = io.read(path, Schema(tuple(Column(name=column, kind=Kind.CATEGORY) for column in (*quasi, "income"))))
    k, count = FACTS[name]
    measured = criteria.measure(table, quasi, ["income"])
    assert (measured["k"], measured["classes"], measured["suppressed"]) == (k, count, 0)
    assert measured["secrets"]["income"]["l_distinct"] == 1
    assert measured["secrets"]["income"]["l_entropy"] == pytest.approx(1.0)
    assert measured["secrets"]["income"]["l_recursive_c2"] == 1
    assert 0 < measured["secrets"]["income"]["t"] <= 1
