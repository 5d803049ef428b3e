"""The causes of the alarms of an audit, measured: people who were hit beside the released rows that hit them, column by column.

A column that a released row carries from a person agrees with theirs. How often it does so among people who were hit stands beside
how often it does among people outside who would have been hit alike, each with the released row nearest to them: columns that
agree more often are those by which the attack may succeed. Which of these do harm, ``links`` finds out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hushtable.evidence.confidence import fisher
from hushtable.evidence.finding import Finding, Risk, Subject, Trace
from hushtable.evidence.known import ALL
from hushtable.evidence.links import HARMLESS, NEARLY, Links
from hushtable.evidence.pool import Pool
from hushtable.evidence.verdict import alarms, binding_assurance, is_alarm
from hushtable.evidence.verdict.cause import Cause, CauseKind, by_weight, remedies
from hushtable.evidence.verdict.publish import NAMED
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.stated import StatedGuarantee
from hushtable.table.arrays import Integers, Mask
from hushtable.table.columns import Role

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

SURE = 1e-3
"""A column counts where chance explains its agreement, or what is left of a link, with at most this probability."""
LEAST = 20
"""So many people outside who were hit are compared with; where there are fewer, all people outside are."""
TAIL = 0.05
"""The share of all people at either end whose numbers are outliers."""
LINKING = (CauseKind.VERBATIM, CauseKind.UNTOUCHED, CauseKind.COPIED, CauseKind.DISTURBED, CauseKind.OUTLIERS)
"""Causes by which rows are linked to people: one may be a part of another."""
ASKED = 5
"""So many alarms of each attacker say which columns are hardly changed."""
WORDED = ("identifiers", "text-verbatim", "text-patterns")
"""Audits that find what a person wrote, or is called, in the release: their scope is the column."""
WRITTEN = ("text-nearest", "text-membership")
"""Audits that find texts which follow those of single people."""
ABOUT = 0.05
"""Shares of released rows that differ by no more than this are about the same rows."""
MOSTLY = 0.5
"""From this share of the cases on, something holds for most."""


def causes(case: Case, findings: Sequence[Finding], stated: StatedGuarantee | None = None) -> tuple[Cause, ...]:
    """Why the alarms among these findings were raised, the weightiest cause first. The findings must bring their traces."""
    raised = [finding for finding in alarms(findings) if finding.subject is Subject.PRIVACY]
    named = [finding for finding in findings if finding.name == NAMED]
    if not raised and not named:
        return ()
    whole = case.knowing(None)
    search = _Search(whole, binding_assurance(stated), Links(whole))
    # Columns that name people need no test.
    explained = [_Explained(f, CauseKind.IDENTIFIERS, frozenset(f.detail.get("columns", ()))) for f in named]
    explained += [search.explain(finding) for finding in raised]
    explained = search.absorbed(explained)
    found = [
        search.cause(kind, [one for one in explained if one.kind is kind]) for kind in dict.fromkeys(e.kind for e in explained)
    ]
    return tuple(sorted(found, key=by_weight))


@dataclass(frozen=True)
class _Explained:
    """One alarm, its kind of cause, and the columns that it may succeed by."""

    finding: Finding
    kind: CauseKind
    columns: frozenset[str]
    share: float | None = None


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Rows of people beside released rows."""

    rows: Integers
    released: Integers


@dataclass(frozen=True, eq=False)
class _Search:
    """The case under examination."""

    case: Case
    assurance: Assurance
    links: Links

    def explain(self, finding: Finding) -> _Explained:
        """The cause of one alarm."""
        if finding.audit in WORDED:
            return _Explained(finding, CauseKind.IDENTIFIERS, frozenset({finding.scope}))
        if finding.audit in WRITTEN:
            # Near a person's text, or likelier for it: no column but the text itself, which is none of those compared.
            return _Explained(finding, self._proven(CauseKind.MEMORIZED), frozenset())
        named = [name for name in finding.detail.get("columns", ()) if name in self.case.compared]
        if len(named) == 1:
            return self._rare(finding, named[0])
        pairs = self._pairs(finding)
        linked = frozenset(named) or self._agreeing(finding, pairs, near=False)
        secret = finding.detail.get("secret", "")
        linked = (linked & frozenset(self._held(finding))) - {secret}
        if self._whole(finding, pairs):
            return _Explained(finding, self._proven(CauseKind.VERBATIM), linked, self.links.carried(frozenset(self.case.compared)))
        return self._carried_over(finding, linked, pairs) or self._copied(finding, linked) or self._by_class(finding)

    def _carried_over(self, finding: Finding, linked: frozenset[str], pairs: _Pairs) -> _Explained | None:
        """Columns that most released rows have from one person, as they were or hardly changed."""
        if self.links.p(linked, near=False) <= SURE:
            kept = self.links.kept(linked)
            if (share := self.links.carried(kept)) >= MOSTLY:
                return _Explained(finding, self._proven(CauseKind.UNTOUCHED), kept, share)
        near = (self._agreeing(finding, pairs, near=True) & frozenset(self._held(finding))) - {finding.detail.get("secret", "")}
        numeric = any(self.case.train.schema[name].numeric for name in near)
        # Means and ranges of classes are near to people by design.
        classed = self.assurance is Assurance.VERIFIED and near <= self._quasi
        if numeric and not classed and self.links.p(near, near=True) <= SURE:
            # Beside them stands what hardly ever differs, though it agrees with others too.
            held = (n for n in self._held(finding) if self.links.near("train", n, pairs.rows, pairs.released).mean() >= NEARLY)
            whole = near | (frozenset(held) - {finding.detail.get("secret", "")})
            if (share := self.links.carried(whole, near=True)) >= MOSTLY:
                return _Explained(finding, self._proven(CauseKind.DISTURBED), whole, share)
        return None

    def _copied(self, finding: Finding, linked: frozenset[str]) -> _Explained | None:
        """Columns that some released rows have from one person."""
        # Classes of few people keep some of their values; that is no copying.
        own = linked - self._quasi if self.assurance is Assurance.VERIFIED else linked
        if self.links.p(own, near=False) > SURE:
            return None
        harmful = self.links.harmful(linked, near=False)
        if len(harmful) == 1:
            return self._rare(finding, *harmful)
        return _Explained(finding, self._proven(CauseKind.COPIED), linked, self.links.carried(linked))

    def _by_class(self, finding: Finding) -> _Explained:
        """What is learned though nothing is copied: from people who look alike, or from a generator that follows single ones."""
        secret = finding.detail.get("secret", "")
        if finding.risk is Risk.INFERENCE and secret in self._secrets and self._in_classes:
            return _Explained(finding, self._proven(CauseKind.HOMOGENEOUS), frozenset({secret}))
        kind = CauseKind.CLASSES if self._in_classes else CauseKind.MEMORIZED
        return _Explained(finding, self._proven(kind), frozenset({secret} - {""}))

    def absorbed(self, explained: Sequence[_Explained]) -> list[_Explained]:
        """The same with alarms given to a cause that explains many others, where removing that one removes them too."""
        explained = self._by_rarity(explained)
        whole = max((one.share or 0.0 for one in explained if one.kind is CauseKind.VERBATIM), default=0.0)
        for kind, near in ((CauseKind.UNTOUCHED, False), (CauseKind.DISTURBED, True)):
            kept = [one.columns for one in explained if one.kind is kind and (one.share or 0.0) > whole]
            if kept:
                together = frozenset[str]().union(*kept)
                harmful = self.links.harmful(together, near=near)
                return [
                    replace(one, kind=kind, columns=together) if self._removed_with(one, harmful, near=near) else one
                    for one in explained
                ]
        return [
            replace(one, kind=CauseKind.VERBATIM)
            if one.kind in LINKING and one.share is not None and one.share <= whole + ABOUT and whole
            else one
            for one in explained
        ]

    def _removed_with(self, one: _Explained, harmful: frozenset[str], *, near: bool) -> bool:
        """Whether what explains one alarm is gone with these columns, of which some are its own."""
        if one.kind is CauseKind.VERBATIM:
            return True
        if not one.columns & harmful:
            return False
        if one.kind in (CauseKind.CLASSES, CauseKind.MEMORIZED):
            return True
        return one.kind in LINKING and self.links.p(one.columns - harmful, near=near) >= HARMLESS

    def _by_rarity(self, explained: Sequence[_Explained]) -> list[_Explained]:
        """The same with alarms given to rare levels or outliers where most of those whom they hit beyond chance have some."""
        result = list(explained)
        for rare in [one for one in explained if one.kind in (CauseKind.RARE, CauseKind.OUTLIERS)]:
            (name,) = rare.columns
            alone = self._alone(name)
            result = [
                replace(one, kind=rare.kind, columns=rare.columns)
                if one.kind in (CauseKind.MEMORIZED, CauseKind.CLASSES, CauseKind.COPIED) and self._hits_mostly(one.finding, alone)
                else one
                for one in result
            ]
        return result

    def _alone(self, name: str) -> Mask:
        """Which training rows have a value of this column that no other person has."""
        ids = self.case.value_ids(name)
        everyone = np.concatenate([ids["train"], ids["control"]])
        return Pool.of(self.case).alone(everyone)[: self.case.train.rows]

    def _hits_mostly(self, finding: Finding, some: Mask) -> bool:
        """Whether most of what an attack gains beyond chance are these people."""
        trace = finding.trace
        if trace is None:
            return False
        hit = trace.persons[trace.train & (trace.persons >= 0)]
        return len(hit) > 0 and bool(some[hit].mean() >= MOSTLY * _excess(finding))

    @property
    def _secrets(self) -> frozenset[str]:
        return frozenset(self.case.train.schema.role(Role.SECRET, Role.TARGET)) or frozenset(self.case.compared)

    @property
    def _quasi(self) -> frozenset[str]:
        return frozenset(name for name in self.case.compared if self.case.train.schema[name].role is Role.QUASI)

    @property
    def _in_classes(self) -> bool:
        """Whether released rows come in classes of several that look alike on the quasi-identifiers, as k-anonymity makes them."""
        if self.assurance is Assurance.VERIFIED or self.case.generalized:
            return True
        ids = self.case.row_ids(sorted(self._quasi))["release"]
        return bool(self._quasi) and bool((np.unique(ids, return_counts=True)[1] > 1).mean() >= MOSTLY)

    def cause(self, kind: CauseKind, explained: Sequence[_Explained]) -> Cause:
        """One cause for all alarms of a kind: columns whose change removes every one of them."""
        sets = [one.columns for one in explained]
        together = frozenset[str]().union(*sets)
        if kind in (CauseKind.UNTOUCHED, CauseKind.COPIED, CauseKind.DISTURBED):
            near = kind is CauseKind.DISTURBED
            harmful = self.links.harmful(together, near=near)
            for own in sets:
                harmful |= self.links.harmful(own - harmful, near=near)
            for own in self._also_near([one.finding for one in explained]):
                harmful |= self.links.harmful(own - harmful, near=True)
            together = harmful
        elif kind in (CauseKind.VERBATIM, CauseKind.EPSILON, CauseKind.CLASSES, CauseKind.MEMORIZED):
            together = frozenset()
        columns = tuple(self.links.ordered(together))
        rows = kind in (CauseKind.VERBATIM, CauseKind.UNTOUCHED, CauseKind.COPIED)
        shares = [one.share for one in explained if one.share is not None and rows]
        findings = [one.finding for one in explained]
        return Cause(
            kind=kind,
            columns=columns,
            share=max(shares, default=None),
            alarms=tuple(finding.label for finding in findings if is_alarm(finding.p_adjusted)),
            known=tuple(dict.fromkeys(finding.known for finding in findings if finding.known)),
            remedies=remedies(kind, columns, self._quasi, self.assurance),
        )

    def _also_near(self, findings: Sequence[Finding]) -> Iterable[frozenset[str]]:
        """Columns that are hardly changed, beside those that are not at all: left alone, they would link as well."""
        by_known: dict[str, list[Finding]] = {}
        for finding in findings:
            by_known.setdefault(finding.known, []).append(finding)
        for finding in (one for some in by_known.values() for one in some[:ASKED]):
            agreeing = self._agreeing(finding, self._pairs(finding), near=True)
            yield (agreeing & frozenset(self._held(finding))) - {finding.detail.get("secret", "")}

    def _proven(self, kind: CauseKind) -> CauseKind:
        """Whatever is carried over: of a release with a proof its epsilon allowed it."""
        return CauseKind.EPSILON if self.assurance is Assurance.PROVEN else kind

    def _rare(self, finding: Finding, name: str) -> _Explained:
        """Values of one column that nobody else has: levels, the ends of a number, or numbers that were left as they were."""
        columns = frozenset({name})
        share = self.links.carried(columns)
        kind = CauseKind.UNTOUCHED if share >= MOSTLY else CauseKind.COPIED
        if self.case.train.schema[name].numeric:
            kind = CauseKind.OUTLIERS if self._at_the_ends(finding.trace, name) else kind
        elif self._hits_mostly(finding, self._alone(name)):
            kind = CauseKind.RARE
        return _Explained(finding, self._proven(kind), columns, share)

    def _at_the_ends(self, trace: Trace | None, name: str) -> bool:
        if trace is None:
            return False
        everyone = np.concatenate([self.case.tables[which].floats(name) for which in ("train", "control")])
        low, high = np.nanquantile(everyone, [TAIL, 1 - TAIL])
        values = self.case.train.floats(name)[trace.persons[trace.train]]
        return bool(((values <= low) | (values >= high)).mean() >= MOSTLY)

    def _held(self, finding: Finding) -> tuple[str, ...]:
        """The columns that the attacker holds."""
        own = next((one.columns for one in self.case.attackers if one.label == finding.known), ())
        if finding.known in ("", ALL):
            return self.case.compared
        return own or tuple(name for name in self.case.compared if name in self._quasi)

    def _pairs(self, finding: Finding) -> _Pairs:
        """Training people who were hit, each with the released row that did it; the nearest one where the attack names none."""
        trace, nearest = finding.trace, self._nearest("train", finding)
        if trace is None:
            return _Pairs(np.arange(len(nearest)), nearest)
        hit = trace.train & (trace.persons >= 0)
        rows = trace.persons[hit]
        released = (
            nearest[rows] if trace.released is None else np.where(trace.released[hit] >= 0, trace.released[hit], nearest[rows])
        )
        return self._own_rows(_Pairs(rows, released))

    def _own_rows(self, pairs: _Pairs) -> _Pairs:
        """Of people who hold several rows, the one that agrees with the released row in most columns."""
        people = self.case.people("train")
        if people.persons is None:
            return pairs
        order = np.argsort(people.who, kind="stable")
        starts = np.searchsorted(people.who[order], np.arange(people.count))
        held = people.held[people.who[pairs.rows]]
        pair = np.repeat(np.arange(len(held)), held)
        inside = np.arange(len(pair)) - np.repeat(np.cumsum(held) - held, held)
        rows = order[starts[people.who[pairs.rows]][pair] + inside]
        equal = sum(
            (self.links.equal("train", name, rows, pairs.released[pair]).astype(np.int64) for name in self.case.compared), 0
        )
        best = np.lexsort((-np.asarray(equal), pair))[np.cumsum(held) - held]
        return _Pairs(rows[best], pairs.released)

    def _outside(self, finding: Finding) -> _Pairs:
        """People outside who were hit, each with the released row nearest to them; all of them where few were."""
        nearest, trace = self._nearest("control", finding), finding.trace
        hit = np.array([], np.int64) if trace is None else trace.control_persons[trace.control & (trace.control_persons >= 0)]
        rows = hit if len(hit) >= LEAST else np.arange(len(nearest))
        return _Pairs(rows, nearest[rows])

    def _nearest(self, which: str, finding: Finding) -> Integers:
        return self.case.nearest(which, "release", 1, self._held(finding)).index[:, 0]

    def _agreeing(self, finding: Finding, pairs: _Pairs, *, near: bool) -> frozenset[str]:
        """Columns in which people who were hit agree with the released row more often than people outside do."""
        others = self._outside(finding)
        if not len(pairs.rows) or not len(others.rows):
            return frozenset()
        agree = self.links.near if near else self.links.equal
        counts = {
            name: (
                int(agree("train", name, pairs.rows, pairs.released).sum()),
                int(agree("control", name, others.rows, others.released).sum()),
            )
            for name in self.case.compared
        }
        sizes = len(pairs.rows), len(others.rows)
        return frozenset(n for n, (ours, rest) in counts.items() if fisher(ours, sizes[0], rest, sizes[1]) <= SURE / len(counts))

    def _whole(self, finding: Finding, pairs: _Pairs) -> bool:
        """Whether most of what the attack gains beyond chance are rows that were released as they were."""
        if not len(pairs.rows) or len(self.case.compared) < 2:
            return False
        same = np.ones(len(pairs.rows), np.bool_)
        for name in self.case.compared:
            same &= self.links.equal("train", name, pairs.rows, pairs.released)
        return bool(same.mean() >= MOSTLY * _excess(finding)) and self.links.p(frozenset(self.case.compared), near=False) <= SURE


def _excess(finding: Finding) -> float:
    """The share of the hits of an attack that chance does not explain."""
    gained = finding.gain
    return gained.value / (gained.value + gained.outside) if gained and gained.value > 0 else 1.0
