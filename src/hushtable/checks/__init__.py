"""The contract battery: run it on a new step or audit, and it says what was forgotten.

``hush check my_package.my_module:MyStep`` or ``check(MyStep)``. It works on small tables of its own, so it takes seconds.
"""

from __future__ import annotations

from hushtable.checks.audits import audit_checks
from hushtable.checks.steps import step_checks
from hushtable.checks.tables import awkward, example
from hushtable.checks.verdict import Verdict, run_all, shape
from hushtable.evidence.finding import Audit
from hushtable.pipeline.step import Step

__all__ = ["Verdict", "awkward", "check", "example"]


def check(kind: type) -> list[Verdict]:
    """Every check of the battery that applies to this class; the later ones only where the first ones pass."""
    if not issubclass(kind, (Step, Audit)):
        return [Verdict("is a step (Coder or Core) or an audit", f"{kind.__name__} derives from none of them")]
    verdicts = shape(kind)
    if all(verdict.passed for verdict in verdicts):
        verdicts += run_all(step_checks(kind) if issubclass(kind, Step) else audit_checks(kind))
    return verdicts
