"""The options of a release beside its recipe: the budget, the unit of privacy, the size, the seed.

They are plain values that a YAML file, the command line and Python share.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral
from pathlib import Path
from typing import Any, TypedDict

from hushtable.errors import InputError
from hushtable.privacy.noise import SYSTEM, Entropy
from hushtable.privacy.unit import Budget, Relation, Unit, default_delta
from hushtable.table.arguments import require_options, require_seed
from hushtable.table.schema import Schema

MOST_EPSILON = 1000.0
"""No release spends more: e^1000 bounds nothing, and a model that is fitted to counts without noise takes minutes to hours."""
ALLOW = "allow_copies (--allow-copies)"
UNPUBLISHED = "made to be measured, and never published"
"""The reason of releases that stay in memory: those that a comparison or a study attacks and measures."""


class ReleaseFields(TypedDict, total=False):
    """The fields of ``ReleaseOptions`` as keywords of a call."""

    epsilon: float | None
    delta: float | None
    unit: Unit | None
    rows: int | None
    seed: int | None
    unproven: bool
    learn_domain: bool
    allow_copies: str | None
    entropy: Entropy
    resume: Path | None


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions:
    """What a release may spend, on whom, and what else is decided before its recipe is run."""

    epsilon: float | None = None
    """The privacy budget of the whole release; none for a recipe that spends nothing."""
    delta: float | None = None
    """The delta of the budget; 1e-6 when absent (1e-9 where the schema declares more than 100,000 rows), 0 for pure privacy."""
    unit: Unit = field(default_factory=Unit)
    """Whom the guarantee protects: one record, or one person with several rows; and which tables count as neighbours."""
    rows: int | None = None
    """The rows to synthesize; as many as the model says when absent."""
    seed: int | None = None
    """Fixes everything but the noise of differential privacy, which is always fresh."""
    unproven: bool = False
    """Release even where a step reads rows unprotected, so that epsilon is infinite."""
    learn_domain: bool = False
    """Spend a tenth of the budget on learning the kinds and domains that were read off the rows."""
    allow_copies: str | None = None
    """Why rows of real people may be published as they are, where a release that hands them out would be refused; it stands on
    the card."""
    entropy: Entropy = SYSTEM
    """The source of the noise. Any other than the system's is for tests: it voids the proof, and cannot be saved."""
    resume: Path | None = None
    """A private folder in which long training keeps where it is, and a run with a budget the answers that it has paid for: the same
    run, once stopped, goes on from there. It changes nothing of the result, and is not saved."""

    def __post_init__(self) -> None:
        """Every value in its range; what depends on the table is checked with the table."""
        if self.rows is not None and not (isinstance(self.rows, Integral) and self.rows >= 2):
            raise InputError(f"a release has at least two rows, a whole number, got {self.rows!r}", where="rows")
        require_seed(self.seed)
        if self.resume is not None:
            object.__setattr__(self, "resume", Path(self.resume))
        if self.epsilon is not None:
            Budget(self.epsilon, 0.0 if self.delta is None else self.delta)
            if self.epsilon > MOST_EPSILON:
                raise InputError(
                    f"{self.epsilon:g} promises nothing, as anything may become e^{self.epsilon:g} times as likely: give at most "
                    f"{MOST_EPSILON:,.0f}, and 10 or less for a promise that means something; or take a recipe without a budget",
                    where="epsilon",
                )
        elif self.delta is not None:
            raise InputError("a delta without an epsilon is no budget", where="delta")
        if self.allow_copies is not None and not (isinstance(self.allow_copies, str) and self.allow_copies.strip()):
            raise InputError(
                "takes the reason why rows of real people may be published, as it is to stand on the card", where=ALLOW
            )

    @classmethod
    def of(cls, options: ReleaseOptions | None, keywords: Mapping[str, Any]) -> ReleaseOptions:
        """These options (the defaults when absent) with the keywords of a call in their place; a unit of None is the default."""
        given = {name: value for name, value in keywords.items() if not (name == "unit" and value is None)}
        return replace(options or cls(), **given)

    def budget(self, schema: Schema) -> Budget | None:
        """The budget for a table of this schema, whose declared size decides the default delta."""
        if self.epsilon is None:
            return None
        return Budget(self.epsilon, default_delta(schema.size) if self.delta is None else self.delta)

    def to_json(self) -> dict[str, Any]:
        """Plain values, as a YAML or JSON file holds them. InputError where the noise is not the system's."""
        if self.entropy is not SYSTEM:
            raise InputError("noise that is not the system's own cannot be saved", where="entropy")
        unit = {"relation": str(self.unit.relation), "rows": self.unit.rows, "by": self.unit.by}
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "unit": unit,
            "rows": None if self.rows is None else int(self.rows),
            "seed": None if self.seed is None else int(self.seed),
            "unproven": self.unproven,
            "learn_domain": self.learn_domain,
            "allow_copies": self.allow_copies,
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> ReleaseOptions:
        """Read from plain values; what is absent has its default, and a name that is no option is refused."""
        require_options(cls, plain, but=["entropy", "resume"])
        values = dict(plain)
        if (unit := values.pop("unit", None)) is not None:
            values["unit"] = Unit(
                relation=Relation(unit.get("relation", Relation.ADD_REMOVE)), rows=unit.get("rows", 1), by=unit.get("by")
            )
        return cls(**values)
