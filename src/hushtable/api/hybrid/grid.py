"""The cells of a grid of hybrids: where each stands on the axes, and the trial that it is; and the releases it is held against."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from itertools import product
from typing import Any

from hushtable.api.compare.grid import Trial, left_out, spends
from hushtable.api.hybrid.options import HybridOptions
from hushtable.errors import Fault, HushError, InputError
from hushtable.pipeline import registry
from hushtable.pipeline.extras import missing_extras
from hushtable.pipeline.hybrid import ANONYMIZERS, NONE, Hybrid
from hushtable.pipeline.plan import plan
from hushtable.pipeline.recipe import Recipe
from hushtable.privacy.unit import Budget, Unit, default_delta
from hushtable.table.lenient import finite, whole
from hushtable.table.schema import Schema
from hushtable.table.table import Table

Value = str | float | int | None
"""Where a cell stands on an axis; None where it does not stand on it."""
AXES = ("anonymizer", "k", "beta", "sampling", "transition", "order", "generator", "epsilon")
ORIGINAL = "original"


class Stage(StrEnum):
    """How far down the pipeline a release was made."""

    ORIGINAL = "original"
    """The training rows as they are."""
    ANONYMIZED = "anonymized"
    """Anonymized and brought back, without sample and generator."""
    GENERATED = "generated"
    """By the generator alone, from raw rows."""
    HYBRID = "hybrid"
    """All of it."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a release stands: its stage, and its value on every axis that it has one on."""

    stage: Stage = Stage.HYBRID
    anonymizer: str | None = None
    k: int | None = None
    beta: float | None = None
    sampling: str | None = None
    transition: str | None = None
    """With its density, where that is not the usual one: ``conditional kde``."""
    order: str | None = None
    generator: str | None = None
    epsilon: float | None = None

    def on(self, axis: str) -> Value:
        """Its value on an axis."""
        value: Value = getattr(self, axis)
        return value

    def to_json(self) -> dict[str, Any]:
        """As ``hybrid.json`` holds it."""
        return {one.name: None if (value := getattr(self, one.name)) is None else value for one in fields(self)}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Place:
        """Read it back."""
        texts = {name: given.get(name) for name in ("anonymizer", "sampling", "transition", "order", "generator")}
        stage = given.get("stage")
        return cls(
            stage=Stage(stage) if stage in list(Stage) else Stage.HYBRID,
            k=whole(given.get("k")),
            beta=finite(given.get("beta")),
            epsilon=finite(given.get("epsilon")),
            **{name: None if text is None else str(text) for name, text in texts.items()},
        )


@dataclass(frozen=True)
class Grid:
    """Every release of a grid, by its place, and notes on what is left out."""

    places: Mapping[str, Place]
    """By the name of the trial."""
    trials: Sequence[Trial]
    beside: Sequence[Trial]
    """The original, which is never recommended."""
    notes: Sequence[str] = ()

    @classmethod
    def of(cls, options: HybridOptions, train: Table) -> Grid:
        """The grid for these training rows; whatever cannot be made of them is reported at once, before any work."""
        sources = {_name(one): Hybrid(generator=one).source for one in options.generators}
        lacking = {name: missing_extras(source.steps) for name, source in sources.items()}
        notes = left_out(lacking)
        usable = [source for name, source in sources.items() if not lacking[name]]
        if not usable:
            raise InputError("; ".join(["there is nothing to generate with", *notes]), where="generators")
        made = list(dict.fromkeys(_hybrids(options, usable)))
        faults = [*_too_few(options, train), *_unplannable(made, train.schema, options)]
        if faults:
            raise InputError(faults)
        placed = [
            *(
                (Place(stage=Stage.GENERATED, generator=one.recipe, epsilon=e), Trial(one, (), e))
                for one, e in _budgeted(usable, options)
            ),
            *_anonymized(made, options),
            *(_placed(one, epsilon) for one in made for epsilon in _epsilons(one.recipe, options)),
        ]
        first = Trial(Recipe(recipe=ORIGINAL, title="the rows as they are", steps=(_everybody(),)))
        places = {trial.id: place for place, trial in placed} | {first.id: Place(stage=Stage.ORIGINAL)}
        trials = {trial.id: trial for _, trial in placed}
        return cls(places, list(trials.values()), [first], [*notes, *_notes(options)])


def _name(generator: str | Recipe) -> str:
    return generator.recipe if isinstance(generator, Recipe) else generator


def _hybrids(options: HybridOptions, sources: Sequence[Recipe]) -> Iterator[Hybrid]:
    """All combinations; those that are one hybrid come several times."""
    ways = [(way, density) for way in options.transition for density in (options.density if way == "conditional" else ("",))]
    for anonymizer, k, beta, sampling in product(options.anonymizers, options.k, options.beta, options.sampling):
        known = ANONYMIZERS[anonymizer]
        own = {"beta": 1.0, "sampling": NONE} if known.samples else {"beta": float(beta), "sampling": sampling}
        for (way, density), order, source in product(ways, options.order, sources):
            back = {"transition": way, "density": density} if known.generalizes else {"transition": NONE}
            yield Hybrid(generator=source, order=order, anonymizer=anonymizer, k=int(k), l=options.l, t=options.t, **own, **back)  # type: ignore[arg-type]


def _epsilons(recipe: Recipe, options: HybridOptions) -> tuple[float | None, ...]:
    return options.comparison.epsilons if spends(recipe) else (None,)


def _budgeted(recipes: Sequence[Recipe], options: HybridOptions) -> Iterator[tuple[Recipe, float | None]]:
    for recipe in recipes:
        for epsilon in _epsilons(recipe, options):
            yield recipe, epsilon


def _placed(hybrid: Hybrid, epsilon: float | None) -> tuple[Place, Trial]:
    samples = ANONYMIZERS[hybrid.anonymizer].samples
    way = _way(hybrid)
    place = Place(
        anonymizer=hybrid.anonymizer,
        k=hybrid.k,
        beta=None if samples else hybrid.beta,
        sampling=None if samples else hybrid.sampling,
        transition=way,
        order=None if way == NONE else str(hybrid.order),
        generator=hybrid.source.recipe,
        epsilon=epsilon,
    )
    return place, _trial(hybrid.recipe, place, ("k", "beta", "sampling", "transition"))


def _anonymized(hybrids: Sequence[Hybrid], options: HybridOptions) -> Iterator[tuple[Place, Trial]]:
    """The tables that generators are trained on, whole; and as they were before values were brought back."""
    for hybrid in {(one.anonymizer, one.k, one.transition, one.density): one for one in hybrids}.values():
        bare = Hybrid(generator=hybrid.generator, anonymizer=hybrid.anonymizer, k=hybrid.k, l=hybrid.l, t=hybrid.t, transition=NONE)
        for one in (bare, hybrid):
            recipe = one.alone()
            for epsilon in _epsilons(recipe, options):
                place = Place(stage=Stage.ANONYMIZED, anonymizer=one.anonymizer, k=one.k, transition=_way(one), epsilon=epsilon)
                yield place, _trial(recipe, place, ("k", "transition"))


def _way(hybrid: Hybrid) -> str:
    usual = hybrid.density in ("", "histogram")
    return hybrid.transition if usual else f"{hybrid.transition} {hybrid.density}"


def _trial(recipe: Recipe, place: Place, shown: Sequence[str]) -> Trial:
    values = [(axis, place.on(axis)) for axis in shown]
    settings = tuple((axis, f"{v:g}" if isinstance(v, float) else str(v)) for axis, v in values if v not in (None, NONE))
    # What its budget proves, if anything, is on its card: a cell that proves nothing is an answer too.
    return Trial(recipe, settings, place.epsilon, unproven=place.epsilon is not None)


def _everybody() -> Any:
    return registry.find("sample", registry.steps(), "step")(beta=1.0)


def _too_few(options: HybridOptions, train: Table) -> list[Fault]:
    return [Fault("k", f"there are {train.rows:,} training rows, got {k}") for k in options.k if k > train.rows]


def _unplannable(hybrids: Sequence[Hybrid], schema: Schema, options: HybridOptions) -> list[Fault]:
    """What the schema does not allow, a line for each combination of parts whatever its numbers are."""
    chosen = {(h.anonymizer, h.transition, h.density, h.order, h.source.recipe): h for h in hybrids}
    faults = dict[str, Fault]()
    delta = default_delta(schema.size) if options.comparison.delta is None else options.comparison.delta
    for recipe in (one.recipe for one in chosen.values()):
        epsilon = max(options.comparison.epsilons, default=1.0)
        budget = Budget(epsilon, delta) if spends(recipe) else None
        try:
            course = plan(recipe, schema, budget=budget, unit=Unit(relation=recipe.relation), factor=1.0 if budget else None)
        except HushError as error:
            reason = str(error).splitlines()[0]
            faults.setdefault(reason, Fault(recipe.recipe, reason))
            continue
        if course.drawn is None:
            faults.setdefault(recipe.recipe, Fault(recipe.recipe, "its generator hands on rows, and draws none"))
    return list(faults.values())


def _notes(options: HybridOptions) -> list[str]:
    """Which cells are one."""
    bare = [name for name in options.anonymizers if not ANONYMIZERS[name].generalizes]
    own = [name for name in options.anonymizers if ANONYMIZERS[name].samples]
    return [
        *(f"{name} generalizes no value: its cells have no transition, and one order." for name in bare),
        *(f"{name} samples by itself, at the rate that its budget and k allow: its cells have no other sampling." for name in own),
    ]
