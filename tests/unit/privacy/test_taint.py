"""The taint rule: what an artefact may be called, from everything that was read to make it."""

from __future__ import annotations

from itertools import chain, combinations

import pytest

from hushtable.privacy.taint import Taint, after

PUBLIC, DP, KANON, RAW = Taint.PUBLIC, Taint.DP, Taint.KANON, Taint.RAW
SUBSETS = list(chain.from_iterable(combinations(Taint, n) for n in range(5)))


def by_the_rules(reads: set[Taint], mechanism: bool) -> Taint:
    """Rules 1 to 4, and that a mixture of k-anonymous and differentially private inputs keeps neither promise."""
    if RAW in reads and not mechanism:
        return RAW
    remaining = (reads - {RAW}) | ({DP} if RAW in reads else set())
    if {KANON, DP} <= remaining:
        return RAW
    return next((taint for taint in (KANON, DP) if taint in remaining), PUBLIC)


@pytest.mark.parametrize("mechanism", [False, True])
@pytest.mark.parametrize("reads", SUBSETS, ids=lambda r: "+".join(r) or "nothing")
def test_every_combination_of_inputs_follows_the_rules(reads, mechanism):
    assert after(reads, mechanism=mechanism) is by_the_rules(set(reads), mechanism)


@pytest.mark.parametrize("reads", [s for s in SUBSETS if RAW in s])
def test_raw_rows_without_a_mechanism_spoil_everything(reads):
    assert after(reads) is RAW


def test_a_mechanism_on_top_of_an_anonymized_table_gives_no_differential_privacy():
    """One row can change every group of the anonymizer underneath."""
    assert after([KANON], mechanism=True) is KANON
    assert after([KANON, RAW], mechanism=True) is RAW
