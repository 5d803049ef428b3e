"""The options of a grid of hybrids, as Python, the command line and a file share them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from hushtable.api.compare.grid import spends
from hushtable.api.compare.options import CompareOptions
from hushtable.api.options import plain, recipe_of
from hushtable.display import listed, meant
from hushtable.errors import Fault, InputError
from hushtable.pipeline.hybrid import ANONYMIZERS, NONE, USUAL, Hybrid
from hushtable.pipeline.recipe import Recipe
from hushtable.table.arguments import several

AXES = ("anonymizers", "k", "beta", "sampling", "transition", "density", "order", "generators")
"""What is varied, all combinations of it."""
_UNUSED = ("recipes", "grid", "search")
"""What a comparison is asked and a grid of hybrids is not."""


@dataclass(frozen=True, kw_only=True)
class HybridOptions:
    """Which hybrids to try, what must hold, and how releases are attacked. All faults are reported at once, before a row is read.

    A list may be given as one text or number. The defaults are those of the source, with the generators of this package that are
    closest and quickest; at beta 1 all samplings are one cell.
    """

    k: tuple[int, ...] = (5, 10, 20, 50)
    beta: tuple[float, ...] = (0.1, 0.2, 0.5, 1.0)
    """Shares of the anonymized rows that stay."""
    sampling: tuple[str, ...] = ("random", "stratified")
    """none, poisson, random or stratified."""
    transition: tuple[str, ...] = ("single", "uniform", "conditional")
    """none, single, uniform, conditional, or noisy where a budget is spent. An anonymizer that generalizes nothing has none."""
    density: tuple[str, ...] = ("histogram",)
    """How conditional transitions draw: histogram, kde or multivariate."""
    order: tuple[str, ...] = ("pre", "post")
    """Whether values are brought back before the generator or after it."""
    generators: tuple[str | Recipe, ...] = ("argn", "sequential")
    """Recipes that generate: by name, file or object."""
    anonymizers: tuple[str, ...] = (USUAL,)
    """safe-k samples by itself, so that beta and sampling are its own."""
    l: float = 0.0  # noqa: E741 - its name in the field
    """The least diversity of every secret in a class; 0 for none, 2 in the source."""
    t: float = 1.0
    """The largest distance of a class's secrets from the table's; 1 asks for none."""
    comparison: CompareOptions = field(default_factory=CompareOptions)
    """The target, the constraints, the budgets, the runs, the rows, the attacks and the seed."""

    def __post_init__(self) -> None:
        """Lists from single values, each once; then all faults at once."""
        for axis in AXES:
            given = getattr(self, axis)
            items = (given,) if isinstance(given, Recipe) else several(given)
            object.__setattr__(self, axis, tuple(dict.fromkeys(items)))
        if faults := list(self._faults()):
            raise InputError(faults)

    def _faults(self) -> Iterator[Fault]:
        yield from (Fault(axis, "names no value") for axis in AXES if not getattr(self, axis))
        for axis in AXES:
            for value in getattr(self, axis):
                yield from _faults_of(axis, value)
        known = [name for name in self.anonymizers if name in ANONYMIZERS]
        for name in known:
            yield from (Fault(name, fault.reason) for fault in _tried(anonymizer=name, l=self.l, t=self.t))
        bare = [name for name in known if not ANONYMIZERS[name].generalizes]
        if known and bare == known and self.transition != (NONE,):
            reason = f"{listed(bare)} leaves no generalized values, so there is nothing to bring back: take none"
            yield Fault("transition", reason)
        if not self.comparison.epsilons and (needy := self._spending()):
            yield Fault("epsilon", f"{listed(needy)} spends a privacy budget: give one epsilon or several")

    def _spending(self) -> list[str]:
        """The parts that are differentially private."""
        named = [name for name in self.anonymizers if name in ANONYMIZERS and ANONYMIZERS[name].samples]
        sources = [one for one in self.generators if not _tried(generator=one)]
        private = [source.recipe for source in (Hybrid(generator=one).source for one in sources) if spends(source)]
        return [*named, *private, *(f"the {way} transition" for way in self.transition if way == "noisy")]

    @classmethod
    def of(cls, given: HybridOptions | None, settings: Mapping[str, Any]) -> HybridOptions:
        """Options given whole, or by name: those of the grid and those of the comparison; a setting of None is the usual one."""
        named = {name: value for name, value in settings.items() if value is not None}
        if given is not None:
            if named:
                where = "settings"
                raise InputError(f"are given beside whole options: {', '.join(named)}; change the options instead", where=where)
            return given
        own = [one.name for one in fields(cls) if one.name != "comparison"]
        others = [one.name for one in fields(CompareOptions) if one.name not in _UNUSED]
        unknown = [name for name in named if name not in (*own, *others)]
        faults = [
            Fault(name, f"there is no such option{meant(name, (*own, *others))}; there are {', '.join((*own, *others))}")
            for name in unknown
        ]
        parts: dict[str, Any] = {name: value for name, value in named.items() if name in own}
        try:
            parts["comparison"] = CompareOptions(**{name: value for name, value in named.items() if name in others})
        except InputError as error:
            faults += error.faults
        try:
            options = cls(**parts)
        except InputError as error:
            faults += error.faults
        if faults:
            raise InputError(faults)
        return options

    def to_json(self) -> dict[str, Any]:
        """As a file holds it; a recipe that is an object as its YAML."""
        own = {one.name: plain(getattr(self, one.name)) for one in fields(self) if one.name != "comparison"}
        return own | {"comparison": self.comparison.to_json()}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> HybridOptions:
        """Read them back; what is missing is as usual. Of a recipe inside the file only steps of this package are built."""
        named = dict(given)
        if "generators" in named:
            named["generators"] = tuple(recipe_of(one) for one in several(named["generators"]))
        comparison = CompareOptions.from_json(named.pop("comparison", {}))
        return cls(**named, comparison=comparison)


_PARTS = {"anonymizers": "anonymizer", "generators": "generator"}
"""What an axis is called in a single hybrid, where that is not its own name."""


def _faults_of(axis: str, value: Any) -> Iterator[Fault]:
    """What is wrong with one value of one axis, the rest being as usual."""
    if axis == "density":
        parts = {"transition": "conditional", "density": value}
    else:
        parts = {_PARTS.get(axis, axis): value}
    for fault in _tried(**parts):
        name = value.recipe if isinstance(value, Recipe) else value
        shown = fault.reason if str(name) in fault.reason else f"{fault.reason}, got {name!r}"
        yield Fault(axis, shown)


def _tried(**parts: Any) -> tuple[Fault, ...]:
    """The faults of a hybrid of these parts."""
    try:
        Hybrid(**({"generator": "sequential"} | parts))
    except InputError as error:
        return tuple(error.faults)
    return ()
