"""What the table worker can be asked: one file a question, a function of the open table and of plain arguments, to plain values."""

QUESTIONS = {
    "read": "hushtable.studio.questions.read:read",
    "first_look": "hushtable.studio.questions.first_look:first_look",
    "index": "hushtable.studio.questions.index:index",
    "grid": "hushtable.studio.questions.grid:grid",
    "risk": "hushtable.studio.questions.risk:risk",
    "headline": "hushtable.studio.questions.risk:headline",
    "recipes": "hushtable.studio.questions.recipes:recipes",
    "knobs": "hushtable.studio.questions.recipes:knobs",
    "judgement": "hushtable.studio.questions.audit:judgement",
    "attacks": "hushtable.studio.questions.audit:attacks",
    "use": "hushtable.studio.questions.audit:use",
    "people": "hushtable.studio.questions.people:people",
    "person": "hushtable.studio.questions.people:person",
    "checklist": "hushtable.studio.questions.publish:checklist",
    "card": "hushtable.studio.questions.publish:card",
}
"""The questions by name; each is imported when it is asked first."""
