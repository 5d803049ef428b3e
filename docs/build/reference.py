"""Pages for the audits, the measures and the command line, read off the code."""

from __future__ import annotations

from typing import Any

import typer

from docs.build import markdown as md
from docs.build.methods import knobs
from hushtable.api.advice import overview
from hushtable.api.methods import AUDIT_FAMILIES, audit_family
from hushtable.evidence.metrics import FAMILIES, METRICS
from hushtable.measures.catalogue import MEASURES
from hushtable.pipeline import registry
from hushtable.pipeline.recipe import defaults

FAMILY_WORDS = {
    "attacks and indicators": "They run in every audit.",
    "only when named": "They train a network, or make the release again many times: name them with `--only`.",
    "utility": "What the release is still good for: `hush utility`, `ht.utility`, and part of every audit.",
}


def audit_pages() -> dict[str, str]:
    """An overview and a page for every audit."""
    pages = {"audits/index.md": _overview()}
    for name, target in registry.AUDITS.items():
        pages[f"audits/{name}.md"] = _audit(name, registry.load(target))
    return pages


def audit_nav() -> list[Any]:
    """The audits by family, then the list of all measures."""
    groups = [
        {family[0].upper() + family[1:]: [{name: f"audits/{name}.md"} for name in registry.AUDITS if audit_family(name) == family]}
        for family in AUDIT_FAMILIES
    ]
    return [{"All audits": "audits/index.md"}, *groups, {"What the numbers mean": "measures.md"}]


def _overview() -> str:
    parts = [
        "# Audits",
        "An audit sees the rows a release was made from, the release, and fresh rows that the release never saw. Every attack is "
        "run on people in the table and on people outside it, and only the difference counts. "
        "[Attacking a release](../auditing.md) says how.",
    ]
    for family in AUDIT_FAMILIES:
        names = [name for name in registry.AUDITS if audit_family(name) == family]
        rows = [[f"[{name}]({name}.md)", overview("audits")[name]] for name in names]
        parts += [f"## {family[0].upper() + family[1:]}", FAMILY_WORDS[family], md.table(["audit", "what it asks"], rows)]
    return "\n\n".join(parts) + "\n"


def _audit(name: str, kind: type) -> str:
    family = audit_family(name)
    subject = "utility" if family == "utility" else "audit"
    command = (
        "hush utility --train train.csv --control control.csv"
        if subject == "utility"
        else "hush audit --train release.private/train.csv --control release.private/control.csv"
    )
    parts = [
        f"# {name}",
        md.paragraphs(kind.__doc__),
        f"*{family[0].upper() + family[1:]}.* {FAMILY_WORDS[family]}",
        "## An example",
        md.fenced(f"{command} --release release --schema schema.yaml --only {name} --out {subject}", "console"),
        md.fenced(f'ht.{subject}(train, release, control, only=["{name}"])', "python"),
        "## Knobs",
        "Set one with `--set "
        + f"{name}.knob=value`, or "
        + md.code(f'settings={{"{name}.knob": value}}')
        + " in Python. The values are the defaults.",
        knobs(kind, dict(defaults(kind))),
        "[What the numbers mean](../measures.md) has the range and the direction of every number.",
    ]
    return "\n\n".join(parts) + "\n"


def measures() -> str:
    """Every number that a report can show: what it means, which way is good, and its range."""
    parts = [
        "# What the numbers mean",
        "Every number stands beside a *baseline*: the same number for fresh real rows, which no release needs to beat.",
        "## Utility",
    ]
    for page in dict.fromkeys(measure.page for measure in MEASURES.values()):
        rows = [
            [f"**{md.escaped(m.name)}**", md.escaped(m.meaning), f"{m.better} is better", _range(m.low, m.high)]
            for m in MEASURES.values()
            if m.page == page
        ]
        parts += [f"### {str(page).capitalize()}", md.table(["measure", "what it means", "direction", "range"], rows)]
    attacks = {**METRICS, **{f"{name} …": metric for name, metric in FAMILIES.items()}}
    rows = [[f"**{md.escaped(name)}**", md.escaped(m.meaning)] for name, m in attacks.items()]
    parts += [
        "## Attacks, indicators and properties",
        "An attack's number is its residual risk (r - c)/(1 - c), from 0 to 1: what it gains on people in the table beyond what it "
        "gains on people who were never in it. Lower is better.",
        md.table(["finding", "what it means"], rows),
    ]
    return "\n\n".join(parts) + "\n"


def _range(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return "any number"
    if high is None:
        return f"{low:g} and up"
    return f"up to {high:g}" if low is None else f"{low:g} to {high:g}"


def command_line() -> str:
    """Every command with its options."""
    from hushtable.cli import app

    parts = [
        "# Command line",
        "Every command prints JSON with `--json`. Exit codes: 0 (fine), 2 (bad input, every fault listed), "
        "3 (a guarantee or a condition refused), 4 (`verify` only: nothing is wrong, but a guarantee cannot be checked).",
    ]
    group: Any = typer.main.get_command(app)
    for name, command in group.commands.items():
        parts += [f"## `hush {name}`", md.paragraphs(command.help), *_options(command.params)]
    return "\n\n".join(parts) + "\n"


def _options(params: list[Any]) -> list[str]:
    rows = []
    for param in params:
        if param.name == "help":
            continue
        argument = param.param_type_name == "argument"
        names = md.code(param.name.upper()) if argument else ", ".join(md.code(opt) for opt in param.opts)
        unset = param.default is None or param.default is False or param.default == ()
        default = "required" if param.required else "" if unset else md.code(param.default)
        rows.append([names, default, md.escaped(getattr(param, "help", None) or "")])
    return [md.table(["option", "default", "what it does"], rows)] if rows else []
