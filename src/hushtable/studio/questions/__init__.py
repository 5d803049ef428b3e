"""What the table worker can be asked: one file a question, a function of the open table and of plain arguments, to plain values."""

QUESTIONS = {
    "read": "hushtable.studio.questions.read:read",
    "first_look": "hushtable.studio.questions.first_look:first_look",
    "grid": "hushtable.studio.questions.grid:grid",
    "risk": "hushtable.studio.questions.risk:risk",
    "headline": "hushtable.studio.questions.risk:headline",
    "recipes": "hushtable.studio.questions.recipes:recipes",
    "knobs": "hushtable.studio.questions.recipes:knobs",
}
"""The questions by name; each is imported when it is asked first."""
