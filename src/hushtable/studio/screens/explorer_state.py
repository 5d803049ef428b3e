"""What the ladder explorer keeps: the levels that are looked at, the current choice, the demand, the pins and the search."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from hushtable.studio.jobs import Job, State
from hushtable.studio.persons import persons
from hushtable.studio.view import View

NAME = "explorer"
SEARCH = "best_levels"
"""The verb of a search."""
DEMAND = {"k": 5, "l": 0.0, "t": 1.0, "limit": 0.05}
"""What is demanded until somebody says otherwise: that of the recipe."""


def kept_of(view: View) -> dict[str, Any]:
    """What was kept of earlier clicks."""
    return view.workspace.chosen(NAME)


def demand_of(view: View) -> dict[str, Any]:
    """What is demanded, and of whom."""
    by = persons(view.workspace).by
    return {**DEMAND, **kept_of(view).get("demand", {}), **({} if by is None else {"person": by})}


def keep(view: View, **changes: Any) -> None:
    """Keep something with the choices of the table."""
    view.workspace.choose(NAME, {**kept_of(view), **changes})


def state_of(view: View) -> str:
    """The table and its schema as one word: where it is another, what was judged before does not hold."""
    text = view.workspace.project.hash + view.workspace.schema_text()
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def last_search(view: View) -> Job | None:
    """The last search."""
    jobs = view.studio.jobs
    return next((job for job in jobs.latest() if job.verb == SEARCH), None) if jobs is not None else None


def fits(view: View, job: Job, demand: Mapping[str, Any]) -> bool:
    """Whether a search answers for this demand and the table and schema as they are."""
    return job.state is State.DONE and job.request.get("state") == state_of(view) and job.request.get("demand") == demand
