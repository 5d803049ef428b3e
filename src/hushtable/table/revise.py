"""One column of a schema as a person wants it instead: another kind, other missing codes, another domain; read off its values.

What the person says is declared by it; what follows from the values (a format, decimals, a domain that was not given) stays marked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hushtable.display import listed
from hushtable.errors import InputError
from hushtable.table.columns import CODED, FREE, Bounds, Column, Domain, Facet, Kind, Levels, Role
from hushtable.table.guess import Guess, Words
from hushtable.table.kinds import SCALES, number, stand_ins
from hushtable.table.moments import date_kind
from hushtable.table.schema import Schema
from hushtable.table.values import Raw, natural

_FOLLOWS = frozenset({Facet.FORMAT, Facet.DECIMALS, Facet.HIERARCHY, Facet.REQUIRED, Facet.MISSING})


def words_of(schema: Schema, column: Column, raw: Raw) -> Words:
    """The different values of a column but those that mean a missing one, with their counts."""
    counts = np.bincount(raw.codes[raw.codes >= 0], minlength=len(raw.words))
    words = Words(column.name, raw.words, counts, len(raw.codes))
    return words.without(["", *schema.missing, *column.missing])


def of_kind(column: Column, words: Words, kind: Kind) -> Column:
    """The column under another kind; words that stand beside numbers or dates become missing codes where they can be nothing else.

    InputError, without a value, where the values are not of that kind.
    """
    if kind is column.kind:
        return column
    guess, codes = _read(words, kind), tuple(column.missing)
    if guess is None and (others := stand_ins(words)):
        guess, codes = _read(words.without(others), kind), (*codes, *others)
    if guess is None:
        raise InputError(f"{_counted(words, kind)} of another form than {_NAMES[kind]}", where=f"column {column.name}")
    facets: dict[str, Any] = {name: value for name, value in guess.facets.items() if name in ("format", "decimals", "domain")}
    followed = _FOLLOWS if codes != column.missing else _FOLLOWS - {Facet.MISSING} | (column.drafted & {Facet.MISSING})
    drafted = (column.drafted | followed) - {Facet.KIND, Facet.DETERMINED}
    return Column(name=column.name, kind=kind, role=column.role, missing=codes, drafted=drafted, **facets)


def freed(column: Column, words: Words) -> Column:
    """The column as the numbers or dates that it holds, the few words beside them missing codes; InputError where it is none."""
    rest = words.without(stand_ins(words))
    for kind in (Kind.INTEGER, Kind.REAL, Kind.DATE):
        if rest.words and _read(rest, kind) is not None:
            return of_kind(column, words, kind)
    raise InputError("holds other words than missing codes beside numbers or dates", where=f"column {column.name}")


def with_missing(column: Column, codes: Sequence[str]) -> Column:
    """The column with these missing codes, beside those of the schema; a domain that was read off the rows is read again."""
    domain: Domain | None = column.domain
    if column.observed and not column.generalized:
        domain = None
    elif isinstance(domain, Levels):
        domain = replace(domain, levels=tuple(level for level in domain.levels if level not in codes))
    required = column.required and Facet.REQUIRED not in column.drafted
    return replace(column, missing=tuple(codes), domain=domain, required=required, drafted=column.drafted - {Facet.MISSING})


def with_levels(column: Column, levels: Iterable[str]) -> Column:
    """The column with the values that it may have, in their order, declared; InputError where it has none or they stand twice."""
    given = tuple(levels)
    if column.kind not in CODED:
        raise InputError("has no list of values: it is no category", where=f"column {column.name}")
    if not given:
        raise InputError("expected one value on each line", where=f"column {column.name}")
    if len(set(given)) < len(given):
        raise InputError("a value stands more than once", where=f"column {column.name}")
    return replace(column, domain=Levels(given))


def with_bounds(column: Column, low: str, high: str) -> Column:
    """The column with its least and its greatest value, as it writes them, declared; InputError where they are none."""
    if column.kind in CODED | FREE:
        raise InputError("has no least and greatest value: it is no number and no date", where=f"column {column.name}")
    try:
        bounds = Bounds(column.number(low), column.number(high))
    except ValueError:
        raise InputError(f"expected {_NAMES[column.kind]}, written as in the file", where=f"column {column.name}") from None
    if bounds.low > bounds.high:
        raise InputError("the least value is above the greatest", where=f"column {column.name}")
    return replace(column, domain=bounds)


def reopened(column: Column) -> Column:
    """The column with its domain left to be read off the rows again."""
    return replace(column, domain=None)


def of_role(column: Column, role: Role) -> Column:
    """The column in a role that a person gave it."""
    return replace(column, role=role, drafted=column.drafted - {Facet.ROLE})


def public(schema: Schema, names: Iterable[str], reason: str, *, codes: bool = False) -> Schema:
    """The schema with all that was read off the rows of these columns declared; ``codes``: and its missing codes of all columns.

    The reason says why that is public knowledge; with the columns it becomes who declared the schema, and stands on every card.
    """
    given = set(names)
    own = [column for column in schema if column.name in given]
    after = schema.with_columns(*(column.declared() for column in own))
    # Without a code nothing is left that the mark could be on.
    done = codes or (not schema.missing and not after.undeclared)
    by = f"{listed([column.name for column in own], 8) if own else 'missing codes'}: {reason}"
    said = f"{schema.declared_by}; {by}" if schema.declared_by else by
    return replace(after, drafted=schema.drafted and not done, declared_by=said)


def _read(words: Words, kind: Kind) -> Guess | None:
    """What follows from the values for a kind; None if some of them are not of it."""
    if kind in FREE or kind is Kind.CATEGORY:
        return Guess(kind, "")
    if kind is Kind.ORDINAL:
        return Guess(kind, "", {"domain": Levels(_ordered(words.words), observed=True)} if words.words else {})
    if not words.words:
        return Guess(kind, "")
    guess = date_kind(words) if kind is Kind.DATE else number(words)
    if guess is None or (kind is Kind.INTEGER and guess.kind is Kind.REAL):
        return None
    return guess


def _ordered(words: Sequence[str]) -> tuple[str, ...]:
    for scale in SCALES:
        if {word.lower() for word in words} <= set(scale):
            return tuple(sorted(words, key=lambda word: scale.index(word.lower())))
    return tuple(sorted(words, key=natural))


_NAMES = {
    Kind.CATEGORY: "categories", Kind.ORDINAL: "ordered categories", Kind.INTEGER: "whole numbers", Kind.REAL: "numbers",
    Kind.DATE: "dates", Kind.TEXT: "texts", Kind.KEY: "keys",
}  # fmt: skip


def _counted(words: Words, kind: Kind) -> str:
    """How many rows hold what stands in the way; of values that are all alike nothing can be counted apart."""
    bad = sum(
        int(count)
        for word, count in zip(words.words, words.counts, strict=True)
        if _read(Words(words.name, (word,), np.array([count]), words.rows), kind) is None
    )
    return f"{bad:,} rows hold values" if bad else "its values are"
