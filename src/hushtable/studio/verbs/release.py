"""Make a release of the table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import hushtable as ht
from hushtable.display import Progress


def release(request: Mapping[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """As ``hush release`` does it, the request in the plain values of ``ReleaseRequest``; it appears whole in the folder."""
    saved = ht.release_to_folder(ht.ReleaseRequest.from_json(request), progress=progress)
    guarantee = saved.release.guarantee
    return {
        "rows": saved.rows,
        "train_rows": saved.train_rows,
        "used_rows": saved.used_rows,
        "suppressed": sum(saved.suppressed_rows),
        "ignored": list(saved.ignored),
        "dropped": list(saved.release.dropped),
        "assurance": str(guarantee.assurance),
        "guarantee": [list(sentence) for sentence in guarantee.sentences()],
        "exposed": list(saved.release.exposed),
        "warnings": list(saved.release.warnings),
        "notes": saved.notes,
        "files": saved.files,
    }
