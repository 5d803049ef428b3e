"""The command that does what a click did; it is run in the folder of the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hushtable.studio.persons import persons
from hushtable.studio.workspace import Workspace


def layout(workspace: Workspace) -> list[str]:
    """How the file is written, as options."""
    written = workspace.project.layout
    words = [] if written.get("header") is None else ["--header" if written["header"] else "--no-header"]
    for name in ("encoding", "delimiter"):
        if written.get(name):
            words += [f"--{name}", "tab" if written[name] == "\t" else written[name]]
    return words + (["--index"] if written.get("index") else [])


def schema(workspace: Workspace) -> list[str]:
    """Draft a schema."""
    mark = workspace.project.layout.get("decimal")
    words = ["hush", "schema", workspace.project.table, "--out", f"{workspace.name}.schema.yaml", *layout(workspace)]
    return [*words, "--decimal", mark] if mark else words


def profile(workspace: Workspace) -> list[str]:
    """Show who could be recognised by what."""
    words = ["hush", "profile", workspace.project.table, "--schema", workspace.relative(workspace.schema)]
    return [*words, *person(persons(workspace).by), *layout(workspace)]


def person(by: str | None) -> list[str]:
    """Which key identifies persons, as an option."""
    return [] if by is None else ["--person", by]


def unit(own: Mapping[str, Any] | None) -> list[str]:
    """The same, with the most rows of each."""
    return [*person(own["by"]), "--rows-per-person", str(own["rows"])] if own else []


def release(workspace: Workspace, request: Mapping[str, Any]) -> list[str]:
    """Make a release as a request of the release verb says; paths in it are absolute."""
    options = request.get("options", {})
    words = ["hush", "release", workspace.project.table]
    words += ["--schema", _path(workspace, request["schema"])]
    if request.get("best_of"):
        words += ["--best-of", ",".join(request["best_of"])]
    else:
        words += ["--recipe", _path(workspace, str(request["recipe"]))]
    words += [word for name, value in request.get("settings", {}).items() for word in ("--set", f"{name}={value}")]
    for name in ("epsilon", "delta", "rows", "seed"):
        if options.get(name) is not None:
            words += [f"--{name}", str(options[name])]
    words += unit(options.get("unit"))
    if options.get("allow_copies"):
        words += ["--allow-copies", options["allow_copies"]]
    words += [f"--{flag.replace('_', '-')}" for flag in ("unproven", "learn_domain") if options.get(flag)]
    if request.get("hold_out") is not None:
        words += ["--hold-out", str(request["hold_out"])]
    return [*words, *layout(workspace), "--out", _path(workspace, request["folder"])]


def audit(workspace: Workspace, request: Mapping[str, Any]) -> list[str]:
    """Attack a release as a request of the audit verb says."""
    words = ["hush", "audit"]
    for name in ("train", "control", "release", "schema"):
        words += [f"--{name}", _path(workspace, request[name])]
    words += ["--known", ",".join(request["known"]), *person(request.get("person"))]
    words += [word for name in request.get("only", ()) for word in ("--only", name)]
    words += [word for text in request.get("gates", ()) for word in ("--gate", text)]
    words += ["--power"] if request.get("power") else []
    return [*words, "--out", _path(workspace, request["out"])]


def records(workspace: Workspace, request: Mapping[str, Any]) -> list[str]:
    """Show the riskiest records of an audit that was made as a request of the audit verb says."""
    own = [word for name in ("train", "release", "schema") for word in (f"--{name}", _path(workspace, request[name]))]
    return ["hush", "records", _path(workspace, request["out"]), *own, *person(request.get("person"))]


def publish(workspace: Workspace, request: Mapping[str, Any]) -> list[str]:
    """Publish a release as a request of the publish verb says."""
    words = ["hush", "publish", _path(workspace, request["release"])]
    words += ["--audit", _path(workspace, request["audit"])] if request["audit"] else []
    words += ["--source", _path(workspace, request["source"]), "--source-sha256", request["digest"]]
    said = [word for name, text in request["about"].items() if text for word in (f"--{name}", text)]
    words += [*said, "--out", _path(workspace, request["out"])] if said else []
    words += [word for name in ("by", "reason") if request[name] for word in (f"--{name}", request[name])]
    return [*words, "--zip", _path(workspace, request["zip"])]


def hierarchy(workspace: Workspace, column: str, spec: object = None) -> list[str]:
    """Show what a hierarchy makes of a column: one of a file, or as a schema says it; that of the schema where none is given."""
    words = ["hush", "hierarchy", workspace.project.table, "--schema", workspace.relative(workspace.schema), "--column", column]
    words += [*person(persons(workspace).by), *layout(workspace)]
    if isinstance(spec, str):
        return [*words, "--file", workspace.relative(workspace.folder / spec)]
    for way, given in spec.items() if isinstance(spec, Mapping) else ():
        words += [f"--{way}", ",".join(map(str, given))]
    return words


def evaluate(workspace: Workspace, levels: Mapping[str, int], demand: Mapping[str, Any]) -> list[str]:
    """Judge one choice of levels."""
    words = ["hush", "evaluate", workspace.project.table, "--schema", workspace.relative(workspace.schema)]
    words += [word for name, level in levels.items() for word in ("--level", f"{name}={level}")]
    words += [word for name in ("k", "l", "t", "limit") if name in demand for word in (f"--{name}", f"{demand[name]:g}")]
    words += person(demand.get("person"))
    return [*words, *layout(workspace)]


def best_levels(workspace: Workspace, request: Mapping[str, Any]) -> list[str]:
    """Search the best choice of levels as a request of that verb says; paths in it are absolute."""
    words = ["hush", "pareto", workspace.project.table, "--schema", _path(workspace, request["schema"])]
    words += ["--k", f"{request['k']:g}", "--limit", f"{request['limit']:g}"]
    words += [word for name, value in request["settings"].items() for word in ("--set", f"{name}={value:g}")]
    words += person(request.get("person"))
    return [*words, *layout(workspace), "--out", _path(workspace, request["folder"])]


def preflight(
    workspace: Workspace, recipe: str, settings: Mapping[str, str], epsilon: float | None,
    own: Mapping[str, Any] | None = None,
) -> list[str]:  # fmt: skip
    """Try a release without making it."""
    words = ["hush", "preflight", workspace.project.table, "--schema", workspace.relative(workspace.schema), "--recipe", recipe]
    words += [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    words += [*unit(own), *layout(workspace)]
    return words + ([] if epsilon is None else ["--epsilon", f"{epsilon:g}"])


def compare(workspace: Workspace, request: Mapping[str, Any], folder: str) -> list[str]:
    """Compare recipes as a request of the compare verb says; paths in it are absolute."""
    options = request["options"]
    words = ["hush", "compare", workspace.project.table, "--schema", _path(workspace, request["schema"])]
    words += ["--recipes", ",".join(options["recipes"])]
    if options.get("target"):
        words += ["--target", options["target"]]
    words += [word for name, values in options.get("grid", {}).items() for word in ("--grid", f"{name}={','.join(values)}")]
    words += [word for one in options.get("constraints", ()) for word in ("--constraint", one)]
    words += ["--rows", str(options["rows"])] if options.get("rows") else []
    words += unit({"by": by, "rows": options["rows_per_person"]}) if (by := options.get("person")) else []
    words += ["--public"] if options.get("public") else []
    return [*words, *layout(workspace), "--out", _path(workspace, folder)]


def _path(workspace: Workspace, path: str) -> str:
    base = f"{workspace.folder.parent}/"
    return path.removeprefix(base)
