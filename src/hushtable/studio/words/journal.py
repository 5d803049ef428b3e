"""The sentences of the journal."""

from datetime import datetime

QUESTION = "What was decided?"
WHAT = "Every decision with its time, its reason and the command that does it again. No value of a row is in it."
SCRIPT = "Save as a shell script"
TEXT = "Save as text (Markdown)"


def time(text: str) -> str:
    """When it was decided, by the clock of this machine then."""
    return f"{datetime.fromisoformat(text):%Y-%m-%d %H:%M:%S}"
