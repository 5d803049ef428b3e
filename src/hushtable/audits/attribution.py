"""Correct attribution probability (CAP): what released rows with a person's key values reveal about the person's secret."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hushtable.audits.inference_targets import EVERYTHING, Knowledge, Secret, column_sets, knowledge, secrets
from hushtable.audits.matching import Matching
from hushtable.evidence.attack import Attack, Strike, Way, of_hundred
from hushtable.evidence.confidence import Rate, bootstrap
from hushtable.evidence.finding import Better, Finding, Risk, Subject, uncomputed
from hushtable.pipeline.step import check_knobs
from hushtable.table.arrays import Floats, Integers, Mask

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

MOST = 10_000
"""People of each side for whom the rows that differ in the fewest keys are searched: every released row must be compared."""


@dataclass(frozen=True, kw_only=True)
class Attribution(Attack):
    """CAP, TCAP and GTCAP: released rows that match a person in the keys, and the secret that they have.

    A released row *claims* its secret if at least ``tau`` of the released rows that match it have that secret (its
    within-class attribution probability, Taub et al. 2018). A person is hit if the strongest claim among the matching
    released rows is right. TCAP, the published mean, is the share of the original rows matching a claim that have its
    secret, averaged over the claims that any original row matches; GTCAP lets numbers, keys and secret alike, differ by
    ``radius`` of their range. Both are in ``detail``, on training rows and on control rows.

    CAP is the mean over people of the share of matching released rows that have their secret (a person of several rows counts
    once, with the mean of them): a person without a match counts 0 (CAP0), is left
    out (CAP), or is matched with the rows that differ in the fewest keys (GCAP, on at most 10,000 people of each side).
    Keys are all other columns (the worst case), and the quasi columns where there are some; CAP is for those only, then.
    """

    by_knowledge = True

    secrets: tuple[str, ...] = ()
    """The columns to guess; secrets and targets when empty, else the last column."""
    known: tuple[str, ...] = ()
    """More sets of key columns, each joined by +: age+sex."""
    tau: float = 1.0
    """The share of its matching released rows that must have a row's secret for it to claim it."""
    radius: float = 0.1
    """By how much of their range numbers may differ in GTCAP."""

    def __post_init__(self) -> None:
        """Shares."""
        check_knobs(self, tau=(0 < self.tau <= 1, "must lie in (0, 1]"), radius=(0 < self.radius < 1, "must lie between 0 and 1"))

    def ways(self, case: Case, rng: np.random.Generator) -> Iterator[Way | Finding]:
        """TCAP, GTCAP and CAP for each secret and each set of keys."""
        sets = [] if case.limited else column_sets(case, self.known, "known")
        named, refused = secrets(case, self.secrets, "attribution")
        # Once is enough: who holds fewer columns cannot guess it either.
        yield from () if case.limited else refused
        for name in named:
            secret = Secret.of(case, name, 0.0)
            if case.limited and secret.constant:
                continue
            if secret.constant or len(case.compared) < 2:
                reason = "all people have the same value" if secret.constant else "there is no other column to serve as a key"
                yield uncomputed("attribution", case.train.rows, f"{name}: {reason}", scope=name, risk=Risk.INFERENCE)
                continue
            every = knowledge(case, name, sets)
            fewer = len(every) > 1 or any(not known.whole for known in case.attackers)
            for known in every:
                matching = yield from self._targeted(case, secret, known)
                # Equal in every column but one are hardly any two people: where fewer keys are declared, CAP is about those.
                if known.label != EVERYTHING or not fewer:
                    yield _cap(case, matching, known, rng)

    def _targeted(self, case: Case, secret: Secret, known: Knowledge) -> Generator[Way, None, Matching]:
        """TCAP, and GTCAP where numbers are involved; returns who matches whom exactly."""
        width = case.encoding((secret.name,)).ranges.get(secret.name, 0.0)
        exact, near = replace(secret, margin=0.0), replace(secret, margin=self.radius * width)
        matching = Matching.of(case, known.columns, exact, 0.0)
        yield self._claims(case, exact, known, matching, "TCAP", "")
        if width or matching.numeric:
            vague = f" (numbers to within {100 * self.radius:g} % of their range)"
            yield self._claims(case, near, known, Matching.of(case, known.columns, near, self.radius), "GTCAP", vague)
        return matching

    def _claims(self, case: Case, secret: Secret, known: Knowledge, matching: Matching, name: str, vague: str) -> Way:
        release = matching.sides["release"]
        total, same, _ = matching.agreement("release", "release")
        claiming = same / total >= self.tau
        # The firmest claim first, of those the one with most matching rows, of those the earliest.
        rank = np.empty(len(total), np.int64)
        rank[np.lexsort((-release.first, total, same / total))] = np.arange(len(total))
        score = np.where(claiming, rank, -1)

        def claim(which: str) -> Integers:
            best = matching.agreement(which, "release", score)[2]
            return np.where(best >= 0, release.first[best], -1)[matching.sides[which].place]

        chosen = {which: claim(which) for which in ("train", "control")}

        def strike(which: str) -> Strike:
            rows = chosen[which]
            return Strike(secret.hits(which, secret.offered[rows]) & (rows >= 0), rows)

        def describe(attempt: int, values: bool) -> str:
            text = f"{secret.name} of released rows that agree in {', '.join(known.columns)}{vague}"
            return f"{text}: {case.release.strings(secret.name)[chosen['train'][attempt]]}" if values else text

        detail: dict[str, float | str | None] = {
            "secret": secret.name,
            "tau": self.tau,
            "claiming_rows": float(release.entries.weight[claiming].sum()),
        }
        for which, prefix in (("train", ""), ("control", "control_")):
            detail[f"{prefix}claims"] = int((chosen[which] >= 0).sum())
            detail[prefix + name.lower()] = _published(matching, which, claiming)
        # Blind guessing, too, counts only for those about whom something is claimed.
        naive = secret.blind("train") * (chosen["train"] >= 0)
        does = f"correctly reads {secret.name} from matching released rows that agree on it"
        return Way(name, Risk.INFERENCE, known.phrase + vague, does, strike, naive, known.scope, describe, detail, known.known)


def _published(matching: Matching, which: str, claiming: Mask) -> float | None:
    """TCAP as published: over claiming released rows, the mean share of matching original rows that have the claimed secret."""
    total, same, _ = matching.agreement("release", which)
    defined = claiming & (total > 0)
    weight = matching.sides["release"].entries.weight[defined]
    return float(weight @ (same[defined] / total[defined]) / weight.sum()) if defined.any() else None


def _cap(case: Case, matching: Matching, known: Knowledge, rng: np.random.Generator) -> Finding:
    shares: dict[str, Floats] = {}
    detail: dict[str, float | None] = {}
    for which, prefix in (("train", ""), ("control", "control_")):
        total, same, _ = matching.agreement(which, "release")
        place = matching.sides[which].place
        share, matched = (same / np.maximum(total, 1))[place], (total > 0)[place]
        asked = rng.permutation(len(place))[:MOST]
        skipped = np.ones(len(total), np.bool_)
        skipped[place[asked]] = total[place[asked]] > 0
        more, right = matching.closest(which, "release", skipped)
        nearest = ((same + right) / np.maximum(total + more, 1))[place[asked]]
        shares[which] = case.people(which).mean(share)
        detail[f"{prefix}cap0"] = float(shares[which].mean())
        detail[f"{prefix}cap"] = float(share[matched].mean()) if matched.any() else None
        detail[f"{prefix}gcap"] = float(nearest.mean())
        detail[f"{prefix}matched"] = float(matched.mean())
    ours, others = (_mean(shares[which], rng) for which in ("train", "control"))
    return Finding(
        name="CAP", scope=known.scope, known=known.known, value=ours.value, low=ours.low, high=ours.high,
        baseline=others.value, baseline_bad=others.high, better=Better.LOWER, subject=Subject.PRIVACY, n=len(shares["train"]),
        note=f"an attacker who {known.phrase} and takes {known.secret} from a random released row with the same values is right "
        f"for {of_hundred(ours.value)} people in the table, against {of_hundred(others.value)} who are not in it",
        detail=detail,
    )  # fmt: skip


def _mean(values: Floats, rng: np.random.Generator) -> Rate:
    estimate = bootstrap(lambda rows: float(values[rows].mean()), len(values), rng, times=200)
    return Rate(estimate.value, min(estimate.low, estimate.value), max(estimate.high, estimate.value))
