"""The card of a release as it is read back, by whoever shows, audits or judges the release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hushtable.errors import InputError
from hushtable.pipeline.copies import percent
from hushtable.pipeline.untouched import Untouched
from hushtable.privacy.guarantee import Guarantee
from hushtable.privacy.preserve import Promise
from hushtable.privacy.stated import StatedGuarantee
from hushtable.table import lenient


@dataclass(frozen=True, kw_only=True)
class Suppressed:
    """How many rows a release does not show as they are."""

    left_out: int
    """Rows that are not in the released table: only the steps that left them out can count them."""
    starred: int
    """Rows that are in it with ``*`` in every quasi-identifier."""

    @property
    def rows(self) -> int:
        """All of them."""
        return self.left_out + self.starred


@dataclass(frozen=True, kw_only=True)
class Card:
    """What a card says. Whether the release bears it out is for ``verify``; what is missing on it is empty here."""

    recipe: str = ""
    title: str = ""
    """Of the recipe."""
    data_title: str = ""
    """What the data is called, as its schema says."""
    contact: str = ""
    licence: str = ""
    purpose: str = ""
    """What the release is for."""
    date: str = ""
    """The day it was made, as 2026-11-17."""
    cite: str = ""
    steps: tuple[str, ...] = ()
    rows: int | None = None
    columns: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    untouched: Untouched = field(default_factory=Untouched)
    """The columns that left as they were; none where the card does not say."""
    copies: Mapping[str, Any] = field(default_factory=dict)
    """Why rows of real people are published as they are, and how many, where they are: reason, equal, alone."""
    stated: StatedGuarantee = field(default_factory=StatedGuarantee)
    """The guarantee as the card states it."""
    criteria: Mapping[str, Any] = field(default_factory=dict)
    """k, l and t as measured on the released table."""
    ledger: tuple[Mapping[str, Any], ...] = ()
    """Every access to the rows as it was written down; an event that this version does not know is among them."""
    public: tuple[str, ...] = ()
    """What the proof assumes to be public."""
    caveats: tuple[str, ...] = ()
    explanation: tuple[tuple[str, str], ...] = ()
    """What holds and what would break it: headings and sentences."""
    result: Mapping[str, Any] = field(default_factory=dict)
    """What the steps chose."""
    versions: Mapping[str, str] = field(default_factory=dict)
    hashes: Mapping[str, str] = field(default_factory=dict)
    plain: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """The plain values that it was read from, for whoever writes them again."""

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Card:
        """From ``Release.card()`` or ``card.json``. What is missing or of another kind is left out, never an error."""
        guarantee = lenient.mapping(plain.get("guarantee"))
        pairs = plain.get("explanation")
        lines = [pair for pair in pairs if isinstance(pair, (list, tuple)) and len(pair) == 2] if isinstance(pairs, list) else []
        return cls(
            recipe=lenient.text(plain.get("recipe")),
            title=lenient.text(plain.get("title")),
            **{name: lenient.text(plain.get(name)) for name in ("data_title", "contact", "licence", "purpose", "date")},
            cite=lenient.text(plain.get("cite")),
            steps=lenient.texts(plain.get("steps")),
            rows=lenient.whole(plain.get("rows")),
            columns=lenient.texts(plain.get("columns")),
            dropped=lenient.texts(plain.get("dropped")),
            untouched=Untouched.from_json(plain.get("untouched")),
            copies=lenient.mapping(plain.get("copies")),
            stated=StatedGuarantee.from_json(guarantee),
            criteria=lenient.mapping(guarantee.get("criteria")),
            ledger=tuple(lenient.mappings(guarantee.get("ledger"))),
            public=lenient.texts(guarantee.get("public")),
            caveats=lenient.texts(guarantee.get("caveats")),
            explanation=tuple((str(head), str(line)) for head, line in lines),
            result=lenient.mapping(plain.get("result")),
            versions={name: str(version) for name, version in lenient.mapping(plain.get("versions")).items()},
            hashes={name: str(digest) for name, digest in lenient.mapping(plain.get("hashes")).items()},
            plain=plain,
        )

    def guarantee(self) -> Guarantee:
        """The guarantee with its ledger; InputError where the card does not hold a whole one."""
        try:
            return Guarantee.from_json(self.plain["guarantee"])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"its guarantee cannot be read: {type(error).__name__}: {error}", where="card") from None

    def to_json(self) -> dict[str, Any]:
        """The plain values that it was read from."""
        return dict(self.plain)

    @property
    def name(self) -> str:
        """What the release calls itself: the name of its data, or the title of its recipe, or the recipe."""
        return self.data_title or self.title or self.recipe

    @property
    def suppressed(self) -> Suppressed | None:
        """The rows that were suppressed, by what the steps report and by the table; None where the card says nothing of either."""
        starred = lenient.whole(self.criteria.get("suppressed"))
        by_steps = suppressed_rows(self.result)
        if starred is None and not by_steps:
            return None
        return Suppressed(left_out=max(0, sum(by_steps.values()) - (starred or 0)), starred=starred or 0)

    @property
    def exposed(self) -> tuple[str, ...]:
        """What stands above every promise: which columns left unchanged, and that rows of real people are among the released."""
        return exposed(self.untouched, self.copies, self.stated.promises)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the steps report that a reader must know (the noise drowns the rows, say), wherever in their results it is."""
        return tuple(dict.fromkeys(_notes(self.result)))


def suppressed_rows(result: Mapping[str, Any]) -> dict[str, int]:
    """How many rows each step suppressed, of the steps that did: those left out, and those that are all ``*``."""
    counts = {
        step: sum(lenient.whole(found.get(key)) or 0 for key in ("suppressed_rows", "rows_dropped", "rows_suppressed"))
        for step, found in result.items()
        if isinstance(found, Mapping)
    }
    return {step: count for step, count in counts.items() if count}


def exposed(untouched: Untouched, copies: Mapping[str, Any], promises: Sequence[Promise]) -> tuple[str, ...]:
    """What no promise may hide: the columns that left unchanged, and the rows of real people that somebody allowed."""
    lines = [untouched.sentence(promises)] if untouched else []
    if copies:
        share = percent(lenient.finite(copies.get("alone")) or 0.0)
        reason = lenient.text(copies.get("reason")).strip().rstrip(".")
        lines.append(
            f"{share} of the released rows are rows of real people that nobody else has, unchanged. The reason given: {reason}."
        )
    return tuple(lines)


def _notes(result: object) -> list[str]:
    if not isinstance(result, Mapping):
        return []
    own = [str(result["note"])] if isinstance(result.get("note"), str) else []
    return [*own, *(note for value in result.values() for note in _notes(value))]
