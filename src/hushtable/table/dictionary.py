"""A data dictionary, CSV or JSON, as statistical offices and registers publish them: what its author says of each column.

Of a CSV file the names of the columns are read liberally (variable, name or field; type; description; values or codes; missing;
min, max), with one line for a variable or one for each of its codes. JSON may be a mapping by name, a list, a Table Schema
(``fields``) or the variables of the Census Bureau (``values: {item, range}``). What a dictionary says is declared by its author and
was not read off the rows; nothing that the rows hold is ever added to it.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hushtable.errors import Fault, InputError
from hushtable.table.columns import CODED, FREE, Bounds, Column, Facet, Kind, Levels, Role
from hushtable.table.disk import read_text
from hushtable.table.guess import Guess

_HEADINGS = {
    "name": "name variable variablename varname var field fieldname column columnname attribute attributename feature",
    "label": "label description desc definition meaning title details question concept longname valuelabel codelabel",
    "kind": "kind type datatype vartype dtype predicatetype measurementlevel measurementscale scale",
    "role": "role privacyrole",
    "codes": "levels level values value codes code categories options enum choices domain allowedvalues permissiblevalues codelist "
    "valuelabels valuecode",
    "missing": "missing missingvalues missingvalue missingcodes missingcode na navalues nullvalues",
    "low": "min minimum low lower lowest",
    "high": "max maximum high upper highest",
    "decimals": "decimals decimalplaces",
    "form": "format dateformat numberformat",
    "required": "required mandatory",
}
_HEADING = {alias: heading for heading, aliases in _HEADINGS.items() for alias in aliases.split()}
_KINDS = {
    Kind.CATEGORY: "category categorical nominal factor enum code coded boolean bool logical binary dichotomous",
    Kind.ORDINAL: "ordinal ordered orderedfactor likert",
    Kind.INTEGER: "integer int int16 int32 int64 bigint smallint long count whole discrete",
    Kind.REAL: "real float float32 float64 double decimal continuous",
    Kind.DATE: "date datetime timestamp",
    Kind.TEXT: "text freetext narrative",
    Kind.KEY: "key id identifier uuid",
}
_KIND = {alias: kind for kind, aliases in _KINDS.items() for alias in aliases.split()}
_NUMERIC = frozenset(["number", "numeric", "num", "numerical", "quantitative", "ratio", "interval"])
"""Numbers, whole or not: which of the two only the rows say."""
_ANY = frozenset(["string", "str", "char", "varchar", "character", "object", "any"])
"""Types that say how a value is stored, not what it is."""
_RANGE = re.compile(r"\[?\s*(-?\d+(?:\.\d+)?)\s*(?:\.\.+|–|to|,|(?<=\d)-)\s*(-?\d+(?:\.\d+)?)\s*\]?")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_ABSENT = re.compile(
    r"\b(n/?a|not applicable|missing|unknown|refused|no answer|not available|not reported|don.?t know)\b", re.IGNORECASE
)


@dataclass(frozen=True)
class Description:
    """What a dictionary says of one column; what it leaves out is None or empty."""

    name: str
    label: str = ""
    kind: Kind | None = None
    numeric: bool = False
    role: Role | None = None
    levels: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    low: str | None = None
    high: str | None = None
    decimals: int | None = None
    format: str | None = None
    required: bool | None = None

    def apply(self, guess: Guess) -> Declared:
        """The column as the dictionary has it; what it leaves open is taken from the guess of the drafter, and stays marked."""
        kind = self.kind or (Kind.CATEGORY if self.levels else None)
        drafted = {Facet.ROLE, Facet.MISSING, Facet.REQUIRED, Facet.HIERARCHY}
        if kind is None:
            kind = guess.kind
            drafted |= {Facet.KIND, Facet.DECIMALS, Facet.FORMAT}
        facets: dict[str, Any] = {"missing": self.missing or guess.facets.get("missing", ())}
        if kind not in CODED | FREE:
            # How numbers and dates are written is seen in the rows where the dictionary does not say it.
            drafted |= {Facet.FORMAT, Facet.DECIMALS} if kind is Kind.REAL else {Facet.FORMAT}
            facets["format"] = self.format or guess.facets.get("format")
            if kind is Kind.REAL:
                facets["decimals"] = guess.facets.get("decimals") if self.decimals is None else self.decimals
        column = Column(name=self.name, kind=kind, role=self.role or Role.PLAIN, required=bool(self.required), **facets)
        declared = {
            Facet.ROLE: self.role is not None,
            Facet.MISSING: bool(self.missing),
            Facet.REQUIRED: self.required is not None,
            Facet.FORMAT: self.format is not None,
            Facet.DECIMALS: self.decimals is not None,
        }
        left = frozenset(facet for facet in drafted if not declared.get(facet, False))
        return Declared(replace(column, domain=self._domain(column, guess)), left)

    def _domain(self, column: Column, guess: Guess) -> Levels | Bounds | None:
        if column.kind in CODED:
            return Levels(self.levels) if self.levels else guess.facets.get("domain") if guess.kind in CODED else None
        if column.kind in FREE or self.low is None or self.high is None:
            return None
        plain = replace(column, format=None) if column.kind is not Kind.DATE else column
        low, high = plain.number(self.low), plain.number(self.high)
        if low > high:
            raise ValueError(f"low {self.low} is above high {self.high}")
        return Bounds(low, high)


@dataclass(frozen=True)
class Declared:
    """A column that a dictionary declares, and the facets of it that still come from the rows."""

    column: Column
    left: frozenset[Facet]


@dataclass(frozen=True)
class Dictionary:
    """The descriptions of a file, by name."""

    source: str
    """The name of the file."""
    columns: Mapping[str, Description]

    @classmethod
    def load(cls, path: str | Path) -> Dictionary:
        """Read a dictionary; every fault of it is listed at once."""
        path = Path(path)
        text = read_text(path, path.name)
        entries = _json_entries(text, path.name) if text.lstrip()[:1] in ("{", "[") else _csv_entries(text, path.name)
        faults: list[Fault] = []
        columns = {name: _describe(name, entry, f"{path.name}, {name}", faults) for name, entry in entries.items()}
        if not columns and not faults:
            faults.append(Fault(path.name, "describes no columns"))
        if faults:
            raise InputError(faults)
        return cls(path.name, columns)

    def describes(self, names: Sequence[str]) -> dict[str, Description]:
        """The descriptions of these columns, by the name that the table has; capitals do not matter where only they differ."""
        folded: dict[str, list[str]] = {}
        for name in self.columns:
            folded.setdefault(name.casefold(), []).append(name)
        found = {}
        for name in names:
            known = [name] if name in self.columns else folded.get(name.casefold(), [])
            if len(known) == 1:
                found[name] = replace(self.columns[known[0]], name=name)
        if not found:
            raise InputError("describes none of the columns of the table; are these their names?", where=self.source)
        return found

    def notes(self, names: Sequence[str]) -> list[str]:
        """What the dictionary and the table do not share."""
        found = {name.casefold() for name in self.describes(names)}
        bare = [name for name in names if name.casefold() not in found]
        more = [name for name in self.columns if name.casefold() not in {n.casefold() for n in names}]
        said = [f"The data dictionary {self.source} describes {len(found)} of {len(names)} columns: what it says is declared."]
        said += [f"It does not describe {_listed(bare)}."] if bare else []
        return said + ([f"It describes {_listed(more)} too, which the table does not have."] if more else [])


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")


def _plain(text: object) -> str:
    return re.sub(r"[\W_]+", "", str(text)).lower()


def _csv_entries(text: str, where: str) -> dict[str, dict[str, Any]]:
    """By name what each line says; lines that repeat a name, or leave it out, add codes to it."""
    first = text.splitlines()[0] if text.strip() else ""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t|", key=first.count))
    head, *rows = [*reader] or [[]]
    headings = [_HEADING.get(_plain(cell), "") for cell in head]
    if "name" not in headings:
        raise InputError("has no column of names; expected one called variable, name or field in the first line", where=where)
    entries: dict[str, dict[str, Any]] = {}
    name = ""
    for row in rows:
        cells: dict[str, str] = {}
        for heading, cell in zip(headings, row, strict=False):
            if heading and cell.strip():
                cells.setdefault(heading, cell.strip())
        name = cells.pop("name", name)
        if not name or not cells:
            continue
        if name not in entries:
            entries[name] = dict(cells)
            continue
        entry = entries[name]
        if "codes" in cells:
            if not isinstance(entry.get("codes"), list):
                entry["codes"] = [(str(entry["codes"]), str(entry.get("label", "")))] if "codes" in entry else []
            entry["codes"].append((cells["codes"], cells.get("label", "")))
    return entries


def _json_entries(text: str, where: str) -> dict[str, dict[str, Any]]:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"is not valid JSON, at line {error.lineno}", where=where) from None
    general: Mapping[str, Any] = {}
    if isinstance(document, Mapping):
        general = document
        for wrapper in ("variables", "columns", "fields", "schema", "features", "attributes"):
            inner = document.get(wrapper)
            if isinstance(inner, (list, Mapping)):
                document = inner.get("fields", inner) if isinstance(inner, Mapping) else inner
                break
    named = document.items() if isinstance(document, Mapping) else ((None, entry) for entry in document)
    entries = {}
    for key, entry in named:
        cells: dict[str, Any] = {}
        for word, value in entry.items() if isinstance(entry, Mapping) else {"label": entry}.items():
            if word == "constraints" and isinstance(value, Mapping):
                cells |= {_HEADING[_plain(w)]: v for w, v in value.items() if _plain(w) in _HEADING}
            elif (heading := _HEADING.get(_plain(word))) and value not in (None, ""):
                cells.setdefault(heading, value)
        name = str(key if key is not None else cells.get("name", "")).strip()
        cells.pop("name", None)
        if "missingValues" in general and "missing" not in cells:
            cells["missing"] = [code for code in general["missingValues"] if code]
        if name:
            entries[name] = cells
    return entries


def _describe(name: str, entry: Mapping[str, Any], where: str, faults: list[Fault]) -> Description:
    codes, low, high = _codes(entry.get("codes"))
    low, high = _text(entry.get("low", low)), _text(entry.get("high", high))
    kind, numeric = _kind(entry.get("kind"), where, faults)
    absent = [code for code, label in codes if _ABSENT.search(label)]
    # Codes among numbers: those that mean nothing are missing codes, the others lie in the range.
    counted = kind in (Kind.INTEGER, Kind.REAL) or numeric or (low is not None and kind is None)
    missing = _list(entry.get("missing")) or (tuple(absent) if counted else ())
    role = None
    if said := _plain(entry.get("role", "")):
        role = next((one for one in Role if str(one) == said), None)
        if role is None:
            faults.append(Fault(where, f"role: expected one of {', '.join(Role)}; got {said!r}"))
    for end, text in (("min", low), ("max", high)):
        if text is not None and kind is not Kind.DATE and not _NUMBER.fullmatch(text):
            faults.append(Fault(where, f"{end}: expected a number, got {text!r}"))
            low = high = None
    decimals = _text(entry.get("decimals"))
    if decimals is not None and not decimals.isdigit():
        faults.append(Fault(where, f"decimals: expected a whole number, got {decimals!r}"))
        decimals = None
    required = _text(entry.get("required"))
    levels = () if counted else tuple(dict.fromkeys(code for code, _ in codes if code not in missing))
    return Description(
        name=name,
        label=str(entry.get("label", "")),
        kind=kind,
        numeric=numeric or (counted and kind is None),
        role=role,
        levels=levels,
        missing=missing,
        low=low,
        high=high,
        decimals=None if decimals is None else int(decimals),
        format=_text(entry.get("form")),
        required=None if required is None else required.lower() in ("true", "yes", "y", "1"),
    )


def _kind(text: object, where: str, faults: list[Fault]) -> tuple[Kind | None, bool]:
    """The kind that a type means, and whether it means numbers of either kind."""
    plain = _plain(text or "")
    if not plain or plain in _ANY:
        return None, False
    if plain in _NUMERIC:
        return None, True
    if plain not in _KIND:
        faults.append(Fault(where, f"type: {str(text)!r} is not known; expected {', '.join(Kind)}, number or string"))
    return _KIND.get(plain), False


def _codes(entry: object) -> tuple[list[tuple[str, str]], str | None, str | None]:
    """Codes with their labels, and the ends of a range, from whatever way they are written."""
    if isinstance(entry, Mapping):
        if "item" in entry or "range" in entry:
            codes, low, high = _codes(entry.get("item", {}))
            ranges = entry.get("range", [])
            ends = [(str(r["min"]), str(r["max"])) for r in ranges if isinstance(r, Mapping) and "min" in r and "max" in r]
            return codes, *_span([*ends, *([(low, high)] if low is not None and high is not None else [])])
        if {"min", "max"} <= entry.keys():
            return [], str(entry["min"]), str(entry["max"])
        return _pairs((str(code), str(label)) for code, label in entry.items())
    if isinstance(entry, (list, tuple)):
        items = []
        for item in entry:
            if isinstance(item, Mapping):
                cells = {_HEADING.get(_plain(word), ""): value for word, value in item.items()}
                items.append((str(cells.get("codes", "")), str(cells.get("label", ""))))
            else:
                items.append((str(item[0]), str(item[1])) if isinstance(item, tuple) else (str(item), ""))
        return _pairs(items)
    return _pairs(_split(str(entry))) if entry not in (None, "") else ([], None, None)


def _split(text: str) -> list[tuple[str, str]]:
    """``1=Male; 2=Female`` and its like."""
    if _RANGE.fullmatch(text):
        return [(text, "")]
    mark = next((mark for mark in ("\n", ";", "|") if mark in text), ",")
    pairs = []
    for item in filter(None, (item.strip() for item in text.split(mark))):
        code, _, label = next(
            (part for part in (item.partition("="), item.partition(": "), item.partition(":")) if part[1]), (item, "", "")
        )
        pairs.append((code.strip().strip("'\""), label.strip()))
    return pairs


def _pairs(items: Iterable[tuple[str, str]]) -> tuple[list[tuple[str, str]], str | None, str | None]:
    """Codes apart from ranges among them (``0..99``); codes of blanks alone (``bb``) are empty cells."""
    codes, ends = [], []
    for code, label in items:
        match = _RANGE.fullmatch(code.strip())
        if (match and ".." in code) or (match and not label):
            ends.append((match[1], match[2]))
        elif code.strip() and not re.fullmatch(r"b+\.?b*", code.strip()):
            codes.append((code.strip(), label))
    return codes, *_span(ends)


def _span(ends: Sequence[tuple[str, str]]) -> tuple[str | None, str | None]:
    if not ends:
        return None, None
    return min((low for low, _ in ends), key=float), max((high for _, high in ends), key=float)


def _list(entry: object) -> tuple[str, ...]:
    if entry is None:
        return ()
    if isinstance(entry, (list, tuple)):
        return tuple(str(code) for code in entry)
    if isinstance(entry, Mapping):
        return tuple(str(code) for code in entry)
    return tuple(code for code, _ in _split(str(entry)))


def _text(entry: object) -> str | None:
    return None if entry is None or entry == "" else str(entry).strip()
