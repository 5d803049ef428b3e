"""The figures of the study of private generators: a measure against epsilon, a curve for each method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hushtable.report.html import Html
from hushtable.studies.curves import Line, curves

Runs = Mapping[str, Mapping[float, Sequence[float]]]
"""By method and epsilon the values of the runs."""


def figure(label: str, values: Runs, published: Sequence[str], level: float | None) -> Html:
    """Curves over the epsilons on a logarithmic axis; those of the publication are solid, ours dashed.

    ``published`` are the names of the former, ``level`` what the real rows have.
    """
    sides = ([name for name in values if name in published], [name for name in values if name not in published])
    lines = [
        Line(
            name=name,
            points=[(epsilon, float(np.mean(runs))) for epsilon, runs in values[name].items() if len(runs)],
            colour=place,
            dashed=side is sides[1],
            spreads=[f"± {np.std(runs):.2g}" for runs in values[name].values() if len(runs)],
        )
        for side in sides
        for place, name in enumerate(side)
    ]
    return curves(label, lines, "epsilon", log=True, level=None if level is None else ("real rows", level))
