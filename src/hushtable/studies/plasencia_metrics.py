"""The metrics of the thesis of Plasencia Palacios (2025): audits of ours, each read as the one number that the thesis has.

Attacks are corrected by the control as there (eq. 3.1). What the thesis leaves open is said at each reading.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np

from hushtable.audits.attribution import Attribution
from hushtable.audits.density import Kernels
from hushtable.audits.indicators import ClosestRecord, IdenticalMatches, KNearest
from hushtable.audits.inference import Inference
from hushtable.audits.learned_inference import LearnedInference
from hushtable.audits.linkability import Linkability
from hushtable.audits.membership import Clouds, Halves, Scores, domias
from hushtable.audits.neural.contrastive import ContrastiveClosestRecord, ContrastiveInference, ContrastiveLinkability
from hushtable.audits.neural.encoder import Training
from hushtable.audits.neural.outliers import ContrastiveSinglingOut
from hushtable.audits.singling_out import SinglingOut
from hushtable.evidence import roc
from hushtable.evidence.case import Case
from hushtable.evidence.confidence import Rate, clopper_pearson
from hushtable.evidence.finding import Audit, Better, Finding, Subject, uncomputed
from hushtable.table.columns import Role
from hushtable.table.table import Table

Findings = Sequence[Finding]
Read = Callable[[Findings, Case], Rate | None]
"""How findings about a case are read; None where there is nothing to read."""
IMS, DCR, NEAR, SINGLING, DOMIAS, LINK = "IMS", "DCR", "k-NN", "singling out", "DOMIAS", "linkability"
LEARNED, DISTANCE, GTCAP, RADIUS = "ML inference", "distance inference", "GTCAP", "GTCAP by radius"
CONTRASTIVE, INFERENCE = "contrastive ", "inference"
RISKS = (IMS, DCR, SINGLING, DOMIAS, LINK, LEARNED, DISTANCE, GTCAP)
"""The rows of table 4.3."""
SECRETS = {"adult": "income", "texas_inpatient": "length_of_stay"}
"""What is guessed where one column is."""
KEYS = {
    "adult": ("workclass", "education", "marital_status"),
    "texas_inpatient": ("illness_severity", "pat_state", "sex_code"),
}
"""What is known where the radius of GTCAP is varied; for Texas the thesis has the country of the patient, which is not here."""
ALPHA = 0.02
"""The percentile of distances that is called close."""
NEIGHBOURS = (2, 5, 10, 20)
RADII = (0.02, 0.05, 0.1, 0.2, 0.5)


@dataclass(frozen=True, kw_only=True)
class Metric(Audit):
    """An audit read as one number."""

    name: str
    audit: Audit
    read: Read = field(repr=False)

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding; without a value where the audit has none."""
        found = self.audit.run(case, rng)
        rate = self.read([one for one in found if one.value is not None], case)
        if rate is None:
            reasons = [one.note for one in found if one.value is None]
            return [uncomputed(self.name, case.release.rows, reasons[0] if reasons else "the audit found nothing to measure")]
        return [finding(self.name, rate, case)]


@dataclass(frozen=True, kw_only=True)
class Domias(Audit):
    """The density ratio on outliers of the training rows against control rows, as 2 AUC - 1: between -1 and 1, 0 by chance.

    As published the two sides are of two kinds: lonely training rows and any control rows. A score may separate these without
    a leak. Outliers are the tenth of people farthest from the reference, densities kernels on eight principal axes.
    """

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding; without a value where there is no density, or are no outliers."""
        halves = Halves.of(case, rng)
        clouds = Clouds.of(halves, 8)
        scores = [] if clouds.flat else [one for one in domias(halves, clouds, Kernels(), rng) if isinstance(one, Scores)]
        if len(scores) < 2 or not len(scores[1].persons):
            return [uncomputed(DOMIAS, case.train.rows, "nothing varies, or everybody is equally far from the reference")]
        everybody, outliers = scores
        area = roc.auc(everybody.train[outliers.persons], everybody.control)
        return [finding(DOMIAS, Rate(2 * area.value - 1, 2 * area.low - 1, 2 * area.high - 1), case)]


@dataclass(frozen=True, kw_only=True)
class Nearest(Audit):
    """The score of the distance as published, over the mean of k distances: a finding for each k."""

    neighbours: tuple[int, ...] = NEIGHBOURS

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding for each number of neighbours."""
        found = KNearest(alpha=ALPHA, neighbours=self.neighbours, bootstrap=2).run(case, rng)
        rates = ((one, score([one], case)) for one in found if one.value is not None)
        return [finding(NEAR, rate, case, one.scope) for one, rate in rates if rate is not None]


@dataclass(frozen=True, kw_only=True)
class ByRadius(Audit):
    """GTCAP of the training rows alone, without a control, by its radius: a finding for each."""

    secret: str
    keys: tuple[str, ...]
    radii: tuple[float, ...] = RADII

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One for each radius; where no column is a number the radius means nothing, and TCAP stands for all."""
        train, release, control = (table.select((*self.keys, self.secret)) for table in (case.train, case.release, case.control))
        case, found = Case(train, release, control), []
        for radius in self.radii:
            pick = _claims(Attribution(secrets=(self.secret,), radius=radius).run(case, rng))
            share = None if pick is None else pick.detail.get(pick.name.lower())
            if share is not None:
                found.append(finding(RADIUS, Rate(share, share, share), case, f"radius {radius:g}"))
        return found


def finding(name: str, rate: Rate, case: Case, scope: str = "") -> Finding:
    """A metric as a finding, to be held against nothing leaked."""
    return Finding(
        name=name, scope=scope, value=rate.value, low=rate.low, high=rate.high, baseline=0.0, better=Better.LOWER,
        subject=Subject.PRIVACY, n=case.release.rows, note=f"{name} as Plasencia Palacios (2025) has it",
    )  # fmt: skip


def risks(name: str, table: Table) -> dict[str, Audit]:
    """The metrics of table 4.3, for the table of this name."""
    secret = secret_of(name, table)
    return {
        IMS: Metric(name=IMS, audit=IdenticalMatches(), read=named("identical match share")),
        DCR: Metric(name=DCR, audit=ClosestRecord(alpha=ALPHA, bootstrap=2), read=score),
        SINGLING: singling_out(),
        DOMIAS: Domias(),
        LINK: linkability(),
        LEARNED: Metric(name=LEARNED, audit=LearnedInference(secrets=(secret,), iterations=100), read=learned),
        DISTANCE: inference(),
        GTCAP: Metric(name=GTCAP, audit=Attribution(secrets=(secret,)), read=attributed),
    }


def sensitivity(name: str, table: Table) -> dict[str, Audit]:
    """The score of the distance by the number of neighbours, and GTCAP by its radius."""
    first = tuple(column.name for column in table.schema if column.coded and column.role is not Role.TARGET)[:3]
    return {NEAR: Nearest(), RADIUS: ByRadius(secret=secret_of(name, table), keys=KEYS.get(name, first))}


def attacks(encoder: Training, iterations: int) -> dict[str, Audit]:
    """The metrics of tables 3.1, 3.3 and 3.4: plain ones, and the same in the space of a contrastive encoder.

    ``encoder`` is how that is trained, ``iterations`` those of boosting.
    """
    how = asdict(encoder)
    contrastive = {
        SINGLING: Metric(name=CONTRASTIVE + SINGLING, audit=ContrastiveSinglingOut(**how), read=highest),
        DCR: Metric(name=CONTRASTIVE + DCR, audit=ContrastiveClosestRecord(alpha=ALPHA, bootstrap=2, **how), read=score),
        LINK: Metric(name=CONTRASTIVE + LINK, audit=ContrastiveLinkability(**how), read=average),
        INFERENCE: AllColumns(encoder=encoder, iterations=iterations),
    }
    plain = {
        SINGLING: singling_out(),
        DCR: Metric(name=DCR, audit=ClosestRecord(alpha=ALPHA, bootstrap=2), read=score),
        LINK: linkability(),
        INFERENCE: inference(INFERENCE),
    }
    return {name: audit for key in plain for name, audit in ((key, plain[key]), (CONTRASTIVE + key, contrastive[key]))}


@dataclass(frozen=True, kw_only=True)
class AllColumns(Audit):
    """Contrastive inference of every column in turn, as the plain attack has it."""

    encoder: Training
    iterations: int

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding."""
        audit = ContrastiveInference(secrets=case.columns, iterations=self.iterations, **asdict(self.encoder))
        return Metric(name=CONTRASTIVE + INFERENCE, audit=audit, read=average).run(case, rng)


def singling_out() -> Audit:
    """The highest risk over one column and 3 to 12, as published; descriptions by exact values are ours alone, and left out."""
    return Metric(name=SINGLING, audit=SinglingOut(exact=()), read=highest)


def linkability() -> Audit:
    """One neighbour, and the mean over splits of the columns: which split was published is not said."""
    return Metric(name=LINK, audit=Linkability(neighbours=(1,)), read=average)


def inference(name: str = DISTANCE) -> Audit:
    """The mean over all columns, each guessed from all others."""
    return Metric(name=name, audit=Inference(), read=whole)


def secret_of(name: str, table: Table) -> str:
    """The column that is guessed where one is: the target of a table that is not in the thesis."""
    targets = [column.name for column in table.schema if column.role is Role.TARGET]
    return SECRETS.get(name, targets[0] if targets else table.schema.names[-1])


def named(name: str) -> Read:
    """The finding of this name."""
    return lambda found, case: next((_rate(one) for one in found if one.name == name), None)


def highest(found: Findings, case: Case) -> Rate | None:
    """The finding of the largest value, with its own interval."""
    return max((_rate(one) for one in found), key=lambda rate: rate.value, default=None)


def average(found: Findings, case: Case) -> Rate | None:
    """The mean of values and of the ends of intervals: these overlap in people, so the interval is a cautious one."""
    rates = [_rate(one) for one in found]
    if not rates:
        return None
    return Rate(*(float(np.mean([getattr(rate, end) for rate in rates])) for end in ("value", "low", "high")))


def whole(found: Findings, case: Case) -> Rate | None:
    """The mean over secrets that are guessed from everything else."""
    return average([one for one in found if " from " not in one.scope], case)


def score(found: Findings, case: Case) -> Rate | None:
    """The score of the distance as published (eq. 3.10, 3.11), which is -alpha/(1 - alpha) where no released row is close.

    It divides the *number* of close released rows by alpha times the number of training rows. The interval is the exact one of
    the share of close rows.
    """
    if not found:
        return None
    published, rows, train = found[0].detail["published"], case.release.rows, case.train.rows
    close = clopper_pearson(round(published["ratio"] * ALPHA * train), rows)
    low, high = ((share * rows / train - ALPHA) / (1 - ALPHA) for share in (close.low, close.high))
    return Rate(published["score"], low, high)


def learned(found: Findings, case: Case) -> Rate | None:
    """Accuracy corrected by the control; of a number 1 - RMSE/range, corrected likewise (eq. 4.7, 3.1)."""
    error = next((one for one in found if one.name == "learned inference NRMSE"), None)
    if error is None:
        return named("learned inference")(found, case)
    value, low, high = (error.value or 0.0, error.low or 0.0, error.high or 0.0)
    base, worst = error.baseline or 0.0, error.baseline_bad or 0.0
    reach = math.hypot((high - low) / 2, worst - base) / (1 - base)
    risk = (value - base) / (1 - base)
    return Rate(risk, risk - reach, risk + reach)


def attributed(found: Findings, case: Case) -> Rate | None:
    """GTCAP from all other columns, or TCAP where no column is a number: the share of people about whom a claim is right."""
    pick = _claims(found)
    return None if pick is None else _rate(pick)


def _claims(found: Findings) -> Finding | None:
    """GTCAP from all other columns; TCAP where no column is a number."""
    own = {one.name: one for one in found if " from " not in one.scope}
    return own.get(GTCAP) or own.get("TCAP")


def _rate(one: Finding) -> Rate:
    value = one.value or 0.0
    return Rate(value, value if one.low is None else one.low, value if one.high is None else one.high)
