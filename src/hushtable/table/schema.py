"""The schema: a small YAML file a person can read and edit, and nothing in it is secret.

::

    title: Census of 1994, a sample
    contact: data@example.org
    licence: CC BY 4.0
    missing: ["?"]
    columns:
      age:    {kind: integer,  role: quasi,  domain: [17, 90], hierarchy: hierarchies/age.csv}
      sex:    {kind: category, role: quasi,  domain: [Female, Male]}
      income: {kind: category, role: secret, domain: ["<=50K", ">50K"]}

Every scalar is read as the text that stands in the file, so ``no`` is a level and not a boolean. A line with
``observed: true`` was read off the rows, all of it (``observed: [domain, decimals]``: these facets of it), and so were the
missing codes where the mark stands beside them. Remove a mark once you have made sure that what it marks is public
knowledge: a differentially private method refuses what the rows gave away, because one person more could change it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

import yaml

from hushtable.display import Shown, meant
from hushtable.errors import Fault, InputError
from hushtable.table import entries
from hushtable.table.code_checks import readable, resolved
from hushtable.table.code_list import INLINE, Dependency, codes_text, once
from hushtable.table.columns import FREE, Column, Facet, Kind, Role
from hushtable.table.disk import read_text, whole_file
from hushtable.table.hierarchy import FileTree
from hushtable.table.levels import file_names, levels_text, long_levels
from hushtable.table.rules import Zero, read_zeros

_ABOUT = ("title", "contact", "licence", "purpose")
_ENTRIES = (*_ABOUT, "missing", "observed", "declared_by", "size", "zeros", "columns")


@dataclass(frozen=True)
class Schema(Shown):
    """An ordered set of columns and the codes that mean a missing value. An empty cell always does."""

    columns: tuple[Column, ...]
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)
    """Remarks of the drafter, written as comments."""
    drafted: bool = False
    """Whether the missing codes were read off the rows."""
    declared_by: str = ""
    """Who answers for it that what is declared here is public knowledge, and was not read off the rows."""
    size: int | None = None
    """About how many rows there are, where that is public knowledge; it is never read off them."""
    zeros: tuple[Zero, ...] = ()
    """Combinations that no row can have, by public knowledge (``table.rules``); no row was read to know them."""
    title: str = field(default="", compare=False)
    """What the data is called. It is public like all of the schema, and stands on the card of every release."""
    contact: str = field(default="", compare=False)
    """Whom to ask about the data."""
    licence: str = field(default="", compare=False)
    """Under which terms a release may be used."""
    purpose: str = field(default="", compare=False)
    """What a release is for."""

    def __post_init__(self) -> None:
        """Names must be unique."""
        twice = sorted(name for name, count in Counter(c.name for c in self.columns).items() if count > 1)
        if twice:
            raise InputError([Fault("schema", f"column {name!r} is declared twice") for name in twice])

    def __iter__(self) -> Iterator[Column]:
        """The columns, in order."""
        return iter(self.columns)

    def __len__(self) -> int:
        """How many columns."""
        return len(self.columns)

    def __repr__(self) -> str:
        """The names; ``dump`` writes all of it."""
        return f"Schema({len(self)} columns: {', '.join(self.names)})"

    def __contains__(self, name: object) -> bool:
        """Whether a column of that name exists."""
        return name in self._index

    def __getitem__(self, name: str) -> Column:
        """The column of that name."""
        if name not in self._index:
            raise InputError(
                f"there is no column {name!r}{meant(name, self.names)}; the schema has {', '.join(self.names)}", where="schema"
            )
        return self._index[name]

    @cached_property
    def _index(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    @property
    def names(self) -> tuple[str, ...]:
        """Column names, in order."""
        return tuple(c.name for c in self.columns)

    def role(self, *roles: Role) -> tuple[str, ...]:
        """Names of the columns that have one of these roles."""
        return tuple(c.name for c in self.columns if c.role in roles)

    @property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return self.role(Role.QUASI)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The columns whose values are to be kept private."""
        return self.role(Role.SECRET)

    @property
    def released(self) -> tuple[str, ...]:
        """The columns that any recipe may release: everything but identifiers, keys and free text."""
        return tuple(c.name for c in self.columns if c.role is not Role.IDENTIFIER and c.kind not in FREE)

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns of free text, which only a recipe that writes text releases."""
        return tuple(c.name for c in self.columns if c.role is not Role.IDENTIFIER and c.kind is Kind.TEXT)

    def without_text(self) -> Schema:
        """The schema without its columns of free text."""
        texts = self.texts
        return self.select(name for name in self.names if name not in texts) if texts else self

    def select(self, names: Iterable[str]) -> Schema:
        """The schema of these columns, in this order."""
        columns = tuple(self[name] for name in names)
        present = {column.name for column in columns}
        # What determines a column and is not there determines nothing.
        columns = tuple(
            replace(c, determined_by=None) if c.determined_by and c.determined_by.source not in present else c for c in columns
        )
        return replace(self, columns=columns, zeros=tuple(zero for zero in self.zeros if zero.columns <= present))

    def with_zeros(self, *texts: str) -> Schema:
        """The schema with these combinations, too, declared to be impossible; every text that cannot be read is listed.

        A deliberate act, like ``declared``: whoever calls this answers for it that everybody knows them without the rows.
        """
        faults: list[Fault] = []
        zeros = read_zeros(texts, self._index, "zeros", faults)
        if faults:
            raise InputError(faults)
        return replace(self, zeros=tuple(dict.fromkeys((*self.zeros, *zeros))))

    def with_determined(self, name: str, by: str, codes: Mapping[str, str] | None = None) -> Schema:
        """The schema with a column declared to be determined by another, by this code list or by one that is still to be learnt.

        A deliberate act, like ``declared``: whoever calls this answers for it that the list is public knowledge.
        """
        pairs = None if codes is None else once(((str(given), str(value)) for given, value in codes.items()), "codes")
        own = replace(self[name], determined_by=Dependency(by, pairs), drafted=self[name].drafted - {Facet.DETERMINED})
        faults: list[Fault] = []
        columns = resolved(self.with_columns(own).columns, self.missing, "schema", faults)
        if faults:
            raise InputError(faults)
        return replace(self, columns=columns)

    def with_columns(self, *columns: Column) -> Schema:
        """The schema with these columns replacing those of the same name, new ones at the end."""
        new = {c.name: c for c in columns}
        present = tuple(new.pop(c.name, c) for c in self.columns)
        return replace(self, columns=(*present, *new.values()))

    @property
    def undeclared(self) -> dict[str, frozenset[Facet]]:
        """The facets of each column that were read off the rows, by name; columns without any are not there."""
        return {column.name: column.undeclared for column in self.columns if column.undeclared}

    def declared(self, by: str = "", facets: Iterable[str] = tuple(Facet)) -> Schema:
        """The schema with these facets of every column (all when not given) declared, by whom.

        A deliberate act: whoever calls this answers for it that nothing declared here was learnt from the rows alone.
        """
        unknown = [facet for facet in facets if facet not in list(Facet)]
        if unknown:
            raise InputError(f"there is no facet {', '.join(map(repr, unknown))}; there are {', '.join(Facet)}", where="declare")
        chosen = frozenset(Facet(facet) for facet in facets)
        columns = tuple(column.declared(chosen) for column in self.columns)
        drafted = self.drafted and Facet.MISSING not in chosen
        return replace(self, columns=columns, drafted=drafted, declared_by=by or self.declared_by, notes=())

    def described(self, *, title: str = "", contact: str = "", licence: str = "", purpose: str = "") -> Schema:
        """The schema with this name of the data, contact, licence and purpose; one that is empty is left as it is.

        >>> Schema.parse("columns: {age: {kind: integer}}").described(title="A census", licence="CC0").title
        'A census'
        """
        # One line each: they stand in a line of the schema and of the card.
        title, contact, licence, purpose = (" ".join(text.split()) for text in (title, contact, licence, purpose))
        return replace(
            self, title=title or self.title, contact=contact or self.contact, licence=licence or self.licence,
            purpose=purpose or self.purpose,
        )  # fmt: skip

    @property
    def about(self) -> dict[str, str]:
        """The name of the data, the contact, the licence and the purpose, of which empty ones are left out."""
        return {name: text for name in _ABOUT if (text := getattr(self, name))}

    def derived_from(self, before: Schema) -> Schema:
        """The schema with the marks of the one that a step made it from: what was read off the rows stays so.

        A column that has its name from before carries the marks that it had there. One of another name may come from any
        column, and carries those of all.
        """
        marks = before.undeclared
        everywhere = frozenset[Facet]().union(*marks.values())
        inherited = {c.name: marks.get(c.name, frozenset()) if c.name in before else everywhere for c in self.columns}
        if all(inherited[c.name] <= c.undeclared for c in self.columns) and (self.drafted or not before.drafted):
            return self
        columns = tuple(c.marked(inherited[c.name]) for c in self.columns)
        return replace(self, columns=columns, drafted=self.drafted or before.drafted)

    def portable(self) -> Schema:
        """The schema without hierarchies that live in files of their own, and without notes on the rows: it can go anywhere."""
        bare = (replace(c, hierarchy=None) if isinstance(c.hierarchy, FileTree) else c for c in self.columns)
        return replace(self, columns=tuple(bare), notes=())

    def undrafted(self) -> Schema:
        """The schema with the domains that were read off rows left open, to be read off others."""
        opened = (replace(c, domain=None, required=False) if c.domain is not None and c.observed else c for c in self.columns)
        return replace(self, columns=tuple(opened))

    @classmethod
    def load(cls, path: str | Path) -> Schema:
        """Read a schema file, with the hierarchy files it names; every fault is listed at once."""
        path = Path(path)
        where = f"schema {path.name}"
        return cls.parse(read_text(path, where), folder=path.parent, where=where)

    @classmethod
    def parse(cls, text: str, *, folder: Path | None = None, where: str = "schema") -> Schema:
        """Read a schema from YAML text."""
        try:
            loader = _TextLoader(text)
            document = loader.get_single_data()
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            place = f" at line {mark.line + 1}" if mark else ""
            raise InputError(f"not valid YAML{place}: {getattr(error, 'problem', error)}", where=where) from None
        if not isinstance(document, Mapping) or not isinstance(document.get("columns"), Mapping):
            raise InputError("expected a mapping with 'columns:'", where=where)
        faults = [Fault(where, f"line {line}: {key!r} stands twice") for line, key in loader.repeated]
        faults += [
            Fault(where, f"unknown entry {key!r}{meant(str(key), _ENTRIES)}; expected {', '.join(_ENTRIES)}")
            for key in document
            if key not in _ENTRIES
        ]
        about = {key: document.get(key, "") for key in _ABOUT}
        faults += [Fault(f"{where}: {key}", "expected a text") for key, value in about.items() if not isinstance(value, str)]
        missing = entries.texts(document.get("missing"), f"{where}: missing", faults)
        drafted = entries.flag(document.get("observed", "false"), f"{where}: observed", faults)
        size = entries.whole(document.get("size"), f"{where}: size", faults, digits=12)
        columns = []
        for name, entry in document["columns"].items():
            column = entries.read(str(name), entry, folder, f"{where}, column {name}", faults)
            if column is not None:
                columns.append(column)
        if not columns and not faults:
            faults.append(Fault(where, "declares no columns"))
        if not faults:
            columns = list(resolved(columns, missing, where, faults))
        texts = entries.texts(document.get("zeros"), f"{where}: zeros", faults)
        # Where a column could not be read, what names it would be a fault that is none.
        zeros = read_zeros(texts, {c.name: c for c in columns}, f"{where}: zeros", faults) if not faults else ()
        if faults:
            raise InputError(faults)
        by = str(document.get("declared_by", ""))
        return cls(tuple(columns), missing, drafted=drafted, declared_by=by, size=size, zeros=zeros).described(**about)

    def save(self, path: str | Path) -> None:
        """Write the schema to a file; levels too many for a line go to files of their own, in a folder beside it.

        Each file appears whole, the schema last, so that it never names a file that is not there.
        """
        path = Path(path)
        folder = path.with_name(f"{path.stem}.levels")
        long = long_levels(self.columns)
        files = file_names(long)
        if long:
            folder.mkdir(exist_ok=True)
        for name, (_, levels) in long.items():
            with whole_file(folder / files[name]) as partial:
                partial.write_text(levels_text(levels), encoding="utf-8")
        lists = path.with_name(f"{path.stem}.codes")
        codes = file_names(self.long_codes)
        if codes:
            lists.mkdir(exist_ok=True)
        for name, file in codes.items():
            with whole_file(lists / file) as partial:
                partial.write_text(codes_text(name, self.long_codes[name]), encoding="utf-8")
        beside = ({name: f"{at.name}/{file}" for name, file in some.items()} for at, some in ((folder, files), (lists, codes)))
        with whole_file(path) as partial:
            partial.write_text(self.dump(*beside), encoding="utf-8")

    @property
    def long_codes(self) -> dict[str, Dependency]:
        """The columns whose code lists are too long for a line."""
        lists = ((column.name, column.determined_by) for column in readable(self.columns) if column.determined_by is not None)
        return {name: by for name, by in lists if len(by.codes or ()) > INLINE}

    def dump(self, levels: Mapping[str, str] = MappingProxyType({}), codes: Mapping[str, str] = MappingProxyType({})) -> str:
        """The schema as YAML; ``parse`` reads back exactly this schema. ``levels`` and ``codes`` name files by column."""
        lines = [f"# {''.join(ch if ch.isprintable() else ' ' for ch in note)}" for note in self.notes]
        lines += [f"{key}: {entries.flow(text)}" for key, text in self.about.items()]
        if self.missing:
            lines.append(f"missing: {entries.flow(list(self.missing))}")
        if self.drafted:
            lines.append("observed: true")
        if self.declared_by:
            lines.append(f"declared_by: {entries.flow(self.declared_by)}")
        if self.size is not None:
            lines.append(f"size: {self.size}")
        # Of columns that were encoded as something else, or are gone, nothing that was declared of them is left to say.
        if zeros := [zero for zero in self.zeros if read_zeros([str(zero)], self._index, "", []) == (zero,)]:
            lines += ["zeros:", *(f"  - {entries.flow(str(zero))}" for zero in zeros)]
        lines.append("columns:")
        names = {column.name: entries.flow(column.name) + ":" for column in self.columns}
        width = max(map(len, names.values()), default=0)
        for column in readable(self.columns):
            entry = entries.write(column, levels.get(column.name, ""), codes.get(column.name, ""))
            lines.append(f"  {names[column.name]:<{width}} {entries.flow(entry)}")
        return "\n".join(lines) + "\n"


class _TextLoader(yaml.BaseLoader):
    """Every scalar as its text (no booleans, dates or octal numbers by accident), and repeated keys remembered."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.repeated: list[tuple[int, str]] = []

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        """Take note of a key that stands twice; refuse one that is no text."""
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "expected a name before the colon", key.start_mark)
            if key.value in seen:
                self.repeated.append((key.start_mark.line + 1, key.value))
            seen.add(key.value)
        return dict(super().construct_mapping(node, deep))
