"""The sentences of the screen Levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.display import listed

LABEL = "Levels"
QUESTION = "How may values become coarser?"
WHAT = (
    "Only recipes that generalize need this. Each column that others may know has a ladder: its values below, * (any value) "
    "on top. A release puts each column on one level."
)
NONE = "No column is marked as one that others may know, so none has to become coarser."
TO_COLUMNS = "Mark them under Columns"
COLUMNS = "Columns that others may know"
COLUMN = "Column"
SHOW = "Show"
EXPLORE = "Choose a level for each column"
UNDO, REDO = "Undo", "Redo"
NOTHING_TO_UNDO = "There is nothing to undo"
NOTHING_TO_REDO = "There is nothing to do again"

VALUES, LADDER = "Its values", "Its ladder"
PEOPLE = "people"
VALUE, COUNT = "Value", "People"
FEW = "< 5"
TOP = "any value"
AS_IS = "the values themselves"
GROUPS = "groups"
ALL_GROUPS = "All groups"
SHOW_ALL = "Show them too"
SHOWN_ALL = "Values of fewer than five people are shown. This was noted in the journal."
HIDE_ALL = "Hide them again"
LEFT_ALONE = "This column by itself"
LEFT_BESIDE = "With the other columns"
COUNTING = "Counting what each level leaves with the other columns …"
COUNT_BESIDE = "Count what each level leaves with the other columns"
PAGE = "Page"

BUILD = "Make another ladder"
INTERVALS = "Widths of the intervals, each a multiple of the one before"
INTERVALS_HINT = "With commas between them: 5, 10, 20"
USE_INTERVALS = "Use intervals"
NO_WIDTHS = "Enter widths such as 5, 10, 20"
UNITS = "Calendar units"
UNIT_WORDS = {
    "week": "weeks", "month": "months", "quarter": "quarters", "year": "years", "5 years": "five years", "decade": "decades",
}  # fmt: skip
UNITS_HINT = "Weeks do not nest in months: take them alone."
USE_UNITS = "Use these units"
NO_UNITS = "Choose at least one unit"
PREFIX = "Characters to keep, level by level"
PREFIX_HINT = "For codes: 4, 3, 2 cuts 73139 to 7313*, 731* and 73*"
USE_PREFIX = "Use first characters"
NO_LENGTHS = "Enter falling lengths such as 4, 3, 2"
FREQUENCY = "People in a group, at least"
FREQUENCY_HINT = "Rare values come together. It is read off the rows, and marked so."
USE_FREQUENCY = "Suggest groups by frequency"
NO_LEAST = "Enter how many people a group has at least, such as 20"
FILE = "A hierarchy file, as ARX writes them"
FILE_HINT = "A line for each value, coarser labels to the right. It is copied into the workspace."
FILL = "Give each value without a line a group of its own"
USE_FILE = "Use this file"
NO_FILES = "There is no such file in this folder."
UP = "One folder up"
DERIVED = "Back to the ladder that follows from the domain"
BY_HAND = "Groups by hand"
BY_HAND_HINT = (
    "Mark what belongs together, then move it: to a group that is there, or to a new one. Marked lines can be dragged, too."
)
LEVEL = "Level to edit"
NEW_LEVEL = "a new one"
MARKED = "Mark"
GROUP = "Group"
HIDDEN_VALUE = "a value of fewer than 5 people"
DROPS = "Groups onto which values can be dragged"
MOVE_TO = "Move what is marked to"
NEW_GROUP = "a new group"
NEW_LABEL = "Name of the new group"
MOVE = "Move"
REMOVE = "Remove this level"
NOTHING_MARKED = "Mark at least one line"
NO_LABEL = "Name the new group, but not *"
ORDER = "Their order"
ORDER_HINT = "Neighbours become one group first."
MOVE_UP, MOVE_DOWN = "Up", "Down"
CHANGED_MEANWHILE = "The levels have changed since this page was shown. Nothing was done; look again."
NOT_OF_THIS = "No line of the file is about a value of this column"
NOT_WRITABLE = "This name cannot be kept in a file: leave out quotation marks and spaces at its ends"


def number_word(count: int, one: str, many: str) -> str:
    """A count with its noun."""
    return f"1 {one}" if count == 1 else f"{count:,} {many}"


def people(count: int | None) -> str:
    """How many people; under five it is not said how many."""
    return FEW if count is None else f"{count:,}"


def headline(name: str, levels: int, origin: str) -> str:
    """The ladder in a sentence."""
    where = {
        "derived": "It follows from the domain; nobody has chosen it.",
        "rows": "It was made from the frequencies of the rows.",
        "declared": "It was chosen.",
    }[origin]
    return f"{name} can climb {number_word(levels, 'level', 'levels')}. {where}"


def spec(given: object) -> str:
    """A hierarchy as a schema says it."""
    if isinstance(given, str):
        return f"Groups of the file {given}"
    if isinstance(given, Mapping):
        ((way, items),) = given.items()
        some = ", ".join(str(item) for item in items)
        return {"intervals": f"Intervals of {some}", "prefix": f"First characters: {some}", "dates": f"Calendar units: {some}"}[way]
    return ""


def size(count: int) -> str:
    """How many groups a level has."""
    return number_word(count, "group", "groups")


def values(count: int) -> str:
    """How many values there are."""
    return number_word(count, "value", "values")


def level(place: int) -> str:
    """A level by its number."""
    return f"Level {place}"


def leaves(found: Mapping[str, int] | None) -> str:
    """What a level leaves."""
    if found is None:
        return "–"
    return f"{number_word(found['classes'], 'class', 'classes')}, {number_word(found['alone'], 'person', 'people')} alone"


def hidden(count: int) -> str:
    """Values that are not shown."""
    some = number_word(count, "value", "values")
    return f"{some} of fewer than five people {'is' if count == 1 else 'are'} not shown: they could be somebody's."


def unlisted(count: int) -> str:
    """Values that are too many to be listed."""
    return f"{number_word(count, 'further value is', 'further values are')} not listed."


def missing(count: int | None) -> str:
    """Who has no value."""
    return f"{people(count)} people have no value; it stays missing on every level but the last."


def orphans(count: int, shown: Sequence[str]) -> str:
    """Values without a parent."""
    some = number_word(count, "value of the column has", "values of the column have")
    names = f": {listed(list(shown), 12)}" if shown else ""
    rest = "" if len(shown) >= count else f", {count - len(shown):,} of fewer than five people among them" if shown else ""
    return f"{some} no line in this file{names}{rest}. Add them to the file, or give each a group of its own"


def more(count: int) -> str:
    """Groups that are not listed."""
    return f"and {count:,} more"


def beside(levels: Mapping[str, int]) -> str:
    """At which levels the other columns are."""
    raised = [f"{name} on level {at}" for name, at in levels.items() if at]
    return f"the others as you last looked at them: {listed(raised, 6)}" if raised else "all others as they are"


def suggestion(widths: Sequence[float]) -> str:
    """Widths as they are typed."""
    return ", ".join(f"{width:g}" for width in widths)


def built(column: str, way: str) -> str:
    """A hierarchy was chosen, for the journal."""
    what = {
        "intervals": "intervals", "dates": "calendar units", "prefix": "first characters", "frequency": "groups by frequency",
        "file": "groups of a hierarchy file", "derived": "what follows from its domain",
    }[way]  # fmt: skip
    return f"The levels of {column} are {what}"


def moved(column: str, count: int, at: int) -> str:
    """Values were moved, for the journal."""
    return f"{number_word(count, 'line', 'lines')} of {column} moved to one group on level {at}"


def removed(column: str, at: int) -> str:
    """A level was removed, for the journal."""
    return f"Level {at} of {column} removed"


def reordered(column: str) -> str:
    """An order was changed, for the journal."""
    return f"The order of the values of {column} changed"


def looked(column: str) -> str:
    """Values of few people were shown, for the journal."""
    return f"Values of {column} that fewer than five people have were shown"


def edited(at: int, of: int) -> str:
    """A level that can be edited."""
    return f"level {at}" if at <= of else f"level {at}: {NEW_LEVEL}"


def group_option(label: str, count: int) -> str:
    """A group to move to."""
    return f"{label} ({count:,})"


def take(label: str, people_: str) -> str:
    """What a box marks, for those who cannot see the line."""
    return f"{label}, {people_} people"


def up(label: str) -> str:
    """A button's full name."""
    return f"{label} up"


def down(label: str) -> str:
    """A button's full name."""
    return f"{label} down"


def about(plain: Mapping[str, Any]) -> str:
    """A column as an entry of the list."""
    return f"{plain['name']}, chosen" if plain["own"] else str(plain["name"])
