"""The data sets by name: the bundled one, those of scikit-learn, real tables in a folder, and OpenML.

Schemas lie in ``schemas/``, one YAML file each; the data itself is never part of the project. The folder of the real tables is
the one the environment variable ``HUSHTABLE_DATA`` names, else ``../shared/data`` as seen from the working directory or from
the root of the project.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.error import URLError

from hushtable.data.people import people
from hushtable.display import meant
from hushtable.errors import Fault, InputError
from hushtable.table.columns import CODED, Column, Kind, Role
from hushtable.table.io import draft, read
from hushtable.table.schema import Schema
from hushtable.table.table import Table

if TYPE_CHECKING:
    import pandas as pd

VARIABLE = "HUSHTABLE_DATA"
SHARED = Path("..", "shared", "data")
OPENML = "openml:"


@dataclass(frozen=True)
class Files:
    """A real table: the files it is read from, one below the other, and the schema they share."""

    schema: str
    paths: tuple[str, ...]
    about: str


@dataclass(frozen=True)
class Toy:
    """A set that scikit-learn brings along, and what its target is called here."""

    target: str
    about: str


TOYS = {
    "breast_cancer": Toy("diagnosis", "569 tumours by thirty measures of their cell nuclei, malignant or benign"),
    "diabetes": Toy("progression", "442 patients with diabetes, and the progression of the disease after a year"),
    "iris": Toy("species", "150 flowers of three species"),
    "wine": Toy("cultivar", "178 wines of three cultivars"),
}
FILES = {
    "adult": Files(
        "adult",
        ("adult/adult_train.csv.gz", "adult/adult_test.csv.gz"),
        "Adult, US census 1994, train and test part: 48,842 people",
    ),
    "adult_train": Files("adult", ("adult/adult_train.csv.gz",), "Adult, train part: 32,561 people"),
    "adult_test": Files("adult", ("adult/adult_test.csv.gz",), "Adult, test part: 16,281 people"),
    "credit_approval": Files("credit_approval", ("credit_approval/crx.csv",), "690 requests for a credit card, columns unnamed"),
    "credit_card_default": Files(
        "credit_card_default", ("credit_card_default/credit_card_default.csv.gz",), "30,000 credit card clients, Taiwan 2005"
    ),
    "german_credit": Files("german_credit", ("german_credit/german_credit.csv",), "1,000 borrowers of a German bank"),
    "pima_diabetes": Files("pima_diabetes", ("pima_diabetes/pima_diabetes.csv",), "768 women tested for diabetes"),
    "sd2011": Files("sd2011", ("sd2011/sd2011.csv.gz",), "Social Diagnosis 2011, Poland: 5,000 people, 35 questions"),
    "texas_inpatient": Files("texas_inpatient", ("texas_inpatient/texas_inpatient.csv.gz",), "50,000 hospital stays, Texas 2013"),
}


def names(folder: str | Path | None = None) -> dict[str, str]:
    """Each name that ``load`` knows, with one line on what it is and whether it is to be had here."""
    root = data_folder(folder)
    listed = {"people": "census and health register of a fictional town, any number of rows (bundled)"}
    listed |= {name: f"{toy.about} (with scikit-learn)" for name, toy in TOYS.items()}
    for name, files in FILES.items():
        here = root is not None and all((root / path).is_file() for path in files.paths)
        listed[name] = f"{files.about} ({'here' if here else f'not here: set {VARIABLE}'})"
    listed[f"{OPENML}NAME_OR_ID"] = "any table of OpenML (needs a network)"
    return listed


def load(name: str, folder: str | Path | None = None) -> Table:
    """The data set of that name; ``folder`` is where the real tables lie, if not in the usual place.

    InputError says so if there is no such name, the folder or file is not there, or there is no network.
    """
    if name == "people":
        return people()
    if name in TOYS:
        return _toy(name)
    if name in FILES:
        return _files(FILES[name], folder)
    if name.startswith(OPENML):
        return _openml(name.removeprefix(OPENML))
    known = ("people", *TOYS, *FILES, f"{OPENML}NAME_OR_ID")
    near = meant(name, known)
    raise InputError(f"there is no data set {name!r}{near}; expected one of {', '.join(known)}", where="data set")


def schema_of(name: str) -> Schema:
    """The hand-written schema of that name, as it lies in ``schemas/``."""
    return Schema.load(Path(__file__).parent / "schemas" / f"{name}.yaml")


def data_folder(folder: str | Path | None = None) -> Path | None:
    """Where the real tables lie: as named, else by the environment, else in the usual places; None if nowhere."""
    named = folder or os.environ.get(VARIABLE)
    if named:
        return Path(named) if Path(named).is_dir() else None
    roots = [Path(), *(p for p in Path(__file__).resolve().parents if (p / "pyproject.toml").is_file())]
    return next((root / SHARED for root in roots if (root / SHARED).is_dir()), None)


def _files(files: Files, folder: str | Path | None) -> Table:
    root = data_folder(folder)
    if root is None:
        named = folder or os.environ.get(VARIABLE)
        reason = f"there is no folder {str(named)!r}" if named else f"there is no folder {SHARED}"
        raise InputError(
            f"{reason}; expected the environment variable {VARIABLE} to name the folder of the tables", where="data folder"
        )
    absent = [path for path in files.paths if not (root / path).is_file()]
    if absent:
        reason = f"the file is not in the data folder; expected it in the folder that {VARIABLE} names"
        raise InputError([Fault(path, reason) for path in absent])
    schema = schema_of(files.schema)
    return Table.concat([read(root / path, schema) for path in files.paths])


def _toy(name: str) -> Table:
    from sklearn import datasets

    loader = getattr(datasets, f"load_{name}")
    bunch = loader(as_frame=True, scaled=False) if name == "diabetes" else loader(as_frame=True)
    frame = bunch.frame.rename(columns=_plain_name).rename(columns={"target": TOYS[name].target})
    if "target_names" in bunch:
        frame[TOYS[name].target] = bunch.target_names[bunch.target.to_numpy()].astype(object)
    return read(frame, schema_of(name))


def _plain_name(name: str) -> str:
    return name.replace("(", "").replace(")", "").replace("/", "_").replace(" ", "_")


def _openml(name: str) -> Table:
    """Kinds and roles are drafted, except the target and the categories, which OpenML declares."""
    from sklearn.datasets import fetch_openml

    which = {"data_id": int(name)} if name.isdecimal() else {"name": name}
    where = f"{OPENML}{name}"
    try:
        bunch = fetch_openml(**which, as_frame=True, parser="auto", n_retries=1)
    except (URLError, TimeoutError, ConnectionError) as error:
        reason = (
            f"could not be fetched ({type(error).__name__}); expected a network connection to OpenML, or the table in its cache"
        )
        raise InputError(reason, where=where) from None
    except ValueError as error:
        raise InputError(f"OpenML has no such table that we can read: {error}", where=where) from None
    frame, targets = bunch.frame, bunch.target_names or []
    schema = draft(frame)
    columns = tuple(_openml_column(column, frame, column.name in targets) for column in schema)
    return read(frame, replace(schema, columns=columns))


def _openml_column(column: Column, frame: pd.DataFrame, target: bool) -> Column:
    if str(frame[column.name].dtype) == "category" and column.kind not in CODED:
        column = Column(name=column.name, kind=Kind.CATEGORY, role=Role.PLAIN if column.role is Role.IDENTIFIER else column.role)
    return replace(column, role=Role.TARGET) if target else column
