"""A small table for the ladders: an ordered column, codes, dates, a rare value and a hostile one."""

from __future__ import annotations

import re
from pathlib import Path

HOSTILE = "<script>alert(1)</script>"
REGIONS = ("Kiel", "Bremen", "Berlin", "Jena", "Ulm")


def make_ladder_town(folder: Path) -> None:
    """The table, and hierarchy files of which one leaves a value out and one is about other values."""
    lines = ["nr,age,region,grade,code,since,income"]
    for i in range(120):
        grade = ("low", "mid", "high")[i % 3]
        since = f"20{10 + i % 9}-0{1 + i % 9}-11"
        lines.append(f"{i},{20 + i % 47},{REGIONS[i % 5]},{grade},{7000 + i % 4 * 100},{since},{i * 7 % 50}")
    lines += [f"{i},33,{HOSTILE},low,7100,2011-04-05,3" for i in range(120, 122)]
    (folder / "town.csv").write_text("\n".join(lines))
    north = "Kiel;north;*\nBremen;north;*\nBerlin;east;*\nJena;east;*\n"
    (folder / "regions.csv").write_text(f'{north}"{HOSTILE}";odd;*\n')
    (folder / "other.csv").write_text("red;warm;*\nblue;cold;*\n")


def ladder_schema(drafted: str) -> str:
    """The drafted schema as somebody edited it."""
    text = drafted
    for name in ("age", "region", "grade", "code", "since"):
        text = re.sub(rf"(  {name}: .*?role: )\w+", r"\1quasi", text)
    text = re.sub(r"(  nr: .*?role: )\w+", r"\1identifier", text)
    text = re.sub(r"(  income: .*?role: )\w+", r"\1secret", text)
    text = re.sub(r"(  grade: +\{kind: )category(.*?domain: )\[[^\]]*\]", r"\1ordinal\2[low, mid, high]", text)
    return re.sub(r"(  code: +\{kind: )\w+(.*?domain: )\[[^\]]*\]", r'\1category\2["7000", "7100", "7200", "7300"]', text)
