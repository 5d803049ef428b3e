"""Release a table by a recipe, save the release, and do all of that for files: hold out, release, save."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from hushtable.api.best_of import best_of
from hushtable.api.draw import save_model
from hushtable.api.hold_out import hold_out, hold_out_rows
from hushtable.api.persons import require_key, rows_used
from hushtable.display import Progress, meant, silent
from hushtable.engine.compute import Compute
from hushtable.errors import InputError
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.card import Card, suppressed_rows
from hushtable.pipeline.extras import require_extras
from hushtable.pipeline.large import WRITING, LargeRelease
from hushtable.pipeline.options import ReleaseOptions
from hushtable.pipeline.parts import write_parts, write_rows
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.release import DATA_FOLDER, Release
from hushtable.pipeline.resume import kept_seed, resumable
from hushtable.pipeline.run import release as run_recipe
from hushtable.pipeline.run import release_rows
from hushtable.pipeline.signature import SigningKey
from hushtable.pipeline.store import SENSITIVE, sensitive
from hushtable.report.card import card_page
from hushtable.report.mapping import mapping_csv
from hushtable.table import io
from hushtable.table.arguments import require_tables
from hushtable.table.disk import refuse_existing, require_form, whole_folder
from hushtable.table.layout import Layout
from hushtable.table.rows import Rows
from hushtable.table.schema import Schema
from hushtable.table.table import Table

ONE, MANY = "csv", "parquet"
"""The formats of a released table in one file and in many, where none is asked for."""
PRIVATE_NOTE = "Rows of real people. This folder stays private; only the release beside it is meant to be shared.\n"
_OPTIONS = frozenset(option.name for option in fields(ReleaseOptions))


def release(
    table: Table,
    recipe: Recipe | str | Path,
    options: ReleaseOptions | None = None,
    *,
    settings: Mapping[str, Any] | None = None,
    progress: Progress = silent,
    **more: Any,
) -> Release:
    """Run a recipe (by name, from a file, or an object) on a table.

    Keywords that are fields of ``ReleaseOptions`` (epsilon, delta, unit, rows, seed, unproven, learn_domain, allow_copies, entropy,
    resume) are options of the release; all others are knobs of the steps, which ``settings`` may name too where several steps
    share a name.
    ``epsilon`` is the budget of the whole release; ``learn_domain`` spends a tenth of it on learning the kinds and domains that
    were read off the rows. A release that hands out rows of real people is refused (GuaranteeRefused), unless ``allow_copies``
    gives the reason, which stands on the card.

    >>> import hushtable as ht
    >>> train = ht.people(300)
    >>> ht.release(train, "mdav", k=10, seed=1)
    Release(mdav: 300 rows, 20 columns; verified: k-anonymity, k = 10; ... columns unchanged, ... of the rows alone on them)
    >>> ht.release(train, "mdav", ht.ReleaseOptions(seed=1), settings={"microaggregate.k": "10"}).guarantee.assurance
    <Assurance.VERIFIED: 'verified'>
    >>> ht.release(train, "mdav", kk=10)
    Traceback (most recent call last):
    hushtable.errors.InputError: knob kk: no step has this knob (did you mean 'k'?); there are microaggregate.k, ...
    """
    require_tables(table=table)
    given, knobs = split_keywords(more)
    loaded = recipe if isinstance(recipe, Recipe) else recipes.load(recipe)
    chosen = ReleaseOptions.of(options, given)
    warnings = require_key(table, chosen)
    made = run_recipe(table, loaded.set({**(settings or {}), **knobs}), chosen, progress=progress)
    made.refuse_copies()
    return replace(made, warnings=(*made.warnings, *warnings)) if warnings else made


def split_keywords(more: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Keywords of a call that are options of a release, and those that are knobs of its steps."""
    given = {name: value for name, value in more.items() if name in _OPTIONS}
    return given, {name: value for name, value in more.items() if name not in _OPTIONS}


def save(release: Release, folder: str | Path, form: str = "csv", sign: SigningKey | str | Path | None = None) -> Path:
    """Write a release with its card as a page and, where values were generalized, what became what.

    ``sign`` is the private key to sign the card with, or its file.
    """
    key = sign if sign is None or isinstance(sign, SigningKey) else SigningKey.load(sign)
    return release.save(folder, form=form, pages=_pages(release), sign=key)


def _pages(release: Release | LargeRelease) -> dict[str, str]:
    """What a release says for people to read: its card, and what became what."""
    schema, _ = release.leaves
    pages = {"card.html": card_page(Card.from_json(release.card()))}
    if any(column.generalized for column in schema):
        pages["mapping.csv"] = mapping_csv(schema)
    return pages


@dataclass(frozen=True, kw_only=True)
class ReleaseRequest:
    """What it takes to make a release from a file: the table, the recipe, the options, and where everything goes."""

    data: Path
    """The table: a .csv, .csv.gz or .parquet file; for an engine also a folder or a pattern of them, or a DuckDB file."""
    schema: Path
    """The schema of the table."""
    folder: Path
    """A new folder for the release."""
    recipe: str | None = None
    """A recipe by name, or a recipe file."""
    best_of: tuple[str, ...] = ()
    """In place of a recipe, several private ones of which the best release is kept; the budget pays for the choice too."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Knobs of the steps by name, as text."""
    options: ReleaseOptions = field(default_factory=ReleaseOptions)
    """The budget, the unit of privacy, the rows, the seed."""
    hold_out: float | None = None
    """The share of rows to set aside as control rows of an audit; training and control rows are then saved beside the release."""
    form: str | None = None
    """The format of the released table: csv, csv.gz or parquet; when absent csv, and parquet where the rows are many files."""
    sign: Path | None = None
    """The private key to sign the card with."""
    model: Path | None = None
    """A new file for the fitted model, from which further rows can be drawn."""
    title: str = ""
    """What the data is called, in place of what the schema says."""
    contact: str = ""
    """Whom to ask about the data, in place of what the schema says."""
    licence: str = ""
    """Under which terms the release may be used, in place of what the schema says."""
    purpose: str = ""
    """What the release is for, in place of what the schema says."""
    layout: Layout = field(default_factory=Layout)
    """How the file of the table is written, where it does not say so itself."""
    compute: Compute = field(default_factory=Compute)
    """Where the rows are worked on; it changes nothing of the result, and is not saved."""

    def __post_init__(self) -> None:
        """One way to make the release; and for the best of several no knobs, which some of them might not have."""
        require_form(self.form or ONE)
        if (self.recipe is None) == (not self.best_of):
            raise InputError("name a recipe, or several with --best-of, and not both", where="--recipe")
        if self.best_of and self.options.epsilon is None:
            raise InputError("needs --epsilon: the budget of the release and of the choice together", where="--best-of")
        if self.best_of and (self.settings or self.options.unproven or self.options.learn_domain):
            raise InputError("takes no --set, --unproven or --learn-domain; give recipe files with their knobs", where="--best-of")

    @property
    def private(self) -> Path | None:
        """The private folder of training and control rows, if rows are held out."""
        return self.folder.with_name(f"{self.folder.name}.private") if self.hold_out is not None else None

    @property
    def about(self) -> dict[str, str]:
        """The name of the data, the contact, the licence and the purpose."""
        return {"title": self.title, "contact": self.contact, "licence": self.licence, "purpose": self.purpose}

    def to_json(self) -> dict[str, Any]:
        """Plain values, as a YAML or JSON file holds them."""
        paths = {name: getattr(self, name) for name in ("data", "schema", "folder", "sign", "model")}
        return {name: None if path is None else str(path) for name, path in paths.items()} | {
            "recipe": self.recipe,
            "best_of": list(self.best_of),
            "settings": dict(self.settings),
            "options": self.options.to_json(),
            "hold_out": self.hold_out,
            "form": self.form,
            **self.about,
            "layout": self.layout.to_json(),
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> ReleaseRequest:
        """Read from plain values; what is absent has its default."""
        known = {f.name for f in fields(cls)}
        if odd := sorted(set(plain) - known):
            raise InputError(
                f"there is no option {', '.join(odd)}{meant(odd, known)}; there are {', '.join(sorted(known))}", where="release"
            )
        values = dict(plain)
        for name in ("data", "schema", "folder", "sign", "model"):
            if values.get(name) is not None:
                values[name] = Path(values[name])
        values["best_of"] = tuple(values.get("best_of", ()))
        values["layout"] = Layout.of(**values.get("layout", {}))
        values["options"] = ReleaseOptions.from_json(values.get("options", {}))
        return cls(**values)


@dataclass(frozen=True, kw_only=True)
class SavedRelease:
    """A release that was made from a file, where it was saved, and what became of the rows and columns of the file."""

    release: Release | LargeRelease
    folder: Path
    private: Path | None
    """The private folder of training and control rows, if rows were held out."""
    model: Path | None
    """The file of the fitted model, if it was saved."""
    train_rows: int
    """The rows that the release was made from."""
    used_rows: int
    """Those of them that were read: of each person at most as many as the unit allows."""
    ignored: tuple[str, ...]
    """Columns of the file that the schema does not name."""

    @property
    def files(self) -> list[str]:
        """The names of the files of the release."""
        return sorted(path.name for path in self.folder.iterdir())

    @property
    def rows(self) -> int:
        """How many were released."""
        return self.release.leaves[1]

    @property
    def suppressed_rows(self) -> list[int]:
        """How many rows each step suppressed, of the steps that did."""
        return list(suppressed_rows(self.release.result).values())

    @property
    def notes(self) -> list[str]:
        """What the steps note about their own results, and that a model without a proof must stay private."""
        # A result by column may be of a column called note, which is none.
        own = [note for step in self.release.result.values() if isinstance(note := step.get("note"), str) and note]
        return [*own, f"{self.model}: {SENSITIVE}"] if self.model is not None and sensitive(self.release.guarantee) else own

    def to_json(self) -> dict[str, Any]:
        """The card, and the folders."""
        return self.release.card() | {"folder": str(self.folder), "private": None if self.private is None else str(self.private)}


def release_to_folder(
    request: ReleaseRequest, *, passphrase: Callable[[], str] | None = None, progress: Progress = silent
) -> SavedRelease:
    """Read a table from its file, hold rows out, release the others, and save the release, its model and the private rows.

    Everything that can be refused without the rows is refused before they are read. ``passphrase`` is asked for that of a locked
    key.
    """
    refuse_existing(request.folder)
    if request.private is not None:
        refuse_existing(request.private, private=True)
    if request.model is not None:
        refuse_existing(request.model, private=True)
        _require_apart(request.model, "the file of the model", request)
    if request.options.resume is not None:
        _require_apart(request.options.resume, "the folder to resume from", request)
    recipe = None if request.recipe is None else recipes.load(request.recipe).set(request.settings)
    if recipe is not None:
        require_extras(recipe.steps, f"recipe {recipe.recipe!r}")
    key = None if request.sign is None else SigningKey.load(request.sign, passphrase)
    table = _read(request, progress)
    options = resumable(request.options)
    if not isinstance(table, Table):
        return _large(request, table, recipe, options, key, progress)
    train, control = table, None
    if request.hold_out is not None:
        # A seeded split would move other people too, and the promise would be one about the training rows alone.
        seed = options.seed if options.epsilon is None else None
        secret = None if options.resume is None or options.epsilon is None else kept_seed(options.resume)
        train, control = hold_out(table, request.hold_out, seed, by=options.unit.by, secret=secret)
    if recipe is not None:
        released = release(train, recipe, options, progress=progress)
    else:
        warnings = require_key(train, options)
        released = best_of(train, request.best_of, options, progress=progress)
        released = replace(released, warnings=(*released.warnings, *warnings))
    if request.model is not None:
        # First, so that a release without a model is refused before anything is written.
        save_model(released, request.model)
    save(released, request.folder, request.form or ONE, key)
    if control is not None and request.private is not None:
        save_private({"train": train, "control": control}, request.private)
    return SavedRelease(
        release=released,
        folder=request.folder,
        private=request.private,
        model=request.model,
        train_rows=train.rows,
        used_rows=rows_used(train, options.unit),
        ignored=tuple(table.ignored),
    )


def _read(request: ReleaseRequest, progress: Progress) -> Rows:
    """The rows, where the request says that they are worked on."""
    if request.compute.engine == "memory" and request.data.is_file():
        table: Rows = io.read(request.data, request.schema, layout=request.layout)
    else:
        # DuckDB for tables of any size, or a cluster: nothing that a small table waits for.
        from hushtable.engine.open import open_rows

        schema = Schema.load(request.schema)
        table = open_rows(request.data, schema, compute=request.compute, layout=request.layout, progress=progress)
    return table.under(table.schema.described(**request.about))


def _large(
    request: ReleaseRequest, rows: Rows, recipe: Recipe | None, options: ReleaseOptions, key: SigningKey | None, progress: Progress
) -> SavedRelease:
    """The same for rows that are not in memory: a release of many rows, and rows that are held out, are written in parts."""
    if recipe is None:
        raise InputError("the best of several releases is chosen in memory: name one recipe", where="--best-of")
    train, control = rows, None
    if request.hold_out is not None:
        if options.unit.by is not None:
            raise InputError(
                "splits rows and not persons where they are not in memory: split the file beforehand", where="--hold-out"
            )
        secret = None if options.resume is None else kept_seed(options.resume)
        train, control = hold_out_rows(rows, request.hold_out, options.seed if options.epsilon is None else secret)
    warnings = require_key(train, options)
    made = release_rows(train, recipe, options, progress=progress)
    made.refuse_copies()
    made = replace(made, warnings=(*made.warnings, *warnings))
    if request.model is not None:
        save_model(made, request.model)
    made = save_any(made, request.folder, request.form, key, work=options.resume, progress=progress)
    if control is not None and request.private is not None:
        save_private({"train": train, "control": control}, request.private)
    return SavedRelease(
        release=made, folder=request.folder, private=request.private, model=request.model, train_rows=train.rows,
        used_rows=rows_used(train, options.unit), ignored=tuple(rows.ignored),
    )  # fmt: skip


def save_any(
    release: Release | LargeRelease,
    folder: Path,
    form: str | None = None,
    key: SigningKey | None = None,
    *,
    work: Path | None = None,
    progress: Progress = silent,
) -> Release | LargeRelease:
    """Write a release, in one file or in parts; the release as it was written."""
    if isinstance(release, LargeRelease):
        return save_in_parts(release, folder, form or MANY, key, work=work, progress=progress)
    save(release, folder, form or ONE, key)
    return release


def save_in_parts(
    release: LargeRelease,
    folder: Path,
    form: str = MANY,
    key: SigningKey | None = None,
    *,
    work: Path | None = None,
    progress: Progress = silent,
) -> LargeRelease:
    """Make the rows of a large release and write them part by part, then its card; the release that knows how many there are.

    With a private folder to resume from, parts that were finished before a stop are not made again.
    """

    def report(rows: int) -> None:
        progress(WRITING, min(1.0, rows / max(1, release.expected)))

    with whole_folder(folder) as partial:
        data = (partial if work is None else work) / DATA_FOLDER
        parts = write_parts(release.blocks, data, form, mark="" if work is None else release.mark, report=report)
        if work is not None:
            shutil.move(data, partial / DATA_FOLDER)
        release = release.written(parts.total)
        release.complete(partial, _pages(release), key, parts.hashes)
    return release


def _require_apart(path: Path, what: str, request: ReleaseRequest) -> None:
    """Refuse what cannot be written, or takes the place of the release, or would be published with it."""
    place = path.resolve()
    for folder in (request.folder, request.private):
        other = folder and folder.resolve()
        if other and (place == other or other in place.parents or place in other.parents):
            raise InputError(f"cannot be {what} beside the folder {folder}: name one outside of it", where=str(path))
    if not place.parent.is_dir():
        raise InputError(f"cannot be written: there is no folder {path.parent}", where=str(path))


def save_private(tables: Mapping[str, Rows], folder: Path) -> Path:
    """Write training and control rows to a new folder that only its owner can read: files, or folders of parts."""
    with whole_folder(folder, private=True) as partial:
        for name, table in tables.items():
            if isinstance(table, Table):
                io.write(table, partial / f"{name}.csv")
            else:
                write_rows(table, partial / name)
        (partial / "README.txt").write_text(PRIVATE_NOTE, encoding="utf-8")
    return folder
