"""hushtable: protect a sensitive table, prove what was promised, and attack the result.

>>> import hushtable as ht
>>> table = ht.people(300)                                    # or ht.read("patients.csv", "schema.yaml"), or a data frame
>>> train, control = ht.hold_out(table, 0.3, seed=0)
>>> made = ht.release(train, "mdav", k=10, seed=0)
>>> made.guarantee
Guarantee(verified: k-anonymity, k = 10)
>>> ht.audit(train, made, control, only=["linkability"])      # doctest: +ELLIPSIS
AuditReport(... findings; ... tests alarm)
>>> ht.utility(train, made, control, only=["margins"])        # doctest: +ELLIPSIS
AuditReport(... findings; no attack was run)
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Loaded when first used: importing hushtable imports nothing else.
_WHERE = {
    "read": "hushtable.table.io",
    "draft": "hushtable.table.io",
    "write": "hushtable.table.io",
    "Schema": "hushtable.table.schema",
    "Table": "hushtable.table.table",
    "Recipe": "hushtable.pipeline.recipe",
    "Release": "hushtable.pipeline.release",
    "verify": "hushtable.pipeline.verify",
    "make_keys": "hushtable.pipeline.signature",
    "sign": "hushtable.api.sign",
    "Unit": "hushtable.privacy.unit",
    "release": "hushtable.api.release",
    "save": "hushtable.api.release",
    "best_of": "hushtable.api.release",
    "hold_out": "hushtable.api.hold_out",
    "audit": "hushtable.api.audit",
    "utility": "hushtable.api.utility",
    "read_release": "hushtable.api.read_release",
    "compare": "hushtable.api.compare.run",
    "people": "hushtable.data.people",
    "show": "hushtable.notebook",
    "methods": "hushtable.notebook",
    "Synthesizer": "hushtable.estimators",
    "Anonymizer": "hushtable.estimators",
    "HushError": "hushtable.errors",
    "InputError": "hushtable.errors",
    "PlanError": "hushtable.errors",
    "GuaranteeRefused": "hushtable.errors",
    "BudgetExceeded": "hushtable.errors",
    "MissingExtra": "hushtable.errors",
}
__all__ = ["__version__", *_WHERE]


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _WHERE:
        raise AttributeError(f"module 'hushtable' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
