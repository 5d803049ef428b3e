"""A studio whose table was released and attacked: by the verbs of its jobs, in this process, and by few attacks."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hushtable.display import silent
from hushtable.studio import commands
from hushtable.studio.jobs import Job, State
from hushtable.studio.verbs.audit import audit
from hushtable.studio.verbs.release import release
from tests.unit.studio.client import Client

ONLY = ("identical-matches", "rare-values", "linkability", "margins", "association")


def released(client: Client, *, hold_out: float | None = 0.3, recipe: str = "mdav") -> Job:
    """A release of the open table that is done."""
    workspace = client.studio.workspace
    assert workspace is not None
    folder = workspace.numbered("runs")
    request = {
        "data": str(workspace.table), "schema": str(workspace.freeze(folder)), "folder": str(folder / "release"), "recipe": recipe,
        "settings": {"k": "5"} if recipe == "mdav" else {}, "hold_out": hold_out, "options": {"seed": 1},
    }  # fmt: skip
    return _done(client, Job(folder, "release", "release", request, f"Release by {recipe}"), release(request, folder, silent))


def attacked(client: Client, made: Job, *, name: str = "audit", only: tuple[str, ...] = ONLY, **more: Any) -> Job:
    """An audit of it that is done."""
    private = made.folder / "release.private"
    request = {
        "train": str(private / "train.csv"), "control": str(private / "control.csv"), "release": made.request["folder"],
        "schema": made.request["schema"], "out": str(made.folder / name), "known": ["both"], "seed": 0, "only": list(only), **more,
    }  # fmt: skip
    return _done(client, Job(made.folder, name, "audit", request, "Audit of mdav"), audit(request, made.folder, silent))


def _done(client: Client, job: Job, result: Mapping[str, Any]) -> Job:
    studio = client.studio
    assert studio.workspace is not None
    assert studio.jobs is not None
    job.state, job.result, job.table = State.DONE, dict(result), studio.workspace.project.hash
    if job.verb == "audit":
        job.command = tuple(commands.audit(studio.workspace, job.request))
    studio.jobs.jobs[job.id] = job
    job.save()
    return job


def digest(path: Path) -> str:
    """As a card has it."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
