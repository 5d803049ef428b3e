"""Build the hierarchy of one column, and see what it makes of the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hushtable.errors import InputError
from hushtable.table import builders
from hushtable.table.builders import Preview
from hushtable.table.columns import Column
from hushtable.table.hierarchy import Hierarchy
from hushtable.table.table import Table

FREQUENCY = "frequency"
_BUILDERS: dict[str, Callable[[Column, Any], Hierarchy]] = {
    "intervals": lambda column, widths: builders.intervals(column, _listed(widths)),
    "prefix": lambda column, lengths: builders.prefix(column, _listed(lengths)),
    "dates": lambda column, units: builders.calendar(column, _listed(units) or builders.UNITS),
    "groups": lambda column, levels: builders.groups(column, [levels] if isinstance(levels, Mapping) else levels),
}


def hierarchy(
    table: Table, column: str, spec: Hierarchy | Mapping[str, Any] | str | Path | None = None, *, person: str | None = None
) -> Preview:
    """A hierarchy of one column and what it makes of the rows: the people in each group, and the values without one.

    ``spec`` is what a schema may say (``{"intervals": [5, 10, 20]}``, ``{"prefix": [4, 2]}``, ``{"dates": ["month", "year"]}``, a
    file), groups made by hand (``{"groups": {"north": ["Kiel", "Bremen"], ...}}``, or a list of such levels), or
    ``{"frequency": 20}``: rare values together, so that groups have so many people. An empty list asks for a suggestion, and
    nothing for the hierarchy that the column has. ``person`` is the key that identifies people. ``column`` of what comes back is
    the column with the hierarchy, for ``Schema.with_columns``.

    >>> import hushtable as ht
    >>> ht.hierarchy(ht.people(300), "birth_date", {"dates": ["year", "decade"]}).orphans
    ()
    """
    rows = table if person is None else table.held_by(person)
    own = table.schema[column]
    if isinstance(spec, (str, Path)):
        return builders.preview(rows, column, builders.file(spec))
    if not isinstance(spec, Mapping):
        return builders.preview(rows, column, spec)
    if len(spec) != 1 or not set(spec) <= {*_BUILDERS, FREQUENCY}:
        known = ", ".join((*_BUILDERS, FREQUENCY))
        raise InputError(f"expected one of {known}, got {', '.join(map(str, spec)) or 'nothing'}", where=f"hierarchy of {column}")
    ((way, given),) = spec.items()
    if way == FREQUENCY:
        return builders.preview(rows, column, builders.by_frequency(rows, column, given), observed=True)
    return builders.preview(rows, column, _BUILDERS[way](own, given))


def _listed(given: Any) -> Sequence[Any]:
    return tuple(given) if isinstance(given, (list, tuple)) else (given,)
