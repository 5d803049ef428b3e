"""Fitted models in files, with the guarantee that they were fitted under.

A model file is a zip archive that anybody can open and read, laid out like a release. Nothing in it is a pickle:

- ``card.json``: the card of the release that the model was fitted for, and a hash of every other entry;
- ``recipe.yaml`` and ``schema.yaml``: the recipe, and the columns of the tables that are drawn;
- ``model.json``: the model and the codes that are undone after it, each as its class, plain values and the places of its arrays;
- ``arrays/0.npy`` and so on: the arrays;
- ``README.txt``, where no differential privacy is proven: that the file must stay as private as the rows.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

import numpy as np

from hushtable.errors import Fault, InputError
from hushtable.pipeline import registry
from hushtable.pipeline.card import Card
from hushtable.pipeline.copies import Copies
from hushtable.pipeline.fitted import Fitted
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.release import RECIPE, SCHEMA, Release, Stated, parse_card
from hushtable.pipeline.step import Arrays, Code, Given, Model, Storable
from hushtable.pipeline.verify import read_guarantee, verify_card
from hushtable.privacy.criteria import Counted
from hushtable.privacy.guarantee import Assurance, Guarantee
from hushtable.privacy.preserve import Form, Promise, uncovered, unmet
from hushtable.table import lenient
from hushtable.table.arguments import require_seed
from hushtable.table.disk import CARD, refuse_existing, whole_file
from hushtable.table.hierarchy import FileTree
from hushtable.table.schema import Schema
from hushtable.table.table import Table

MODEL = "model.json"
README = "README.txt"
_ALLOWED = re.compile("|".join([*map(re.escape, (CARD, RECIPE, SCHEMA, MODEL, README)), r"arrays/\d+\.npy"]), re.ASCII)
"""The names of the entries of a model file."""
FORMAT = 1
"""The number of this layout: a file of another one is refused by name."""
ONCE = (
    "the rows were drawn from a fitted model without reading the private rows again: this epsilon is spent once, for the model, "
    "the release it was fitted for and every table drawn from it together, provided that the number of rows and the fixed values "
    "are not chosen by looking at the private rows"
)
"""What is true of every table drawn from a model that was fitted with differential privacy."""
SENSITIVE = (
    "no differential privacy is proven for this model, which may hold values of single rows: keep it as private as the rows that "
    "it was fitted on"
)
"""What is true of the file of every other model, whatever k, l or t its releases have."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SavedModel:
    """A fitted model and everything that its release says of itself: enough to draw further releases from."""

    fitted: Fitted
    guarantee: Guarantee
    """Of the release that the model was fitted for."""
    recipe: Recipe
    result: Mapping[str, Any]
    dropped: tuple[str, ...]
    versions: Mapping[str, str]
    """What the model was fitted with."""
    allowed: str = ""
    """Why rows of real people may be published as they are, where the model repeats them."""
    copies: Copies | None = None
    """How many rows of the release that the model was fitted for are real ones, where that needed a reason."""

    @classmethod
    def of(cls, release: Stated) -> SavedModel:
        """The model of a release in memory; InputError where the release is the anonymized table itself."""
        return cls(
            fitted=release.require_fitted(), guarantee=release.guarantee, recipe=release.recipe, result=release.result,
            dropped=release.dropped, versions=release.versions, allowed=release.allowed,
            copies=release.copies if release.allowed else None,
        )  # fmt: skip

    def __repr__(self) -> str:
        """What it is and what it promises, in one line."""
        return f"SavedModel({self.recipe.recipe}: {len(self.fitted.schema)} columns; {self.guarantee.headline()})"

    def draw(self, rows: int | None = None, *, given: Given | None = None, seed: int | None = None) -> Release:
        """A release of so many rows (as many as the model itself says without a number), with columns fixed to values.

        What was proven or claimed of the model holds for every table drawn from it. A k, l or t that was verified on the first
        release says nothing about new rows: it is measured again on these, and dropped where it does not hold.
        """
        if rows is not None and (not isinstance(rows, Integral) or rows < 2):
            raise InputError(f"a table has at least two rows, got {rows!r}", where="rows")
        require_seed(seed)
        fixed = {name: str(value) for name, value in (given or {}).items()}
        table = self.fitted.draw(rows, seed, fixed)
        asked = {"rows": "as many as the model says" if rows is None else rows, "given": fixed}
        return Release(
            table, self._guarantee(table, fixed), self.recipe, {**self.result, "draw": asked}, self.dropped, self.versions,
            fitted=self.fitted, allowed=self.allowed, copies=self.copies,
        )  # fmt: skip

    def _guarantee(self, table: Table, fixed: Given) -> Guarantee:
        """What still holds for a drawn table: never more than for the release that the model was fitted for."""
        promises = tuple(p for p in self.guarantee.promises if p.form is Form.DERIVED or self._holds(p, table))
        caveats = list(self.guarantee.caveats)
        if self.guarantee.assurance is Assurance.PROVEN:
            caveats.append(ONCE)
        if fixed:
            words = ", ".join(f"{name} = {value}" for name, value in fixed.items())
            caveats.append(f"only rows with {words} were drawn: the table says nothing about how common they are")
        if bare := uncovered(promises, table.schema.quasi):
            caveats.append(bare)
        # What was measured on the first release is not true of this table.
        return replace(self.guarantee, promises=promises, caveats=tuple(dict.fromkeys(caveats)), criteria={})

    def _holds(self, promise: Promise, table: Table) -> bool:
        """Whether a promise about the rows themselves can be measured on drawn ones, and holds: nobody holds these."""
        return promise.counted is Counted.ROWS and table.rows > 0 and not unmet(promise, table)


def save(release: Stated, path: str | Path) -> Path:
    """Write the fitted model of a release, with its guarantee, to a new file; it appears whole or not at all.

    InputError, before anything is written, where the release has no model of its own, where a code between the model and the
    released columns cannot be stored, where the file would hold domains that were read off the rows, and where it would lie in a
    release. A model without a proof is its owner's alone.
    """
    path = Path(path)
    fitted = release.require_fitted()
    release.refuse_copies()
    _require_declared(fitted)
    arrays: list[np.ndarray[Any, Any]] = []
    parts = [_stored(part, arrays) for part in (fitted.model, *fitted.codes)]
    trees = {c.name: c.hierarchy for c in release.leaves[0] if isinstance(c.hierarchy, FileTree)}
    document = {
        "format": FORMAT,
        "model": parts[0],
        "codes": parts[1:],
        "schema": fitted.schema.portable().dump(),
        "hierarchies": {name: {"path": tree.path, "rows": tree.rows} for name, tree in trees.items()},
    }
    entries = {
        RECIPE: release.recipe.dump().encode(),
        SCHEMA: release.leaves[0].portable().dump().encode(),
        MODEL: json.dumps(document, indent=1, ensure_ascii=False).encode(),
        **{f"arrays/{number}.npy": _npy(array) for number, array in enumerate(arrays)},
    }
    if secret := sensitive(release.guarantee):
        entries[README] = f"{SENSITIVE[0].upper()}{SENSITIVE[1:]}.\n".encode()
    card = release.card() | {"hashes": {name: _hash(content) for name, content in entries.items()}}
    entries = {CARD: json.dumps(card, indent=1, ensure_ascii=False).encode(), **entries}
    refuse_existing(path, private=True)
    with whole_file(path, private=secret) as partial, ZipFile(partial, "w", ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def load(path: str | Path, *, trust: bool = False) -> SavedModel:
    """Read a model back, if it is what its own card says.

    Its guarantee must be the one that its ledger gives and that its recipe can lead to. Only classes of this package, or of
    modules that registered a step, are rebuilt; recipes with steps of other packages only with ``trust``.
    """
    path = Path(path)
    entries = _entries(path)
    card = parse_card(_text(entries, CARD, path), str(path))
    _require_hashes(entries, card, path)
    text = _text(entries, RECIPE, path)
    recipe = Recipe.parse(text, f"{path.name}, {RECIPE}", trust=trust)
    released = Schema.parse(_text(entries, SCHEMA, path), where=f"{path.name}, {SCHEMA}")
    guarantee = read_guarantee(card, str(path))
    try:
        document = json.loads(_text(entries, MODEL, path))
        if document["format"] != FORMAT:
            raise InputError(f"is a model file of layout {document['format']!r}; this version reads {FORMAT}", where=str(path))
        count = sum(name.startswith("arrays/") for name in entries)
        arrays = [
            np.lib.format.read_array(io.BytesIO(entries[f"arrays/{number}.npy"]), allow_pickle=False) for number in range(count)
        ]
        model = _rebuilt(document["model"], arrays, path)
        codes = [_rebuilt(part, arrays, path) for part in document["codes"]]
        trees = {
            str(name): FileTree(str(tree["path"]), tuple(tuple(map(str, row)) for row in tree["rows"]))
            for name, tree in document["hierarchies"].items()
        }
        schema = Schema.parse(document["schema"], where=f"{path.name}, {MODEL}")
        released = released.with_columns(*(replace(released[name], hierarchy=tree) for name, tree in trees.items()))
        faults = verify_card(card, guarantee, text, released, trust=trust).faults
    except (AttributeError, EOFError, IndexError, KeyError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise InputError(f"the model file is damaged: {type(error).__name__}: {error}", where=str(path)) from None
    if faults:
        raise InputError([*faults, Fault(str(path), "is not what its card says")])
    known = tuple(code for code in codes if isinstance(code, Code))
    if not isinstance(model, Model) or len(known) < len(codes):
        raise InputError("names a class that is no model, or no code", where=str(path))
    fitted = Fitted(model=model, codes=known, schema=schema, origin=schema, hierarchies=trees)
    stated = Card.from_json(card)
    return SavedModel(
        fitted=fitted, guarantee=guarantee, recipe=recipe, result=dict(card.get("result", {})),
        dropped=tuple(map(str, card.get("dropped", ()))), versions=dict(card.get("versions", {})),
        allowed=lenient.text(stated.copies.get("reason")), copies=Copies.from_json(stated.copies) if stated.copies else None,
    )  # fmt: skip


def sensitive(guarantee: Guarantee) -> bool:
    """Whether the file of a model with this guarantee must stay as private as the rows: only a proof covers the model itself."""
    return guarantee.assurance is not Assurance.PROVEN


def _require_declared(fitted: Fitted) -> None:
    """Refuse domains that were read off the rows: a release narrows them to what its own rows show, and a model cannot."""
    schemas = (fitted.origin, fitted.schema, fitted.model.schema)
    observed = dict.fromkeys(name for schema in schemas for name in schema.undeclared)
    if observed or any(schema.drafted for schema in schemas):
        raise InputError(
            f"the model holds what was read off the rows ({', '.join(observed) or 'missing codes'}), extremes and rare levels "
            "included. Declare the schema ('hush schema SCHEMA --declare'; in Python table.declared(by=...)) or learn it with part "
            "of the budget (--learn-domain), and release again. Nothing was written",
            where="model",
        )


def _stored(part: object, arrays: list[np.ndarray[Any, Any]]) -> dict[str, Any]:
    """A model or a code as its class, its values and the places of its arrays, which are appended; InputError if it cannot be."""
    kind = type(part)
    target = f"{kind.__module__}:{kind.__qualname__}"
    if not isinstance(part, Storable):
        raise InputError(f"cannot be stored: {target} has no parts() and from_parts(). Nothing was written", where="model")
    if not registry.known(target):
        raise InputError(f"could not be read back: no registered step is of the module of {target}", where="model")
    values, own = part.parts()
    if any(array.dtype.hasobject for array in own.values()):
        raise InputError(f"the arrays of {target} must hold numbers or texts, not Python objects", where="model")
    # Arrays go by number: a column may be called anything, and an entry of an archive may not.
    places = {name: len(arrays) + place for place, name in enumerate(own)}
    arrays.extend(own.values())
    return {"class": target, "values": values, "arrays": places}


def _rebuilt(part: Mapping[str, Any], arrays: list[np.ndarray[Any, Any]], path: Path) -> object:
    target = str(part["class"])
    if not registry.known(target):
        raise InputError(f"names a class that no registered step uses: {target}", where=str(path))
    kind = registry.load(target)
    own: Arrays = {str(name): arrays[int(place)] for name, place in part["arrays"].items()}
    return kind.from_parts(part["values"], own)  # type: ignore[attr-defined]  # an AttributeError is a damaged file


def _entries(path: Path) -> dict[str, bytes]:
    try:
        with ZipFile(path) as archive:
            names = archive.namelist()
            if len(set(names)) < len(names):
                raise InputError("is not a model file: it holds an entry twice", where=str(path))
            return {name: archive.read(name) for name in names}
    except (OSError, EOFError, NotImplementedError, RuntimeError, ValueError, BadZipFile):
        raise InputError("is not a model file", where=str(path)) from None


def _text(entries: Mapping[str, bytes], name: str, path: Path) -> str:
    try:
        return entries[name].decode()
    except (KeyError, UnicodeDecodeError):
        raise InputError(f"is not a model file: it has no readable {name}", where=str(path)) from None


def _require_hashes(entries: Mapping[str, bytes], card: Mapping[str, Any], path: Path) -> None:
    """Every entry is one that a model has, and as it was saved: no others travel with it, such as rows."""
    hashes = card["hashes"] if isinstance(card["hashes"], Mapping) else {}
    faults = [Fault(name, "is not on the card: it was not saved with the model") for name in entries.keys() - {CARD, *hashes}]
    faults += [Fault(name, "is no entry that a model file has") for name in entries if not _ALLOWED.fullmatch(name)]
    faults += [
        Fault(str(name), "is missing, or is not the one that was saved: its hash differs from the card's")
        for name, digest in hashes.items()
        if name not in entries or _hash(entries[name]) != digest
    ]
    if faults:
        faults.sort(key=lambda fault: fault.where)
        raise InputError([*faults, Fault(str(path), "was changed after it was saved")])


def _npy(array: np.ndarray[Any, Any]) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asarray(array), allow_pickle=False)
    return stream.getvalue()


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
