"""The whole site as a folder of Markdown and its configuration."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from docs.build import methods, reference, tutorial
from docs.build.pictures import cached

ROOT = Path(__file__).resolve().parents[2]
HAND = ROOT / "docs" / "pages"


def write(folder: Path, *, pictures: bool = True, story: bool = True) -> int:
    """Write the sources of the site to a folder, which is emptied first; the number of pages.

    Without ``pictures`` no recipe is run, without ``story`` the tutorial is shown without its output.
    """
    pages = all_pages(pictures=partial(cached, folder=ROOT / "build" / "pictures") if pictures else None, story=story)
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in pages.items():
        path = folder / "pages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for name, asset in assets().items():
        (folder / "pages" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(asset, folder / "pages" / name)
    (folder / "mkdocs.yml").write_text(yaml.safe_dump(configuration(), sort_keys=False, allow_unicode=True), encoding="utf-8")
    return len(pages)


def assets() -> dict[str, Path]:
    """Every picture and stylesheet by its path in the site."""
    own = [*HAND.glob("*.css"), *HAND.rglob("*.svg")]
    return {path.relative_to(HAND).as_posix(): path for path in own} | {path.name: path for path in (ROOT / "docs").glob("*.png")}


def all_pages(*, pictures: methods.Picture | None, story: bool) -> dict[str, str]:
    """Every page by its path: those written by hand, and those read off the code."""
    by_hand = {path.relative_to(HAND).as_posix(): path.read_text(encoding="utf-8") for path in sorted(HAND.rglob("*.md"))}
    read_off = {"measures.md": reference.measures(), "command-line.md": reference.command_line()}
    return by_hand | methods.pages(pictures) | reference.audit_pages() | read_off | {"tutorial.md": tutorial.page(run=story)}


def configuration() -> dict[str, Any]:
    """The configuration with the contents of the site. Nothing in it is fetched when a page is read: no fonts, no trackers."""
    return {
        "site_name": "hushtable",
        "site_description": "Protect a sensitive table, prove what was promised, and attack the result.",
        "docs_dir": "pages",
        "site_dir": "site",
        "use_directory_urls": False,
        "theme": {
            "name": "material",
            "language": "en",
            "font": False,
            "features": ["navigation.sections", "navigation.indexes", "navigation.top", "content.code.copy", "toc.follow"],
            "palette": [
                {"media": f"(prefers-color-scheme: {light})", "scheme": scheme, "primary": "indigo", "accent": "indigo"}
                for light, scheme in (("light", "default"), ("dark", "slate"))
            ],
        },
        "extra_css": ["extra.css"],
        "plugins": ["search"],
        "extra": {"generator": False},
        "markdown_extensions": ["tables", "attr_list", "md_in_html", {"toc": {"permalink": True}}, "pymdownx.highlight",
                                "pymdownx.superfences"],
        "nav": [
            {"Welcome": "index.md"},
            {"Get started": "start.md"},
            {"Studio": "studio.md"},
            {"Tutorial": "tutorial.md"},
            {"Concepts": "concepts.md"},
            {"Describing a table": "schema.md"},
            {"Entries of a schema file": "schema-entries.md"},
            {"Choosing a release": "choosing.md"},
            {"Networks": "neural.md"},
            {"Free text": "text.md"},
            {"Large tables": "large.md"},
            {"Hybrids": "hybrids.md"},
            {"Attacking a release": "auditing.md"},
            {"Reading the report": "report.md"},
            {"Glossary": "glossary.md"},
            {"Python": "python.md"},
            {"Command line": "command-line.md"},
            {"Methods": methods.nav()},
            {"Audits": reference.audit_nav()},
            {"What the sources report": "sources/index.md"},
            {"A method of your own": "extending.md"},
            {"Architecture": "architecture.md"},
        ],
    }  # fmt: skip
