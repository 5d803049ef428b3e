"""Sentences of cards as version 0.1.0 worded them, so that releases made with it still verify."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import yaml

from hushtable.privacy.guarantee import Claim

_NUMBER = re.compile(r"\d+")


@cache
def _wordings() -> dict[str, str]:
    path = Path(__file__).with_name("former.yaml")
    return {pair["now"]: pair["then"] for pair in yaml.safe_load(path.read_text(encoding="utf-8"))}


def former(text: str) -> str:
    """The sentence as 0.1.0 worded it; itself where it was not reworded since."""
    numbers = iter(_NUMBER.findall(text))
    wording = _wordings().get(_NUMBER.sub("#", text))
    return text if wording is None else re.sub("#", lambda _: next(numbers), wording)


def states(texts: Iterable[str], text: str) -> bool:
    """Whether a sentence is among those of a card, in the wording of today or of 0.1.0."""
    return not {text, former(text)}.isdisjoint(texts)


def claims(stated: Iterable[Claim], claim: Claim) -> bool:
    """Whether a claim is among those of a card, in either wording."""
    reworded = Claim(former(claim.statement), tuple(map(former, claim.gaps)))
    return any(one in (claim, reworded) for one in stated)
