"""One column of a schema file: from its YAML entry to a column, with every fault, and back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from hushtable.display import meant
from hushtable.errors import Fault, InputError
from hushtable.table import hierarchy as hierarchies
from hushtable.table import levels as level_files
from hushtable.table import trees
from hushtable.table.cell import Cell
from hushtable.table.code_list import read_dependency
from hushtable.table.columns import CODED, DRAFTED, FREE, NUMBERS, Bounds, Cells, Column, Domain, Facet, Kind, Levels, Role
from hushtable.table.numbers import number_format

_Choice = TypeVar("_Choice", Kind, Role, Facet)
_KEYS = (
    *("kind", "role", "domain", "observed", "cells", "missing", "required", "decimals", "format", "hierarchy"),
    *("determined_by", "codes"),
)


def read(name: str, entry: object, folder: Path | None, where: str, faults: list[Fault]) -> Column | None:
    """The column of an entry; None if it has faults, which are added to the list."""
    if isinstance(entry, str):
        entry = {"kind": entry} if entry else {}
    if not isinstance(entry, Mapping):
        faults.append(Fault(where, "expected {kind: ..., role: ...}"))
        return None
    before = len(faults)
    for key in entry:
        if key not in _KEYS:
            faults.append(Fault(where, f"unknown entry {key!r}{meant(str(key), _KEYS)}; expected {', '.join(_KEYS)}"))
    kind = _choice(Kind, entry.get("kind"), f"{where}: kind", faults)
    role = _choice(Role, entry.get("role", "plain"), f"{where}: role", faults)
    required = flag(entry.get("required", "false"), f"{where}: required", faults)
    observed = _observed(entry.get("observed", "false"), f"{where}: observed", faults)
    decimals = whole(entry.get("decimals"), f"{where}: decimals", faults)
    form = _format(entry.get("format"), kind, f"{where}: format", faults)
    missing = texts(entry.get("missing"), f"{where}: missing", faults)
    tree = _hierarchy(entry["hierarchy"], folder, where, faults) if "hierarchy" in entry else None
    by = read_dependency(name, entry, folder, where, faults)
    if kind is None:
        return None
    faults += _suits(kind, tree, f"{where}: hierarchy")
    column = Column(
        name=name, kind=kind, role=role or Role.PLAIN, missing=missing, required=required,
        hierarchy=tree, decimals=decimals, format=form, determined_by=by, drafted=observed & DRAFTED,
    )  # fmt: skip
    try:
        column = replace(column, domain=_domain(column, entry, folder, observed=Facet.DOMAIN in observed))
    except InputError as error:
        faults += [replace(fault, where=f"{where}: {fault.where}") for fault in error.faults]
    except ValueError as error:
        faults.append(Fault(f"{where}: domain", str(error)))
    if len(faults) == before:
        faults += _covers(column, f"{where}: hierarchy")
    return column if len(faults) == before else None


def texts(value: object, where: str, faults: list[Fault]) -> tuple[str, ...]:
    """A list of texts, or a single one."""
    if value is None or value == "":
        return ()
    items = value if isinstance(value, list) else [value]
    if not all(isinstance(item, str) for item in items):
        faults.append(Fault(where, "expected a list of texts"))
        return ()
    return tuple(items)


def _hierarchy(entry: object, folder: Path | None, where: str, faults: list[Fault]) -> hierarchies.Hierarchy | None:
    try:
        return hierarchies.parse(entry, folder)
    except InputError as error:
        faults += [replace(fault, where=f"{where}: {fault.where}") for fault in error.faults]
    except ValueError as error:
        faults.append(Fault(f"{where}: hierarchy", str(error)))
    return None


def _domain(column: Column, entry: Mapping[str, object], folder: Path | None, *, observed: bool) -> Domain | None:
    values = entry.get("domain")
    if isinstance(values, str) and values.endswith(".csv") and column.kind in CODED:
        values = level_files.read_levels(values, folder)
    base: Levels | Bounds | None = None
    if values is not None:
        if not isinstance(values, list):
            raise ValueError("expected a list: [low, high] for numbers and dates, the levels (or a file of them) for categories")
        if not all(isinstance(v, str) for v in values):
            raise ValueError("expected plain values in the list")
        items = [str(v) for v in values]
        if column.kind in FREE:
            raise ValueError(f"a {column.kind} column has no domain")
        if column.kind in NUMBERS:
            if len(items) != 2:
                raise ValueError(f"expected [low, high], got {len(items)} values")
            low, high = (column.number(t) for t in items)
            if low > high:
                raise ValueError(f"low {items[0]} is above high {items[1]}")
            base = Bounds(low, high, observed)
        else:
            twice = [text for text, count in Counter(items).items() if count > 1]
            if twice:
                raise ValueError(f"more than once: {', '.join(map(repr, twice))}")
            if not items:
                raise ValueError("a domain needs at least one level")
            base = Levels(tuple(items), observed)
    cells = entry.get("cells")
    if cells is None:
        return base
    if not isinstance(cells, list) or column.kind in FREE:
        raise ValueError(f"a {column.kind} column has no cells" if column.kind in FREE else "expected a list of cells")
    plain = replace(column, domain=base)
    return Cells(tuple(_cell(plain, str(text)) for text in cells), base)


def _cell(column: Column, text: str) -> Cell:
    try:
        return trees.read_cell(column, text)
    except ValueError as error:
        raise ValueError(f"cell {text!r}: {error}") from None


def _suits(kind: Kind, tree: hierarchies.Hierarchy | None, where: str) -> list[Fault]:
    """The hierarchy must suit the kind."""
    suited = {
        type(None): set(Kind),
        hierarchies.FileTree: set(Kind) - FREE,
        hierarchies.IntervalTree: {Kind.INTEGER, Kind.REAL},
        hierarchies.DateTree: {Kind.DATE},
        hierarchies.PrefixTree: CODED,
    }[type(tree)]
    return [] if kind in suited else [Fault(where, f"does not suit kind {kind}; it is for {', '.join(sorted(suited))}")]


def _covers(column: Column, where: str) -> list[Fault]:
    """The hierarchy must cover the declared domain, with no cell too narrow to hold a value."""
    tree, base = column.hierarchy, column.base
    if isinstance(tree, hierarchies.IntervalTree) and column.step is not None and tree.widths[0] < column.step:
        return [Fault(where, f"interval width {tree.widths[0]:g} is below the step of the values, {column.step:g}")]
    values = list(base.levels) if isinstance(base, Levels) else []
    # Bounds read off the rows say nothing of the values between them; those in the rows are checked with the rows.
    declared = isinstance(base, Bounds) and not base.observed and column.kind is Kind.INTEGER
    if isinstance(base, Bounds) and declared and base.high - base.low < 100_000:
        values = [str(v) for v in range(int(base.low), int(base.high) + 1)]
    bare = trees.uncovered(column, values)
    return [Fault(where, "has no line for values of the domain", len(bare), (), tuple(bare[:3]))] if bare else []


def _choice(choices: type[_Choice], text: object, where: str, faults: list[Fault]) -> _Choice | None:
    try:
        return choices(str(text))
    except ValueError:
        got = "nothing" if text is None else repr(text)
        faults.append(Fault(where, f"expected one of {', '.join(choices)}; got {got}"))
        return None


def _observed(entry: object, where: str, faults: list[Fault]) -> frozenset[Facet]:
    """The facets that were read off the rows: all (true), none (false), or a list of some."""
    if isinstance(entry, list):
        facets = [_choice(Facet, item, where, faults) for item in entry]
        return frozenset(facet for facet in facets if facet is not None)
    return frozenset(Facet) if flag(entry, where, faults) else frozenset()


def flag(text: object, where: str, faults: list[Fault]) -> bool:
    """A yes or a no."""
    if text not in ("true", "false"):
        faults.append(Fault(where, f"expected true or false, got {text!r}"))
    return text == "true"


def whole(text: object, where: str, faults: list[Fault], digits: int = 3) -> int | None:
    """A whole number of so many digits at most, if there is one."""
    if text is None:
        return None
    if not re.fullmatch(rf"\d{{1,{digits}}}", str(text), re.ASCII):
        faults.append(Fault(where, f"expected a whole number, got {text!r}"))
        return None
    return int(str(text))


def _format(text: object, kind: Kind | None, where: str, faults: list[Fault]) -> str | None:
    """The format of a number or a date; one that cannot be read back is a fault."""
    if text is None:
        return None
    if kind in (Kind.INTEGER, Kind.REAL):
        try:
            number_format(str(text))
        except ValueError as error:
            faults.append(Fault(where, str(error)))
            return None
        return str(text)
    moment = datetime(2001, 2, 3, 4, 5, 6, tzinfo=UTC)
    try:
        known = datetime.strptime(moment.strftime(str(text)), str(text)) != datetime.strptime("", "")
    except ValueError:
        known = False
    if not known:
        faults.append(Fault(where, f"{text!r} is not a date format; expected strftime letters such as %d.%m.%Y"))
    return str(text)


def write(column: Column, levels: str = "", codes: str = "") -> dict[str, object]:
    """The entry of a column; ``levels`` and ``codes`` are the files of its levels and of its code list, where they stand in one."""
    entry: dict[str, object] = {"kind": str(column.kind), "role": str(column.role)}
    if isinstance(column.base, Levels):
        entry["domain"] = levels or list(column.base.levels)
    elif isinstance(column.base, Bounds):
        entry["domain"] = [column.write(column.base.low), column.write(column.base.high)]
    if mark := _mark(column):
        entry["observed"] = mark
    if isinstance(column.domain, Cells):
        entry["cells"] = [cell.text for cell in column.domain.cells]
    if column.missing:
        entry["missing"] = list(column.missing)
    if column.required:
        entry["required"] = True
    if column.decimals is not None:
        entry["decimals"] = str(column.decimals)
    if column.format is not None:
        entry["format"] = column.format
    if column.hierarchy is not None:
        entry["hierarchy"] = column.hierarchy.spec()
    if column.determined_by is not None:
        entry["determined_by"] = column.determined_by.source
        if column.determined_by.codes is not None:
            entry["codes"] = codes or column.determined_by.index
    return entry


def _mark(column: Column) -> bool | list[str]:
    """What stands behind ``observed``: true where every facet was read off the rows, else those that were."""
    domain = column.base is not None and column.base.observed
    if column.drafted == DRAFTED and (domain or column.base is None):
        return True
    return [str(facet) for facet in Facet if facet in column.drafted or (domain and facet is Facet.DOMAIN)]


def flow(value: object) -> str:
    """A mapping, list, text or truth value on one line of YAML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{flow(str(key))}: {flow(v)}" for key, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(v) for v in value) + "]"
    return _quote(str(value))


_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "~"})
_NUMERAL = re.compile(r"0[\dxXoObB][\da-fA-F_]*|[-+]?\.(inf|nan)|\d[\d_]*_\d*", re.ASCII | re.IGNORECASE)
"""Numerals that other YAML readers take for another number (01 is 1, 010 is 8) or for infinity."""


def _quote(text: str) -> str:
    """Bare where every YAML reader reads the same text back, else double-quoted: a bare No would be a truth value to many."""
    if text.lower() in _WORDS or _NUMERAL.fullmatch(text):
        return f'"{text}"'
    plain = text and text == text.strip() and all(ch.isalnum() or ch in "_-./+<>=% " for ch in text)
    if plain and not text.startswith(("-", "%", ">", "=", "<")) and not text.endswith(" "):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(ch if ch.isprintable() else f"\\U{ord(ch):08x}" for ch in escaped) + '"'
