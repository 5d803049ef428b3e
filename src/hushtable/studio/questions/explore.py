"""Single choices of levels, judged in a moment: the one that is looked at, those one rung away, and all that were judged."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.anonymize.lattice.choices import Choice, Choices
from hushtable.api.evaluate import choices
from hushtable.report.charts.choices import Dot, key, scatter
from hushtable.studio.questions.room import Opened, Watcher
from hushtable.table.hierarchy import FileTree
from hushtable.table.trees import Level

MOST = 400
"""So many judged choices are kept."""


def judge_of(opened: Opened, demand: Mapping[str, Any]) -> Choices:
    """All choices of levels of the rows; these are grouped once for each demand, and the last demand is kept."""
    key = json.dumps(demand, sort_keys=True)
    held = opened.cache.setdefault("choices", {})
    if key not in held:
        if len(held) > 1:
            held.pop(next(iter(held)))
        asked = {name: value for name, value in demand.items() if name != "person"}
        held[key] = choices(opened.at_hand(demand.get("person")), **asked)
    found: Choices = held[key]
    return found


def rung(
    opened: Opened, *, watch: Watcher, levels: dict[str, int] | None, current: dict[str, int] | None, demand: dict[str, Any]
) -> dict[str, Any]:
    """The choice of these levels beside the current one, and the ladders on which it lies.

    Without levels it is said at which level of all columns it starts.
    """
    found = judge_of(opened, demand)
    here = fitting(opened, demand, levels)
    return {
        "start": None if levels is not None else _start(opened, demand),
        "rows": opened.at_hand(demand.get("person")).rows, "of": opened.table.rows,
        "ladders": [
            {
                "name": ladder.column.name,
                "rungs": [{"cells": None, "example": ""}, *(_rung(ladder.column.hierarchy, level) for level in ladder.levels)],
            }
            for ladder in found.lattice.ladders
        ],
        "here": _judged(opened, found, here, demand),
        "current": None if current is None else _judged(opened, found, fitting(opened, demand, current), demand),
    }  # fmt: skip


def neighbours(
    opened: Opened, *, watch: Watcher, levels: dict[str, int] | None, demand: dict[str, Any], place: str | None = None
) -> list[dict[str, Any]]:
    """The choices with one column a level lower or higher; with the column of one place alone."""
    found = judge_of(opened, demand)
    here = fitting(opened, demand, levels)
    around = []
    for at, (name, top) in enumerate(found.heights.items()):
        for level in (here[name] - 1, here[name] + 1):
            if 0 <= level <= top and place in (None, str(at)):
                choice = _judged(opened, found, {**here, name: level}, demand)
                around.append({"column": name, "up": level > here[name], "choice": choice})
    return around


def judged(
    opened: Opened, *, watch: Watcher, levels: dict[str, int] | None, current: dict[str, int] | None, demand: dict[str, Any],
    tried: Sequence[Sequence[float]] = (),
) -> dict[str, Any]:  # fmt: skip
    """All choices that were judged under this demand, as lines and as a drawing; ``tried`` are losses and shares of a search."""
    here = fitting(opened, demand, levels)
    now = None if current is None else fitting(opened, demand, current)
    known = list(_memo(opened, demand).values())
    dots = [Dot(loss, gone, "searched") for loss, gone in tried]
    dots += [
        Dot(
            choice["loss"], choice["suppressed_share"],
            "here" if choice["levels"] == here else "current" if choice["levels"] == now else "met" if choice["met"] else "unmet",
            " ".join(map(str, choice["levels"].values())),
        )
        for choice in known
    ]  # fmt: skip
    return {
        "choices": sorted(known, key=lambda choice: (choice["loss"], choice["suppressed"])),
        "drawing": scatter(dots, limit=float(demand["limit"])),
        "key": key([dot.kind for dot in dots]),
    }


def fitting(opened: Opened, demand: Mapping[str, Any], levels: Mapping[str, int] | None) -> dict[str, int]:
    """These levels on the ladders as they are now: a new column stays as it is, one whose ladder is shorter is at its top.

    Where none were looked at yet, those of the start.
    """
    found = judge_of(opened, demand)
    if levels is None:
        return found.uniform(_start(opened, demand))
    return {name: min(max(int(levels.get(name, 0)), 0), top) for name, top in found.heights.items()}


def _start(opened: Opened, demand: Mapping[str, Any]) -> int:
    """The level of all columns at which somebody starts who has looked at none yet."""
    starts: dict[str, int] = opened.cache.setdefault("starts", {})
    key = json.dumps(demand, sort_keys=True)
    if key not in starts:
        starts[key] = judge_of(opened, demand).lowest_uniform()
    return starts[key]


def _judged(opened: Opened, found: Choices, levels: Mapping[str, int], demand: Mapping[str, Any]) -> dict[str, Any]:
    memo = _memo(opened, demand)
    node = tuple(levels.values())
    if node not in memo:
        if len(memo) >= MOST:
            memo.pop(next(iter(memo)))
        choice: Choice = found.at(levels)
        memo[node] = choice.to_json()
    return memo[node]


def _memo(opened: Opened, demand: Mapping[str, Any]) -> dict[tuple[int, ...], dict[str, Any]]:
    memos: dict[str, dict[tuple[int, ...], dict[str, Any]]] = opened.cache.setdefault("judged", {})
    return memos.setdefault(json.dumps(demand, sort_keys=True), {})


def _rung(tree: object, level: Level) -> dict[str, Any]:
    """How many cells a level has, and one that says how coarse it is: the largest group, or the interval in the middle."""
    if isinstance(tree, FileTree):
        example = level.cells[int(level.shares.argmax())].text
    else:
        example = level.cells[len(level.cells) // 2].text
    return {"cells": len(level.cells), "example": example}
