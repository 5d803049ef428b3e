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
    "shortlist": "hushtable.studio.questions.recipes:shortlist",
    "settle": "hushtable.studio.questions.recipes:settle",
    "tuned": "hushtable.studio.questions.recipes:tuned",
    "error": "hushtable.studio.questions.recipes:error",
    "tried": "hushtable.studio.questions.recipes:tried",
    "candidates": "hushtable.studio.questions.comparison:candidates",
    "comparable": "hushtable.studio.questions.comparison:comparable",
    "comparison": "hushtable.studio.questions.comparison:comparison",
    "taking": "hushtable.studio.questions.comparison:taking",
}
"""The questions by name; each is imported when it is asked first."""
