"""The taint rule: what an artefact may be called depends on everything that was read to make it."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Taint(StrEnum):
    """Where an artefact comes from."""

    PUBLIC = "public"
    DP = "dp"
    KANON = "kanon"
    RAW = "raw"


def after(reads: Iterable[Taint], *, mechanism: bool = False) -> Taint:
    """The taint of something made from these inputs and fresh randomness.

    1. only PUBLIC and DP: post-processing, DP is kept at no cost;
    2. RAW through a registered DP mechanism (whose event is in the ledger): DP;
    3. RAW in any other way: RAW, whatever the other inputs were;
    4. a KANON table and public things: KANON, as a table *derived* from a k-anonymous one. A DP mechanism on top does
       not make it DP, because the anonymizer underneath may change everywhere when one row changes.
    A mixture of KANON and DP inputs keeps neither promise, and is RAW.
    """
    seen = set(reads)
    if mechanism and Taint.RAW in seen:
        seen = (seen - {Taint.RAW}) | {Taint.DP}
    if Taint.RAW in seen or {Taint.KANON, Taint.DP} <= seen:
        return Taint.RAW
    if Taint.KANON in seen:
        return Taint.KANON
    return Taint.DP if Taint.DP in seen else Taint.PUBLIC
