"""Models on disk: JSON and named arrays in one file that anybody can open and read. Never a pickle."""

from __future__ import annotations

import json
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from hushtable.errors import InputError
from hushtable.pipeline import registry
from hushtable.pipeline.step import Model
from hushtable.table.disk import whole_file

_JSON = "model.json"


def save(model: Model, path: str | Path) -> None:
    """Write a fitted model; the file appears whole or not at all."""
    path = Path(path)
    values, arrays = model.parts()
    if any(array.dtype.hasobject for array in arrays.values()):
        raise InputError("a model's arrays must hold numbers or texts, not Python objects", where=type(model).__name__)
    header = {"model": f"{type(model).__module__}:{type(model).__qualname__}", "values": values}
    # Arrays go by number: a column may be called anything, and a name inside an archive may not.
    header |= {"arrays": list(arrays)}
    numbered = {str(number): array for number, array in enumerate(arrays.values())}
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with whole_file(path) as partial, partial.open("wb") as stream:
        np.savez_compressed(stream, allow_pickle=False, **{_JSON: text}, **numbered)


def load(path: str | Path) -> Model:
    """Read a model back. Only classes of this package, or of modules that registered a step, are rebuilt."""
    path = Path(path)
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            header = json.loads(bytes(stored[_JSON]))
            arrays = {name: stored[str(number)] for number, name in enumerate(header["arrays"])}
    except (OSError, EOFError, KeyError, TypeError, ValueError, BadZipFile):
        raise InputError("is not a model file", where=str(path)) from None
    target = str(header["model"])
    module = target.partition(":")[0]
    trusted = {known.partition(":")[0] for known in registry.steps().values()}
    if not (module.startswith("hushtable.") or module in trusted):
        raise InputError(f"names a class that no registered step uses: {target}", where=str(path))
    kind = registry.load(target)
    model = kind.from_parts(header["values"], arrays)  # type: ignore[attr-defined]
    if not isinstance(model, Model):
        raise InputError(f"{target} is no model", where=str(path))
    return model
