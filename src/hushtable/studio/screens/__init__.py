"""The screens, in the order of the rail, and the pages beside them. A new one is a module with a ``Screen``, and a line here."""

from __future__ import annotations

from hushtable.studio.screens import audit, columns, compare, explorer, journal, levels, open, publish, recipe, run
from hushtable.studio.view import Screen

SCREENS: tuple[Screen, ...] = (
    open.SCREEN,
    columns.SCREEN,
    levels.SCREEN,
    recipe.SCREEN,
    compare.SCREEN,
    run.SCREEN,
    audit.SCREEN,
    publish.SCREEN,
    journal.SCREEN,
    explorer.SCREEN,
)
