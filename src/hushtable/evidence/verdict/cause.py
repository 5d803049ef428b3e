"""Why attacks succeed, and what would remove that: the causes of alarms, each with the columns it is about and what to do.

Advice that does not touch the cause cannot work: a larger k leaves columns as they are that no quasi-identifier covers. So every
remedy belongs to a cause, and says which columns it changes. A cause names columns and counts, never a value of a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from hushtable.display import listed
from hushtable.evidence.known import ALL, QUASI
from hushtable.privacy.guarantee import Assurance
from hushtable.table import lenient

SHOWN = 5
"""So many columns are named in a line; the others are counted."""
LINES = 3
"""So many causes are told where there is little room."""


class CauseKind(StrEnum):
    """Why an attack gains something."""

    IDENTIFIERS = "identifiers"
    """Names, numbers or texts of people were released."""
    VERBATIM = "whole rows"
    """Released rows equal training rows in every column."""
    UNTOUCHED = "untouched columns"
    """Most released rows carry these columns of one person, as they were."""
    COPIED = "copied values"
    """Some released rows carry these columns of one person, as they were: a generator remembers."""
    DISTURBED = "hardly changed columns"
    """Released rows carry these columns of one person with so little noise that they are still recognized."""
    RARE = "rare levels"
    """Levels that only one person has were released."""
    OUTLIERS = "outliers"
    """The largest or smallest numbers, which only one person has, were released."""
    HOMOGENEOUS = "secrets within classes"
    """People who look alike share a secret, or their own row weighs much among them."""
    CLASSES = "small classes"
    """What stands in place of a class of people is near to each of them, for they are few."""
    MEMORIZED = "memorized people"
    """No column is copied, but the generator follows single people."""
    EPSILON = "a large epsilon"
    """A proof with this epsilon allows what was gained."""
    UNEXPLAINED = "not explained"
    """A kind that this version does not know."""


class Action(StrEnum):
    """What to do about a cause."""

    MAKE_QUASI = "make quasi"
    DROP = "drop"
    LARGER_K = "larger k"
    DIVERSITY = "diversity"
    MERGE_LEVELS = "merge levels"
    TOP_CODE = "top-code"
    MORE_NOISE = "more noise"
    CHANGE_ALL = "change all columns"
    SMALLER_EPSILON = "smaller epsilon"
    PROVE = "prove"


_DO = {
    Action.MAKE_QUASI: "declare {0} {as_quasi}, so that the recipe changes what is plain",
    Action.DROP: "leave {} out",
    Action.LARGER_K: "ask for a larger k",
    Action.DIVERSITY: "ask for l-diversity of {} (l of 2 or more) or t-closeness",
    Action.MERGE_LEVELS: "merge rare levels of {} with others",
    Action.TOP_CODE: "cut {} off at the ends (top-coding)",
    Action.MORE_NOISE: "change {} more (coarser steps, more noise)",
    Action.CHANGE_ALL: "use a recipe that keeps no column of a person (aim or mst, with a privacy budget)",
    Action.SMALLER_EPSILON: "spend a smaller epsilon",
    Action.PROVE: "use a recipe with a privacy budget (aim, mst), which limits what any attack gains",
}
_WHY = {
    CauseKind.IDENTIFIERS: "{} can be read off the release",
    CauseKind.VERBATIM: "whole training rows stand in the release",
    CauseKind.UNTOUCHED: "the release carries {0} of each person as {it} {was}",
    CauseKind.COPIED: "some released rows repeat {} of one person",
    CauseKind.DISTURBED: "{0} of each person {is_} hardly changed",
    CauseKind.RARE: "levels of {} that only one person has were released",
    CauseKind.OUTLIERS: "the largest or smallest values of {} were released",
    CauseKind.HOMOGENEOUS: "released rows that look alike give {} away",
    CauseKind.CLASSES: "what stands in place of a class is near to each of its few members",
    CauseKind.MEMORIZED: "the release follows single people, though it copies no column of them",
    CauseKind.EPSILON: "an epsilon this large allows it",
    CauseKind.UNEXPLAINED: "the cause is not known",
}


@dataclass(frozen=True)
class Remedy:
    """One thing to do that removes a cause."""

    action: Action
    columns: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """In words, without a full stop."""
        return _worded(_DO[self.action], few(self.columns), len(self.columns))

    def after(self, columns: Sequence[str]) -> str:
        """The same where these columns were just named."""
        if not self.columns or len(columns) == 1:
            return self.text
        some = set(self.columns) < set(columns)
        return _worded(_DO[self.action], f"{len(self.columns)} of them" if some else "them", len(self.columns))

    def to_json(self) -> dict[str, Any]:
        """As ``audit.json`` holds it."""
        return {"action": str(self.action), "columns": list(self.columns)}


@dataclass(frozen=True, kw_only=True)
class Cause:
    """Why some attacks succeed: by which columns, and what would remove it; any one of the remedies does."""

    kind: CauseKind
    columns: tuple[str, ...] = ()
    """All of them must be changed: what is left then links nobody beyond chance."""
    share: float | None = None
    """The share of released rows that it is about, beyond chance; None where that is not known."""
    alarms: tuple[str, ...] = ()
    """The labels of the findings that it explains."""
    known: tuple[str, ...] = ()
    """What the attackers hold who gain by it, as in ``Finding.known``."""
    remedies: tuple[Remedy, ...] = ()

    @property
    def why(self) -> str:
        """What is wrong, in a clause."""
        text = _worded(_WHY[self.kind], few(self.columns), len(self.columns))
        return text if self.share is None else f"{text}, in {100 * self.share:.0f} % of its rows"

    @property
    def needs(self) -> str:
        """The least that an attacker must hold to gain by it; empty where that was not asked."""
        if QUASI in self.known:
            return "the quasi-identifiers are enough"
        if others := [label for label in self.known if label != ALL]:
            return f"{others[0]} is enough"
        return "an attacker needs all columns" if ALL in self.known else ""

    @property
    def text(self) -> str:
        """All of it in one line."""
        count = f"{len(self.alarms)} alarm{'' if len(self.alarms) == 1 else 's'}" if self.alarms else ""
        whom = "; ".join(part for part in (count, self.needs) if part)
        return f"{self.why}{f' ({whom})' if whom else ''}: {self.remedy}"

    @property
    def remedy(self) -> str:
        """What would remove it: one of these."""
        return ", or ".join(one.after(self.columns) for one in self.remedies)

    def to_json(self) -> dict[str, Any]:
        """As ``audit.json`` holds it, with its line for who reads the file by eye."""
        return {
            "kind": str(self.kind), "columns": list(self.columns), "share": self.share, "alarms": list(self.alarms),
            "known": list(self.known), "remedies": [one.to_json() for one in self.remedies], "text": self.text,
        }  # fmt: skip

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Cause:
        """Read it back; what is missing or not known to this version is left out."""
        remedies = [
            (_action(one.get("action")), lenient.texts(one.get("columns"))) for one in lenient.mappings(plain.get("remedies"))
        ]
        return cls(
            kind=next((kind for kind in CauseKind if kind == plain.get("kind")), CauseKind.UNEXPLAINED),
            columns=lenient.texts(plain.get("columns")),
            share=lenient.finite(plain.get("share")),
            alarms=lenient.texts(plain.get("alarms")),
            known=lenient.texts(plain.get("known")),
            remedies=tuple(Remedy(action, columns) for action, columns in remedies if action is not None),
        )


def advice(causes: Sequence[Cause], most: int = LINES) -> list[str]:
    """What to do, a line for each cause, the weightiest first; the last one says how many more there are."""
    lines = [cause.text for cause in causes]
    return (
        lines
        if len(lines) <= most
        else [*lines[: most - 1], f"{len(lines) - most + 1} more causes, each with what would remove it"]
    )


def by_weight(cause: Cause) -> tuple[bool, int]:
    """A sort key, the weightiest first: what needs little knowledge, then what raises most alarms."""
    return QUASI not in cause.known and cause.kind is not CauseKind.IDENTIFIERS, -len(cause.alarms)


def remedies(kind: CauseKind, columns: Sequence[str], quasi: Iterable[str], assurance: Assurance) -> tuple[Remedy, ...]:
    """What removes a cause; ``quasi`` are the columns that the recipe already treats as quasi-identifiers."""
    names, known = tuple(columns), set(quasi)
    if assurance is Assurance.PROVEN and kind is not CauseKind.IDENTIFIERS:
        return (Remedy(Action.SMALLER_EPSILON),)
    plain = tuple(name for name in names if name not in known)
    drop, everything = Remedy(Action.DROP, names), Remedy(Action.CHANGE_ALL)
    if kind is CauseKind.UNTOUCHED:
        # Who treats no column as a quasi-identifier, or has no k, has nothing to add a column to.
        verified = assurance is Assurance.VERIFIED
        more = (Remedy(Action.MAKE_QUASI, plain) if plain else Remedy(Action.LARGER_K),) if verified else ()
        return (*more, drop, everything)
    return {
        CauseKind.IDENTIFIERS: (drop,),
        CauseKind.VERBATIM: (everything,),
        CauseKind.COPIED: (Remedy(Action.PROVE), drop),
        CauseKind.DISTURBED: (Remedy(Action.MORE_NOISE, names), drop, everything),
        CauseKind.RARE: (Remedy(Action.MERGE_LEVELS, names), drop),
        CauseKind.OUTLIERS: (Remedy(Action.TOP_CODE, names), drop),
        CauseKind.HOMOGENEOUS: (Remedy(Action.DIVERSITY, names), Remedy(Action.LARGER_K), drop),
        CauseKind.CLASSES: (Remedy(Action.LARGER_K), Remedy(Action.PROVE)),
        CauseKind.EPSILON: (Remedy(Action.SMALLER_EPSILON),),
    }.get(kind, (Remedy(Action.PROVE),))


def few(columns: Sequence[str]) -> str:
    """Columns in words, the first few where there are many."""
    if len(columns) > SHOWN:
        return f"{', '.join(columns[: SHOWN - 1])} and {len(columns) - SHOWN + 1} more columns"
    return listed(columns) if columns else "columns"


def _worded(form: str, names: str, count: int) -> str:
    one = {"it": "it", "was": "was", "is_": "is", "as_quasi": "a quasi-identifier"}
    many = {"it": "they", "was": "were", "is_": "are", "as_quasi": "quasi-identifiers"}
    return form.format(names, **(one if count == 1 else many))


def _action(value: object) -> Action | None:
    return next((action for action in Action if action == value), None)
