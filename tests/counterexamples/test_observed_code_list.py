"""A code list that was read off the rows shows the only holder of a code: a budget refuses it, and a raw release keeps it back."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

import hushtable as ht
from hushtable.errors import GuaranteeRefused
from hushtable.table.columns import Facet
from hushtable.table.determined import most_common
from hushtable.table.schema import Schema

SCHEMA = Schema.parse(
    "columns: {code: {kind: category, domain: [a, b, c]}, group: {kind: category, domain: [x, y]}, "
    "other: {kind: integer, domain: [0, 9]}}"
)


def drafted(frame: pd.DataFrame) -> ht.Table:
    """As somebody would who looks at the rows to see which group each code has."""
    table = ht.read(frame, SCHEMA)
    by = most_common(table, "group", "code")
    return table.under(SCHEMA.with_columns(replace(SCHEMA["group"], determined_by=by).marked(frozenset({Facet.DETERMINED}))))


def people(*canary: tuple[str, str, str]) -> pd.DataFrame:
    rows = [("a", "x", str(i % 10)) for i in range(100)] + [("b", "y", str(i % 10)) for i in range(100)]
    return pd.DataFrame([*rows, *canary], columns=["code", "group", "other"])


def test_one_row_more_makes_another_list():
    one, two = (drafted(people(*some)).schema["group"].determined_by for some in ((), [("c", "x", "0")]))
    assert "c" not in one.index
    assert two.index["c"] == "x"


@pytest.mark.parametrize("recipe", ["independent", "mst", "aim", "privsyn", "privbayes"])
def test_a_budget_refuses_it_by_name(recipe):
    with pytest.raises(GuaranteeRefused, match=r"group: observed: \[determined_by\]"):
        ht.release(drafted(people(("c", "x", "0"))), recipe, epsilon=1.0)


def test_a_budget_that_learns_domains_goes_without_it():
    release = ht.release(drafted(people(("c", "x", "0"))), "independent", epsilon=1.0, learn_domain=True)
    assert release.table.schema["group"].determined_by is None
    assert "determined" not in release.card()["steps"]


def test_a_raw_release_follows_it_and_does_not_show_it(tmp_path):
    release = ht.release(drafted(people(("c", "x", "0"))), "sequential", allow_copies="nobody in it exists")
    assert release.table.schema["group"].determined_by.codes is None
    folder = ht.save(release, tmp_path / "out")
    assert "codes:" not in (folder / "schema.yaml").read_text()
