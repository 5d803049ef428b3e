"""What the table worker can be asked: one file a question, a function of the open table and of plain arguments, to plain values."""

QUESTIONS = {
    "read": "hushtable.studio.questions.read:read",
    "first_look": "hushtable.studio.questions.first_look:first_look",
    "grid": "hushtable.studio.questions.grid:grid",
    "details": "hushtable.studio.questions.grid:details",
    "edit": "hushtable.studio.questions.edit:edit",
    "check": "hushtable.studio.questions.edit:check",
    "dictionary": "hushtable.studio.questions.edit:dictionary",
    "risk": "hushtable.studio.questions.risk:risk",
    "headline": "hushtable.studio.questions.risk:headline",
    "recipes": "hushtable.studio.questions.recipes:recipes",
    "knobs": "hushtable.studio.questions.recipes:knobs",
    "ladders": "hushtable.studio.questions.ladder:ladders",
    "ladder": "hushtable.studio.questions.ladder:ladder",
    "beside": "hushtable.studio.questions.ladder:beside",
    "build_hierarchy": "hushtable.studio.questions.hierarchies:build",
    "members": "hushtable.studio.questions.hierarchies:members",
    "move_members": "hushtable.studio.questions.hierarchies:move",
    "remove_level": "hushtable.studio.questions.hierarchies:remove",
    "reorder": "hushtable.studio.questions.hierarchies:reorder",
    "rung": "hushtable.studio.questions.explore:rung",
    "neighbours": "hushtable.studio.questions.explore:neighbours",
    "judged": "hushtable.studio.questions.explore:judged",
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

LIVE = 300_000
"""So many rows, picked at random, give the answers that a page waits for; of fewer all are taken, and it is said which."""
