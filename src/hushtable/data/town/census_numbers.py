"""The numbers behind the table "people": a fictional town and its register of people, work and health.

Written by us; no real person's data was used, and the places, countries and names are invented. The shapes (ages, incomes,
blood pressures, who falls ill of what) are rough common knowledge about rich countries, and no estimate of anything.
Age tables hold one row per knot, linear in between. Effects on a chance are log-odds unless the name says otherwise.

Which column leads to which, in the order of drawing:

    birth_date -> sex -> postcode -> country_of_birth -> twins among the children -> name
    birth_date, postcode -> education;  birth_date, sex -> marital_status -> household_size
    birth_date, sex -> (studying, employed, retired ...; not in the table), which decides who has an occupation, hours and a wage
    education, sex, postcode, birth_date -> occupation -> weekly_hours -> income
    birth_date, sex, education -> smoker -> alcohol_units
    birth_date, sex, education, smoker -> height_cm, weight_kg;  these, sex, alcohol_units -> systolic_bp
    birth_date, sex, body mass, smoker, alcohol_units, systolic_bp -> diagnosis -> admissions -> last_visit
    birth_date, last_visit -> whether systolic_bp was taken;  admissions, birth_date, postcode -> satisfaction
    birth_date, diagnosis, admissions, satisfaction, smoker, body mass, household_size, income -> readmitted
"""

from __future__ import annotations

CENSUS_DAY = "2024-01-01"
FIRST_BIRTH = "1914-01-01"
FIRST_VISIT = "2014-01-01"
ADULT = 15
"""From this age on a person is asked about work, income, smoking and drinking; below, these are missing."""

AGE_BAND = 5
AGE_WEIGHTS = (5.0, 5.2, 5.1, 5.3, 6.2, 6.8, 6.6, 6.3, 6.0, 6.1, 6.6, 7.2, 7.0, 6.1, 5.1, 4.2, 3.2, 2.1, 0.9, 0.25, 0.03)
"""Weight of each band of five years of age, from birth to 104."""

SEXES = ("female", "male", "other")
SEX_KNOTS = (0, 50, 75, 90, 100)
SEX_WEIGHTS = ((48.6, 51.1, 0.3), (49.8, 49.9, 0.3), (55.0, 44.9, 0.1), (70.0, 30.0, 0.0), (82.0, 18.0, 0.0))

DISTRICTS = {
    "470": ("01 03 05 07 09 11 12 13 15 18", (5.0, 14.0, 9.0, 6.0), 0.3, 0.18, 0.0),
    "471": ("10 11 14 17 19 21 23 25 29", (9.0, 8.0, 9.0, 7.0), 0.5, 0.09, 0.0),
    "472": ("20 22 24 26 28 33 35 37 39 41 43", (16.0, 12.0, 13.0, 9.0), -0.5, 0.30, 0.0),
    "473": ("02 04 06 31 32 34 36 38", (12.0, 7.0, 11.0, 10.0), 0.0, 0.12, 0.0),
    "474": ("40 42 44 46 48 51 53 55 57", (6.0, 22.0, 6.0, 3.0), -0.2, 0.21, 0.0),
    "475": ("50 52 54 56 58 61", (7.0, 4.0, 8.0, 14.0), 1.0, 0.06, 0.0),
    "480": ("05 15 25 35 45 55 65 75", (14.0, 10.0, 13.0, 13.0), -0.1, 0.10, 0.3),
    "481": ("12 14 16 32 34 36 52 54 56 58", (13.0, 9.0, 13.0, 15.0), -0.2, 0.05, 1.0),
    "482": ("21 23 27 41 43 47 61 63 67", (10.0, 7.0, 10.0, 12.0), -0.3, 0.04, 1.6),
    "483": ("07 37 77", (1.0, 0.6, 1.2, 2.0), 0.6, 0.02, 2.2),
}
"""District -> last two digits of its postcodes, weights for ages below 18, 18-29, 30-64 and above, prosperity,
share of adults born abroad, and how rural it is."""
DISTRICT_AGES = (18, 30, 65)
POSTCODE_DECAY = 0.75
"""Each postcode of a district has this much of the weight of the one before."""

HOME = "Averland"
COUNTRIES = {
    "Belmora": 240, "Corvania": 185, "Dravia": 140, "Esterlund": 105, "Farosia": 84, "Galdora": 70, "Hestria": 55, "Ilmaria": 40,
    "Jorvenia": 28, "Kestria": 18, "Lumeria": 11, "Morvenna": 7, "Nerusia": 4, "Ostrania": 3, "Pelagia": 2, "Quorra": 1,
}  # fmt: skip
"""Weights among those born abroad; the last are rare enough to give a person away."""
CHILD_ABROAD = 0.25
"""A child is born abroad with this much of the chance of an adult of the district."""
NEW_YEAR_BIRTHS = 0.06
"""Share of those born abroad whose unknown birthday was entered as the first of January."""
TWINS = 0.012
TWINS_ALIKE = 0.65
"""Share of twins recorded with the same sex."""
TWIN_AGE = 18
"""Below it twins still live together, so that they agree on nearly every quasi-identifier."""

FIRST_STARTS = "Al Be Ca Da El Fi Ga He Is Jo Ka Li Ma Ni Or Pe Ro Sa Ti Ul Va Wi Yo Ze"
FIRST_ENDS = {
    "female": "lina ra nessa vie mira",
    "male": "rik dric mos vald tor",
    "other": "lin rik vie mos rin",
}
FAMILY_STARTS = (
    "Ash Birk Crom Dun Elder Fenn Garr Hal Ing Kell Lund Marr Nord Oak Pell Quill Rav Stel Thorn Under Vell Wester Yarr Alder Brem"
    " Corr Drey Esk Farn Glen"
)
FAMILY_ENDS = "berg dale ford gate holm hurst ing ker lane mere ness rop side stad thwaite vik wall wick worth yard"
NAME_DECAY = 0.6
"""The name of rank r has a weight of (r + 5) to this power, below one."""

EDUCATIONS = ("none", "primary", "lower secondary", "upper secondary", "vocational", "bachelor", "master", "doctorate")
EDUCATION_CUTS = (-2.4, -1.5, -0.75, -0.15, 0.7, 1.25, 2.15)
EDUCATION_PROSPERITY = 0.35
EDUCATION_KNOTS = (30, 60, 95)
EDUCATION_COHORT = (0.2, -0.1, -0.9)
EDUCATION_AGES = (12, 15, 18, 19, 22, 24, 28)
"""The age from which the next level can have been reached."""
EDUCATION_UNSTATED = {"home": 0.01, "abroad": 0.06}

MARITAL = ("single", "married", "civil partnership", "separated", "divorced", "widowed")
MARITAL_KNOTS = (18, 25, 35, 50, 65, 80, 95)
MARITAL_WEIGHTS = {
    "female": ((100, 0, 0, 0, 0, 0), (82, 16, 0.5, 1, 0.5, 0), (35, 53, 0.8, 4, 7, 0.2), (16, 61, 0.7, 4, 16.8, 1.5),
               (8, 63, 0.4, 2, 16.6, 10), (6, 40, 0.1, 1, 8.9, 44), (6, 9, 0, 0.5, 4.5, 80)),
    "male": ((100, 0, 0, 0, 0, 0), (89, 9.5, 0.5, 0.7, 0.3, 0), (45, 45, 0.8, 4, 5.1, 0.1), (21, 60, 0.7, 4, 13.8, 0.5),
             (10, 69, 0.4, 2, 15.6, 3), (6, 70, 0.1, 1, 7.9, 15), (5, 45, 0, 0.5, 4.5, 45)),
}  # fmt: skip
HOUSEHOLD_KNOTS = (18, 25, 38, 50, 62, 75, 90)
HOUSEHOLD_PAIR = (0.6, 0.8, 1.7, 1.2, 0.3, 0.05, 0.05)
"""Further people, on average, in the home of a couple."""
HOUSEHOLD_ALONE = (1.9, 0.8, 0.7, 0.5, 0.25, 0.15, 0.2)
"""Further people, on average, with somebody who is not part of a couple."""
HOUSEHOLD_CHILD = 1.6
"""Further people, on average, beside a child and one parent."""

TWIN_HOUSEHOLD = 3
"""The least home of twins."""
HOUSEHOLD_LIMIT = 12

STATES = ("student", "employed", "unemployed", "at home", "retired")
STATE_KNOTS = (15, 18, 22, 27, 40, 57, 63, 68, 76, 86)
STATE_WEIGHTS = ((97, 2, 0, 1, 0), (78, 18, 3, 1, 0), (40, 50, 7, 3, 0), (9, 80, 6, 5, 0), (1, 87, 5, 6, 1), (0, 80, 5, 8, 7),
                 (0, 55, 4, 7, 34), (0, 11, 0, 4, 85), (0, 2, 0, 2, 96), (0, 0, 0, 1, 99))  # fmt: skip
AT_HOME_FEMALE = 2.0
"""Women are at home this many times as often."""
LAST_OCCUPATION = {"student": 0.12, "employed": 0.985, "unemployed": 0.75, "at home": 0.35, "retired": 0.6}
"""Share that states an occupation, the last one for those who do not work."""

OCCUPATIONS = {
    "manager":               ((0, 1, 3, 6, 9, 17, 20, 12), 0.55, 0.0, 11.25, 47, 24),
    "engineer or scientist": ((0, 0, 0, 2, 6, 26, 34, 52), 0.45, 0.0, 11.05, 40, 21),
    "physician":             ((0, 0, 0, 0, 0, 0, 8, 22), 1.00, 0.0, 11.50, 48, 25),
    "nurse or carer":        ((2, 3, 5, 7, 9, 7, 2, 0), 3.50, 0.0, 10.55, 36, 17),
    "teacher":               ((0, 0, 0, 3, 4, 18, 20, 8), 2.40, 0.0, 10.85, 38, 22),
    "office clerk":          ((1, 3, 9, 22, 18, 18, 10, 3), 1.80, -0.2, 10.60, 38, 15),
    "sales":                 ((5, 9, 14, 17, 11, 6, 3, 1), 1.50, -0.1, 10.40, 36, 15),
    "hospitality":           ((9, 11, 11, 9, 5, 2, 1, 0), 1.30, -0.1, 10.20, 36, 15),
    "craft":                 ((9, 13, 16, 11, 18, 2, 0.5, 0), 0.12, 0.1, 10.65, 41, 15),
    "machine operator":      ((13, 15, 14, 8, 8, 1, 0.2, 0), 0.35, 0.1, 10.55, 40, 15),
    "driver":                ((12, 13, 12, 7, 5, 1, 0.2, 0), 0.10, 0.1, 10.45, 44, 18),
    "farmer":                ((6, 5, 3, 2, 2, 0.7, 0.3, 0), 0.50, 1.0, 10.25, 55, 15),
    "cleaner or labourer":   ((42, 26, 12, 5, 2, 1, 0.5, 0.2), 1.20, 0.0, 10.10, 32, 15),
    "armed forces":          ((0, 0.3, 0.6, 0.9, 0.5, 0.5, 0.4, 0), 0.15, 0.0, 10.75, 42, 18),
    "clergy":                ((0, 0, 0, 0.05, 0.05, 0.3, 0.8, 1.8), 0.60, 0.2, 10.50, 45, 24),
}  # fmt: skip
"""Occupation -> weights by education, factor for women, log-weight per unit of rurality, log of the usual yearly income,
the usual hours of the week, and the age from which it is open."""

FULL_TIME, FULL_TIME_SHARE = 40, 0.42
HALF_TIME, HALF_TIME_SHARE = 20, {"female": 0.22, "male": 0.05, "other": 0.14}
HOURS_NOISE = 7.0
HOURS_BOUNDS = (4, 90)
"""Hours of somebody employed; everybody else works none."""
HOURS_UNSTATED = 0.03

INCOME_EDUCATION, INCOME_PROSPERITY, INCOME_FEMALE = 0.08, 0.10, -0.10
INCOME_PEAK, INCOME_BEND = 52, -0.0005
"""Age of the highest wage, and the log-income lost per squared year before or after it."""
INCOME_NOISE = 0.33
FORTUNES, FORTUNE_TAIL = {"manager": 0.05, "physician": 0.03, "farmer": 0.01}, 1.7
"""Share of an occupation whose income is multiplied by a Pareto variable, and the exponent of that variable."""
OTHER_INCOME = {
    "student": (8.4, 0.8, 0.45),
    "unemployed": (9.3, 0.25, 0.05),
    "at home": (8.8, 0.8, 0.60),
    "retired": (9.85, 0.4, 0.01),
}
"""State -> mean and deviation of the log-income, and share of zeros."""
INCOME_ROUNDING = ((1, 0.15), (100, 0.55), (1000, 0.30))
INCOME_LIMIT = 2_000_000
INCOME_UNSTATED, INCOME_UNSTATED_RICH = 0.042, 0.15
"""Share that does not state the income: usually, and above the level that counts as rich."""
RICH = 70_000
