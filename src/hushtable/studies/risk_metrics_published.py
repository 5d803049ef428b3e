"""The numbers of chapter 4 of Plasencia Palacios (2025) as printed."""

from __future__ import annotations

from hushtable.studies.plasencia import ADULT, CENSUS, TEXAS
from hushtable.studies.plasencia_metrics import DCR, DISTANCE, DOMIAS, GTCAP, IMS, LEARNED, LINK, NEAR, RISKS, SINGLING

LEAKY, OVERFIT, SYNTHPOP, PRIVATE = "leaky", "overfit, RTF", "overfit, synthpop", "private, AIM"
DATA = (ADULT, TEXAS, CENSUS)

_PRINTED: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    IMS: (
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0010, 0.0, 0.0, 0.0037, 0.0, 0.0, 0.0),
        (1.0, 1.0, 1.0, 0.8684, 0.0162, 0.9428, 0.4377, 0.0, 0.1519, 0.0, 0.0, 0.0),
    ),
    DCR: (
        (0.0011, 0.0082, -0.0013, 0.0008, -0.0009, 0.0046, 0.0002, -0.0203, 0.0064, -0.0204, -0.0204, -0.0057),
        (1.0, 1.0, 1.0, 0.5325, 0.4783, 0.5700, 0.2933, -0.0204, 0.1115, -0.0204, -0.0204, -0.0019),
    ),
    SINGLING: (
        (0.0060, 0.0400, 0.0101, 0.0278, 0.0310, 0.0270, 0.0148, 0.0153, 0.0285, 0.0136, 0.0213, 0.0010),
        (0.9990, 0.9990, 0.9989, 0.7620, 0.6744, 0.7895, 0.4836, 0.0257, 0.1025, 0.0101, 0.0239, 0.0010),
    ),
    DOMIAS: (
        (0.0040, -0.0066, 0.0052, 0.0966, 0.0966, 0.0120, 0.0162, -0.0088, 0.0074, -0.0014, -0.0016, -0.0054),
        (0.5368, 0.0312, 0.3152, 0.3542, 0.1444, 0.2202, 0.2154, -0.0016, 0.0136, 0.0024, -0.0012, 0.0034),
    ),
    LINK: (
        (0.0015, 0.0116, 0.0030, 0.0004, 0.0111, 0.0035, 0.0015, 0.0015, 0.0065, 0.0, 0.0025, 0.0005),
        (0.6433, 0.9934, 0.6336, 0.2854, 0.3820, 0.2874, 0.1589, 0.0065, 0.0521, 0.0005, 0.0045, 0.0010),
    ),
    LEARNED: (
        (0.1570, 0.1904, 0.0052, 0.0077, 0.3370, 0.0060, 0.0887, 0.6611, 0.0, 0.0, 0.0, 0.0023),
        (0.4499, 0.9749, 0.1535, 0.3107, 0.7193, 0.1733, 0.2175, 0.4377, 0.0337, 0.0, 0.0, 0.0),
    ),
    DISTANCE: (
        (0.0835, 0.1312, 0.2153, 0.0665, 0.1262, 0.2013, 0.1086, 0.0887, 0.2159, 0.0176, 0.0177, 0.0229),
        (0.9922, 0.9920, 0.9579, 0.5945, 0.5557, 0.6393, 0.3621, 0.1161, 0.2857, 0.0241, 0.0229, 0.0244),
    ),
    GTCAP: (
        (0.0019, 0.0005, 0.0015, 0.0089, 0.0, 0.0012, 0.0817, 0.0, 0.0424, 0.0, 0.0, 0.0),
        (0.9665, 1.0, 0.9897, 0.5094, 0.0156, 0.8114, 0.4513, 0.0, 0.1516, 0.0, 0.0, 0.0),
    ),
}
"""Table 4.3: for each metric without inserted risk and with the most, by risk model and table."""
TABLE_4_3: dict[tuple[str, str, str], tuple[float, float]] = {
    (model, data, metric): (_PRINTED[metric][0][at], _PRINTED[metric][1][at])
    for metric in RISKS
    for at, (model, data) in enumerate((m, d) for m in (LEAKY, OVERFIT, SYNTHPOP, PRIVATE) for d in DATA)
}
SECONDS: dict[str, tuple[float, float, float]] = {
    IMS: (22.50, 66.30, 43.41),
    DCR: (6.91, 134.72, 83.35),
    NEAR: (6.91, 134.72, 83.35),
    DOMIAS: (2.11, 46.45, 68.45),
    LINK: (18.06, 103.01, 99.26),
    LEARNED: (0.35, 0.58, 0.45),
    DISTANCE: (163.23, 1380.70, 1603.49),
    GTCAP: (417.05, 2093.73, 5580.93),
}
"""Table 4.4, leaky risk model, by table; singling out is not in it."""
ERRORS = (
    "Table 4.3 does not name the generators of its columns. By the figures of the appendix 4 to 6 are REaLTabFormer, 7 to 9 "
    "synthpop, and 10 to 12 a private generator; that table 4.4 is about AIM says which.",
    "The caption of table 4.3 equates no risk of a private generator with epsilon 0; the least epsilon that was run is 1.",
    "The caption of table 4.3 speaks of asterisks, and the table has none. Singling out is printed as MLA, for MIA.",
    "ML inference has a risk of 0.157 (Adult) and 0.190 (Texas) on releases that hold no training row and were made from none: "
    "what is corrected by a control must be 0 there, up to chance. For synthpop on Texas it falls from 0.661 to 0.438.",
    "Of a number, ML inference is 1 minus a ratio of root mean square errors (eq. 4.7 in eq. 3.1): the few longest stays decide.",
    "Adult's target and the keys of the experiment on the radius of GTCAP are levels, on which a radius has no effect.",
    "Table 4.4 has the very same seconds for the distance, its form with k neighbours and MIA (D), and IMS, the equality of rows, "
    "takes three times as long as the distance on Adult, while table 4.2 calls its burden very low. ML inference takes 0.036 s "
    "once and 0.35 s otherwise.",
    "DOMIAS is measured on outliers among the training rows against any control rows: two kinds of people, whom a score may "
    "separate without any leak.",
)
"""What is wrong, or contradicts itself, in the source."""
