"""Try a release of the whole table without keeping it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import hushtable as ht
from hushtable.display import Progress
from hushtable.pipeline import recipe as known
from hushtable.studio.questions.recipes import preflight_json, preflighted


def preflight(request: Mapping[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """As ``hush preflight`` does it."""
    table = ht.read(request["data"], request["schema"], layout=ht.Layout.of(**request.get("layout", {})))
    recipe = known.load(request["recipe"]).set(request["settings"])
    found = preflighted(
        table, recipe, request["epsilon"], learn=bool(request.get("learn")), unit=request.get("unit"), progress=progress
    )
    return preflight_json(found)
