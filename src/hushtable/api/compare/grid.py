"""What a comparison tries: recipes, each with a few settings of its main knob."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from itertools import product

from hushtable.display import listed
from hushtable.errors import Fault, HushError, InputError, MissingExtra
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.extras import LIBRARIES, missing_extras
from hushtable.pipeline.plan import plan
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.step import knob_fields
from hushtable.privacy.unit import Budget, Unit, default_delta
from hushtable.table.arguments import several
from hushtable.table.schema import Schema

EPSILON = "epsilon"
KNOBS: dict[str, tuple[str, ...]] = {
    EPSILON: ("0.5", "1", "4"),
    "k": ("5", "10", "50"),
    "beta": ("0.05", "0.2", "0.5"),
    "sigma": ("0.05", "0.1", "0.3"),
    "keep": ("0.5", "0.8", "0.95"),
    "rate": ("0.05", "0.1", "0.3"),
    "p": ("2", "5", "15"),
}
"""Main knobs and what is tried of them. A recipe's main knob is the first of these that it has: epsilon if it spends a budget."""
DEFAULT = ("mdav", "k-anonymity", "mondrian", "mst", "aim", "sequential", "argn")
"""What ``default`` stands for: the k-anonymity family, two that are differentially private, and two that promise nothing, to see
what promises cost; of the networks the one that is closest, in a minute. Those that the schema does not allow, or that need what is
not installed, are left out, and a note says why."""


@dataclass(frozen=True)
class Trial:
    """A recipe with all its knobs set, and the budget it is given."""

    recipe: Recipe
    settings: tuple[tuple[str, str], ...] = ()
    epsilon: float | None = None
    unproven: bool = False
    """Whether it is released even if its epsilon is not proven, as where noise is added to a table that is not private."""

    @property
    def id(self) -> str:
        """How people call it: ``mdav k=10``, ``aim epsilon=1``."""
        knobs = list(self.settings)
        if self.epsilon is not None:
            knobs.append((EPSILON, f"{self.epsilon:g}"))
        return " ".join([self.recipe.recipe, *(f"{knob}={value}" for knob, value in knobs)])

    @cached_property
    def file(self) -> str:
        """A name for files, which no other knobs have."""
        return f"{file_name(self.id)[:60]}-{sha256(f'{self.recipe.dump()}{self.epsilon!r}'.encode()).hexdigest()[:8]}"

    @property
    def spends(self) -> bool:
        """Whether it needs a budget."""
        return spends(self.recipe)

    def at(self, knob: str, value: str) -> Trial:
        """The same with another value of one knob."""
        if knob == EPSILON:
            return replace(self, epsilon=float(value))
        settings = dict(self.settings) | {knob: value}
        return replace(self, recipe=self.recipe.set({knob: value}), settings=tuple(settings.items()))

    def value(self, knob: str) -> float:
        """The value of a numeric knob that was set."""
        return self.epsilon if knob == EPSILON and self.epsilon is not None else float(dict(self.settings)[knob])


def file_name(text: str) -> str:
    """A text as the name of a file: what is no letter, digit, point or hyphen becomes a hyphen."""
    return "".join(c if c.isalnum() or c in "-." else "-" for c in text)


def spends(recipe: Recipe) -> bool:
    """Whether a recipe is differentially private, so that epsilon is its knob."""
    return any(step.spends for step in recipe.steps)


def main_knob(recipe: Recipe) -> str:
    """The knob that trades privacy for utility; empty if it has none that we know."""
    if spends(recipe):
        return EPSILON
    owned = [(f.name, step) for step in recipe.steps for f in knob_fields(type(step))]
    # A network has a rate of learning, which is no rate of swapping.
    known = [name for name, step in owned if name == EPSILON or step.extra != "neural"]
    return next((knob for knob in KNOBS if known.count(knob) == 1), "")


def trials(
    schema: Schema, named: Sequence[str | Recipe], grid: Mapping[str, Iterable[object]], epsilons: Sequence[float] = ()
) -> tuple[list[Trial], list[str]]:
    """Everything to try, and notes on what is left out. All faults of all recipes and grids are reported at once.

    ``grid`` holds values by ``recipe.knob``; several knobs of one recipe are tried in all combinations.
    """
    faults: list[Fault] = []
    chosen, notes = _recipes(schema, named, epsilons, faults)
    wanted = _grids(grid, {recipe.recipe: recipe for recipe in chosen}, faults)
    tried = list[Trial]()
    for recipe in chosen:
        try:
            tried += _trials_of(recipe, wanted.get(recipe.recipe, {}), epsilons)
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    return list({trial.id: trial for trial in tried}.values()), notes


def _recipes(
    schema: Schema, named: Sequence[str | Recipe], epsilons: Sequence[float], faults: list[Fault]
) -> tuple[list[Recipe], list[str]]:
    chosen: list[Recipe] = []
    notes: list[str] = []
    for one in named:
        if one == "default":
            fitting, left = _default(schema, epsilons)
            chosen, notes = chosen + fitting, notes + left
            continue
        try:
            chosen.append(one if isinstance(one, Recipe) else recipes.load(one))
        except InputError as error:
            faults += error.faults
    lacking = {recipe.recipe: missing_extras(recipe.steps) for recipe in chosen}
    chosen = [recipe for recipe in chosen if not lacking[recipe.recipe]]
    notes += left_out(lacking)
    different = list({recipe.dump(): recipe for recipe in chosen}.values())
    names = [recipe.recipe for recipe in different]
    faults += [
        Fault(f"recipe {name}", "two different recipes have this name") for name in dict.fromkeys(names) if names.count(name) > 1
    ]
    if not different and not faults:
        faults.append(Fault("recipes", "; ".join(["there is nothing to compare", *notes])))
    return different, notes


def left_out(lacking: Mapping[str, Sequence[str]]) -> list[str]:
    """A line for each extra that is not installed here: the recipes that it takes with it, and the command that brings them in."""
    extras = dict.fromkeys(extra for missing in lacking.values() for extra in missing)
    without = {extra: [name for name, missing in lacking.items() if extra in missing] for extra in extras}
    return [f"{listed(names)} left out: {MissingExtra(LIBRARIES[extra], extra, 'fitting')}." for extra, names in without.items()]


def _default(schema: Schema, epsilons: Sequence[float]) -> tuple[list[Recipe], list[str]]:
    """Recipes that can work on this schema. Plans read no row, so that asking is free."""
    fitting, notes = [], []
    for name in DEFAULT:
        recipe = recipes.load(name)
        epsilon = max(epsilons, default=1.0)
        try:
            budget = Budget(epsilon, default_delta(schema.size)) if spends(recipe) else None
            plan(recipe, schema, budget=budget, unit=Unit(relation=recipe.relation))
        except HushError as error:
            how = ". Declare in the schema what is public knowledge" if spends(recipe) else ""
            notes.append(f"{name} was left out: {str(error).splitlines()[0].rstrip('.:')}{how}.")
        else:
            fitting.append(recipe)
    return fitting, notes


def _grids(
    grid: Mapping[str, Iterable[object]], known: Mapping[str, Recipe], faults: list[Fault]
) -> dict[str, dict[str, list[str]]]:
    """The values to try by recipe and knob; what cannot be tried is added to the faults."""
    wanted: dict[str, dict[str, list[str]]] = {}
    for key, values in grid.items():
        name = max((n for n in known if key.startswith(f"{n}.")), key=len, default="")
        if not name:
            faults.append(Fault(f"--grid {key}", f"expected recipe.knob with one of the recipes compared: {', '.join(known)}"))
            continue
        knob = key.removeprefix(f"{name}.")
        texts = [str(value).strip() for value in several(values) if str(value).strip()]
        wrong = _wrong_values(known[name], knob, texts, f"--grid {key}")
        faults += wrong
        if not wrong:
            wanted.setdefault(name, {})[knob] = texts
    return wanted


def _wrong_values(recipe: Recipe, knob: str, texts: Sequence[str], where: str) -> list[Fault]:
    if not texts:
        return [Fault(where, "names no value")]
    if knob == EPSILON:
        if not spends(recipe):
            return [Fault(where, f"{recipe.recipe} spends no budget, so it has no epsilon")]
        if not all(map(_positive, texts)):
            return [Fault(where, f"expected positive numbers with commas between them, got {','.join(texts)}")]
        return []
    faults = list[Fault]()
    for text in texts:
        try:
            recipe.set({knob: text})
        except InputError as error:
            faults += error.faults
    return list(dict.fromkeys(faults))


def _positive(text: str) -> bool:
    try:
        return 0 < float(text) < float("inf")
    except ValueError:
        return False


def _trials_of(recipe: Recipe, wanted: Mapping[str, Sequence[str]], epsilons: Sequence[float]) -> Iterable[Trial]:
    """The trials of one recipe: its own grid, else the usual values of its main knob."""
    main = main_knob(recipe)
    values = dict(wanted)
    if main == EPSILON and EPSILON not in values:
        values[EPSILON] = [f"{e:g}" for e in epsilons] or list(KNOBS[EPSILON])
    elif not values and main:
        values[main] = list(KNOBS[main])
    budgets: list[float | None] = [float(text) for text in values.pop(EPSILON, [])] or [None]
    for settings in product(*([(knob, text) for text in texts] for knob, texts in values.items())):
        turned = recipe.set(dict(settings))
        for epsilon in budgets:
            yield Trial(turned, settings, epsilon)
