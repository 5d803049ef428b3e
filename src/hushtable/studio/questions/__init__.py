"""What the table worker can be asked: one file a question, a function of the open table and of plain arguments, to plain values."""

QUESTIONS = {
    "read": "hushtable.studio.questions.read:read",
    "first_look": "hushtable.studio.questions.first_look:first_look",
    "grid": "hushtable.studio.questions.grid:grid",
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
}
"""The questions by name; each is imported when it is asked first."""
