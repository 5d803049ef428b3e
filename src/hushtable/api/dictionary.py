"""Hold a data dictionary against a schema: what it declares, and where it contradicts it."""

from __future__ import annotations

from pathlib import Path

from hushtable.table.described import Match, matched
from hushtable.table.dictionary import Dictionary
from hushtable.table.schema import Schema


def match_dictionary(schema: Schema | str | Path, dictionary: Dictionary | str | Path, reason: str = "") -> Match:
    """Declare what a data dictionary (CSV or JSON) says of the columns of a schema, found by their names.

    ``reason`` says why that is public knowledge (a law, a questionnaire): with the name of the dictionary it stands in the schema
    and on the card of every release. Where the two disagree the column stays as it is, and ``faults`` says why.
    """
    known = dictionary if isinstance(dictionary, Dictionary) else Dictionary.load(dictionary)
    return matched(schema if isinstance(schema, Schema) else Schema.load(schema), known, reason)
