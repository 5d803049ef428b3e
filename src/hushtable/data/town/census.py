"""Who lives in the town, and what they do: the census part of the table "people", drawn column by column."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushtable.data.town import census_numbers as t
from hushtable.data.town.draws import by_age, pick, pick_alike, scale, yes
from hushtable.table.arrays import Floats, Integers, Mask

CENSUS = int(np.datetime64(t.CENSUS_DAY, "D").astype(np.int64))
FEMALE, MALE = t.SEXES.index("female"), t.SEXES.index("male")
POSTCODES = tuple(district + tail for district, row in t.DISTRICTS.items() for tail in row[0].split())
COUNTRIES = (t.HOME, *t.COUNTRIES)
EMPLOYED = t.STATES.index("employed")
NO_STATE = -1
"""The state of work of a child."""


@dataclass(frozen=True)
class Town:
    """One entry per person; codes point into the levels of ``census_numbers``. Nothing is missing yet, except where noted."""

    birth_day: Integers
    """Days since 1970."""
    sex: Integers
    postcode: Integers
    country: Integers
    prosperity: Floats
    rural: Floats
    home: Integers
    """Whose home it is: the row of the other twin, or the person's own."""

    @cached_property
    def age(self) -> Floats:
        """Years on the census day."""
        return (CENSUS - self.birth_day) / 365.25

    @property
    def adult(self) -> Mask:
        """Old enough for the questions to grown-ups."""
        return self.age >= t.ADULT

    @property
    def abroad(self) -> Mask:
        """Born in another country."""
        return self.country > 0


def draw_town(rng: np.random.Generator, rows: int) -> Town:
    """Birthdays, sexes, postcodes and countries of birth, with twins among the children."""
    band = pick_alike(rng, t.AGE_WEIGHTS, rows)
    days = np.floor((band + rng.random(rows)) * t.AGE_BAND * 365.25).astype(np.int64)
    birth_day = CENSUS - 1 - days
    age = days / 365.25
    sex = pick(rng, by_age(age, t.SEX_KNOTS, t.SEX_WEIGHTS))
    groups = np.searchsorted(t.DISTRICT_AGES, age, side="right")
    district = pick(rng, np.array([row[1] for row in t.DISTRICTS.values()]).T[groups])
    postcode = _postcode(rng, district)
    share = _by_district(district, 3) * np.where(age < t.DISTRICT_AGES[0], t.CHILD_ABROAD, 1.0)
    country = np.where(yes(rng, share), 1 + pick_alike(rng, list(t.COUNTRIES.values()), rows), 0)
    unknown = (country > 0) & yes(rng, np.full(rows, t.NEW_YEAR_BIRTHS))
    year = birth_day.astype("datetime64[D]").astype("datetime64[Y]")
    birth_day = np.where(unknown, year.astype("datetime64[D]").astype(np.int64), birth_day)
    twin, other = _twins(rng, age)
    for column in (birth_day, postcode, country, district):
        column[twin] = column[other]
    alike = yes(rng, np.full(len(twin), t.TWINS_ALIKE))
    sex[twin[alike]] = sex[other[alike]]
    home = np.arange(rows)
    home[twin] = other
    return Town(birth_day, sex, postcode, country, _by_district(district, 2), _by_district(district, 4), home)


def _by_district(district: Integers, entry: int) -> Floats:
    return np.array([row[entry] for row in t.DISTRICTS.values()], np.float64)[district]


def _postcode(rng: np.random.Generator, district: Integers) -> Integers:
    """A postcode of the district; the first of each district are the most crowded."""
    sizes = np.array([len(row[0].split()) for row in t.DISTRICTS.values()])
    first = np.cumsum(sizes) - sizes
    whole = 1.0 - t.POSTCODE_DECAY ** sizes[district]
    rank = np.floor(np.log1p(-rng.random(len(district)) * whole) / np.log(t.POSTCODE_DECAY)).astype(np.int64)
    return np.asarray(first[district] + np.minimum(rank, sizes[district] - 1), np.int64)


def _twins(rng: np.random.Generator, age: Floats) -> tuple[Integers, Integers]:
    """Pairs of children, disjoint: the first of a pair becomes the twin of the second."""
    children = rng.permutation(np.flatnonzero(age < t.TWIN_AGE))
    pairs = round(t.TWINS * len(children))
    return children[:pairs], children[pairs : 2 * pairs]


def draw_names(rng: np.random.Generator, town: Town) -> tuple[Integers, list[str]]:
    """A first and a family name for each person: codes, and the names they stand for."""
    families = [a + b for b in t.FAMILY_ENDS.split() for a in t.FAMILY_STARTS.split()]
    firsts = [[a + b for b in t.FIRST_ENDS[sex].split() for a in t.FIRST_STARTS.split()] for sex in t.SEXES]
    first = pick_alike(rng, _ranks(len(firsts[0])), len(town.sex))
    family = pick_alike(rng, _ranks(len(families)), len(town.sex))[town.home]
    used, codes = np.unique((town.sex * len(firsts[0]) + first) * len(families) + family, return_inverse=True)
    given = [name for names in firsts for name in names]
    return codes, [f"{given[code // len(families)]} {families[code % len(families)]}" for code in used.tolist()]


def _ranks(count: int) -> Floats:
    return np.power(np.arange(count, dtype=np.float64) + 5.0, -t.NAME_DECAY)


def draw_education(rng: np.random.Generator, town: Town) -> tuple[Integers, Mask]:
    """The highest level reached, and who did not state it."""
    latent = rng.standard_normal(len(town.sex)) + t.EDUCATION_PROSPERITY * town.prosperity
    latent += by_age(town.age, t.EDUCATION_KNOTS, t.EDUCATION_COHORT)
    reached = np.minimum(scale(latent, t.EDUCATION_CUTS), scale(town.age, t.EDUCATION_AGES))
    refused = yes(rng, np.where(town.abroad, t.EDUCATION_UNSTATED["abroad"], t.EDUCATION_UNSTATED["home"])) & town.adult
    return reached, refused


def draw_family(rng: np.random.Generator, town: Town) -> tuple[Integers, Integers]:
    """Marital status, and the number of people in the household."""
    women = by_age(town.age, t.MARITAL_KNOTS, t.MARITAL_WEIGHTS["female"])
    men = by_age(town.age, t.MARITAL_KNOTS, t.MARITAL_WEIGHTS["male"])
    status = pick(rng, np.where((town.sex == FEMALE)[:, None], women, men))
    pair = (status == t.MARITAL.index("married")) | (status == t.MARITAL.index("civil partnership"))
    more = by_age(town.age, t.HOUSEHOLD_KNOTS, t.HOUSEHOLD_ALONE)
    more = np.where(pair, by_age(town.age, t.HOUSEHOLD_KNOTS, t.HOUSEHOLD_PAIR), more)
    child = town.age < t.MARITAL_KNOTS[0]
    size = 1 + (pair | child) + rng.poisson(np.where(child, t.HOUSEHOLD_CHILD, more))
    hosts = town.home[town.home != np.arange(len(size))]
    size[hosts] = np.maximum(size[hosts], t.TWIN_HOUSEHOLD)
    return status, np.minimum(size[town.home], t.HOUSEHOLD_LIMIT)


@dataclass(frozen=True)
class Work:
    """The answers about work; ``occupation`` is missing where it says so, the rest is complete."""

    state: Integers
    """Position in ``STATES``, or ``NO_STATE`` for a child; it is not part of the table."""
    occupation: Integers
    occupation_known: Mask
    hours: Integers
    hours_known: Mask
    income: Integers
    income_known: Mask


def draw_work(rng: np.random.Generator, town: Town, education: Integers) -> Work:
    """Work, hours and income of the grown-ups; children have none."""
    rows = len(education)
    weights = by_age(town.age, t.STATE_KNOTS, t.STATE_WEIGHTS)
    weights[town.sex == FEMALE, t.STATES.index("at home")] *= t.AT_HOME_FEMALE
    state = np.where(town.adult, pick(rng, weights), NO_STATE)
    occupation = _occupation(rng, town, education)
    known = town.adult & yes(rng, np.array([*t.LAST_OCCUPATION.values(), 0.0])[state])
    hours = np.where(state == EMPLOYED, _hours(rng, town, occupation), 0)
    wage = _wage(rng, town, education, occupation, hours)
    income = _rounded(rng, np.where(state == EMPLOYED, wage, _support(rng, state)))
    refused = yes(rng, np.where(income > t.RICH, t.INCOME_UNSTATED_RICH, t.INCOME_UNSTATED))
    hours_known = town.adult & ~yes(rng, np.full(rows, t.HOURS_UNSTATED))
    return Work(state, occupation, known, hours, hours_known, income, town.adult & ~refused)


def _of_occupation(occupation: Integers, entry: int) -> Floats:
    return np.array([row[entry] for row in t.OCCUPATIONS.values()], np.float64)[occupation]


def _occupation(rng: np.random.Generator, town: Town, education: Integers) -> Integers:
    rows = list(t.OCCUPATIONS.values())
    weights = np.array([row[0] for row in rows], np.float64).T[education]
    weights *= np.where((town.sex == FEMALE)[:, None], [row[1] for row in rows], 1.0)
    weights *= np.exp(np.outer(town.rural, [row[2] for row in rows]))
    return pick(rng, weights * (town.age[:, None] >= [row[5] for row in rows]))


def _hours(rng: np.random.Generator, town: Town, occupation: Integers) -> Integers:
    rows = len(occupation)
    usual = np.round(rng.normal(_of_occupation(occupation, 4), t.HOURS_NOISE)).astype(np.int64)
    half = np.array([t.HALF_TIME_SHARE[sex] for sex in t.SEXES])[town.sex]
    chance = rng.random(rows)
    hours = np.where(chance < t.FULL_TIME_SHARE, t.FULL_TIME, np.where(chance > 1.0 - half, t.HALF_TIME, usual))
    return np.clip(hours, *t.HOURS_BOUNDS)


def _wage(rng: np.random.Generator, town: Town, education: Integers, occupation: Integers, hours: Integers) -> Floats:
    """Yearly income of somebody employed: log-normal around the occupation, with a Pareto tail in some."""
    rows = len(hours)
    middle = t.EDUCATIONS.index("vocational")
    log = _of_occupation(occupation, 3) + t.INCOME_EDUCATION * (education - middle) + t.INCOME_PROSPERITY * town.prosperity
    log += t.INCOME_FEMALE * (town.sex == FEMALE) + t.INCOME_BEND * (town.age - t.INCOME_PEAK) ** 2
    log += np.log(np.maximum(hours, 1) / t.FULL_TIME) + rng.normal(0.0, t.INCOME_NOISE, rows)
    lucky = yes(rng, np.array([t.FORTUNES.get(name, 0.0) for name in t.OCCUPATIONS])[occupation])
    return np.exp(log) * np.where(lucky, 1.0 + rng.pareto(t.FORTUNE_TAIL, rows), 1.0)


def _support(rng: np.random.Generator, state: Integers) -> Floats:
    """Yearly income of those who are not employed."""
    none = (0.0, 0.0, 1.0)
    mean, deviation, zeros = np.array([*(t.OTHER_INCOME.get(name, none) for name in t.STATES), none])[state].T
    return np.where(yes(rng, zeros), 0.0, np.exp(rng.normal(mean, deviation)))


def _rounded(rng: np.random.Generator, income: Floats) -> Integers:
    """Incomes as people state them: mostly in hundreds or thousands."""
    units, shares = np.array(t.INCOME_ROUNDING).T
    unit = units[pick_alike(rng, shares, len(income))]
    return np.asarray(np.minimum(np.round(income / unit) * unit, t.INCOME_LIMIT), np.int64)
