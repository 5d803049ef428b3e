"""How the drafter guesses the kind of a column by its name and its distinct values, and why.

The rule where it cannot be sure: what is wrong must do no harm. Whole numbers that may be codes are a category only where their
name or their shape says so; a scale of a few steps is ordinal; everything else stays a number, whose order is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from hushtable.table import naming
from hushtable.table.columns import Kind, Levels
from hushtable.table.guess import Guess, Words
from hushtable.table.moments import MOMENT, date_kind
from hushtable.table.numbers import NumberFormat
from hushtable.table.whole_numbers import key, place, running, whole_kind

SCALES = (
    ("very low", "low", "medium", "high", "very high"),
    ("low", "moderate", "high"),
    ("mild", "moderate", "severe"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("very poor", "poor", "fair", "good", "very good", "excellent"),
    ("small", "medium", "large"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("strongly disagree", "disagree", "neither agree nor disagree", "agree", "strongly agree"),
    ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"),
    ("very dissatisfied", "dissatisfied", "neither satisfied nor dissatisfied", "satisfied", "very satisfied"),
    ("never", "seldom", "sometimes", "often", "very often"),
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

ENDS = (".", "!", "?", "…", "。", "！", "？", "।")
"""What sentences end with."""
OFTEN = 3
"""A word that is no known code for missing must come so often to be taken for one."""
MOSTLY = 0.95
"""The share of rows with a number (or a date) from which a lone word beside them is a missing code."""


def guess_kind(column: Words) -> Guess:
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
        guess = replace(
            guess,
            remarks=("seems to be free text, in which anything may stand: it leaves only by a recipe that writes text (dp-text).",),
        )
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
    if (guess := _scale(column)) is not None:
        return guess
    many = len(words) > 20
    if many and np.average([word.count(" ") for word in words]) >= 3:
        # Labels of several words recur, and hardly end like sentences.
        if column.distinct_share > 0.2:
            return Guess(Kind.TEXT, "sentences that often differ")
        if np.average([word.rstrip().endswith(ENDS) for word in words]) >= 0.5:
            return Guess(Kind.TEXT, "many different sentences")
    if column.matches(naming.PERSONAL_ID) and many:
        return key(column, "its name, and many values")
    if many and column.distinct_share > 0.5:
        return place(column) or key(column, "nearly a value to a row")
    return (running(column) if many else None) or Guess(Kind.CATEGORY, "words", remarks=tuple(_doubts(column)))


def _doubts(column: Words) -> Iterator[str]:
    """What speaks against each value being a level of its own."""
    words, (_, rest) = column.words, _apart(column)
    if len(words) > 20 and all(map(MOMENT.fullmatch, words)):
        yield "seems to hold dates in several forms, or one that is not read: every value is a level. Write them like 2024-01-31."
    elif 20 < len(rest.words) < len(words) and 2 * rest.present >= column.present and not column.matches(naming.CODE):
        yield f"{_beside(column, rest)} As it is, every value of it is a level."
    if alike := len(words) - len({word.casefold() for word in words}):
        yield f"has values that differ in capitals alone ({alike:,} of {len(words):,}): mend them, or each is a level of its own."


def _scale(column: Words) -> Guess | None:
    """Words of a known scale, beside what people write where there is no answer; None if it is not that."""
    others = [word for word in column.words if word.lower() in PLACEHOLDERS]
    words = [word for word in column.words if word not in others]
    for scale in SCALES:
        if len(words) > 2 and {word.lower() for word in words} <= set(scale):
            levels = tuple(sorted(words, key=lambda word: scale.index(word.lower())))
            facets: dict[str, object] = {"domain": Levels(levels, observed=True)}
            if not others:
                return Guess(Kind.ORDINAL, "words of a known scale", facets)
            listed = ", ".join(f"'{word}'" for word in others)
            remark = f"holds words of a known scale beside the text {listed}, which is drafted as its missing code."
            return Guess(
                Kind.ORDINAL, f"words of a known scale; {listed} means missing", facets | {"missing": tuple(others)}, (remark,)
            )
    return None


def _beside_codes(column: Words) -> Guess | None:
    """Numbers or dates beside a few words that mean a missing value; None if it is not that."""
    others, rest = _apart(column)
    if not others or len(rest.words) < 3 or len(rest.words) <= len(others):
        return None
    guess = _number_or_date(rest)
    if guess is None or guess.kind is Kind.KEY:
        return None
    known = all(word.lower() in PLACEHOLDERS for word in others)
    mostly = column.present >= 40 and rest.present >= MOSTLY * column.present
    if not known and not (mostly and _codes(column, others)):
        return _spoilt(column, rest) if mostly and guess.kind not in (Kind.CATEGORY, Kind.ORDINAL) else None
    if guess.kind in (Kind.CATEGORY, Kind.ORDINAL):
        # A category holds the word as one more level, and nothing is lost.
        return Guess(Kind.CATEGORY, f"{guess.reason}, and words", remarks=guess.remarks)
    listed = ", ".join(f"'{word}'" for word in others)
    share = (column.present - rest.present) / max(1, column.rows)
    remark = f"holds {guess.kind} values beside the text {listed} ({share:.1%} of the rows), which is drafted as its missing code."
    facets = {**guess.facets, "missing": tuple(others)}
    return Guess(guess.kind, f"{guess.reason}; {listed} means missing", facets, (*guess.remarks, remark))


def _apart(column: Words) -> tuple[list[str], Words]:
    """The words that are neither a number nor a date, and the column without them."""
    others = [word for word in column.words if not (_looks_numeric(word) or MOMENT.fullmatch(word) or _REAL.fullmatch(word))]
    return others, column.without(others)


def _codes(column: Words, others: Sequence[str]) -> bool:
    """Whether words beside numbers may be codes. A code comes again: what stands once may be anything, even a name."""
    often = len(others) <= 3 and min(int(column.counts[column.words.index(word)]) for word in others) >= OFTEN
    return often and not any(map(_odd, others))


def stand_ins(column: Words) -> tuple[str, ...]:
    """The few words that stand beside numbers or dates in place of a missing value, if the column could be numbers without them.

    A drafter takes them for levels where there are few numbers; a person may know better.
    """
    others, rest = _apart(column)
    if not others or len(rest.words) < 3:
        return ()
    known = all(word.lower() in PLACEHOLDERS for word in others)
    guess = _number_or_date(rest) if known or _codes(column, others) else None
    # Codes stay a category, whatever stands beside them.
    return tuple(others) if guess is not None and guess.kind is not Kind.CATEGORY else ()


def _spoilt(column: Words, rest: Words) -> Guess | None:
    """Numbers beside words that may be anything: only a person can say what becomes of them."""
    remark = f"{_beside(column, rest)} As it is,"
    if column.distinct_share > 0.5 and len(column.words) > 20:
        return Guess(Kind.KEY, "numbers beside texts", remarks=(f"{remark} it is dropped as a key.",))
    return Guess(Kind.CATEGORY, "numbers beside texts", remarks=(f"{remark} every value of it is a level.",))


def _beside(column: Words, rest: Words) -> str:
    return (
        f"holds numbers or dates but for {column.present - rest.present:,} of {column.present:,} rows, whose text may be "
        "anything: mend these rows, or declare their texts as its missing codes."
    )


def _odd(word: str) -> bool:
    """Whether a word is more than a code for missing: a value with digits (``<5``, ``12b``) or a sentence."""
    return bool(re.search(r"\d", word)) or len(word) > 30 or word.lower().lstrip("+-") in ("inf", "infinity")


def _looks_numeric(word: str) -> bool:
    return bool(_AFFIXED.fullmatch(word))


def _number_or_date(column: Words) -> Guess | None:
    words = column.words
    if column.decimal == "," and any("." in word for word in words):
        return _formatted(column) or date_kind(column)
    # Libraries write whole numbers with a point as soon as one of them is missing.
    if all(map(_WHOLE.fullmatch, words)) or all(map(_POINTED.fullmatch, words)):
        return whole_kind(column)
    if (
        all(map(_REAL.fullmatch, words))
        and all(np.isfinite(float(word)) for word in words)
        and not all(map(_DIGITS.fullmatch, words))
    ):
        return _measured(column, list(words))
    return _formatted(column) or date_kind(column)


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
        if column.decimal and form.point != column.decimal:
            continue
        try:
            plain = [form.plain(word) for word in column.words]
        except ValueError:
            continue
        guess = _measured(column, plain)
        # Whole numbers, too, may be written with decimals: 20,0.
        sample = form.sample(decimals=guess.kind is Kind.REAL or any("." in word for word in plain))
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
