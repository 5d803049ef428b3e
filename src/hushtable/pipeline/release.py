"""A release: the table, its guarantee and how it was made; saved whole, and loaded."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hushtable import __version__
from hushtable.display import Shown
from hushtable.engine.compute import Compute
from hushtable.errors import GuaranteeRefused, InputError
from hushtable.pipeline.card import exposed
from hushtable.pipeline.copies import Copies
from hushtable.pipeline.fitted import Fitted
from hushtable.pipeline.recipe import Recipe, step_name
from hushtable.pipeline.signature import SigningKey
from hushtable.pipeline.untouched import Untouched
from hushtable.privacy.guarantee import Guarantee
from hushtable.privacy.preserve import Form, unmet
from hushtable.table import io
from hushtable.table.arguments import require_seed
from hushtable.table.code_list import codes_text
from hushtable.table.disk import CARD, read_text, whole_folder
from hushtable.table.hierarchy import FileTree
from hushtable.table.levels import levels_text, long_levels
from hushtable.table.rows import Rows
from hushtable.table.schema import Schema
from hushtable.table.table import Table

SCHEMA, RECIPE = "schema.yaml", "recipe.yaml"
DATA = tuple(f"data.{form}" for form in ("csv", "csv.gz", "parquet"))
PAGES = ("card.html", "mapping.csv")
"""What is written beside them for people to read."""
DATA_FOLDER = "data"
"""The folder of a release whose rows are in several files."""
PART = re.compile(rf"{DATA_FOLDER}/part-(\d{{5,}})\.(csv|csv\.gz|parquet)", re.ASCII)
"""Their names."""
LIBRARIES = ("numpy", "scipy", "pandas", "scikit-learn", "numba", "duckdb")


class Stated(Shown):
    """What is said of a release, however its rows are kept."""

    guarantee: Guarantee
    recipe: Recipe
    result: Mapping[str, Any]
    dropped: tuple[str, ...]
    versions: Mapping[str, str]
    date: str
    untouched: Untouched
    fitted: Fitted | None
    warnings: tuple[str, ...]
    allowed: str = ""
    copies: Copies | None = None

    @property
    def leaves(self) -> tuple[Schema, int]:
        """The schema of the rows that leave, and how many they are."""
        raise NotImplementedError

    def require_fitted(self) -> Fitted:
        """The fitted model; InputError where there is none."""
        if self.fitted is None:
            raise InputError(
                "changes the rows of a table, or hands out values of single rows: it has no model to draw new rows from",
                where=f"recipe {self.recipe.recipe}",
            )
        return self.fitted

    def card(self) -> dict[str, Any]:
        """The public card as plain values (without the hashes of the files)."""
        schema, rows = self.leaves
        about = schema.about
        return {
            **({"data_title": about.pop("title")} if "title" in about else {}),
            **about,
            "date": self.date,
            "recipe": self.recipe.recipe,
            "title": self.recipe.title,
            "cite": self.recipe.cite,
            "steps": [step_name(step) for step in self.recipe.steps],
            "rows": rows,
            "columns": list(schema.names),
            "dropped": list(self.dropped),
            "untouched": self.untouched.to_json(),
            **self._copied(),
            "guarantee": self.guarantee.to_json(),
            "explanation": [list(pair) for pair in self.guarantee.sentences()],
            "result": dict(self.result),
            "versions": dict(self.versions),
        }

    def _copied(self) -> dict[str, Any]:
        """That rows of real people are among the released ones, how many, and why; only where that needed a reason."""
        if not self.allowed or self.copies is None:
            return {}
        return {"copies": {"reason": self.allowed, "equal": self.copies.equal, "alone": self.copies.alone}}

    def refuse_copies(self) -> None:
        """GuaranteeRefused where rows of real people would leave as they are, and nobody gave a reason."""
        if self.copies is not None and self.copies.too_many and not self.allowed:
            raise GuaranteeRefused(self.copies.refusal(self.untouched.columns))

    @property
    def exposed(self) -> tuple[str, ...]:
        """What stands above every promise: which columns left unchanged, and that rows of real people are among the released."""
        return exposed(self.untouched, self._copied().get("copies", {}), self.guarantee.promises)

    def complete(
        self, folder: Path, pages: Mapping[str, str], sign: SigningKey | None, hashes: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Write all but the rows, which are in the folder already: schema, recipe, pages, card, signature.

        ``hashes`` are those of files that are known already.
        """
        if strange := sorted(set(pages) - set(PAGES)):
            raise InputError(f"no page of a release is called so; there are {', '.join(PAGES)}", where=", ".join(strange))
        schema = _write_hierarchies(self.leaves[0], folder)
        text = schema.dump(_write_levels(schema, folder), _write_codes(schema, folder))
        (folder / SCHEMA).write_text(text, encoding="utf-8")
        (folder / RECIPE).write_text(self.recipe.dump(), encoding="utf-8")
        for name, text in pages.items():
            (folder / name).write_text(text, encoding="utf-8")
        files = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
        found = {name: hashes[name] if name in hashes else file_hash(folder / name) for name in files}
        (folder / CARD).write_text(json.dumps(self.card() | {"hashes": found}, indent=1, ensure_ascii=False), encoding="utf-8")
        if sign is not None:
            sign.sign(folder)


@dataclass(frozen=True, eq=False)
class Release(Stated):
    """What may leave the house. Nothing in it was computed from the raw rows but through the recipe."""

    table: Table
    guarantee: Guarantee
    recipe: Recipe
    result: Mapping[str, Any] = field(default_factory=dict)
    """What the cores chose."""
    dropped: tuple[str, ...] = ()
    """Columns that were left out: identifiers, keys, free text."""
    versions: Mapping[str, str] = field(default_factory=lambda: installed_versions())
    fitted: Fitted | None = field(default=None, repr=False)
    """The fitted model, to draw further tables from; None where the release is the anonymized table itself.

    It is not written to the release folder. ``pipeline/store.py`` writes it to a file of its own.
    """
    date: str = field(default_factory=lambda: today())
    """The day it was made, as 2026-11-17."""
    untouched: Untouched = field(default_factory=Untouched)
    """The columns that left as they were, and how many released rows are alone on them."""
    allowed: str = ""
    """Why rows of real people may be published as they are, where they are and would have been refused; it stands on the card."""
    copies: Copies | None = field(default=None, repr=False)
    """How many released rows are real ones, for whoever holds the rows alone; None where a budget paid for all that was read."""
    warnings: tuple[str, ...] = ()
    """For whoever holds the rows alone: they may depend on them, and are never saved."""

    def __repr__(self) -> str:
        """What it is and what it promises, in one line."""
        promised = "; ".join(filter(None, [self.guarantee.headline(self.table.schema.quasi), self.untouched.short]))
        return f"Release({self.recipe.recipe}: {self.table.rows:,} rows, {len(self.table.schema)} columns; {promised})"

    def draw(self, rows: int, seed: int | None = None) -> Table:
        """Another table from the same fitted model: post-processing, which costs no budget and keeps the guarantee.

        What is promised of the table itself (k, l, t) is measured again on this one. An anonymized table is its own model
        and cannot be drawn from.
        """
        fitted = self.require_fitted()
        if rows < 2:
            raise InputError(f"a table has at least two rows, got {rows}", where="rows")
        require_seed(seed)
        table = fitted.draw(rows, seed)
        for promise in self.guarantee.promises:
            if promise.form is Form.SYNTACTIC and (why := unmet(promise, table)):
                raise GuaranteeRefused(f"{why}; nothing is released")
        return table

    @property
    def leaves(self) -> tuple[Schema, int]:
        """The schema and the rows of the table."""
        return self.table.schema, self.table.rows

    def save(
        self, folder: str | Path, *, form: str = "csv", pages: Mapping[str, str] | None = None, sign: SigningKey | None = None
    ) -> Path:
        """Write the release to a new folder; it appears whole or not at all.

        ``pages`` are the texts of further public files (``PAGES``). With a key the card is signed, and through the
        hashes that it holds all that was written. GuaranteeRefused where it hands out rows of real people without a reason.
        """
        self.refuse_copies()
        folder = Path(folder)
        with whole_folder(folder) as partial:
            io.write(self.table, partial / f"data.{form}")
            self.complete(partial, pages or {}, sign)
        return folder


def today() -> str:
    """The day of today, or that of ``SOURCE_DATE_EPOCH``, so that what is built twice can be the same."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(fixed), UTC) if fixed.isdecimal() else datetime.now().astimezone()
    return now.date().isoformat()


def installed_versions() -> dict[str, str]:
    """What the release was made with."""
    return dict(_installed())


@cache
def _installed() -> dict[str, str]:
    """They do not change while we run, and asking takes longer than a small release."""
    versions = {"python": platform.python_version(), "hushtable": __version__}
    for library in LIBRARIES:
        try:
            versions[library] = version(library)
        except PackageNotFoundError:
            continue
    return versions


def part_name(number: int, form: str) -> str:
    """The name of a file of rows, in the folder of them."""
    return f"part-{number:05d}.{form}"


def data_file(folder: Path) -> Path:
    """The data file of a saved release, or the folder of them."""
    for name in DATA:
        if (folder / name).is_file():
            return folder / name
    if (folder / DATA_FOLDER).is_dir():
        return folder / DATA_FOLDER
    raise InputError("is not a release: it has no data file", where=str(folder))


def load_rows(folder: str | Path, compute: Compute | None = None) -> Rows:
    """The rows of a saved release, under the schema it was released with: parts are on disk where they do not fit into memory."""
    folder = Path(folder)
    data, schema = data_file(folder), Schema.load(folder / SCHEMA)
    if data.is_file():
        return io.read(data, schema, least=0)
    # Whoever has one file waits for no database.
    from hushtable.engine.open import open_rows

    return open_rows(data, schema, compute=compute, least=0)


def load_table(folder: str | Path) -> Table:
    """The same in memory."""
    return load_rows(folder).whole("a release as one table")


def data_names(hashes: Iterable[str]) -> list[str]:
    """The files of rows among those of a release, in their order."""
    return sorted(name for name in hashes if name in DATA or PART.fullmatch(name))


def load_card(folder: str | Path) -> dict[str, Any]:
    """The card of a saved release; InputError if it is none, or says one thing twice."""
    path = Path(folder) / CARD
    if not path.is_file():
        raise InputError("is not a release: it has no card.json", where=str(folder))
    return parse_card(read_text(path, str(path)), str(folder))


def parse_card(text: str, where: str) -> dict[str, Any]:
    """A card from its text; InputError if it is none, or says one thing twice."""
    try:
        card = json.loads(text, object_pairs_hook=_once)
    except (json.JSONDecodeError, RecursionError):
        raise InputError("card.json is not valid JSON", where=where) from None
    if not isinstance(card, dict) or not {"recipe", "rows", "guarantee", "hashes"} <= card.keys():
        raise InputError("card.json is not a card", where=where)
    return card


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object in which no key is repeated: of two values one reader would take the first, another the last."""
    values = dict(pairs)
    if len(values) < len(pairs):
        twice = sorted(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise InputError(f"says more than once: {', '.join(twice)}", where=CARD)
    return values


def file_hash(path: Path) -> str:
    """SHA-256, as the card holds it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_hierarchies(schema: Schema, folder: Path) -> Schema:
    """Put the hierarchy files beside the data; the schema that names them there."""
    moved = []
    for number, column in enumerate(schema):
        if isinstance(column.hierarchy, FileTree):
            tree = replace(column.hierarchy, path=f"hierarchies/{number:02d}.csv")
            (folder / "hierarchies").mkdir(exist_ok=True)
            lines = [",".join(_csv_cell(cell) for cell in row) for row in tree.rows]
            (folder / tree.path).write_text("\n".join(lines) + "\n", encoding="utf-8")
            moved.append(replace(column, hierarchy=tree))
    return schema.with_columns(*moved)


def level_files(schema: Schema) -> dict[str, str]:
    """The files of a release that hold levels too many for a line of its schema, by column."""
    return {name: f"levels/{place:02d}.csv" for name, (place, _) in long_levels(schema).items()}


def _write_levels(schema: Schema, folder: Path) -> dict[str, str]:
    """Put the files of levels beside the data; their names by column."""
    files = level_files(schema)
    for name, (_, levels) in long_levels(schema).items():
        (folder / "levels").mkdir(exist_ok=True)
        (folder / files[name]).write_text(levels_text(levels), encoding="utf-8")
    return files


def code_files(schema: Schema) -> dict[str, str]:
    """The files of a release that hold code lists too long for a line of its schema, by column."""
    return {name: f"codes/{schema.names.index(name):02d}.csv" for name in schema.long_codes}


def _write_codes(schema: Schema, folder: Path) -> dict[str, str]:
    """Put the files of code lists beside the data; their names by column."""
    files = code_files(schema)
    for name, file in files.items():
        (folder / "codes").mkdir(exist_ok=True)
        (folder / file).write_text(codes_text(name, schema.long_codes[name]), encoding="utf-8")
    return files


def _csv_cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(ch in text for ch in ',;"\n\t') else text
