"""The rows that an audit or a measurement of utility compares, opened where they are to be worked on: in memory where all fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from hushtable.api.read_release import present, read_release
from hushtable.api.read_sides import read_sides
from hushtable.display import Progress, silent
from hushtable.engine.compute import PER_ROW, Compute
from hushtable.engine.open import about, files, open_rows
from hushtable.engine.source import Source, column_names
from hushtable.errors import Fault, InputError
from hushtable.pipeline.card import Card
from hushtable.pipeline.release import DATA_FOLDER, RECIPE, SCHEMA, data_file, load_card
from hushtable.pipeline.verify import read_guarantee, verify_card, verify_files
from hushtable.table.disk import CARD, read_text
from hushtable.table.layout import Layout
from hushtable.table.rows import Rows
from hushtable.table.schema import Schema


@dataclass(frozen=True)
class Paths:
    """Where the rows are: files, folders or patterns of files, or tables of DuckDB files; of a release also its folder."""

    train: Path
    release: Path
    control: Path | None = None


@dataclass(frozen=True, eq=False)
class Sides:
    """The rows, and the card of the release where it has one."""

    train: Rows
    release: Rows
    control: Rows | None
    card: Card | None


def open_sides(paths: Paths, schema: Schema, compute: Compute, layout: Layout, progress: Progress = silent) -> Sides:
    """The rows under the schema of the training rows: all in memory, on disk where they do not fit, or on a cluster."""
    compute = replace(compute, engine=_engine(paths, compute))
    rows: Rows
    others: Rows | None = None
    if compute.engine == "memory" and paths.train.is_file() and (paths.control is None or paths.control.is_file()):
        rows, others = read_sides(paths.train, paths.control, schema, "--train", layout)
    else:
        given = [files(path, compute) for path in (paths.train, paths.control) if path is not None]
        if len(given) == 2 and set(given[0]) & set(given[1]):
            raise InputError("has files of --train; a control holds people that the release never saw", where="--control")
        # A domain that was read off other rows does not bind these.
        declared = schema.undrafted()
        rows = open_rows(paths.train, declared, compute=compute, layout=layout, progress=progress)
        if paths.control is not None:
            others = open_rows(paths.control, declared, compute=compute, layout=layout, progress=progress)
    released, card = open_release(paths.release, rows.schema, compute, progress)
    return Sides(rows, released, others, card)


def open_release(folder: Path, schema: Schema, compute: Compute, progress: Progress = silent) -> tuple[Rows, Card | None]:
    """A release to audit, as ``read_release`` reads it, wherever its rows are."""
    card = folder / CARD
    parts = (folder / DATA_FOLDER).is_dir()
    if compute.engine == "memory" and not parts and (folder.is_file() or card.is_file()):
        return read_release(folder, schema)
    if not card.is_file():
        read = present(folder, schema, column_names(Source.of(folder))).undrafted()
        return open_rows(folder, read, compute=compute, progress=progress, generalized=True, least=1), None
    stated, own = load_card(folder), Schema.load(folder / SCHEMA)
    faults = verify_files(folder, stated)
    if not faults:
        guarantee = read_guarantee(stated, str(folder))
        faults += verify_card(stated, guarantee, read_text(folder / RECIPE, RECIPE), own).faults
    if faults:
        more = Fault(str(folder), "is not what its card says; to attack it all the same, name its data file")
        raise InputError([*faults, more])
    # What the cells of a column cover is said by the schema of the original, where the release's own does not say it.
    covered = [
        schema[c.name] if c.generalized and c.observed and c.name in schema and not schema[c.name].generalized else c for c in own
    ]
    read = replace(own, columns=tuple(covered))
    return (
        open_rows(data_file(folder), read, compute=compute, progress=progress, generalized=True, least=1),
        Card.from_json(stated),
    )


def _engine(paths: Paths, compute: Compute) -> str:
    """Where all tables are worked on."""
    if compute.engine != "auto":
        return compute.engine
    data = data_file(paths.release) if (paths.release / CARD).is_file() else paths.release
    given = [data, paths.train, *([] if paths.control is None else [paths.control])]
    rows = sum(about(Source.of(path)) for path in given)
    return "memory" if rows * PER_ROW <= compute.limit // 2 else "duckdb"
