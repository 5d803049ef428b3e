"""A data dictionary held against a schema that is there already: which columns it declares, and where it contradicts them.

What the dictionary says replaces what was read off the rows, where the two agree: it must have every level that the rows hold, and
bounds that hold all of their values. Nothing that the rows hold is added to it, and a column that disagrees stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hushtable.errors import Fault
from hushtable.table.columns import CODED, FREE, Bounds, Column, Facet, Levels
from hushtable.table.dictionary import Declared, Description, Dictionary
from hushtable.table.guess import Guess
from hushtable.table.schema import Schema


@dataclass(frozen=True, kw_only=True)
class Match:
    """What a dictionary says of the columns of a schema."""

    schema: Schema
    """With what it declares in place of what was read off the rows; who and why stands in it, and on the card of a release."""
    declared: Mapping[str, tuple[Facet, ...]]
    """The columns of which something is declared now that was not before, and what."""
    labels: Mapping[str, str]
    """What each column that it describes is called, where it says so."""
    bare: tuple[str, ...]
    """Columns that it does not describe."""
    more: tuple[str, ...]
    """What it describes beside them."""
    faults: tuple[Fault, ...]
    """Where it contradicts the schema: these columns stay as they are. No value of a row is quoted."""

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "declared": {name: [str(facet) for facet in facets] for name, facets in self.declared.items()},
            "labels": dict(self.labels),
            "bare": list(self.bare),
            "more": list(self.more),
            "faults": [str(fault) for fault in self.faults],
            "by": self.schema.declared_by,
        }


def matched(schema: Schema, dictionary: Dictionary, reason: str = "") -> Match:
    """Hold a dictionary against a schema, by the names of the columns; InputError where it describes none of them.

    ``reason`` says why what it declares is public knowledge; with the name of the dictionary it becomes who declared the schema.
    """
    described = dictionary.describes(schema.names)
    columns, faults = list[Column](), list[Fault]()
    for column in schema:
        if column.name not in described or column.generalized:
            columns.append(column)
            continue
        found, whys = _merged(column, described[column.name])
        faults += [Fault(f"{dictionary.source}, column {column.name}", why) for why in whys]
        columns.append(column if whys else found)
    after = replace(schema, columns=tuple(columns))
    declared = {
        name: tuple(sorted(before - after[name].undeclared))
        for name, before in schema.undeclared.items()
        if before - after[name].undeclared
    }
    if declared:
        by = f"data dictionary {dictionary.source}{f' ({reason})' if reason else ''}"
        after = replace(after, declared_by=f"{schema.declared_by}; {by}" if schema.declared_by else by)
    folded = {name.casefold() for name in schema.names}
    return Match(
        schema=after,
        declared=declared,
        labels={name: said.label for name, said in described.items() if said.label},
        bare=tuple(name for name in schema.names if name not in described),
        more=tuple(name for name in dictionary.columns if name.casefold() not in folded),
        faults=tuple(faults),
    )


def _merged(column: Column, said: Description) -> tuple[Column, list[str]]:
    """The column with what is said of it in place of what was drafted, and why that cannot be."""
    facets: dict[str, Any] = {"missing": column.missing, "format": column.format, "decimals": column.decimals}
    try:
        declared = said.apply(Guess(column.kind, "the schema", {**facets, "domain": column.domain}))
    except ValueError as error:
        return column, [str(error)]
    new = declared.column
    if said.numeric and column.kind in CODED | FREE:
        return column, [
            f"it says that these are numbers, and the schema that the kind is {column.kind}: draft the schema again with it"
        ]
    if new.kind is not column.kind and not {new.kind, column.kind} <= CODED:
        return column, [f"it says {new.kind}, and the schema {column.kind}: draft the schema again with it"]
    whys = _outside(column, new)
    merged = replace(
        column,
        kind=new.kind,
        role=new.role if said.role is not None else column.role,
        domain=column.domain if new.domain is None or new.domain.observed else new.domain,
        missing=new.missing,
        required=column.required if said.required is None else said.required,
        format=new.format,
        decimals=new.decimals,
        drafted=_left(column, declared),
    )
    return merged, whys


def _left(column: Column, declared: Declared) -> frozenset[Facet]:
    """What still comes from the rows: a dictionary that is silent on something declares nothing of it."""
    silent = frozenset({Facet.HIERARCHY, Facet.DETERMINED, *declared.left})
    return column.drafted & silent


def _outside(column: Column, new: Column) -> list[str]:
    """Why what the rows hold, as far as the schema shows it, does not lie in what the dictionary says."""
    old, own = column.domain, new.domain
    if isinstance(old, Levels) and isinstance(own, Levels) and not own.observed:
        lacking = len(set(old.levels) - set(own.levels) - set(new.missing))
        return [f"the schema has {lacking} levels that it does not list"] if lacking else []
    if isinstance(old, Bounds) and isinstance(own, Bounds):
        ends = [word for word, over in (("below", old.low < own.low), ("above", old.high > own.high)) if over]
        return [f"the schema has values {' and '.join(ends)} its range"] if ends else []
    return []
