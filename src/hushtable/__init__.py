"""hushtable: protect a sensitive table, prove what was promised, and attack the result.

>>> import hushtable as ht
>>> table = ht.people(300)                                    # or ht.read("patients.csv", "schema.yaml"), or a data frame
>>> train, control = ht.hold_out(table, 0.3, seed=0)
>>> released = ht.release(train, "mdav", k=10, seed=0)
>>> released.guarantee
Guarantee(verified: k-anonymity, k = 10)
>>> ht.audit(train, released, control, only=["linkability"])  # doctest: +ELLIPSIS
AuditReport(... findings; ... tests raise an alarm; ...)
>>> ht.utility(train, released, control, only=["margins"])    # doctest: +ELLIPSIS
AuditReport(... findings; no attack was run)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # For type checkers and editors alone; a test holds it against the names below.
    from hushtable.api.apply import apply as apply
    from hushtable.api.audit import AuditOptions as AuditOptions
    from hushtable.api.audit import audit as audit
    from hushtable.api.best_of import best_of as best_of
    from hushtable.api.certify import certify as certify
    from hushtable.api.compare.options import CompareOptions as CompareOptions
    from hushtable.api.compare.run import compare as compare
    from hushtable.api.demo import demo as demo
    from hushtable.api.dictionary import match_dictionary as match_dictionary
    from hushtable.api.draw import draw as draw
    from hushtable.api.draw import load_model as load_model
    from hushtable.api.draw import save_model as save_model
    from hushtable.api.evaluate import choices as choices
    from hushtable.api.evaluate import evaluate as evaluate
    from hushtable.api.hierarchy import hierarchy as hierarchy
    from hushtable.api.hold_out import hold_out as hold_out
    from hushtable.api.hybrid.options import HybridOptions as HybridOptions
    from hushtable.api.hybrid.run import hybrid as hybrid
    from hushtable.api.mechanism import MechanismOptions as MechanismOptions
    from hushtable.api.mechanism import audit_mechanism as audit_mechanism
    from hushtable.api.model import add_model as add_model
    from hushtable.api.model import list_models as list_models
    from hushtable.api.pareto import pareto as pareto
    from hushtable.api.peek import peek as peek
    from hushtable.api.predict import predict as predict
    from hushtable.api.preflight import preflight as preflight
    from hushtable.api.profile import profile as profile
    from hushtable.api.profile import uniqueness as uniqueness
    from hushtable.api.publish import checklist as checklist
    from hushtable.api.publish import describe as describe
    from hushtable.api.publish import publish as publish
    from hushtable.api.read_release import read_release as read_release
    from hushtable.api.records import records as records
    from hushtable.api.release import ReleaseRequest as ReleaseRequest
    from hushtable.api.release import release as release
    from hushtable.api.release import release_to_folder as release_to_folder
    from hushtable.api.release import save as save
    from hushtable.api.report import read_audit as read_audit
    from hushtable.api.report import render as render
    from hushtable.api.sections import sections as sections
    from hushtable.api.sign import sign as sign
    from hushtable.api.utility import UtilityOptions as UtilityOptions
    from hushtable.api.utility import utility as utility
    from hushtable.api.verify import verify as verify
    from hushtable.checks import check as check
    from hushtable.data.people import people as people
    from hushtable.errors import BudgetExceeded as BudgetExceeded
    from hushtable.errors import GuaranteeRefused as GuaranteeRefused
    from hushtable.errors import HushError as HushError
    from hushtable.errors import InputError as InputError
    from hushtable.errors import MissingExtra as MissingExtra
    from hushtable.errors import PlanError as PlanError
    from hushtable.estimators import Anonymizer as Anonymizer
    from hushtable.estimators import Synthesizer as Synthesizer
    from hushtable.notebook import methods as methods
    from hushtable.notebook import show as show
    from hushtable.pipeline.options import ReleaseOptions as ReleaseOptions
    from hushtable.pipeline.recipe import Recipe as Recipe
    from hushtable.pipeline.release import Release as Release
    from hushtable.pipeline.signature import make_keys as make_keys
    from hushtable.privacy.unit import Unit as Unit
    from hushtable.studies.runner import study as study
    from hushtable.table.declare import declare as declare
    from hushtable.table.io import draft as draft
    from hushtable.table.io import read as read
    from hushtable.table.io import write as write
    from hushtable.table.layout import Layout as Layout
    from hushtable.table.schema import Schema as Schema
    from hushtable.table.table import Table as Table

__version__ = "0.8.0"

# Loaded when first used: importing hushtable imports nothing else.
_WHERE = {
    "read": "hushtable.table.io",
    "draft": "hushtable.table.io",
    "peek": "hushtable.api.peek",
    "write": "hushtable.table.io",
    "declare": "hushtable.table.declare",
    "match_dictionary": "hushtable.api.dictionary",
    "Schema": "hushtable.table.schema",
    "Layout": "hushtable.table.layout",
    "Table": "hushtable.table.table",
    "Recipe": "hushtable.pipeline.recipe",
    "Release": "hushtable.pipeline.release",
    "ReleaseOptions": "hushtable.pipeline.options",
    "verify": "hushtable.api.verify",
    "checklist": "hushtable.api.publish",
    "describe": "hushtable.api.publish",
    "publish": "hushtable.api.publish",
    "make_keys": "hushtable.pipeline.signature",
    "Unit": "hushtable.privacy.unit",
    "profile": "hushtable.api.profile",
    "uniqueness": "hushtable.api.profile",
    "preflight": "hushtable.api.preflight",
    "release": "hushtable.api.release",
    "save": "hushtable.api.release",
    "release_to_folder": "hushtable.api.release",
    "ReleaseRequest": "hushtable.api.release",
    "best_of": "hushtable.api.best_of",
    "save_model": "hushtable.api.draw",
    "load_model": "hushtable.api.draw",
    "draw": "hushtable.api.draw",
    "predict": "hushtable.api.predict",
    "add_model": "hushtable.api.model",
    "list_models": "hushtable.api.model",
    "hold_out": "hushtable.api.hold_out",
    "sign": "hushtable.api.sign",
    "AuditOptions": "hushtable.api.audit",
    "audit": "hushtable.api.audit",
    "UtilityOptions": "hushtable.api.utility",
    "utility": "hushtable.api.utility",
    "read_release": "hushtable.api.read_release",
    "read_audit": "hushtable.api.report",
    "records": "hushtable.api.records",
    "compare": "hushtable.api.compare.run",
    "CompareOptions": "hushtable.api.compare.options",
    "hybrid": "hushtable.api.hybrid.run",
    "HybridOptions": "hushtable.api.hybrid.options",
    "certify": "hushtable.api.certify",
    "audit_mechanism": "hushtable.api.mechanism",
    "MechanismOptions": "hushtable.api.mechanism",
    "pareto": "hushtable.api.pareto",
    "hierarchy": "hushtable.api.hierarchy",
    "evaluate": "hushtable.api.evaluate",
    "choices": "hushtable.api.evaluate",
    "apply": "hushtable.api.apply",
    "render": "hushtable.api.report",
    "sections": "hushtable.api.sections",
    "demo": "hushtable.api.demo",
    "study": "hushtable.studies.runner",
    "check": "hushtable.checks",
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
