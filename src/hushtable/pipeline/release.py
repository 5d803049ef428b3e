"""A release: the table, its guarantee and how it was made; saved whole, loaded, and verified against itself."""

from __future__ import annotations

import hashlib
import json
import math
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from hushtable.errors import Fault, InputError
from hushtable.pipeline.recipe import Recipe, recipe_name, step_name
from hushtable.privacy import criteria, pld
from hushtable.privacy.guarantee import Guarantee
from hushtable.privacy.ledger import Entry, Ledger
from hushtable.privacy.preserve import Form
from hushtable.table import io
from hushtable.table.disk import read_text, whole_folder
from hushtable.table.hierarchy import FileTree
from hushtable.table.schema import Schema
from hushtable.table.table import Table

LIBRARIES = ("hushtable", "numpy", "scipy", "pandas", "scikit-learn", "numba", "duckdb")


@dataclass(frozen=True, eq=False)
class Release:
    """What may leave the house. Nothing in it was computed from the raw rows but through the recipe."""

    table: Table
    guarantee: Guarantee
    recipe: Recipe
    result: Mapping[str, Any] = field(default_factory=dict)
    """What the cores chose."""
    dropped: tuple[str, ...] = ()
    """Columns that were left out: identifiers, keys, free text."""
    versions: Mapping[str, str] = field(default_factory=lambda: installed_versions())

    def card(self) -> dict[str, Any]:
        """The public card as plain values (without the hashes of the files)."""
        return {
            "recipe": self.recipe.recipe,
            "title": self.recipe.title,
            "cite": self.recipe.cite,
            "steps": [step_name(step) for step in self.recipe.steps],
            "rows": self.table.rows,
            "columns": list(self.table.schema.names),
            "dropped": list(self.dropped),
            "guarantee": self.guarantee.to_json(),
            "explanation": [list(pair) for pair in self.guarantee.sentences()],
            "result": dict(self.result),
            "versions": dict(self.versions),
        }

    def save(self, folder: str | Path, *, form: str = "csv", pages: Mapping[str, str] | None = None) -> Path:
        """Write the release to a new folder; it appears whole or not at all.

        ``pages`` are further public files by name, such as the card as a page.
        """
        folder = Path(folder)
        with whole_folder(folder) as partial:
            io.write(self.table, partial / f"data.{form}")
            schema = _write_hierarchies(self.table.schema, partial)
            (partial / "schema.yaml").write_text(schema.dump(), encoding="utf-8")
            (partial / "recipe.yaml").write_text(self.recipe.dump(), encoding="utf-8")
            for name, text in (pages or {}).items():
                (partial / name).write_text(text, encoding="utf-8")
            files = sorted(p.relative_to(partial).as_posix() for p in partial.rglob("*") if p.is_file())
            card = self.card() | {"hashes": {name: _hash(partial / name) for name in files}}
            (partial / "card.json").write_text(json.dumps(card, indent=1, ensure_ascii=False), encoding="utf-8")
        return folder


def installed_versions() -> dict[str, str]:
    """What the release was made with."""
    found = {"python": platform.python_version()}
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found


def data_file(folder: Path) -> Path:
    """The data file of a saved release."""
    for form in ("csv", "csv.gz", "parquet"):
        if (folder / f"data.{form}").is_file():
            return folder / f"data.{form}"
    raise InputError("is not a release: it has no data file", where=str(folder))


def load_table(folder: str | Path) -> Table:
    """The table of a saved release, under the schema it was released with."""
    folder = Path(folder)
    return io.read(data_file(folder), Schema.load(folder / "schema.yaml"))


def load_card(folder: str | Path) -> dict[str, Any]:
    """The card of a saved release."""
    path = Path(folder) / "card.json"
    if not path.is_file():
        raise InputError("is not a release: it has no card.json", where=str(folder))
    try:
        card = json.loads(read_text(path, str(path)))
    except json.JSONDecodeError:
        raise InputError("card.json is not valid JSON", where=str(folder)) from None
    if not isinstance(card, dict) or not {"recipe", "rows", "guarantee", "hashes"} <= card.keys():
        raise InputError("card.json is not a card", where=str(folder))
    return card


def verify(folder: str | Path) -> list[Fault]:
    """Whether a saved release is what its card says: files, rows, recipe, criteria re-measured, ledger re-added."""
    folder = Path(folder)
    card = load_card(folder)
    faults = _verify_files(folder, card)
    if any(fault.where.startswith(("data.", "schema.yaml")) for fault in faults):
        return faults
    table = load_table(folder)
    if table.rows != card["rows"]:
        faults.append(Fault("rows", f"the card says {card['rows']}, the data has {table.rows}"))
    if (folder / "recipe.yaml").is_file():
        # Its name alone: to build its steps would run the code of whoever wrote the file.
        name = recipe_name(read_text(folder / "recipe.yaml", "recipe.yaml"), where="recipe.yaml")
        if name != card["recipe"]:
            faults.append(Fault("recipe", f"the card says {card['recipe']!r}, the file {name!r}"))
    return faults + _verify_criteria(table, card["guarantee"]) + _verify_ledger(card["guarantee"])


def _verify_files(folder: Path, card: dict[str, Any]) -> list[Fault]:
    faults = []
    for name, digest in card["hashes"].items():
        path = folder / name
        if not path.is_file():
            faults.append(Fault(name, "the file is missing"))
        elif _hash(path) != digest:
            faults.append(Fault(name, "the file is not the one that was released: its hash differs from the card's"))
    return faults


def _verify_criteria(table: Table, guarantee: dict[str, Any]) -> list[Fault]:
    faults = []
    told = guarantee["criteria"]
    if told:
        found = criteria.measure(table, told["quasi"], told.get("secrets", {}))
        for name in ("k", "classes", "suppressed"):
            if found[name] != told[name]:
                faults.append(Fault(f"criteria: {name}", f"the card says {told[name]}, the data has {found[name]}"))
        for secret, values in told.get("secrets", {}).items():
            for name, value in values.items():
                now = found["secrets"][secret][name]
                if isinstance(value, (int, float)) and not math.isclose(now, value, rel_tol=1e-9, abs_tol=1e-12):
                    faults.append(Fault(f"criteria: {name} of {secret}", f"the card says {value}, the data has {now}"))
    for promise in guarantee["promises"]:
        if promise["form"] == Form.SYNTACTIC and promise["kind"] == "k_anonymity":
            k = criteria.k_anonymity(criteria.Classes(table, tuple(promise["quasi"])))
            if k < promise["value"]:
                faults.append(Fault("promise", f"k-anonymity with k = {promise['value']:g} is promised, the data has k = {k}"))
    return faults


def _verify_ledger(guarantee: dict[str, Any]) -> list[Fault]:
    told = float(guarantee["epsilon"])
    if not math.isfinite(told):
        return []
    try:
        ledger = Ledger(Entry.from_json(entry) for entry in guarantee["ledger"])
    except (ValueError, KeyError, TypeError):
        return [Fault("ledger", "holds an event that cannot be read")]
    tight = guarantee["accountant"] == "pld"
    if tight and not pld.available():
        # The closed form can only be larger than what the numerical accountant found.
        return (
            [] if ledger.epsilon(guarantee["delta"]) >= told * (1 - 1e-9) else [Fault("epsilon", "larger than the ledger allows")]
        )
    found = ledger.epsilon(guarantee["delta"], tight=tight)
    if not math.isclose(found, told, rel_tol=1e-6):
        return [Fault("epsilon", f"the card says {told:.6g}, the ledger adds up to {found:.6g}")]
    return []


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


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


def _csv_cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(ch in text for ch in ',;"\n\t') else text
