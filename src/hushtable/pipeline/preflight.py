"""A release tried before it is made: what would leave unchanged, and whether rows of real people would be handed out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hushtable.display import Progress, Shown, silent
from hushtable.pipeline.copies import Copies, percent
from hushtable.pipeline.learning import learning_domains
from hushtable.pipeline.options import ReleaseOptions
from hushtable.pipeline.plan import plan
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.run import release
from hushtable.pipeline.untouched import Untouched
from hushtable.privacy.preserve import Promise
from hushtable.table.table import Table


@dataclass(frozen=True, kw_only=True)
class Preflight(Shown):
    """What a recipe would do with a table. It was computed from raw rows, unless the recipe is private: for their holder alone."""

    recipe: str
    private: bool
    """Whether a budget would pay for everything that the recipe reads: then only its plan was judged, and no row was read."""
    rows: int | None = None
    """Of the release; not known for a private recipe."""
    untouched: Untouched
    """The columns that would leave as they are."""
    copies: Copies | None = None
    """How many released rows would be real ones; None for a private recipe."""
    promises: tuple[Promise, ...] = ()

    @property
    def refused(self) -> bool:
        """Whether the release would be refused unless somebody gives a reason."""
        return self.copies is not None and self.copies.too_many

    def __repr__(self) -> str:
        """In one line."""
        if self.copies is None:
            return f"Preflight({self.recipe}: judged by its plan alone, no row was read)"
        verdict = "would be refused" if self.refused else "would not be refused"
        return f"Preflight({self.recipe}: {percent(self.copies.alone)} of the released rows are somebody's alone; it {verdict})"

    def sentences(self) -> list[str]:
        """What was found, for people."""
        if self.copies is None:
            return [
                "Every look at the rows would be paid for by the budget: only the plan was judged, and no row was read. No column "
                "leaves unchanged, and no row of the table is handed out."
            ]
        lines = [self.untouched.sentence(self.promises) or "No column leaves unchanged."]
        share = percent(self.copies.equal)
        lines.append(f"{share[:1].upper()}{share[1:]} of the released rows equal a real row in every column.")
        if self.refused:
            return [*lines, f"It would be refused: {self.copies.refusal(self.untouched.columns)}"]
        return [*lines, f"It would not be refused: {self.copies.words()}."]

    def to_json(self) -> dict[str, Any]:
        """Plain values; as private as the rows."""
        return {
            "recipe": self.recipe,
            "private": self.private,
            "rows": self.rows,
            "untouched": self.untouched.to_json(),
            "copies": None if self.copies is None else self.copies.to_json(),
            "refused": self.refused,
        }


def preflight(table: Table, recipe: Recipe, options: ReleaseOptions, *, progress: Progress = silent) -> Preflight:
    """Run a recipe that reads rows unprotected in memory, and compare what comes out with the rows; nothing is kept.

    A private recipe is planned alone: to look at what it would release is a release.
    """
    budget = options.budget(table.schema)
    learns = options.learn_domain and (table.schema.undeclared or table.schema.drafted)
    planned = learning_domains(recipe) if learns else recipe
    course = plan(planned, table.schema, budget=budget, unit=options.unit, seeded=options.seed is not None)
    if course.ledger.paid and not course.culprits:
        return Preflight(recipe=recipe.recipe, private=True, untouched=Untouched())
    tried = release(table, recipe, replace(options, unproven=True), progress=progress)
    return Preflight(
        recipe=recipe.recipe,
        private=tried.copies is None,
        rows=tried.table.rows,
        untouched=tried.untouched,
        copies=tried.copies,
        promises=tried.guarantee.promises,
    )
