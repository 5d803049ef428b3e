"""The sentences of the screen Compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.display import listed
from hushtable.studio.words import duration

LABEL = "Compare"
QUESTION = "Which one?"
RECIPES = "What to compare"
RECIPES_HINT = (
    "Each value of its main setting is one release, made on three quarters of the rows and attacked and measured with the others."
)
GRID_OF = "values of"
NO_KNOB = "as it comes"
MORE, MORE_HINT = "Other recipes", "Names with commas between them; they are on the screen Recipe."
CONDITIONS = "What must hold"
ALWAYS = "No attack raises an alarm, in an audit that counts. This is always asked for."
GAIN = "No attack gains more than so many of 100 people"
EPSILON = "Differential privacy is proven, with an epsilon of at most"
K = "k-anonymity over all protected columns is verified, with a k of at least"
SCORE = "The score is at least"
ROWS, ROWS_HINT = "Rows", "So many at most, drawn at random; empty for all. Fewer rows take less time, and bounds are wider."
TARGET, TARGET_HINT = "The column whose prediction is the score", "None: releases are ranked by how alike pairs of columns are."
NO_TARGET = "none"
PUBLIC = "These rows are public, or of other people"
PUBLIC_HINT = "Then looking at them costs nobody any privacy, and a proof holds for what is chosen here."
START = "Compare"
NOTHING = "Choose at least one recipe"
NO_VALUES = "Enter values with commas between them"
TIME_UNKNOWN = "How long it takes is not known before the first releases are done; they then tell it for the others."
RESULTS = "What was found so far", "What was found"
NONE_YET = "The first release is not done yet."
RECOMMENDED = "recommended"
RANKED = "All releases, the best first"
HEADS = ("#", "Release", "Promise", "Worst attack", "Alarms", "Meets what was asked", "Time", "Take it")
TAKE = "Take"
FAILED = "gave no release"
PLANE = "Risk and use"
PLANE_TEXT = (
    "Each mark is one release: up is more useful, left is safer. It sits at its worst measured attack, on a scale from none to all "
    "of 100 people; the line to its right ends at the bound. The numbers are those of the list."
)
LADDERS = "Between what was computed"
LADDERS_TEXT = "A slider stops anywhere. Filled: computed. Hollow: not computed, and nothing is guessed in between."
LARGEST_RISK = "Largest gain of any attack, of 100 people (upper bound)"
LOOK = "Show"
ADD = "Add"
ADD_LATER = "It can be added once the comparison has ended."
COMPUTED, HOLLOW = "computed", "not computed"
WHY, CAVEATS, OTHERS, NOTES = "Why", "Before you decide", "If you need something else", "What was left out"
RESUME = "Go on from what is done"
ANOTHER = "Another comparison"
ALL = "All comparisons"
HEADS_ALL = ("Comparison", "State", "Releases", "Time")
ENDED = "It ended before all was done. What is done is kept, and is not made again."
STOPPED = "It was cancelled. What is done is kept, and is not made again."
TAKING = "How will you take it?"
LOOKED = (
    "You would choose it by what it did to private rows. No budget paid for that look, so its proof would be void. Three ways keep "
    "a proof:"
)
PAY, NAME, OPENLY, VOID = "Pay for the choice", "It was fixed before", "Choose on public rows", "Take it all the same: no proof"
VOID_TEXT = "Its card will say that it was chosen by looking at private rows, and that its proof is void."
BEFORE, BEFORE_HINT = "Where recipe and epsilon were fixed", "A protocol, a policy, a plan with its date. It goes to the journal."
NO_BEFORE = "Say where they were fixed"
CANNOT_PAY = "Needs a comparison of two private recipes or more, with declared domains."
NO_PAY = "There is nothing to choose among that could be paid for"
PAID = "The best of several private recipes will be chosen privately; the budget pays for it"
TO_RECIPE = "Go on to Recipe"
TO_DECLARE = "Declare it public on Columns"
REFUSED = {
    "undeclared": "",
    "budget": "Its privacy budget is too small for what it has to count here: try a larger epsilon, or fewer columns.",
    "promise": "It cannot keep its promise with these settings, so it was not made: try others, or a larger epsilon.",
    "columns": "It cannot work on these columns as they are: change their kinds or roles on Columns, or take another recipe.",
    "": "It went wrong while it was made.",
}
"""Why a recipe gives no release, where that can be seen without the rows."""
IN_FULL = "The message in full"
WAYS = {
    "pay": (
        "Let the budget pay for the choice: about five releases are made by these recipes and the best is chosen privately. Each "
        "is made with about half of the budget, so expect what half of your epsilon reaches here."
    ),
    "name": "Recipe and epsilon were fixed before anybody looked at these rows, and are taken whatever this page says.",
    "public": "Compare on public rows, or on older rows of the same kind that are public, and take what is best there.",
}
"""How a proof is kept."""


def seconds_of(seconds: float | None) -> str:
    """What one more would take."""
    return "time not known yet" if seconds is None else f"about {duration(seconds)}"


def not_computed(knob: str, value: str, seconds: float | None) -> str:
    """A value between."""
    return f"{knob} = {value}: not computed, {seconds_of(seconds)}"


def remaining(seconds: float, cells: int, unknown: int) -> str:
    """How long the rest takes, by the cells that are done."""
    text = f"About {duration(seconds)} to go for {cells} releases, by those that are done"
    return f"{text}; of {unknown} nothing is known yet." if unknown else f"{text}."


def title(recipes: Sequence[str]) -> str:
    """The title of a job."""
    shown = ", ".join(recipes[:4])
    return f"Comparison of {shown}" + (f" and {len(recipes) - 4} more" if len(recipes) > 4 else "")


def started(number: str, recipes: Sequence[str]) -> str:
    """For the journal."""
    return f"Comparison {number} started: {', '.join(recipes)}"


def added(number: str, recipe: str, knob: str, value: str) -> str:
    """For the journal."""
    return f"Added to comparison {number}: {recipe} with {knob} = {value}"


def took(cell: str, number: str, *, public: bool) -> str:
    """For the journal."""
    rows = "public rows" if public else "private rows"
    return f"Chosen by looking at {rows}: {cell}, in comparison {number}"


def took_named(cell: str, number: str) -> str:
    """For the journal."""
    return f"Taken as it was fixed before comparison {number} looked at private rows: {cell}"


def took_paid(recipes: Sequence[str], number: str) -> str:
    """For the journal."""
    return f"After comparison {number}: the best of {', '.join(recipes)} is to be chosen privately"


def count(fit: int, releases: int) -> str:
    """How many meet what was asked."""
    return f"{fit} of {releases} releases meet all conditions"


def within(cell: str, label: str) -> str:
    """The best within a limit of risk."""
    return f"The best of what was computed within it, by {label}: {cell}" if cell else "Nothing that was computed lies within it."


def best_of(recipes: Sequence[str]) -> str:
    """What stands for a recipe where several are paid for."""
    return f"best of {', '.join(recipes)}"


def undeclared(found: Mapping[str, Any]) -> str:
    """Why a private recipe gives no release before something is declared."""
    parts = [f"the values of {listed(found['columns'], 4)}"] if found["columns"] else []
    parts += ["the missing codes"] if found["codes"] else []
    return f"{' and '.join(parts)} were read off the rows, so a privacy budget proves nothing: declare them public first"


def lacking(recipes: Sequence[str], found: Mapping[str, Any]) -> str:
    """The recipes that give no release before something is declared."""
    verb = "spends" if len(recipes) == 1 else "spend"
    rest = "gives no release yet" if len(recipes) == 1 else "give no releases yet"
    return f"{listed(recipes)} {verb} a privacy budget and {rest}: {undeclared(found)}."


def needs_declared(found: Mapping[str, Any]) -> str:
    """The same of one release."""
    text = undeclared(found)
    return f"{text[:1].upper()}{text[1:]}."


def no_recipe(name: str, near: str) -> str:
    """A name that no recipe has."""
    return f"There is no recipe {name}{near}: the screen Recipe lists them all"
