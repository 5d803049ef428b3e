"""The tables of the study of constraints, as its source has them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from hushtable.studies.constraints_published import ADULT, CREDIT, SD2011
from hushtable.studies.held_out import HeldOut
from hushtable.studies.tables import table_of
from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.table import Table

FILES = {ADULT: "adult", CREDIT: "german_credit", SD2011: "sd2011"}
KEPT = (
    "age", "sex", "job", "housing", "savings_status", "checking_status", "credit_amount", "duration_months", "purpose", "class",
)  # fmt: skip
"""Of German Credit: six categories and four numbers."""
WOMEN = ("A92", "A95")
"""Who are women by personal_status_sex."""


def table(name: str, folder: Path | None) -> Table:
    """A table as the source describes it; InputError if it is not here."""
    found = table_of(FILES[name], folder)
    if name == CREDIT:
        return _credit(found)
    return _income(found) if name == SD2011 else found


@cache
def held_out(name: str, folder: Path | None, rows: int | None) -> HeldOut:
    """The same with a quarter held out."""
    found = table(name, folder)
    target = next(column.name for column in found.schema if column.role is Role.TARGET)
    return HeldOut.of(found, target, rows)


def _credit(found: Table) -> Table:
    """Cut to ten columns: sex alone, and the job as a number."""
    status = found.schema["personal_status_sex"]
    women = np.isin(found["personal_status_sex"], [status.levels.index(level) for level in WOMEN if level in status.levels])
    sex = Column(name="sex", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(("female", "male")), required=True)
    job = Column(name="job", kind=Kind.INTEGER, role=Role.QUASI, domain=Bounds(0, 3), required=True)
    found = found.with_columns((sex, np.where(women, 0, 1).astype(sex.dtype)), (job, job.from_floats(found["job"].astype(float))))
    return found.select(KEPT)


def _income(found: Table) -> Table:
    """Income is what is predicted."""
    columns = [replace(found.schema["income"], role=Role.TARGET), replace(found.schema["ls"], role=Role.PLAIN)]
    return found.under(found.schema.with_columns(*columns))
