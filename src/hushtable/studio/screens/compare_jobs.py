"""The comparisons of a workspace, and the small forms that are about one of them."""

from __future__ import annotations

from hushtable.errors import InputError
from hushtable.studio import words
from hushtable.studio.forms import Form
from hushtable.studio.jobs import Job
from hushtable.studio.view import View

VERB = "compare"
FOLDER = "comparison"


def comparisons(view: View) -> list[Job]:
    """The comparisons, the latest first."""
    return [job for job in view.studio.jobs.latest() if job.verb == VERB] if view.studio.jobs is not None else []


def comparison_of(view: View, sent: Form) -> Job:
    """The comparison that a form is about."""
    found = next((job for job in comparisons(view) if job.folder.name == sent.get("c", "")), None)
    if found is None:
        raise InputError(words.NO_SUCH_RUN, where="comparison")
    return found
