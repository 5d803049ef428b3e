"""Make the reference for ``tests/oracle/test_utility_peers.py`` with SDMetrics and POT, in an environment of its own.

pip install sdmetrics==0.32.0 POT==0.9.7.post1 && python benchmarks/make_utility_oracle.py tests/oracle/data/utility.json
"""

from __future__ import annotations

import argparse
import json
from itertools import combinations
from pathlib import Path

import numpy as np

NUMBERS = ("age", "pay", "spiked", "holes")
LEVELS = ("town", "group", "many")


def columns(rows: int, seed: int, drift: float) -> dict[str, list]:
    """Numbers and levels that depend on one another; ``drift`` moves, bends and frees them."""
    rng = np.random.default_rng(seed)
    x, noise, other = rng.normal(size=(3, rows))
    x = x + drift
    pay = (0.7 - drift) * x + 0.7 * noise
    group = np.searchsorted([-1.0, 0.0, 0.8], x)
    town = np.where(rng.random(rows) < 0.4 + drift, rng.integers(0, 3, rows), np.minimum(group, 2))
    holes = np.where(rng.random(rows) < 0.1, np.nan, np.round(pay + other, 2))
    return {
        "age": np.clip(np.round(40 + 12 * x), 0, 99).astype(int).tolist(),
        "pay": np.round(np.exp(pay), 3).tolist(),
        "spiked": np.where(rng.random(rows) < 0.8, 0.0, np.round(np.exp(other), 2)).tolist(),
        "holes": [None if np.isnan(v) else float(v) for v in holes],
        "town": [f"t{v}" for v in town],
        "group": [f"g{v}" for v in group],
        "many": [f"m{v:02d}" for v in (group * 5 + rng.integers(0, 6, rows)) % 17],
    }


def main(path: str) -> None:
    """Write two tables and the peers' values for them."""
    import ot
    import pandas as pd
    import sdmetrics
    from sdmetrics.column_pairs import ContingencySimilarity, CorrelationSimilarity
    from sdmetrics.single_column import KSComplement, TVComplement

    tables = {"real": columns(240, 1, 0.0), "release": columns(190, 2, 0.3)}
    real, release = (pd.DataFrame(table) for table in tables.values())
    reference = {
        "versions": {"sdmetrics": sdmetrics.__version__, "POT": ot.__version__},
        "tables": tables,
        "KSComplement": {c: float(KSComplement.compute(real[c], release[c])) for c in NUMBERS},
        "TVComplement": {c: float(TVComplement.compute(real[c], release[c])) for c in LEVELS},
        "CorrelationSimilarity": [
            [*pair, float(CorrelationSimilarity.compute(real[[*pair]], release[[*pair]], coefficient="Pearson"))]
            for pair in combinations(NUMBERS, 2)
        ],
        "ContingencySimilarity": [
            [*pair, float(ContingencySimilarity.compute(real[[*pair]], release[[*pair]]))] for pair in combinations(LEVELS, 2)
        ],
        "wasserstein_1d": {
            c: float(ot.wasserstein_1d(real[c].dropna().to_numpy(float), release[c].dropna().to_numpy(float))) for c in NUMBERS
        },
    }
    Path(path).write_text(json.dumps(reference) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", help="the file to write")
    main(parser.parse_args().path)
