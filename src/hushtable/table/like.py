"""A released table in the form of what it was made from: the library, the order of the columns, and their types."""

from __future__ import annotations

from typing import Any

from hushtable.table.table import Table


def like(table: Table, given: object) -> Any:
    """The table as a frame of the same library as ``given`` (pandas for anything else), with the types that its columns had there.

    A generalized column (an interval, a set, ``*``) is text. A type that cannot hold the released values, as plain whole numbers
    cannot hold a missing one, becomes the nearest that can. Categories are those that were released: the ones of ``given`` would
    tell which values others had.
    """
    match type(given).__module__.partition(".")[0]:
        case "polars":
            return _polars(table, given)
        case "pyarrow":
            return _arrow(table, given)
        case "pandas":
            return _pandas(table, given)
    return table.frame()


def _order(table: Table, names: list[str]) -> list[str]:
    """Columns in the order in which they came; those that are new come last."""
    return [*(n for n in names if n in table.schema), *(n for n in table.schema.names if n not in names)]


def _plain(table: Table, names: list[str]) -> list[str]:
    return [name for name in names if name in table.schema and not table.schema[name].generalized]


def _pandas(table: Table, given: Any) -> Any:
    frame = table.frame()
    if not hasattr(given, "columns"):
        return frame
    kinds = {str(name): kind for name, kind in given.dtypes.items()}
    for name in _plain(table, list(kinds)):
        frame[name] = _series(frame[name], kinds[name])
    return frame[_order(table, list(kinds))]


def _series(released: Any, kind: Any) -> Any:
    """A column as this type, or as the nearest that holds all of its values."""
    import pandas as pd

    nullable = {"i": "Int64", "u": "UInt64", "b": "boolean"}.get(getattr(kind, "kind", ""))
    if isinstance(kind, pd.CategoricalDtype):
        if kind.categories.inferred_type not in ("string", "empty"):
            return released
        present = set(released.dropna().astype(str))
        return released.astype(object).astype(pd.CategoricalDtype([c for c in kind.categories if c in present], kind.ordered))
    if nullable == "boolean":
        released = released.astype(object).map(lambda value: _BOOLEAN.get(str(value), value), na_action="ignore")
    for wanted in (kind, *([nullable] if nullable else [])):
        if released.isna().any() and wanted is kind and str(kind) == "bool":
            # Every value but nothing is true: a missing one would become true too.
            continue
        try:
            changed = released.astype(wanted)
        except (TypeError, ValueError, OverflowError):
            continue
        if changed.isna().sum() == released.isna().sum() and _same(released, changed):
            return changed
    return released


_BOOLEAN = {"True": True, "true": True, "False": False, "false": False}


def _same(one: Any, other: Any) -> bool:
    """Whether a change of type kept the numbers; of anything else it keeps what it can read at all."""
    import pandas as pd

    if not (pd.api.types.is_numeric_dtype(one) and pd.api.types.is_integer_dtype(other)):
        return True
    both = one.notna()
    return bool((one[both].astype("float64") == other[both].astype("float64")).all())


def _polars(table: Table, given: Any) -> Any:
    import polars as pl

    frame = table.to_polars()
    kinds = dict(given.collect_schema() if isinstance(given, pl.LazyFrame) else given.schema)
    for name in _plain(table, list(kinds)):
        wanted = pl.Categorical() if isinstance(kinds[name], pl.Enum) else kinds[name]
        plain = frame[name].cast(pl.String) if frame[name].dtype == pl.Categorical else frame[name]
        if wanted == pl.Boolean and plain.dtype == pl.String:
            plain = plain.replace_strict(_BOOLEAN, default=None, return_dtype=pl.Boolean)
        try:
            changed = plain.cast(wanted)
        except pl.exceptions.PolarsError:
            continue
        if changed.null_count() == frame[name].null_count():
            frame = frame.with_columns(changed.alias(name))
    return frame.select(_order(table, list(kinds)))


def _arrow(table: Table, given: Any) -> Any:
    import pyarrow as pa

    result = table.to_arrow()
    kinds = {field.name: field.type for field in given.schema}
    for name in _plain(table, list(kinds)):
        place = result.schema.get_field_index(name)
        column = result.column(place)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        try:
            changed = column.dictionary_encode() if pa.types.is_dictionary(kinds[name]) else column.cast(kinds[name])
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            continue
        if changed.null_count == column.null_count:
            result = result.set_column(place, name, changed)
    return result.select(_order(table, list(kinds)))
