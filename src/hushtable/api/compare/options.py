"""The options of a comparison, as Python, the command line and a file share them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from numbers import Real
from typing import Any

from hushtable.api.options import plain, recipe_of
from hushtable.display import meant
from hushtable.errors import Fault, InputError
from hushtable.evidence.condition import Condition, Names, joined, parse_conditions
from hushtable.evidence.metrics import FAMILIES, METRICS
from hushtable.measures.catalogue import MEASURES
from hushtable.pipeline.recipe import Recipe
from hushtable.table.arguments import several

ATTACKED = 10_000
"""Training rows, and control rows, that are attacked at most: more make the bounds narrower, and a comparison longer."""
DEFAULT = ("alarms<1",)
"""What is asked for unless alarms are bounded by name: none. That the audit is valid is always asked for."""
NAMES = Names(
    better={joined(name): None for name in METRICS} | {joined(measure.name): measure.better for measure in MEASURES.values()},
    families=tuple(map(joined, FAMILIES)),
    score=True,
)
"""What a constraint may bound: every metric that a comparison may measure."""


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """What to try, what must hold, and how releases are attacked. All faults are reported at once, before a row is read.

    A list may be given as one text or number.
    """

    recipes: tuple[str | Recipe, ...] = ("default",)
    """Recipes by name, file or object; ``default`` is a set that suits the schema."""
    target: str = ""
    """The column whose prediction is the score; the one with the role target when empty."""
    grid: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Values to try by ``recipe.knob``; several knobs of one recipe are tried in all combinations."""
    epsilons: tuple[float, ...] = ()
    """Budgets of all differentially private recipes."""
    constraints: tuple[str, ...] = ()
    """What must hold, such as ``max_gain<0.02``. That no attack raises an alarm is asked for too, unless alarms are named."""
    runs: int = 1
    """Releases of each setting."""
    search: bool = False
    """Whether to look for the last setting of each recipe that keeps the constraints."""
    hold_out: float = 0.25
    """The share of rows that is set aside to attack and test with."""
    person: str | None = None
    """The key column that identifies persons, of whom each lies on one side of the split."""
    rows_per_person: int = 1
    """The most rows one person may hold in a release."""
    workers: int = 1
    """Processes side by side. It changes no result."""
    rows: int | None = None
    """So many rows of the table at most, drawn at random."""
    attacked: int = ATTACKED
    """Rows of each side that are attacked at most."""
    only: tuple[str, ...] = ()
    """The attacks to run by name, all but the costly ones when empty. Measures of utility are always taken, and not named here."""
    public: bool = False
    """Whether the rows are public, or other people's, so that choosing by them costs no privacy."""
    delta: float | None = None
    """Delta of every budget; the default of a release when absent."""
    seed: int = 0
    """Fixes everything but the noise of differential privacy."""

    def __post_init__(self) -> None:
        """Lists from single values, then all faults at once."""
        recipes = (self.recipes,) if isinstance(self.recipes, Recipe) else several(self.recipes)
        object.__setattr__(self, "recipes", recipes)
        for name in ("epsilons", "constraints", "only"):
            object.__setattr__(self, name, several(getattr(self, name)))
        grid = {str(key): tuple(str(value).strip() for value in several(values)) for key, values in self.grid.items()}
        object.__setattr__(self, "grid", {key: tuple(filter(None, values)) for key, values in grid.items()})
        faults = list(self._faults())
        try:
            self.conditions  # noqa: B018 - read once here, and remembered
        except InputError as error:
            faults += error.faults
        if faults:
            raise InputError(faults)

    def _faults(self) -> Iterable[Fault]:
        for name in ("runs", "workers", "rows_per_person"):
            if getattr(self, name) < 1:
                yield Fault(name, f"at least one, got {getattr(self, name)}")
        if self.attacked < 2:
            yield Fault("attacked", f"at least two rows, got {self.attacked}")
        for epsilon in self.epsilons:
            if not (isinstance(epsilon, Real) and 0 < epsilon < float("inf")):
                yield Fault("epsilon", f"must be a positive and finite number, got {epsilon!r}")
        if self.person is None and self.rows_per_person > 1:
            yield Fault("person", "name the key column that identifies persons, if they hold several rows")

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """The constraints, each once; that no alarm is raised is one of them unless alarms are bounded by name."""
        conditions = parse_conditions(self.constraints, "--constraint", NAMES)
        if not any(condition.name == "alarms" for condition in conditions):
            conditions += parse_conditions(DEFAULT, "--constraint", NAMES)
        return tuple({condition.expression: condition for condition in conditions}.values())

    @classmethod
    def of(
        cls, given: CompareOptions | Recipe | str | Sequence[str | Recipe] | None, settings: Mapping[str, Any]
    ) -> CompareOptions:
        """Options given whole, or as recipes and settings by name; a setting of None is the usual one."""
        known = [one.name for one in fields(cls)]
        unknown = [name for name in settings if name not in known]
        if unknown:
            expected = f"there are {', '.join(known)}"
            raise InputError([Fault(name, f"there is no such option{meant(name, known)}; {expected}") for name in unknown])
        named = {name: value for name, value in settings.items() if value is not None}
        if isinstance(given, CompareOptions):
            if named:
                raise InputError(
                    f"are given beside whole options: {', '.join(named)}; change the options instead", where="settings"
                )
            return given
        if given is not None:
            if "recipes" in named:
                raise InputError("are given twice", where="recipes")
            named["recipes"] = given
        return cls(**named)

    def to_json(self) -> dict[str, Any]:
        """As a file holds it; a recipe that is an object as its YAML."""
        return {one.name: plain(getattr(self, one.name)) for one in fields(self)}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> CompareOptions:
        """Read them back; what is missing is as usual. Of a recipe inside the file only steps of this package are built."""
        named = dict(given)
        if "recipes" in named:
            named["recipes"] = tuple(recipe_of(one) for one in several(named["recipes"]))
        return cls.of(None, named)
