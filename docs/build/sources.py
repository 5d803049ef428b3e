"""``python -m docs.build.sources FOLDER``: put a run of ``hush study all --out FOLDER`` on the site, its page and its figures."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from docs.build.site import HAND


def put(folder: Path) -> int:
    """Replace the page and its figures by those of this run; the number of figures."""
    place = HAND / "sources"
    shutil.rmtree(place, ignore_errors=True)
    figures = sorted(folder.glob("*/*.svg"))
    for figure in figures:
        target = place / figure.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(figure, target)
    shutil.copy(folder / "study.md", place / "index.md")
    return len(figures)


if __name__ == "__main__":
    print(f"{put(Path(sys.argv[1]))} figures in {HAND / 'sources'}")
