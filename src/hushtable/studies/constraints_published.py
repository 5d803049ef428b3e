"""Tables 4.5 to 4.7 of Garg (2025), the constraints behind them, and why some numbers cannot be compared.

S. Garg, Bridging AI and Privacy, thesis, Umea University 2025, sections 4.6 and 4.7.
"""

from __future__ import annotations

from collections.abc import Mapping

from hushtable.studies.lines import REAL

SOURCE = "S. Garg, Bridging AI and Privacy, thesis, Umea University 2025, tables 4.5 to 4.7"
ADULT, CREDIT, SD2011 = "Adult", "Credit", "SD2011"
LIGHTGBM, XGBOOST, LINEAR = "LightGBM", "XGBoost", "linear"
"""Logistic regression where classes are predicted."""
PLAIN = ("CTGAN", "PCGAN", "CSGAN", "BNGAN")
PRIVATE = ("DP-PCGAN", "DP-CSGAN", "DP-BNGAN", "DPGAN", "PATEGAN", "ADSGAN")

_COLUMNS = (*PLAIN, REAL)
LEARNT: Mapping[str, Mapping[str, Mapping[str, float]]] = {
    ADULT: {
        LIGHTGBM: dict(zip(_COLUMNS, (0.75, 0.74, 0.70, 0.79, 0.87), strict=True)),
        XGBOOST: dict(zip(_COLUMNS, (0.75, 0.73, 0.69, 0.79, 0.86), strict=True)),
        LINEAR: dict(zip(_COLUMNS, (0.74, 0.74, 0.71, 0.78, 0.86), strict=True)),
    },
    CREDIT: {
        LIGHTGBM: dict(zip(_COLUMNS, (0.66, 0.61, 0.58, 0.74, 0.75), strict=True)),
        XGBOOST: dict(zip(_COLUMNS, (0.65, 0.62, 0.56, 0.68, 0.76), strict=True)),
        LINEAR: dict(zip(_COLUMNS, (0.67, 0.63, 0.59, 0.70, 0.74), strict=True)),
    },
    SD2011: {
        LIGHTGBM: dict(zip(_COLUMNS, (1207.35, 0.44, 0.48, 0.43, 1050.31), strict=True)),
        XGBOOST: dict(zip(_COLUMNS, (1236.80, 0.46, 0.50, 0.45, 1091.21), strict=True)),
        LINEAR: dict(zip(_COLUMNS, (1185.21, 0.43, 0.47, 0.42, 1015.82), strict=True)),
    },
}
"""Table 4.5: accuracy, and for SD2011 the RMSE of income, by who learns and from what."""
BNGAN_F1 = 0.66
"""On Adult, in the text; by whom it was learnt is not said."""
LEVELS: Mapping[str, Mapping[str, float]] = {
    ADULT: dict(zip(PLAIN, (0.3626, 0.4190, 0.3524, 0.3714), strict=True)),
    CREDIT: dict(zip(PLAIN, (0.6723, 0.6812, 0.6235, 0.6981), strict=True)),
    SD2011: dict(zip(PLAIN, (0.6684, 0.6915, 0.6123, 0.6780), strict=True)),
}
"""Table 4.6: the share of pairs of categories whose Cramer's V stays low, weak, middle or strong."""
PEARSON: Mapping[str, Mapping[str, float]] = {
    ADULT: dict(zip(PLAIN, (0.8581, 0.8843, 0.8718, 0.8932), strict=True)),
    CREDIT: dict(zip(PLAIN, (0.8642, 0.8714, 0.8312, 0.8711), strict=True)),
    SD2011: dict(zip(PLAIN, (0.9758, 0.9916, 0.9468, 0.9971), strict=True)),
}
"""Table 4.6: 1 less half the difference of the correlations of two numbers."""
PROTECTED: Mapping[str, Mapping[str, float]] = {
    ADULT: dict(zip(PRIVATE, (0.65, 0.67, 0.72, 0.54, 0.69, 0.71), strict=True)),
    CREDIT: dict(zip(PRIVATE, (0.62, 0.40, 0.66, 0.54, 0.96, 0.82), strict=True)),
    SD2011: dict(zip(PRIVATE, (0.48, 0.57, 0.51, 0.61, 0.58, 0.49), strict=True)),
}
"""Table 4.7: accuracy by LightGBM, and for SD2011 the RMSE of linear regression."""

CONSTRAINTS: Mapping[str, tuple[str, ...]] = {
    ADULT: ("age in 0..120",),
    CREDIT: (
        "age in 0..120",
        "credit_amount <= 5000 if purpose in {A45, A47}",
        "credit_amount <= 15000 if purpose = A49",
        "credit_amount <= 20000 if purpose = A46",
    ),
    SD2011: ("age in 0..120", "nociga = 0 if smoke = NO", "wkabdur >= 0 if workab = YES"),
}
"""What every record is to keep. Of Credit: repairs (A45) and vacation (A47), business (A49), education (A46)."""

SCALE = (
    "the source prints real rows and CTGAN in zloty and these on another scale, which it does not name; ours is in standard "
    "deviations of the real incomes"
)
ABOVE_REAL = "the published accuracy is above what the real rows teach (0.75), so it is not that of a test on real rows"
UNPROCESSED = (
    "the source did no pre-processing, so that -8 (not asked, not told) is a number there; ours is of the rows that have both "
    "values"
)
