"""How they are: the health part of the table "people", drawn column by column after the census part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hushtable.data.town import health_numbers as h
from hushtable.data.town.census import FEMALE, MALE, Town
from hushtable.data.town.census_numbers import EDUCATIONS, SEXES
from hushtable.data.town.draws import by_age, counts, odds, pick, scale, yes
from hushtable.table.arrays import Floats, Integers, Mask

DIAGNOSES = (h.HEALTHY, *h.DIAGNOSIS_COHORT)
CURRENT = h.SMOKERS.index("current")
FORMER = h.SMOKERS.index("former")
MIDDLE_EDUCATION = EDUCATIONS.index("upper secondary")
YEAR = 365
TEN_YEARS = 10 * YEAR


@dataclass(frozen=True)
class Habits:
    """Smoking and drinking; a child does neither."""

    smoker: Integers
    smoker_known: Mask
    alcohol: Integers
    alcohol_known: Mask


def draw_habits(rng: np.random.Generator, town: Town, education: Integers) -> Habits:
    """Smoking by age, sex and education; drinking by age, sex and smoking."""
    rows = len(education)
    male = town.sex == MALE
    weights = by_age(town.age, h.SMOKER_KNOTS, h.SMOKER_WEIGHTS)
    weights[:, 1:] *= np.exp(h.SMOKER_EDUCATION * (education - MIDDLE_EDUCATION) + h.SMOKER_MALE * male)[:, None]
    smoker = np.where(town.adult, pick(rng, weights), 0)
    drinks = town.adult & yes(rng, by_age(town.age, h.DRINK_KNOTS, h.DRINK_SHARE))
    mean = by_age(town.age, h.DRINK_KNOTS, h.DRINK_UNITS) * np.array([h.DRINK_FACTOR[s] for s in h.SMOKERS])[smoker]
    units = counts(rng, mean * np.where(male, h.DRINK_MALE, 1.0), h.DRINK_SPREAD)
    smoker_known = town.adult & ~yes(rng, np.full(rows, h.SMOKER_UNSTATED))
    alcohol_known = town.adult & ~yes(rng, np.full(rows, h.DRINK_UNSTATED))
    return Habits(smoker, smoker_known, np.where(drinks, np.minimum(units, h.DRINK_LIMIT), 0), alcohol_known)


@dataclass(frozen=True)
class Body:
    """Measures of the body. ``bmi`` is the true body mass index, before any slip in entering the weight."""

    height: Floats
    height_known: Mask
    weight: Floats
    weight_known: Mask
    bmi: Floats
    pressure: Integers


def draw_body(rng: np.random.Generator, town: Town, education: Integers, habits: Habits) -> Body:
    """Height grows with age and cohort; body mass follows age, education and smoking; pressure follows body mass and drink."""
    rows, age = len(education), town.age
    height = _measured(_height(rng, town), h.HEIGHT_BOUNDS)
    usual = by_age(age, h.BMI_KNOTS, h.BMI_MEDIAN)
    log = by_age(age, h.BMI_KNOTS, h.BMI_NOISE) * rng.standard_normal(rows)
    log += np.where(town.adult, h.BMI_EDUCATION * (education - MIDDLE_EDUCATION), 0.0)
    log += np.array([h.BMI_SMOKER[s] for s in h.SMOKERS])[habits.smoker]
    severe = town.adult & yes(rng, np.full(rows, h.BMI_SEVERE))
    bmi = usual * np.exp(log) * np.where(severe, h.BMI_SEVERE_FACTOR, 1.0)
    weight = bmi * (height / 100.0) ** 2
    weight[town.adult & yes(rng, np.full(rows, h.POUNDS_SHARE))] *= h.POUNDS
    missing = yes(rng, np.where(age > h.FRAIL_AGE, h.BODY_UNSTATED_FRAIL, h.BODY_UNSTATED))
    alone = yes(rng, np.full(rows, h.WEIGHT_UNSTATED))
    pressure = (
        by_age(age, h.PRESSURE_KNOTS, h.PRESSURE_MEAN) + h.PRESSURE_BMI * (bmi - usual) + h.PRESSURE_MALE * (town.sex == MALE)
    )
    pressure += h.PRESSURE_DRINK * np.minimum(habits.alcohol, h.DRINK_CEILING) + rng.normal(0.0, h.PRESSURE_NOISE, rows)
    pressure = np.round(np.clip(pressure, *h.PRESSURE_BOUNDS)).astype(np.int64)
    return Body(height, ~missing, _measured(weight, h.WEIGHT_BOUNDS), ~(missing | alone), bmi, pressure)


def _measured(values: Floats, bounds: tuple[int, int]) -> Floats:
    """As it stands on the scale: to a tenth, inside the bounds."""
    return np.asarray(np.round(np.clip(values, *bounds), 1), np.float64)


def _height(rng: np.random.Generator, town: Town) -> Floats:
    mean, deviation = np.array([h.HEIGHTS[sex] for sex in SEXES])[town.sex].T
    grown = mean + deviation * rng.standard_normal(len(mean)) + by_age(town.age, h.HEIGHT_KNOTS, h.HEIGHT_COHORT)
    reached = np.stack([by_age(town.age, h.GROWTH_KNOTS, h.GROWTH[sex]) for sex in SEXES], axis=1)
    return np.asarray(grown * reached[np.arange(len(mean)), town.sex])


def draw_diagnosis(rng: np.random.Generator, town: Town, habits: Habits, body: Body) -> Integers:
    """The main diagnosis, by age, body mass, smoking, drinking, blood pressure and sex."""
    causes = np.stack(
        [
            np.where(town.adult, (body.bmi - 25.0) / 5.0, 0.0),
            habits.smoker == CURRENT,
            habits.smoker == FORMER,
            habits.alcohol > h.HEAVY_DRINK,
            np.where(town.adult, (body.pressure - 125) / 10.0, 0.0),
            town.sex == FEMALE,
        ],
        axis=1,
    )
    names = DIAGNOSES[1:]
    log = by_age(town.age, h.DIAGNOSIS_KNOTS, np.array([h.DIAGNOSIS_COHORT[name] for name in names]).T)
    log += causes @ np.array([h.DIAGNOSIS_EFFECTS[name] for name in names]).T
    weights = np.exp(log)
    weights[town.sex != FEMALE, names.index(h.WOMEN_ONLY)] = 0.0
    return pick(rng, np.column_stack([np.ones(len(log)), weights]))


@dataclass(frozen=True)
class Care:
    """What the health service knows. ``days`` is the time since the last visit, and counts only where ``seen``."""

    admissions: Integers
    days: Integers
    seen: Mask
    cuff: Mask
    satisfaction: Integers
    satisfaction_known: Mask


def draw_care(rng: np.random.Generator, town: Town, diagnosis: Integers) -> Care:
    """Stays and visits by age and diagnosis; nobody was seen before birth, and who stayed in hospital was seen."""
    rows, age = len(diagnosis), town.age
    sick = diagnosis > 0
    lived = np.maximum(np.floor(age * 365.25), 1.0)
    mean = h.ADMISSIONS_BASE * by_age(age, h.ADMISSIONS_KNOTS, h.ADMISSIONS_AGE) * _sickness(diagnosis)
    mean *= np.sqrt(np.minimum(age / h.ADMISSIONS_YEARS, 1.0))
    admissions = np.minimum(counts(rng, mean, h.ADMISSIONS_SPREAD), h.ADMISSIONS_LIMIT)
    wait = by_age(age, h.VISIT_KNOTS, h.VISIT_DAYS) * np.where(sick, h.VISIT_SICK, 1.0)
    days = rng.exponential(wait)
    days = np.where(admissions > 0, np.minimum(days, rng.random(rows) * h.ADMISSIONS_YEARS * YEAR), days)
    days = np.where(days >= lived, rng.random(rows) * lived, days)
    never = by_age(age, h.NEVER_KNOTS, h.NEVER_SEEN) * np.where(town.sex == MALE, h.NEVER_MALE, 1.0)
    seen = sick | (admissions > 0) | ~yes(rng, never)
    seen &= days < TEN_YEARS
    cuff = seen & (days < h.CUFF_DAYS) & yes(rng, by_age(age, h.CUFF_KNOTS, h.CUFF_SHARE))
    latent = rng.standard_normal(rows) + h.SATISFACTION_AGE * (age - 50.0) + h.SATISFACTION_STAY * np.sqrt(admissions)
    satisfaction = scale(latent + h.SATISFACTION_RICH * town.prosperity, h.SATISFACTION_CUTS)
    refused = yes(rng, np.where(age < h.YOUNG, h.SATISFACTION_UNSTATED_YOUNG, h.SATISFACTION_UNSTATED))
    return Care(admissions, days.astype(np.int64), seen, cuff, satisfaction, seen & ~refused)


def _sickness(diagnosis: Integers) -> Floats:
    return np.array([h.SICKNESS[name] for name in DIAGNOSES])[diagnosis]


@dataclass(frozen=True)
class Risks:
    """What the return to hospital depends on beside age and care."""

    diagnosis: Integers
    smoker: Integers
    bmi: Floats
    household_size: Integers
    income: Integers


def draw_return(rng: np.random.Generator, town: Town, care: Care, risks: Risks) -> Mask:
    """Whether somebody came back to hospital within thirty days of a discharge in the year after the census."""
    logit = h.RETURN_BASE + by_age(town.age, h.RETURN_KNOTS, h.RETURN_AGE)
    logit += h.RETURN_STAY * np.sqrt(care.admissions) + h.RETURN_SICK * np.log(_sickness(risks.diagnosis))
    logit += h.RETURN_ALONE * ((risks.household_size == 1) & (risks.diagnosis > 0))
    logit += h.RETURN_SMOKER * (risks.smoker == CURRENT) + h.RETURN_OBESE * (town.adult & (risks.bmi > h.OBESE))
    logit += h.RETURN_UNHAPPY * (care.seen & (care.satisfaction <= h.SATISFACTIONS.index("fair")))
    logit += h.RETURN_POOR * (town.adult & (risks.income < h.POOR))
    return yes(rng, odds(logit))
