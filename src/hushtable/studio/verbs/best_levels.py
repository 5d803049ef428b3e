"""Search the choice of levels that loses least, with a proof or the gap."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import hushtable as ht
from hushtable.display import Progress
from hushtable.engine.open import open_rows
from hushtable.table.layout import Layout


def best_levels(request: Mapping[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """As ``hush pareto`` does it for one k and one limit; its page appears whole in the folder."""
    layout = Layout.of(**request["layout"])
    rows = open_rows(request["data"], ht.Schema.load(request["schema"]), layout=layout, progress=progress)
    sheet = ht.pareto(
        rows, ks=[request["k"]], limits=[request["limit"]], person=request.get("person"), settings=request["settings"],
        progress=progress,
    )  # fmt: skip
    sheet.save(request["folder"])
    return {**sheet.lines[0].to_json(), "checks": sheet.checks, "loss_name": sheet.loss, "front": next(iter(sheet.fronts.values()))}
