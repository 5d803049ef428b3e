"""What each k costs: the least loss of generalization for every k and suppression limit, in one search."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from numbers import Integral
from pathlib import Path
from typing import Any

from hushtable.anonymize.lattice.generalize import Generalize
from hushtable.anonymize.people import of_persons, people, require_people
from hushtable.api.persons import released
from hushtable.display import Progress, silent
from hushtable.errors import InputError
from hushtable.pipeline import recipe as recipes
from hushtable.report.pareto import pareto_page
from hushtable.table.disk import whole_folder
from hushtable.table.rows import Rows

KS = (2, 5, 10, 20, 50)
LIMITS = (0.0, 0.01, 0.02, 0.05, 0.1, 1.0)


@dataclass(frozen=True, kw_only=True)
class BestChoice:
    """The generalization of least loss for one k and suppression limit; empty where none keeps what is demanded."""

    k: int
    limit: float
    value: float | None
    """Its loss; None where there is none."""
    suppressed: int | None
    suppressed_share: float | None
    optimal: bool
    """Whether it is proven that none has a smaller loss."""
    gap: float | None
    """How much smaller a loss could still be, where that is known."""
    levels: dict[str, int]
    """The level of each column."""

    def to_json(self) -> dict[str, Any]:
        """As ``pareto.json`` holds it."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Sheet:
    """The best generalization for every k and suppression limit. It was computed from raw rows: it is not for publication."""

    lines: list[BestChoice]
    fronts: dict[str, list[tuple[float, float]]] = field(repr=False)
    """For each k, loss and share suppressed of the choices that no tried one beats."""
    loss: str
    rows: int
    checks: int
    persons: int | None = None
    """How many persons hold the rows, where k, l and t count persons."""

    def to_json(self) -> dict[str, Any]:
        """The best choices as plain values."""
        lines = [line.to_json() for line in self.lines]
        return {"loss": self.loss, "rows": self.rows, "persons": self.persons, "lines": lines}

    def save(self, folder: str | Path) -> Path:
        """Write ``pareto.json`` and ``pareto.html`` to a new folder that only its owner can read."""
        folder = Path(folder)
        with whole_folder(folder, private=True) as partial:
            plain = self.to_json() | {"fronts": self.fronts}
            (partial / "pareto.json").write_text(json.dumps(plain, indent=1, ensure_ascii=False), encoding="utf-8")
            (partial / "pareto.html").write_text(pareto_page(self), encoding="utf-8")
        return folder


def pareto(
    table: Rows,
    *,
    ks: Sequence[int] = KS,
    limits: Sequence[float] = LIMITS,
    person: str | None = None,
    rows_per_person: int | None = None,
    settings: Mapping[str, str] | None = None,
    seed: int | None = None,
    progress: Progress = silent,
) -> Sheet:
    """The sheet of a table, or of rows not in memory.

    ``person`` is the key that identifies people, if they hold several rows: k, l and t then count persons. ``rows_per_person`` is
    how many rows of each a release reads: all when absent, else so many at random, which ``seed`` fixes as that of the release
    does. ``settings`` are knobs of the step ``generalize`` but for k and limit.
    """
    wrong = [k for k in ks if k < 2] + [limit for limit in limits if not 0 <= limit <= 1]
    if wrong or not ks or not limits:
        raise InputError("k is at least 2 and a limit lies in [0, 1]; at least one of each is needed", where="pareto")
    if odd := [k for k in ks if not isinstance(k, Integral)]:
        raise InputError(f"k is a whole number, got {', '.join(map(str, odd))}", where="pareto")
    step = recipes.load("k-anonymity").set(settings or {}).steps[0]
    assert isinstance(step, Generalize)
    rows = released(table, "generalize", person, rows_per_person, seed)
    require_people(rows, max(ks), "pareto")
    lattice, best = step.sheet(
        rows, tuple(dict.fromkeys(ks)), tuple(dict.fromkeys(limits)), lambda share: progress("pareto", share)
    )
    names = [ladder.column.name for ladder in lattice.ladders]
    lines = [
        BestChoice(
            k=one.goal.k,
            limit=one.goal.limit,
            value=one.value if one.node is not None else None,
            suppressed=one.suppressed if one.node is not None else None,
            suppressed_share=one.suppressed / rows.rows if one.node is not None else None,
            optimal=one.optimal,
            gap=one.gap if math.isfinite(one.gap) else None,
            levels=dict(zip(names, one.node, strict=True)) if one.node is not None else {},
        )
        for one in best
    ]
    fronts = {f"k = {one.goal.k}": [(value, gone / rows.rows) for value, gone in one.tried] for one in best}
    persons = None if person is None and of_persons(rows) is None else people(rows)
    return Sheet(lines, fronts, str(step.loss), rows.rows, best[0].checks, persons)
