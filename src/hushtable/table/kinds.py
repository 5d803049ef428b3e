"""How the drafter tells the kind of a column from its name and its distinct values, and why.

The rule where it cannot be sure: what is wrong must do no harm. Whole numbers that may be codes are a category only where their
name or their shape says so; a scale of a few steps is ordinal; everything else stays a number, whose order is kept.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hushtable.table import naming
from hushtable.table.arrays import Integers
from hushtable.table.columns import Column, Kind, Levels
from hushtable.table.numbers import NumberFormat
from hushtable.table.roles import ANSWERS

_DAYS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%Y.%m.%d")
_NAMED_DAYS = (
    "%d %b %Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%d-%b-%Y",
    "%d%b%Y",
    "%d/%m/%y",
    "%m/%d/%y",
    "%d.%m.%y",
    "%d-%b-%y",
)
_CLOCKS = ("%H:%M:%S", "%H:%M", "%H:%M:%S.%f")
_ZONES = ("", "Z", "%z", " %z")
DATE_FORMATS = (
    *(None, *_DAYS, *_NAMED_DAYS),
    *(f"%Y-%m-%d{between}{clock}{zone}" for zone in _ZONES for clock in _CLOCKS for between in (" ", "T")),
    *(f"{day} {clock}" for clock in (*_CLOCKS, "%I:%M %p", "%I:%M:%S %p") for day in _DAYS),
)
SCALES = (
    ("very low", "low", "medium", "high", "very high"),
    ("low", "moderate", "high"),
    ("mild", "moderate", "severe"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("very poor", "poor", "fair", "good", "very good", "excellent"),
    ("small", "medium", "large"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
)
PLACEHOLDERS = frozenset(
    {
        *("n", "na", "n.a.", "n/a", "none", "null", "nan", "nil", "nd", "n.d.", "k.a.", "k. a.", "dk", "x", "xx", "xxx", "s/o"),
        *("-", "--", "---", ".", "..", "...", "*", "**", "#", "?", "??", "(missing)", "(blank)", "(null)"),
        *(
            "missing",
            "unknown",
            "unk",
            "unspecified",
            "undefined",
            "unavailable",
            "blank",
            "empty",
            "invalid",
            "refused",
            "declined",
        ),
        *("not available", "not applicable", "not known", "not stated", "not recorded", "not asked", "not reported", "no answer"),
        *("no data", "lack of data", "prefer not to say", "don't know", "do not know"),
        *("unbekannt", "fehlt", "keine angabe", "nicht bekannt", "sans objet"),
    }
)
"""What people write where there is no number, in lower case."""
_CURRENCIES = r"(?:[€$£¥₹₽₩₺%‰]|EUR|USD|GBP|CHF|JPY|PLN|CZK|SEK|NOK|DKK|kr|zł|Fr\.?|Rs\.?|DM)"
_AFFIXED = re.compile(rf"(?P<prefix>{_CURRENCIES}\s?)?(?P<number>[-+−]?[\d.,'’\s\u00a0\u202f]*\d)(?P<suffix>\s?{_CURRENCIES})?")
_WHOLE = re.compile(r"[-+]?\d{1,18}", re.ASCII)
_POINTED = re.compile(r"[-+]?\d{1,15}\.0*", re.ASCII)
_REAL = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
# Longer than any integer we hold: account numbers and the like, which a float would change.
_DIGITS = re.compile(r"[-+]?\d+", re.ASCII)
_MOMENT = re.compile(r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})([ T]\d.*)?", re.ASCII)

FEW = 30
"""Whole numbers of so many values at most can be a short list of codes."""
STEPS = 8
"""Whole numbers of so many values at most can be a scale."""
PANEL = 50
"""So many whole numbers at least that all stand equally often, more than once, number people of whom each has as many rows."""
UNIQUE = 0.98
"""The share of distinct values from which whole numbers count as unique."""
OFTEN = 3
"""A word that is no known code for missing must come so often to be taken for one."""
MOSTLY = 0.95
"""The share of rows with a number (or a date) from which a lone word beside them is a missing code."""


@dataclass(frozen=True)
class Words:
    """The distinct values of a raw column, missing codes left out, with their counts."""

    name: str
    words: tuple[str, ...]
    counts: Integers
    rows: int
    """Of the whole table."""

    @property
    def present(self) -> int:
        """Rows that have a value."""
        return int(self.counts.sum())

    @property
    def distinct_share(self) -> float:
        """Distinct values to a row."""
        return len(self.words) / max(1, self.present)

    @property
    def answers(self) -> bool:
        """Whether the values say whether there is something, not what."""
        return {word.lower() for word in self.words} <= ANSWERS

    @property
    def numbers(self) -> list[int]:
        """The values of whole numbers, written with or without a point."""
        return [int(word.partition(".")[0]) for word in self.words]

    def matches(self, pattern: re.Pattern[str]) -> bool:
        """Whether the name holds a word of the pattern."""
        return naming.matches(self.name, pattern)

    def without(self, words: Sequence[str]) -> Words:
        """The column without these values."""
        gone = frozenset(words)
        keep = [i for i, word in enumerate(self.words) if word not in gone]
        return replace(self, words=tuple(self.words[i] for i in keep), counts=self.counts[keep])


@dataclass(frozen=True)
class Guess:
    """A kind, the reason in a few words, and what else of the column follows."""

    kind: Kind
    reason: str
    facets: dict[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    """What a person should check; each continues 'Column x'."""
    weak: bool = False
    """Whether too few values spoke: columns of like name decide with it."""

    def column(self, name: str) -> Column:
        """The column that is drafted."""
        return Column(name=name, kind=self.kind, **self.facets)


def tell(column: Words) -> Guess:
    """The kind of a column; no value of it stands in the reason or the remarks but missing codes and marks of a format."""
    if naming.names_people(column.name) and not column.answers:
        return Guess(
            Kind.KEY,
            "says who, by its name",
            remarks=("seems to say who somebody is: drafted as an identifier, which is dropped.",),
        )
    guess = _by_values(column)
    if guess.kind in (Kind.CATEGORY, Kind.KEY) and column.matches(naming.SPOKEN) and not column.answers:
        guess = Guess(Kind.TEXT, "written by hand, by its name")
    if guess.kind is Kind.TEXT and column.words:
        guess = replace(guess, remarks=("seems to be free text, in which anything may stand: it is never released.",))
    return guess


def _by_values(column: Words) -> Guess:
    words = column.words
    if not words:
        # A level would be invented, and released as if somebody had it.
        why = "has no value at all: drafted as text, which is left out. Declare it if it may have values."
        return Guess(Kind.TEXT, "no values", remarks=(why,))
    guess = _number_or_date(column) or _beside_codes(column)
    if guess is not None:
        return guess
    for scale in SCALES:
        if len(words) > 2 and {w.lower() for w in words} <= set(scale):
            levels = tuple(sorted(words, key=lambda w: scale.index(w.lower())))
            return Guess(Kind.ORDINAL, "words of a known scale", {"domain": Levels(levels, observed=True)})
    many = len(words) > 20
    if many and column.distinct_share > 0.2 and np.average([word.count(" ") for word in words]) >= 3:
        return Guess(Kind.TEXT, "sentences that often differ")
    if column.matches(naming.PERSONAL_ID) and many:
        return _key(column, "its name, and many values")
    if many and column.distinct_share > 0.5:
        return _place(column) or _key(column, "nearly a value to a row")
    return Guess(Kind.CATEGORY, "words")


def _beside_codes(column: Words) -> Guess | None:
    """Numbers or dates beside a few words that mean a missing value; None if it is not that."""
    others = [word for word in column.words if not (_looks_numeric(word) or _MOMENT.fullmatch(word) or _REAL.fullmatch(word))]
    rest = column.without(others)
    if not others or len(rest.words) < 3 or len(rest.words) <= len(others):
        return None
    guess = _number_or_date(rest)
    if guess is None or guess.kind is Kind.KEY:
        return None
    known = all(word.lower() in PLACEHOLDERS for word in others)
    mostly = column.present >= 40 and rest.present >= MOSTLY * column.present
    # A code comes again. What stands once beside numbers may be anything, even a name, and is no code that a schema may show.
    codes = len(others) <= 3 and min(int(column.counts[column.words.index(word)]) for word in others) >= OFTEN
    if not known and not (mostly and codes and not any(map(_odd, others))):
        return _spoilt(column, rest) if mostly and guess.kind not in (Kind.CATEGORY, Kind.ORDINAL) else None
    if guess.kind in (Kind.CATEGORY, Kind.ORDINAL):
        # A category holds the word as one more level, and nothing is lost.
        return Guess(Kind.CATEGORY, f"{guess.reason}, and words", remarks=guess.remarks)
    listed = ", ".join(f"'{word}'" for word in others)
    share = (column.present - rest.present) / max(1, column.rows)
    remark = f"holds {guess.kind} values beside the text {listed} ({share:.1%} of the rows), which is drafted as its missing code."
    facets = {**guess.facets, "missing": tuple(others)}
    return Guess(guess.kind, f"{guess.reason}; {listed} means missing", facets, (*guess.remarks, remark))


def _spoilt(column: Words, rest: Words) -> Guess | None:
    """Numbers beside words that may be anything: only a person can say what becomes of them."""
    remark = (
        f"holds numbers or dates but for {column.present - rest.present:,} of {column.present:,} rows, whose text may be "
        "anything: mend these rows, or declare their texts as its missing codes. As it is,"
    )
    if column.distinct_share > 0.5 and len(column.words) > 20:
        return Guess(Kind.KEY, "numbers beside texts", remarks=(f"{remark} it is dropped as a key.",))
    return Guess(Kind.CATEGORY, "numbers beside texts", remarks=(f"{remark} every value of it is a level.",))


def _odd(word: str) -> bool:
    """Whether a word is more than a code for missing: a value with digits (``<5``, ``12b``) or a sentence."""
    return bool(re.search(r"\d", word)) or len(word) > 30 or word.lower().lstrip("+-") in ("inf", "infinity")


def _looks_numeric(word: str) -> bool:
    return bool(_AFFIXED.fullmatch(word))


def _number_or_date(column: Words) -> Guess | None:
    words = column.words
    # Libraries write whole numbers with a point as soon as one of them is missing.
    if all(map(_WHOLE.fullmatch, words)) or all(map(_POINTED.fullmatch, words)):
        return _whole(column)
    if (
        all(map(_REAL.fullmatch, words))
        and all(np.isfinite(float(word)) for word in words)
        and not all(map(_DIGITS.fullmatch, words))
    ):
        return _measured(column, list(words))
    return _formatted(column) or _date(column)


def number(column: Words) -> Guess | None:
    """Numbers, where somebody says that they are numbers and not codes; None if some value is none."""
    if column.words and (all(map(_WHOLE.fullmatch, column.words)) or all(map(_POINTED.fullmatch, column.words))):
        return Guess(Kind.INTEGER, "whole numbers")
    guess = _number_or_date(column) if column.words else None
    return guess if guess is not None and guess.kind in (Kind.INTEGER, Kind.REAL) else None


def _measured(column: Words, plain: list[str]) -> Guess:
    """A number with decimals, from its plain texts."""
    if all(float(word).is_integer() and abs(float(word)) < 2**53 for word in plain):
        return Guess(Kind.INTEGER, "whole numbers")
    if _thousands(plain):
        remark = (
            "has three digits behind every point, beside whole numbers up to 999: read as thousands. Take its 'format' out if not."
        )
        return Guess(Kind.INTEGER, "numbers written like 1.234", {"format": "1.234"}, (remark,))
    decimals = max(len(word.partition(".")[2]) for word in plain)
    exponents = any("e" in word.lower() for word in plain)
    return Guess(Kind.REAL, "numbers", {} if exponents or decimals > 6 else {"decimals": decimals})


def _thousands(plain: list[str]) -> bool:
    """Whether a point parts thousands: three digits behind each, and the numbers without one fill the range below 1000."""
    dotted = [word for word in plain if "." in word]
    whole = [float(word) for word in plain if "." not in word]
    if len(dotted) < 3 or len(whole) < 3 or not all(re.fullmatch(r"[-+]?[1-9]\d{0,2}\.\d{3}", word) for word in dotted):
        return False
    return max(whole) < 1000 and max(whole) > 3 * max(float(word) for word in dotted) and any(w.endswith("0") for w in dotted)


def _formatted(column: Words) -> Guess | None:
    """Numbers with a decimal comma, groups of digits, or a sign of currency or percent."""
    parts = [_AFFIXED.fullmatch(word) for word in column.words]
    if not all(parts):
        return None
    around = {(match["prefix"] or "", match["suffix"] or "") for match in parts if match}
    bodies = [match["number"].replace("−", "-") for match in parts if match]
    if len(around) > 1:
        return None
    prefix, suffix = around.pop()
    for form in _candidates(bodies, prefix, suffix):
        try:
            plain = [form.plain(word) for word in column.words]
        except ValueError:
            continue
        guess = _measured(column, plain)
        sample = form.sample(decimals=guess.kind is Kind.REAL)
        remark = f"is read as numbers written like {sample}: if a mark in them means something else, mend its 'format'."
        return Guess(guess.kind, f"numbers written like {sample}", {**guess.facets, "format": sample}, (remark,))
    return None


def _candidates(bodies: Sequence[str], prefix: str, suffix: str) -> list[NumberFormat]:
    """Formats that could be meant, the likeliest first: a comma that always stands before three digits parts groups."""
    commas = [body for body in bodies if "," in body]
    grouped = all(re.fullmatch(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?", body) for body in commas)
    marks = [(",", "."), (".", ",")] if grouped else [(".", ",")]
    blanks = [(mark, point) for mark in (" ", "\u00a0", "\u202f") for point in (",", ".")]
    marks += [("", ","), *blanks, ("'", "."), ("’", "."), ("", ".")]
    used = set("".join(bodies))
    return [
        NumberFormat(group if group in used else "", point, prefix, suffix)
        for group, point in marks
        if (not group or group in used) and (point in used or group in used or prefix or suffix)
    ]


def _date(column: Words) -> Guess | None:
    words = column.words
    for form in DATE_FORMATS:
        if _all_dates(words, form):
            remarks = []
            twin = form and {"%d/%m": form.replace("%d/%m", "%m/%d"), "%d.%m": None, "%m/%d": None}.get(form[:5])
            if twin and _all_dates(words, twin):
                remarks.append(
                    f"does not show whether day or month comes first: read as {form}; mend its 'format' if it is {twin}."
                )
            if form and "%z" in form:
                remarks.append("holds times of several zones, or with an offset: they are kept and written in UTC.")
            if form and "%f" in form:
                remarks.append("holds fractions of a second, which are cut off.")
            facets = {} if form is None else {"format": form}
            return Guess(Kind.DATE, "dates" if form is None else f"dates written like {form}", facets, tuple(remarks))
    return None


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


def _whole(column: Words) -> Guess:
    """Whole numbers: a key, a code, a scale, or something counted."""
    words = column.words
    digits = [word.lstrip("+-").partition(".")[0] for word in words]
    padded = any(len(word) > 1 and word.startswith("0") for word in digits)
    if len(words) > 20 and column.matches(naming.DAY) and all(len(word) == 8 for word in words) and _all_dates(words, "%Y%m%d"):
        return Guess(Kind.DATE, "dates written like %Y%m%d", {"format": "%Y%m%d"})
    if key := _whole_key(column, padded=padded):
        return key
    if padded:
        return Guess(Kind.CATEGORY, "codes with leading zeros")
    amount = column.matches(naming.AMOUNT) or column.matches(naming.COUNTED)
    if len(words) <= 2 and not (amount and len(words) == 2 and set(column.numbers) != {0, 1}):
        return Guess(Kind.CATEGORY, "two values" if len(words) == 2 else "one value", weak=True)
    if not amount and (code := _code(column)):
        return code
    return Guess(Kind.INTEGER, "whole numbers")


def _whole_key(column: Words, *, padded: bool) -> Guess | None:
    words = column.words
    if len(words) <= 20:
        return None
    named = column.matches(naming.PERSONAL_ID) and not column.matches(naming.PLACE)
    if named and not (column.matches(naming.AMOUNT) and column.distinct_share < 0.5):
        return _key(column, "its name, and many values")
    if len(words) >= PANEL and column.counts.min() == column.counts.max() > 1:
        return _key(column, "each of many numbers stands equally often")
    if column.distinct_share <= UNIQUE or (column.matches(naming.AMOUNT) and not column.matches(naming.ORDERING)):
        return None
    dense = max(column.numbers) - min(column.numbers) < 1.5 * len(words)
    if padded or dense or column.matches(naming.IDENTIFIER) or column.matches(naming.PLACE):
        return _place(column) or _key(column, "nearly a number to a row")
    return None


def _code(column: Words) -> Guess | None:
    """Whole numbers that stand for something else; None where nothing says so."""
    words, few = column.words, len(column.words) <= FEW
    numbers = sorted(column.numbers)
    if column.matches(naming.SCALE) and len(words) <= STEPS and numbers[-1] - numbers[0] < 2 * len(words):
        levels = tuple(sorted(words, key=float))
        return Guess(Kind.ORDINAL, "a scale, by its name", {"domain": Levels(levels, observed=True)})
    if column.matches(naming.SCALE):
        return None
    if column.matches(naming.CODE) or (few and (column.matches(naming.FEW_CODES) or column.matches(naming.OUTCOME))):
        return _place(column) or Guess(Kind.CATEGORY, "codes, by its name")
    if few and _irregular(column):
        remark = (
            "holds few whole numbers with gaps, in no regular shape: drafted as codes. Make it an integer if they count something."
        )
        return Guess(Kind.CATEGORY, "codes, by gaps and shape", remarks=(remark,))
    return None


def _irregular(column: Words) -> bool:
    """Whether a histogram of few whole numbers has gaps between its values and several peaks, as lists of codes have."""
    order = np.argsort(column.numbers)
    numbers = np.array(column.numbers)[order]
    counts = column.counts[order].astype(float)
    gaps = np.diff(numbers)
    if len(numbers) < 5 or column.present < 100 or numbers[0] < 0 or gaps.max() < 2:
        return False
    # Amounts are often round, and then their gaps are alike: 10, 20, 30.
    if len(set(gaps.tolist())) == 1 or np.gcd.reduce(numbers) > 1:
        return False
    noise = 3 * np.sqrt(counts)
    down = counts[1:-1] + noise[1:-1] < np.minimum(counts[:-2] - noise[:-2], counts[2:] - noise[2:])
    return int(down.sum()) >= 2


def _place(column: Words) -> Guess | None:
    """A place that nearly every row has to itself is no key to be dropped without a word, but what others know best."""
    if not column.matches(naming.PLACE) or column.distinct_share <= 0.5 or len(column.words) <= 20:
        return None
    coarser = "hierarchy: {prefix: [3, 2, 1]}" if all(len(word) >= 4 for word in column.words) else "a hierarchy file"
    remark = (
        f"seems to be a place with {len(column.words):,} values in {column.rows:,} rows: others may know it, and nearly everybody "
        f"is alone in it. It is kept as a category; give it {coarser}, or leave it out with role: identifier."
    )
    return Guess(Kind.CATEGORY, "a place, by its name", remarks=(remark,))


def _key(column: Words, reason: str) -> Guess:
    if all(map(_MOMENT.fullmatch, column.words)):
        remark = "seems to hold dates in a form that is not read, and is dropped: write them like 2024-01-31 or 2024-01-31 07:00."
    elif column.matches(naming.HOUSEHOLD):
        people = column.present / max(1, len(column.words))
        remark = (
            f"seems to number households ({people:.1f} rows to each): drafted as a key, which is dropped. To protect whole "
            "households, name it with --person."
        )
    elif column.distinct_share <= 0.5:
        remark = (
            f"seems to number people or records that hold several rows ({1 / column.distinct_share:.1f} each): drafted as a key, "
            "which is dropped. To protect people and not rows, name it with --person."
        )
    else:
        remark = "has almost as many values as rows: drafted as a key, which is dropped."
    return Guess(Kind.KEY, reason, remarks=(remark,))


def align(guesses: dict[str, Guess]) -> dict[str, Guess]:
    """Columns of one numbered family are of one kind: a pixel that is always 0 among a hundred pixels is a number too."""
    families: dict[str, list[str]] = {}
    for name in guesses:
        families.setdefault(re.sub(r"\d+", "#", name), []).append(name)
    aligned = dict(guesses)
    for family in families.values():
        whole = sum(guesses[name].kind is Kind.INTEGER for name in family)
        if len(family) >= 5 and 2 * whole > len(family):
            for name in family:
                if guesses[name].weak:
                    aligned[name] = Guess(Kind.INTEGER, "whole numbers, as the columns of like name")
    return aligned
