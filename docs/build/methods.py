"""A page for every recipe and an overview of all: read off the recipes, the steps and their knobs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from docs.build import markdown as md
from docs.build.pictures import EPSILON, ROWS
from hushtable.api.advice import advised, overview
from hushtable.api.methods import by_family, everything
from hushtable.errors import install
from hushtable.pipeline.recipe import Recipe, step_name
from hushtable.pipeline.step import Step, documented_knobs
from hushtable.privacy.unit import Relation
from hushtable.report.promise import ASSURANCES

Picture = Callable[[str], str]


NEEDED = {"model": "minilm", "pool": "public.txt"}
"""What a classifier of text cannot do without: a public model, and public texts."""


@dataclass(frozen=True)
class Example:
    """How a recipe is called once, on the command line and from Python."""

    recipe: str
    settings: dict[str, Any]
    epsilon: float | None
    relation: Relation

    @classmethod
    def of(cls, recipe: Recipe) -> Example:
        """Its k, if one step has one that is not left to the step, and a budget, if it spends one."""
        ks = [step.k for step in recipe.steps if getattr(step, "k", 0)]
        spends = any(step.spends for step in recipe.steps)
        settings: dict[str, Any] = {"k": 10} if len(ks) == 1 and isinstance(ks[0], int) else {}
        if any("model" in step.common for step in recipe.steps):
            settings["model"] = "smollm2"
        if any(hasattr(step, "pool") for step in recipe.steps):
            settings |= NEEDED
        return cls(recipe.recipe, settings, 1.0 if spends else None, recipe.relation)

    def command(self) -> str:
        """As it is typed."""
        parts = [f"hush release patients.csv --schema schema.yaml --recipe {self.recipe}"]
        parts += [f"--set {name}={value}" for name, value in self.settings.items()]
        parts += [f"--epsilon {self.epsilon:g}"] if self.epsilon else []
        parts += [f"--relation {self.relation}"] if self.relation is not Relation.ADD_REMOVE else []
        return " ".join([*parts, "--out release"])

    def python(self) -> str:
        """As it is written."""
        parts = [f'"{self.recipe}"', *(f"{name}={value!r}" for name, value in self.settings.items())]
        parts += [f"epsilon={self.epsilon:g}"] if self.epsilon else []
        parts += [f'unit=ht.Unit(relation="{self.relation}")'] if self.relation is not Relation.ADD_REMOVE else []
        read = 'import hushtable as ht\n\ntable = ht.read("patients.csv", "schema.yaml")'
        return f"{read}\nrelease = ht.release(table, {', '.join(parts)})"


def pages(picture: Picture | None) -> dict[str, str]:
    """Every page by its path."""
    known = by_family()
    pages = {"methods/index.md": _overview(known)}
    for members in known.values():
        for recipe in members:
            pages[f"methods/{recipe.recipe}.md"] = _page(recipe, picture, [r.recipe for r in members if r is not recipe])
    return pages


def nav() -> list[Any]:
    """The methods, family by family."""
    return [{"All methods": "methods/index.md"}] + [
        {_title(name): [{r.recipe: f"methods/{r.recipe}.md"} for r in members]} for name, members in by_family().items()
    ]


def badge(word: str) -> str:
    """Shape and word of a kind of assurance."""
    return f'<span class="hush-badge {word}"><span aria-hidden="true">{ASSURANCES[word][0]}</span> {word}</span>'


def knobs(kind: type, values: dict[str, Any]) -> str:
    """Every knob of a step or an audit with its value and its docstring."""
    docs = documented_knobs(kind)
    if not values:
        return "It has no knobs."
    rows = [[md.code(name), md.code(_plain(value)), md.escaped(docs.get(name, ""))] for name, value in values.items()]
    return md.table(["knob", "value", "what it does"], rows)


def _overview(known: dict[str, list[Recipe]]) -> str:
    parts = [
        "# Methods",
        "Every recipe, by family. The badge is the best evidence that a release by it can have; what *your* release has is on its "
        "card. [Choosing a release](../choosing.md) helps to pick one.",
        *(f"{badge(word)} {meaning}<br>" for word, (_, meaning) in ASSURANCES.items()),
    ]
    does = overview("recipes")
    for name, members in known.items():
        rows = [
            [
                f"[{r.recipe}]({r.recipe}.md)<br>{badge(str(r.assurance))}",
                md.escaped(r.title),
                does[r.recipe],
                md.escaped(r.guarantee),
            ]
            for r in members
        ]
        parts += [f"## {_title(name)}", md.table(["recipe", "title", "what it does", "guarantee"], rows)]
    composed = [
        [md.code(line["name"]), md.escaped(line["title"]), md.escaped(line["guarantee"])] for line in everything()["composed"]
    ]
    parts += [
        "## Composed by name",
        "Every generator of this page has two more names, and with another anonymizer two more again: [hybrids](../hybrids.md).",
        md.table(["recipe", "title", "guarantee"], composed),
    ]
    return "\n\n".join(parts) + "\n"


def _page(recipe: Recipe, picture: Picture | None, others: list[str]) -> str:
    word, example, advice = str(recipe.assurance), Example.of(recipe), advised(recipe)
    drawn = picture(recipe.recipe) if picture is not None else ""
    parts = [
        f"# {recipe.recipe}",
        f"**{md.escaped(recipe.title)}**: {overview('recipes')[recipe.recipe]}.",
        f"{badge(word)} {md.escaped(recipe.guarantee)}",
        f"*{word.capitalize()}*: {ASSURANCES[word][1]}.",
        *[f"It needs `{install(extra)}`." for extra in dict.fromkeys(step.extra for step in recipe.steps if step.extra)],
        *_drawn(drawn, private=example.epsilon is not None),
        "## When to use it",
        "\n".join([f"- **Take it if** {md.escaped(text)}." for text in advice["use"]]),
        "\n".join([f"- **Look elsewhere if** {md.escaped(text)}." for text in advice["avoid"]]),
        "## An example",
        md.fenced(example.command(), "console"),
        md.fenced(example.python(), "python"),
        "## Steps and knobs",
        "Any knob can be set: `--set knob=value`, or `knob=value` in Python; `step.knob` where two steps share a name.",
        *(part for step in recipe.steps for part in _step(step)),
        "## Source",
        md.escaped(recipe.cite) or "It has no source of its own: a combination of the steps above.",
        "## As a file",
        "Save it, change what you like, and give its name to `--recipe`.",
        md.fenced(recipe.dump(), "yaml"),
    ]
    parts += [f"Its source reports: {md.escaped(recipe.reports)}"] if recipe.reports else []
    parts += ["## Relatives", ", ".join(f"[{name}]({name}.md)" for name in others)] if others else []
    return "\n\n".join(parts) + "\n"


def _drawn(drawn: str, *, private: bool) -> list[str]:
    if not drawn:
        return []
    if not drawn.startswith("<svg"):
        return [f"*{md.escaped(drawn)}*"]
    caption = (
        f"A public toy table of {ROWS} rows before and after. Shapes are groups; a mark is larger where rows have become the same, "
        "and a box is a cell that was generalized."
    )
    if private:
        caption += f" The budget was epsilon {EPSILON:g}, as {ROWS} rows are few: more people need less for a release as good."
    return [f'<figure class="hush-figure">{drawn}<figcaption>{caption}</figcaption></figure>']


def _step(step: Step) -> list[str]:
    values = {name: getattr(step, name) for name in type(step).knobs()}
    return [f"### `{step_name(step)}`", md.paragraphs(type(step).__doc__), knobs(type(step), values)]


def _title(name: str) -> str:
    return name[0].upper() + name[1:]


def _plain(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "(none)"
    return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)
