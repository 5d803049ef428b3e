"""The bundled table: deterministic, true to its schema, and dependent where its tables say so."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hushtable.data.people import people, people_schema
from hushtable.errors import InputError
from hushtable.table import io
from hushtable.table.columns import Bounds, Kind, Role
from hushtable.table.roles import unique_share
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from hushtable.table.trees import build

CENSUS = pd.Timestamp("2024-01-01")


@pytest.fixture(scope="module")
def table() -> Table:
    return people(20_000, seed=5)


@pytest.fixture(scope="module")
def frame(table: Table) -> pd.DataFrame:
    frame = table.frame()
    for name in ("weekly_hours", "income", "systolic_bp", "alcohol_units"):
        frame[name] = table.floats(name)
    frame["age"] = (CENSUS - frame.birth_date).dt.days / 365.25
    frame["bmi"] = frame.weight_kg / (frame.height_cm / 100) ** 2
    return frame


def correlation(left: pd.Series, right: pd.Series) -> float:
    return float(left.astype(float).corr(right.astype(float)))


def test_same_seed_same_bits():
    one, two, other = people(500, seed=3), people(500, seed=3), people(500, seed=4)
    for name in one.schema.names:
        assert one[name].tobytes() == two[name].tobytes()
        assert list(one.strings(name)) == list(two.strings(name))
    assert one["birth_date"].tobytes() != other["birth_date"].tobytes()


def test_leaves_the_global_generator_alone():
    before = np.random.get_state()[1].tobytes()  # noqa: NPY002
    people(50)
    assert np.random.get_state()[1].tobytes() == before  # noqa: NPY002


@pytest.mark.parametrize("rows", [1, 2, 3, 17])
def test_few_rows(rows):
    assert people(rows, seed=rows).rows == rows


@pytest.mark.parametrize("rows", [0, -1])
def test_no_rows_is_refused(rows):
    with pytest.raises(InputError, match="expected 1 to"):
        people(rows)


def test_schema_is_declared_throughout():
    schema = people_schema()
    assert not [c.name for c in schema if c.observed]
    assert schema.role(Role.IDENTIFIER) == ("person_id", "name")
    assert schema.secrets == ("income", "diagnosis")
    assert schema.role(Role.TARGET) == ("readmitted",)
    assert len(schema.quasi) == 7
    assert {c.kind for c in schema} == set(Kind) - {Kind.TEXT}


def test_schema_survives_yaml():
    schema = people_schema()
    assert Schema.parse(schema.dump()) == schema


def test_arrays_are_coded_as_the_schema_says(table):
    dtypes = {Kind.REAL: np.float64, Kind.INTEGER: np.int64, Kind.DATE: np.int64}
    for column in table.schema:
        array = table[column.name]
        assert array.dtype == dtypes.get(column.kind, np.int32), column.name
        present = array[~column.is_missing(array)]
        if isinstance(column.domain, Bounds):
            assert column.domain.low <= present.min() <= present.max() <= column.domain.high
        else:
            assert 0 <= present.min() <= present.max() < len(table.words(column.name))
        assert not (column.required and len(present) < table.rows)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_written_table_reads_back_the_same(tmp_path, ending):
    output = people(2000, seed=1)
    path = tmp_path / f"people.{ending}"
    io.write(output, path)
    back = io.read(path, people_schema())
    assert back.schema == output.schema
    for name in output.schema.names:
        assert list(back.strings(name)) == list(output.strings(name)), name


def test_draft_of_the_written_table_is_close_to_the_declared_schema(tmp_path):
    io.write(people(2000, seed=1), tmp_path / "people.csv")
    draft, declared = io.draft(tmp_path / "people.csv"), people_schema()
    assert draft.role(Role.IDENTIFIER) == declared.role(Role.IDENTIFIER)
    assert set(draft.quasi) >= set(declared.quasi)
    assert set(draft.secrets) >= set(declared.secrets)
    odd = {c.name for c in declared if draft[c.name].kind is not c.kind}
    # Orders nobody can read off the words.
    assert odd == {"education", "smoker"}


def test_postcodes_climb_by_prefix():
    column = people_schema()["postcode"]
    assert 60 <= len(column.levels) <= 120
    assert [len(level.cells) for level in build(column)][1:] == [10, 2, 1]


def test_children_answer_no_questions_of_grown_ups(frame):
    child = frame[frame.age < 15]
    assert len(child) > 1000
    for name in ("occupation", "weekly_hours", "income", "smoker", "alcohol_units"):
        assert child[name].isna().all(), name
    assert (frame[frame.age < 18].marital_status == "single").all()
    assert (child.education <= "primary").all()
    assert (child.household_size >= 2).all()


def test_ages_fit_what_people_are(frame):
    assert frame[frame.education == "doctorate"].age.min() >= 28
    assert frame[frame.occupation == "physician"].age.min() >= 25
    assert (frame[frame.occupation == "physician"].education.dropna() >= "master").all()
    assert frame[frame.diagnosis.str.contains("dementia")].age.min() >= 45
    pregnant = frame[frame.diagnosis.str.contains("pregnancy")]
    assert (pregnant.sex == "female").all()
    assert pregnant.age.between(12, 55).all()
    assert frame[frame.marital_status == "widowed"].age.median() > 65
    assert frame[frame.weekly_hours > 0].age.max() < 90


def test_dates_are_in_order(frame):
    seen = frame.dropna(subset="last_visit")
    assert (seen.last_visit >= seen.birth_date).all()
    assert (seen.last_visit < CENSUS).all()
    weekend = seen[seen.last_visit > seen.birth_date].last_visit.dt.day_of_week >= 5
    assert not weekend.any()
    stayed = frame[frame.admissions > 0]
    assert stayed.last_visit.notna().all()


def test_grown_up_columns_depend_on_one_another(frame):
    adult = frame[frame.age >= 25]
    worker = adult[adult.weekly_hours > 0]
    assert correlation(adult.bmi, adult.systolic_bp) > 0.25
    assert correlation(adult.age, adult.systolic_bp) > 0.25
    assert correlation(worker.education.cat.codes, np.log1p(worker.income)) > 0.25
    assert correlation(worker.weekly_hours, worker.income) > 0.15
    assert adult.groupby("sex", observed=True).height_cm.mean().diff().loc["male"] > 10
    smokers = adult.groupby("smoker", observed=True).diagnosis.agg(lambda d: d.str.startswith("J40").mean())
    assert smokers["current"] > 2 * smokers["never"]
    heavy = adult.bmi > 32
    diabetes = adult.diagnosis.str.startswith("E10")
    assert diabetes[heavy].mean() > 2 * diabetes[~heavy].mean()


def test_places_differ(frame):
    district = frame.postcode.astype(str).str[:3]
    abroad = (frame.country_of_birth != "Averland").groupby(district).mean()
    assert abroad["472"] > 3 * abroad["482"]
    farmers = (frame.occupation == "farmer").groupby(district).mean()
    assert farmers["482"] > 3 * farmers["470"]
    assert frame.age.groupby(district).mean()["474"] < frame.age.groupby(district).mean()["475"] - 8


def test_missing_values_follow_other_columns(frame):
    adult = frame[frame.age >= 15]
    assert 0.03 < adult.income.isna().mean() < 0.07
    rich = adult.occupation.isin(["manager", "physician"])
    assert adult[rich].income.isna().mean() > 1.4 * adult[~rich].income.isna().mean()
    abroad = adult.country_of_birth != "Averland"
    assert adult[abroad].education.isna().mean() > 3 * adult[~abroad].education.isna().mean()
    assert frame[frame.last_visit.isna()].systolic_bp.isna().all()
    assert frame[frame.last_visit.isna()].satisfaction.isna().all()
    assert frame[frame.age < 8].systolic_bp.isna().mean() > 0.7
    assert frame[frame.age > 60].systolic_bp.isna().mean() < 0.15
    assert frame[frame.weight_kg.notna()].height_cm.notna().all()
    assert 0.2 < adult[adult.age > 67].occupation.isna().mean() < 0.6


def test_spikes_and_tails(frame):
    adult = frame[frame.age >= 15]
    shares = adult.weekly_hours.value_counts(normalize=True)
    assert list(shares.index[:2]) == [0, 40]
    assert shares[40] > 0.15
    income = adult.income.dropna()
    assert income.max() > 15 * income.median()
    assert (income % 100 == 0).mean() > 0.7
    assert frame.admissions.max() >= 8
    abroad = frame[frame.country_of_birth != "Averland"].birth_date
    assert ((abroad.dt.month == 1) & (abroad.dt.day == 1)).mean() > 0.04


def test_some_weights_were_entered_in_pounds(frame):
    tall = frame[(frame.age > 20) & frame.bmi.notna()]
    assert 0.0003 < (tall.bmi > 50).mean() < 0.01


def test_rare_levels_exist():
    table = people()
    for name in ("diagnosis", "country_of_birth"):
        shares = np.bincount(table[name], minlength=len(table.schema[name].levels)) / table.rows
        assert shares.min() > 0, name
        assert (shares < 0.003).sum() >= 3, name


def test_twins_share_their_quasi_identifiers(table, frame):
    groups, _ = table.groups(table.schema.quasi)
    repeated = np.bincount(groups)[groups] > 1
    assert 10 <= repeated.sum() <= 0.01 * table.rows
    family = frame.name.str.split().str[1]
    # Strangers agree on the quasi-identifiers by chance now and then, but hardly ever on the family name as well.
    homes = frame[repeated].groupby([groups[repeated], family[repeated]])
    twins = homes.filter(lambda pair: len(pair) == 2).index
    assert len(twins) > 0.5 * repeated.sum()
    assert (frame.loc[twins].age < 18).all()
    assert (frame.loc[twins].household_size >= 3).all()
    assert (frame.loc[twins].groupby(groups[twins]).household_size.nunique() == 1).all()


def test_almost_everybody_is_unique(table):
    assert unique_share(table.groups(table.schema.quasi)[0]) > 0.98
    assert unique_share(table.groups(("sex", "postcode"))[0]) < 0.01


def test_identifiers(table):
    assert len(set(table.strings("person_id"))) == table.rows
    names = table.strings("name")
    assert 0.5 * table.rows < len(set(names)) < table.rows
    assert all(len(name.split()) == 2 for name in names)


def test_target_can_be_predicted_but_not_perfectly(table):
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    names = [name for name in table.schema.released if name != "readmitted"]
    inputs = np.column_stack([np.where(table.missing(name), np.nan, table[name].astype(np.float64)) for name in names])
    target = table["readmitted"]
    half = table.rows // 2
    model = HistGradientBoostingClassifier(max_iter=80, learning_rate=0.06, random_state=0).fit(inputs[:half], target[:half])
    score = roc_auc_score(target[half:], model.predict_proba(inputs[half:])[:, 1])
    assert 0.75 < score < 0.85
    assert 0.08 < target.mean() < 0.18
