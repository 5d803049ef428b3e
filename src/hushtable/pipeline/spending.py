"""What a run that ends in an error has cost: the rows were queried, whether or not anything came of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from hushtable.privacy.ledger import Ledger
from hushtable.privacy.unit import Budget


@dataclass(frozen=True)
class Spending:
    """A stretch of a run. Whatever ends it early, an interrupt included, goes on its way with a note of what was spent."""

    ledger: Ledger
    budget: Budget | None

    def __enter__(self) -> Self:
        """Nothing is spent yet, or something is: the ledger knows."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Add the note, if a query was paid for."""
        if error is not None and self.budget is not None and self.ledger.paid:
            error.add_note(self.note(self.budget.delta))

    def note(self, delta: float) -> str:
        """How much, and by which steps."""
        queries = Counter(entry.step for entry in self.ledger.paid)
        steps = ", ".join(f"{step} ({count} {'query' if count == 1 else 'queries'})" for step, count in queries.items())
        epsilon = self.ledger.epsilon(delta, tight=self.ledger.slots is not None)
        return f"The budget is spent although nothing was released: epsilon {epsilon:.4g} at delta {delta:g}, by {steps}."
