"""How a release of a comparison is taken so that its promise holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hushtable.errors import Fault, InputError
from hushtable.report.html import Html, element, join
from hushtable.studio.forms import Form
from hushtable.studio.jobs import Job
from hushtable.studio.parts import button, field, form, post_button
from hushtable.studio.screens.compare_jobs import comparison_of
from hushtable.studio.screens.recipe_state import LOADING
from hushtable.studio.view import View
from hushtable.studio.words import compare as said


async def taking(view: View, job: Job, cell: str) -> Html:
    """The ways to take one release, each with what it means for its proof."""
    found = await view.ask("taking", limit=LOADING, folder=str(job.folder), cell=cell)
    own = {"c": job.folder.name, "cell": cell}
    hidden = [element("input", type="hidden", name=name, value=value) for name, value in own.items()]
    pay = len(found["payable"]) > 1
    items = [
        element(
            "li", element("p", said.WAYS["pay"]),
            _way(view, job, cell, "pay", said.PAY) if pay else element("p", said.CANNOT_PAY, class_="soft"),
        ),
        element(
            "li", element("p", said.WAYS["name"]),
            form(
                view, "way", hidden, element("input", type="hidden", name="way", value="name"),
                field(view, "before", said.BEFORE, "", hint=said.BEFORE_HINT), button(said.NAME), class_="fields",
            ),
        ),
        element("li", element("p", said.WAYS["public"]), _way(view, job, cell, "public", said.OPENLY)),
    ] if found["unpaid"] else []  # fmt: skip
    return element(
        "section", element("h2", f"{cell}: {said.TAKING}"),
        join(
            element("p", said.LOOKED, class_="caution"), element("ol", items, class_="ways"),
            element("p", said.VOID_TEXT, class_="soft"), _way(view, job, cell, "void", said.VOID),
        ) if found["unpaid"] else post_button(view, "take", said.TAKE, main=True, c=job.folder.name, cell=cell),
        class_="panel-box", id="taking",
    )  # fmt: skip


def _way(view: View, job: Job, cell: str, way: str, label: str) -> Html:
    return post_button(view, "way", label, c=job.folder.name, cell=cell, way=way)


async def take(view: View, sent: Form) -> str:
    """Take a release; where its proof would be void, first ask how."""
    job, cell = comparison_of(view, sent), sent.text("cell")
    found = await view.ask("taking", limit=LOADING, folder=str(job.folder), cell=cell)
    if found["unpaid"]:
        return view.to("compare", c=job.folder.name, take=cell)
    _keep(view, job, found, tuned="public" if found["public"] else "private")
    view.journal(said.took(cell, job.folder.name, public=found["public"]), "", job.command)
    return view.to("recipe")


async def way(view: View, sent: Form) -> str:
    """Take it in one of the three ways that keep a proof, or without one."""
    job, cell = comparison_of(view, sent), sent.text("cell")
    chosen = sent.one_of("way", ("pay", "name", "public", "void"))
    sent.check()
    found = await view.ask("taking", limit=LOADING, folder=str(job.folder), cell=cell)
    if chosen == "public":
        return view.to("compare", new=1)
    if chosen == "pay":
        if len(found["payable"]) < 2:
            raise InputError([Fault("", said.NO_PAY)])
        # The budget is set by policy: none is taken over from what was measured.
        run = view.workspace.chosen("run")
        choices: dict[str, Any] = {key: run[key] for key in ("seed", "hold_out") if key in run}
        choices |= {"recipe": said.best_of(found["payable"]), "best_of": found["payable"], "comparison": job.folder.name}
        view.workspace.choose("run", choices)
        view.journal(said.took_paid(found["payable"], job.folder.name), said.PAID)
        return view.to("recipe")
    if chosen == "name":
        before = sent.text("before", required=said.NO_BEFORE)
        sent.check()
        _keep(view, job, found, tuned="no", before=before)
        view.journal(said.took_named(cell, job.folder.name), before)
        return view.to("recipe")
    _keep(view, job, found, tuned="private")
    view.journal(said.took(cell, job.folder.name, public=False), said.VOID_TEXT, job.command)
    return view.to("recipe")


def _keep(view: View, job: Job, found: Mapping[str, Any], *, tuned: str, before: str = "") -> None:
    run = view.workspace.chosen("run")
    choices: dict[str, Any] = {key: run[key] for key in ("seed", "hold_out", "domains") if key in run}
    view.workspace.choose("run", {
        **choices, "recipe": found["recipe"], "settings": found["settings"], "epsilon": found["epsilon"], "tuned": tuned,
        "before": before, "comparison": job.folder.name,
    })  # fmt: skip
