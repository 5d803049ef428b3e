"""The results of a study, by data set and line of a table: a method as its recipe has it, or before refinement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hushtable.studies.releases import DRAWN
from hushtable.studies.study import slug

REAL = "real rows"
REFUSED = "our release was refused"
ABSENT = "the table is not at hand"
SHORT = "ours is trained on few rows or for a short time, to see that it works"


@dataclass(frozen=True)
class Lines:
    """What was run, and what came out."""

    data: tuple[str, ...]
    """The data sets that are at hand."""
    methods: tuple[str, ...]
    runs: int
    quick: bool
    skipped: tuple[str, ...]
    results: Mapping[str, Mapping[str, Any]]
    """By the names of ``task_name``; of each what was measured of the release as ``refined``, and before refinement as "
    "``drawn``."""

    def values(self, data: str, line: str, *keys: str) -> list[Any]:
        """What was measured in all runs that were not refused."""
        side = "drawn" if line.endswith(DRAWN) else "refined"
        found = [cell.get(side) for cell in self.cells(data, line)]
        for key in keys:
            found = [one.get(key) if one else None for one in found]
        return [one for one in found if one is not None]

    def cells(self, data: str, line: str) -> list[Mapping[str, Any]]:
        """The results of all runs, refused ones among them."""
        names = [task_name(data, line.removesuffix(DRAWN), run) for run in range(self.runs)]
        return [self.results[name] for name in names if name in self.results]

    def real(self, data: str) -> Mapping[str, Any]:
        """What is known of the real rows."""
        return self.results.get(task_name(data, REAL, 0), {})

    def of(self, data: str, methods: Iterable[str]) -> Iterator[str]:
        """The lines of these methods: each as it leaves, and before refinement if it was refined."""
        for method in methods:
            yield method
            if self.values(data, method + DRAWN):
                yield method + DRAWN

    def as_published(self, data: str, methods: Iterable[str], *keys: str) -> dict[str, list[Any]]:
        """By method its runs without what was added to it, as far as there are any."""
        found = {name: self.values(data, name + DRAWN, *keys) or self.values(data, name, *keys) for name in methods}
        return {name: values for name, values in found.items() if values}

    def proofs(self, data: str, methods: Iterable[str]) -> Iterator[tuple[str, str, str]]:
        """Of each method that made a release: its name, what is proven, and the processor seconds of a run."""
        for name in methods:
            made = [cell for cell in self.cells(data, name) if "proven" in cell]
            if made:
                yield name, str(made[0]["proven"]), f"{sum(cell['seconds'] for cell in made) / len(made):.1f}"

    def why_none(self, data: str) -> str:
        """Why there is no number of ours."""
        return REFUSED if data in self.data else ABSENT


def task_name(data: str, line: str, run: int) -> str:
    """Of the task of one release."""
    return f"{slug(data)}-{slug(line)}-{run}"
