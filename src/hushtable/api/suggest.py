"""A few recipes for what somebody must be able to say, and the error to expect of a budget. No row is read for either."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import NormalDist
from typing import Any

from hushtable.api.advice import advised, happens, usual_seconds
from hushtable.errors import GuaranteeRefused, HushError, install
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.extras import missing_extras
from hushtable.pipeline.learning import learning_domains
from hushtable.pipeline.plan import Course, plan
from hushtable.pipeline.recipe import Recipe
from hushtable.privacy.event import DiscreteGaussian, DiscreteLaplace, Event, StabilityHistogram
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.unit import Budget, Unit, default_delta
from hushtable.table.defaults import lost_texts
from hushtable.table.schema import Schema

MOST = 5
"""A list of more is read by nobody."""
EPSILON = 1.0
"""The budget at which it is tried whether a recipe can be paid for; which recipes can is the same for all usual ones."""
SURE = 0.95
"""The share of noisy counts that stay within the error that is told."""


class Leaves(StrEnum):
    """Who gets the release."""

    ANYBODY = "anybody"
    CONTRACT = "contract"
    NOBODY = "nobody"


class Values(StrEnum):
    """What must be true of released values."""

    TRUE = "true"
    """Each is true of its person, if coarser than it was."""
    AVERAGED = "averaged"
    """Rows stand for people, but numbers may be those of similar people."""
    INVENTED = "invented"
    """Rows may be made up."""


class Use(StrEnum):
    """What the release is for."""

    COUNTS = "counts"
    MODELS = "models"
    TESTS = "tests"
    TEXTS = "texts"


_TRUE = ("k-anonymity", "k-anonymity-local", "mondrian", "local-suppression")
_GROUPS = ("mdav", "v-mdav", "k-anonymity-single", "k-anonymity-uniform")
_TEXTS = {
    Values.TRUE: ("redact", *_TRUE),
    Values.AVERAGED: ("redact", *_GROUPS),
    Values.INVENTED: ("dp-text", "text-votes", "mask-fill", "redact"),
}
_PROVEN = {
    Use.COUNTS: ("privsyn", "mst", "aim", "independent", "mwem", "thresholded"),
    Use.MODELS: ("aim", "field-groups", "privsyn", "mst", "privbayes", "argn-private"),
    Use.TESTS: ("mst", "independent", "privbayes", "aim", "thresholded"),
}
_WITHIN = {
    Use.COUNTS: ("mst", "aim", "mdav-sequential", "sequential", "argn"),
    Use.MODELS: ("aim", "mdav-sequential", "argn", "sequential", "field-groups"),
    Use.TESTS: ("gaussian-copula", "mdav-sequential", "sequential", "mst", "independent"),
}
_TARGET = frozenset({"field-groups"})
"""Recipes that are for one column that is to be predicted."""


def ordered(leaves: Leaves, values: Values, use: Use) -> tuple[str, ...]:
    """The names of the recipes that come into question, the first choice first.

    Whatever anybody can get promises something: a proof where rows may be made up, and else what can be verified.
    """
    if use is Use.TEXTS:
        return _TEXTS[values]
    if values is Values.TRUE:
        return (*_TRUE[:2], "safe-k", *_TRUE[2:]) if leaves is Leaves.ANYBODY else ("local-suppression", *_TRUE[:3], "sample")
    if values is Values.AVERAGED:
        return (*_GROUPS, "safe-noisy") if leaves is Leaves.ANYBODY else (*_GROUPS[:2], "noise", *_GROUPS[2:])
    return (_PROVEN if leaves is Leaves.ANYBODY else _WITHIN)[use]


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """A recipe that fits, in sentences."""

    recipe: str
    title: str
    assurance: Assurance
    promise: str
    values: str
    """What happens to values."""
    use: tuple[str, ...]
    avoid: tuple[str, ...]
    spends: bool
    """Whether it needs a privacy budget."""
    seconds: float | None = None
    """What it takes for 10,000 people of the bundled town on one core; None where that was not measured."""
    learns: tuple[str, ...] = ()
    """Columns whose domains were read off the rows: they are declared, or learned for a part of the budget."""

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        lists = {name: list(getattr(self, name)) for name in ("use", "avoid", "learns")}
        texts = {name: getattr(self, name) for name in ("recipe", "title", "promise", "values", "spends", "seconds")}
        return texts | {"assurance": str(self.assurance)} | lists


@dataclass(frozen=True)
class Suggestions:
    """At most five recipes, the first choice first, and why others were left out."""

    chosen: tuple[Suggestion, ...]
    left_out: Mapping[str, str]
    """Why, by recipe."""

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"chosen": [one.to_json() for one in self.chosen], "left_out": dict(self.left_out)}


def suggest(schema: Schema, leaves: Leaves | str, values: Values | str, use: Use | str, target: str = "") -> Suggestions:
    """The recipes that a schema allows, for who gets the release, what must be true of it, and what it is for.

    >>> import hushtable as ht
    >>> [one.recipe for one in suggest(ht.people(50).schema, "anybody", "true", "counts").chosen]
    ['k-anonymity', 'k-anonymity-local', 'safe-k', 'mondrian', 'local-suppression']
    """
    chosen, left = list[Suggestion](), dict[str, str]()
    for name in ordered(Leaves(leaves), Values(values), Use(use)):
        recipe = recipes.load(name)
        if missing := missing_extras(recipe.steps):
            left[name] = f"it needs what is not installed here: {', '.join(map(install, missing))}"
        elif name in _TARGET and not target:
            left[name] = "it is made for one column that is to be predicted, and none is named"
        elif why := _refused(recipe, schema):
            left[name] = why
        elif len(chosen) < MOST:
            chosen.append(about(recipe, schema))
    return Suggestions(tuple(chosen), left)


def about(recipe: Recipe, schema: Schema) -> Suggestion:
    """A recipe in sentences."""
    spends, said = _spends(recipe), advised(recipe)
    return Suggestion(
        recipe=recipe.recipe,
        title=recipe.title,
        assurance=recipe.assurance,
        promise=recipe.guarantee,
        values=happens(recipe),
        use=tuple(said["use"]),
        avoid=tuple(said["avoid"]),
        spends=spends,
        seconds=usual_seconds(recipe),
        learns=_unknown(recipe, schema) if spends else (),
    )


def _refused(recipe: Recipe, schema: Schema) -> str:
    """Why this recipe cannot work on this schema; empty where it can."""
    try:
        course(recipe, schema, EPSILON)
    except HushError as error:
        return str(error).splitlines()[0].rstrip(".:")
    return ""


def course(recipe: Recipe, schema: Schema, epsilon: float | None, delta: float | None = None, unit: Unit | None = None) -> Course:
    """The plan of a recipe, domains that were read off the rows learned first."""
    own = replace(unit or Unit(), relation=recipe.relation)
    if not _spends(recipe):
        return plan(recipe, schema, unit=own)
    if _unknown(recipe, schema):
        recipe = learning_domains(recipe)
    return _planned(recipe, schema, epsilon, delta, own)


def _planned(
    recipe: Recipe, schema: Schema, epsilon: float | None = None, delta: float | None = None, unit: Unit | None = None
) -> Course:
    """The plan of a private recipe as it is. Its noise follows from the closed form."""
    budget = Budget(EPSILON if epsilon is None else epsilon, default_delta(schema.size) if delta is None else delta)
    return plan(recipe, schema, budget=budget, unit=unit or Unit(relation=recipe.relation), factor=1.0)


@dataclass(frozen=True, kw_only=True)
class Undeclared:
    """What was read off the rows, and keeps a private recipe from being run as it is asked for."""

    columns: tuple[str, ...]
    """Columns that must be declared public, or learned for a part of the budget."""
    codes: bool
    """Whether the missing codes of the whole table are among it."""
    lost: tuple[str, ...]
    """Columns that must be declared: no budget learns a missing code or the format of a number."""


def undeclared(recipe: Recipe, schema: Schema, *, learn: bool) -> Undeclared | None:
    """What must be declared public before this recipe is run, with domains learned or not; None if nothing. No row is read."""
    if not _spends(recipe) or not (schema.undeclared or schema.drafted):
        return None
    lost = lost_texts(schema)
    if learn or any(step.learns_domains for step in recipe.steps):
        return Undeclared(columns=(), codes=False, lost=lost) if lost else None
    try:
        _planned(recipe, schema)
    except GuaranteeRefused:
        # Where it is refused for another reason too, that one is said: to declare would not help.
        return None if _refused(recipe, schema.declared()) else Undeclared(
            columns=_unknown(recipe, schema), codes=schema.drafted, lost=lost
        )  # fmt: skip
    return None


def _unknown(recipe: Recipe, schema: Schema) -> tuple[str, ...]:
    """The columns that the recipe is shown and whose domains were read off the rows."""
    shown = recipe.readable(schema)
    return tuple(name for name in schema.undeclared if name in shown)


def _spends(recipe: Recipe) -> bool:
    return any(step.spends for step in recipe.steps)


@dataclass(frozen=True, kw_only=True)
class Error:
    """By how much noise moves a count of people, as it is planned before any row is read."""

    epsilon: float
    width: float
    """Of 20 counts of single columns 19 are off by no more than this, before a model makes rows of them."""
    step: str
    """The step that counts."""

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"epsilon": self.epsilon, "width": self.width, "step": self.step}


def error_to_expect(
    recipe: Recipe, schema: Schema, epsilon: float, delta: float | None = None, unit: Unit | None = None
) -> Error | None:
    """What a budget means for a count of people; None where the recipe counts nobody. Whatever refuses it is raised.

    The numerical accountant, where it is installed, lets a release do with a little less noise than this.

    >>> import hushtable as ht
    >>> error = error_to_expect(recipes.load("mst"), ht.people(50).schema, 1.0)
    >>> 50 < error.width < 200
    True
    """
    planned = course(recipe, schema, epsilon, delta, unit).steps
    # What counts rows one by one is seen where each person has one row; with more of them all noise grows alike.
    single = planned if unit is None or unit.rows == 1 else course(recipe, schema, epsilon, delta, replace(unit, rows=1)).steps
    for one, alone in zip(reversed(planned), reversed(single), strict=True):
        # Single columns are counted first, and by all recipes.
        if (width := next(_widths(one.plan.events, alone.plan.events), None)) is not None:
            return Error(epsilon=epsilon, width=width, step=one.name)
    return None


def _widths(events: Iterable[Event], single: Iterable[Event]) -> Iterator[float]:
    """Half the width in which a noisy count lies with the probability ``SURE``, for each event that counts rows one by one.

    ``single`` are the same events as they would be if each person had one row.
    """
    for event, alone in zip(events, single, strict=False):
        if isinstance(event, DiscreteLaplace) and isinstance(alone, DiscreteLaplace) and 0 < alone.sensitivity <= 2:
            yield event.scale * math.log(1 / (1 - SURE))
        elif isinstance(event, StabilityHistogram) or (
            isinstance(event, DiscreteGaussian) and isinstance(alone, DiscreteGaussian) and alone.ones and alone.sensitivity
        ):
            yield event.sigma * NormalDist().inv_cdf((1 + SURE) / 2)


SHOWN = 2
MATTER = ("k", "limit", "l", "beta", "sigma", "keep", "p", "bins")
"""Knobs that decide most of a release, in the order in which they are shown."""


def knobs_that_matter(recipe: Recipe) -> tuple[str, ...]:
    """The two knobs to look at first, ``step.knob``: those that decide most, then those of the last step, then all others.

    The budget of a private recipe is no knob of a step, and comes before both.

    >>> knobs_that_matter(recipes.load("k-anonymity"))
    ('generalize.k', 'generalize.limit')
    """
    every = [f"{recipes.step_name(step)}.{knob}" for step in reversed(recipe.steps) for knob in type(step).knobs()]
    first = [name for wanted in MATTER for name in every if name.rpartition(".")[2] == wanted]
    return tuple(dict.fromkeys([*first, *every]))[:SHOWN]
