"""A first draft of a schema, from the rows: kinds, missing codes, identifiers, likely quasi-identifiers.

A draft is for a person to check. All of it is marked ``observed``, because it was read off private rows: not only which values
there are, but also that a column holds numbers, with how many decimals, or that a question mark means a missing value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hushtable.table import naming, roles
from hushtable.table.arrays import Integers
from hushtable.table.columns import DRAFTED, FREE, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.values import Raw, Source, make

MISSING_TEXTS = frozenset({"?", "NA", "N/A", "n/a", "#N/A", "nan", "NaN", "NULL", "null", "<NA>", "."})
_DAYS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y")
DATE_FORMATS = (
    *(None, *_DAYS),
    *(f"%Y-%m-%d{between}{clock}" for clock in ("%H:%M:%S", "%H:%M") for between in (" ", "T")),
    *(f"{day} {clock}" for clock in ("%H:%M:%S", "%H:%M") for day in _DAYS),
)
SENTINELS = ("-1", "-7", "-8", "-9", "-99", "-999", "-9999", "99999", "999999")
SCALES = (
    ("very low", "low", "medium", "high", "very high"),
    ("low", "moderate", "high"),
    ("mild", "moderate", "severe"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("very poor", "poor", "fair", "good", "very good", "excellent"),
    ("small", "medium", "large"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
)


@dataclass(frozen=True)
class _Profile:
    """What the draft needs to know about one raw column."""

    name: str
    words: tuple[str, ...]
    counts: Integers
    rows: int

    @property
    def distinct_share(self) -> float:
        return len(self.words) / max(1, int(self.counts.sum()))

    @property
    def answers(self) -> bool:
        return {word.lower() for word in self.words} <= roles.ANSWERS

    def matches(self, pattern: re.Pattern[str]) -> bool:
        return naming.matches(self.name, pattern)


def infer(names: Sequence[str], source: Source) -> Schema:
    """Draft a schema; its ``notes`` say what a person should check."""
    codes: set[str] = set()
    profiles = []
    for name in names:
        raw = Raw.of(source(name))
        counts = np.bincount(raw.codes[raw.codes >= 0], minlength=len(raw.words))
        blank = {word for word in raw.words if word in MISSING_TEXTS}
        codes |= blank
        present = [i for i, word in enumerate(raw.words) if word and word not in blank]
        profiles.append(_Profile(name, tuple(raw.words[i] for i in present), counts[present], len(raw.codes)))
    columns = [_draft(profile) for profile in profiles]
    schema = Schema(tuple(columns), tuple(sorted(codes, key=lambda code: (code != "?", code))))
    table = make(schema, names, source)
    proposed = roles.propose(table)
    drafted = []
    for column in table.schema:
        required = column.kind not in FREE and not table.missing(column.name).any()
        drafted.append(replace(column, required=required, role=proposed[column.name].role, drafted=DRAFTED))
    drawn = replace(table.schema, columns=tuple(drafted), drafted=True)
    notes = roles.notes(table, proposed)
    notes += [
        note
        for profile, column in zip(profiles, columns, strict=True)
        for note in (*_hidden(profile, column), *_sentinels(profile, column))
    ]
    return replace(drawn, notes=(*HEAD, *notes))


HEAD = (
    "Drafted from the data: please check kinds and roles. Roles: identifier (dropped), quasi (known to others),",
    "secret (to be kept private), target (to be predicted), plain.",
    "'observed: true' marks a line read off the rows. A privacy budget is refused until you declare what is public knowledge:",
    "remove the marks, or let 'hush schema THIS-FILE --declare' remove them all once you have read every line.",
)


def _draft(profile: _Profile) -> Column:
    if _identifies(profile):
        return Column(name=profile.name, kind=Kind.KEY)
    kind, extra = _kind(profile)
    if kind in (Kind.CATEGORY, Kind.KEY) and profile.matches(naming.SPOKEN) and not profile.answers:
        kind, extra = Kind.TEXT, {}
    return Column(name=profile.name, kind=kind, **extra)  # type: ignore[arg-type]


def _identifies(profile: _Profile) -> bool:
    """By its name alone: a name that many share is a name all the same."""
    return naming.names_people(profile.name) and not profile.answers


def _hidden(profile: _Profile, column: Column) -> list[str]:
    if not profile.words:
        return [f"Column {profile.name} has no value at all: drafted as text, which is left out. Declare it if it may have values."]
    if column.kind is Kind.TEXT:
        return [f"Column {profile.name} seems to be free text, in which anything may stand: it is never released."]
    if _identifies(profile):
        return [f"Column {profile.name} seems to say who somebody is: drafted as an identifier, which is dropped."]
    if column.kind is Kind.KEY and all(_MOMENT.match(word) for word in profile.words):
        reason = "seems to hold dates in a form that is not read, and is dropped"
        return [f"Column {profile.name} {reason}: write them like 2024-01-31 or 2024-01-31 07:00, without a zone."]
    if column.kind is Kind.KEY:
        return [f"Column {profile.name} has almost as many values as rows: drafted as a key, which is dropped."]
    return []


def _kind(profile: _Profile) -> tuple[Kind, dict[str, object]]:
    words = profile.words
    if not words:
        # A level would be invented, and released as if somebody had it.
        return Kind.TEXT, {}
    if all(_WHOLE.match(word) for word in words):
        return _whole_kind(profile), {}
    if all(_REAL.match(word) and np.isfinite(float(word)) for word in words) and not all(_DIGITS.match(word) for word in words):
        if all(float(word).is_integer() and abs(float(word)) < 2**53 for word in words):
            return Kind.INTEGER, {}
        decimals = max((len(word.partition(".")[2]) for word in words), default=0)
        exponents = any("e" in word.lower() for word in words)
        return Kind.REAL, {} if exponents or decimals > 6 else {"decimals": decimals}
    for form in DATE_FORMATS:
        if _all_dates(words, form):
            return Kind.DATE, {} if form is None else {"format": form}
    for scale in SCALES:
        if len(words) > 2 and {w.lower() for w in words} <= set(scale):
            return Kind.ORDINAL, {"domain": Levels(tuple(sorted(words, key=lambda w: scale.index(w.lower()))), observed=True)}
    if len(words) > 20 and profile.distinct_share > 0.2 and np.average([word.count(" ") for word in words]) >= 3:
        return Kind.TEXT, {}
    return (Kind.KEY if len(words) > 20 and profile.distinct_share > 0.5 else Kind.CATEGORY), {}


_MOMENT = re.compile(r"^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})([ T]\d|\Z)", re.ASCII)
_WHOLE = re.compile(r"^[-+]?\d{1,18}\Z", re.ASCII)
_REAL = re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\Z", re.ASCII)
# Longer than any integer we hold: account numbers and the like, which a float would change.
_DIGITS = re.compile(r"^[-+]?\d+\Z", re.ASCII)


def _whole_kind(profile: _Profile) -> Kind:
    words = profile.words
    padded = any(len(word.lstrip("+-")) > 1 and word.lstrip("+-").startswith("0") for word in words)
    unique = profile.distinct_share > 0.98 and len(words) > 20
    if unique:
        numbers = [int(word) for word in words]
        dense = max(numbers) - min(numbers) < 1.5 * len(words)
        if padded or dense or profile.matches(naming.IDENTIFIER):
            return Kind.KEY
    if padded or len(words) <= 2 or profile.matches(naming.CODE):
        return Kind.CATEGORY
    return Kind.INTEGER


def _all_dates(words: Sequence[str], form: str | None) -> bool:
    column = Column(name="", kind=Kind.DATE, format=form)
    try:
        for word in words:
            if len(word) < 8:
                return False
            column.number(word)
    except ValueError:
        return False
    return form is not None or all(len(word) == 10 for word in words)


def _sentinels(profile: _Profile, column: Column) -> list[str]:
    """A lone extreme code such as -8 among positive numbers is probably a missing value in disguise."""
    if column.kind not in (Kind.INTEGER, Kind.REAL):
        return []
    values = np.array([float(word) for word in profile.words])
    codes = []
    for code in SENTINELS:
        if float(code) in values:
            rest = values[values != float(code)]
            lone = len(rest) > 2 and (rest.min() >= 0 if float(code) < 0 else rest.max() < float(code) / 9)
            if lone:
                codes.append(code)
    return [
        f"Column {profile.name}: {code} may mean a missing value; if so, add missing: ['{code}'] to it, and mend its "
        "domain and 'required'."
        for code in codes
    ]
