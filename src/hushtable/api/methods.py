"""What there is: every recipe, step and audit, with what it promises and its knobs."""

from __future__ import annotations

from typing import Any

from hushtable.errors import InputError
from hushtable.evidence.finding import Audit
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline import registry
from hushtable.pipeline.recipe import defaults, step_name
from hushtable.pipeline.step import Step, documented_knobs


def everything() -> dict[str, list[dict[str, str]]]:
    """All methods, a line each."""
    own = [recipes.load(name) for name in recipes.names()]
    return {
        "recipes": [{"name": r.recipe, "title": r.title, "guarantee": r.guarantee} for r in own],
        "steps": [{"name": name, "summary": _summary(target)} for name, target in registry.steps().items()],
        "audits": [{"name": name, "summary": _summary(target) + _named(target)} for name, target in registry.audits().items()],
    }


def describe(name: str) -> dict[str, Any]:
    """Everything about one recipe (by name or file), step or audit (by name or ``module:Class``)."""
    if name in recipes.names() or name.endswith((".yaml", ".yml")):
        found = recipes.load(name)
        told = {"name": name, "title": found.title, "guarantee": found.guarantee, "cite": found.cite, "reports": found.reports}
        steps = [{"name": step_name(s), "knobs": _knobs(type(s), {k: getattr(s, k) for k in type(s).knobs()})} for s in found.steps]
        return told | {"steps": steps, "recipe": found.dump()}
    kind = registry.load({**registry.audits(), **registry.steps()}.get(name, name)) if _is_class(name) else None
    if kind is not None and issubclass(kind, (Step, Audit)):
        text = " ".join((kind.__doc__ or "").split())
        return {"name": name, "summary": text, "steps": [{"name": name, "knobs": _knobs(kind, dict(defaults(kind)))}]}
    known = ", ".join(dict.fromkeys([*recipes.names(), *registry.steps(), *registry.audits()]))
    raise InputError(f"there is no method {name!r}; there are {known}", where="methods")


def _is_class(name: str) -> bool:
    return ":" in name or name in registry.steps() or name in registry.audits()


def _knobs(kind: type, values: dict[str, Any]) -> list[dict[str, Any]]:
    docs = documented_knobs(kind)
    return [{"name": name, "value": _plain(value), "doc": docs.get(name, "")} for name, value in values.items()]


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else str(value) if isinstance(value, str) else value


def _summary(target: str) -> str:
    return (registry.load(target).__doc__ or "").strip().splitlines()[0]


def _named(target: str) -> str:
    """A word on audits that run only when they are named."""
    kind = registry.load(target)
    return " (only when named)" if issubclass(kind, Audit) and kind.costly else ""
