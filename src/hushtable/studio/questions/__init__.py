"""What the table worker can be asked: one file a question, a function of the open table and of plain arguments, to plain values."""

QUESTIONS = {
    "read": "hushtable.studio.questions.read:read",
    "first_look": "hushtable.studio.questions.first_look:first_look",
    "peek": "hushtable.studio.questions.first_look:peek",
    "index": "hushtable.studio.questions.index:index",
    "grid": "hushtable.studio.questions.grid:grid",
    "details": "hushtable.studio.questions.grid:details",
    "edit": "hushtable.studio.questions.edit:edit",
    "check": "hushtable.studio.questions.edit:check",
    "dictionary": "hushtable.studio.questions.edit:dictionary",
    "risk": "hushtable.studio.questions.risk:risk",
    "headline": "hushtable.studio.questions.risk:headline",
    "recipes": "hushtable.studio.questions.recipes:recipes",
    "knobs": "hushtable.studio.questions.recipes:knobs",
}
"""The questions by name; each is imported when it is asked first."""
