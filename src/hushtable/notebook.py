"""What a notebook shows of a table, a release, a guarantee, a finding, an audit or a comparison.

Every fragment is standalone markup without a script. Its letters and lines take the colour of the notebook around them, so it can
be read on any theme; a kind of assurance is a shape and a word, never a colour. Rows are shown of a release alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hushtable.api.audit_report import AuditReport
from hushtable.api.compare.cell import Cell
from hushtable.api.compare.comparison import Comparison
from hushtable.api.evaluate import Evaluation
from hushtable.api.methods import by_family
from hushtable.errors import InputError
from hushtable.evidence.finding import Finding, Risk, Subject
from hushtable.evidence.verdict import worst_of
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline import registry
from hushtable.pipeline.card import Card
from hushtable.pipeline.preflight import Preflight
from hushtable.pipeline.recipe import Recipe, step_name
from hushtable.pipeline.release import Release
from hushtable.privacy.guarantee import Guarantee
from hushtable.privacy.stated import StatedGuarantee
from hushtable.report import findings as shown
from hushtable.report import promise
from hushtable.report.card import card_page
from hushtable.report.evaluate import evaluated
from hushtable.report.html import INTERNAL, Child, Html, Section, element, join, pairs, table
from hushtable.report.html import page as whole_page
from hushtable.report.profile import profile_page, profiled
from hushtable.report.words import number, share, shortened
from hushtable.table.columns import Bounds, Column
from hushtable.table.disk import refuse_existing, whole_file
from hushtable.table.profile import Profile
from hushtable.table.schema import Schema
from hushtable.table.table import Table

if TYPE_CHECKING:
    import pandas as pd

PUBLIC = (Release, Guarantee, Recipe)
"""What may be shown to anybody; a table, a schema that was drafted from one, and all findings come from raw rows."""
ROWS, COLUMNS, LINES = 5, 8, 12
"""So many rows and columns of a release, and lines of findings or cells, are shown."""

_STYLE = Html(
    ".hush{font:14px/1.5 system-ui,sans-serif;color:inherit;max-width:60rem}.hush table{border-collapse:collapse;margin:.4em 0}"
    ".hush th,.hush td{text-align:left;vertical-align:top;padding:.2em 1em .2em 0;border-bottom:1px solid rgba(128,128,128,.35)}"
    ".hush caption{text-align:left;opacity:.75}"
    ".hush .num{text-align:right}.hush .scroll{overflow-x:auto}.hush .soft{opacity:.75}.hush p{margin:.3em 0}"
    ".hush .badge{border:1.5px solid currentColor;border-radius:1em;padding:0 .6em;white-space:nowrap}"
    ".hush dl{margin:.4em 0}.hush dt{font-weight:600}.hush dd{margin:0 0 .3em 1.2em}.hush h4{margin:0;font-size:1.1em}"
)


@dataclass(frozen=True)
class Fragment:
    """Something as a notebook shows it; as text, what ``repr`` says of it."""

    html: str
    text: str

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        """The short text, for consoles."""
        return self.text


def show(thing: object, path: str | Path | None = None) -> Fragment:
    """A fragment for a notebook; with a path, the standalone page is written there too.

    A release, its guarantee and a recipe may be shown to anybody. All else is taken from raw rows: only its owner can read the
    file, and it is not for publication. InputError if there is nothing to show of such a thing.
    """
    shown = Fragment(fragment(thing), repr(thing))
    if path is not None:
        refuse_existing(Path(path))
        with whole_file(Path(path), private=not isinstance(thing, PUBLIC)) as partial:
            partial.write_text(_page(thing), encoding="utf-8")
    return shown


def fragment(thing: object) -> str:
    """The markup of one thing, style included."""
    return element("div", element("style", _STYLE), _body(thing), class_="hush")


def methods(kind: str = "recipes") -> pd.DataFrame:
    """What there is, as a frame: ``recipes`` with the best evidence a release of each can have, ``steps`` or ``audits``.

    >>> import hushtable as ht
    >>> ht.methods().loc["mdav", "evidence"]
    'verified'
    >>> ht.methods("steps").loc["rank-swap", "knobs"]
    'p, columns'
    """
    import pandas as pd

    makers: dict[str, Callable[[], list[dict[str, str]]]] = {
        "recipes": _recipe_lines,
        "steps": lambda: _lines(registry.steps()),
        "audits": lambda: _lines(registry.audits()),
    }
    if kind not in makers:
        raise InputError(f"expected one of {', '.join(makers)}, got {kind!r}", where="methods")
    return pd.DataFrame(makers[kind]()).set_index("name")


def _recipe_lines() -> list[dict[str, str]]:
    return [
        {"name": r.recipe, "family": name, "title": r.title, "evidence": str(r.assurance), "guarantee": r.guarantee}
        for name, members in by_family().items()
        for r in members
    ]


def _lines(known: Mapping[str, str]) -> list[dict[str, str]]:
    classes = {name: registry.load(target) for name, target in known.items()}
    return [
        {
            "name": name,
            "summary": (kind.__doc__ or "").strip().splitlines()[0],
            "knobs": ", ".join(k for k, _ in recipes.defaults(kind)),
        }
        for name, kind in classes.items()
    ]


def _body(thing: object) -> Html:
    for kind, make in _MAKERS:
        if isinstance(thing, kind):
            return make(thing)
    raise InputError(f"nothing is known about how to show a {type(thing).__name__}", where="show")


def _page(thing: object) -> str:
    if isinstance(thing, Release):
        return card_page(Card.from_json(thing.card()))
    if isinstance(thing, AuditReport):
        return thing.page()
    if isinstance(thing, Comparison):
        return thing.page()
    if isinstance(thing, Profile):
        return profile_page(thing)
    title = type(thing).__name__
    sections = [Section("shown", title, _body(thing))]
    if isinstance(thing, PUBLIC):
        return whole_page(title=title, head=element("h1", title), sections=sections, kind="public")
    return whole_page(title=f"INTERNAL {title}", head=element("h1", title), sections=sections, kind="internal", running=INTERNAL)


def _table(shown: Table) -> Html:
    head = f"Table: {number(shown.rows)} rows, {number(len(shown.schema))} columns"
    return join(
        element("h4", head), element("p", "Rows are not shown: they may be private.", class_="soft"), _columns(shown.schema)
    )


def _schema(schema: Schema) -> Html:
    return join(element("h4", f"Schema: {number(len(schema))} columns"), _columns(schema))


def _columns(schema: Schema) -> Html:
    rows = [[element("code", c.name), str(c.kind), str(c.role), _domain(c)] for c in schema]
    notes = element("details", element("summary", "Drafted from the rows: check it"), [element("p", note) for note in schema.notes])
    return join(notes if schema.notes else None, table(["column", "kind", "role", "domain"], rows, label="Columns"))


def _domain(column: Column) -> str:
    """What the domain is; what was read off the rows is counted, not shown."""
    if column.domain is None:
        return "none"
    if column.generalized:
        return "generalized cells"
    if isinstance(column.domain, Bounds):
        if column.observed:
            return "bounds read off the rows"
        return f"{column.write(column.domain.low)} to {column.write(column.domain.high)}"
    return f"{number(len(column.levels))} levels{', read off the rows' if column.observed else ''}"


def _profile(profile: Profile) -> Html:
    return join(element("h4", f"Profile: {number(profile.rows)} rows, {number(len(profile.columns))} columns"), profiled(profile))


def _preflight(preflight: Preflight) -> Html:
    private = "Computed from the raw rows: not for publication."
    lines = [element("p", line) for line in preflight.sentences()]
    return join(element("h4", f"Preflight of {preflight.recipe}"), lines, element("p", private, class_="soft"))


def _evaluation(evaluation: Evaluation) -> Html:
    return join(element("h4", "One choice of levels"), evaluated(evaluation))


def _release(release: Release) -> Html:
    stated, table = StatedGuarantee.of(release.guarantee), release.table
    first, *_ = stated.sentences()
    head = f"Release by {release.recipe.recipe}: {number(table.rows)} rows, {number(len(table.schema))} columns"
    exposed = [element("p", element("strong", "But: "), line) for line in release.exposed]
    return join(element("h4", head), promise.badge(stated.assurance), exposed, element("p", first), _first_rows(table))


def _first_rows(released: Table) -> Html:
    names = released.schema.names[:COLUMNS]
    top = released.select(names).take(slice(0, ROWS))
    cells = [[shortened(text) if text is not None else "" for text in top.strings(name)] for name in names]
    more = len(released.schema) - len(names)
    rest = f"The first {number(top.rows)} released rows" + (f"; {number(more)} more columns." if more else ".")
    return join(table(names, zip(*cells, strict=True), label="Released rows"), element("p", rest, class_="soft"))


def _guarantee(guarantee: Guarantee) -> Html:
    return join(element("h4", "Guarantee"), promise.badge(guarantee.assurance), pairs(guarantee.sentences()))


def _recipe(recipe: Recipe) -> Html:
    steps = [element("li", element("code", step_name(step)), _turned(step)) for step in recipe.steps]
    facts = [("Promises at best", recipe.guarantee), ("Source", recipe.cite), ("Its source reports", recipe.reports)]
    title = f"Recipe {recipe.recipe}" + (f": {recipe.title}" if recipe.title else "")
    return join(element("h4", title), element("ol", steps), pairs((head, text) for head, text in facts if text))


def _turned(step: Any) -> str:
    """The knobs whose values are not the defaults."""
    fresh = dict(recipes.defaults(type(step)))
    changed = [f"{name} = {getattr(step, name)}" for name, value in fresh.items() if getattr(step, name) != value]
    return f" ({', '.join(changed)})" if changed else ""


def _finding(finding: Finding) -> Html:
    return join(element("h4", finding.label), _findings([finding]), element("p", finding.note))


def _findings(findings: list[Finding]) -> Html:
    gains = any(f.gain for f in findings)
    rows: list[list[Child]] = [
        [
            f.label, *([_gained(f)] if gains else []), shown.value(f), shown.interval(f), shown.baseline(f),
            shown.verdict_words(f),
        ]
        for f in findings
    ]  # fmt: skip
    heads = ["finding", *(["more hit of 100 (95 % interval)"] if gains else []), "value", "95 % interval", "baseline", "verdict"]
    return table(heads, rows, label="Findings", numbers=range(1, 5 if gains else 4))


def _gained(finding: Finding) -> str:
    return f"{shown.gained(finding)} ({shown.gained_between(finding)})" if finding.gain else ""


def _audit(report: AuditReport) -> Html:
    worst = [f for f in (worst_of(report.findings, risk) for risk in Risk) if f is not None]
    whole = [f for f in report.findings if f.subject is Subject.UTILITY and not f.scope and f.value is not None]
    first = [*worst, *whole[: LINES - len(worst)]]
    rows = ", ".join(f"{number(count)} {name}" for name, count in report.rows.items())
    private = "Computed from the raw rows: not for publication."
    conditions = [[gate.expression, "holds" if gate.holds else "fails", gate.reason] for gate in report.gates]
    return join(
        element("h4", f"{'Audit' if worst else 'Utility'}: {report.summary}"),
        element("p", f"{rows} rows. {private}", class_="soft"),
        table(["condition", "decision", "by"], conditions, label="Conditions") if conditions else None,
        _findings(first) if first else None,
        element("p", f"{number(len(report.findings))} findings in all.", class_="soft"),
    )


def _comparison(comparison: Comparison) -> Html:
    advice = comparison.recommendation
    largest = "gain of attacks, at most" if comparison.by_gain else "largest risk (upper bound)"
    heads = ["rank", "release", "evidence", comparison.axis.label, largest, "fits"]
    return join(
        element("h4", f"Comparison of {number(len(comparison.cells))} releases"),
        [element("p", words) for words in (*advice.words, *(f"Before you decide: {caveat}" for caveat in advice.caveats[:1]))],
        table(heads, [_cell(cell) for cell in comparison.cells[:LINES]], label="Ranked releases", numbers=[0, 3, 4]),
        element("p", "Computed from the raw rows: not for publication.", class_="soft"),
    )


def _cell(cell: Cell) -> list[Child]:
    shape, _ = promise.ASSURANCES[cell.assurance]
    fits = cell.failed or ("yes" if cell.fits else "; ".join(map(str, cell.misses)))
    score = cell.score.value if cell.score else None
    risk = cell.worst.upper if cell.worst else None
    return [number(cell.rank), cell.id, f"{shape} {cell.assurance}", number(score), share(risk), fits]


_MAKERS: tuple[tuple[type, Callable[[Any], Html]], ...] = (
    (Table, _table),
    (Schema, _schema),
    (Profile, _profile),
    (Preflight, _preflight),
    (Evaluation, _evaluation),
    (Release, _release),
    (Guarantee, _guarantee),
    (Recipe, _recipe),
    (AuditReport, _audit),
    (Comparison, _comparison),
    (Finding, _finding),
)
