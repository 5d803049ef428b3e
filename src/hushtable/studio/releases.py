"""The releases of a workspace with the audits of each, as its jobs have them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hushtable.report.html import Html, element
from hushtable.studio.jobs import Job, State
from hushtable.studio.parts import button
from hushtable.studio.view import View
from hushtable.studio.words import audit as said

RELEASE, AUDIT = "release", "audit"
MAIN = "audit"
"""The name of the audit of a release that asks about both attackers; others ask about those who hold some columns."""


def released(view: View) -> list[Job]:
    """The releases that are done, the latest first."""
    return [job for job in _jobs(view) if job.verb == RELEASE and job.state is State.DONE]


def picked(view: View) -> Job | None:
    """The release that the address asks for, or else the latest; None where there is none."""
    return next((job for job in released(view) if job.folder.name == view.query.get("run", "")), next(iter(released(view)), None))


def audits(view: View, release: Job) -> list[Job]:
    """The audits of a release, the latest first."""
    return [job for job in _jobs(view) if job.verb == AUDIT and job.folder == release.folder]


def main_audit(view: View, release: Job) -> Job | None:
    """The audit of a release that its verdict comes from."""
    return next((job for job in audits(view, release) if job.name == MAIN), None)


def audited(view: View, release: Job) -> Job | None:
    """The same once it is done."""
    job = main_audit(view, release)
    return job if job is not None and job.state is State.DONE else None


def sides(release: Job) -> dict[str, str] | None:
    """The rows that a release was made from and those that were set aside; None where none were."""
    folder = Path(release.request["folder"])
    private = folder.with_name(f"{folder.name}.private")
    if release.request.get("hold_out") is None or not private.is_dir():
        return None
    return {name: str(file if (file := private / f"{name}.csv").is_file() else private / name) for name in ("train", "control")}


def free(folder: Path, name: str, endings: Iterable[str] = ("",)) -> str:
    """A name that nothing in a folder has yet, with any of these endings: this one, or this one with a number."""
    number, own = 1, name
    while any((folder / f"{own}{ending}").exists() for ending in (*endings, ".job.json")):
        number += 1
        own = f"{name}-{number}"
    return own


def _jobs(view: View) -> Iterable[Job]:
    return view.studio.jobs.latest() if view.studio.jobs is not None else ()


def choice(view: View, release: Job) -> Html | None:
    """A choice among the releases, on the screen that shows this one; None where there is no other."""
    known = released(view)
    if len(known) < 2:
        return None
    options = [
        element("option", said.run(job.folder.name, job.title), value=job.folder.name, selected=job is release) for job in known
    ]
    return element(
        "form",
        element("label", said.RELEASE, for_="field-run"),
        element("select", options, id="field-run", name="run", data_submit=True),
        button(said.SHOW), method="get", action=view.to(view.screen), class_="inline-fields",
    )  # fmt: skip
