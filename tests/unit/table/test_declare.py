"""To declare a schema is one deliberate act: marks go, everything else stays."""

from __future__ import annotations

import pytest

from hushtable.errors import InputError
from hushtable.table.columns import Facet
from hushtable.table.declare import declare
from hushtable.table.io import draft
from hushtable.table.schema import Schema

TEXT = """# our own remark
missing: ["?"]
observed: true
columns:
  # about people
  age:   {kind: integer, role: quasi, domain: [0, 99], observed: true, required: true}
  wage:  {observed: [domain, decimals], kind: real, domain: [0, 9], decimals: 2}
  town:
    kind: category
    domain: [a, b]
    observed: true
  state: {kind: category, domain: ["observed: true", x]}
"""


def test_marks_are_taken_out_and_comments_stay(tmp_path):
    path = tmp_path / "schema.yaml"
    path.write_text(TEXT)
    before, after = declare(path, by="Jo")
    assert set(before.undeclared) == {"age", "wage", "town"}
    assert Schema.load(path) == after == before.declared(by="Jo")
    text = path.read_text()
    assert "# our own remark" in text
    assert "# about people" in text
    assert 'domain: ["observed: true", x]' in text
    with pytest.raises(InputError, match="declared already"):
        declare(path)


def test_whoever_declares_may_have_any_name_and_declare_again(tmp_path):
    path = tmp_path / "schema.yaml"
    path.write_text(TEXT)
    declare(path, by="before", facets=["kind"])
    by = 'Jo "the head": of #1\\'
    _, after = declare(path, by=by)
    assert Schema.load(path) == after
    assert after.declared_by == by


def test_some_facets_can_be_declared_alone(tmp_path):
    path = tmp_path / "schema.yaml"
    path.write_text(TEXT)
    _, after = declare(path, facets=["kind", "missing"])
    assert Schema.load(path) == after
    assert after["age"].undeclared == frozenset(Facet) - {Facet.KIND, Facet.MISSING}
    assert not after.drafted
    with pytest.raises(InputError, match="no facet 'kinds'"):
        declare(path, facets=["kinds"])


def test_a_table_is_not_declared_unseen(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,town\n1,a\n2,b\n")
    with pytest.raises(InputError, match="no schema file"):
        declare(path)
    drafted = tmp_path / "schema.yml"
    drafted.write_text(draft(path).dump())
    declare(drafted)
    assert "observed" not in drafted.read_text()


@pytest.mark.parametrize(
    ("entry", "fault"), [("observed: maybe", "true or false"), ("observed: [kind, colour]", "one of kind, role")]
)
def test_a_mark_that_is_none_is_a_fault(entry, fault):
    with pytest.raises(InputError, match=fault):
        Schema.parse(f"columns: {{a: {{kind: integer, {entry}}}}}")
