"""Check a release against its card: a folder, or a zip of one."""

from __future__ import annotations

from pathlib import Path

from hushtable.engine.compute import Compute
from hushtable.pipeline import verify as folders
from hushtable.pipeline.bundle import is_bundle, unpacked
from hushtable.pipeline.verification import Verification


def verify(
    release: str | Path, key: str | Path | None = None, *, trust: bool = False, compute: Compute | None = None
) -> Verification:
    """Whether a saved release is what its card says, and what of that could not be checked.

    The files are those that were released and no others; the card's guarantee is the one that its own ledger and promises give,
    and one that its recipe can lead to; what can be measured on the table is measured again. Who made the card is known only by
    its signature: ``key`` is the file of the public key that it must be made with. Steps of other packages are planned, and their
    code run, only with ``trust``. ``compute`` says where the rows of a release in parts are worked on.

    A zip is unpacked where only its owner can read, and not trusted: InputError where it holds what no release has, a link, a name
    that leads out of its folder, or more than can be unpacked.
    """
    if is_bundle(release):
        with unpacked(release) as folder:
            return folders.verify(folder, key, trust=trust, compute=compute)
    return folders.verify(release, key, trust=trust, compute=compute)
