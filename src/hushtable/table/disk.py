"""Small text files that people write, and outputs that appear whole or not at all."""

from __future__ import annotations

import os
import platform
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from hushtable.errors import InputError

CARD = "card.json"
"""The file that makes a folder a release."""

FORMS = ("csv", "csv.gz", "parquet")
"""The formats that a table is written in."""


def require_form(form: str) -> None:
    """InputError where a table cannot be written in this format."""
    if form not in FORMS:
        raise InputError(f"expected {', '.join(FORMS[:-1])} or {FORMS[-1]}, got {form!r}", where="--format")


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


def beside(folder: Path | None, path: str, where: str) -> Path:
    """The file that a schema in a folder names. That of a release names files of the release: it may come from anybody."""
    if folder is None:
        return Path(path)
    full = folder / path
    if (folder / CARD).exists() and not full.resolve().is_relative_to(folder.resolve()):
        raise InputError("lies outside of the release", where=where)
    return full


@contextmanager
def whole_file(path: Path, *, private: bool = False) -> Iterator[Path]:
    """A name beside ``path`` to write to; it becomes ``path`` when all went well, and leaves nothing when not.

    What is private is its owner's alone, and is never put into a release.
    """
    if private:
        refuse_inside_release(path)
    partial = _beside(path)
    try:
        if private:
            partial.touch(mode=0o600)
        yield partial
        partial.replace(path)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", where=path.name) from None
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def whole_folder(folder: Path, *, private: bool = False) -> Iterator[Path]:
    """A folder beside ``folder`` to fill; it becomes ``folder``, which must be new, when all went well.

    What is private is its owner's alone, and is never put into a release.
    """
    refuse_existing(folder, private=private)
    partial = _beside(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        remove_abandoned(folder.parent, "." + OWNER + re.escape(f".{folder.name}"))
        partial.mkdir(mode=0o700 if private else 0o777)
        yield partial
        refuse_existing(folder)
        partial.rename(folder)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", where=str(folder)) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def refuse_existing(path: Path, *, private: bool = False) -> None:
    """An output must have a name and be new, so that nothing is overwritten; a private one must lie outside of every release."""
    if not path.name:
        raise InputError("is no name for an output folder or file", where=repr(str(path)))
    if path.exists():
        raise InputError("exists already; name a new one, nothing was written", where=str(path))
    if private:
        refuse_inside_release(path)


def refuse_inside_release(path: Path) -> None:
    """What was computed from raw rows must not be published with a release."""
    if inside_release(path):
        raise InputError("lies inside a release; what is computed from raw rows must not be published with it", where=str(path))


def inside_release(path: Path) -> bool:
    """Whether a folder above it is a release."""
    return any((parent / CARD).exists() for parent in path.resolve().parents)


def owner(process: int | None = None) -> str:
    """What the names of unfinished files and folders say of the process that works on them: where it runs, and its number there.

    This process, where none of the same machine or container is named.
    """
    return f"{re.sub('[^A-Za-z0-9-]', '-', platform.node())}-{_numbering()}-{process or os.getpid()}"


@cache
def _numbering() -> int:
    """Containers may share a name and a folder, and number their processes apart."""
    try:
        return Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return 0


OWNER = r"(?P<node>[A-Za-z0-9-]*)-(?P<process>\d+)"
"""The same, as a pattern."""


def unfinished(folder: Path, process: int) -> list[Path]:
    """What a process of this machine or container has in a folder that is not whole yet."""
    return sorted(folder.glob(f".{owner(process)}.*"))


def remove_abandoned(parent: Path, pattern: str) -> None:
    """Remove our folders with names of this pattern, ``OWNER`` in it, whose process was killed before it could do so itself."""
    own = owner()
    # Others may work in the same place, and it may be theirs.
    with suppress(FileNotFoundError, PermissionError):
        for path in list(parent.iterdir()):
            name = re.fullmatch(pattern, path.name)
            if name is None or path.is_symlink() or not path.is_dir() or path.stat().st_uid != os.getuid():
                continue
            if own == f"{name['node']}-{os.getpid()}" and not _running(int(name["process"])):
                shutil.rmtree(path, ignore_errors=True)


def _running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _beside(path: Path) -> Path:
    return path.with_name(f".{owner()}.{path.name}")
