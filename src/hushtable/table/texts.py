"""Small text files that people write: schemas, hierarchies, recipes, cards."""

from __future__ import annotations

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
