"""The sentences of the screen Recipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.display import listed
from hushtable.studio.words import duration, number, percent

LABEL = "Recipe"
QUESTION = "What must you be able to say?"
LEAVES = "Does it leave your control?"
LEAVES_WORDS = (
    ("anybody", "Anybody may get it"),
    ("contract", "Named people, under a contract"),
    ("nobody", "It stays in the house"),
)
VALUES = "Must values be true?"
VALUES_WORDS = (
    ("true", "True, if coarser"),
    ("averaged", "Averages of similar people will do"),
    ("invented", "Rows may be made up"),
)
USE = "What is it for?"
USE_WORDS = (("counts", "Counts and shares"), ("models", "Models"), ("tests", "Testing software"), ("texts", "Free text"))
TARGET = "The column to be predicted"
TARGET_HINT = "If there is one: recipes can take care of it, and comparisons are ranked by how well it can be predicted."
NO_TARGET = "none"
ANSWER = "Show what fits"
SHORTLIST = "What fits"
NOTHING_FITS = "No recipe fits these answers and this table; below is why. Another answer, or another schema, may help."
LEFT_OUT = "What was left out, and why"
PROMISE, HAPPENS, TIME = "It promises", "What happens to values", "Time"
WHEN = "When to take it, and when not"
TAKE_IT, LOOK_ELSEWHERE = "Take it if", "Look elsewhere if"
CHOOSE, CHOSEN = "Choose", "Chosen"
TO_SETUP = "Set it and run it"
PROVEN = (
    "Differential privacy, which some of these prove: the release would be nearly the same had any one person been left out. "
    "Epsilon says how nearly; delta is the small chance that this fails."
)
TO_COMPARE = "Not sure? Compare them on your table"
ALL = "All recipes"
SEARCH, SEARCH_HINT = "Search all recipes", "By name, by what they do, or by what they promise."
FIND = "Search"
NOTHING_FOUND = "No recipe has these words."
SETUP = "How it is set"
EPSILON = "Privacy budget (epsilon)"
EPSILON_HINT = "Of the whole release; smaller is more private, and noisier."
NO_EPSILON = "Enter a privacy budget, such as 1"
SEED = "Seed"
SEED_HINT = "The same seed gives the same release. The noise of a privacy budget is fresh each time."
HOLD_OUT = "Share of rows set aside"
HOLD_OUT_HINT = "An audit needs rows that the release has not seen: 0.3 is usual, 0 for none."
ALLOW_COPIES = "Why rows of real people may be released as they are"
ALLOW_COPIES_HINT = "The reason stands on the card of the release, for all to read."
NEEDS_REASON = "Too many rows would leave as they are: give a reason, or choose another recipe"
DOMAINS = "Domains that were read off the rows"
DOMAIN_OPTIONS = (("", "refuse the run"), ("learn", "learn them for a tenth of the budget"))
TO_COLUMNS = "To Columns"
TO_DECLARE = "Declare them public on Columns"
TO_LEARN = "Learn the domains"
LEARN_COSTS = "a tenth of the budget pays for it, and the answers get a little noisier."
LOST = "Missing codes or number formats were read off the rows of"
LOST_WHY = "They decide what every cell means, and no budget can learn them."
LOST_FIRST = "Declare these columns first; the others can then be learned."
LOST_COVERED = (
    "tick these columns and say why that is public knowledge, such as a code list or a questionnaire. It covers their codes and "
    "formats. All other domains are then learned."
)
CHECK, RUN = "Check", "Run"
NO_RECIPE = "Choose a recipe"
NO_SUCH_RECIPE = "There is no such recipe"
BEFORE = "Before you run it"
ERROR = "Error to expect"
NO_ERROR = "This recipe adds its noise to something other than counts of people, so its error cannot be told as one."
TRYING = "Trying what would leave unchanged …"
WITHOUT_SCRIPT = "Try what would leave unchanged"
TAKES_LONGER = "To try it on this table takes longer than a page may wait."
TRY_AS_JOB = "Try it as a job"
TRY_AT_WORK = "It is being tried as a job."
UNTOUCHED, COPIES = "Columns left untouched", "Exact copies"
NONE_UNTOUCHED = "none"
PRIVATE = "none: every look at the rows is paid for, and all rows are drawn from noisy answers"
REFUSED = "This release would be refused: it hands out rows of real people as they are."
TITLE_TRIED = "Trial of "
VOID = (
    "It was chosen by looking at what recipes do to private rows, which no budget paid for: its card will say that its proof is "
    "void. The comparison shows three ways to keep a proof."
)
SEEN = "You have seen how recipes do on these rows. A proof holds only if recipe and budget were fixed before that."
BEST = "The best of several private recipes, chosen privately"
BEST_HINT = "About five releases are made by them and the best is kept; the budget pays for the choice too."
TO_COMPARISON = "See the comparison"
MEASURED = "for 10,000 people of the bundled town"
NOT_MEASURED = "not measured yet"


def last_time(seconds: float) -> str:
    """How long it took on this table."""
    return f"{duration(seconds)} when it was last run here"


def usual_time(seconds: float | None) -> str:
    """How long it usually takes."""
    return NOT_MEASURED if seconds is None else f"{duration(seconds)} {MEASURED}"


def knobs(count: int) -> str:
    """The head of the folded knobs."""
    return "1 other setting" if count == 1 else f"{count} other settings"


def error(width: float, epsilon: float, rows: int = 1) -> str:
    """What a budget means for a count."""
    low, high = max(0.0, 100 - width), 100 + width
    whom = "people" if rows == 1 else "rows"
    return (
        f"100 {whom} become 100 ± {number(round(width))} at epsilon {epsilon:g}: a noisy count of them lies between {round(low)} "
        f"and {number(round(high))} in 19 of 20 cases, and a count of 10,000 is off by no more. Planned, not measured."
    )


def learns(columns: Sequence[str]) -> str:
    """Whose domains were read off the rows."""
    return (
        f"The domains of {listed(list(columns), 4)} were read off the rows: say on Columns that they are public, or let a part of "
        "the budget learn them."
    )


def undeclared(columns: Sequence[str], *, codes: bool) -> str:
    """Why a private recipe cannot be run yet."""
    parts = [f"what values {listed(list(columns), 4)} may have"] if columns else []
    parts += ["which codes mean a missing value"] if codes else []
    return (
        f"A privacy budget proves nothing yet: {' and '.join(parts)}: that was read off the rows, so one person more could "
        "have changed it. There are two ways out."
    )


def declare(*, codes: bool) -> str:
    """What to do on Columns."""
    text = "tick what anybody could know without these rows, and give the reason, such as a code list or a questionnaire."
    return f"{text} Tick the missing codes of the whole table too." if codes else text


def not_declared(columns: Sequence[str], *, codes: bool) -> str:
    """Why a run is not started."""
    what = [*([listed(list(columns), 4)] if columns else []), *(["the missing codes"] if codes else [])]
    return f"Not started: {' and '.join(what)} must be declared public on Columns first, or be learned where that is possible"


def more(count: int) -> str:
    """Further columns that are not named."""
    return f" and {count:,} more"


def untouched(columns: Sequence[str], alone: float) -> str:
    """The columns that would leave as they are."""
    if not columns:
        return NONE_UNTOUCHED
    found = "no released row is alone on them" if not alone else f"{percent(alone)} of the released rows are alone on them"
    return f"{listed(list(columns), 8)}; {found}"


def copies(share: float) -> str:
    """How many released rows equal a real one."""
    return f"{percent(share)} of the released rows equal a real row in every column"


def chosen(recipe: str) -> str:
    """For the journal."""
    return f"Recipe {recipe} chosen"


def answered(leaves: str, values: str, use: str, target: str) -> str:
    """For the journal."""
    words = [dict(LEAVES_WORDS)[leaves], dict(VALUES_WORDS)[values], dict(USE_WORDS)[use]]
    return f"What must be said: {'; '.join(words)}" + (f"; to be predicted: {target}" if target else "")


def found(count: int, query: str) -> str:
    """How many recipes a search found."""
    if not query:
        return f"{count} recipes"
    return "1 recipe" if count == 1 else f"{count} recipes"


def title_tried(recipe: str) -> str:
    """The title of a job that tries a recipe."""
    return f"{TITLE_TRIED}{recipe}"


def matches(recipe: Mapping[str, Any], query: str) -> bool:
    """Whether all words of a search are in what is said of a recipe."""
    text = " ".join(str(recipe[key]) for key in ("name", "title", "guarantee", "values", "assurance")).lower()
    return all(word in text for word in query.lower().split())
