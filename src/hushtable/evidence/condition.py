"""Conditions on a release, such as ``max_gain<0.05`` or ``k>=10``: the gates of an audit and the constraints of a comparison.

A condition is judged by the bound that speaks against the release. What is not known does not hold.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hushtable.display import meant
from hushtable.errors import Fault, InputError
from hushtable.evidence.finding import Better, Finding, Risk, Subject
from hushtable.evidence.known import ALL, QUASI, knowing
from hushtable.evidence.verdict import alarms, resolution
from hushtable.privacy.guarantee import Assurance, Guarantee
from hushtable.table import lenient

SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq}
UPPER = ("<", "<=")
"""Signs that bound from above: the upper bound of what was measured decides."""
ACCEPTED = {Assurance.PROVEN: (Assurance.PROVEN,), Assurance.VERIFIED: (Assurance.VERIFIED, Assurance.PROVEN)}
"""The kinds of evidence that keep ``promise=...``: a proof is more than what was verified."""
_FORM = re.compile(r"\s*([\w ./:+-]+?)\s*(<=|>=|<|>|=)\s*([\w.+-]+)\s*")
_ALLOWED = {"epsilon": UPPER, "k": (">", ">="), "score": (">", ">=")}
"""Which way these may be bounded."""
_ORDERS = {"<": "less than", "<=": "at most", ">": "more than", ">=": "at least", "=": ""}


def joined(name: str) -> str:
    """A name as one word: ``singling_out``."""
    return str(name).replace("-", "_").replace(" ", "_").lower()


RISKS = {joined(risk): risk for risk in Risk}
GAINS = {"max_gain": None, **{f"{name}_gain": risk for name, risk in RISKS.items()}}
"""Names that bound the gain r - c of attacks, of one kind or (None) of all; those without it bound (r - c)/(1 - c)."""
ATTACKED = ("max_gain", "max_risk", *RISKS, *(name for name in GAINS if name != "max_gain"))
"""All names that bound what attacks achieve."""
KNOWN = {f"_{label}": label for label in (QUASI, ALL)}
"""Endings by which a name means only attackers who hold that much: ``max_gain_quasi``. Without one it means all attackers."""
_NEVER_NEGATIVE = (*ATTACKED, "alarms", "epsilon", "k")


@dataclass(frozen=True)
class Names:
    """The names that a condition may bound besides risks, alarms, epsilon, k and the promise."""

    better: Mapping[str, Better | None] | None = None
    """Metrics, each with the direction that is better (None where that depends); None if any name may turn out to be a metric."""
    families: tuple[str, ...] = ()
    """Beginnings of further names of metrics."""
    score: bool = False
    """Whether there is a score, as in a comparison."""

    def knows(self, name: str) -> bool:
        """Whether something that is measured may have this name."""
        return self.better is None or name in self.better or name.startswith(self.families)


AUDIT = Names()
"""The names of one audit: which metrics there are, its findings show."""


@dataclass(frozen=True)
class Promised:
    """What a release promises, as far as conditions ask for it."""

    assurance: Assurance
    epsilon: float | None = None
    """The proven epsilon; None where nothing is proven."""
    k: float | None = None
    """The k of k-anonymity verified on the release itself over all its quasi-identifiers; None where there is none."""

    @classmethod
    def of(cls, guarantee: Guarantee, quasi: Iterable[str]) -> Promised:
        """From a guarantee and the quasi-identifiers of the release."""
        proven = guarantee.assurance is Assurance.PROVEN
        return cls(guarantee.assurance, guarantee.epsilon() if proven else None, guarantee.k(quasi))


@dataclass(frozen=True)
class Outcome:
    """Whether a condition holds, and by which number."""

    expression: str
    holds: bool
    reason: str
    finding: Finding | None = None
    """The finding that decided."""
    unknown: bool = False
    """Whether it does not hold because nothing was measured that could answer it."""
    blind: bool = False
    """Whether only the upper bound misses the limit: what was measured keeps it, but with so few people more cannot be excluded."""

    def to_json(self) -> dict[str, Any]:
        """As an audit holds it."""
        return {"expression": self.expression, "holds": self.holds, "told": self.reason}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Outcome:
        """Read it back; what is missing is empty, and does not hold."""
        return cls(lenient.text(plain.get("expression")), bool(plain.get("holds")), lenient.text(plain.get("told")))


@dataclass(frozen=True)
class Condition:
    """A name, a sign and a limit, such as ``max_gain<0.05``: the upper bound of what every attack gains must lie below.

    The name is ``max_gain`` (on how many more people inside than outside any attack succeeds, r - c), ``max_risk`` (the same as a
    share of those whom the attack would else miss, (r - c)/(1 - c)), one of the Article 29 risks (``singling_out_gain``,
    ``linkability_gain``, ``inference_gain``; without ``_gain`` as ``max_risk``), ``alarms`` (their number), the name of a metric
    with underscores for spaces, ``epsilon`` (the proven one, infinite where nothing is proven), ``k`` (verified on the release
    itself over all its quasi-identifiers), ``promise`` (``=proven``, or ``=verified``, which a proof keeps too) or, in a
    comparison, ``score``. ``_quasi`` or ``_all`` behind a name of attacks means only those whose attacker holds that much.

    Gains, risks and other metrics of which less is better are judged by their upper bounds, those of which more is better by
    their lower bounds. Each bound of an attack lies above the truth in about 97.5 of 100 audits (fewer where there are only some
    dozen control rows), and the condition holds only if all lie below: how many attacks there are does not help one beyond the
    limit to pass.
    """

    expression: str
    name: str
    sign: str
    limit: float | Assurance

    @classmethod
    def parse(cls, text: str, where: str = "--gate", names: Names = AUDIT) -> Condition:
        """Read ``name sign limit``. What can never be judged is refused before anything is run."""
        match = _FORM.fullmatch(text)
        if not match:
            raise InputError(f"expected something like max_gain<0.05, k>=10 or promise=proven, got {text!r}", where=where)
        name, sign, limit = joined(match.group(1)), match.group(2), match.group(3)
        try:
            read = _promise_limit(sign, limit) if name == "promise" else _numeric_limit(_stem(name)[0], sign, limit, names)
        except ValueError as error:
            raise InputError(f"{text.strip()}: {error}", where=where) from None
        return cls(f"{name}{sign}{limit}", name, sign, read)

    @property
    def stem(self) -> str:
        """The name without what the attacker holds."""
        return _stem(self.name)[0]

    @property
    def known(self) -> str:
        """What the attacker holds, as in ``Finding``; empty for all of them."""
        return _stem(self.name)[1]

    @property
    def about_promise(self) -> bool:
        """Whether it asks what the release promises, and not what was measured."""
        return self.name in ("promise", "epsilon", "k")

    @property
    def description(self) -> str:
        """In words."""
        bound = f"{_ORDERS[self.sign]} {self.limit if isinstance(self.limit, Assurance) else f'{self.limit:g}'}".strip()
        if self.name == "promise":
            return f"what it promises must be {self.limit}" + (", or proven" if self.limit is Assurance.VERIFIED else "")
        if self.stem == "alarms":
            order = "fewer than" if self.sign == "<" else "at most"
            what = f"{order} {self.limit:g} attacks may raise an alarm" if self._allows(1) else "no attack may raise an alarm"
            return f"{what}, {knowing(self.known)}" if self.known else what
        if self.stem in ATTACKED:
            what = _attacks_must(self.stem, bound)
            return f"{what}, {knowing(self.known)}" if self.known else what
        words = {
            "epsilon": f"differential privacy must be proven with an epsilon of {bound}",
            "k": f"k-anonymity over all quasi-identifiers must be verified on the release with a k of {bound}",
            "score": f"the score must be {bound} (lower bound)",
        }
        end = "upper" if self.sign in UPPER else "lower"
        return words.get(self.name, f"{self.name.replace('_', ' ')} must be {bound} ({end} bound)")

    def judge(self, findings: Sequence[Finding], promised: Promised | None = None) -> Outcome:
        """Whether it holds for one audit; InputError if it names a metric that is not among the findings."""
        if not (self.about_promise or self.stem in (*ATTACKED, "alarms")):
            self._require_metric(findings)
        return self._judge(findings, promised, None)

    def judge_runs(self, runs: Sequence[Sequence[Finding]], promised: Promised, score: float | None) -> Outcome:
        """Whether it holds in every run of one setting, so that one lucky run does not pass. ``score``: its lower bound."""
        outcomes = [self._judge(run, promised, score) for run in runs or [()]]
        return next((outcome for outcome in outcomes if not outcome.holds), outcomes[0])

    def _judge(self, findings: Sequence[Finding], promised: Promised | None, score: float | None) -> Outcome:
        if self.about_promise:
            return self._judge_promise(promised)
        if self.name == "score":
            return self._unknown("it has no score") if score is None else self._decided(score, f"lower bound {score:.3g}")
        if self.stem == "alarms":
            return self._judge_alarms([f for f in findings if self.known in ("", f.known)])
        selected = self._selected(findings)
        return self._judge_upper(selected) if self.sign in UPPER else self._judge_lower(selected)

    def _judge_promise(self, promised: Promised | None) -> Outcome:
        if promised is None:
            return self._unknown("the release has no card, so it is not known what it promises")
        if isinstance(self.limit, Assurance):
            holds = promised.assurance in ACCEPTED[self.limit]
            what = "is" if holds else "is not"
            return Outcome(self.expression, holds, f"what it promises {what} {self.limit} (evidence: {promised.assurance})")
        value = promised.epsilon if self.name == "epsilon" else promised.k
        if value is not None:
            return self._decided(value, f"it is {value:.4g}")
        if self.name == "epsilon":
            return Outcome(self.expression, False, "nothing is proven, so it is infinite")
        return Outcome(self.expression, False, "no k over all quasi-identifiers is verified on the release")

    def _judge_alarms(self, findings: Sequence[Finding]) -> Outcome:
        tests = sum(f.p is not None for f in findings)
        if not tests:
            return self._unknown("nothing was tested, so it is not known to hold")
        raised = alarms(findings)
        return self._decided(len(raised), f"{len(raised)} of {tests} tests raise an alarm", raised[0] if raised else None)

    def _selected(self, findings: Sequence[Finding]) -> list[Finding]:
        findings = [f for f in findings if self.known in ("", f.known)]
        if self.stem in ATTACKED:
            kind = GAINS.get(self.stem) or RISKS.get(self.stem)
            return [f for f in findings if f.risk is not None and kind in (None, f.risk)]
        return [f for f in findings if joined(f.name) == self.stem]

    def _judge_upper(self, selected: Sequence[Finding]) -> Outcome:
        by_gain = self.stem in GAINS
        ends = [
            (f.gain.value, f.gain.high, f) if by_gain and f.gain else (f.value, None if by_gain else upper_bound(f), f)
            for f in selected
        ]
        bounds = [(value, high, f) for value, high, f in ends if high is not None]
        if not bounds:
            return self._unmeasured(selected)
        value, high, worst = max(bounds, key=lambda bound: bound[1])
        reason = f"the largest upper bound is {high:.3g} ({worst.label}), of {len(bounds)} measured"
        least = resolution([f.gain for _, _, f in bounds if f.gain is not None]) if by_gain else 0.0
        if self._allows(high) and not self._allows(least):
            reason += f"; even where nothing leaks an audit of this size may read {least:.3g}, so this one was lucky"
        if missing := sum(f.value is None for f in selected):
            reason += f"; {missing} could not be computed"
        blind = not self._allows(high) and all(measured is not None and self._allows(measured) for measured, _, _ in bounds)
        if blind:
            reason += (
                f"; what was measured is {value:.3g}, but with so few people up to {high:.3g} cannot be excluded, and more "
                "control rows would narrow it"
            )
        return Outcome(self.expression, self._allows(high), reason, worst, blind=blind)

    def _judge_lower(self, selected: Sequence[Finding]) -> Outcome:
        bounds = [(low, f) for f in selected if (low := f.value if f.low is None else f.low) is not None]
        if not bounds:
            return self._unmeasured(selected)
        least, worst = min(bounds, key=lambda bound: bound[0])
        return self._decided(least, f"lower bound {least:.3g} ({worst.label})", worst)

    def _require_metric(self, findings: Sequence[Finding]) -> None:
        selected = self._selected(findings)
        if not selected:
            names = sorted({joined(f.name) for f in findings if upper_bound(f) is not None})
            known = [*ATTACKED, "alarms", "epsilon", "k", "promise", *names]
            near = meant(self.name, known)
            raise InputError(f"there is no {self.name!r} in this audit{near}; there are {', '.join(known)}", where="--gate")
        if self.sign not in UPPER and selected[0].better is Better.LOWER:
            raise InputError(f"{self.expression}: {_wrong_way(self.name, Better.LOWER)}", where="--gate")

    def _allows(self, value: float) -> bool:
        return bool(SIGNS[self.sign](value, self.limit))

    def _decided(self, value: float, reason: str, finding: Finding | None = None) -> Outcome:
        return Outcome(self.expression, self._allows(value), reason, finding)

    def _unmeasured(self, selected: Sequence[Finding]) -> Outcome:
        what = "could not be computed, or has no upper bound" if selected else "was not measured"
        return self._unknown(f"it {what}, so it is not known to hold")

    def _unknown(self, reason: str) -> Outcome:
        return Outcome(self.expression, False, reason, unknown=True)


def parse_conditions(texts: Iterable[str], where: str, names: Names = AUDIT) -> list[Condition]:
    """All conditions, or all faults at once."""
    conditions, faults = list[Condition](), list[Fault]()
    for text in texts:
        try:
            conditions.append(Condition.parse(text, where, names))
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    return conditions


def refused(condition: Condition, reasons: Sequence[str]) -> Outcome:
    """The outcome where the audit itself is void, and so nothing is known."""
    return Outcome(condition.expression, False, f"the audit is void: {reasons[0]}", unknown=True)


def upper_bound(finding: Finding) -> float | None:
    """The upper bound of what was measured; a measure of utility without an interval is a fact and bounds itself."""
    if finding.high is None and finding.subject is Subject.UTILITY:
        return finding.value
    return finding.high


def _stem(name: str) -> tuple[str, str]:
    """A name without its ending that says what the attacker holds, and that; empty where there is none."""
    ending = next((one for one in KNOWN if name.endswith(one) and len(name) > len(one)), "")
    return name.removesuffix(ending), KNOWN.get(ending, "")


def _attacks_must(name: str, bound: str) -> str:
    """What a condition on attacks asks for, in words."""
    kind = GAINS.get(name) or RISKS.get(name)
    by = f"every attack by {kind}" if kind else "every attack"
    if name in GAINS:
        return f"{by} must succeed on {bound} more of the people in the table than of those outside it (upper bound of r - c)"
    return f"{by} must have a residual risk of {bound} (upper bound of (r - c)/(1 - c))"


def _promise_limit(sign: str, limit: str) -> Assurance:
    if sign != "=" or limit not in list(ACCEPTED):
        raise ValueError("expected promise=proven or promise=verified")
    return Assurance(limit)


def _numeric_limit(name: str, sign: str, limit: str, names: Names) -> float:
    """The limit as a number; ValueError says why the condition cannot be judged."""
    try:
        number = float(limit)
    except ValueError:
        raise ValueError(f"{limit!r} is not a number") from None
    if not abs(number) < float("inf") or sign == "=":
        raise ValueError("expected <, <=, > or >= and a finite number, as in max_gain<0.05")
    if name == "score" and not names.score:
        raise ValueError("one audit has no score; name a measure of utility instead")
    if sign not in _ALLOWED.get(name, SIGNS):
        raise ValueError(f"{name} is bounded by {' or '.join(_ALLOWED[name])}")
    own = name in _ALLOWED or name in (*ATTACKED, "alarms")
    if not own and not names.knows(name):
        measures = [one for one, better in (names.better or {}).items() if better is not None]
        conditions = [*ATTACKED, "alarms", *_ALLOWED, "promise", *measures]
        raise ValueError(f"there is no {name!r}{meant(name, conditions)}; there are {', '.join(conditions)}")
    better = Better.LOWER if own and name not in _ALLOWED else (names.better or {}).get(name)
    if better is not None and (better is Better.LOWER) is not (sign in UPPER):
        raise ValueError(_wrong_way(name, better))
    if number < 0 and name in _NEVER_NEGATIVE:
        raise ValueError(f"{name} is never below 0")
    return number


def _wrong_way(name: str, better: Better) -> str:
    return f"of {name} {better} is better: bound it from {'above' if better is Better.LOWER else 'below'}"
