"""Inputs of the report, made by the very classes that make them in earnest."""

from __future__ import annotations

from typing import Any

from hushtable.api.audit_report import AuditReport
from hushtable.evidence.finding import Better, Finding, Risk, Subject
from hushtable.measures.catalogue import MEASURES
from hushtable.privacy.event import DiscreteGaussian, DiscreteLaplace, Exponential, Raw
from hushtable.privacy.guarantee import Claim, Guarantee
from hushtable.privacy.ledger import Entry
from hushtable.privacy.preserve import Promise, Syntactic

EVIL = "\"><script>alert('x')</script><img src=x onerror=alert(1)>&amp;"
NASTY = [EVIL, "a'b\"c&d<e>", "x" * 150, "診断コード", "\u202eevil\u0000", '=HYPERLINK("x")', "Größe 😀", "\ud800lone"]

PROVEN = Guarantee(
    ledger=(
        Entry("bins", DiscreteGaussian(20.0, 1.0, 1), "ranges of age"),
        Entry("bins", DiscreteGaussian(20.0, 1.0, 1), "ranges of age"),
        Entry("margins", DiscreteGaussian(10.0, 1.0, 1), "histogram of sex"),
    ),
    delta=1e-6,
    public=("the schema",),
    caveats=("columns were drawn independently",),
)
PURE = Guarantee(ledger=(Entry("a", DiscreteLaplace(4.0, 1.0), "counts"), Entry("b", Exponential(0.75), "a choice")))
VERIFIED = Guarantee(
    ledger=(Entry("microaggregate", Raw("reads the rows"), "reads the rows"),),
    promises=(Promise(kind=Syntactic.K_ANONYMITY, value=10, quasi=("age", "sex")),),
    criteria={
        "k": 10, "quasi": ["age", "sex"], "classes": 12, "suppressed": 0, "unique_share": 0.0, "marketer_risk": 0.0958,
        "secrets": {"income": {"l_distinct": 1, "l_entropy": 1.0, "l_recursive_c2": 1, "t": 0.763, "t_distance": "equal"}},
    },
)  # fmt: skip
CLAIMED = Guarantee(
    ledger=(Entry("train", Raw("trained unprotected"), "trained unprotected"),),
    claims=(Claim("1-differential privacy", ("the decoder saw the raw rows",)),),
)
NONE = Guarantee(ledger=(Entry("sequential", Raw("trees"), "trees are grown on the rows"),))


def card(guarantee: Guarantee = PROVEN, /, **changed: Any) -> dict[str, Any]:
    """A card as ``Release.card()`` gives it."""
    return {
        "recipe": "demo",
        "title": "A demonstration recipe",
        "cite": "nobody, nowhere",
        "steps": ["bins", "margins"],
        "rows": 29977,
        "columns": ["age", "sex", "income"],
        "dropped": ["name"],
        "guarantee": guarantee.to_json(),
        "explanation": [list(pair) for pair in guarantee.sentences()],
        "result": {"margins": {"noise_scale": {"age": 21.492, "sex": 21.492}, "order": ["age", "sex"]}},
        "versions": {"python": "3.11.7"},
        "hashes": {"data.csv": "ab" * 32},
    } | changed


def finding(name: str, value: float | None, **changed: Any) -> dict[str, Any]:
    """A finding as ``Finding.to_json()`` gives it."""
    measure = MEASURES.get(name)
    span = None if measure is None else (measure.low, measure.high)
    fields = {"better": Better.LOWER, "subject": Subject.UTILITY, "n": 100, "note": f"a note on {name}", "span": span} | changed
    return Finding(name=name, value=value, **fields).to_json()


def audit(columns: list[str] | None = None) -> list[dict[str, Any]]:
    """Findings of every kind over these columns."""
    names = columns or ["age", "sex", "income"]
    detail = {"labels": ["low", "high", "missing"], "train": [0.6, 0.4, 0.0], "release": [0.5, 0.45, 0.05]}
    ranges = {"labels": ["1 to 3", "3 to 8", "missing"], "train": [0.5, 0.5, 0.0], "release": [0.25, 0.75, 0.0]}
    distances = {"edges": [0.0, 0.1, 0.2], "release": [0.7, 0.3], "control": [0.4, 0.6], "threshold": 0.05, "chance": 0.02}
    square = [[1.0 if i == j else 0.25 for j in names] for i in names]
    return [
        finding("identical match share", 0.17, low=0.16, high=0.18, baseline=0.001, subject=Subject.PRIVACY),
        finding("closest record score", 0.0, low=0.0, high=0.01, baseline=0.0, subject=Subject.PRIVACY, detail=distances),
        finding("plugin attack", 7.5, low=7.0, high=8.0, baseline=1.0, subject=Subject.PRIVACY, scope=names[0]),
        finding("broken attack", None, subject=Subject.PRIVACY, note="the reason it failed"),
        finding("mean TVD", 0.05, baseline=0.01),
        *(finding("TVD", 0.1, baseline=0.02, scope=name, detail=ranges if i == 0 else detail) for i, name in enumerate(names)),
        finding("KS", 0.2, baseline=0.01, scope=names[0]),
        finding("association difference", 0.3, baseline=0.01, detail={"columns": names, "train": square, "release": square}),
        finding(
            "train on release, test on real: AUC", 0.7, low=0.68, high=0.72, baseline=0.9, better=Better.HIGHER, scope=names[-1]
        ),
        finding("plugin metric", 3.0, baseline=2.0),
    ]


def hostile() -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Findings and a card in which every text that can be data is an attack on the page."""
    criteria = {"k": 2, "quasi": NASTY, "classes": 1, "suppressed": 0, "secrets": {EVIL: {"l_distinct": 1, EVIL: EVIL}}}
    guarantee = card(VERIFIED)["guarantee"] | {
        "criteria": criteria,
        "caveats": [EVIL],
        "ledger": [{"step": EVIL, "why": EVIL, "event": EVIL, EVIL: EVIL}],
    }
    guarantee["promises"][0]["quasi"] = NASTY
    evil = card(
        VERIFIED, recipe=EVIL, title=EVIL, cite=EVIL, steps=[EVIL], columns=NASTY, dropped=[EVIL], guarantee=guarantee,
        explanation=[[EVIL, EVIL]], result={EVIL: {EVIL: [EVIL, {EVIL: [EVIL]}]}}, versions={EVIL: EVIL}, hashes={EVIL: EVIL},
    )  # fmt: skip
    audited = audit(NASTY)
    levels = {"labels": [*(EVIL + str(i) for i in range(40)), EVIL], "train": [1 / 41] * 41, "release": [1 / 41] * 41}
    audited += [finding(EVIL, 0.5, note=EVIL, scope=EVIL, baseline=0.1), finding(EVIL, None, note=EVIL, subject=Subject.PRIVACY)]
    audited += [finding("TVD", 0.9, scope=EVIL, note=EVIL, detail=levels)]
    return audited, evil


def report(findings: list[dict[str, Any]], card: dict[str, Any] | None = None, *, rows: dict[str, int], **more: Any) -> AuditReport:
    """An audit as it is read back."""
    return AuditReport.from_json({"findings": findings, "card": card, "rows": rows} | more)


def attacked(text: str = "income") -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Findings of attacks on people one by one, and what else their page takes; every text that can be data is this one."""
    roc = {"fpr": [0.0, 0.01, 1.0], "tpr": [0.02, 0.05, 1.0]}
    curve = {"thresholds": [0.0, 0.1, 0.3], "train": [0.1, 0.2, 0.9], "control": [0.0, 0.2, 0.9]}
    numbers: dict[str, Any] = {"low": 0.05, "high": 0.2, "baseline": 0.0, "subject": Subject.PRIVACY, "note": text, "scope": text}
    collected = [
        finding("guess", 0.1, risk=Risk.INFERENCE, p=0.001, p_adjusted=0.01, **numbers),
        finding(text, 0.1, risk=Risk.INFERENCE, p=0.3, p_adjusted=1.0, detectable=0.02, **numbers),
        finding("link", 0.1, risk=Risk.LINKABILITY, p=0.3, p_adjusted=1.0, detail=curve, **numbers),
        finding("member", 0.1, risk=Risk.SINGLING_OUT, p=0.3, p_adjusted=1.0, detail={"roc": roc}, **numbers),
        finding("blind", None, risk=Risk.SINGLING_OUT, subject=Subject.PRIVACY, note=text, scope=text),
        finding("k", 3.0, subject=Subject.PRIVACY, note=text, scope=text),
    ]
    hit = {"name": text, "scope": text, "share": 0.9, "weak": False, "released": 3, "told": text}
    group = {
        "name": text, "scope": text, "column": text, "level": text, "attacked": 200, "control_attacked": 90, "rate": 0.3,
        "control_rate": 0.1, "value": 0.22, "low": 0.1, "high": 0.3, "whole": 0.05, "p": 1e-8, "p_adjusted": 1e-6,
    }  # fmt: skip
    more = {
        "records": [{"row": 7, "risk": 0.9, "weak": weak, "attacks": [hit]} for weak in (False, True)],
        "at_risk": [{"above": 0.5, "people": 12, "chance": 3.0}],
        "groups": {"worst": [group], "tested": 10, "alarms": 1, "left_out": 2},
        "power": {"shares": [0.01, 0.1], "audit": 0.01, "tests": 4, "noticed": [1, 3]},
        "gates": [{"expression": text, "holds": False, "told": text}],
    }
    return collected, more
