"""The documentation: every method has its page, what it says is true of the code, and its links lead somewhere."""

from __future__ import annotations

import posixpath
import re
import time
from dataclasses import fields

import pytest
import typer

import hushtable as ht
from docs.build import markdown as md
from docs.build import methods, site
from hushtable.api.methods import by_family
from hushtable.checks import example
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline import registry
from hushtable.pipeline.plan import plan
from hushtable.privacy.unit import Budget, Unit
from hushtable.table import entries
from hushtable.table import schema as schemas
from hushtable.table.columns import Column, Kind, Levels, Role
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    start = time.process_time()
    result = site.all_pages(pictures=None, story=False)
    assert time.process_time() - start < 20
    return result


def plain(text: str) -> str:
    """Markdown without its escapes."""
    return re.sub(r"\\([\\*_<>|\[\]#~])", r"\1", text)


@pytest.mark.parametrize("name", recipes.names())
def test_every_recipe_has_a_page_with_its_guarantee_steps_and_knobs(pages, name):
    text, recipe = plain(pages[f"methods/{name}.md"]), recipes.load(name)
    assert recipe.title in text
    assert recipe.guarantee in text
    assert recipe.cite in text
    assert all(f"| `{knob}` |" in text for step in recipe.steps for knob in type(step).knobs())
    assert "**Take it if**" in text
    assert "**Look elsewhere if**" in text


@pytest.mark.parametrize("name", registry.AUDITS)
def test_every_audit_has_a_page_with_its_knobs(pages, name):
    text, kind = plain(pages[f"audits/{name}.md"]), registry.load(registry.AUDITS[name])
    assert (kind.__doc__ or "").split("``")[0].strip().splitlines()[0][:40] in text
    assert all(f"| `{f.name}` |" in text for f in fields(kind))


def with_labelled_text(schema: schemas.Schema) -> schemas.Schema:
    """The schema with a column of free text, and a target that has levels."""
    target = Column(name="kind", kind=Kind.CATEGORY, role=Role.TARGET, domain=Levels(("one", "other")))
    return schema.with_columns(Column(name="note", kind=Kind.TEXT), target)


@pytest.mark.parametrize("name", recipes.names())
def test_the_example_of_a_recipe_can_be_planned(name, request):
    shown, recipe = methods.Example.of(recipes.load(name)), recipes.load(name)
    budget = Budget(shown.epsilon, 1e-6) if shown.epsilon else None
    recipe = recipe.set(shown.settings)
    if any(step.extra == "language" for step in recipe.steps):
        request.getfixturevalue("installed_models")
    schema = with_labelled_text(example().schema) if recipe.reads_text else example().schema
    plan(recipe, schema.select(recipe.readable(schema)), budget=budget, unit=Unit(relation=shown.relation))
    assert ("--epsilon" in shown.command()) == ("epsilon=" in shown.python()) == (budget is not None)


def test_the_overviews_speak_of_every_recipe_and_every_audit():
    assert set(methods.overview("recipes")) == set(recipes.names())
    assert sum(map(len, by_family().values())) == len(recipes.names())
    assert set(methods.overview("audits")) == set(registry.AUDITS)


def test_the_readme_is_short_and_its_links_lead_somewhere():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 150
    assert not [link for link in re.findall(r"\]\(([^)#]+)", text) if not (ROOT / link).exists()]
    named = re.findall(r"`([\w-]+)`", text.split("|---|---|---|")[1].split("*Proven*")[0])
    assert set(named) <= set(recipes.names())


def test_every_term_of_the_glossary_is_listed_and_explained(pages):
    terms = re.findall(r"^## (.+)$", pages["glossary.md"], re.M)
    listed = re.findall(r"\[([^\]]+)\]\(#([\w-]+)\)", pages["glossary.md"].split("\n## ")[0])
    assert len(terms) == 41
    assert [name.lower() for name in terms] == [name.lower() for name, _ in listed]
    assert [anchor for _, anchor in listed] == [term.lower().replace(" ", "-") for term in terms]


def test_every_entry_of_a_schema_file_is_documented(pages):
    text = pages["schema-entries.md"]
    assert [key for key in entries._KEYS if f"\n### `{key}`\n" not in text] == []
    assert [key for key in schemas._ENTRIES if f"\n| `{key}` |" not in text] == []
    assert "schema-entries.md" in str(site.configuration()["nav"])
    example = text.split("```yaml\n")[1].split("```")[0]
    assert len(ht.Schema.parse(example.replace("schema.levels/postcode.csv", "[10115, 80331]"))) == 4


def test_every_internal_link_leads_to_a_page(pages):
    files = {*pages, *site.assets()}
    broken = []
    for name, text in pages.items():
        prose = re.sub(r"```.*?```", "", text, flags=re.S)
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", prose):
            if not target.startswith("http") and posixpath.normpath(posixpath.join(posixpath.dirname(name), target)) not in files:
                broken.append(f"{name}: {target}")
    assert broken == []


def test_the_contents_name_every_page_once(pages):
    def leaves(entry):
        if isinstance(entry, str):
            return [entry]
        return [leaf for part in (entry.values() if isinstance(entry, dict) else entry) for leaf in leaves(part)]

    named = leaves(site.configuration()["nav"])
    assert sorted(named) == sorted(pages)


def test_nothing_is_fetched_when_a_page_is_read(pages):
    assert site.configuration()["theme"]["font"] is False
    style = (site.HAND / "extra.css").read_text(encoding="utf-8")
    assert "url(" not in style
    assert "@import" not in style
    assert not [name for name, text in pages.items() if re.search(r"""(src=["']|!\[[^\]]*\]\()https?:""", text)]


def test_names_that_pages_use_are_public(pages):
    used = {name for text in pages.values() for name in re.findall(r"\bht\.(\w+)\(", text)}
    assert used >= {"read", "release", "audit", "utility", "compare", "show"}
    assert used <= set(ht.__all__)


def test_commands_that_pages_type_exist_with_their_options(pages):
    from hushtable.cli import app

    known = {
        name: {opt for param in command.params for opt in (*param.opts, *param.secondary_opts)}
        for name, command in typer.main.get_command(app).commands.items()
    }
    wrong, seen = [], 0
    for page, text in pages.items():
        for block in re.findall(r"```(?:console)?\n(.*?)```", text, flags=re.S):
            for line in block.replace("\\\n", " ").splitlines():
                command = re.match(r"hush ([\w-]+)", line)
                if not command:
                    continue
                seen += 1
                options = re.findall(r"(?<=\s)--[\w-]+", line.split("#")[0])
                wrong += [f"{page}: {line}" for opt in options or [""] if opt and opt not in known.get(command[1], ())]
                wrong += [f"{page}: {line}"] * (command[1] not in known)
    assert seen > 80
    assert wrong == []


def test_every_command_is_on_its_page(pages):
    from hushtable.cli import app

    for name in typer.main.get_command(app).commands:
        assert f"## `hush {name}`" in pages["command-line.md"]
    demo = pages["command-line.md"].split("## `hush demo`")[1].split("## ")[0]
    assert "| `--seed` | `0` |" in demo
    assert "| `--json` |  |" in demo


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a*b*c", r"a\*b\*c"),
        ("``k | l`` of _x_", r"<code>k &#124; l</code> of \_x\_"),
        ("<script>", r"\<script\>"),
        ("`k`", "`k`"),
    ],
)
def test_no_docstring_becomes_markup_by_accident(text, told):
    assert md.escaped(text) == told


def test_every_file_and_function_of_the_map_exists(pages):
    source = ROOT / "src" / "hushtable"
    text = pages["architecture.md"]
    files = [
        name for name in re.findall(r"`([\w/]+(?:\.py|/|\.yaml))`", text) if name not in ("cli/x.py", "api/x.py", "report/x.py")
    ]
    assert len(set(files)) > 40
    assert [name for name in files if not (source / name).exists()] == []
    walks = re.findall(r"^\| \d+ \| `([\w/]+\.py)`[^|]* \| `([\w.]+)` \|", text, re.M)
    assert len(walks) > 25
    missing = []
    for file, function in walks:
        code = (source / file).read_text(encoding="utf-8")
        missing += [f"{file}: {name}" for name in function.split(".") if not re.search(rf"\b(?:def|class) {name}\b", code)]
    assert missing == []
