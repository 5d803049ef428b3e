"""Where a training is, kept in one file after each epoch, so that one that was stopped goes on with the same bits.

What is kept depends on the rows: the folder is its owner's alone, and no such file is ever part of a release.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used

from hushtable.table.arrays import Array
from hushtable.table.disk import whole_file
from hushtable.table.table import Table

_FORM = 1
_TEXT = "json"


@dataclass(frozen=True)
class Checkpoint:
    """The file of one training. It is read back only for the very same one: step, knobs, schema, rows and seed."""

    path: Path

    @classmethod
    def of(cls, folder: Path | None, step: object, table: Table, seed: int, name: str = "") -> Checkpoint | None:
        """For a step that trains on a table from this seed, under a ``name`` if it trains often. None without a folder."""
        if folder is None:
            return None
        digest = hashlib.sha256()
        for text in (str(_FORM), torch.__version__, name, repr(step), json.dumps(table.schema.dump()), str(seed)):
            digest.update(text.encode() + b"\0")
        for column in table.schema.names:
            digest.update(np.ascontiguousarray(table[column]).tobytes() + b"\0")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return cls(folder / f"{digest.hexdigest()[:32]}.npz")

    def save(self, state: Mapping[str, Any]) -> None:
        """Write nested mappings and lists of tensors, numbers and texts; the file appears whole or not at all."""
        arrays: dict[str, Array] = {}
        text = json.dumps(_plain(state, arrays))
        with whole_file(self.path, private=True) as partial, partial.open("wb") as file:
            np.savez(file, **{_TEXT: np.frombuffer(text.encode(), np.uint8)}, **arrays)  # type: ignore[arg-type]

    def load(self) -> dict[str, Any] | None:
        """What was saved; None where nothing was, or where the file is damaged: the training then starts anew."""
        try:
            with np.load(self.path, allow_pickle=False) as file:
                plain = json.loads(file[_TEXT].tobytes())
                state: dict[str, Any] = _nested(plain, {name: file[name] for name in file.files})
        except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile):
            return None
        return state


def _plain(value: Any, arrays: dict[str, Array]) -> Any:
    """JSON with a number in the place of each tensor; keys of mappings need not be texts."""
    if isinstance(value, torch.Tensor):
        arrays[name := f"array{len(arrays)}"] = value.numpy(force=True)
        return {"array": name}
    if isinstance(value, Mapping):
        return {"pairs": [[key, _plain(part, arrays)] for key, part in value.items()]}
    if isinstance(value, tuple | list):
        return {"tuple" if isinstance(value, tuple) else "list": [_plain(part, arrays) for part in value]}
    return value


def _nested(plain: Any, arrays: Mapping[str, Array]) -> Any:
    if not isinstance(plain, dict):
        return plain
    ((kind, inner),) = plain.items()
    if kind == "array":
        return torch.from_numpy(arrays[inner].copy())
    if kind == "pairs":
        return {key: _nested(part, arrays) for key, part in inner}
    parts = [_nested(part, arrays) for part in inner]
    return tuple(parts) if kind == "tuple" else parts
