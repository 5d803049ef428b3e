"""What the studio keeps outside of any workspace, for its owner alone: which workspaces were open, and where it is running."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hushtable.table.disk import whole_file

RECENT = 12
"""So many workspaces are remembered."""
VARIABLE = "HUSHTABLE_STATE"


def home() -> Path:
    """The folder, made for its owner alone."""
    folder = Path(os.environ.get(VARIABLE) or Path.home() / ".local" / "state" / "hushtable")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def recent() -> list[Path]:
    """The workspaces that were open last and are still there, the latest first."""
    known = _read(home() / "studio.json").get("recent", [])
    paths = [Path(text) for text in known if isinstance(text, str)]
    return [path for path in paths if (path / "project.yaml").is_file()]


def remember(workspace: Path) -> None:
    """Put a workspace in front of the others."""
    paths = dict.fromkeys([workspace.resolve(), *recent()])
    write_private(home() / "studio.json", {"recent": [str(path) for path in list(paths)[:RECENT]]})


def running() -> list[dict[str, Any]]:
    """The studios that run now, the latest first: where each listens, and the secret to ask it for a link."""
    found = []
    for path in sorted(home().glob("studio-*.json"), key=lambda p: p.stat().st_mtime, reverse=True):
        entry = _read(path)
        if _alive(entry.get("process")):
            found.append(entry)
        else:
            path.unlink(missing_ok=True)
    return found


def announce(address: str, secret: str, root: Path) -> Path:
    """Note that a studio runs, in a file to be removed at its end."""
    path = home() / f"studio-{os.getpid()}.json"
    entry = {"process": os.getpid(), "address": address, "secret": secret, "root": str(root), "since": time.time()}
    write_private(path, entry)
    return path


def write_private(path: Path, plain: Mapping[str, Any]) -> None:
    """Write JSON that only its owner can read; it appears whole."""
    with whole_file(path, private=True) as partial:
        partial.write_text(json.dumps(plain, indent=1), encoding="utf-8")


def _read(path: Path) -> dict[str, Any]:
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        # Lost or damaged, it only means that nothing is remembered.
        return {}
    return plain if isinstance(plain, dict) else {}


def _alive(process: object) -> bool:
    if not isinstance(process, int) or process <= 0:
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
