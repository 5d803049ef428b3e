"""The bundled table "people", the demo's town: the census and health register of a fictional town.

Written by us; no real person's data was used. It is made to be as awkward as real registers are: rare countries, diagnoses and
postcodes, heavy tails, heaped answers, weights entered in pounds, twins, birthdays entered as the first of January, and values
that are missing for a reason. The town is drawn in ``data.town``; ``town.census_numbers`` says which column leads to which.

The register was closed on the census day. Income is for a year, hours and alcohol for a week; ``admissions`` counts the stays in
hospital in the five years before, ``last_visit`` goes back ten years, and ``readmitted`` says whether in the year after somebody
came back to hospital within thirty days of a discharge. Children are not asked about work, income, smoking and drinking.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from hushtable.data.town import census_numbers as t
from hushtable.data.town import health_numbers as h
from hushtable.data.town.census import (
    CENSUS,
    COUNTRIES,
    POSTCODES,
    Town,
    Work,
    draw_education,
    draw_family,
    draw_names,
    draw_town,
    draw_work,
)
from hushtable.data.town.health import (
    DIAGNOSES,
    Body,
    Care,
    Habits,
    Risks,
    draw_body,
    draw_care,
    draw_diagnosis,
    draw_habits,
    draw_return,
)
from hushtable.errors import InputError
from hushtable.table.arrays import Array, Integers, Mask
from hushtable.table.columns import DAY, MISSING_CODE, MISSING_INTEGER, Bounds, Column, Kind, Levels, Role
from hushtable.table.hierarchy import DateTree, Hierarchy, PrefixTree
from hushtable.table.schema import Schema
from hushtable.table.table import Table

MONDAY = 4
"""Days since 1970 of the first Monday."""
NUMBER_STEP, NUMBER_COUNT = 1_618_033, 8_999_993
"""Coprime, so that multiples of the one modulo the other never repeat."""


def people(rows: int = 5000, seed: int = 0) -> Table:
    """The register with this many people; the same rows and seed give the same bits."""
    if not 1 <= rows <= NUMBER_COUNT:
        raise InputError(f"got {rows} rows; expected 1 to {NUMBER_COUNT:,}", where="people")
    rng = np.random.default_rng(seed)
    town = draw_town(rng, rows)
    names = draw_names(rng, town)
    education, refused = draw_education(rng, town)
    marital, household = draw_family(rng, town)
    work = draw_work(rng, town, education)
    habits = draw_habits(rng, town, education)
    body = draw_body(rng, town, education, habits)
    diagnosis = draw_diagnosis(rng, town, habits, body)
    care = draw_care(rng, town, diagnosis)
    back = draw_return(rng, town, care, Risks(diagnosis, habits.smoker, body.bmi, household, work.income))
    numbers = (int(rng.integers(NUMBER_COUNT)) + NUMBER_STEP * np.arange(rows)) % NUMBER_COUNT + 1_000_000
    arrays: dict[str, Array] = {
        "person_id": np.arange(rows, dtype=np.int32),
        "name": names[0].astype(np.int32),
        "birth_date": town.birth_day * DAY,
        "sex": _codes(town.sex),
        "postcode": _codes(town.postcode),
        "country_of_birth": _codes(town.country),
        "marital_status": _codes(marital),
        "education": _codes(education, ~refused),
        "household_size": household.astype(np.int64),
        **_work(work),
        **_health(habits, body, diagnosis),
        **_care(town, body, care),
        "readmitted": _codes(back),
    }
    texts = {"person_id": _words(f"P{number}" for number in numbers.tolist()), "name": _words(names[1])}
    return Table(people_schema(), arrays, texts)


def people_schema() -> Schema:
    """The schema of the register; every domain is declared by us and none is read off the rows."""
    return Schema(
        (
            Column(name="person_id", kind=Kind.KEY, role=Role.IDENTIFIER, required=True),
            Column(name="name", kind=Kind.KEY, role=Role.IDENTIFIER, required=True),
            _date(
                "birth_date",
                (t.FIRST_BIRTH, t.CENSUS_DAY),
                Role.QUASI,
                required=True,
                hierarchy=DateTree(("month", "year", "decade")),
            ),
            _levels("sex", t.SEXES, Role.QUASI, required=True),
            _levels("postcode", POSTCODES, Role.QUASI, required=True, hierarchy=PrefixTree((4, 3, 2))),
            _levels("country_of_birth", COUNTRIES, Role.QUASI, required=True),
            _levels("marital_status", t.MARITAL, Role.QUASI, required=True),
            _levels("education", t.EDUCATIONS, Role.QUASI, kind=Kind.ORDINAL),
            _levels("occupation", tuple(t.OCCUPATIONS), Role.QUASI),
            _whole("household_size", (1, t.HOUSEHOLD_LIMIT), required=True),
            _whole("weekly_hours", (0, t.HOURS_BOUNDS[1])),
            _whole("income", (0, t.INCOME_LIMIT), Role.SECRET),
            _real("height_cm", h.HEIGHT_BOUNDS),
            _real("weight_kg", h.WEIGHT_BOUNDS),
            _whole("systolic_bp", h.PRESSURE_BOUNDS),
            _levels("smoker", h.SMOKERS, kind=Kind.ORDINAL),
            _whole("alcohol_units", (0, h.DRINK_LIMIT)),
            _levels("diagnosis", DIAGNOSES, Role.SECRET, required=True),
            _whole("admissions", (0, h.ADMISSIONS_LIMIT), required=True),
            _date("last_visit", (t.FIRST_VISIT, t.CENSUS_DAY)),
            _levels("satisfaction", h.SATISFACTIONS, kind=Kind.ORDINAL),
            _levels("readmitted", ("no", "yes"), Role.TARGET, required=True),
        ),
        title="People of a fictional town",
    )


def _levels(
    name: str,
    levels: tuple[str, ...],
    role: Role = Role.PLAIN,
    *,
    kind: Kind = Kind.CATEGORY,
    required: bool = False,
    hierarchy: Hierarchy | None = None,
) -> Column:
    return Column(name=name, kind=kind, role=role, domain=Levels(levels), required=required, hierarchy=hierarchy)


def _whole(name: str, bounds: tuple[int, int], role: Role = Role.PLAIN, *, required: bool = False) -> Column:
    return Column(name=name, kind=Kind.INTEGER, role=role, domain=Bounds(*bounds), required=required)


def _real(name: str, bounds: tuple[int, int]) -> Column:
    return Column(name=name, kind=Kind.REAL, domain=Bounds(*bounds), decimals=1)


def _date(
    name: str, span: tuple[str, str], role: Role = Role.PLAIN, *, required: bool = False, hierarchy: Hierarchy | None = None
) -> Column:
    """A date from the first day of the span up to the day before the last."""
    first, end = (int(np.datetime64(day, "D").astype(np.int64)) for day in span)
    bounds = Bounds(first * DAY, (end - 1) * DAY)
    return Column(name=name, kind=Kind.DATE, role=role, domain=bounds, required=required, hierarchy=hierarchy)


def _work(work: Work) -> dict[str, Array]:
    return {
        "occupation": _codes(work.occupation, work.occupation_known),
        "weekly_hours": _wholes(work.hours, work.hours_known),
        "income": _wholes(work.income, work.income_known),
    }


def _health(habits: Habits, body: Body, diagnosis: Integers) -> dict[str, Array]:
    return {
        "height_cm": np.where(body.height_known, body.height, np.nan),
        "weight_kg": np.where(body.weight_known, body.weight, np.nan),
        "smoker": _codes(habits.smoker, habits.smoker_known),
        "alcohol_units": _wholes(habits.alcohol, habits.alcohol_known),
        "diagnosis": _codes(diagnosis),
    }


def _care(town: Town, body: Body, care: Care) -> dict[str, Array]:
    day = CENSUS - 1 - care.days
    weekend = np.maximum((day - MONDAY) % 7 - 4, 0)
    day = np.maximum(day - weekend, town.birth_day)
    return {
        "systolic_bp": _wholes(body.pressure, care.cuff),
        "admissions": care.admissions.astype(np.int64),
        "last_visit": _wholes(day * DAY, care.seen),
        "satisfaction": _codes(care.satisfaction, care.satisfaction_known),
    }


def _codes(codes: Integers | Mask, known: Mask | bool = True) -> Array:
    return np.where(known, codes, MISSING_CODE).astype(np.int32)


def _wholes(values: Integers, known: Mask) -> Array:
    return np.where(known, values, MISSING_INTEGER).astype(np.int64)


def _words(words: Iterable[str]) -> NDArray[np.object_]:
    return np.array([*words, ""], dtype=object)[:-1]
