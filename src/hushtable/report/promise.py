"""The promise of a release as markup: the shape, the word and the sentences of its guarantee."""

from __future__ import annotations

from collections.abc import Sequence

from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.stated import MEANINGS, StatedGuarantee
from hushtable.report.html import Html, element

SHAPES = {Assurance.PROVEN: "●", Assurance.VERIFIED: "◆", Assurance.CLAIMED: "▲", Assurance.NONE: "○"}
ASSURANCES: dict[str, tuple[str, str]] = {word: (SHAPES[word], meaning) for word, meaning in MEANINGS.items()}
"""A shape and one line for each kind of assurance."""


def badge(assurance: Assurance) -> Html:
    """Shape, word and meaning of a kind of assurance."""
    mark = element("strong", element("span", SHAPES[assurance], aria_hidden="true"), f" {assurance}", class_=f"badge {assurance}")
    return element("p", mark, " ", element("span", MEANINGS[assurance], class_="soft"), class_="assurance")


def small(stated: StatedGuarantee, exposed: Sequence[str] = ()) -> Html:
    """All that is promised, in a small box, under what no promise may hide."""
    return element(
        "div",
        badge(stated.assurance),
        [element("p", element("strong", "But: "), line) for line in exposed],
        [element("p", line) for line in stated.sentences()],
        element("p", stated.in_symbols(), class_="soft"),
        class_=f"statement small {stated.assurance}",
    )
