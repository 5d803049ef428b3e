"""A release: the table, its guarantee and how it was made; saved whole, loaded, and verified against itself."""

from __future__ import annotations

import hashlib
import json
import math
import platform
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from hushtable.errors import Fault, InputError
from hushtable.pipeline.recipe import Recipe, recipe_name, step_name
from hushtable.privacy import criteria
from hushtable.privacy.criteria import Counted
from hushtable.privacy.guarantee import Guarantee
from hushtable.privacy.ledger import Ledger
from hushtable.privacy.preserve import Form, unmet
from hushtable.shown import Shown
from hushtable.table import io
from hushtable.table.arguments import require_seed
from hushtable.table.disk import read_text, whole_folder
from hushtable.table.hierarchy import FileTree
from hushtable.table.schema import Schema
from hushtable.table.table import Table

LIBRARIES = ("hushtable", "numpy", "scipy", "pandas", "scikit-learn", "numba", "duckdb")


@dataclass(frozen=True, eq=False)
class Release(Shown):
    """What may leave the house. Nothing in it was computed from the raw rows but through the recipe."""

    table: Table
    guarantee: Guarantee
    recipe: Recipe
    result: Mapping[str, Any] = field(default_factory=dict)
    """What the cores chose."""
    dropped: tuple[str, ...] = ()
    """Columns that were left out: identifiers, keys, free text."""
    versions: Mapping[str, str] = field(default_factory=lambda: installed_versions())
    redraw: Callable[[int | None, int | None], Table] | None = field(default=None, repr=False)
    """Draws further tables of so many rows (None: as many as the model says) from the fitted model, if there is one, with a seed.

    It lives in memory only and is never saved.
    """
    warnings: tuple[str, ...] = ()
    """For whoever holds the rows alone: they may depend on them, and are never saved."""

    def __repr__(self) -> str:
        """What it is and what it promises, in one line."""
        promised = self.guarantee.brief(self.table.schema.quasi)
        return f"Release({self.recipe.recipe}: {self.table.rows:,} rows, {len(self.table.schema)} columns; {promised})"

    def draw(self, rows: int, seed: int | None = None) -> Table:
        """Another table from the same fitted model: post-processing, which costs no budget and keeps the guarantee.

        What is promised of the table itself (k, l, t) is measured again on this one. An anonymized table is its own model
        and cannot be drawn from.
        """
        if self.redraw is None:
            raise InputError(
                "changes the rows of a table and has no model to draw new ones from", where=f"recipe {self.recipe.recipe}"
            )
        if rows < 2:
            raise InputError(f"a table has at least two rows, got {rows}", where="rows")
        require_seed(seed)
        return self.redraw(rows, seed)

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
    return dict(_installed())


@cache
def _installed() -> dict[str, str]:
    """They do not change while we run, and asking takes longer than a small release."""
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
    except (json.JSONDecodeError, RecursionError):
        raise InputError("card.json is not valid JSON", where=str(folder)) from None
    if not isinstance(card, dict) or not {"recipe", "rows", "guarantee", "hashes"} <= card.keys():
        raise InputError("card.json is not a card", where=str(folder))
    return card


def verify(folder: str | Path) -> list[Fault]:
    """Whether a saved release is what its card says.

    The files are those that were released and no others, the card's guarantee is the one that its own ledger and promises
    give, and what can be measured on the table is measured again. Who wrote the card it cannot tell.
    """
    folder = Path(folder)
    card = load_card(folder)
    try:
        guarantee, told = Guarantee.from_json(card["guarantee"]), dict(card["guarantee"])
        explanation = [tuple(pair) for pair in card["explanation"]]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"card.json is damaged: {type(error).__name__}: {error}", where=str(folder)) from None
    faults = verify_files(folder, card)
    if any(fault.where.startswith(("data.", "schema.yaml", "hierarchies/")) for fault in faults):
        return faults
    table = load_table(folder)
    if table.rows != card["rows"]:
        faults.append(Fault("rows", f"the card says {card['rows']}, the data has {table.rows}"))
    if list(table.schema.names) != card.get("columns"):
        faults.append(Fault("columns", "the card names other columns than the data has"))
    if (folder / "recipe.yaml").is_file():
        # Its name alone: to build its steps would run the code of whoever wrote the file.
        name = recipe_name(read_text(folder / "recipe.yaml", "recipe.yaml"), where="recipe.yaml")
        if name != card["recipe"]:
            faults.append(Fault("recipe", f"the card says {card['recipe']!r}, the file {name!r}"))
    return faults + _verify_measured(table, guarantee) + _verify_words(guarantee, told, explanation)


def verify_files(folder: Path, card: Mapping[str, Any]) -> list[Fault]:
    """Files that are not those that were released, or are missing, or were not released."""
    try:
        hashes = {str(name): str(digest) for name, digest in card["hashes"].items()}
    except AttributeError:
        raise InputError("card.json is damaged: its hashes are no mapping", where=str(folder)) from None
    here = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()} - {"card.json"}
    faults = [Fault(name, "the file is not on the card: it was not released") for name in sorted(here - set(hashes))]
    for name, digest in hashes.items():
        if name not in here:
            faults.append(Fault(name, "the file is missing"))
        elif _hash(folder / name) != digest:
            faults.append(Fault(name, "the file is not the one that was released: its hash differs from the card's"))
    return faults


def _verify_measured(table: Table, guarantee: Guarantee) -> list[Fault]:
    """k, l and t, and every promise about the table itself, measured again."""
    told = dict(guarantee.criteria)
    # Which rows belong to one person is not released: of what was counted by persons, the part by rows is measured again.
    by_rows = {"counted": str(Counted.ROWS), **told.get("by_rows", told)} if told else {}
    named = {name for p in guarantee.promises for name in (*p.quasi, *([p.secret] if p.secret else []))}
    named |= {str(name) for name in (*told.get("quasi", ()), *told.get("secrets", ()))}
    strange = sorted(named - set(table.schema.names))
    if strange:
        return [Fault("criteria", f"the card speaks of {', '.join(strange)}, which the data has not")]
    faults = []
    if told:
        found = criteria.measure(table, told.get("quasi", ()), told.get("secrets", {}))
        for name, now, then in _differences(found, by_rows):
            faults.append(Fault(f"criteria: {name}", f"the card says {then}, the data has {now}"))
        faults += _too_many_persons(told, found)
    whys = [unmet(promise, table) for promise in guarantee.promises if promise.form is Form.SYNTACTIC]
    return faults + [Fault("promise", why) for why in whys if why]


def _too_many_persons(told: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[Fault]:
    """Where the card counts more persons in a class than there are rows."""
    if not told.get("k", 0) <= found["k"]:
        yield Fault("criteria: k", f"the card says {told['k']} persons, where the data has no more than {found['k']} rows")


def _differences(found: dict[str, Any], told: dict[str, Any], within: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two nested mappings differ: name, found, told; numbers up to rounding."""
    for name in dict.fromkeys((*found, *told)):
        now, then, label = found.get(name), told.get(name), f"{name}{within}"
        if isinstance(now, dict) and isinstance(then, dict):
            yield from _differences(now, then, f" of {name}" if name != "secrets" else "")
        elif isinstance(now, float) and isinstance(then, (int, float)):
            if not math.isclose(now, then, rel_tol=1e-9, abs_tol=1e-12):
                yield label, now, then
        elif (list(now) if isinstance(now, tuple) else now) != then:
            yield label, now, then


def _verify_words(guarantee: Guarantee, told: dict[str, Any], explanation: list[tuple[str, ...]]) -> list[Fault]:
    """Whether the card says of itself what its own ledger, promises and claims give."""
    now = guarantee.to_json()
    faults = [
        Fault(name, f"the card says {told.get(name)}, its ledger and promises give {now[name]}")
        for name in ("assurance", "rho", "not_private")
        if not _near(now[name], told.get(name))
    ]
    if not _near(now.get("spent"), told.get("spent")):
        faults.append(
            Fault("ledger", f"the card says that {told.get('spent')} was spent, the ledger adds up to {now.get('spent')}")
        )
    # A bound that was fixed beforehand is the same for every accountant.
    same = guarantee.bound is not None or told.get("accountant") == now["accountant"]
    if why := _wrong_epsilon(guarantee, now["epsilon"], told, same=same):
        faults.append(Fault("epsilon", why))
    # The other accountant would have given other digits.
    if not faults and same and explanation != guarantee.sentences():
        faults.append(Fault("explanation", "the card explains another guarantee than it gives"))
    return faults


def _wrong_epsilon(guarantee: Guarantee, own: object, told: dict[str, Any], *, same: bool) -> str:
    """Why the card's epsilon is not what the ledger adds up to; empty if it is. ``same``: by the accountant at hand."""
    said = told.get("epsilon")
    if same or not isinstance(own, float):
        return "" if _near(own, said) else f"the card says {said}, the ledger adds up to {own}"
    closed = Ledger(guarantee.ledger).epsilon(guarantee.delta)
    if told.get("accountant") == "closed form":
        return "" if _near(closed, said) else f"the card says {said}, the ledger adds up to {closed}"
    # The closed form can only be larger than what the numerical accountant found.
    smaller = isinstance(said, float) and 0 < said <= closed * (1 + 1e-9)
    return "" if smaller else f"the card says {said}, the ledger adds up to at most {closed}"


def _near(found: object, told: object) -> bool:
    """Whether two values are the same; numbers up to the accountant's own grid."""
    if isinstance(found, float) and isinstance(told, (int, float)):
        return math.isclose(found, told, rel_tol=1e-6)
    return found == told


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
