"""A profile as markup, and as a page for whoever holds the rows."""

from __future__ import annotations

from collections.abc import Sequence

from hushtable.display import listed
from hushtable.report.html import INTERNAL, Html, Section, element, join, page, table
from hushtable.report.words import number, share
from hushtable.table.profile import ColumnProfile, Profile
from hushtable.table.singling import Singling
from hushtable.table.uniqueness import ColumnRisk, Headline


def profile_page(profile: Profile) -> str:
    """One standalone page; not for publication."""
    head = join(
        element("p", "Profile of a table", class_="eyebrow"),
        element("h1", "Who can be singled out by what"),
        element("p", f"{number(profile.rows)} rows, {number(len(profile.columns))} columns. {PRIVATE}", class_="soft"),
    )
    sections = [
        Section("sets", "The smallest sets of columns that single people out", sets(profile)),
        Section("columns", "Columns", columns(profile)),
    ]
    return page(title="INTERNAL Profile", head=head, sections=sections, kind="internal", running=INTERNAL)


PRIVATE = "Read off the raw rows: for you alone, not for publication."


def profiled(profile: Profile) -> Html:
    """All of a profile for a notebook."""
    return join(element("p", PRIVATE, class_="soft"), sets(profile), columns(profile))


def sets(profile: Profile) -> Html:
    """For each share of the people the smallest sets of columns, with and without numbers that hardly recur."""
    parts = [
        element("p", f"All columns together single out {share(profile.alone)} of the {whom(profile)}."),
        _sets(profile.singling, "Of all columns"),
    ]
    if profile.recurring != profile.singling:
        hidden = "Without columns that nearly are keys, and without amounts: numbers whose values hardly recur"
        parts.append(_sets(profile.recurring, hidden))
    return join(parts)


def _sets(found: Sequence[Singling], label: str) -> Html:
    return table(["Singled out", "Columns", "Share", "Smallest"], set_rows(found), label=label, numbers=[0, 2])


def set_rows(found: Sequence[Singling]) -> list[list[str]]:
    """A line for each set: the share asked for, its columns, the share they single out, and whether no smaller set does."""
    rows = []
    for one in found:
        asked = f"at least {share(one.share)}"
        if not one.sets:
            rows.append(
                [asked, "no set of columns" if one.proven else "none was found", "", "proven" if one.proven else "not proven"]
            )
        for number_, columns in enumerate(one.sets):
            proven = "proven" if one.proven else "found, not proven"
            rows.append(["" if number_ else asked, ", ".join(columns.columns), share(columns.share), "" if number_ else proven])
    return rows


def columns(profile: Profile) -> Html:
    """A line for each column."""
    return table(HEADS, [column_row(column) for column in profile.columns], label="Columns", numbers=[3, 4, 5])


HEADS = ["column", "kind", "role", "missing", "distinct", "alone", "follows from"]


def column_row(column: ColumnProfile) -> list[str]:
    """What a line says of a column."""
    follows = [
        f"{f.source}{' (and back)' if f.both else ''}{'' if f.share == 1 else f' ({share(f.share)})'}" for f in column.follows
    ]
    return [
        column.name, str(column.kind), str(column.role), share(column.missing), number(column.distinct), share(column.alone),
        ", ".join(follows),
    ]  # fmt: skip


def whom(profile: Profile) -> str:
    """Whom the shares count."""
    return "people" if profile.people != profile.rows else "rows"


RISKS = ["column", "alone", "adds", "follows from"]


def risk_row(risk: ColumnRisk) -> list[str]:
    """What a line says of the risk that a column adds."""
    return [risk.name, share(risk.alone), share(risk.adds), ", ".join(follows.source for follows in risk.follows)]


def headline(found: Headline) -> list[str]:
    """Whom the quasi-identifiers single out, and whom the columns beside them do, in sentences."""
    people = "people" if found.people != found.rows else "rows"
    if not found.quasi:
        lines = ["No column is a quasi-identifier."]
    else:
        lines = [f"{share(found.alone)} of the {people} are unique by {listed(found.quasi)}."]
        if found.half.sets:
            lines.append(f"Half of that is done by {listed(found.half.sets[0].columns)}.")
    if found.others_alone:
        beside = f"All other columns together single out {share(found.others_alone)}"
        lines.append(
            f"{beside}, half of that {listed(found.others_half.sets[0].columns)}." if found.others_half.sets else f"{beside}."
        )
    if found.near_keys:
        one = len(found.near_keys) == 1
        lines.append(f"{listed(found.near_keys)} {'singles' if one else 'each single'} out a fifth of the {people} alone.")
    return lines
