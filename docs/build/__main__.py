"""``python -m docs.build``: write all pages to build/docs, ready for ``zensical build``; ``--plain`` leaves the pictures out."""

from __future__ import annotations

import sys

from docs.build.site import ROOT, write

if __name__ == "__main__":
    folder = ROOT / "build" / "docs"
    count = write(folder, pictures="--plain" not in sys.argv)
    print(f"{count} pages in {folder}")
