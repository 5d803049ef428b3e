"""Small text files that people write, and outputs that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hushtable.errors import InputError


def read_text(path: Path, where: str) -> str:
    """The text of a UTF-8 file, a byte order mark taken off; InputError says why it cannot be had."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError("the file does not exist", where=where) from None
    except UnicodeDecodeError:
        raise InputError("the file is not UTF-8", where=where) from None
    except OSError as error:
        raise InputError(f"the file cannot be read: {error.strerror}", where=where) from None


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A name beside ``path`` to write to; it becomes ``path`` when all went well, and leaves nothing when not."""
    partial = _beside(path)
    try:
        yield partial
        partial.replace(path)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", where=path.name) from None
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def whole_folder(folder: Path, mode: int = 0o777) -> Iterator[Path]:
    """A folder beside ``folder`` to fill; it becomes ``folder``, which must be new, when all went well."""
    refuse_existing(folder)
    partial = _beside(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial.mkdir(mode=mode)
        yield partial
        refuse_existing(folder)
        partial.rename(folder)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", where=str(folder)) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def refuse_existing(folder: Path) -> None:
    """An output folder must have a name and be new, so that nothing is overwritten."""
    if not folder.name:
        raise InputError("is no name for an output folder", where=repr(str(folder)))
    if folder.exists():
        raise InputError("the output folder exists already; name a new one, nothing was written", where=str(folder))


def _beside(path: Path) -> Path:
    return path.with_name(f".{os.getpid()}.{path.name}")
