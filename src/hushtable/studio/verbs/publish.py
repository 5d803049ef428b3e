"""Publish a release: with what is said of the data on its card, as a folder and as a zip of it, and verify the zip."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import hushtable as ht
from hushtable.display import Progress, announce
from hushtable.errors import InputError
from hushtable.studio.questions.publish import plain

DESCRIBE, PACK, VERIFY = "describe", "pack", "verify"


def publish(request: Mapping[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """As ``hush publish`` and ``hush verify`` do it. Where anything fails nothing is left: neither the folder nor the zip."""
    announce(progress, {DESCRIBE: 1.0, PACK: 2.0, VERIFY: 1.0})
    target, zipped = Path(request["out"]), Path(request["zip"])
    with ExitStack() as undo:
        progress(DESCRIBE, 0.0)
        ht.describe(request["release"], target, **request["about"])
        undo.callback(shutil.rmtree, target, ignore_errors=True)
        progress(DESCRIBE, 1.0)
        progress(PACK, 0.0)
        published = ht.publish(
            target, zipped, audit=request["audit"], source=(request["source"], request["digest"]), by=request["by"],
            reason=request["reason"],
        )  # fmt: skip
        undo.callback(zipped.unlink, missing_ok=True)
        progress(PACK, 1.0)
        progress(VERIFY, 0.0)
        found = ht.verify(zipped)
        if found.faults:
            raise InputError(found.faults)
        progress(VERIFY, 1.0)
        undo.pop_all()
    return {
        "zip": zipped.name,
        "bytes": published.bundle.bytes,
        "sha256": published.bundle.sha256,
        "files": [[file.name, file.bytes, file.sha256] for file in published.bundle.files],
        "unchecked": [str(fault) for fault in found.unchecked],
        "checklist": plain(published.checklist),
    }


def check(request: Mapping[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """The checklist of a release that takes longer to check than a page may wait."""
    source = (request["source"], request["digest"])
    return plain(ht.checklist(request["release"], audit=request["audit"], source=source, about=request["about"]))
