"""``python -m docs.build.sources FOLDER``: put a run of ``hush study all --out FOLDER`` on the site, its page and its figures.

``python -m docs.build.sources FOLDER STUDY`` puts in the run of one study alone, in place of what the page says of it, or anew.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from docs.build.site import HAND
from hushtable.evidence.finding import Better
from hushtable.report.markdown import plain
from hushtable.studies.report import Number, Numbers, Part, Report, Section, Statement, Statements, Verdict
from hushtable.studies.show import summary

_ROW = re.compile(r"^\| ([a-z][a-z-]*) \| .*$", re.MULTILINE)
"""A line of the summary: it begins with the name of a study. The head of the table is the first of them."""


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


def put_one(folder: Path, name: str, place: Path = HAND / "sources") -> int:
    """Replace what the page says of this study, and its figures; the number of figures. The run must be as quick as the page's."""
    run, page = json.loads((folder / "study.json").read_text(encoding="utf-8")), place / "index.md"
    text = page.read_text(encoding="utf-8")
    if run["quick"] != ("This is the quick run" in text):
        raise ValueError("the page is of a quick run and this one is not, or the other way round")
    page.write_text(merged(text, name, run["studies"][name], (folder / "study.md").read_text(encoding="utf-8")), encoding="utf-8")
    figures = sorted(folder.glob("*.svg"))
    shutil.rmtree(place / name, ignore_errors=True)
    for figure in figures:
        (place / name).mkdir(exist_ok=True)
        shutil.copy(figure, place / name)
    return len(figures)


def merged(page: str, name: str, values: dict[str, Any], text: str) -> str:
    """A page of several studies with this one in it, studies by name: its line of the summary, and its section."""
    head, *sections = re.split(r"^(?=## )", page, flags=re.MULTILINE)
    begin, *rows = _ROW.finditer(head)
    own = dict(zip((row[1] for row in rows), zip((row[0] for row in rows), sections, strict=True), strict=True))
    section = text[text.index("\n## ") + 1 :]
    section = re.sub(r"\]\(([^()/]+\.svg)\)", rf"]({name}/\1)", section).rstrip("\n") + "\n\n"
    (line,) = summary({name: _read(values)})
    own[name] = ("| " + " | ".join(plain(cell) for cell in line) + " |", section)
    told = [own[each] for each in sorted(own)]
    between = head[begin.end() : rows[0].start()]
    table = "\n".join(row for row, _ in told)
    joined = "".join(part.rstrip("\n") + "\n\n" for _, part in told).rstrip("\n") + "\n"
    return f"{head[: begin.end()]}{between}{table}\n\n{joined}"


def _read(values: dict[str, Any]) -> Report:
    """What the summary counts of a report: its numbers and statements."""
    parts = list[Part]()
    for section in values["sections"]:
        for part in section["parts"]:
            if part["kind"] == "numbers":
                numbers = tuple(_number(own) for own in part["numbers"])
                parts.append(Numbers(title=part["title"], numbers=numbers))
            if part["kind"] == "statements":
                said = tuple(Statement(**{**own, "verdict": Verdict(own["verdict"])}) for own in part["statements"])
                parts.append(Statements(title=part["title"], statements=said))
    return Report(
        title=values["title"], source=values["source"], lead=values["lead"], sections=(Section(title="", parts=tuple(parts)),)
    )


def _number(values: dict[str, Any]) -> Number:
    better = None if values["better"] is None else Better(values["better"])
    return Number(**{key: value for key, value in values.items() if key != "comparable"} | {"better": better})


if __name__ == "__main__":
    at = HAND / "sources"
    print(f"{put(Path(sys.argv[1])) if len(sys.argv) == 2 else put_one(Path(sys.argv[1]), sys.argv[2])} figures in {at}")
