"""All benchmarks, or those named: ``python benchmarks/run.py anonymize evidence``.

``records --help`` and ``scale --help`` list options of their own.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

ROOMS = (
    "table", "privacy", "evidence", "generalize", "anonymize", "synthesize",
    "audits", "headline", "utility", "detection", "private", "mechanism", "refine", "neural",
    "language", "texts", "canaries", "scale", "records",
)  # fmt: skip


def main() -> None:
    if sys.argv[1:2] in (["records"], ["scale"]) and (len(sys.argv) > 2 or sys.argv[1] == "records"):
        with tempfile.TemporaryDirectory() as folder:
            place = Path() if sys.argv[1] == "records" else Path(folder)
            importlib.import_module(f"benchmarks.bench_{sys.argv[1]}").main(place, sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rooms", nargs="*", metavar="room", help=f"some of: {', '.join(ROOMS)}; all when empty")
    rooms = parser.parse_args().rooms or ROOMS
    if unknown := [room for room in rooms if room not in ROOMS]:
        parser.error(f"there is no benchmark {', '.join(unknown)}")
    with tempfile.TemporaryDirectory() as folder:
        for room in rooms:
            importlib.import_module(f"benchmarks.bench_{room}").main(Path(folder))


if __name__ == "__main__":
    main()
