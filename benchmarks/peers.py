"""Peers run in throw-away environments of their own, so that nothing of theirs enters ours."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

CLOCK = """
import json, resource, sys, time
def clock():
    use = [resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in use)
def report(start, wall, **more):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print("RESULT" + json.dumps({"cpu": clock() - start, "wall": time.time() - wall, "mb": peak, **more}))
"""


@dataclass(frozen=True)
class Peer:
    """An environment with some packages, created once per run and removed with its folder."""

    folder: Path
    note: str = ""

    @classmethod
    def install(cls, packages: Sequence[str], folder: Path) -> Peer:
        """A fresh environment; ``note`` says why if it could not be created."""
        venv.create(folder, with_pip=True)
        return cls(folder).add(packages)

    def add(self, packages: Sequence[str]) -> Peer:
        """The same environment with these packages too."""
        return self._pip("install", "-q", *packages)

    def remove(self, packages: Sequence[str]) -> Peer:
        """The same environment without these packages."""
        return self._pip("uninstall", "-q", "-y", *packages)

    def _pip(self, *words: str) -> Peer:
        """What was noted before stays: nothing is done in an environment that is not there."""
        if self.note:
            return self
        done = subprocess.run([self.folder / "bin" / "pip", *words], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return self
        return Peer(self.folder, f"could not be installed: {done.stderr.strip().splitlines()[-1][:120]}")

    def run(self, code: str, *arguments: object, timeout: float = 900) -> dict[str, float | str]:
        """Run a script; the mapping it reports, or a note that says why there is none."""
        if self.note:
            return {"note": self.note}
        with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
            script.write(CLOCK + code)
            script.flush()
            try:
                done = subprocess.run(
                    [self.folder / "bin" / "python", script.name, *map(str, arguments)],
                    capture_output=True, text=True, check=False, timeout=timeout,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                return {"note": f"not finished in {timeout:g} s"}
        lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT")]
        if done.returncode or not lines:
            return {"note": f"failed: {(done.stderr.strip().splitlines() or ['no output'])[-1][:120]}"}
        return json.loads(lines[-1].removeprefix("RESULT"))


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print an aligned table."""
    cells = [[f"{c:.3g}" if isinstance(c, float) else str(c) for c in row] for row in rows]
    widths = [max(len(row[i]) for row in [list(head), *cells]) for i in range(len(head))]
    print(f"\n{title}")
    for row in (list(head), ["-" * w for w in widths], *cells):
        print("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip())
    sys.stdout.flush()


def ratio(theirs: dict[str, float | str], ours: float, key: str = "cpu") -> str:
    """How many times ours theirs is, or the note."""
    return f"{float(theirs[key]) / ours:.1f} x" if key in theirs else str(theirs.get("note", ""))
