"""Models of language in local folders: which may be loaded, and the fingerprint that one is known by.

Only weights in safetensors are read, never a pickle, and no code that comes with a checkpoint is run. What a model read in public
before is unknown, and may hold rows that are private here: every card says so.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

from hushtable.errors import Fault, InputError

VARIABLE = "HUSHTABLE_MODELS"
"""The environment variable that names the folder in which models are kept."""
PICKLES = (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".joblib")
READ_IN_PUBLIC = (
    "public-model: what the base model read before is unknown. Texts of people in this table may be public, and then the guarantee "
    "covers what the model learns from the table, not what it knew already"
)
"""What every step that starts from a public model says in its plan."""
HOW = "give the folder of a checkpoint (--set model=DIR), or install one: hush model add smollm2, hush model add minilm"


class Sort(StrEnum):
    """What a model is made for."""

    CAUSAL = "causal"
    """Writes text from left to right."""
    ENCODER = "encoder"
    """Gives a vector for each token of a text, in view of all others."""


@dataclass(frozen=True)
class Checkpoint:
    """A folder that may be loaded."""

    folder: Path
    sort: Sort
    config: dict[str, Any]

    @property
    def name(self) -> str:
        """That of the folder."""
        return self.folder.name

    @property
    def fingerprint(self) -> str:
        """A digest of its configuration, weights and tokenizer: two folders with one fingerprint hold one model."""
        return _fingerprint(self.folder, tuple((path.name, path.stat().st_mtime_ns) for path in _parts(self.folder)))


def home() -> Path:
    """The folder in which ``hush model add`` keeps models."""
    return Path(os.environ.get(VARIABLE) or Path.home() / ".cache" / "hushtable" / "models")


def checkpoint(model: str, sort: Sort, where: str) -> Checkpoint:
    """The folder of a model, by its path or by the name it was installed under; InputError lists all that is wrong with it."""
    if not model:
        raise InputError(f"needs a model of language: {HOW}", where=where)
    folder = _folder(model)
    if folder is None:
        raise InputError(f"there is no folder {model!r}, and no model of that name is installed: {HOW}", where=where)
    config = _config(folder)
    faults = [Fault(f"{where}: {folder.name}", reason) for reason in _reasons(folder, config)]
    if faults:
        raise InputError(faults)
    found = Checkpoint(folder, _sort(config), config)
    if found.sort is not sort:
        raise InputError(f"{folder.name} is a model of the kind {found.sort}, and {sort} is needed", where=where)
    return found


def found_again(model: str, sort: Sort, fingerprint: str, where: str) -> Checkpoint:
    """The model that something was fitted with, by its name or folder; InputError where it is not there, or another one is."""
    if not _folder(model):
        raise InputError(
            f"needs the public model {model} (fingerprint {fingerprint}): put its folder into {home()}, or let the environment "
            f"variable {VARIABLE} name the folder that holds it",
            where=where,
        )
    known = checkpoint(model, sort, where)
    if known.fingerprint != fingerprint:
        raise InputError(
            f"{known.name} is another model than the one that was used (its fingerprint is {known.fingerprint}, and {fingerprint} "
            "is needed)",
            where=where,
        )
    return known


def _folder(model: str) -> Path | None:
    return next((path for path in (Path(model), home() / model) if path.is_dir()), None)


def installed() -> list[Path]:
    """The folders of models that were installed."""
    return sorted(path for path in home().glob("[!.]*") if (path / "config.json").is_file())


def _config(folder: Path) -> dict[str, Any]:
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return config if isinstance(config, dict) else {}


def _reasons(folder: Path, config: dict[str, Any]) -> Iterator[str]:
    """Why a folder cannot be loaded, or must not be."""
    if not config:
        yield "has no config.json that can be read, so it is no checkpoint"
    if "auto_map" in config:
        yield "asks for code of its own (auto_map in config.json), which is never run"
    pickles = sorted(path.name for path in folder.iterdir() if path.suffix in PICKLES)
    if not any(folder.glob("*.safetensors")):
        what = f"pickles ({', '.join(pickles)}), which can run any code when they are opened" if pickles else "no weights"
        yield f"holds {what}: weights must be in safetensors"
    if not (folder / "tokenizer.json").is_file():
        yield "has no tokenizer.json"


def _sort(config: dict[str, Any]) -> Sort:
    names = config.get("architectures") or [""]
    return Sort.CAUSAL if any(str(name).endswith(("ForCausalLM", "LMHeadModel")) for name in names) else Sort.ENCODER


def _parts(folder: Path) -> list[Path]:
    return sorted([*folder.glob("*.safetensors"), folder / "config.json", folder / "tokenizer.json"])


@lru_cache(maxsize=8)
def _fingerprint(folder: Path, parts: tuple[tuple[str, int], ...]) -> str:
    """The times of the files are a part of the question only so that a folder that was changed is read again."""
    digest = hashlib.sha256()
    for name, _ in parts:
        with (folder / name).open("rb") as file:
            digest.update(name.encode() + b"\0" + hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:32]
