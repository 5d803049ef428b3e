"""The rules for guarantees: which kind of evidence is stronger, which epsilon is weak, and what binds at all."""

from __future__ import annotations

from collections.abc import Mapping

from hushtable.privacy.guarantee import LARGE, Assurance
from hushtable.privacy.stated import StatedGuarantee

STRENGTH: Mapping[str, int] = {Assurance.NONE: 0, Assurance.CLAIMED: 0, Assurance.VERIFIED: 1, Assurance.PROVEN: 2}
"""How much supports a promise; a claim with a known gap counts like none. More is better evidence, not a smaller risk."""
WEAK_EPSILON = 5.0
"""An epsilon above this is called weak: a conclusion may become 150 times as likely."""


def is_weak(epsilon: float) -> bool:
    """Whether a proof with this epsilon promises little."""
    return epsilon > WEAK_EPSILON


def is_large(epsilon: float) -> bool:
    """Whether a proof with this epsilon promises next to nothing (``privacy.guarantee.LARGE``, which also words it)."""
    return epsilon > LARGE


def binding_assurance(stated: StatedGuarantee | None) -> Assurance:
    """The kind of evidence that counts: of a claim, and of an epsilon that is too large, what else is verified."""
    if stated is None:
        return Assurance.NONE
    void = stated.assurance is Assurance.PROVEN and is_large(stated.epsilon)
    if stated.assurance is Assurance.CLAIMED or void:
        if stated.promises:
            return Assurance.VERIFIED
        return Assurance.NONE if void else Assurance.CLAIMED
    return stated.assurance
