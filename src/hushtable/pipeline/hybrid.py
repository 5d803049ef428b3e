"""Hybrids: recipes composed of an anonymizer, a sampling, a transition back to ordinary values, and a generator.

PRE brings values back before the generator is trained, POST in what it has drawn. Of a release only what its card says survives:
the steps promise, and ``privacy/preserve.py`` says what later ones leave of it. The pipeline is that of M. N. Plasencia Palacios,
Synthetic Tabular Data at the Intersection of AI and Privacy, thesis, University of Trieste 2025, chapter 5; its reading as
differential privacy for groups does not hold (the anonymizer reads raw rows), and is not claimed here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from pathlib import Path
from typing import Any, cast

from hushtable.display import meant
from hushtable.errors import Fault, InputError
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline import registry
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.step import Core, Step
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.preserve import Effect, Promise, Syntactic, preserve
from hushtable.table.columns import Column, Kind, Levels, Role
from hushtable.table.schema import Schema

CITE = (
    "M. N. Plasencia Palacios, Synthetic Tabular Data at the Intersection of AI and Privacy, thesis, University of Trieste 2025, "
    "chapter 5"
)
NONE = "none"
"""No sampling, or no transition."""
USUAL = "k-anonymity"
"""The anonymizer of a hybrid whose name says none."""
_READS_RAW = (Effect.CONDITIONAL, Effect.SINGLE_RAW)
_ANY = Schema((Column(name="any", kind=Kind.CATEGORY, role=Role.QUASI, domain=Levels(("any",)), required=True),))
"""A table of nothing: what steps do to classes is asked of their plans, which need some schema."""


class Order(StrEnum):
    """Where values are brought back."""

    PRE = "pre"
    """Before the generator, which learns from ordinary values."""
    POST = "post"
    """After it: the generator learns generalized values as levels."""


@dataclass(frozen=True)
class Anonymizer:
    """An anonymizer that a hybrid may begin with."""

    recipe: str
    """The recipe whose steps it is."""
    settings: tuple[tuple[str, Any], ...] = ()
    """Knobs that are not as the recipe has them."""
    generalizes: bool = True
    """Whether it leaves generalized values, so that there is something to bring back."""
    samples: bool = False
    """Whether it samples by itself, and with a budget."""

    @cached_property
    def source(self) -> Recipe:
        """The recipe with these knobs."""
        return recipes.load(self.recipe).set(dict(self.settings))


ANONYMIZERS = {
    # As many rows may be suppressed as lose less than coarser levels for all would: as in the source.
    USUAL: Anonymizer("k-anonymity", (("limit", 1.0),)),
    "k-anonymity-local": Anonymizer("k-anonymity-local"),
    "mondrian": Anonymizer("mondrian"),
    "local-suppression": Anonymizer("local-suppression"),
    "mdav": Anonymizer("mdav", generalizes=False),
    "v-mdav": Anonymizer("v-mdav", generalizes=False),
    "m-mdav": Anonymizer("m-mdav", generalizes=False),
    "safe-k": Anonymizer("safe-k", samples=True),
}
"""By the name under which they are asked for."""


@dataclass(frozen=True, kw_only=True)
class Hybrid:
    """The parts of a hybrid; every fault of them is reported at once.

    Without sampling beta is 1, and with beta 1 there is no sampling. What is left empty is as usual: strata and uniform values,
    but no sampling after an anonymizer that samples by itself, and no transition where nothing is generalized.
    """

    generator: str | Recipe
    """A recipe that ends in a generator: by name, from a file, or as an object."""
    order: Order = Order.PRE
    anonymizer: str = USUAL
    k: int = 10
    l: float = 0.0  # noqa: E741 - its name in the field
    """The least diversity of every secret in a class; 0 for none."""
    t: float = 1.0
    """The largest distance of a class's secrets from the table's; 1 asks for none."""
    beta: float = 0.5
    sampling: str = ""
    """none, poisson, random or stratified."""
    transition: str = ""
    """none, single, uniform, conditional or noisy."""
    statistic: str = ""
    """For a single transition."""
    density: str = ""
    """For a conditional transition."""

    def __post_init__(self) -> None:
        """What is left empty filled in; then all faults at once."""
        known = ANONYMIZERS.get(self.anonymizer, ANONYMIZERS[USUAL])
        sampling = self.sampling or (NONE if known.samples else "stratified")
        transition = self.transition or ("uniform" if known.generalizes else NONE)
        values: dict[str, Any] = {"sampling": NONE if self.beta == 1 else sampling, "transition": transition}
        values |= {"beta": 1.0} if sampling == NONE else {}
        # Without values to bring back both orders are one.
        values |= {"order": Order.PRE} if transition == NONE and self.order in tuple(Order) else {}
        for name, value in values.items():
            object.__setattr__(self, name, value)
        if faults := list(self._faults()):
            raise InputError(faults)
        object.__setattr__(self, "order", Order(self.order))

    @classmethod
    def named(cls, name: str) -> Hybrid:
        """The hybrid of a name: ``hybrid-pre-argn``, or ``hybrid-post-mondrian-argn`` with another than the usual anonymizer."""
        _, order, rest = name.split("-", 2)
        begins = [one for one in ANONYMIZERS if rest.startswith(f"{one}-") and not _generates(rest)]
        anonymizer = max(begins, key=len, default=USUAL)
        generator = rest.removeprefix(f"{anonymizer}-") if begins else rest
        return cls(generator=generator, order=Order(order), anonymizer=anonymizer)

    @property
    def name(self) -> str:
        """What its recipe is called; two hybrids that differ in knobs alone have one name."""
        parts = ["hybrid", str(self.order), *([] if self.anonymizer == USUAL else [self.anonymizer]), self.source.recipe]
        return "-".join(parts)

    @cached_property
    def source(self) -> Recipe:
        """The recipe of the generator."""
        return _generator(self.generator)

    @cached_property
    def recipe(self) -> Recipe:
        """All of it as one recipe."""
        back, made = self._transition(), self.source.steps
        steps = (*self._anonymizer(), *self._sample(), *((*back, *made) if self.order is Order.PRE else (*made, *back)))
        assurance, guarantee = self._promised()
        return Recipe(
            recipe=self.name,
            steps=steps,
            title=self._title(),
            family=ANONYMIZERS[self.anonymizer].source.family,
            assurance=assurance,
            guarantee=guarantee,
            cite="; ".join(filter(None, (CITE, self.source.cite))),
            tuned=self.source.tuned,
        )

    def alone(self) -> Recipe:
        """The table that its generator would be trained on, without the sampling: anonymized, and brought back."""
        steps = (*self._anonymizer(), *self._transition())
        back = f", {self._back()}" if self.transition != NONE else ""
        return Recipe(recipe=self.anonymizer, steps=steps, title=f"{self.anonymizer}{back}", cite=CITE)

    def _anonymizer(self) -> tuple[Step, ...]:
        asked = {"k": self.k} | ({"l": self.l} if self.l else {}) | ({"t": self.t} if self.t != 1 else {})
        return ANONYMIZERS[self.anonymizer].source.set(asked).steps

    def _sample(self) -> tuple[Step, ...]:
        return () if self.sampling == NONE else (_step("sample", beta=self.beta, method=self.sampling),)

    def _transition(self) -> tuple[Step, ...]:
        if self.transition == NONE:
            return ()
        knobs = {"how": self.transition, "statistic": self.statistic, "density": self.density}
        return (_step("transition", **{knob: value for knob, value in knobs.items() if value}),)

    def _faults(self) -> Iterator[Fault]:
        if self.order not in tuple(Order):
            yield Fault("order", f"must be one of {', '.join(Order)}, got {self.order!r}")
        if self.anonymizer not in ANONYMIZERS:
            near = meant(self.anonymizer, ANONYMIZERS)
            yield Fault("anonymizer", f"there is no anonymizer {self.anonymizer!r}{near}; there are {', '.join(ANONYMIZERS)}")
        elif not ANONYMIZERS[self.anonymizer].generalizes and self.transition != NONE:
            yield Fault(
                "transition", f"{self.anonymizer} leaves no generalized values, so there is nothing to bring back: take none"
            )
        parts = [lambda: self.source, self._sample, self._transition]
        for part in [*parts, *([self._anonymizer] if self.anonymizer in ANONYMIZERS else [])]:
            try:
                part()
            except InputError as error:
                yield from error.faults

    def _promised(self) -> tuple[Assurance, str]:
        """What it promises at best, by the rules of preservation."""
        promise: Promise | None = Promise(kind=Syntactic.K_ANONYMITY, value=self.k, quasi=_ANY.names)
        effects = [step.plan(_ANY, None).effect for step in (*self._sample(), *self._transition())]
        raw = any(effect in _READS_RAW for effect in effects)
        for effect in (*effects, Effect.GENERATE):
            promise = preserve(promise, effect, self.beta) if promise else None
        words = "" if promise is None or raw else _WORDS[promise.kind, promise.value < self.k]
        proven = any(step.spends for step in self._anonymizer()) and not raw
        verified = f"{words}, derived from the anonymized table (verified)" if words else ""
        if proven:
            return Assurance.PROVEN, " and ".join(filter(None, ("(epsilon, delta)-differential privacy (proven)", verified)))
        if self.source.assurance is Assurance.CLAIMED:
            return Assurance.CLAIMED, f"{verified or 'none'}; what its generator is claimed to have is not proven"
        return (Assurance.VERIFIED, verified) if verified else (Assurance.NONE, "none (empirical only)")

    def _title(self) -> str:
        sample = "" if self.sampling == NONE else f", {_SAMPLES.get(self.sampling, self.sampling)}"
        back = "" if self.transition == NONE else f", {self._back()}"
        start = f"{self.anonymizer}{sample}"
        return (
            f"{start}{back}, then {self.source.recipe}" if self.order is Order.PRE else f"{start}, then {self.source.recipe}{back}"
        )

    def _back(self) -> str:
        more = " ".join(filter(None, (self.statistic, self.density)))
        return f"{self.transition} transition{f' ({more})' if more else ''}"


_WORDS = {
    (Syntactic.K_ANONYMITY, False): "k-anonymity",
    (Syntactic.K_ANONYMITY, True): "k-anonymity with ceil(beta k)",
    (Syntactic.K_MAP, False): "k-map",
}
_SAMPLES = {"poisson": "a Poisson sample", "random": "a random sample", "stratified": "a sample of every class"}


def generators() -> tuple[str, ...]:
    """The recipes of this package that are generators: coders, and one core that draws rows from a model."""
    return tuple(name for name in recipes.names() if _generates(name))


@cache
def _generates(name: str) -> bool:
    """Whether this is the name of a recipe that is a generator. No step is loaded for that: it is asked of all recipes."""
    if name not in recipes.names():
        return False
    rooms = [registry.STEPS[step].split(".")[1] for step in recipes.bundled_steps(name)]
    return rooms == ["encode"] * (len(rooms) - 1) + ["synthesize"]


def _one_core(recipe: Recipe) -> bool:
    """Whether there is one core, the last step. Whether it draws rows is seen in its plan."""
    return [isinstance(step, Core) for step in recipe.steps] == [False] * (len(recipe.steps) - 1) + [True]


def _generator(given: str | Recipe) -> Recipe:
    """The recipe of a generator; InputError if there is none of that name, or it does more than generate."""
    if not isinstance(given, Recipe):
        if Path(given).suffix not in (".yaml", ".yml") and not _generates(given):
            known = f"there are {', '.join(generators())}"
            reason = "anonymizes or masks rows" if given in recipes.names() else f"does not exist{meant(given, generators())}"
            raise InputError(f"{given!r} is no generator: it {reason}; {known}", where="generator")
        given = recipes.load(given)
    if not _one_core(given):
        raise InputError("has more than one core: give a recipe of coders and one generator", where=f"generator {given.recipe}")
    return given


def _step(name: str, **knobs: Any) -> Step:
    """A step by its registered name: the rooms of methods are not known here."""
    return cast(Step, registry.find(name, registry.steps(), "step")(**knobs))
