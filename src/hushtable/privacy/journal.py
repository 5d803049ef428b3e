"""The answers that a run has paid for, kept so that the same run, once stopped, goes on without asking again.

Only what has its noise already is kept: the answers of queries, the choices, the noisy sums of a training. Everything else of a run
follows from these and from its seed. An answer is read back only for the very same question, asked in the same place of the same
run on the same rows; a run that asks for something else is refused. What was asked and not yet kept when a run was stopped has left
nothing behind: nobody has seen it, and it is asked with fresh noise.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hushtable.errors import InputError
from hushtable.table.arrays import Array
from hushtable.table.disk import whole_file

KEY = "key"


@dataclass
class Journal:
    """A folder with one file for each answer, numbered in the order in which they were asked for."""

    folder: Path
    run: str
    """A digest of recipe, budget, schema and rows."""
    asked: int = 0

    @property
    def kept(self) -> int:
        """How many answers there are from before."""
        return len(list(self.folder.glob("answer-*.npz")))

    def answer(self, question: str, make: Callable[[], Sequence[Array]]) -> list[Array]:
        """The arrays that were kept for this question, or those that ``make`` makes, which are kept before they are handed out."""
        path = self.folder / f"answer-{self.asked:06d}.npz"
        self.asked += 1
        key = json.dumps([self.run, question])
        if path.exists():
            return _read(path, key)
        made = list(make())
        named = {f"array{place:06d}": array for place, array in enumerate(made)}
        with whole_file(path, private=True) as partial, partial.open("wb") as file:
            np.savez(file, **{KEY: np.frombuffer(key.encode(), np.uint8)}, **named)  # type: ignore[arg-type]
            # On the disk before anybody acts on it: an answer that was used and lost would be paid for again, with other noise.
            file.flush()
            os.fsync(file.fileno())
        return made


def _read(path: Path, key: str) -> list[Array]:
    try:
        with np.load(path, allow_pickle=False) as file:
            if file[KEY].tobytes().decode() == key:
                return [file[name] for name in sorted(file.files) if name != KEY]
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile):
        raise InputError("an answer that was paid for cannot be read: start anew in another folder", where=str(path)) from None
    raise InputError(
        "holds answers of another run (other rows, recipe, budget or version): they are paid for, and not for this one; name "
        "another folder",
        where=str(path.parent),
    )
