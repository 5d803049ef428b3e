"""What a card promises, in one plain sentence, with the word and the colour of how we know."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from hushtable.privacy.guarantee import LARGE, rounded_up
from hushtable.privacy.guarantee import odds as powers
from hushtable.report.html import Html, element
from hushtable.report.words import chance, listed, number, odds, shortened

ASSURANCES = {
    "proven": ("●", "a theorem says so, and its conditions were checked while the recipe ran"),
    "verified": ("◆", "measured on the released table itself, or on the table it was derived from"),
    "claimed": ("▲", "a publication says so, and a gap in its proof is known"),
    "none": ("○", "no theorem and no measurement on the table stands behind it"),
}
"""A shape and one line for each kind of assurance."""
STRENGTH = {"none": 0, "claimed": 0, "verified": 1, "proven": 2}
"""How much stands behind a promise; a claim with a known gap counts like none. More is better evidence, not a smaller risk."""


def badge(card: Mapping[str, Any]) -> Html:
    """Shape, word and meaning of the assurance of a card."""
    word = assurance(card)
    shape, meaning = ASSURANCES[word]
    mark = element("strong", element("span", shape, aria_hidden="true"), f" {word}", class_=f"badge {word}")
    return element("p", mark, " ", element("span", meaning, class_="soft"), class_="assurance")


def assurance(card: Mapping[str, Any]) -> str:
    """The word; one that is not known counts as none."""
    word = str(_guarantee(card).get("assurance"))
    return word if word in ASSURANCES else "none"


def epsilon(card: Mapping[str, Any]) -> float:
    """The epsilon of a card; infinite if it is told as text or not at all."""
    value = _guarantee(card).get("epsilon")
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else math.inf


def covers(card: Mapping[str, Any]) -> bool:
    """Whether some promise of a card is about all the columns that its criteria were measured over at once."""
    guarantee = _guarantee(card)
    quasi = set((guarantee.get("criteria") or {}).get("quasi") or ())
    return not quasi or any(quasi <= set(p.get("quasi") or ()) for p in guarantee.get("promises") or [])


def sentences(card: Mapping[str, Any]) -> list[str]:
    """What is promised, the most important first, each a whole sentence for somebody who knows none of the words."""
    told = {"proven": _proven, "verified": _verified, "claimed": _claimed}.get(assurance(card))
    return (told(card) if told else []) or ["Nothing is promised about the people in this table."]


def in_symbols(card: Mapping[str, Any]) -> str:
    """The differential privacy of a card in its own notation, or that there is none."""
    size, delta = epsilon(card), _guarantee(card).get("delta")
    if not math.isfinite(size):
        return "Differential privacy: none (epsilon is infinite)."
    given = f", delta = {number(delta)}" if delta else ""
    return f"Differential privacy with epsilon = {number(rounded_up(size, 4), 4)}{given}, for {_change(card)}."


def short_epsilon(card: Mapping[str, Any]) -> str:
    """The size of a proven promise in a word."""
    return f"ε = {number(rounded_up(epsilon(card), 3))}"


def _proven(card: Mapping[str, Any]) -> list[str]:
    delta = _guarantee(card).get("delta")
    change = _change(card)
    size = epsilon(card)
    factor = odds(size) if size <= LARGE else powers(size)
    told = (
        f"makes nothing that one could conclude from this table more than {factor} times as likely, but for a probability of "
        f"{chance(delta)} on top."
        if delta
        else f"changes the odds of anything one could conclude from this table by a factor of at most {factor}."
    )
    first = f"{change[0].upper()}{change[1:]} {told}"
    if size > LARGE:
        first = f"An epsilon this large protects hardly anybody. {first}"
    return [first, *_verified(card)]


def _change(card: Mapping[str, Any]) -> str:
    guarantee = _guarantee(card)
    unit = guarantee.get("unit") or {}
    rows = unit.get("rows", 1)
    whom = (
        "record" if rows == 1 and not unit.get("by") else f"person (who holds at most {number(rows)} row{'' if rows == 1 else 's'})"
    )
    return (
        f"replacing any one {whom} by another"
        if guarantee.get("relation") == "replace_one"
        else f"adding or removing any one {whom}"
    )


def _verified(card: Mapping[str, Any]) -> list[str]:
    return [_promise(p) for p in _guarantee(card).get("promises") or []]


def _claimed(card: Mapping[str, Any]) -> list[str]:
    claims = [str(c.get("statement", "")) for c in _guarantee(card).get("claims") or []]
    told = [f"A publication claims {listed(claims)}; its proof has a known gap, so it is not promised here."] if claims else []
    return told + _verified(card)


def _promise(promise: Mapping[str, Any]) -> str:
    columns = listed([shortened(str(c)) for c in promise.get("quasi") or []], 3)
    value, kind = number(promise.get("value")), str(promise.get("kind"))
    secret, derived = str(promise.get("secret") or ""), promise.get("form") == "derived"
    persons = promise.get("counted") == "persons"
    if kind == "k_anonymity" and derived:
        whom = "people whose rows" if persons else "rows that"
        return f"This table was made only from groups of at least {value} {whom} look alike in {columns}."
    if kind == "k_anonymity" and persons:
        return f"Whoever knows a person’s {columns} cannot tell which of {value} or more people they are."
    if kind == "k_anonymity":
        return f"Whoever knows a person’s {columns} cannot tell which of {value} or more rows is theirs."
    alike = f"that look alike in {columns}"
    if kind == "k_map":
        told = f"This table was made only from a sample of groups of at least {value} people {alike}"
        return f"{told}; nobody may know who was sampled."
    source = "of the table it was derived from " if derived else ""
    if kind == "l_diversity":
        variant = f", by the {promise['variant']} definition" if promise.get("variant") else ""
        return f"Rows {source}{alike} hold at least {value} well-represented values of {secret}{variant}."
    if kind == "t_closeness":
        return f"Among rows {source}{alike}, {secret} is distributed within {value} of how it is in the whole table."
    return f"{kind.replace('_', '-')} with {value} over {columns}{f' for {secret}' if secret else ''}."


def _guarantee(card: Mapping[str, Any]) -> Mapping[str, Any]:
    return card.get("guarantee") or {}
