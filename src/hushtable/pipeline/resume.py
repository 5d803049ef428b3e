"""The folder that a run goes on from once it was stopped: its owner's alone, and known as such by the file ``resume.json``."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import replace
from pathlib import Path

from hushtable import __version__
from hushtable.errors import InputError
from hushtable.pipeline.options import ReleaseOptions
from hushtable.pipeline.recipe import Recipe
from hushtable.privacy.journal import Journal
from hushtable.privacy.unit import Budget, Unit
from hushtable.table.disk import read_text, refuse_inside_release, whole_file
from hushtable.table.rows import Rows

FILE = "resume.json"
NOTE = "A run that may go on. What is here is as private as the rows: delete this folder once the release is made."


def resumable(options: ReleaseOptions) -> ReleaseOptions:
    """The options with the seed that the folder keeps, where none was given; the folder is there afterwards.

    Everything follows from the seed, so a run that was stopped comes to the same release as one that was not. With a budget no seed
    may stand in the place of fresh coins: there the answers that were paid for are kept (``journal``), and the options stay.
    """
    if options.resume is None:
        return options
    drawn = kept_seed(options.resume)
    return replace(options, seed=drawn) if options.seed is None and options.epsilon is None else options


def journal(folder: Path, recipe: Recipe, table: Rows, budget: Budget, unit: Unit) -> tuple[Journal, int]:
    """The answers that a run of this recipe on these rows has paid for, and the seed of everything that is not noise."""
    digest = hashlib.sha256()
    for text in (__version__, recipe.dump(), table.schema.dump(), repr(budget), repr(unit)):
        digest.update(text.encode() + b"\0")
    digest.update(table.digest())
    return Journal(folder, digest.hexdigest()[:32]), kept_seed(folder)


def kept_seed(folder: Path) -> int:
    """The seed that was drawn for a folder, which is made where it is new; InputError where it is something else."""
    refuse_inside_release(folder / FILE)
    path = folder / FILE
    if path.exists():
        try:
            return int(json.loads(read_text(path, str(path)))["seed"])
        except (ValueError, KeyError, TypeError):
            raise InputError("holds no seed of a run; name another folder", where=str(path)) from None
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise InputError("exists already and holds no run to resume; name another folder", where=str(folder))
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", where=str(folder)) from None
    seed = secrets.randbits(63)
    with whole_file(path, private=True) as partial:
        partial.write_text(json.dumps({"seed": seed, "note": NOTE}, indent=1) + "\n", encoding="utf-8")
    return seed
