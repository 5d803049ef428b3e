"""Fixed defaults: what becomes of a cell follows from its own text, whatever the rows beside it made of its column."""

from __future__ import annotations

from datetime import UTC, datetime

import pandas as pd
import pytest

from hushtable.errors import GuaranteeRefused
from hushtable.table import io
from hushtable.table.defaults import with_defaults
from hushtable.table.moments import DATE_FORMATS

OTHERS = ([], ["hello there"], ["42"], ["?"])


def texts(words, others):
    cells = [*words * 30, *others]
    table = io.read(pd.DataFrame({"x": cells, "y": ["a", "b", "c"] * (len(cells) // 3) + ["a"] * (len(cells) % 3)}, dtype=object))
    return with_defaults(table).strings("x")[: len(words)].tolist()


@pytest.mark.parametrize(
    "words",
    [
        ["2020-01-01T00:30:00+02:00", "2020-03-01T23:30:00-05:00", "2020-05-01T12:00:00Z"],
        ["2020-01-01 00:30 +0200", "2020-03-01 23:30 -0500", "2020-05-01 12:00 +0000"],
        ["2020-01-01T02:00:00+02:00", "2020-03-01T00:00:00+00:00", "2020-05-01T00:00:00Z"],
        ["2020-W01-1", "2020-W03-2", "2020-01-05"],
        ["Jan 5, 2020", "FEB 17, 2020", "Mar 5, 0820"],
        ["5 january 2020", "17 February 2020", "5 May 2020"],
        ["5JAN2020", "17FEB2020", "5Mar2021"],
        ["1/2/2020", "3/4/2020", "25/12/2020"],
        ["1.50", "2", "-0"],
    ],
)
def test_one_row_more_changes_nobodys_cell(words):
    assert len({tuple(texts(words, others)) for others in OTHERS}) == 1


@pytest.mark.parametrize("form", [form or "%Y-%m-%d" for form in DATE_FORMATS])
def test_every_form_of_a_day_that_is_drafted_reads_alike_among_words(form):
    days = [
        datetime(2020, 1, 5, 23, 30, 15, tzinfo=UTC),
        datetime(2021, 12, 25, 1, 5, tzinfo=UTC),
        datetime(1999, 7, 3, 9, tzinfo=UTC),
    ]
    words = [day.strftime(form) for day in days]
    try:
        alone = texts(words, [])
    except GuaranteeRefused:
        pytest.fail("days are read by themselves")
    assert alone == texts(words, ["hello there"])
