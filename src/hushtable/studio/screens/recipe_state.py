"""What is to be run, as the workspace has it: the answers, the recipe and how it is set."""

from __future__ import annotations

from typing import Any

from hushtable.report.html import Html, element
from hushtable.studio import words
from hushtable.studio.persons import persons
from hushtable.studio.view import View

LOADING = 60.0
"""Seconds in which the methods are loaded, when they are asked for first."""
USUAL = {"leaves": "anybody", "values": "invented", "use": "counts", "target": ""}


def to_run(view: View) -> dict[str, Any]:
    """What is to be run: the recipe, its settings, its budget."""
    return view.workspace.chosen("run")


def answers(view: View) -> dict[str, str]:
    """What was answered, or is taken until somebody answers."""
    chosen = view.workspace.chosen("recipe")
    roles = view.workspace.roles()
    first = next((name for name, role in roles.items() if role == "target"), "")
    found = {key: str(chosen.get(key, usual)) for key, usual in USUAL.items()}
    # A column may have been renamed, or dropped, since.
    found["target"] = found["target"] if "target" in chosen and found["target"] in roles else first
    return found


def unit_of(view: View) -> dict[str, Any] | None:
    """Whom a release is made for, as its options have it."""
    return persons(view.workspace).unit


def trial_request(view: View) -> dict[str, Any]:
    """What is tried."""
    run = to_run(view)
    epsilon = float(run["epsilon"]) if run.get("epsilon") else None
    return {
        "recipe": str(run.get("recipe")), "settings": run.get("settings") or {}, "epsilon": epsilon,
        "learn": run.get("domains") == "learn", "unit": unit_of(view),
    }  # fmt: skip


def badge(assurance: str) -> Html:
    """The kind of evidence of a promise."""
    return element("span", words.assurance(assurance), class_=f"badge {assurance}")
