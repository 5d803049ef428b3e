"""The sentences of the screen Run."""

from __future__ import annotations

from hushtable.studio.jobs import State
from hushtable.studio.words import duration

LABEL = "Run"
QUESTION = "Is it done?"
NONE = "Nothing was run yet."
TO_RECIPE = "Choose a recipe"
PROGRESS = "How much of the job is done"
STATE, STEP, TIME, USUAL, STEPS = "State", "Step", "Time", "Last time", "The steps of this job"
STEP_DONE, STEP_NOW, STEP_LATER = "done", "at work", "to come"
QUEUED = "Another job is at work; this one waits for its turn."
STARTING = "It is starting."
CANCELLING = "It is being cancelled; nothing will be left of it."
DONE = "It is done."
ROWS_OUT, BUT, LEFT_OUT, FILES = "Rows", "But", "Left out", "Files"
FOR_YOU = "For you alone"
CARD = "Open its card"
TO_AUDIT = "Go on: what could somebody still do?"
NO_CONTROL = "No rows were set aside, so it cannot be attacked as it is. The next screen makes it again so that it can be."
GO_ON = "Show it"
AGAIN = "Run it again"
ANOTHER = "Another run"
TO_COLUMNS = "It is about: "
ALL_RUNS = "All runs"
RUN_HEADS = ("Run", "What", "State", "Time")
STATES = {
    State.QUEUED: "waits",
    State.RUNNING: "at work",
    State.CANCELLING: "is being cancelled",
    State.DONE: "done",
    State.FAILED: "failed",
    State.CANCELLED: "cancelled",
    State.INTERRUPTED: "interrupted",
}
ENDED = {
    State.FAILED: "It could not be done, and nothing was released.",
    State.CANCELLED: "It was cancelled, and nothing was released.",
    State.INTERRUPTED: "The studio ended before it was done. Nothing was released.",
}


def title(recipe: str) -> str:
    """The title of a job."""
    return f"Release by {recipe}"


def started(recipe: str, run: str) -> str:
    """For the journal."""
    return f"Run {run} started: a release by {recipe}"


def usual(seconds: float) -> str:
    """How long it took before."""
    return f"usually {duration(seconds)}"


def rows(released: int, train: int, suppressed: int) -> str:
    """Rows in, rows out."""
    text = f"{released:,} released, made from {train:,}"
    return f"{text}; {suppressed:,} were suppressed" if suppressed else text
