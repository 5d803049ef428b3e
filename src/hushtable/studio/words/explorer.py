"""The sentences of the ladder explorer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hushtable.display import listed
from hushtable.report.words import number, share
from hushtable.studio.words.levels import number_word

LABEL = "Levels: choose"
QUESTION = "How coarse must it be?"
WHAT = (
    "Click a level of a column: what would be left is counted at once, as a release with these levels would do it. "
    "Nothing is released."
)
LADDERS = "The ladders"
BACK = "Change the ladders"
DEMANDS = "What is demanded"
K, L, T, LIMIT = (
    "People in a class, at least (k)",
    "Different secrets in a class (l)",
    "Distance of secrets (t)",
    "Rows suppressed, at most",
)
K_HINT = "Each released row is like those of k - 1 other people."
L_HINT = "0 asks for none."
T_HINT = "1 asks for none."
LIMIT_HINT = "A share: 0.05 is one row in twenty."
JUDGE = "Judge these levels"
SET_DEMANDS = "Demand this"
AS_IT_IS = "as it is"
ANY = "*"
LEVEL = "Level"

THIS, CURRENT, DIFFERENCE = "Looked at", "Current choice", "Difference"
NOW = "current"
CONSEQUENCE = "What these levels leave"
FIGURE = "What"
MAKE_CURRENT = "Make it the current choice"
IS_CURRENT = "This is the current choice."
NO_CURRENT = "There is no current choice yet: make one, and every level you click is compared with it."
BACK_TO_CURRENT = "Back to the current choice"
HOLDS, HOLDS_NOT = "holds", "does not hold"
MET = "What is demanded"
SMALLEST = "k"
ALONE = "People alone"
CLASSES = "Classes that stay"
SUPPRESSED = "Rows suppressed"
LOST = "What each column loses"
WORDS = (
    "k: people in the smallest class that stays. Alone: nobody else has the same values, before rows are suppressed. "
    "Loss: 0 is nothing, 1 is everything."
)

NEIGHBOURS = "One level up or down"
NEIGHBOUR_HEADS = ("Change", "k", "People alone", "Rows suppressed", "Loss", "Demanded", "Look at it")
COUNTING = "Counting the neighbours …"
SHOW_NEIGHBOURS = "Count the neighbours and draw what was judged"
LOOK = "Look"
NO_NEIGHBOURS = "No column has a level above or below."

JUDGED = "All that was judged"
JUDGED_WHAT = (
    "Down and to the left is better: less is lost, fewer rows are suppressed. What was judged is forgotten when the schema changes."
)
JUDGED_HEADS = ("Levels", "k", "People alone", "Rows suppressed", "Loss", "Demanded", "Look at it")
JUDGED_TABLE = "The same as a table"

PIN = "Pin these levels"
NOTE = "Note"
NOTE_HINT = "Why this choice is worth coming back to."
NO_NOTE = "Write a note, so that you know why you came back"
PINS = "Pinned"
PIN_HEADS = ("Note", "Levels", "k", "Rows suppressed", "Loss", "Look at it", "Let it go")
UNPIN = "Unpin"
STALE = "of an earlier state of the table or its schema"
NO_SUCH_PIN = "There is no such pin"

RELEASE = "Release this"
RELEASE_WHAT = (
    "The recipe k-anonymity with exactly these levels, ready under Run. A run that sets rows aside for an audit suppresses and "
    "counts on the rest."
)

PROOF = "Is there a better one?"
SEARCH = "Search the best levels"
SEARCH_WHAT = "A search tries the choices until it is proven that none loses less, or until five minutes are over."
SEARCH_TITLE = "The best levels"
CANCEL = "Cancel"
PROGRESS = "How much of the search is done"
SEARCH_FAILED = "The search found nothing"
SEARCH_CANCELLED = "The search was cancelled."
IT_IS_THIS = "These are the levels that you look at."
SHEET = "Open its page"
OTHER_DEMANDS = "The last search was for other demands, or for an earlier state of the table or its schema."
CHANGED = "The choice has changed since this page was shown. Nothing was done; look again."


def sampled(rows: int, of: int) -> str:
    """That a part of the rows was judged."""
    return f"Judged on {rows:,} of {of:,} rows, picked at random: of all rows classes are larger, and fewer are suppressed."


def start(level: int, *, met: bool) -> str:
    """Where one starts who has looked at nothing yet."""
    if not met:
        return "To begin with, every column is at the top of its ladder: not even there what is demanded holds."
    if level == 0:
        return "To begin with, every column is as it is: what is demanded holds already."
    return (
        f"To begin with, every column is at level {level}, or at the top of a shorter ladder. No lower level for all of them alike "
        "holds what is demanded; single columns may go lower."
    )


def nothing() -> str:
    """No column can be generalized."""
    return "No column is marked as one that others may know, so there is no level to choose."


def rung(place: int, example: str, cells: int | None) -> str:
    """A level in words, for those who cannot see the ladder."""
    if cells is None:
        return f"Level {place}: {AS_IT_IS}"
    return f"Level {place}: {number_word(cells, 'group', 'groups')} such as {example}"


def cells(count: int | None) -> str:
    """How many groups a level has."""
    return "" if count is None else number_word(count, "group", "groups")


def loss(name: str) -> str:
    """The loss by its measure."""
    return f"Loss ({name})"


def suppressed(choice: Mapping[str, Any]) -> str:
    """Rows that do not stay."""
    return f"{choice['suppressed']:,} ({share(choice['suppressed_share'])})".replace(" %", "\N{NO-BREAK SPACE}%")


def classes(choice: Mapping[str, Any]) -> str:
    """Classes that stay, of all."""
    return f"{choice['kept']:,} of {choice['classes']:,}"


def change(value: float, *, digits: bool = False) -> str:
    """A difference with its sign."""
    if not value:
        return "same"
    return f"{'+' if value > 0 else '−'}{number(abs(value)) if digits else f'{abs(int(value)):,}'}"


def levels(chosen: Mapping[str, int]) -> str:
    """A choice of levels in one line."""
    raised = [f"{name} {level}" for name, level in chosen.items() if level]
    return listed(raised, 30) if raised else "all as they are"


def step(column: str, level: int, *, up: bool) -> str:
    """One level up or down."""
    return f"{column} {'up' if up else 'down'} to level {level}"


def holds(met: bool) -> str:
    """Whether what is demanded holds."""
    return HOLDS if met else HOLDS_NOT


def verdict(choice: Mapping[str, Any], demand: Mapping[str, Any]) -> str:
    """The consequence in a sentence."""
    gone = f"{choice['suppressed']:,} rows ({share(choice['suppressed_share'])}) would be suppressed"
    if choice["met"]:
        return f"Every released row would be like those of at least {choice['k'] - 1:,} other people; {gone}."
    return f"With these levels {gone}; no more than {share(demand['limit'])} may be."


def not_released(choice: Mapping[str, Any], demand: Mapping[str, Any]) -> str:
    """Why a release would be refused."""
    gone = f"{choice['suppressed']:,} rows ({share(choice['suppressed_share'])}), and no more than {share(demand['limit'])} may be"
    return f"A release with these levels would be refused: it would suppress {gone}. Choose coarser levels, or demand less above."


def proven(result: Mapping[str, Any]) -> str:
    """What a search found."""
    if result["value"] is None:
        return "No choice of levels holds what is demanded within the limit."
    gone = f"{share(result['suppressed_share'])} of the rows suppressed"
    return f"The search found levels with a loss of {number(result['value'])} and {gone}: {levels(result['levels'])}."


def evidence(result: Mapping[str, Any]) -> str:
    """Whether that is the best."""
    tried = f"{number_word(result['checks'], 'choice', 'choices')} had to be tried."
    if result["optimal"]:
        return f"Proven: no other choice of levels that holds what is demanded loses less. {tried}"
    gap = result["gap"]
    most = "" if gap is None else f" up to {number(gap)}"
    return f"Not proven: time ran out, and another choice may lose{most} less. {tried}"


def against(here: float, best: float) -> str:
    """A choice beside what was found."""
    return f"What you look at loses {number(here - best)} more."


def searching(k: int, limit: float) -> str:
    """A search was started, for the journal."""
    return f"Search for the best levels with k = {k} and at most {share(limit)} of the rows suppressed"


def pinned(chosen: Mapping[str, int]) -> str:
    """A choice was pinned, for the journal."""
    return f"Levels pinned: {levels(chosen)}"


def unpinned() -> str:
    """A pin was removed, for the journal."""
    return "A pinned choice of levels was removed"


def current(chosen: Mapping[str, int]) -> str:
    """A choice was made the current one, for the journal."""
    return f"Current choice of levels: {levels(chosen)}"


def released(chosen: Mapping[str, int]) -> str:
    """Levels were fixed in a recipe, for the journal."""
    return f"Levels fixed for a release by k-anonymity: {levels(chosen)}"
