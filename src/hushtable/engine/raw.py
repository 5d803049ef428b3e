"""Arrays as bytes on disk. What was not written is an error at once, and so is what is read and is not all there.

``ndarray.tofile`` says nothing of a disk that is full when it flushes its last bytes, and ``fromfile`` nothing of missing ones.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from hushtable.errors import InputError


def put(file: BinaryIO, array: NDArray[Any]) -> None:
    """Write an array behind what the file holds; OSError where the disk is full, here or when the file is closed."""
    file.write(np.ascontiguousarray(array).data)


def get(path: Path, dtype: np.dtype[Any], start: int, count: int) -> NDArray[Any]:
    """So many items of a file from one on. Read, not mapped: what is mapped counts as memory in use."""
    try:
        found = np.fromfile(path, dtype, count, offset=start * dtype.itemsize)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=str(path.parent)) from None
    if len(found) != count:
        raise InputError("cannot be read: rows on disk are missing", where=str(path.parent))
    return found
