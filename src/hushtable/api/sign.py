"""Sign a saved release."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hushtable.errors import Fault, InputError
from hushtable.pipeline.signature import SigningKey
from hushtable.pipeline.verify import verify as verify_release


def sign(folder: str | Path, key: SigningKey | str | Path, *, passphrase: Callable[[], str] | None = None) -> Path:
    """Sign the card of a saved release; refused where something contradicts the card, or it is signed already.

    ``passphrase`` is called for that of a locked key, unless the environment holds it.
    """
    loaded = key if isinstance(key, SigningKey) else SigningKey.load(key, passphrase)
    folder = Path(folder)
    if faults := verify_release(folder).faults:
        raise InputError([*faults, Fault(str(folder), "is not what its card says, and is not signed")])
    return loaded.sign(folder)
