"""Dates and times as people write them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hushtable.table import naming
from hushtable.table.columns import Column, Kind
from hushtable.table.guess import Guess, Words

_DAYS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%Y.%m.%d")
_NAMED_DAYS = (
    "%d %b %Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%d-%b-%Y",
    "%d%b%Y",
    "%d/%m/%y",
    "%m/%d/%y",
    "%d.%m.%y",
    "%d-%b-%y",
)
_CLOCKS = ("%H:%M:%S", "%H:%M", "%H:%M:%S.%f")
_ZONES = ("", "Z", "%z", " %z")
DATE_FORMATS = (
    *(None, *_DAYS, *_NAMED_DAYS),
    *(f"%Y-%m-%d{between}{clock}{zone}" for zone in _ZONES for clock in _CLOCKS for between in (" ", "T")),
    *(f"{day} {clock}" for clock in (*_CLOCKS, "%I:%M %p", "%I:%M:%S %p") for day in _DAYS),
)
MOMENT = re.compile(r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})([ T]\d.*)?", re.ASCII)


def date_kind(column: Words) -> Guess | None:
    """Dates in one of the known forms; None if some value is none."""
    words = column.words
    for form in DATE_FORMATS:
        # 3/9/21 is a day, and 3.9.21 may be a version.
        short = form is not None and form.endswith("%y") and ("/" in form or column.matches(naming.DAY))
        if all_dates(words, form, 6 if short else 8):
            remarks = []
            twin = form and {"%d/%m": form.replace("%d/%m", "%m/%d"), "%d.%m": None, "%m/%d": None}.get(form[:5])
            if twin and all_dates(words, twin, 6 if short else 8):
                remarks.append(
                    f"does not show whether day or month comes first: read as {form}; mend its 'format' if it is {twin}."
                )
            if form and "%z" in form:
                remarks.append("holds times of several zones, or with an offset: they are kept and written in UTC.")
            if form and "%f" in form:
                remarks.append("holds fractions of a second, which are cut off.")
            facets = {} if form is None else {"format": form}
            return Guess(Kind.DATE, "dates" if form is None else f"dates written like {form}", facets, tuple(remarks))
    return None


def all_dates(words: Sequence[str], form: str | None, least: int = 8) -> bool:
    """Whether all of them are dates in this form, of so many characters at least."""
    column = Column(name="", kind=Kind.DATE, format=form)
    try:
        for word in words:
            if len(word) < least:
                return False
            column.number(word)
    except ValueError:
        return False
    return form is not None or all(len(word) == 10 for word in words)
