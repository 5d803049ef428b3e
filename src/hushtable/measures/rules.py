"""Rules that all real rows follow, and how many released rows break them: rows that cannot be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hushtable.evidence.confidence import observed
from hushtable.evidence.finding import Finding, Utility
from hushtable.evidence.measure import Measure
from hushtable.measures.catalogue import RULE_BROKEN, RULES_BROKEN
from hushtable.measures.rule import Rule
from hushtable.measures.rule_search import Found, find_rules
from hushtable.table.arrays import Mask

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

DECLARED = 200
"""So many rules at most are written down in the form that a schema takes."""
ZEROS = 40
"""A rule of more combinations than this (a column that follows from one of many values) is not spelt out."""


@dataclass(frozen=True, kw_only=True)
class Rules(Utility):
    """How many released rows break a rule that all training rows follow, though by chance many would not.

    Rules are found in the training rows: combinations of two conditions (a level, a range, zero, missing or not) that no row has,
    values that are missing together, columns that follow from another, and orders between two columns (``find_rules``). The
    baseline is the share of control rows that break one: they took no part in the search, so it is how often a rule that was found
    is none. A generalized row breaks a rule only if it does so whatever its cells stand for.

    A rule names levels that many rows hold, and limits that five rows share or that lie on a coarse grid.
    """

    shown: int = 12
    """So many rules are findings of their own: those that most released rows break, then the strongest."""

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """The share of rows that break any rule, then the share for each of the rules that are shown."""
        found = find_rules(case.train, case.columns, rng)
        if not found.rules:
            note = f"no rule was found in {case.train.rows:,} training rows: nothing is so rare that chance does not explain it"
            return [RULES_BROKEN.finding(None, n=case.release.rows, note=note)]
        sides = {which: [rule.broken(case.tables[which]) for rule in found.rules] for which in ("release", "control")}
        order = sorted(range(len(found.rules)), key=lambda i: (-int(sides["release"][i].sum()), i))[: self.shown]
        single = [_one(found.rules[i], sides["release"][i], sides["control"][i], case) for i in order]
        return [_all(found, sides["release"], sides["control"], case, single), *single]


def _all(found: Found, release: Sequence[Mask], control: Sequence[Mask], case: Case, single: Sequence[Finding]) -> Finding:
    broken, fresh = np.logical_or.reduce(release), np.logical_or.reduce(control)
    kinds = Counter(str(rule.kind) for rule in found.rules)
    some = f" (of {found.pairs:,} of {found.of:,} pairs of columns)" if found.pairs < found.of else ""
    note = (
        f"{int(broken.sum()):,} of {len(broken):,} released rows break one of {len(found.rules):,} rules{some} that all "
        f"{case.train.rows:,} training rows follow; of {len(fresh):,} fresh rows {int(fresh.sum()):,} do"
    )
    worst = single[0] if single and single[0].value else None
    detail: dict[str, Any] = {"rules": len(found.rules), "kinds": dict(kinds), "zeros": _declarable(found.rules)}
    if worst is not None:
        note += f". Most often: {worst.scope}"
        detail |= {"worst": worst.scope, "worst share": worst.value}
    return _finding(RULES_BROKEN, broken, fresh, note=note, detail=detail)


def _one(rule: Rule, release: Mask, control: Mask, case: Case) -> Finding:
    chance = min(1.0, rule.expected / case.train.rows)
    note = f"{rule.kind}: in none of {case.train.rows:,} training rows, where chance would put it into {chance:.2%}"
    zeros = [str(zero) for zero in rule.zeros[:ZEROS]]
    detail = {"kind": str(rule.kind), "expected": chance, "rows": int(release.sum()), "zeros": zeros}
    return _finding(RULE_BROKEN, release, control, note=note, detail=detail, scope=rule.text)


def _finding(measure: Measure, release: Mask, control: Mask, *, note: str, detail: dict[str, Any], scope: str = "") -> Finding:
    rate, fresh = (observed(float(rows.sum()), len(rows)) for rows in (release, control))
    finding = measure.finding(
        rate.value, baseline=fresh.value, interval=(min(rate.low, rate.value), max(rate.high, rate.value)), n=len(release),
        note=note, scope=scope, detail=detail,
    )  # fmt: skip
    return replace(finding, baseline_bad=max(fresh.high, fresh.value))


def _declarable(rules: Sequence[Rule]) -> list[str]:
    """The rules in the form that ``zeros`` of a schema takes, the strongest first."""
    texts = [str(zero) for rule in rules if len(rule.zeros) <= ZEROS for zero in rule.zeros]
    return texts[:DECLARED]
