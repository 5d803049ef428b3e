"""The numbers behind the health part of the table "people".

Written by us; no real person's data was used. ``census_numbers`` says which column leads to which; its conventions hold here too.
"""

from __future__ import annotations

SMOKERS = ("never", "former", "current")
SMOKER_KNOTS = (15, 20, 35, 55, 70, 90)
SMOKER_WEIGHTS = ((95, 1, 4), (73, 5, 22), (56, 17, 27), (46, 30, 24), (52, 36, 12), (66, 31, 3))
SMOKER_EDUCATION = -0.16
"""Per level of education above upper secondary, on the log-weight of having ever smoked."""
SMOKER_MALE = 0.35
SMOKER_UNSTATED = 0.02

DRINK_KNOTS = (15, 20, 35, 60, 80, 95)
DRINK_SHARE = (0.25, 0.75, 0.80, 0.78, 0.60, 0.40)
DRINK_UNITS = (3.0, 8.0, 7.0, 8.5, 6.0, 3.5)
"""Units of alcohol a week, on average, of those who drink."""
DRINK_FACTOR = {"never": 0.8, "former": 1.1, "current": 1.5}
DRINK_MALE = 1.6
DRINK_SPREAD = 0.9
DRINK_LIMIT = 150
DRINK_UNSTATED = 0.04
HEAVY_DRINK = 21

HEIGHTS = {"female": (166.0, 6.4), "male": (179.5, 7.0), "other": (172.0, 7.5)}
"""Mean and deviation of the height of a grown-up of thirty, in cm."""
HEIGHT_KNOTS = (30, 60, 95)
HEIGHT_COHORT = (0.0, -2.5, -8.5)
GROWTH_KNOTS = (0, 0.5, 1, 2, 4, 6, 8, 10, 12, 14, 16, 18)
GROWTH = {
    "female": (0.305, 0.40, 0.45, 0.53, 0.62, 0.70, 0.77, 0.84, 0.92, 0.975, 0.995, 1.0),
    "male": (0.285, 0.38, 0.42, 0.49, 0.575, 0.65, 0.715, 0.78, 0.84, 0.92, 0.98, 1.0),
    "other": (0.295, 0.39, 0.435, 0.51, 0.60, 0.675, 0.74, 0.81, 0.88, 0.95, 0.99, 1.0),
}
"""Share of the grown-up height that has been reached."""
HEIGHT_BOUNDS = (40, 220)

BMI_KNOTS = (0, 0.5, 1, 6, 12, 18, 30, 50, 65, 80, 95)
BMI_MEDIAN = (13.4, 17.0, 17.0, 15.6, 18.3, 22.2, 24.6, 26.6, 27.0, 26.0, 23.5)
BMI_NOISE = (0.08, 0.08, 0.08, 0.09, 0.13, 0.15, 0.16, 0.16, 0.15, 0.15, 0.14)
"""Deviation of the logarithm."""
BMI_EDUCATION = -0.018
BMI_SMOKER = {"never": 0.0, "former": 0.03, "current": -0.025}
BMI_SEVERE, BMI_SEVERE_FACTOR = 0.04, 1.35
"""Share of adults that is very heavy, and how much heavier."""
WEIGHT_BOUNDS = (2, 250)
POUNDS_SHARE, POUNDS = 0.0015, 2.2046
"""Share of adult weights that were entered in pounds, as happens."""
BODY_UNSTATED, BODY_UNSTATED_FRAIL, FRAIL_AGE = 0.015, 0.10, 85
WEIGHT_UNSTATED = 0.01
"""Height and weight are missing together (more often for the frail), weight now and then alone."""

PRESSURE_KNOTS = (0, 5, 18, 40, 60, 80, 95)
PRESSURE_MEAN = (82, 97, 115, 121, 132, 140, 137)
PRESSURE_NOISE = 12.0
PRESSURE_BMI, PRESSURE_MALE, PRESSURE_DRINK = 1.1, 3.0, 0.25
"""mmHg per unit of body mass above the usual for the age, for men, and per unit of alcohol a week (up to forty)."""
DRINK_CEILING = 40
PRESSURE_BOUNDS = (60, 250)
CUFF_KNOTS = (0, 8, 16, 30, 60)
CUFF_SHARE = (0.03, 0.15, 0.60, 0.80, 0.94)
"""Share of those seen in the last three years whose blood pressure was taken."""
CUFF_DAYS = 3 * 365

HEALTHY = "none"
DIAGNOSIS_KNOTS = (0, 15, 30, 45, 60, 75, 90)
DIAGNOSIS_COHORT = {
    "I10-I15 hypertension": (-11, -6.8, -4.6, -3.2, -2.2, -1.5, -1.4),
    "I20-I25 ischaemic heart disease": (-12, -11, -8.0, -5.0, -3.2, -1.9, -1.2),
    "E10-E14 diabetes": (-6.5, -5.6, -5.2, -4.2, -3.1, -2.6, -2.6),
    "J40-J47 asthma and chronic lung disease": (-3.4, -3.1, -3.5, -3.6, -3.0, -2.4, -2.3),
    "C00-C97 cancer": (-7.6, -7.4, -6.0, -4.4, -3.0, -2.1, -1.8),
    "F30-F39 mood disorder": (-9.0, -3.6, -2.7, -2.6, -3.0, -3.2, -3.2),
    "M00-M99 back and joints": (-7.0, -4.3, -3.2, -2.3, -1.7, -1.3, -1.2),
    "K70-K77 liver disease": (-9.0, -8.0, -6.6, -5.2, -4.8, -4.8, -5.2),
    "N17-N19 kidney failure": (-8.0, -7.5, -6.8, -5.9, -4.6, -3.3, -2.7),
    "F00-F03 dementia": (-99, -99, -99, -99, -6.0, -2.7, -0.4),
    "O00-O99 pregnancy and birth": (-99, -5.0, -2.0, -5.5, -99, -99, -99),
    "B20-B24 HIV disease": (-11, -8.0, -5.2, -5.0, -5.6, -6.8, -8.5),
    "E84 cystic fibrosis": (-6.8, -6.4, -6.8, -8.5, -12, -99, -99),
    "G12 motor neuron disease": (-12, -12, -10, -7.3, -5.9, -5.6, -6.2),
}
"""Log-weight of each group against no diagnosis; -99 is never."""
DIAGNOSIS_EFFECTS = {
    "I10-I15 hypertension": (0.35, 0.1, 0.1, 0.3, 0.45, 0.0),
    "I20-I25 ischaemic heart disease": (0.30, 0.9, 0.4, 0.1, 0.15, -0.6),
    "E10-E14 diabetes": (0.75, 0.2, 0.1, 0.0, 0.05, -0.2),
    "J40-J47 asthma and chronic lung disease": (0.10, 1.3, 0.8, 0.0, 0.0, 0.1),
    "C00-C97 cancer": (0.05, 0.8, 0.4, 0.2, 0.0, 0.0),
    "F30-F39 mood disorder": (0.10, 0.4, 0.1, 0.6, 0.0, 0.5),
    "M00-M99 back and joints": (0.30, 0.1, 0.1, 0.0, 0.0, 0.2),
    "K70-K77 liver disease": (0.25, 0.2, 0.1, 2.2, 0.0, -0.3),
    "N17-N19 kidney failure": (0.20, 0.2, 0.1, 0.0, 0.20, -0.2),
    "F00-F03 dementia": (0.0, 0.1, 0.0, 0.2, 0.0, 0.2),
    "O00-O99 pregnancy and birth": (0.0, -0.5, 0.1, -2.0, -0.1, 0.0),
    "B20-B24 HIV disease": (-0.2, 0.4, 0.1, 0.2, 0.0, -1.2),
    "E84 cystic fibrosis": (-0.8, -1.0, 0.0, 0.0, 0.0, 0.0),
    "G12 motor neuron disease": (-0.2, 0.1, 0.0, 0.0, 0.0, -0.2),
}
"""Effects of five units of body mass above 25, of smoking now, of having smoked, of heavy drinking, of ten mmHg above 125,
and of being a woman."""
WOMEN_ONLY = "O00-O99 pregnancy and birth"

ADMISSIONS_BASE, ADMISSIONS_SPREAD, ADMISSIONS_LIMIT = 0.22, 0.9, 40
ADMISSIONS_KNOTS = (0, 2, 10, 30, 60, 80, 95)
ADMISSIONS_AGE = (1.8, 1.2, 0.5, 0.7, 1.0, 1.9, 2.4)
ADMISSIONS_YEARS = 5
"""Stays in hospital in this many years before the census."""
SICKNESS = {
    HEALTHY: 1.0, "I10-I15 hypertension": 1.4, "I20-I25 ischaemic heart disease": 4.5, "E10-E14 diabetes": 2.6,
    "J40-J47 asthma and chronic lung disease": 3.2, "C00-C97 cancer": 6.0, "F30-F39 mood disorder": 1.8,
    "M00-M99 back and joints": 1.6,
    "K70-K77 liver disease": 5.0, "N17-N19 kidney failure": 7.0, "F00-F03 dementia": 3.0, "O00-O99 pregnancy and birth": 4.0,
    "B20-B24 HIV disease": 2.2, "E84 cystic fibrosis": 9.0, "G12 motor neuron disease": 6.0,
}  # fmt: skip
"""How many times more often a diagnosis leads to hospital."""

NEVER_KNOTS = (0, 5, 18, 30, 50, 70)
NEVER_SEEN = (0.02, 0.05, 0.12, 0.14, 0.08, 0.03)
"""Share, among those without a diagnosis, that saw no doctor in ten years; men half as often again."""
NEVER_MALE = 1.5
VISIT_KNOTS = (0, 5, 18, 30, 50, 70, 90)
VISIT_DAYS = (60, 220, 450, 520, 420, 210, 120)
"""Days since the last visit, on average, without a diagnosis."""
VISIT_SICK = 0.35
"""The same with a diagnosis, as a share of that."""

SATISFACTIONS = ("poor", "fair", "good", "very good", "excellent")
SATISFACTION_CUTS = (-1.7, -0.8, 0.2, 1.2)
SATISFACTION_AGE, SATISFACTION_STAY, SATISFACTION_RICH = 0.012, -0.35, 0.15
"""Per year of age above fifty, per square root of the stays in hospital, and per unit of prosperity of the district."""
SATISFACTION_UNSTATED, SATISFACTION_UNSTATED_YOUNG = 0.15, 0.35
YOUNG = 30

RETURN_BASE = -3.6
RETURN_KNOTS = (0, 3, 15, 40, 60, 75, 90)
RETURN_AGE = (0.6, 0.0, -0.7, -0.4, 0.3, 1.1, 1.5)
RETURN_STAY, RETURN_SICK, RETURN_ALONE = 1.15, 0.65, 0.6
"""Per square root of the stays in hospital, per logarithm of the sickness of the diagnosis, and for living alone when ill."""
RETURN_SMOKER, RETURN_OBESE, RETURN_UNHAPPY, RETURN_POOR = 0.5, 0.4, 0.6, 0.4
"""For smoking now, for a body mass above 30, for poor or fair satisfaction, and for an income below ``POOR``."""
OBESE, POOR = 30, 14_000
