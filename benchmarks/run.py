"""All benchmarks, or those named: ``python benchmarks/run.py anonymize evidence``."""

from __future__ import annotations

import importlib
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

ROOMS = (
    "table", "privacy", "evidence", "generalize", "anonymize", "synthesize",
    "audits", "utility", "detection", "private", "mechanism",
)  # fmt: skip


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for room in sys.argv[1:] or ROOMS:
            importlib.import_module(f"benchmarks.bench_{room}").main(Path(folder))


if __name__ == "__main__":
    main()
