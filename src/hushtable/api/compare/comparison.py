"""A comparison: the cells, the recommendation, and the folder they are written to. It is computed from raw rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hushtable.api.compare.axis import Axis
from hushtable.api.compare.cell import Cell, in_one_unit
from hushtable.api.compare.choice import Rivals, rivals
from hushtable.api.compare.grid import file_name
from hushtable.api.compare.uses import SHOWN
from hushtable.display import Shown
from hushtable.errors import InputError
from hushtable.evidence.condition import Condition, Names
from hushtable.privacy.guarantee import Assurance
from hushtable.report.compare import comparison_markdown, comparison_page
from hushtable.table.disk import whole_folder
from hushtable.table.lenient import finite, mapping, texts, whole

if TYPE_CHECKING:
    from hushtable.pipeline.recipe import Recipe


@dataclass(frozen=True, kw_only=True)
class RunInfo:
    """With what a comparison was made."""

    version: str = ""
    """Of hushtable."""
    seed: str | int = ""
    runs: int | None = None
    """Releases of each setting."""
    audits: tuple[str, ...] = ()
    """The attacks and the measures of utility, by name."""
    attacked: int | None = None
    """Rows of each side that were attacked at most."""
    public: bool = False
    """Whether the rows were said to be public, or other people's."""
    seconds: float | None = None
    date: str = ""
    """The day it was run, as 2026-11-17."""

    def to_json(self) -> dict[str, Any]:
        """As ``comparison.json`` holds it."""
        return {
            "hushtable": self.version,
            **({"date": self.date} if self.date else {}),
            "seed": self.seed,
            "runs": self.runs,
            "audits": list(self.audits),
            "attacked": self.attacked,
            "public": self.public,
            "seconds": self.seconds,
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> RunInfo:
        """Read it back; what is missing is empty."""
        seed = given.get("seed")
        return cls(
            version=str(given.get("hushtable") or ""),
            seed=seed if isinstance(seed, int) else str(seed or ""),
            runs=whole(given.get("runs")),
            audits=texts(given.get("audits")),
            attacked=whole(given.get("attacked")),
            public=bool(given.get("public")),
            seconds=finite(given.get("seconds")),
            date=str(given.get("date") or ""),
        )


@dataclass(frozen=True, kw_only=True)
class TableInfo:
    """The table that was compared on: its name and counts only."""

    title: str = ""
    """What the data is called, as its schema says."""
    rows: int | None = None
    train: int | None = None
    """Rows that every release was made from."""
    control: int | None = None
    """Rows that were set aside to attack and test with."""
    columns: int | None = None
    target: str = ""

    def to_json(self) -> dict[str, Any]:
        """As ``comparison.json`` holds it."""
        counts = {"rows": self.rows, "train": self.train, "control": self.control, "columns": self.columns}
        return ({"title": self.title} if self.title else {}) | counts | {"target": self.target}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> TableInfo:
        """Read it back; what is missing is empty."""
        counts = {key: whole(given.get(key)) for key in ("rows", "train", "control", "columns")}
        return cls(title=str(given.get("title") or ""), **counts, target=str(given.get("target") or ""))


@dataclass(frozen=True)
class Constraint:
    """A condition that was asked of every release, with its words."""

    expression: str
    description: str
    condition: Condition | None = None
    """The condition itself; None where a file holds what this version cannot read."""

    @classmethod
    def of(cls, condition: Condition) -> Constraint:
        """From a condition."""
        return cls(condition.expression, condition.description, condition)

    def to_json(self) -> dict[str, Any]:
        """As ``comparison.json`` holds it."""
        return {"expression": self.expression, "told": self.description}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Constraint:
        """Read it back."""
        expression = str(given.get("expression") or "")
        try:
            condition = Condition.parse(expression, names=Names(score=True))
        except InputError:
            condition = None
        return cls(expression, str(given.get("told") or ""), condition)


@dataclass(frozen=True)
class Alternative:
    """Another cell to take if something else is needed, and what it costs."""

    id: str
    words: str

    def to_json(self) -> dict[str, Any]:
        """As ``comparison.json`` holds it."""
        return {"id": self.id, "words": self.words}


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """What to take, in sentences."""

    id: str | None = None
    """The cell to take; None if nothing keeps the constraints."""
    words: tuple[str, ...] = ()
    """The recommendation itself, the first sentence in short."""
    why: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    command: str = ""
    """The command that makes the release with what it promises; empty if nothing is to be taken."""
    made: str = ""
    """What holds for a release that the command makes, where that is not what was tried here."""
    others: tuple[Alternative, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As ``comparison.json`` holds it."""
        return {
            "id": self.id,
            "words": list(self.words),
            "why": list(self.why),
            "caveats": list(self.caveats),
            "command": self.command,
            "others": [other.to_json() for other in self.others],
        } | ({"made": self.made} if self.made else {})

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Recommendation:
        """Read it back; what is missing is empty."""
        others = [mapping(other) for other in given.get("others") or ()]
        return cls(
            id=None if given.get("id") is None else str(given["id"]),
            words=texts(given.get("words")),
            why=texts(given.get("why")),
            caveats=texts(given.get("caveats")),
            command=str(given.get("command") or ""),
            made=str(given.get("made") or ""),
            others=tuple(Alternative(str(o.get("id") or ""), str(o["words"])) for o in others if o.get("words")),
        )


@dataclass(frozen=True)
class Searched:
    """The last setting of a recipe that keeps the constraints, in words."""

    recipe: str
    knob: str
    words: str

    def to_json(self) -> dict[str, Any]:
        """As ``comparison.json`` holds it."""
        return {"recipe": self.recipe, "knob": self.knob, "words": self.words}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Searched:
        """Read it back."""
        return cls(*(str(given.get(key) or "") for key in ("recipe", "knob", "words")))


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparison(Shown):
    """Ways to share one table, side by side. It was computed from raw rows: it is not for publication."""

    run: RunInfo = RunInfo()
    table: TableInfo = TableInfo()
    constraints: tuple[Constraint, ...] = ()
    axis: Axis
    """The measure that is the score."""
    cells: tuple[Cell, ...] = field(repr=False)
    """Every release that was tried, the best first."""
    recommendation: Recommendation = Recommendation()
    searched: tuple[Searched, ...] = ()
    notes: tuple[str, ...] = ()
    """What was left out, and why."""
    recipes: Mapping[str, Recipe] = field(default_factory=dict, repr=False)
    """The recipes that are recommended, by cell, marked with what they were tuned on; empty if it was read from a file."""

    @property
    def best(self) -> Cell | None:
        """The recommended cell; None if nothing keeps the constraints."""
        return None if self.recommendation.id is None else self.cell(self.recommendation.id)

    @property
    def recipe(self) -> Recipe:
        """The recommended recipe with its knobs; InputError if there is none."""
        if self.best is None:
            raise InputError(" ".join(self.recommendation.words), where="comparison")
        if self.best.id not in self.recipes:
            raise InputError(
                "is not part of comparison.json; it is in the folder recipes beside it", where=f"recipe of {self.best.id}"
            )
        return self.recipes[self.best.id]

    def cell(self, name: str) -> Cell | None:
        """The cell of this name."""
        return next((c for c in self.cells if c.id == name), None)

    @property
    def released(self) -> list[Cell]:
        """The cells that gave a release."""
        return [c for c in self.cells if not c.failed]

    @property
    def failures(self) -> list[Cell]:
        """The cells that gave none."""
        return [c for c in self.cells if c.failed]

    @property
    def front(self) -> list[Cell]:
        """The cells that no other beats in both risk and utility, the safest first."""
        on_front = [(c.worst.upper, c.score.value, c) for c in self.cells if c.front and c.worst and c.score]
        return [c for _, _, c in sorted(on_front, key=lambda place: place[:2])]

    @property
    def by_gain(self) -> bool:
        """Whether releases are compared by what attacks gain; by residual risks where an earlier version saved none."""
        return all(c.gain is not None for c in self.cells if c.risk is not None)

    @property
    def uses(self) -> tuple[str, ...]:
        """The measures that are shown beside the score, the first ones first."""
        return SHOWN

    @property
    def recipe_names(self) -> list[str]:
        """The recipes that were tried, in the order of their best release."""
        return list(dict.fromkeys(c.recipe for c in self.cells))

    @property
    def others(self) -> list[tuple[Cell | None, str]]:
        """Alternatives that the recommendation names, each with its words."""
        return [(self.cell(other.id), other.words) for other in self.recommendation.others]

    @property
    def rivals(self) -> Rivals:
        """What else would be chosen if something else were asked, beyond what the recommendation names."""
        return rivals(self.cells, self.best, self.axis, [cell for cell, _ in self.others if cell])

    def unpaid(self, cell: Cell) -> bool:
        """Whether the proof of a cell is void if it is chosen here: by looking at private rows, which no budget paid for."""
        return cell.assurance is Assurance.PROVEN and not self.run.public

    def __repr__(self) -> str:
        """Counts only."""
        return f"Comparison({len(self.cells)} releases; {'nothing fits' if self.best is None else f'take {self.best.id}'})"

    def __str__(self) -> str:
        """The recommendation with its first caveat, and a line for each cell."""
        lines = [*self.recommendation.words, *(f"Before you decide: {caveat}" for caveat in self.recommendation.caveats[:1]), ""]
        return "\n".join([*lines, *map(_line, self.cells)])

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values: what ``comparison.json`` holds."""
        return {
            "made": self.run.to_json(),
            "table": self.table.to_json(),
            "constraints": [constraint.to_json() for constraint in self.constraints],
            "utility": self.axis.to_json(),
            "cells": [cell.to_json() for cell in self.cells],
            "recommendation": self.recommendation.to_json(),
            "searched": [one.to_json() for one in self.searched],
            "notes": list(self.notes),
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Comparison:
        """Read it back from ``comparison.json``; what is missing there, or is no such value, is empty."""
        cells = in_one_unit([Cell.from_json(mapping(one)) for one in given.get("cells") or ()])
        order = sorted(cells, key=lambda c: (bool(c.failed), not c.rank, c.rank))
        return cls(
            run=RunInfo.from_json(mapping(given.get("made"))),
            table=TableInfo.from_json(mapping(given.get("table"))),
            constraints=tuple(Constraint.from_json(mapping(one)) for one in given.get("constraints") or ()),
            axis=Axis.from_json(mapping(given.get("utility"))),
            cells=tuple(replace(c, rank=rank, id=c.id or f"release {rank}") for rank, c in enumerate(order, 1)),
            recommendation=Recommendation.from_json(mapping(given.get("recommendation"))),
            searched=tuple(Searched.from_json(mapping(one)) for one in given.get("searched") or ()),
            notes=texts(given.get("notes")),
        )

    def page(self) -> str:
        """The comparison as a standalone page. It is private."""
        return comparison_page(self)

    def markdown(self) -> str:
        """The comparison as Markdown. It is private."""
        return comparison_markdown(self)

    def files(self) -> dict[str, str]:
        """What a folder of it holds: name to text."""
        return {
            "comparison.json": json.dumps(self.to_json(), indent=1, ensure_ascii=False),
            "comparison.html": self.page(),
            "comparison.md": self.markdown(),
            **{f"recipes/{recipe_file(name)}": recipe.dump() for name, recipe in self.recipes.items()},
        }

    def save(self, folder: str | Path) -> Path:
        """Write it to a new folder that only its owner can read. No released row is in it."""
        folder = Path(folder)
        with whole_folder(folder, private=True) as partial:
            (partial / "recipes").mkdir(mode=0o700)
            for name, text in self.files().items():
                (partial / name).write_text(text, encoding="utf-8")
        return folder


def recipe_file(cell: str) -> str:
    """The name of a cell's recipe file."""
    return f"{file_name(cell)}.yaml"


def _line(cell: Cell) -> str:
    """A cell in one line of text."""
    if cell.failed:
        return f"{cell.rank:>3}. {cell.id}: {cell.failed}"
    parts = (
        f"score {cell.score.value:.3f}" if cell.score else "no score",
        f"{'gain' if cell.gain else 'risk'} <= {cell.worst.upper:.3f}" if cell.worst else "not attacked",
        cell.promise,
        "fits" if cell.fits else "; ".join(map(str, cell.misses)),
    )
    return f"{cell.rank:>3}. {cell.id}: {', '.join(parts)}"
