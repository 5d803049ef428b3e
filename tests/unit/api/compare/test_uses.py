"""The measures that are weighed beside the score: taken where they are registered, and left out where they are not."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from hushtable.api.compare.experiment import registered
from hushtable.api.compare.run import compare
from hushtable.api.compare.uses import RULES
from hushtable.checks import example
from hushtable.evidence.finding import Better, Finding, Subject, Utility
from hushtable.pipeline import registry

if TYPE_CHECKING:
    import numpy as np

    from hushtable.evidence.case import Case


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rules(Utility):
    """As if a quarter of the rows broke a rule."""

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        return [Finding(name=RULES, value=0.25, baseline=0.0, better=Better.LOWER, subject=Subject.UTILITY, n=4, note="of 3 rules")]


def test_a_measure_that_is_not_registered_is_left_out():
    assert registered({"margins": {}, "nowhere": {}}) == {"margins": {}}


def test_broken_rules_are_measured_where_they_are_registered(monkeypatch):
    monkeypatch.setitem(registry.AUDITS, "rules", f"{__name__}:Rules")
    table = example(120, seed=2)
    comparison = compare(table, ["mdav"], grid={"mdav.k": [5]}, target="school", only=["near-matches"], constraints=["alarms<99"])
    (one,) = comparison.cells
    assert (one.measures[RULES].value, one.measures[RULES].baseline) == (0.25, 0.0)
    assert RULES in comparison.markdown()
