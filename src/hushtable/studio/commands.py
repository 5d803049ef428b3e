"""The command that does what a click did; it is run in the folder of the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hushtable.studio.workspace import Workspace


def layout(workspace: Workspace) -> list[str]:
    """How the file is written, as options."""
    kept = workspace.project.layout
    words = [] if kept.get("header") is None else ["--header" if kept["header"] else "--no-header"]
    words += ["--encoding", kept["encoding"]] if kept.get("encoding") else []
    words += ["--delimiter", "tab" if kept["delimiter"] == "\t" else kept["delimiter"]] if kept.get("delimiter") else []
    return words + (["--index"] if kept.get("index") else [])


def schema(workspace: Workspace) -> list[str]:
    """Draft a schema."""
    mark = workspace.project.layout.get("decimal")
    words = ["hush", "schema", workspace.project.table, "--out", f"{workspace.name}.schema.yaml", *layout(workspace)]
    return [*words, "--decimal", mark] if mark else words


def profile(workspace: Workspace) -> list[str]:
    """Show who could be recognised by what."""
    return ["hush", "profile", workspace.project.table, "--schema", workspace.relative(workspace.schema)]


def release(workspace: Workspace, request: Mapping[str, Any]) -> list[str]:
    """Make a release as a request of the release verb says; paths in it are absolute."""
    options = request.get("options", {})
    words = ["hush", "release", workspace.project.table]
    words += ["--schema", _path(workspace, request["schema"]), "--recipe", str(request["recipe"])]
    words += [word for name, value in request.get("settings", {}).items() for word in ("--set", f"{name}={value}")]
    for name in ("epsilon", "delta", "rows", "seed"):
        if options.get(name) is not None:
            words += [f"--{name}", str(options[name])]
    if options.get("allow_copies"):
        words += ["--allow-copies", options["allow_copies"]]
    words += [f"--{flag.replace('_', '-')}" for flag in ("unproven", "learn_domain") if options.get(flag)]
    if request.get("hold_out") is not None:
        words += ["--hold-out", str(request["hold_out"])]
    return [*words, *layout(workspace), "--out", _path(workspace, request["folder"])]


def _path(workspace: Workspace, path: str) -> str:
    base = f"{workspace.folder.parent}/"
    return path.removeprefix(base)
