"""The rules for guarantees: which kind of evidence is stronger, which epsilon is weak, and what binds at all."""

from __future__ import annotations

import math
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


def allowed_gain(epsilon: float, delta: float = 0.0) -> float:
    """The most that any attack whatever can gain under differential privacy: (e^epsilon - 1 + 2 delta)/(e^epsilon + 1).

    Let r be the probability that an attack succeeds on a person whose rows are in the table, and c that it succeeds on the same
    person in the neighbouring table, everything else alike. Both neighbours bound one another, for the success and for its
    complement: r <= e^epsilon c + delta and 1 - c <= e^epsilon (1 - r) + delta. Their sum says that (r - c)(e^epsilon + 1) is at
    most e^epsilon - 1 + 2 delta. Averages over people and tables keep it. Randomized response that tells all with probability
    delta reaches it.

    In the neighbouring table the person's rows are left out (add or remove) or another person's stand in their place (replace): it
    is what the proof allows beside what an audit measured, on people outside, and not a bound of the same two rates.
    """
    # Divided by e^epsilon, which may be too large for a number.
    shrink = math.exp(-epsilon)
    return min(1.0, (1 - shrink + 2 * delta * shrink) / (1 + shrink))


def proven_gain(stated: StatedGuarantee | None, *, several_rows: bool = False) -> float | None:
    """What the proof of a release allows any attack to gain; None where nothing is proven.

    ``several_rows`` says that people hold several rows: a proof for one record then says nothing about all of a person's.
    """
    if stated is None or binding_assurance(stated) is not Assurance.PROVEN or not math.isfinite(stated.epsilon):
        return None
    whole_person = stated.unit.by is not None or stated.unit.rows > 1
    return None if several_rows and not whole_person else allowed_gain(stated.epsilon, stated.delta)
