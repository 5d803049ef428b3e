"""Generated surveys of 24 and 40 columns with what makes real ones hard: codes that determine codes, zeros with a tail, gaps.

``DETERMINED`` names, for every column that follows from another, that other column. Capital gains, dividends and the like are
zero for most people and matter for the target, though hardly any row has one.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hushtable.table.columns import Bounds, Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

DETERMINED = {
    "density": "area", "region": "area", "industry_group": "industry", "sector": "industry", "occupation_group": "occupation",
    "education_years": "education", "age_group": "age", "diagnosis_chapter": "diagnosis", "second_group": "second_industry",
    "tariff_class": "tariff",
}  # fmt: skip
TARGET, BY = "well_off", "region"
Made = dict[str, tuple[Column, np.ndarray]]


def survey(rows: int, columns: int = 24, seed: int = 0) -> Table:
    """So many people; 24 or 40 columns, the first 24 the same in both."""
    if columns not in (24, 40):
        raise ValueError(f"a survey has 24 or 40 columns, got {columns}")
    rng = np.random.default_rng(seed)
    # What codes mean is fixed, whoever is drawn.
    code = np.random.default_rng(1789)
    made = _person(rows, rng, code)
    if columns == 40:
        made = _household(made, rows, rng, code)
    made[TARGET] = _target(made, rng)
    return Table(Schema(tuple(column for column, _ in made.values())), {name: array for name, (_, array) in made.items()})


def _person(n: int, rng: np.random.Generator, code: np.random.Generator) -> Made:
    age = np.clip(rng.gamma(6, 7.5, n), 16, 95).astype(np.int64)
    area = rng.choice(20, n, p=_decaying(20))
    area_region, area_density = np.sort(code.integers(0, 5, 20)), code.integers(0, 5, 20)
    education = np.clip(rng.normal(3.2 + 0.5 * (area_density[area] - 2) - 0.02 * (age - 45), 1.6), 0, 7).astype(np.int64)
    years = np.array([4, 8, 9, 10, 12, 14, 16, 19])
    employed = rng.random(n) < np.where((age > 18) & (age < 66), 0.72 + 0.03 * education, 0.1)
    industry = _drawn(rng, code, education * 2 + area % 2, 60)
    industry_group = np.sort(code.integers(0, 14, 60))
    sector = np.sort(code.integers(0, 4, 14))
    occupation = _drawn(rng, code, education * 4 + industry_group[industry] % 4, 40)
    occupation_group = np.sort(code.integers(0, 8, 40))
    sex = rng.integers(0, 2, n)
    marital = np.where(age < 24, 0, np.where(rng.random(n) < 0.6, 1, np.where((age > 65) & (rng.random(n) < 0.6), 3, 2)))
    hours = np.clip(rng.normal(38 + 3 * sex, 9, n), 1, 90).astype(np.int64)
    skill = rng.normal(0, 0.5, n) + 0.16 * education + 0.12 * (occupation_group[occupation] - 4) + 0.01 * np.minimum(age, 55)
    wage = np.clip(np.exp(6.6 + 0.55 * skill) * hours / 38, 50, 40_000)
    rich = rng.random(n) < _logistic(-2.9 + 0.9 * skill + 0.02 * (age - 45))
    gain = np.where(rich, np.clip(np.exp(rng.normal(8.3, 1.1, n)), 20, 99_999), 0)
    dividends = np.where(
        rng.random(n) < _logistic(-2.4 + 1.8 * rich + 0.6 * skill), np.clip(np.exp(rng.normal(6.5, 1.2, n)), 1, 50_000), 0
    )
    pension = np.where(age > 62, np.where(rng.random(n) < 0.85, np.clip(rng.normal(1300 + 300 * skill, 400), 100, 9_000), 0), 0)
    children = np.where((age > 22) & (age < 55), rng.poisson(0.4 + 0.5 * (marital == 1), n), 0).clip(0, 9)
    out, away = ~employed, rng.random(n) < 0.04
    return {
        "area": _coded("area", "A", area, 20, Role.QUASI),
        "density": _coded("density", "D", area_density[area], 5, kind=Kind.ORDINAL),
        "region": _coded("region", "R", area_region[area], 5, Role.QUASI),
        "sex": _coded("sex", "S", sex, 2, Role.QUASI),
        "age": _number("age", age, 16, 95, Role.QUASI),
        "age_group": _coded("age_group", "G", (age - 16) // 10, 8, kind=Kind.ORDINAL),
        "marital": _coded("marital", "M", marital, 4, Role.QUASI),
        "children": _number("children", children, 0, 9),
        "education": _coded("education", "E", education, 8, Role.QUASI, kind=Kind.ORDINAL),
        "education_years": _number("education_years", years[education], 0, 25),
        "employed": _coded("employed", "W", employed.astype(np.int64), 2),
        "industry": _coded("industry", "I", industry, 60, missing=out),
        "industry_group": _coded("industry_group", "N", industry_group[industry], 14, missing=out),
        "sector": _coded("sector", "T", sector[industry_group[industry]], 4, missing=out),
        "occupation": _coded("occupation", "O", occupation, 40, missing=out),
        "occupation_group": _coded("occupation_group", "P", occupation_group[occupation], 8, missing=out),
        "hours": _number("hours", hours, 1, 99, missing=out),
        "wage": _number("wage", wage, 0, 50_000, Role.SECRET, missing=out | away),
        "capital_gain": _number("capital_gain", gain, 0, 99_999, Role.SECRET),
        "dividends": _number("dividends", dividends, 0, 50_000, Role.SECRET),
        "pension": _number("pension", pension, 0, 10_000, Role.SECRET),
        "own_home": _coded("own_home", "H", (rng.random(n) < _logistic(0.05 * (age - 40) + 0.3 * skill)).astype(np.int64), 2),
        "commute": _number("commute", np.clip(rng.gamma(2, 14 + 4 * (area_density[area] < 2), n), 0, 180), 0, 180, missing=out),
    }


def _household(made: Made, n: int, rng: np.random.Generator, code: np.random.Generator) -> Made:
    age, education, sex = (made[name][1].astype(np.int64) for name in ("age", "education", "sex"))
    diagnosis = _drawn(rng, code, np.minimum(age // 12, 7) * 2 + sex, 80)
    chapter = np.sort(code.integers(0, 12, 80))
    second = _drawn(rng, code, education, 30)
    second_group = np.sort(code.integers(0, 9, 30))
    tariff = _drawn(rng, code, made["area"][1].astype(np.int64), 24)
    tariff_class = np.sort(code.integers(0, 5, 24))
    ill = rng.random(n) < _logistic(-2.2 + 0.04 * (age - 40))
    visits = np.where(ill, rng.poisson(4, n) + 1, np.where(rng.random(n) < 0.3, 1, 0)).clip(0, 40)
    nights = np.where(ill & (rng.random(n) < 0.3), rng.geometric(0.2, n), 0).clip(0, 90)
    cost = np.where(visits > 0, np.clip(np.exp(rng.normal(4.5, 0.8, n)) * visits + 450 * nights, 10, 200_000), 0)
    height = np.clip(rng.normal(165 + 13 * sex, 7), 130, 215)
    weight = np.clip(rng.normal(0.85 * (height - 85), 12), 35, 220)
    healthy = ~ill
    single = rng.random(n) < 0.8
    return made | {
        "household": _number("household", made["children"][1] + 1 + rng.integers(0, 3, n), 1, 14),
        "rooms": _number("rooms", np.clip(rng.poisson(3 + 0.3 * education), 1, 15), 1, 15),
        "heating": _coded("heating", "F", rng.choice(6, n, p=_decaying(6)), 6),
        "internet": _coded("internet", "B", (rng.random(n) < _logistic(3 - 0.04 * age + 0.2 * education)).astype(np.int64), 2),
        "diagnosis": _coded("diagnosis", "X", diagnosis, 80, Role.SECRET, missing=healthy),
        "diagnosis_chapter": _coded("diagnosis_chapter", "C", chapter[diagnosis], 12, missing=healthy),
        "visits": _number("visits", visits, 0, 40),
        "nights": _number("nights", nights, 0, 90),
        "cost": _number("cost", cost, 0, 200_000, Role.SECRET),
        "second_industry": _coded("second_industry", "J", second, 30, missing=single),
        "second_group": _coded("second_group", "K", second_group[second], 9, missing=single),
        "tariff": _coded("tariff", "U", tariff, 24),
        "tariff_class": _coded("tariff_class", "V", tariff_class[tariff], 5),
        "height": _number("height", height, 120, 220, missing=rng.random(n) < 0.05),
        "weight": _number("weight", weight, 30, 250, missing=rng.random(n) < 0.05),
        "smoker": _coded("smoker", "Y", (rng.random(n) < _logistic(-0.5 - 0.25 * (education - 3))).astype(np.int64), 2),
    }  # fmt: skip


def _target(made: Made, rng: np.random.Generator) -> tuple[Column, np.ndarray]:
    """Most of what decides is seldom there: a gain, a dividend, a pension; the wage, the home and the trade do the rest."""
    numbers = {name: made[name][1].astype(np.float64) for name in ("capital_gain", "dividends", "pension", "own_home")}
    wage = np.where(made["wage"][1] < 0, 0.0, made["wage"][1].astype(np.float64))
    group = made["occupation_group"][1]
    logit = (
        -5.2 + 0.0018 * wage + 4.5 * (numbers["capital_gain"] > 2_000) + 3.0 * (numbers["dividends"] > 500)
        + 0.0016 * numbers["pension"] + 1.2 * numbers["own_home"] + 1.5 * np.isin(group, (2, 6))
    )  # fmt: skip
    if "cost" in made:
        logit -= 2.5 * (made["cost"][1] > 2_000)
    return _coded(TARGET, "Q", (rng.random(len(wage)) < _logistic(logit)).astype(np.int64), 2, Role.TARGET)


def _drawn(rng: np.random.Generator, code: np.random.Generator, given: np.ndarray, size: int) -> np.ndarray:
    """A code for each row, from a law that depends on what is given: few codes are common, most are rare."""
    laws = code.dirichlet(np.full(size, 0.15) + 2 * _decaying(size), int(given.max()) + 40)
    ends = np.cumsum(laws, axis=1)
    return np.minimum((rng.random(len(given))[:, None] > ends[given]).sum(axis=1), size - 1)


def _decaying(size: int) -> np.ndarray:
    weights = 1 / np.arange(1, size + 1)
    return weights / weights.sum()


def _logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _coded(
    name: str, letter: str, codes: np.ndarray, size: int, role: Role = Role.PLAIN, *, kind: Kind = Kind.CATEGORY,
    missing: np.ndarray | None = None,
) -> tuple[Column, np.ndarray]:  # fmt: skip
    domain = Levels(tuple(f"{letter}{i + 1:02d}" for i in range(size)))
    values = codes if missing is None else np.where(missing, -1, codes)
    return Column(name=name, kind=kind, role=role, domain=domain, required=missing is None), values.astype(np.int32)


def _number(
    name: str, values: np.ndarray, low: int, high: int, role: Role = Role.PLAIN, missing: np.ndarray | None = None
) -> tuple[Column, np.ndarray]:
    whole = np.round(values).astype(np.int64).clip(low, high)
    if missing is not None:
        whole = np.where(missing, np.iinfo(np.int64).min, whole)
    return Column(name=name, kind=Kind.INTEGER, role=role, domain=Bounds(low, high), required=missing is None), whole


def broken(release: Table, determined: Mapping[str, str], known: Table) -> float:
    """The share of released rows in which a determined column is not what its parent implies, as real rows show it."""
    wrong = np.zeros(release.rows, np.bool_)
    for child, parent in determined.items():
        if child in release.schema and parent in release.schema:
            implied = dict(zip(known.strings(parent), known.strings(child), strict=True))
            both = zip(release.strings(parent), release.strings(child), strict=True)
            wrong |= np.array([implied.get(over, under) != under for over, under in both])
    return float(wrong.mean())


def with_lists(table: Table) -> Table:
    """The survey with its code lists declared; a code that no row has is given the first value."""
    schema = table.schema
    for name, by in DETERMINED.items():
        if name in schema and by in schema:
            values = _texts(schema[name])
            pairs = dict(zip(table.cells(by).tolist(), table.cells(name).tolist(), strict=True))
            codes = {}
            for cell, code in enumerate(_texts(schema[by])):
                value = pairs.get(cell, 0)
                codes[code] = values[value if value < len(values) else 0]
            schema = schema.with_determined(name, by, codes)
    return table.under(schema)


def _texts(column: Column) -> list[str]:
    if isinstance(column.domain, Bounds):
        return [str(value) for value in range(int(column.domain.low), int(column.domain.high) + 1)]
    return list(column.levels)
