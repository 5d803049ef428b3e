"""Make the reference for ``tests/oracle/test_phik.py`` with phik 0.12.5, in an environment of its own.

From scipy 1.16 on, phik integrates the normal pair by random points; before, as it was published, to machine precision. So:
pip install phik==0.12.5 'scipy<1.16' && python benchmarks/make_phik_oracle.py tests/oracle/data/phik.json
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

TABLES = {
    "two by two": [[30, 10], [5, 55]],
    "two by two, weak": [[26, 24], [20, 30]],
    "two by two, one row off": [[40, 0], [1, 39]],
    "perfect": [[40, 0, 0], [0, 25, 0], [0, 0, 35]],
    "wide and perfect": [[40, 0, 10, 0], [0, 25, 0, 7], [0, 0, 0, 0]],
    "independent": [[20, 40, 60], [10, 20, 30]],
    "long": [[9, 1, 4, 7, 0, 3, 8, 2, 5, 6, 1, 0], [2, 8, 3, 1, 9, 4, 0, 7, 3, 2, 8, 9]],
    "fewer rows than cells": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 1, 0, 0]],
}
ROWS = 400


def columns() -> dict[str, list]:
    """Columns of several kinds and strengths of dependence, some of them with missing values."""
    rng = np.random.default_rng(7)
    x, noise = rng.normal(size=(2, ROWS))
    strong, weak = 0.9 * x + np.sqrt(1 - 0.81) * noise, 0.3 * x + np.sqrt(1 - 0.09) * rng.normal(size=ROWS)
    bowl = x**2 + 0.3 * rng.normal(size=ROWS)
    group = np.searchsorted([-1.0, 0.0, 0.8], x)
    noisy = np.where(rng.random(ROWS) < 0.3, rng.integers(0, 4, ROWS), group)
    many = (group * 7 + rng.integers(0, 7, ROWS)) % 23
    spiked = np.where(rng.random(ROWS) < 0.8, 0.0, np.exp(3 + weak))
    holes = np.where(rng.random(ROWS) < 0.15, np.nan, np.round(strong, 2))
    return {
        "x": np.round(x, 3).tolist(),
        "strong": np.round(strong, 3).tolist(),
        "weak": np.round(weak, 3).tolist(),
        "bowl": np.round(bowl, 3).tolist(),
        "lone": np.round(rng.normal(size=ROWS), 3).tolist(),
        "spiked": np.round(spiked, 3).tolist(),
        "holes": [None if np.isnan(v) else float(v) for v in holes],
        "group": [f"g{v}" for v in group],
        "noisy": [None if rng.random() < 0.1 else f"n{v}" for v in noisy],
        "many": [f"m{v:02d}" for v in many],
        "coin": [f"c{v}" for v in rng.integers(0, 2, ROWS)],
    }


def main(path: str) -> None:
    """Write the tables, the columns and their phik."""
    import pandas as pd
    import phik
    import scipy
    from phik.phik import phik_from_hist2d

    values = columns()
    frame = pd.DataFrame(values)
    numbers = ["x", "strong", "weak", "bowl", "lone", "spiked", "holes"]
    matrix = phik.phik_matrix(frame, interval_cols=numbers, njobs=1, verbose=False)
    reference = {
        "versions": {"phik": phik.__version__, "scipy": scipy.__version__},
        "tables": {n: {"counts": t, "phik": float(phik_from_hist2d(np.array(_filled(t))))} for n, t in TABLES.items()},
        "columns": values,
        "numbers": numbers,
        "matrix": matrix.loc[list(values), list(values)].to_numpy().round(8).tolist(),
    }
    Path(path).write_text(json.dumps(reference) + "\n", encoding="utf-8")


def _filled(table: list[list[int]]) -> list[list[int]]:
    """Without empty rows and columns, as phik leaves them out when it counts a data frame."""
    counts = np.array(table)
    return counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0].tolist()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", help="the file to write")
    main(parser.parse_args().path)
