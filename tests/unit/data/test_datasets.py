"""Data sets by name: schemas that fit, clear errors, and the real tables where they are to be had."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest

from hushtable.data import datasets
from hushtable.data.datasets import FILES, TOYS, VARIABLE, load, names, schema_of
from hushtable.errors import InputError
from hushtable.table import io
from hushtable.table.columns import Kind, Levels, Role
from hushtable.table.roles import unique_share
from hushtable.table.table import Table

# Rows, share unique on the quasi-identifiers, and missing values by column, as the description of the folder states them.
KNOWN = {
    "adult_train": (32_561, 0.475, {"workclass": 1836, "occupation": 1843, "native_country": 583}),
    "adult_test": (16_281, None, {"workclass": 963, "occupation": 966, "native_country": 274}),
    "adult": (48_842, None, {"workclass": 2799, "occupation": 2809, "native_country": 857}),
    "credit_approval": (690, 0.916, {"A1": 12, "A2": 12, "A4": 6, "A5": 6, "A6": 9, "A7": 9, "A14": 13}),
    "credit_card_default": (30_000, 0.008, {}),
    "german_credit": (1000, 0.283, {}),
    "pima_diabetes": (768, 0.954, {"glucose": 5, "blood_pressure": 35, "skin_thickness": 227, "insulin": 374, "bmi": 11}),
    "sd2011": (5000, 0.907, None),
    "texas_inpatient": (50_000, 0.027, None),
}
TARGETS = {
    "adult_train": 24_720,
    "adult_test": 12_435,
    "credit_approval": 307,
    "credit_card_default": 23_364,
    "german_credit": 700,
    "pima_diabetes": 500,
}


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(datasets, "__file__", str(tmp_path / "datasets.py"))
    return tmp_path


def real(name: str) -> Table:
    if "not here" in names()[name]:
        pytest.skip(f"the data folder has no {name}: set {VARIABLE}")
    return load(name)


def target_of(table: Table) -> str:
    (target,) = table.schema.role(Role.TARGET)
    return target


def test_people_is_bundled(nowhere):
    assert load("people").rows == 5000


@pytest.mark.parametrize(
    ("name", "shape"), [("breast_cancer", (569, 31)), ("diabetes", (442, 11)), ("iris", (150, 5)), ("wine", (178, 14))]
)
def test_toys(name, shape):
    table = load(name)
    assert (table.rows, len(table.schema)) == shape
    assert target_of(table) == TOYS[name].target
    assert not any(table.missing(column).any() for column in table.schema.names)


@pytest.mark.parametrize("name", ["breast_cancer", "diabetes", "iris", "wine"])
def test_toys_keep_every_digit(name, tmp_path):
    table = load(name)
    io.write(table, tmp_path / "toy.csv")
    back = io.read(tmp_path / "toy.csv", table.schema)
    for column in table.schema.names:
        assert np.array_equal(back[column], table[column]), column


def test_toy_targets_mean_what_they_say():
    cancer = load("breast_cancer")
    malignant = cancer.strings("diagnosis") == "malignant"
    assert malignant.sum() == 212
    assert cancer.floats("mean_radius")[malignant].mean() > cancer.floats("mean_radius")[~malignant].mean()
    flowers = load("iris")
    assert flowers.floats("petal_length_cm")[flowers.strings("species") == "setosa"].max() < 2


@pytest.mark.parametrize("name", sorted({*TOYS, *(files.schema for files in FILES.values())}))
def test_schemas_have_one_target_and_declare_every_order(name):
    schema = schema_of(name)
    assert len(schema.role(Role.TARGET)) == 1
    # Quarters and coded groups of age are in order by themselves.
    open_orders = {c.name for c in schema if c.kind is Kind.ORDINAL and c.domain is None}
    assert open_orders <= {"discharge", "pat_age"}
    assert (name in TOYS) or schema.quasi


def test_every_schema_file_is_used():
    folder = Path(datasets.__file__).parent / "schemas"
    assert {path.stem for path in folder.glob("*.yaml")} == {*TOYS, *(files.schema for files in FILES.values())}


def test_adult_is_declared_throughout():
    assert not [c.name for c in schema_of("adult") if c.observed]


@pytest.mark.parametrize("name", KNOWN)
def test_real_tables(name):
    table = real(name)
    rows, unique, missing = KNOWN[name]
    assert table.rows == rows
    assert table.ignored == ()
    if unique is not None:
        assert unique_share(table.groups(table.schema.quasi)[0]) == pytest.approx(unique, abs=0.0005)
    if missing is not None:
        assert {c: int(table.missing(c).sum()) for c in table.schema.names if table.missing(c).any()} == missing
    if name in TARGETS:
        assert (table[target_of(table)] == 0).sum() == TARGETS[name]


def test_social_diagnosis_hides_no_code_among_its_numbers():
    table = real("sd2011")
    for name in ("unempdur", "income", "nofriend", "nociga", "wkabdur"):
        assert np.nanmin(table.floats(name)) >= 0
    assert table.missing("income").sum() == 683 + 603


def test_texas_codes_of_the_unknown_are_missing():
    table = real("texas_inpatient")
    assert table.missing("sex_code").sum() == 11
    assert table.missing("pat_state").sum() == 14 + 5
    assert table.missing("ethnicity").sum() == 180
    assert table.schema["pat_age"].levels[:3] == ("00", "01", "06")


def test_adult_parts_share_one_schema():
    whole, train = real("adult"), real("adult_train")
    assert whole.schema == train.schema
    assert np.array_equal(whole["age"][: train.rows], train["age"])


def test_unknown_name_lists_the_names():
    with pytest.raises(InputError, match=r"no data set 'adlut'.*people, breast_cancer.*adult_train.*texas_inpatient"):
        load("adlut")


def test_missing_folder_names_the_variable(nowhere):
    with pytest.raises(InputError, match=VARIABLE):
        load("adult")


def test_wrong_folder_is_named(nowhere, monkeypatch):
    with pytest.raises(InputError, match=f"no folder 'here'.*{VARIABLE}"):
        load("adult", "here")
    monkeypatch.setenv(VARIABLE, "there")
    with pytest.raises(InputError, match=f"no folder 'there'.*{VARIABLE}"):
        load("adult")


def test_missing_files_are_all_listed(nowhere):
    with pytest.raises(InputError) as caught:
        load("adult", nowhere)
    assert [fault.where for fault in caught.value.faults] == ["adult/adult_train.csv.gz", "adult/adult_test.csv.gz"]
    assert VARIABLE in str(caught.value)


def test_names_tell_what_is_here(nowhere, monkeypatch):
    listed = names()
    assert {"people", "openml:NAME_OR_ID", *TOYS, *FILES} == set(listed)
    assert all(f"not here: set {VARIABLE}" in listed[name] for name in FILES)
    assert all("\n" not in line for line in listed.values())
    (nowhere / "german_credit").mkdir()
    (nowhere / "german_credit" / "german_credit.csv").write_text("class\n1\n")
    monkeypatch.setenv(VARIABLE, str(nowhere))
    assert names()["german_credit"].endswith("(here)")
    assert "not here" in names()["adult"]


@pytest.mark.parametrize("place", ["argument", "environment", "working directory", "project"])
def test_folder_is_found(nowhere, monkeypatch, place):
    data = nowhere / "shared" / "data"
    (data / "pima_diabetes").mkdir(parents=True)
    lines = ["pregnancies,glucose,blood_pressure,skin_thickness,insulin,bmi,diabetes_pedigree,age,outcome"]
    lines += ["6,148,72,35,0,33.6,0.627,50,1", "1,85,66,29,94,0,0.351,31,0"]
    (data / "pima_diabetes" / "pima_diabetes.csv").write_text("\n".join(lines) + "\n")
    (nowhere / "main" / "src").mkdir(parents=True)
    monkeypatch.setattr(datasets, "schema_of", lambda name: SCHEMAS[name])
    if place == "environment":
        monkeypatch.setenv(VARIABLE, str(data))
    if place == "working directory":
        monkeypatch.chdir(nowhere / "main")
    if place == "project":
        (nowhere / "main" / "pyproject.toml").write_text("")
        monkeypatch.setattr(datasets, "__file__", str(nowhere / "main" / "src" / "datasets.py"))
    table = load("pima_diabetes", data if place == "argument" else None)
    assert list(table.strings("insulin")) == [None, "94"]
    assert list(table.strings("bmi")) == ["33.6", None]


SCHEMAS = {"pima_diabetes": schema_of("pima_diabetes")}


def test_openml_without_a_network(monkeypatch):
    def refuse(**_options: object) -> None:
        raise URLError("no route")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", refuse)
    with pytest.raises(InputError, match=r"openml:credit-g: could not be fetched .URLError.*network"):
        load("openml:credit-g")


def test_openml_without_such_a_table(monkeypatch):
    def refuse(**_options: object) -> None:
        raise ValueError("Dataset with data_id 99999999 not found.")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", refuse)
    with pytest.raises(InputError, match=r"openml:99999999: .*not found"):
        load("openml:99999999")


def test_openml_keeps_target_and_categories(monkeypatch):
    asked = {}
    frame = pd.DataFrame(
        {
            "age": [20, 31, 45, 52],
            "ward": pd.Categorical(["1", "2", "3", "2"]),
            "stage": pd.Categorical(["a", "?", "b", "b"]),
            "class": pd.Categorical(["1", "2", "1", "2"]),
        }
    )

    def answer(**options: object) -> SimpleNamespace:
        asked.update(options)
        return SimpleNamespace(frame=frame, target_names=["class"])

    monkeypatch.setattr("sklearn.datasets.fetch_openml", answer)
    table = load("openml:31")
    assert asked["data_id"] == 31
    assert target_of(table) == "class"
    assert table.schema["ward"].domain == Levels(("1", "2", "3"), observed=True)
    assert table.schema["age"].kind is Kind.INTEGER
    assert table.missing("stage").tolist() == [False, True, False, False]
    load("openml:credit-g")
    assert asked["name"] == "credit-g"
