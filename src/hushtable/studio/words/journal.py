"""The sentences of the journal."""

QUESTION = "What was decided?"
WHAT = "Every decision with its time, its reason and the command that does it again. No value of a row is in it."
SCRIPT = "Save as a shell script"
TEXT = "Save as text (Markdown)"
