"""The public card of a release as a page. It holds what the card holds, and what its words mean, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.display import listed
from hushtable.pipeline.card import Card
from hushtable.report import budget, gist, promise
from hushtable.report.charts import ladders, training
from hushtable.report.html import Child, Html, Section, element, join, page, pairs, table
from hushtable.report.words import number, runs, sentence, share

CRITERIA = {
    "k": "at least this many rows look alike, whatever combination of the columns above one takes",
    "classes": "groups of rows that look alike",
    "unique_share": "share of the rows that are alone in their group",
    "marketer_risk": "share of the rows that somebody who links every person to a row of their group gets right on average",
}
BY_PERSONS = {
    "k": "the rows that look alike, whatever combination of the columns above one takes, are those of at least this many persons",
    "unique_share": "share of the persons who are alone in their group",
    "marketer_risk": "share of the persons whom somebody who links every person to one of their group gets right on average",
    "largest_share": "the largest share of a group's rows that one person holds: a guess whose rows these are is right so often",
}
SECRETS = {
    "l_distinct": "at least this many different values in every group, missing not counted; at 1 some group gives its value away",
    "l_entropy": "the values of every group are spread at least like this many equally frequent ones",
    "l_recursive_c2": "the most frequent value of a group is rarer than twice all values from the l-th most frequent on together",
    "t": "the largest distance between the values of a group and those of the whole table: 0 is alike, 1 as different as can be",
    "t_distance": "how t measures distance: equal counts all changes alike, ordered counts how far values move",
}


def card_page(card: Card) -> str:
    """A card, with or without hashes, as one standalone page."""
    day = f", {card.date}" if card.date else ""
    return page(title=f"{heading(card)}{day}: release card", head=card_head(card), sections=card_sections(card), kind="public")


def card_sections(card: Card) -> list[Section]:
    """The parts of the page, below its head."""
    return [
        Section("meaning", "What holds, and what would break it", explanation(card)),
        Section("criteria", "Measured on the table", criteria(card)),
        Section("budget", "Privacy budget", budget.section(card), gist.of_budget(card)),
        Section("chosen", "What the recipe chose", _chosen(card), _steps_chosen(card)),
        Section("table", "The table", _table(card), sentence(_size(card))),
        Section("made", "How it was made", _origin(card), f"Steps, source and versions of the recipe {card.recipe or 'unnamed'}."),
        Section("verify", "How to verify", _verify(card)),
    ]


def heading(card: Card) -> str:
    """What a release calls itself."""
    return card.name or "Untitled recipe"


def _size(card: Card) -> str:
    return f"{number(card.rows)} rows, {number(len(card.columns))} column{'' if len(card.columns) == 1 else 's'}"


def card_head(card: Card, level: str = "h1") -> Html:
    """What stands above all parts: what the release is, and what is promised. ``level`` is that of its title."""
    first, *more = card.stated.sentences()
    size = _size(card)
    caution = " ".join(sentence(line) for line in cautions(card))
    return join(
        element("p", f"Release card{f', {card.date}' if card.date else ''}", class_="eyebrow"),
        element(level, heading(card)),
        element("p", f"{size}, made with the recipe ", element("code", card.recipe or "unnamed"), class_="soft"),
        element("p", whom(card), class_="soft") if whom(card) else None,
        element(
            "div",
            element("p", "What is promised", class_="eyebrow"),
            promise.badge(card.stated.assurance),
            [element("p", element("strong", "But: "), line, class_="exposed") for line in card.exposed],
            element("p", first, class_="promise"),
            [element("p", line, class_="also") for line in more],
            element("p", card.stated.in_symbols(), class_="soft"),
            element("p", element("strong", "Caution: "), caution, class_="caution") if caution else None,
            class_=f"statement {card.stated.assurance}",
        ),
    )


def whom(card: Card) -> str:
    """Whom to ask, under which terms the release may be used and for what, as far as the card says."""
    given = (("Contact", card.contact), ("Licence", card.licence), ("Purpose", card.purpose))
    return " ".join(f"{name}: {text.removesuffix('.')}." for name, text in given if text)


def cautions(card: Card) -> list[str]:
    """What a reader must know before using the table."""
    return [*card.notes, *card.caveats]


def explanation(card: Card) -> Html:
    """What holds and what would break it, as the guarantee itself explains it."""
    grouped: dict[str, list[str]] = {}
    for head, line in card.explanation:
        grouped.setdefault(head, []).append(line)
    if card.notes:
        grouped["Caution"] = [f"{note.rstrip('.')}." for note in card.notes]
    if not grouped:
        return element("p", "The card gives no explanation.")
    return pairs((head, _few(lines)) for head, lines in grouped.items())


def _few(lines: Sequence[str]) -> Html:
    return element("p", lines[0]) if len(lines) == 1 else element("ul", [element("li", line) for line in lines])


def criteria(card: Card) -> Html:
    """k, l and t as measured on the table, each with its meaning, and the rows that were suppressed to reach them."""
    measured = card.criteria
    if not measured:
        return element("p", "No criterion (k, l, t) was measured on this table.")
    quasi = [str(c) for c in measured.get("quasi") or []]
    rows = [[_criterion_name(name), _criterion(name, measured[name]), meaning] for name, meaning in meanings(measured).items()]
    rows += [list(line) for line in suppression(card)]
    parts = [
        element("p", "Columns that an outsider may know: ", element("strong", listed(quasi)), "."),
        element("p", counted_by(measured)),
        table(["Criterion", "Value", "What it means"], rows, label="Criteria", numbers=[1], class_="criteria"),
    ]
    secrets = measured.get("secrets") or {}
    for secret, values in secrets.items():
        rows = [[_criterion_name(str(name)), number(value), secret_meaning(str(name), value)] for name, value in values.items()]
        parts.append(element("h3", "Within the groups: ", element("code", str(secret))))
        parts.append(
            table(["Criterion", "Value", "What it means"], rows, label=f"Criteria of {secret}", numbers=[1], class_="criteria")
        )
    return join(parts)


def secret_meaning(name: str, value: object) -> str:
    """What a criterion of a secret means. At 0 there is no value to hide: that is another disclosure than at 1."""
    if name == "l_distinct" and value == 0:
        return (
            "in some group, or in the whole table, all values are missing: no value is given away there, but that it is missing is"
        )
    return SECRETS.get(name, "")


def meanings(measured: Mapping[str, Any]) -> dict[str, str]:
    """What each criterion that was measured means, by rows or by persons."""
    known = CRITERIA | (BY_PERSONS if measured.get("counted") == "persons" else {})
    return {name: meaning for name, meaning in known.items() if name in measured}


def suppression(card: Card) -> list[tuple[str, str, str]]:
    """The rows that were suppressed, as a line of the criteria: name, value and meaning. None where the card does not say."""
    gone = card.suppressed
    if gone is None:
        return []
    left = f"{number(gone.left_out)} left out of the table"
    stars = f"{number(gone.starred)} in it with every column above hidden (*), together one of the groups"
    meaning = f"{left}, {stars}" if gone.rows else "no row was left out, and none has all columns above hidden (*)"
    return [("suppressed rows", number(gone.rows), meaning)]


def counted_by(measured: Mapping[str, Any]) -> str:
    """Whom the criteria count, and how much of that the file alone can show."""
    if measured.get("counted") != "persons":
        return "Rows are counted, not persons: k rows are k people only where each person holds one row."
    k = number((measured.get("by_rows") or {}).get("k"))
    return (
        f"Persons are counted. The file does not say who holds which rows, so only k = {k}, counted by rows, can be measured on it."
    )


def _criterion_name(name: str) -> str:
    return {
        "l_recursive_c2": "l, recursive",
        "l_distinct": "l, distinct",
        "l_entropy": "l, entropy",
    }.get(name, name.replace("_", " "))


def _criterion(name: str, value: object) -> str:
    if name in ("unique_share", "marketer_risk", "largest_share") and isinstance(value, (int, float)):
        return share(value)
    return number(value)


def _steps_chosen(card: Card) -> str:
    return f"What {listed(list(card.result), 3)} found or chose." if card.result else "Nothing beyond the recipe itself."


def _chosen(card: Card) -> Html:
    if not card.result:
        return element("p", "Nothing beyond the recipe itself.")
    columns = set(card.columns)
    return join(
        [join(element("h3", "Step ", element("code", step)), _step(values, columns)) for step, values in card.result.items()]
    )


def _step(values: object, columns: set[str]) -> Child:
    """What a step chose: a generalization and the training of a network as pictures, anything else as it is."""
    for drawn, picture, keys in (
        (ladders.is_generalization, ladders.section, ("columns", "search")),
        (training.is_training, training.section, (training.KEY,)),
    ):
        if drawn(values):
            assert isinstance(values, Mapping)
            rest = {name: value for name, value in values.items() if name not in keys}
            return join(picture(values), _value(rest, columns) if rest else None)
    return _value(values, columns)


def _value(value: object, columns: set[str]) -> Child:
    """Any JSON value for reading: mappings as lists of terms, lists in a row, numbers short. Column names stay as they are."""
    if isinstance(value, Mapping):
        terms = [(str(k) if str(k) in columns else str(k).replace("_", " "), _value(v, columns)) for k, v in value.items()]
        plain = all(not isinstance(v, (Mapping, list)) for v in value.values())
        return pairs(terms, "facts short" if plain else "facts") if terms else "none"
    if isinstance(value, list):
        if any(isinstance(item, (Mapping, list)) for item in value):
            return element("ul", [element("li", _value(item, columns)) for item in value])
        return runs(value) or "none"
    return number(value)


def _table(card: Card) -> Html:
    return pairs(
        [
            ("Rows", number(card.rows)),
            ("Columns", _names(card.columns)),
            ("Left out", _names(card.dropped) if card.dropped else "no column"),
            *([("Unchanged", _names(card.untouched.columns))] if card.untouched else []),
        ]
    )


def _names(names: Sequence[str]) -> Child:
    return element("ul", [element("li", element("code", name)) for name in names], class_="names") if names else "none"


def _origin(card: Card) -> Html:
    steps = element("ol", [element("li", element("code", step)) for step in card.steps], class_="names")
    versions = [[name, version] for name, version in card.versions.items()]
    return join(
        pairs(
            [
                ("Recipe", element("code", card.recipe)),
                ("Steps", steps),
                ("Source", card.cite or "none given"),
            ]
        ),
        element("details", element("summary", "Versions"), table(["Software", "Version"], versions, label="Versions"))
        if versions
        else None,
    )


def _verify(card: Card) -> Html:
    hashes = [[name, element("code", digest)] for name, digest in card.hashes.items()]
    return join(
        element("p", "Anybody who holds the release folder can check it against this card; the raw rows are not needed:"),
        element("pre", element("code", "hush verify FOLDER")),
        element(
            "p",
            "It compares the files with their hashes, counts the rows, measures the criteria again, adds up the ledger again, "
            "plans the recipe again, and names what the folder cannot show. A signature (card.sig) shows who made the card.",
        ),
        element("details", element("summary", "SHA-256 of the files"), table(["File", "Hash"], hashes, label="Hashes"))
        if hashes
        else None,
    )
