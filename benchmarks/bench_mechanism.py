"""mechanism: lower bounds of epsilon for every proven recipe, and for those whose published proof fails (nightly, by name)."""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.peers import table as show
from hushtable.api.mechanism import audit_mechanism, proven_recipes
from hushtable.errors import HushError
from hushtable.pipeline import recipe as recipes

EPSILON, DELTA = 5.0, 1e-5
"""A Gaussian mechanism of mu about 1, where an audit has the most to show."""
CLAIM = 1.0
CANARIES = ("crowd", "corner", "lone")
RUNS = int(os.environ.get("HUSHTABLE_AUDIT_RUNS", "200"))
"""In each world; HUSHTABLE_AUDIT_RUNS=2000 for a night."""


def claimed_recipes() -> list[str]:
    """Publications whose proof fails."""
    return [name for name in recipes.names() if "claimed" in recipes.load(name).guarantee]


def main(folder: Path) -> None:
    rows = []
    claimed = claimed_recipes()
    for name in [*proven_recipes(), *claimed]:
        # So few runs can show an epsilon of about 3 at most: a claim of 1 is put to the test.
        epsilon = CLAIM if name in claimed else EPSILON
        try:
            report = audit_mechanism(name, epsilon=epsilon, delta=DELTA, canaries=CANARIES, runs=RUNS).to_json()
        except HushError as error:
            rows.append([name, "", "", "", "", "", f"not tested: {str(error)[:60]}"])
            continue
        tested = [line for line in report["lines"] if "epsilon_lb" in line]
        if not tested:
            rows.append([name, "", "", "", "", "", f"not tested: {report['lines'][0]['why'][:60]}"])
            continue
        worst = max(tested, key=lambda line: (line["refuted"], line["epsilon_lb"]))
        other = next((f"{key} {worst[f'{key}_lb']:.2f} of {worst[key]:.2f}" for key in ("mu", "rho") if f"{key}_lb" in worst), "")
        seconds = sum(line["seconds"] for line in tested)
        claim, bound = f"{worst['epsilon_stated']:.2f}", f"{worst['epsilon_lb']:.2f}"
        rows.append([name, claim, bound, other, worst["canary"], f"{seconds:.0f}", report["label"]])
    heads = ["recipe", "stated epsilon", "epsilon at least", "mu or rho at least", "canary", "seconds", "verdict"]
    show(f"mechanism: epsilon {EPSILON:g} at delta {DELTA:g}, {RUNS} runs in each world", heads, rows)


if __name__ == "__main__":
    main(Path("."))
