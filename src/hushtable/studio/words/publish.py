"""The sentences of the screen Publish."""

from __future__ import annotations

from hushtable.studio.jobs import State
from hushtable.studio.words import size as bytes_of

LABEL = "Publish"
QUESTION = "May it go out?"
NONE_YET = "There is no release yet that could be published."
TO_RUN = "Make one"
CHECKLIST = "Checklist"
READY = "Nothing on the list speaks against publishing it."
TO_DESCRIBE = "Nothing on the list speaks against publishing it, once its card says what the data is."
REFUSED = "It cannot be published yet: what is marked with a cross must be mended first."
ANSWERABLE = "Something is open. It can be published if somebody answers for it by name, with a reason."
ITEMS = {
    "verified": "It is what its card says",
    "audited": "It was attacked, this release and no other",
    "audit counts": "The audit counts",
    "gates": "Every condition that was asked for holds",
    "decision": "The audit found no objection",
    "no private file": "Its folder holds nothing private",
    "table unchanged": "The table is the one it was made from",
    "described": "Its card says what the data is, and whom to ask",
}
STATES = {"holds": "holds", "fails": "fails", "open": "open"}
SIGNS = {"holds": "✓", "fails": "✗", "open": "?"}
TO_AUDIT = "Attack it first"
TO_VERDICT = "See its audit"
CHECK_AS_JOB = "Check it as a job"
TOO_LONG = "The check takes longer than a page may wait."
CHECKED = "As it was checked last, by a job; publishing checks it again."
ABOUT = "What its card says of the data"
TITLE, TITLE_HINT = "Title", "What the data is called."
CONTACT, CONTACT_HINT = "Contact", "Whom a reader may ask: an office or an address that stays."
LICENCE, LICENCE_HINT = "Licence", "Under which terms it may be used, such as CC BY 4.0."
PURPOSE, PURPOSE_HINT = "Purpose", "What it was made for, in a sentence."
DATE, NO_DATE = "Date", "none"
BY, BY_HINT = "Your name", "Who answers for it; it goes into the journal."
REASON, REASON_HINT = "Reason", "Why it is published though the list leaves something open. It goes into the journal."
ANSWER = "Who answers for it"
SEE = "Show it on the card"
PUBLISH = "Publish"
LACKING = {
    "title": "Say what the data is called",
    "contact": "Say whom a reader may ask",
    "licence": "Say under which terms it may be used",
    "purpose": "Say what it was made for",
    "by": "Give the name of who answers for it",
    "reason": "Give the reason",
}
CARD = "The card, as its reader sees it"
FILES = "What goes out"
FILES_WHAT = "Audits, the journal and rows that were set aside are never in it."
FILES_CHANGE = "The card and the schema change with what is said above."
FILE, SIZE, HASH = "File", "Size", "SHA-256"
ITSELF = "it holds the others"
PUBLISHED = "It is published: a folder and a zip of it."
VERIFIED = "The zip was verified: it is what its card says."
VERIFIED_BUT = "The zip was verified: no fault was found. This could not be checked:"
DOWNLOAD = "Save the zip"
WHERE = "Where it lies"
ZIP_HASH = "SHA-256 of the zip"
RECIPIENT = "Who receives it checks it with"
OPEN_CARD = "Open its card"
ANSWERED = "Who answered for it"
AGAIN = "Publish it once more"
BEFORE = "Published before"
ENDED = {
    State.FAILED: "It could not be published, and nothing was written.",
    State.CANCELLED: "It was cancelled, and nothing was published.",
    State.INTERRUPTED: "The studio ended before it was done. Nothing was published.",
}


def title(recipe: str) -> str:
    """The title of a job."""
    return f"Publish the release by {recipe}"


def checking(recipe: str) -> str:
    """The title of a job."""
    return f"Check the release by {recipe}"


def started(run_: str, by: str) -> str:
    """For the journal."""
    return f"Publishing of run {run_} started" + (f"; {by} answers for it" if by else "")


def size(count: int) -> str:
    """Bytes."""
    return bytes_of(count)


def answered(by: str, reason: str) -> str:
    """Who answered, and why."""
    return f"{by}: {reason}"
