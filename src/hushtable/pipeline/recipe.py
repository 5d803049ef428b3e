"""Recipes: a tuple of steps with a name, written as YAML and read back exactly.

::

    recipe: mdav
    title: MDAV microaggregation
    family: microaggregate
    assurance: verified
    steps:
      - microaggregate: {k: 10}
"""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from hushtable.display import Shown, meant
from hushtable.errors import Fault, InputError
from hushtable.pipeline import registry
from hushtable.pipeline.step import Step, knob_fields
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.unit import Relation
from hushtable.table.disk import inside_release, read_text
from hushtable.table.schema import Schema

OTHERS = "others"
"""The family of a recipe that names none."""
_TEXTS = ("title", "family", "assurance", "guarantee", "cite", "reports", "tuned")
_KEYS = ("recipe", *_TEXTS, "steps")


@dataclass(frozen=True, kw_only=True)
class Recipe(Shown):
    """What to do, completely.

    The same recipe on the same rows with the same seed gives the same release, but for the noise of differential privacy.
    """

    recipe: str
    steps: tuple[Step, ...]
    title: str = ""
    family: str = OTHERS
    """The methods it is listed with."""
    assurance: Assurance = Assurance.NONE
    """The evidence that a release by it can have at best, for the table of methods; what a release has is on its card."""
    guarantee: str = ""
    """What it promises at best, for the table of methods; what a release promises is on its card."""
    cite: str = ""
    reports: str = ""
    """What its source reports, to compare with."""
    tuned: str = "no"
    """Where its knobs were tuned: no, public, or private (which voids a proof)."""

    @property
    def relation(self) -> Relation:
        """The neighbouring relation that it is proven for: one record replaced by another if one of its steps needs that."""
        replaced = any(step.relation is Relation.REPLACE_ONE for step in self.steps)
        return Relation.REPLACE_ONE if replaced else Relation.ADD_REMOVE

    @property
    def reads_text(self) -> bool:
        """Whether one of its steps is shown the columns of free text."""
        return any(step.reads_text for step in self.steps)

    def readable(self, schema: Schema) -> tuple[str, ...]:
        """The columns of a table that its steps are shown: those that may leave, and free text where a step reads it."""
        shown = {*schema.released, *(schema.texts if self.reads_text else ())}
        return tuple(name for name in schema.names if name in shown)

    def quick(self) -> Recipe:
        """The same with as little work as its steps can do, to see that it runs."""
        return replace(self, steps=tuple(replace(step, **step.quick) for step in self.steps))  # type: ignore[type-var]

    def __post_init__(self) -> None:
        """At least one step, and words that are known."""
        if not self.steps:
            raise InputError("has no steps", where=f"recipe {self.recipe}")
        if self.tuned not in ("no", "public", "private"):
            raise InputError(f"tuned is no, public or private, got {self.tuned!r}", where=f"recipe {self.recipe}")
        if self.assurance not in tuple(Assurance):
            known = ", ".join(Assurance)
            raise InputError(f"assurance is one of {known}, got {str(self.assurance)!r}", where=f"recipe {self.recipe}")
        object.__setattr__(self, "assurance", Assurance(self.assurance))

    @classmethod
    def parse(cls, text: str, where: str = "recipe", *, trust: bool = True) -> Recipe:
        """Read a recipe from YAML; every fault is listed at once.

        A step is a name, or ``module:Class``, which runs that module. Without ``trust`` only the steps of this package are built.
        """
        document = _document(text, where)
        faults = [
            Fault(where, f"unknown entry {key!r}{meant(str(key), _KEYS)}; expected {', '.join(_KEYS)}")
            for key in document
            if key not in _KEYS
        ]
        steps = []
        for number, line in enumerate(document["steps"], 1):
            try:
                steps.append(_step(line, f"{where}, step {number}", trust=trust))
            except InputError as error:
                faults += error.faults
        if faults:
            raise InputError(faults)
        texts: dict[str, Any] = {key: str(document[key]) for key in _TEXTS if key in document}
        return cls(recipe=_name(document), steps=tuple(steps), **texts)

    def dump(self) -> str:
        """The recipe as YAML, every knob written out, and of the texts those that are not as they are by default."""
        usual = {f.name: f.default for f in fields(self)}
        document: dict[str, Any] = {"recipe": self.recipe}
        document |= {key: str(getattr(self, key)) for key in _TEXTS if getattr(self, key) != usual[key]}
        document["steps"] = [
            {step_name(step): {f.name: plain_value(getattr(step, f.name)) for f in knob_fields(type(step))}} for step in self.steps
        ]
        return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000, default_flow_style=None)

    def set(self, settings: Mapping[str, Any]) -> Recipe:
        """Knobs changed by value or text: ``k`` where one step alone has it, ``microaggregate.k`` otherwise."""
        return replace(self, steps=tuple(turned([(step_name(step), step) for step in self.steps], settings, "step")))


def turned(named: Iterable[tuple[str, Any]], settings: Mapping[str, Any], what: str) -> list[Any]:
    """Frozen dataclasses with knobs changed by value or text; every fault is listed at once.

    ``named`` are pairs of a name and a dataclass, and ``what`` is the word for one of them in messages: step, audit.
    """
    pairs = list(named)
    names, things, faults = [name for name, _ in pairs], [thing for _, thing in pairs], []
    for key, given in settings.items():
        name, _, knob = key.rpartition(".")
        owners = [i for i, t in enumerate(things) if knob in _field_types(type(t)) and name in ("", names[i])]
        if len(owners) != 1 and not (owners and all(knob in getattr(things[i], "common", ()) for i in owners)):
            known = {f"{names[i]}.{k}": k for i, t in enumerate(things) for k in _field_types(type(t))}
            near = meant(key, known if name else known.values())
            reason = f"several {what}s have this knob" if owners else f"no {what} has this knob{near}"
            faults.append(Fault(f"knob {key}", f"{reason}; there are {', '.join(known)}"))
            continue
        try:
            for owner in owners:
                kind = type(things[owner])
                value = _given(given, _field_types(kind)[knob], _between(kind, knob))
                things[owner] = replace(things[owner], **{knob: value})
        except InputError as error:
            faults += [replace(fault, where=f"knob {key}") for fault in error.faults]
        except ValueError:
            faults.append(Fault(f"knob {key}", f"cannot read {given!r} as a value of {knob}"))
    if faults:
        raise InputError(faults)
    return things


def described(text: str, where: str = "recipe") -> dict[str, str]:
    """Name, title and source in a recipe file. Unlike ``parse`` it loads no step, so that it is safe for a stranger's file."""
    document = _document(text, where)
    return {"recipe": _name(document), **{key: str(document.get(key, "")) for key in ("title", "cite")}}


def step_names(text: str, where: str = "recipe") -> tuple[str, ...]:
    """The names of the steps in a recipe file, again without loading one."""
    return tuple(_named(line, f"{where}, step {number}")[0] for number, line in enumerate(_document(text, where)["steps"], 1))


def _document(text: str, where: str) -> Mapping[str, Any]:
    try:
        document = yaml.load(text, Loader=_Loader)  # noqa: S506
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError(f"not valid YAML: {getattr(error, 'problem', error)}", where=where) from None
    if not isinstance(document, Mapping) or not isinstance(document.get("steps"), list):
        raise InputError("expected a mapping with 'recipe:' and a list 'steps:'", where=where)
    return document


def _name(document: Mapping[str, Any]) -> str:
    return str(document.get("recipe", "unnamed"))


def load(name_or_file: str | Path, *, trust: bool = False) -> Recipe:
    """A recipe of ours by name, one composed by its name (``hybrid-pre-argn``), or one from a file.

    A file of your own may name any code. One that lies in a release was perhaps written by somebody else: with ``trust`` alone it
    runs more than the steps of this package.
    """
    path = Path(name_or_file)
    if path.suffix in (".yaml", ".yml"):
        where = f"recipe {path.name}"
        return Recipe.parse(read_text(path, where), where=where, trust=trust or not inside_release(path))
    if str(name_or_file).startswith(("hybrid-pre-", "hybrid-post-")):
        # It composes recipes, and so imports this module.
        from hushtable.pipeline.hybrid import Hybrid

        return Hybrid.named(str(name_or_file)).recipe
    known = names()
    if str(name_or_file) not in known:
        raise InputError(
            f"there is no recipe {str(name_or_file)!r}{meant(str(name_or_file), known)}; there are {', '.join(known)}, and "
            "hybrid-pre-GENERATOR and hybrid-post-GENERATOR for every one of these that generates",
            where="recipe",
        )
    return Recipe.parse(_bundled(str(name_or_file)), where=f"recipe {name_or_file}")


def bundled_steps(name: str) -> tuple[str, ...]:
    """The names of the steps of a recipe that comes with the package, without loading one."""
    return step_names(_bundled(name), f"recipe {name}")


def _bundled(name: str) -> str:
    return (files("hushtable.recipes") / f"{name}.yaml").read_text(encoding="utf-8")


def names() -> list[str]:
    """The recipes that come with the package."""
    return sorted(f.name.removesuffix(".yaml") for f in files("hushtable.recipes").iterdir() if f.name.endswith(".yaml"))


def step_name(step: Step) -> str:
    """The name a step is registered under, or its ``module:Class``."""
    target = f"{type(step).__module__}:{type(step).__qualname__}"
    return next((name for name, known in registry.steps().items() if known == target), target)


class _Loader(yaml.SafeLoader):
    """Only true and false are booleans: ``no`` and ``on`` are words."""


class _Dumper(yaml.SafeDumper):
    """Writes what ``_Loader`` reads."""


_BOOLEAN = "tag:yaml.org,2002:bool"
for _tool in (_Loader, _Dumper):
    _tool.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != _BOOLEAN]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    _tool.add_implicit_resolver(_BOOLEAN, yaml.reader.re.compile(r"^(?:true|false)$"), list("tf"))  # type: ignore[attr-defined]


def _step(line: object, where: str, *, trust: bool) -> Step:
    name, knobs = _named(line, where)
    known = registry.steps()
    if not trust and name not in registry.STEPS and (":" in name or name in known):
        raise InputError(
            f"{name!r} is no step of hushtable, and a recipe that came with a release runs no other code. Read that code; then "
            "give --trust (hush apply, audit, verify; in Python trust=True), or copy the recipe out of the release",
            where=where,
        )
    kind = registry.find(name, known, "step")
    if not issubclass(kind, Step):
        raise InputError(f"{name!r} is not a step", where=where)
    types_ = _field_types(kind)
    if not isinstance(knobs, Mapping):
        raise InputError(f"expected knobs as {{knob: value}} after the name, got {knobs!r}", where=f"{where} ({name})")
    faults = [
        Fault(f"{where} ({name})", f"unknown knob {k!r}{meant(str(k), types_)}; there are {', '.join(types_)}")
        for k in knobs
        if k not in types_
    ]
    if faults:
        raise InputError(faults)
    return kind(**{k: _coerce(v, types_[k], f"{where} ({name}): {k}") for k, v in knobs.items()})


def _named(line: object, where: str) -> tuple[str, Any]:
    """The name of a step and what stands after it."""
    if isinstance(line, str):
        return line, {}
    if not isinstance(line, Mapping) or len(line) != 1:
        raise InputError("expected one 'name: {knob: value}'", where=where)
    ((name, knobs),) = line.items()
    return str(name), {} if knobs is None else knobs


def _field_types(kind: type) -> Mapping[str, Any]:
    return _types(kind)


@cache
def _types(kind: type) -> Mapping[str, Any]:
    hints = typing.get_type_hints(kind)
    return {f.name: hints[f.name] for f in fields(kind)}


def plain_value(value: Any) -> Any:
    """The value of a knob as YAML and JSON write it: a tuple as a list, an enum as its text."""
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, str) else value


def _options(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)


def _coerce(value: Any, hint: Any, where: str) -> Any:
    """A YAML value as the type of the knob; InputError if it cannot be."""
    for option in _options(hint):
        origin = typing.get_origin(option) or option
        if option is types.NoneType and value is None:
            return None
        if origin is tuple and isinstance(value, list):
            inner = typing.get_args(option)[0]
            return tuple(_coerce(item, inner, where) for item in value)
        if origin is float and isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
        if isinstance(origin, type) and isinstance(value, origin) and not (origin is int and isinstance(value, bool)):
            return value
        if isinstance(origin, type) and issubclass(origin, str) and isinstance(value, str):
            try:
                return origin(value)
            except ValueError:
                raise InputError(f"expected one of {', '.join(origin)}, got {value!r}", where=where) from None  # type: ignore[arg-type]
    raise InputError(f"expected {_plain(hint)}, got {value!r}", where=where)


def _plain(hint: Any) -> str:
    words = {int: "a whole number", float: "a number", str: "a text", bool: "true or false", types.NoneType: "nothing"}
    return " or ".join(words.get(option, "a list") for option in _options(hint))


def _between(kind: type, knob: str) -> str:
    """What stands between the items of a knob that is a list: a comma, unless its items hold commas and its field says so."""
    return next(str(f.metadata.get("between", ",")) for f in fields(kind) if f.name == knob)


def _given(given: Any, hint: Any, between: str) -> Any:
    """A knob as Python gives it (a tuple or a set is a list), or as text."""
    if isinstance(given, str):
        return _from_text(given, hint, between)
    if isinstance(given, (set, frozenset)):
        return _coerce(sorted(given), hint, "knob")
    return _coerce(list(given) if isinstance(given, tuple) else given, hint, "knob")


def _from_text(text: str, hint: Any, between: str = ",") -> Any:
    """A knob from the command line; a list as items with ``between`` between them, or as JSON in quotation marks."""
    options = _options(hint)
    if any((typing.get_origin(o) or o) is tuple for o in options):
        inner = typing.get_args(next(o for o in options if (typing.get_origin(o) or o) is tuple))[0]
        parts = _quoted(text) or (text if between != "," else text.strip("[]")).split(between)
        return tuple(inner(part.strip()) for part in parts if part.strip())
    if types.NoneType in options and text.lower() in ("none", "null", ""):
        return None
    value = text if options[0] is str else yaml.load(text, Loader=_Loader)  # noqa: S506
    return _coerce(value, hint, "knob")


def _quoted(text: str) -> list[str]:
    """The texts of a JSON list; none if it is no list of texts."""
    try:
        items = json.loads(text)
    except ValueError:
        return []
    return items if isinstance(items, list) and all(isinstance(item, str) for item in items) else []


def defaults(kind: type) -> Iterable[tuple[str, Any]]:
    """Each knob and its default, for listings."""
    for f in knob_fields(kind):
        yield f.name, None if f.default is MISSING else f.default
