"""Make the reference for ``tests/oracle/test_mbi.py`` with mbi 2.0.0 (private-pgm), in an environment of its own.

pip install mbi==2.0.0 && python benchmarks/make_mbi_oracle.py tests/oracle/data/mbi.json
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

PROBLEMS = {
    "tree": ({"a": 3, "b": 4, "c": 2, "d": 3}, [("a",), ("b",), ("a", "b"), ("b", "c"), ("b", "d")]),
    "loop": ({"a": 3, "b": 2, "c": 4, "d": 2}, [("a",), ("c",), ("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")]),
    "triples": (
        {"a": 2, "b": 3, "c": 3, "d": 2, "e": 4, "f": 2},
        [("a",), ("e",), ("a", "b", "c"), ("c", "d"), ("d", "e"), ("b", "e"), ("e", "f")],
    ),
}
TOTAL = 2000.0
STEPS = 10_000


def problem(number: int, sizes: dict[str, int], asked: list[tuple[str, ...]]) -> list[dict]:
    """Noisy marginals of a random distribution."""
    rng = np.random.default_rng(number)
    names = list(sizes)
    truth = TOTAL * rng.dirichlet(np.full(int(np.prod(list(sizes.values()))), 0.4)).reshape(list(sizes.values()))
    measured = []
    for columns in asked:
        sigma = float(rng.choice([10.0, 20.0, 40.0]))
        exact = truth.sum(axis=tuple(i for i, n in enumerate(names) if n not in columns))
        counts = np.round(exact + rng.normal(0, sigma, exact.shape))
        measured.append({"columns": columns, "sigma": sigma, "counts": counts.tolist()})
    return measured


def main(path: str) -> None:
    """Fit each problem with mirror descent and write the marginals."""
    import jax

    jax.config.update("jax_enable_x64", True)
    from mbi import Domain, LinearMeasurement
    from mbi.estimation import MirrorDescent

    problems = {}
    for number, (name, (sizes, asked)) in enumerate(PROBLEMS.items()):
        measured = problem(number, sizes, asked)
        domain = Domain.fromdict(sizes)
        given = [LinearMeasurement(np.ravel(m["counts"]), m["columns"], m["sigma"]) for m in measured]
        model = MirrorDescent().estimate(domain, given, known_total=TOTAL, iters=STEPS)
        marginals = [np.asarray(model.project(m["columns"]).datavector(flatten=False)) for m in measured]
        loss = sum(
            ((p - np.array(m["counts"])) ** 2).sum() / (2 * m["sigma"] ** 2) for p, m in zip(marginals, measured, strict=True)
        )
        problems[name] = {
            "sizes": sizes,
            "measured": measured,
            "loss": float(loss),
            "marginals": [np.round(p, 4).tolist() for p in marginals],
        }
        print(name, loss)
    Path(path).write_text(json.dumps({"mbi": "2.0.0", "total": TOTAL, "steps": STEPS, "problems": problems}, indent=None))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", help="the file to write")
    main(parser.parse_args().path)
