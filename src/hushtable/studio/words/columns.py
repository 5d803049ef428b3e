"""The sentences of the screen Columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.display import listed
from hushtable.studio.words import percent

LABEL = "Columns"
QUESTION = "Who could be recognised by what?"
CAPTION = "The columns of the table"
COLUMN, KIND, ROLE, VALUES, RISK = "Column", "Kind and domain", "Role", "Missing and examples", "Risk"
HEADS = (COLUMN, KIND, ROLE, VALUES, RISK)
ROLES = {
    "identifier": "drop",
    "quasi": "others may know",
    "secret": "keep secret",
    "target": "to predict",
    "plain": "other",
}
KINDS = {
    "category": "category",
    "ordinal": "ordered category",
    "integer": "whole number",
    "real": "number",
    "date": "date",
    "text": "free text",
    "key": "key",
}
ALONE, ADDS, FOLLOWS = "alone", "adds", "follows"
BARS = (
    "Risk, three bars: alone is the share of people with a value that nobody else has; adds is the share that is unique only with "
    "this column beside those that others may know; follows is how far it follows from another column."
)
WAITING = "…"
COUNTING = "Counting whom the columns single out …"
GO_ON = "Go on to the recipe"
NEVER_LEAVES = "never released"
WITHOUT_SCRIPT = "Work out the risk of these columns"
SAVE = "Save"
CHANGE = "Change"
UNDO, REDO = "Undo", "Redo"
YAML = "As YAML"
DICTIONARY = "Data dictionary"
BACK = "Back to the columns"
ALL = "all"
CHECK = "to look at"
FIND = "Find a column"
FIND_BUTTON = "Find"
NOT_FOUND = "No column has a name with that in it"
PREVIOUS, NEXT = "Previous columns", "Next columns"
EMPTY = "No column is in this list."
LIST = "Which columns are listed"

SEVERAL = "Several columns at once"
SEVERAL_HINT = "Tick columns in the list, then say what they are."
EVERY = "All columns of this list, also those on other pages"
REASON = "Why is their domain public knowledge?"
REASON_HINT = (
    "A code list, a law, a questionnaire: what anybody could know without these rows. It goes to the journal, and to the card of "
    "every release. Kind, missing codes and format of the columns are declared with it."
)
REASONS = ("Code list", "Law", "Questionnaire")
NO_REASON = "Say why this is public knowledge"
MAKE_PUBLIC = "Declare public"
NEW_ROLE = "Their role"
SET_ROLE = "Set role"
NO_COLUMN = "Tick one column at least"
STRANGE_COLUMN = "There is no such column any more: the schema was changed elsewhere"
WHOLE_CODES = "also the missing codes of the whole table"

DETAILS = "What are its values?"
LABEL_FIELD = "Label"
LABEL_HINT = "What people call it. It is shown here beside the name, and is not released."
KIND_FIELD = "Kind"
KIND_HINT = "The values are read again. A word or two beside numbers become missing codes; dates must all be written in one form."
DATE_CODES = {"%Y": "YYYY", "%y": "YY", "%m": "MM", "%d": "DD", "%b": "MMM", "%H": "hh", "%M": "mm", "%S": "ss"}
"""How a form of dates is read by people."""
MISSING_FIELD = "Codes that mean a missing value"
MISSING_HINT = "With commas between them, such as N, -99. An empty cell always is one."
LOW, HIGH = "Least value", "Greatest value"
LEVELS = "Values, one on each line"
ORDER_HINT = "The least comes first."
DOMAIN = "Which values may it have?"
DOMAIN_ROWS = "as read from the rows"
DOMAIN_GIVEN = "those that I give here, which are public knowledge"
READ_HIDDEN = "They were read from the rows and are not shown: one of them may be somebody's."
DOMAIN_REASON = "Why are they public knowledge?"
NOT_BOTH = "Give the least and the greatest value"

YAML_TITLE = "The schema as YAML"
YAML_HINT = (
    "It is held against all rows before it is saved. Roles: identifier (drop), quasi (others may know), secret, target, plain."
)
YAML_SHOWN = "This shows the values that were read from the rows. That it was opened stands in the journal."
YAML_FIELD = "Schema"
YAML_SAVE = "Check and save"
OPENED_YAML = "The schema was shown as YAML, with the values that were read from the rows"
WROTE_YAML = "The schema was written as YAML"

DICTIONARY_TITLE = "What does the data dictionary say?"
DICTIONARY_HINT = (
    "A CSV file (variable, type, codes, missing, min, max, label) or JSON, below the start folder. Columns are matched by name. "
    "What agrees with the rows is declared; a column that disagrees stays as it is and is named."
)
DICTIONARY_REASON = "Why is it public knowledge?"
NO_DICTIONARY = "There is no CSV or JSON file here beside the table."
TAKE = "Take what agrees"
UP = "One folder up"
FILE, ACTION = "File", "What to do"
FILES = "Files of this folder"


def headline(found: Mapping[str, Any]) -> str:
    """Whom the columns that others may know single out."""
    names, share = found["quasi"], found["alone"]
    if not names:
        return "No column is marked as one that others may know: nobody could be recognised, if that is so."
    return f"{percent(share)} of {whom(found)} are unique by {listed(names, 8)}."


def saturated(found: Mapping[str, Any]) -> str:
    """Why a column adds little or nothing, where nearly everybody is singled out without it."""
    if not found["saturated"]:
        return ""
    left = 1 - found["alone"]
    return (
        f"Nearly every “adds” is small here, because the columns that others may know single out {percent(found['alone'])} of "
        f"{whom(found)} already: a further column can add no more than {percent(left)}, and one of them adds only what the others "
        "do not do without it."
    )


def half(found: Mapping[str, Any]) -> str:
    """The fewest of these that do half of it."""
    if not found["alone"] or not found["half"]["sets"]:
        return ""
    few = found["half"]["sets"][0]
    verb = "alone does" if len(few["columns"]) == 1 else "do"
    proof = "No smaller set does." if found["half"]["proven"] else "A smaller set may."
    return f"{listed(few['columns'], 8)} {verb} at least half of that: {percent(few['share'])}. {proof}"


def others(found: Mapping[str, Any]) -> str:
    """What the columns beside them do, if they single people out."""
    if not found["others_alone"]:
        return ""
    text = f"The other columns that would be released single out {percent(found['others_alone'])} of {whom(found)}"
    if sets := found["others_half"]["sets"]:
        few = sets[0]["columns"]
        text += f", {listed(few, 6)} {'alone' if len(few) == 1 else 'together'} {percent(sets[0]['share'])}"
    text += "."
    if near := found["near_keys"]:
        text += f" Nearly a key by itself: {listed(near, 6)}."
    return f"{text} Is it sure that nobody knows them?"


def never(names: Sequence[str]) -> str:
    """Columns that are not counted, as they never leave."""
    return f"Not counted, as keys and free text are never released: {listed(names, 6)}." if names else ""


def why(reason: str) -> str:
    """Why a kind was drafted, before the hint of its field."""
    if not reason:
        return KIND_HINT
    for code, letters in DATE_CODES.items():
        reason = reason.replace(code, letters)
    return f"Why it was suggested: {reason}. {KIND_HINT}"


def whom(found: Mapping[str, Any]) -> str:
    """Whom the shares count."""
    return "rows" if found.get("rows_only") else "people"


def sampled(rows: int, of: int) -> str:
    """That a part of the rows was counted."""
    return f"Counted on {rows:,} of {of:,} rows, picked at random: among all rows fewer are unique."


def domain(plain: Mapping[str, Any]) -> str:
    """The domain of a column."""
    if "levels" in plain:
        return f"{plain['levels']:,} values" if plain["levels"] != 1 else "1 value"
    if plain.get("range"):
        return f"{plain['range'][0]} to {plain['range'][1]}"
    return "a range" if "range" in plain else ""


def source(*, observed: bool, undeclared: bool) -> str:
    """Where the domain comes from."""
    if observed and undeclared:
        return "read from the rows"
    return "declared; more of it read from the rows" if undeclared else "declared public"


def missing(codes: Sequence[str], share: float) -> str:
    """How many rows lack a value, and what stands there."""
    text = f"{percent(share)} missing" if share else "none missing"
    return f"{text}, also written {listed([quoted(code) for code in codes], 3)}" if codes else text


def quoted(code: str) -> str:
    """A code as it stands in the file."""
    return f"“{code}”"


def codes(found: Mapping[str, Any]) -> str:
    """The missing codes of the whole table."""
    if not found["codes"]:
        return ""
    text = f"In every column {listed([quoted(code) for code in found['codes']], 6)} means a missing value"
    return f"{text}, read from the rows." if found["observed"] else f"{text}."


def marked(count: int, total: int) -> str:
    """How many domains were read from the rows."""
    if not count:
        return "Every domain is declared public knowledge."
    if total == 1 or count == 1:
        return f"The domain of {count:,} of {total:,} columns was read from the rows; a privacy budget needs it declared public."
    return f"The domains of {count:,} of {total:,} columns were read from the rows; a privacy budget needs them declared public."


def follows(source_: str, share: float, *, both: bool) -> str:
    """Which column this one follows from."""
    return f"from {source_}{' and back' if both else ''}" if share >= 1 else f"from {source_}, nearly always"


def more_sources(count: int) -> str:
    """Further columns that it follows from."""
    return f" and {count} more" if count else ""


def notes(count: int) -> str:
    """What to check."""
    return "1 note on the draft" if count == 1 else f"{count} notes on the draft"


def role_of(name: str) -> str:
    """The legend of a switch."""
    return f"Role of {name}"


def change(name: str) -> str:
    """The link to a column."""
    return f"Change {name}"


def tick(name: str) -> str:
    """The label of a box."""
    return f"Tick {name}"


def place(first: int, last: int, total: int) -> str:
    """Which columns are shown."""
    return f"Columns {first:,} to {last:,} of {total:,}"


def filtered(label: str, count: int) -> str:
    """A list of columns."""
    return f"{label} ({count:,})"


def remark(what: str, codes_: Sequence[str], other: str, kind: str) -> str:
    """What seems to be the matter with a column."""
    said = listed([quoted(code) for code in codes_], 4)
    stands = "stands" if len(codes_) == 1 else "stand"
    return {
        "words": f"Read as {KINDS[kind]}, with {said} as missing.",
        "sentinels": f"{said} {stands} apart from all other numbers, and may mean a missing value.",
        "weight": "A survey weight, by its name: how many people a row stands for. It can single out a record.",
        "household": "It numbers households or families: who shares its value belongs together.",
        "copy": f"It says the same as {other}.",
        "offer": f"All of its values but {said} are numbers or dates.",
    }[what]


def offered(what: str, codes_: Sequence[str]) -> str:
    """What can be done about it at once."""
    said = listed([quoted(code) for code in codes_], 4)
    return {
        "words": f"No, {said} is a value", "sentinels": f"Number, with {said} as missing", "weight": "Drop it", "copy": "Drop it",
        "offer": f"Number, with {said} as missing",
    }.get(what, "")  # fmt: skip


def alike(count: int) -> str:
    """The same, in all columns where the same was noticed."""
    return f"The same in all {count:,} columns like it"


def set_role(names: Sequence[str], role: str) -> str:
    """Columns were given a role."""
    return f"Role of {listed(names, 8)}: {ROLES[role]}"


def made_public(names: Sequence[str]) -> str:
    """Columns were declared."""
    return f"Declared public knowledge: {listed(names, 8)}" if names else "Declared public knowledge: the missing codes"


def changed(name: str, parts: Sequence[str]) -> str:
    """A column was changed."""
    return f"Column {name}: {'; '.join(parts)}"


def changed_alike(names: Sequence[str], part: str) -> str:
    """Columns were changed alike."""
    return f"Columns {listed(names, 8)}: {part}"


def new_kind(kind: str) -> str:
    """Another kind."""
    return f"kind {KINDS[kind]}"


def new_missing(count: int) -> str:
    """Other missing codes; they are counted, as they stand in the rows."""
    return "no missing code of its own" if not count else f"{count} missing codes" if count > 1 else "1 missing code"


NEW_DOMAIN = "its domain was given, as public knowledge"
ROWS_DOMAIN = "its domain is read from the rows"
NEW_LABEL = "its label"
FREED = "numbers or dates, the words beside them mean a missing value"


def described(found: Mapping[str, Any]) -> str:
    """What a data dictionary did."""
    count = len(found["declared"])
    text = f"The data dictionary {found['file']} declares {'1 column' if count == 1 else f'{count:,} columns'}."
    return f"{text} It does not describe {listed(found['bare'], 8)}." if found["bare"] else text


def contradicted(count: int) -> str:
    """Columns that a dictionary disagrees with."""
    return (
        "It contradicts 1 column, which stays as it is:"
        if count == 1
        else f"It contradicts {count} columns, which stay as they are:"
    )


def took(name: str) -> str:
    """A data dictionary was taken."""
    return f"Declared what the data dictionary {name} says"


def folder(name: str) -> str:
    """The head of a listing."""
    return f"Files in {name}"


def suggested(reason: str) -> str:
    """Why the draft gave a column its role."""
    return f"suggested by {reason}" if reason == "its name" else reason
