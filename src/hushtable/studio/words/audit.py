"""The sentences of the screen Audit."""

from __future__ import annotations

from collections.abc import Sequence

from hushtable.studio.jobs import State

LABEL = "Audit"
QUESTION = "What could somebody still do?"
NONE_YET = "There is no release yet that could be attacked."
TO_RUN = "Make one"
RELEASE = "Release"
SHOW = "Show"
LEAD = (
    "Every attack that applies is run on the release: once on people who are in it, and once on people who were set aside. "
    "Only what works better on the first is a leak."
)
TAKES = "This may take some minutes. It can be cancelled, and the other screens can be used meanwhile."
START = "Attack the release"
CONDITIONS = "Conditions that must hold"
CONDITIONS_HINT = "Optional, with semicolons between them: max_gain<0.05; k>=10. Each is judged by its upper bound."
MORE = "Conditions and power"
POWER = "Also find out how small a leak this audit would notice"
POWER_HINT = "Leaks are planted in copies of the release; it takes several times as long."
NO_CONTROL = "This release cannot be attacked: it was made from all rows."
NO_CONTROL_WHY = (
    "An attack counts only if it works better on people in the release than on people who are not in it. For that some rows must "
    "be set aside before the release is made."
)
NO_CONTROL_COST = "Publish only one of the two releases: whoever holds both learns more than from either."
ANEW = "Make it again with 30 % of the rows set aside"
ENDED = {
    State.FAILED: "The audit could not be done. The release is as it was.",
    State.CANCELLED: "The audit was cancelled. The release is as it was.",
    State.INTERRUPTED: "The studio ended before the audit was done. The release is as it was.",
}
WHY = "Why"
TO_REMOVE = "What would remove the alarms"
TO_REMOVE_WHAT = "By cause: any one of its remedies removes it. Audit again afterwards; what is left may have another cause."
TO_COLUMNS = "See these columns"
APART = "What is promised, what was measured and what was lost are three kinds of evidence, never added up to one score."
CONDITION_HOLDS, CONDITION_FAILS = "Condition holds", "Condition fails"
REPORT = "Open the whole report"
TO_PUBLISH = "Go on to publish"
ANOTHER = "Make another release"
TABS = "Parts of the audit"
ATTACKS, PEOPLE, USE, LEVELS = "Attacks", "People", "Use", "Levels"
KNOWS = "The attacker knows"
KNOWN = {"quasi": "the protected columns", "all": "everything", "choose": "choose…"}
KNOWN_QUASI_WHAT = "What neighbours, colleagues and public registers know of a person."
KNOWN_ALL_WHAT = "All released columns of a person: the most that anybody can hold."
CHOOSE = "Which columns does the attacker know?"
CHOOSE_HINT = (
    "The attacks that depend on it are run again, and stand here afterwards. The verdict above stays that of the whole audit."
)
RUN_CHOSEN = "Attack with these columns"
CHOSEN_BEFORE = "Asked before"
NO_COLUMNS = "Tick at least one column"
NOT_TRIED = "This attacker was not tried in this audit."
ATTACK, INSIDE, OUTSIDE, DIFFERENCE, INTERVAL, MEANING = (
    "Attack and verdict", "In the table", "Outside", "Difference in points", "Interval", "What it means",
)  # fmt: skip
HITS = (
    "“In the table” is the share of people in the release on whom the attack succeeds, “outside” the same of people who are not "
    "in it. The difference is what being in the release costs; measured, with its interval."
)
NO_ATTACK = "No attack of this kind gave a number."
ONLY_CHANCE = (
    "No record is known to be at risk. Those below were hit by some attack, but by no more than chance explains: they are shown "
    "so that you can see for yourself."
)
NO_PEOPLE = "No attack that hits people one by one gains more than chance explains, so no record is known to be at risk."
PEOPLE_WHAT = (
    "Rows of the training table, counted from 1, the riskiest first. Risk is the share of the hits that are owed to being in the "
    "table, at its lower bound. Values are masked: A for a letter, 9 for a digit."
)
GROUP, EVERYBODY = "Group of people", "everybody"
SHOW_VALUES, HIDE_VALUES = "Show", "Hide"
LOGGED = "Showing a record is written into the journal, with its row number and without a value."
COLUMN, HERS, THEIRS, AGREES = "Column", "Training row", "Released row", "Agreement"
AGREEMENT = {
    "same": "the same", "near": "nearly the same", "covers": "covers it", "hidden": "hidden", "other": "another",
}  # fmt: skip
PERHAPS = "perhaps chance"
NO_PAIR = "No single released row gives this record away."
NOT_IN_MEMORY = "The tables do not fit into memory, so rows are not shown beside each other here."
MISSING = "missing"
PEOPLE_PAGES, EARLIER, LATER = "Pages of records", "Riskier ones", "Further ones"
USE_WHAT = (
    "Every number stands beside the same number for fresh rows: real people who were set aside. Nothing can be better than that, "
    "but by luck."
)
USE_TITLES = {"margins": "Columns", "associations": "Pairs", "downstream": "Models", "queries": "Queries"}
MEASURE, MEASURE_ALONE, RELEASED, FRESH, DIRECTION = (
    "Measure and verdict",
    "Worst measure",
    "Release",
    "Fresh rows",
    "Which way is good",
)
NOTHING_MEASURED = "Nothing of this kind was measured."
AS_A_WHOLE = "As a whole"


def title(recipe: str, known: Sequence[str]) -> str:
    """The title of a job."""
    return f"Audit of {recipe}" if not known else f"Audit of {recipe}, the attacker knows {few(known)}"


def started(run: str, known: Sequence[str] = ()) -> str:
    """For the journal."""
    return f"Audit of run {run} started" + (f": the attacker knows {', '.join(known)}" if known else "")


def anew(old: str, new: str) -> str:
    """For the journal."""
    return f"Run {new} started: as run {old}, with rows set aside for an audit"


def shown(run: str, row: int) -> str:
    """For the journal."""
    return f"Values of training row {row} of run {run} were shown"


def run(name: str, title_: str) -> str:
    """A release to choose."""
    return f"{name}: {title_}"


def few(names: Sequence[str]) -> str:
    """Columns, or attacks, in a few words."""
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more"


def worse(count: int, tried: int) -> str:
    """How many attacks gain something."""
    which = "no attack" if not count else f"{count:,} of {tried:,} attacks" if tried > 1 else "the attack"
    return f"{which[0].upper()}{which[1:]} {'gain' if count > 1 else 'gains'} more on people in the table than chance explains."


def general(count: int) -> str:
    """The head of the attacks that succeed on nearly everybody."""
    which = "1 attack that succeeds" if count == 1 else f"{count:,} attacks that succeed"
    return f"Little left to gain: {which} on nearly everybody"


def general_what(share: str) -> str:
    """What they mean."""
    return (
        f"These succeed on at least {share} of the people outside the table too: they show what the release says about everybody, "
        "not about those in it."
    )


def more_attacks(count: int) -> str:
    """The head of what is folded away."""
    return f"{count:,} more attack{'' if count == 1 else 's'}"


def uncomputed(count: int) -> str:
    """Attacks without a number."""
    return f"{count:,} could not be computed; the whole report says why."


def group(column: str, level: str, count: int, *, alarm: bool) -> str:
    """A group to choose."""
    return f"{column}: {level} ({count:,}){' – attacked more successfully than chance explains' if alarm else ''}"


def row(number: int) -> str:
    """A record."""
    return f"Row {number:,}"


def risk(share: str, attacks: int) -> str:
    """How it is hit."""
    return f"risk at least {share}, hit by {attacks:,} attack{'' if attacks == 1 else 's'}"


def released(number: int, agreeing: int, attacks: Sequence[str]) -> str:
    """A released row that gives it away."""
    by = f", found by {few(attacks)}" if attacks else ""
    return f"Released row {number:,} agrees in {agreeing:,} column{'' if agreeing == 1 else 's'}{by}"


def show_row(number: int) -> str:
    """What the button says to whoever does not see it beside its row."""
    return f"the values of row {number:,}"


def more_columns(count: int) -> str:
    """Columns that are not shown."""
    return f"{count:,} more columns"


def more_pairs(count: int) -> str:
    """Released rows that are not shown."""
    return f"{count:,} more released row{'' if count == 1 else 's'} give{'s' if count == 1 else ''} it away too."


def page(first: int, last: int, of: int) -> str:
    """Which records are shown."""
    return f"Records {first:,} to {last:,} of {of:,}"


def tail(people: int, above: str, chance: int) -> str:
    """How many are at risk."""
    return f"{people:,} with a risk above {above} (of as many people outside the same attacks would hit {chance:,})"


def tails(people: int | None, lines: Sequence[str]) -> str:
    """All of it."""
    whom = f"Of {people:,} people in the table: " if people else "In the table: "
    return whom + "; ".join(lines) + "."


def fresh(value: str) -> str:
    """The number of fresh rows."""
    return value or "none"


def more_parts(count: int) -> str:
    """Lines that are not shown."""
    return f"{count:,} more in the whole report."


def what_it_explains(count: int) -> str:
    """The alarms of a cause."""
    return f"Explains {count:,} alarm{'' if count == 1 else 's'}"


def one_by_one(scope: str) -> str:
    """The name of a table with a line for each part."""
    return f"{scope}, one by one, the worst first"


def as_a_whole(title_: str) -> str:
    """The name of a table about all columns."""
    return f"{title_}: {AS_A_WHOLE.lower()}"


def rest(title_: str) -> str:
    """The name of a table of the attacks that are folded away."""
    return f"{title_}, the other attacks"


def nearly_all(title_: str) -> str:
    """The name of a table of attacks that succeed on nearly everybody."""
    return f"{title_}, little left to gain"
