"""The last setting that still keeps the constraints: the smallest k, the largest epsilon.

Each recipe has one knob that matters here, and whether constraints hold turns over once along it, or nearly so: halving the gap
finds the place in a handful of releases. A surrogate model such as Optuna's needs more releases than that to learn anything.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hushtable.api.compare.cell import Cell
from hushtable.api.compare.comparison import Searched
from hushtable.api.compare.grid import EPSILON, Trial, main_knob

MOST = 4
"""Further cells for each recipe."""
CLOSE = 1.1
"""Settings of epsilon within this factor are the same."""


@dataclass(frozen=True)
class Gap:
    """Between a setting that keeps the constraints and one that does not, of one recipe."""

    trial: Trial
    knob: str
    fits: float
    misses: float

    @property
    def middle(self) -> Trial | None:
        """Half way, geometrically; None where nothing lies between."""
        value = math.sqrt(self.fits * self.misses)
        low, high = sorted((self.fits, self.misses))
        if self.knob == EPSILON:
            return None if high <= low * CLOSE else self.trial.at(EPSILON, f"{value:.3g}")
        whole = max(math.floor(value), math.floor(low) + 1)
        return self.trial.at(self.knob, str(whole)) if whole < high else None


def searchable(trials: Sequence[Trial]) -> dict[str, tuple[str, list[Trial]]]:
    """Recipes whose k or epsilon was tried: the knob, and the trials. Not those of which other knobs vary too."""
    by_recipe: dict[str, tuple[str, list[Trial]]] = {}
    for trial in trials:
        knob = main_knob(trial.recipe)
        varied = {key for key, _ in trial.settings} - {knob}
        if knob in (EPSILON, "k") and not varied and (knob == EPSILON or dict(trial.settings).get(knob)):
            by_recipe.setdefault(trial.recipe.recipe, (knob, []))[1].append(trial)
    return by_recipe


def gap(knob: str, trials: Sequence[Trial], cells: Mapping[str, Cell]) -> Gap | None:
    """Where the constraints stop holding: below the smallest k that fits, or above the largest epsilon that does."""
    known = [trial for trial in trials if not cells[trial.id].failed]
    fits = [t.value(knob) for t in known if cells[t.id].fits]
    misses = [t.value(knob) for t in known if not cells[t.id].fits]
    if not fits:
        return None
    edge = _last(knob, fits)
    if knob == EPSILON:
        beyond = min((value for value in misses if value > edge), default=None)
    else:
        beyond = max((value for value in misses if value < edge), default=None)
    return None if beyond is None else Gap(known[0], knob, edge, beyond)


def result(recipe: str, knob: str, trials: Sequence[Trial], cells: Mapping[str, Cell]) -> Searched:
    """The last setting of a recipe that keeps the constraints, in words."""
    which = "largest epsilon" if knob == EPSILON else "smallest k"
    fits = [t.value(knob) for t in trials if cells[t.id].fits]
    between = gap(knob, trials, cells)
    if between is not None:
        words = f"{which} found that meets the constraints: {between.fits:g} ({between.misses:g} does not)"
    elif fits:
        words = f"the {which} tried, {_last(knob, fits):g}, meets the constraints"
    else:
        words = f"no {knob} tried meets the constraints"
    return Searched(recipe, knob, words)


def _last(knob: str, values: Sequence[float]) -> float:
    """The last value before the constraints stop holding."""
    return max(values) if knob == EPSILON else min(values)
