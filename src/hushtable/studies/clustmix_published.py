"""Table 1 of Madl et al. (2023), and why some of its numbers cannot be compared with ours.

T. Madl, W. Xu, O. Choudhury, M. Howard, Approximate, adapt, anonymize (3A): a framework for privacy preserving training data
release for machine learning, 2023.
"""

from __future__ import annotations

from collections.abc import Mapping

from hushtable.studies.lines import REAL

SOURCE = (
    "T. Madl, W. Xu, O. Choudhury, M. Howard, Approximate, adapt, anonymize (3A): a framework for privacy preserving training data "
    "release for machine learning, 2023, table 1"
)
DPGAN, PATEGAN, ADSGAN, DPMERF, CLUSTMIX = "DP-GAN", "PATE-GAN", "ADS-GAN", "dp-merf", "clustmix, averages (codes)"
_COLUMNS = (REAL, DPGAN, PATEGAN, ADSGAN, DPMERF, CLUSTMIX)
ADULT, MNIST = "adult", "MNIST"
TABLE: Mapping[str, Mapping[str, float]] = {
    name: dict(zip(_COLUMNS, values, strict=True))
    for name, values in {
        ADULT: (0.931, 0.511, 0.732, 0.821, 0.650, 0.863),
        "census": (0.952, 0.529, 0.544, 0.856, 0.686, 0.906),
        "credit": (0.973, 0.435, 0.739, 0.911, 0.772, 0.969),
        "isolet": (0.988, 0.618, 0.529, 0.924, 0.547, 0.903),
        "MIMIC-III mortality": (0.896, 0.632, 0.473, 0.530, 0.728, 0.749),
        "MIMIC-III length of stay": (0.728, 0.497, 0.501, 0.550, 0.508, 0.624),
        MNIST: (0.972, 0.403, 0.563, 0.710, 0.650, 0.818),
    }.items()
}
"""The area under the ROC curve, of MNIST the accuracy."""
LOST = {DPGAN: 0.402, PATEGAN: 0.337, ADSGAN: 0.162, DPMERF: 0.271, CLUSTMIX: 0.087}
"""The mean difference to the real rows."""
WHY_NOT: Mapping[str, str] = {
    "census": "census income (299,285 rows) is not to be had",
    "credit": "credit card fraud (284,807 rows) is not to be had",
    "isolet": "4,366 rows in two classes there, and how the letters became two classes is not said",
    "MIMIC-III mortality": "MIMIC-III is to be had on application only",
    "MIMIC-III length of stay": "MIMIC-III is to be had on application only",
    MNIST: "learned from 60,000 images there, and from 3,750 here",
}
OURS = "credit_card_default"
"""A second table, which is not in the publication, whose credit is card fraud."""
