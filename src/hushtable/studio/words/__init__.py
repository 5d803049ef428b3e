"""Every sentence of the studio, in one place to be translated. None of them holds a value of a row."""

from __future__ import annotations

from hushtable.display import listed
from hushtable.errors import Fault

STUDIO = "hush studio"
PRIVATE = "Private: computed from the raw rows, on this machine alone"
SKIP = "Skip to the content"
STEPS = "Steps"
CHOICES = "What was chosen"
COMMAND = "The same on the command line"
COPY = "Copy"
JOURNAL = "Journal"
LOCK = "Lock"
REASON = "Reason"
NOTHING = "–"

OFFLINE = "the studio reaches nothing outside of this machine"
WRONG_HOST = "This address is not that of the studio.\n"
WRONG_METHOD = "This is not something the studio does.\n"
WRONG_ORIGIN = "This did not come from a page of the studio, and nothing was done.\n"
NOTHING_HERE = "There is nothing here.\n"
LOCKED = "The screen is locked"
LOCKED_TEXT = (
    "Nobody has used this page for 15 minutes, or it was opened by a link of an earlier run. Jobs go on.",
    "For a new link type: hush studio --url",
)
USED_LINK = "This link was used already, or is older than a minute"
USED_LINK_TEXT = ("A link opens the studio once.", "For a new one type: hush studio --url")
ENTERED = "The studio opens"
GO_ON = "Go on"
STALE_FORM = "This form is of an earlier session. It was not sent; please check it and send it again."
TOO_LARGE = "This form is too long, and nothing was done."
NOT_FOUND = "There is no such page"
BROKEN = "Something went wrong in the studio"
BROKEN_TEXT = "Nothing was released. What to report:"

CHANGE = "Change"
TABLE, ROWS, PROTECTED, RECIPE, PROMISE, VERDICT = "Table", "Rows", "Protected", "Recipe", "Promise", "Verdict"
STALE = "stale: the table or its schema changed"

NOT_AN_OPTION = "is none of the values there are"
NOT_A_NUMBER = "Enter a number, with a point before decimals"
NOT_WHOLE = "Enter a whole number"
NO_TABLE = "No table is open: open one first"
NO_SUCH_FILE = "There is no such table below the start folder"
NO_SUCH_JOB = "There is no such job"
NO_SUCH_RUN = "There is no such run"
NO_SUCH_QUESTION = "there is no such question"
GONE = "the file does not exist any more"
DAMAGED_PROJECT = "is not a project file of the studio, or was damaged: mend it, or move the folder away"
JOBS_RUN = "A job is still running for the open table: wait for it, or cancel it, before you open another table"
STILL_READING = "A table is being read: wait for it, or cancel it"
ALREADY_RUNNING = "This is running already"
NONSENSE = "it wrote what is no progress"
TOO_LONG = "This took longer than 10 seconds and was stopped."
WORKER_ENDED = "The table worker ended, probably because there was not enough memory. It starts again with the next question."
TABLE_CHANGED = "The file of the table is another than before: all results of before are stale"
UNDONE = "Undone: the schema is what it was before the last change"
REDONE = "Done again: the schema is what it was before Undo"

READING = "Reading the file"
HASHING = "Computing its hash"
CANCEL = "Cancel"
LOST = (
    "The studio does not answer any more: it has probably ended. Start it again with hush studio, and go on where you were: what "
    "was saved is there, and a job that was at work can be run again."
)
TRY_AGAIN = "This page can be shown once that is mended."
AS_JOB = "It can be worked out beside the pages."
WORK_IT_OUT = "Work it out beside the pages"
SERVING = "The studio runs on this machine alone. Stop it with Ctrl-C."
NO_BROWSER = "No browser could be opened. In another terminal type: hush studio --url"
NOT_RUNNING = "no studio is running: start one with hush studio"
NOT_A_FOLDER = "is no folder"
OUTSIDE = "lies outside of the start folder (--root)"
SCRIPT = (
    "The decisions of hush studio, to be run again in the folder of the table, or in a copy of it with its private folder.",
    "With the same table, seeds and version it makes the same releases. It holds no value of a row.",
    "Give the name of a new folder for what it makes: sh journal.sh FOLDER",
)
NOT_ENDED = "This did not come to its end, and is left out:"
NO_SEED = "Without a seed, or with the fresh noise of a privacy budget, this makes other rows each time."


def no_workspace_here(name: str) -> str:
    """A script is run where its schemas are not."""
    return f"There is no folder {name} here: run this in the folder of the table, or copy that folder with the table."


def number(value: int) -> str:
    """A count with separators."""
    return f"{value:,}"


def percent(share: float) -> str:
    """A share, never rounded to none or all."""
    value = 100 * share
    if 0 < value < 0.1:
        return "< 0.1 %"
    if 99.9 < value < 100:
        return "> 99.9 %"
    return f"{value:.0f} %" if value >= 10 or value in (0, 100) else f"{value:.1f} %"


def count_columns(count: int) -> str:
    """How many columns."""
    return "1 column" if count == 1 else f"{count:,} columns"


def faults(count: int) -> str:
    """The head of the summary of faults."""
    return "This could not be done:" if count == 1 else f"This could not be done, for {count} reasons:"


def fault(fault_: Fault) -> str:
    """One fault in a line: what it is about, what is wrong, and in how many rows."""
    text = f"{fault_.where}: {fault_.reason}" if fault_.where else fault_.reason
    if not fault_.rows:
        return text
    some = listed([f"{row:,}" for row in fault_.rows[:5]])
    if fault_.count <= len(fault_.rows):
        return f"{text}; in {'row' if len(fault_.rows) == 1 else 'rows'} {some}"
    return f"{text}; in {fault_.count:,} rows, such as row number {some}"


def between(low: float | None, high: float | None) -> str:
    """The range of a number."""
    if low is not None and high is not None:
        return f"Enter a number from {low:g} to {high:g}"
    return f"Enter a number of at least {low:g}" if low is not None else f"Enter a number of at most {high:g}"


def unreadable(error: OSError) -> str:
    """A folder that cannot be listed."""
    return f"The folder cannot be read: {error.strerror}"


def unwritable(error: OSError) -> str:
    """A file that cannot be written."""
    return f"cannot be written: {error.strerror or error}"


def no_workspace(name: str, error: OSError) -> str:
    """The folder of the workspace cannot be made."""
    return (
        f"The private folder {name} beside the table cannot be written ({error.strerror}). Copy the table to where you may write."
    )


def in_use(name: str) -> str:
    """Another studio has the workspace."""
    return f"{name} is open in another studio. Close that one, or ask it for a link: hush studio --url"


def looking_at(number_: int, total: int) -> str:
    """Which column is looked at."""
    return f"Looking at column {number_:,} of {total:,}"


def drafted(table: str) -> str:
    """A schema was drafted."""
    return f"Schema drafted from the rows of {table}"


def out_of_order(where: str) -> str:
    """A fault of ours, by its place."""
    if where.startswith("MemoryError"):
        return "There was not enough memory: fewer columns, bins or rows need less. Nothing was released."
    return f"Something went wrong inside hushtable ({where}). Nothing was released."


def answering(screen: str) -> str:
    """The title of a job that answers a question."""
    return f"Working out what {screen} shows"


def died(code: int | None) -> str:
    """A job that ended without a word."""
    if code in (-9, 137):
        return "The job was ended from outside, probably because there was not enough memory. Nothing was released."
    return f"The job ended without a result (code {code}). Nothing was released."


def cannot_start(error: OSError) -> str:
    """A process that cannot be started."""
    return f"The job could not be started: {error.strerror or error}. Nothing was released."


def assurance(name: str) -> str:
    """The kind of evidence of a promise."""
    return {"proven": "proven", "verified": "verified", "claimed": "claimed, not proven", "none": "no promise"}.get(name, name)


def duration(seconds: float) -> str:
    """A time as a person says it."""
    if seconds < 1:
        return "under 1 s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def size(count: int) -> str:
    """Bytes as a person says it."""
    for unit, power in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= power:
            return f"{count / power:.1f} {unit}"
    return f"{count} bytes"
