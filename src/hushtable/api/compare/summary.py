"""A cell as plain values: what its runs say together. Risks by the worst run, the score by the mean with all runs' bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hushtable.api.compare.cell import findings_of, weakest
from hushtable.api.compare.grid import EPSILON, Trial
from hushtable.errors import InputError
from hushtable.evidence.finding import Finding, Risk, Subject
from hushtable.evidence.verdict import alarms
from hushtable.measures import catalogue
from hushtable.table.columns import CODED, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table


@dataclass(frozen=True)
class Axis:
    """The one measure of utility that cells are ranked by; more is better."""

    name: str
    label: str
    meaning: str
    scope: str = ""
    turned: bool = False
    """Whether the score is one less the measure, a distance."""

    @classmethod
    def of(cls, schema: Schema, target: str) -> Axis:
        """A model's success on the target, where there is one; else how alike pairs of columns are."""
        if target:
            measure = catalogue.AUC if schema[target].kind in CODED else catalogue.R2
            word = measure.name.rpartition(": ")[2]
            return cls(measure.name, f"{word} for {target}", measure.meaning, target)
        pairs = len(schema.released) > 1
        measure, what = (catalogue.PAIR_TVD, "pairs of columns") if pairs else (catalogue.MEAN_TVD, "columns")
        return cls(measure.name, f"1 - {measure.name}", f"how alike {what} are: 1 less {measure.meaning}", turned=True)

    def score(self, findings: Sequence[Finding]) -> Finding | None:
        """The finding that the score is read from, if it has a value."""
        found = [f for f in findings if f.name == self.name and f.scope in (self.scope, "") and f.value is not None]
        return min(found, key=lambda f: f.scope != self.scope, default=None)

    def read(self, value: float) -> float:
        """A value of the measure as a score."""
        return 1 - value if self.turned else value

    def to_json(self, baseline: float | None) -> dict[str, Any]:
        """As the comparison holds it."""
        return {"name": self.name, "label": self.label, "better": "higher", "baseline": baseline, "meaning": self.meaning}


def target_of(table: Table, target: str) -> str:
    """The column to predict: the one named, else one whose role is target; empty if there is none. One value alone is refused."""
    if not target:
        named = [name for name in table.schema.role(Role.TARGET) if name in table.schema.released]
        return next((name for name in named if not _constant(table, name)), "")
    if target not in table.schema.released:
        raise InputError(f"there is no column {target!r} to predict; there are {', '.join(table.schema.released)}", where="target")
    if _constant(table, target):
        raise InputError("shows a single value; there is nothing to predict", where=f"target {target}")
    return target


def _constant(table: Table, name: str) -> bool:
    known = table[name][~table.missing(name)]
    return len(np.unique(known)) < 2


def summed(trial: Trial, observed: Sequence[Mapping[str, Any]], axis: Axis) -> dict[str, Any]:
    """One cell from its runs; a run that failed makes the cell fail."""
    settings = dict(trial.settings) | ({EPSILON: f"{trial.epsilon:g}"} if trial.epsilon is not None else {})
    cell: dict[str, Any] = {
        "id": trial.id, "recipe": trial.recipe.recipe, "title": trial.recipe.title, "cite": trial.recipe.cite, "settings": settings,
        "epsilon": trial.epsilon, "delta": None, "runs": len(observed), "assurance": "none", "promise": "nothing",
        "guarantee": {"epsilon": None, "delta": None, "k": None, "bound": None}, "risk": None, "risks": {}, "alarms": 0, "tests": 0,
        "void": [], "score": None, "measures": {}, "rows": None, "seconds": sum(one["seconds"] for one in observed), "notes": [],
        "fits": False, "misses": [], "front": False, "rank": 0, "failed": "",
    }  # fmt: skip
    if reason := next((one["failed"] for one in observed if one["failed"]), ""):
        return cell | {"failed": reason}
    runs = [findings_of(one) for one in observed]
    promised = weakest(observed)
    pooled = [finding for run in runs for finding in run]
    return cell | {
        **{key: promised[key] for key in ("assurance", "promise", "guarantee")},
        "delta": promised["guarantee"]["delta"],
        "risk": worst(pooled),
        "risks": {str(risk): found for risk in Risk if (found := worst([f for f in pooled if f.risk is risk]))},
        "alarms": max(len(alarms(run)) for run in runs),
        "tests": max(sum(f.p is not None for f in run) for run in runs),
        "void": list(dict.fromkeys(reason for one in observed for reason in one["void"])),
        "score": _score(runs, axis),
        "measures": _measures(runs),
        "rows": round(float(np.mean([one["rows"] for one in observed]))),
        "notes": list(dict.fromkeys(note for one in observed for note in one["notes"])),
    }


def worst(findings: Sequence[Finding]) -> dict[str, Any] | None:
    """The attack whose upper bound is largest: what nobody can rule out."""
    known = [f for f in findings if f.risk is not None and f.high is not None and f.value is not None]
    if not known:
        return None
    one = max(known, key=lambda f: (f.high or 0.0, f.value or 0.0))
    return {"value": one.value, "low": one.low, "high": one.high, "name": one.label, "kind": str(one.risk)}


def baseline_of(observed: Sequence[Mapping[str, Any]], axis: Axis) -> float | None:
    """The score of the real rows; the mean where runs draw it anew."""
    found = [axis.score(findings_of(one)) for one in observed]
    known = [axis.read(one.baseline) for one in found if one is not None and one.baseline is not None]
    return float(np.mean(known)) if known else None


def _score(runs: Sequence[Sequence[Finding]], axis: Axis) -> dict[str, float] | None:
    """The mean over runs, between the least and the largest bound of any run; None if some run has no score."""
    found = [axis.score(run) for run in runs]
    known = [one for one in found if one is not None and one.value is not None]
    if len(known) < len(found):
        return None
    values = [axis.read(one.value or 0.0) for one in known]
    ends = [axis.read(end) for one in known for end in (one.low, one.high) if end is not None]
    return {"value": float(np.mean(values)), "low": min(values + ends), "high": max(values + ends)}


def _measures(runs: Sequence[Sequence[Finding]]) -> dict[str, Any]:
    """Measures of the whole table, and of the target, the mean over runs."""
    told: dict[str, Any] = {}
    for one in runs[0]:
        if one.subject is not Subject.UTILITY or one.value is None or (one.scope and not catalogue.main_model(one)):
            continue
        same = [f for run in runs for f in run if f.label == one.label]
        told.setdefault(
            one.name,
            {"value": _mean(f.value for f in same), "baseline": _mean(f.baseline for f in same), "better": str(one.better)},
        )
    return told


def _mean(values: Any) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None
