"""People of a survey under the short names of a census, drawn at random: nobody in it exists."""

from __future__ import annotations

import numpy as np
import pandas as pd


def survey(rows: int = 3000, seed: int = 0) -> pd.DataFrame:
    """Twenty-two columns of text, as such files have them: codes, ``N`` where a question does not apply, two weights."""
    rng = np.random.default_rng(seed)
    age = np.clip(rng.normal(40, 23, rows), 0, 99).astype(int)
    child = age < 15
    puma = rng.choice(30, rows, p=rng.dirichlet(np.full(30, 4.0)))
    income = np.round(rng.gamma(1.3, 30_000, rows), -1).astype(int)

    def codes(first: int, last: int, skew: float = 1.0) -> np.ndarray:
        return rng.choice(np.arange(first, last + 1), rows, p=rng.dirichlet(np.full(last - first + 1, skew))).astype(str)

    def adults(values: np.ndarray) -> np.ndarray:
        return np.where(child, "N", values.astype(str))

    return pd.DataFrame(
        {
            "PUMA": [f"25-{503 + 97 * code:05d}" for code in puma],
            "AGEP": age.astype(str),
            "SEX": codes(1, 2, 30),
            "MSP": adults(codes(1, 6, 3)),
            "HISP": codes(0, 4, 0.5),
            "RAC1P": codes(1, 9, 0.5),
            "NOC": codes(0, 5),
            "NPF": codes(2, 8, 2),
            "HOUSING_TYPE": codes(1, 3),
            "OWN_RENT": codes(0, 2, 3),
            "DENSITY": np.round(100 + 37.31 * puma, 1).astype(str),
            "INDP": adults(codes(170, 320)),
            "EDU": adults(codes(1, 12, 3)),
            "PINCP": adults(income),
            "PINCP_DECILE": adults(np.argsort(np.argsort(income)) * 10 // rows),
            "POVPIP": rng.integers(0, 501, rows).astype(str),
            "DVET": adults(codes(1, 6, 0.3)),
            "DREM": codes(1, 2, 2),
            "DPHY": codes(1, 2, 2),
            "DEYE": codes(1, 2, 2),
            "PWGTP": rng.integers(5, 300, rows).astype(str),
            "WGTP": rng.integers(5, 250, rows).astype(str),
        }
    )
