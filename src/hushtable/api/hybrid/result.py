"""A grid of hybrids: every cell by its place on the axes, with its metrics; what each axis does; and the recommendation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from hushtable.api.compare.cell import Cell, Estimate
from hushtable.api.compare.comparison import Comparison, recipe_file
from hushtable.api.compare.observation import Observation
from hushtable.api.hybrid.effects import Effect, Level, alone, effects, levels, mean_of, sample_of, varied
from hushtable.api.hybrid.grid import AXES, Place, Stage, Value
from hushtable.api.hybrid.hypotheses import Hypothesis, hypotheses
from hushtable.api.hybrid.metrics import METRICS, SCORE, Metric, change, measured
from hushtable.display import meant
from hushtable.errors import InputError
from hushtable.evidence.verdict import STRENGTH
from hushtable.privacy.guarantee import Assurance
from hushtable.report.hybrid import hybrid_markdown, hybrid_page
from hushtable.table.disk import whole_folder
from hushtable.table.lenient import finite, mapping, mappings, whole


@dataclass(frozen=True, kw_only=True)
class HybridCell:
    """One release of the grid: where it stands, what is left of its promises, and its numbers."""

    id: str
    """The name of its cell in the comparison."""
    place: Place
    promise: str = "nothing"
    """What survives, each promise with its evidence."""
    assurance: Assurance = Assurance.NONE
    metrics: Mapping[str, Estimate] = field(default_factory=dict)
    """By the names of ``METRICS``; empty if it failed."""
    changes: Mapping[str, float] = field(default_factory=dict)
    """How much better than its generator alone, in percent of that; positive is better. Absent where there is no such whole."""
    rows: int | None = None
    alarms: int = 0
    seconds: float = 0.0
    failed: str = ""

    @property
    def strength(self) -> int:
        """How much stands behind its promise."""
        return STRENGTH[self.assurance]

    def value(self, metric: str) -> float | None:
        """One of its metrics; None if it has it not."""
        known = self.metrics.get(metric)
        return None if known is None else known.value

    def to_json(self) -> dict[str, Any]:
        """As ``hybrid.json`` holds it."""
        return {
            "id": self.id,
            "place": self.place.to_json(),
            "promise": self.promise,
            "assurance": str(self.assurance),
            "metrics": {name: estimate.to_json() for name, estimate in self.metrics.items()},
            "changes": dict(self.changes),
            "rows": self.rows,
            "alarms": self.alarms,
            "seconds": self.seconds,
            "failed": self.failed,
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> HybridCell:
        """Read it back; what is missing, or is no such value, is empty."""
        assurance = given.get("assurance")
        metrics = {name: _estimate(one) for name, one in mapping(given.get("metrics")).items() if name in METRICS}
        changes = {name: finite(one) for name, one in mapping(given.get("changes")).items()}
        return cls(
            id=str(given.get("id") or ""),
            place=Place.from_json(mapping(given.get("place"))),
            promise=str(given.get("promise") or ""),
            assurance=Assurance(assurance) if assurance in list(Assurance) else Assurance.NONE,
            metrics={name: one for name, one in metrics.items() if one is not None},
            changes={name: one for name, one in changes.items() if one is not None},
            rows=whole(given.get("rows")),
            alarms=whole(given.get("alarms")) or 0,
            seconds=finite(given.get("seconds")) or 0.0,
            failed=str(given.get("failed") or ""),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class HybridGrid:
    """All hybrids of one table, and what they are held against. It was computed from raw rows: it is not for publication.

    >>> grid.level("transition", "conditional", "singling-out").mean        # doctest: +SKIP
    >>> grid.select(order="post", transition="uniform", generator="argn")   # doctest: +SKIP
    >>> grid.effect("order", "pre", "post", "singling-out").difference      # doctest: +SKIP
    """

    comparison: Comparison
    """All cells but the original, ranked, with the recommendation."""
    cells: tuple[HybridCell, ...]
    """Of every stage, in the order of the grid."""

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        """The metrics that any cell has, in the order in which they are shown; the score by what it measures."""
        known = {name for cell in self.cells for name in cell.metrics}
        named = {SCORE.name: replace(SCORE, label=self.comparison.axis.label, meaning=self.comparison.axis.meaning)}
        return {name: named.get(name, metric) for name, metric in METRICS.items() if name in known}

    @property
    def hybrids(self) -> list[HybridCell]:
        """The cells that went all the way, and gave a release."""
        return self.select()

    @property
    def failures(self) -> list[HybridCell]:
        """Those of any stage that gave none."""
        return [cell for cell in self.cells if cell.failed]

    @cached_property
    def values(self) -> dict[str, list[Value]]:
        """The axes on which hybrids differ, each with its values."""
        return varied(self.cells)

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """The mean of every metric at every value of every axis."""
        return tuple(levels(self.cells))

    @cached_property
    def effects(self) -> tuple[Effect, ...]:
        """What every axis does to every metric, over pairs of cells that are alike in all else."""
        return tuple(effects(self.cells))

    @cached_property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What the source says, decided on these cells."""
        return tuple(hypotheses(self.effects, self.values))

    def select(self, stage: Stage | str = Stage.HYBRID, **on: Value) -> list[HybridCell]:
        """The cells of a stage that gave a release, at these values of these axes."""
        if odd := sorted(set(on) - set(AXES)):
            raise InputError(f"there is no axis {', '.join(odd)}{meant(odd, AXES)}; there are {', '.join(AXES)}", where="axis")
        there = [cell for cell in self.cells if cell.place.stage == stage and not cell.failed]
        return [cell for cell in there if all(cell.place.on(axis) == value for axis, value in on.items())]

    def level(self, axis: str, value: Value, metric: str) -> Level | None:
        """The mean of a metric at one value of an axis; None if no hybrid has it."""
        return next((o for o in self.levels if (o.axis, o.value, o.metric) == (axis, value, metric)), None)

    def effect(self, axis: str, start: Value, stop: Value, metric: str) -> Effect | None:
        """By how much a metric differs between two values of an axis, in the order of the grid; None if no pair of cells says."""
        wanted = (axis, start, stop, metric)
        return next((o for o in self.effects if (o.axis, o.start, o.stop, o.metric) == wanted), None)

    def stage(self, stage: Stage | str, metric: str) -> Estimate | None:
        """The mean of a metric over the releases of a stage (of anonymized tables, those that were brought back); None if none."""
        cells = [cell for cell in self.select(stage) if metric in cell.metrics]
        ways = {cell.place.transition for cell in self.hybrids}
        if stage == Stage.ANONYMIZED:
            cells = [cell for cell in cells if cell.place.transition in ways]
        if len(cells) == 1:
            return cells[0].metrics[metric]
        return mean_of([(sample_of(cell.place), cell.metrics[metric].value) for cell in cells])[0] if cells else None

    def alone(self, cell: HybridCell) -> HybridCell | None:
        """The generator of a hybrid by itself, on raw rows; None if that is not in the grid."""
        return alone(cell.place, self.cells)

    def __repr__(self) -> str:
        """Counts only."""
        best = self.comparison.best
        return f"HybridGrid({len(self.hybrids)} hybrids; {'nothing fits' if best is None else f'take {best.id}'})"

    def __str__(self) -> str:
        """The recommendation, and what was decided."""
        lines = [*self.comparison.recommendation.words, ""]
        return "\n".join([*lines, *(f"{one.statement}: {one.verdict}. {one.words}" for one in self.hypotheses)])

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values: what ``hybrid.json`` holds. Levels, effects and hypotheses follow from the cells."""
        return {
            "comparison": self.comparison.to_json(),
            "cells": [cell.to_json() for cell in self.cells],
            "levels": [one.to_json() for one in self.levels],
            "effects": [one.to_json() for one in self.effects],
            "hypotheses": [one.to_json() for one in self.hypotheses],
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> HybridGrid:
        """Read it back from ``hybrid.json``; what follows from the cells is worked out again."""
        cells = tuple(HybridCell.from_json(one) for one in mappings(given.get("cells")))
        return cls(comparison=Comparison.from_json(mapping(given.get("comparison"))), cells=cells)

    def page(self) -> str:
        """The grid as a standalone page. It is private."""
        return hybrid_page(self)

    def markdown(self) -> str:
        """The grid as Markdown. It is private."""
        return hybrid_markdown(self)

    def files(self) -> dict[str, str]:
        """What a folder of it holds: name to text."""
        return {
            "hybrid.json": json.dumps(self.to_json(), indent=1, ensure_ascii=False),
            "hybrid.html": self.page(),
            "hybrid.md": self.markdown(),
            **{f"recipes/{recipe_file(name)}": recipe.dump() for name, recipe in self.comparison.recipes.items()},
        }

    def save(self, folder: str | Path) -> Path:
        """Write it to a new folder that only its owner can read. No released row is in it."""
        folder = Path(folder)
        with whole_folder(folder, private=True) as partial:
            (partial / "recipes").mkdir(mode=0o700)
            for name, text in self.files().items():
                (partial / name).write_text(text, encoding="utf-8")
        return folder


def gathered(comparison: Comparison, places: Mapping[str, Place], runs: Mapping[str, Sequence[Observation]]) -> HybridGrid:
    """The grid of a comparison, from what was observed of each of its cells."""
    judged = {cell.id: cell for cell in comparison.cells}
    cells = [_cell(name, place, judged.get(name), runs[name], comparison) for name, place in places.items()]
    return HybridGrid(comparison=comparison, cells=tuple(_with_changes(cell, cells) for cell in cells))


def _cell(name: str, place: Place, judged: Cell | None, runs: Sequence[Observation], comparison: Comparison) -> HybridCell:
    failed = next((run.failed for run in runs if run.failed), "")
    weakest = min(runs, key=lambda run: run.strictness)
    promise = judged.promise if judged is not None else "; ".join(map(str, weakest.statements)) or "nothing"
    return HybridCell(
        id=name,
        place=place,
        promise="" if failed else promise,
        assurance=weakest.assurance,
        metrics=measured(runs, comparison.axis),
        rows=None if failed else round(sum(run.rows for run in runs) / len(runs)),
        alarms=judged.alarms if judged is not None else 0,
        seconds=sum(run.seconds for run in runs),
        failed=failed,
    )


def _with_changes(cell: HybridCell, cells: Sequence[HybridCell]) -> HybridCell:
    base = alone(cell.place, cells) if cell.place.stage is Stage.HYBRID else None
    if base is None:
        return cell
    changes = {name: change(metric, cell.metrics.get(name), base.metrics.get(name)) for name, metric in METRICS.items()}
    return replace(cell, changes={name: value for name, value in changes.items() if value is not None})


def _estimate(given: object) -> Estimate | None:
    numbers = mapping(given)
    value = finite(numbers.get("value"))
    return None if value is None else Estimate(value, finite(numbers.get("low")), finite(numbers.get("high")))
