"""The methods: every recipe, step and audit by family, with the evidence for its guarantee and its knobs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hushtable.data.people import people_schema
from hushtable.display import meant
from hushtable.errors import HushError, InputError, install
from hushtable.evidence.finding import Audit, Subject
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline import registry
from hushtable.pipeline.extras import LIBRARIES, missing_extras
from hushtable.pipeline.hybrid import ANONYMIZERS, Hybrid, Order, generators
from hushtable.pipeline.large import in_memory_only
from hushtable.pipeline.plan import plan
from hushtable.pipeline.recipe import OTHERS, Recipe, defaults, plain_value, step_name
from hushtable.pipeline.step import Reads, Step, documented_knobs
from hushtable.pipeline.structure import with_structure
from hushtable.privacy.unit import Budget, Unit

FAMILIES = (
    "generalize and suppress",
    "microaggregate",
    "differential privacy: models of noisy margins",
    "differential privacy: copulas",
    "differential privacy: mixtures, blocks and means",
    "differential privacy: neural networks",
    "differential privacy: text",
    "no promise",
    OTHERS,
)
"""The families of recipes, in the order in which they are listed."""
ONLY_WHEN_NAMED = "only when named"
AUDIT_FAMILIES = ("attacks and indicators", ONLY_WHEN_NAMED, "utility")
"""The families of audits, in the order in which they are listed."""


def everything() -> dict[str, list[dict[str, str]]]:
    """All methods, a line each."""
    return {
        "recipes": [{"name": name, **_line(recipes.load(name))} for name in recipes.names()],
        "composed": [_composed(order) for order in Order],
        "steps": [{"name": name, **_step_line(registry.load(target))} for name, target in registry.steps().items()],
        "audits": [{"name": name, "summary": _audit_summary(name)} for name in registry.audits()],
    }


def of_any_size() -> list[dict[str, str]]:
    """The recipes that run on tables of any size, a line each; those whose libraries are not installed cannot be planned."""
    return [{"name": name, **_line(recipe)} for name in recipes.names() if any_size(recipe := recipes.load(name))]


def any_size(recipe: Recipe) -> bool:
    """Whether a recipe runs on tables of any size, as it plans itself for ordinary columns: those of the bundled town."""
    unit = Unit(relation=recipe.relation)
    budget = Budget(1.0, 1e-6) if any(step.spends for step in recipe.steps) else None
    schema = people_schema()
    try:
        course = plan(with_structure(recipe, schema, budget, unit), schema, budget=budget, unit=unit, factor=1.0)
        return not in_memory_only(course) and all(planned.plan.reads is not Reads.COLUMNS for planned in course.steps)
    except HushError:
        return False


def by_family() -> dict[str, list[Recipe]]:
    """The recipes that come with the package, family by family."""
    families: dict[str, list[Recipe]] = {name: [] for name in FAMILIES}
    for name in recipes.names():
        recipe = recipes.load(name)
        families[recipe.family].append(recipe)
    return {name: members for name, members in families.items() if members}


def audit_family(name: str) -> str:
    """The family of an audit: it measures utility, is costly and runs only when named, or is one of the rest."""
    known = registry.audits()
    if name not in known:
        raise InputError(f"there is no audit {name!r}{meant(name, known)}; there are {', '.join(sorted(known))}", where="audit")
    kind = registry.load(known[name])
    if getattr(kind, "subject", None) is Subject.UTILITY:
        return "utility"
    return ONLY_WHEN_NAMED if getattr(kind, "costly", False) else "attacks and indicators"


def describe(name: str) -> dict[str, Any]:
    """Everything about one recipe (by name or file), step or audit (by name or ``module:Class``)."""
    if name in recipes.names() or name.endswith((".yaml", ".yml")) or name.startswith(tuple(f"hybrid-{o}-" for o in Order)):
        recipe = recipes.load(name)
        steps = [
            {"name": step_name(s), "knobs": _knobs(type(s), {k: getattr(s, k) for k in type(s).knobs()})} for s in recipe.steps
        ]
        sources = {"cite": recipe.cite, "reports": recipe.reports}
        return {"name": name, **_line(recipe), **sources, "steps": steps, "recipe": recipe.dump()}
    known = {**registry.audits(), **registry.steps()}
    if ":" in name or name in known:
        kind = registry.load(known.get(name, name))
        if issubclass(kind, (Step, Audit)):
            text = " ".join((kind.__doc__ or "").split())
            line = {"name": name, "summary": text, "steps": [{"name": name, "knobs": _knobs(kind, dict(defaults(kind)))}]}
            return line | (_lacking([kind]) if issubclass(kind, Step) else {})
    methods = dict.fromkeys([*recipes.names(), *registry.steps(), *registry.audits()])
    raise InputError(f"there is no method {name!r}{meant(name, methods)}; there are {', '.join(methods)}", where="methods")


def _composed(order: Order) -> dict[str, str]:
    """The recipes that a name composes, as one line: there is one for every generator and every anonymizer."""
    usual = Hybrid(generator="sequential", order=order)
    return {
        "name": f"hybrid-{order}-GENERATOR",
        "title": usual.recipe.title.replace("sequential", "any generator"),
        "guarantee": "what the card says: k of the anonymized table as far as later steps leave it, epsilon after safe-k",
        "generators": ", ".join(generators()),
        "anonymizers": ", ".join(ANONYMIZERS),
    }


def summary(kind: type) -> str:
    """The first line of the documentation of a step or an audit."""
    return (kind.__doc__ or "").strip().splitlines()[0]


def _line(recipe: Recipe) -> dict[str, str]:
    return {
        "title": recipe.title,
        "family": recipe.family,
        "assurance": str(recipe.assurance),
        "guarantee": recipe.guarantee,
        **_lacking(recipe.steps),
    }


def _step_line(kind: type) -> dict[str, str]:
    return {"summary": summary(kind), **(_lacking([kind]) if issubclass(kind, Step) else {})}


def _lacking(steps: Iterable[Step | type[Step]]) -> dict[str, str]:
    """What is not installed here and what to type; nothing where the steps can run."""
    commands = [f"{LIBRARIES[extra]}: {install(extra)}" for extra in missing_extras(steps)]
    return {"needs": "; ".join(commands)} if commands else {}


def _audit_summary(name: str) -> str:
    kind = registry.load(registry.audits()[name])
    costly = issubclass(kind, Audit) and kind.costly
    return f"{summary(kind)} ({ONLY_WHEN_NAMED})" if costly else summary(kind)


def _knobs(kind: type, values: dict[str, Any]) -> list[dict[str, Any]]:
    docs = documented_knobs(kind)
    return [{"name": name, "value": plain_value(value), "doc": docs.get(name, "")} for name, value in values.items()]
