"""A comparison: the cells, the front, the recommendation, and the folder they are written to. It is computed from raw rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hushtable.api.compare.grid import file_name
from hushtable.display import Shown
from hushtable.errors import InputError
from hushtable.pipeline.recipe import Recipe
from hushtable.table.disk import whole_folder


@dataclass(frozen=True, eq=False)
class Comparison(Shown):
    """Ways to share one table, side by side, as plain values. It was computed from raw rows: it is not for publication."""

    told: dict[str, Any] = field(repr=False)
    recipes: Mapping[str, Recipe] = field(repr=False)
    """The recipes that are recommended, by cell, marked with what they were tuned on."""

    @property
    def cells(self) -> list[dict[str, Any]]:
        """Every release that was tried, the best first."""
        return list(self.told["cells"])

    @property
    def front(self) -> list[dict[str, Any]]:
        """The cells that no other beats in both risk and utility, the safest first."""
        return sorted((c for c in self.cells if c["front"]), key=lambda c: (c["risk"]["high"], c["score"]["value"]))

    @property
    def best(self) -> dict[str, Any] | None:
        """The recommended cell; None if nothing keeps the constraints."""
        return next((c for c in self.cells if c["id"] == self.told["recommendation"]["id"]), None)

    @property
    def recipe(self) -> Recipe:
        """The recommended recipe with its knobs; InputError if there is none."""
        if self.best is None:
            raise InputError(" ".join(self.told["recommendation"]["words"]), where="comparison")
        return self.recipes[self.best["id"]]

    def __repr__(self) -> str:
        """Counts only."""
        best = self.best
        return f"Comparison({len(self.cells)} releases; {'nothing fits' if best is None else 'take ' + best['id']})"

    def __str__(self) -> str:
        """The recommendation with its first caveat, and a line for each cell."""
        advice = self.told["recommendation"]
        lines = [*advice["words"], *(f"Mind: {words}" for words in advice["caveats"][:1]), ""]
        for cell in self.cells:
            score, risk = cell["score"], cell["risk"]
            numbers = cell["failed"] or (
                f"score {score['value']:.3f}" if score else "no score",
                f"risk <= {risk['high']:.3f}" if risk else "risk not known",
                cell["promise"],
                "fits" if cell["fits"] else "; ".join(cell["misses"]),
            )
            lines.append(f"{cell['rank']:>3}. {cell['id']}: {numbers if isinstance(numbers, str) else ', '.join(numbers)}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return dict(self.told)

    def files(self) -> dict[str, str]:
        """What a folder of it holds: name to text."""
        from hushtable.report.compare import comparison_markdown, comparison_page

        return {
            "comparison.json": json.dumps(self.told, indent=1, ensure_ascii=False),
            "comparison.html": comparison_page(self.told),
            "comparison.md": comparison_markdown(self.told),
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
