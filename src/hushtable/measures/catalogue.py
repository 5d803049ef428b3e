"""Every measure of utility: what it is called, what it means, which way is good, and between which bounds it lies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from hushtable.evidence.finding import Better
from hushtable.evidence.measure import Measure, Page
from hushtable.evidence.metrics import FAMILIES, METRICS, Metric, family

HIGHER = Better.HIGHER

# Single columns. The same without "mean" is that of one column.
TVD = Measure(
    name="TVD",
    meaning="total variation distance of one column: the share of rows that would have to change to make the two alike",
    page=Page.MARGINS,
)
KS = Measure(
    name="KS",
    meaning="Kolmogorov-Smirnov distance of one column: the largest gap between the two cumulative distributions",
    page=Page.MARGINS,
)
WASSERSTEIN = Measure(
    name="Wasserstein",
    meaning="how far the values of one column would have to move on average, as a share of its domain",
    page=Page.MARGINS,
)
JENSEN_SHANNON = Measure(
    name="Jensen-Shannon",
    meaning="Jensen-Shannon distance of one column: 0 is the same, 1 is nothing in common",
    page=Page.MARGINS,
)
KL = Measure(
    name="KL",
    meaning="relative entropy of one column (Kullback-Leibler, in nats): what is lost by taking the release for the real column",
    page=Page.MARGINS,
    high=None,
)
CHI_SQUARE = Measure(
    name="chi-square",
    meaning="the statistic of the chi-square test that one column of the release and of the real rows is drawn alike",
    page=Page.MARGINS,
    high=None,
)
MEAN_TVD = Measure(name="mean TVD", meaning="the mean over all columns of the total variation distance", page=Page.MARGINS)
MEAN_KS = Measure(
    name="mean KS",
    meaning="the mean of the Kolmogorov-Smirnov distance over the columns that have an order",
    page=Page.MARGINS,
)
MEAN_WASSERSTEIN = Measure(
    name="mean Wasserstein",
    meaning="the mean of the Wasserstein distance over the columns that have an order",
    page=Page.MARGINS,
)
MEAN_JENSEN_SHANNON = Measure(
    name="mean Jensen-Shannon", meaning="the mean over all columns of the Jensen-Shannon distance", page=Page.MARGINS
)
MEAN_KL = Measure(name="mean KL", meaning="the mean over all columns of the relative entropy", page=Page.MARGINS, high=None)
TOLD_APART = Measure(
    name="columns told apart",
    meaning="the share of columns whose chi-square test, corrected for their number, tells the release from the real rows",
    page=Page.MARGINS,
    share=True,
)

# Pairs of columns.
ASSOCIATION = Measure(
    name="association difference",
    meaning="the mean over all pairs of columns of the difference in Cramer's V, from 0 (no association) to 1",
    page=Page.ASSOCIATIONS,
)
LEVELS_KEPT = Measure(
    name="association levels kept",
    meaning="the share of pairs of columns whose Cramer's V is low, weak, middle or strong in both tables alike",
    page=Page.ASSOCIATIONS,
    better=HIGHER,
    share=True,
)
PEARSON = Measure(
    name="Pearson similarity",
    meaning="the mean over pairs of numbers of 1 less half the difference of their correlations: 1 is the same",
    page=Page.ASSOCIATIONS,
    better=HIGHER,
)
CORRELATION = Measure(
    name="correlation difference",
    meaning="the mean over pairs of numbers of the difference of their correlations, from 0 to 2",
    page=Page.ASSOCIATIONS,
    high=2.0,
)
PHIK = Measure(
    name="phi_k difference",
    meaning="the mean over pairs of columns of the difference in phi_k, a correlation for columns of any kind",
    page=Page.ASSOCIATIONS,
)
PAIR_TVD = Measure(
    name="mean pair TVD",
    meaning="the mean over pairs of columns of the total variation distance of both together",
    page=Page.ASSOCIATIONS,
)

# All columns together.
MMD = Measure(
    name="MMD",
    meaning="maximum mean discrepancy: how far the two tables lie apart as clouds of points; 0 is the same distribution",
    page=Page.JOINT,
    high=2.0**0.5,
)
FRECHET = Measure(
    name="Frechet distance",
    meaning="how far mean and covariance of all columns lie apart (the 2-Wasserstein distance of two normal clouds)",
    page=Page.JOINT,
    high=None,
)
DISCRIMINATOR = Measure(
    name="real or released: AUC",
    meaning="how well a model that sees both tells released rows from real ones: 0.5 is guessing, and best; 1 is always right",
    page=Page.JOINT,
    low=0.5,
)
PROPENSITY = Measure(
    name="propensity error",
    meaning="the mean square by which that model's belief in a row being released differs from not knowing: 0 is best, 0.25 worst",
    page=Page.JOINT,
    high=0.25,
)
K_STRESS = Measure(
    name="K-Stress",
    meaning="how much the distances between records change when each is replaced by its released partner: 0 is not at all; "
    "where rows are sampled even a copy is above 0, for most rows have lost their own copy",
    page=Page.JOINT,
    high=None,
)
DISTANCES = Measure(
    name="distances between records",
    meaning="the largest gap between the cumulative distributions of the distances inside the one table and inside the other",
    page=Page.JOINT,
)
AXES = Measure(
    name="principal axes kept",
    meaning="how much of the spread that the real rows' main directions explain the release's main directions explain as well",
    page=Page.JOINT,
    better=HIGHER,
)
CLUSTERS_KEPT = Measure(
    name="clusters kept",
    meaning="how far clusters found in the release put real people together as clusters of the real rows do (NMI): 1 is fully",
    page=Page.JOINT,
    better=HIGHER,
)
SILHOUETTE = Measure(
    name="silhouette difference",
    meaning="how differently clear the clusters are in the two tables (difference of silhouettes)",
    page=Page.JOINT,
    high=2.0,
)
FRECHET_MEAN = Measure(
    name="Frechet mean distance",
    meaning="how far the centre of the release lies from that of the training rows, as points of a curved space",
    page=Page.JOINT,
    high=None,
)
BALL_CLUSTERS = Measure(
    name="clusters",
    meaning="how far groups found in the release agree with those found in the training rows, in that space: 1 is fully",
    page=Page.JOINT,
    better=HIGHER,
)

# Models that learn from the release.
_TEST = "train on release, test on real"
AUC = Measure(
    name=f"{_TEST}: AUC",
    meaning="how well a model that learnt from the release ranks real people it never saw: 1 is perfect, 0.5 is guessing",
    page=Page.DOWNSTREAM,
    better=HIGHER,
)
ACCURACY = Measure(
    name=f"{_TEST}: accuracy",
    meaning="of how many real people a model that learnt from the release names the right class",
    page=Page.DOWNSTREAM,
    better=HIGHER,
)
F1 = Measure(
    name=f"{_TEST}: F1",
    meaning="how well a model that learnt from the release finds each class among real people, rare ones as much (macro F1)",
    page=Page.DOWNSTREAM,
    better=HIGHER,
)
R2 = Measure(
    name=f"{_TEST}: R2",
    meaning="how much of a number a model that learnt from the release explains for real people: 1 is all, 0 is none",
    page=Page.DOWNSTREAM,
    better=HIGHER,
    low=None,
)
RMSE = Measure(
    name=f"{_TEST}: RMSE",
    meaning="by how much a model that learnt from the release misses a number of real people, in its own unit (root mean square)",
    page=Page.DOWNSTREAM,
    high=None,
)
DOWNSTREAM = Measure(
    name=_TEST, meaning="how well a model that learnt from the release predicts real people it never saw", page=Page.DOWNSTREAM,
    better=HIGHER,
)  # fmt: skip

# Questions that are asked of a table.
COUNTING_ABSOLUTE = Measure(
    name="counting queries: absolute error",
    meaning="by how much the share of rows with given values in one to three columns is off, on average",
    page=Page.QUERIES,
    share=True,
)
COUNTING_RELATIVE = Measure(
    name="counting queries: relative error",
    meaning="the same as a part of the true count (of a thousandth of the rows where it is smaller), the median question",
    page=Page.QUERIES,
    high=None,
    share=True,
)
RANGE_ABSOLUTE = Measure(
    name="range queries: absolute error",
    meaning="by how much the share of rows inside given ranges of one to three columns is off, on average",
    page=Page.QUERIES,
    share=True,
)
RANGE_RELATIVE = Measure(
    name="range queries: relative error",
    meaning="the same as a part of the true count (of a thousandth of the rows where it is smaller), the median question",
    page=Page.QUERIES,
    high=None,
    share=True,
)

# What anonymization takes away.
GENERALIZATION = Measure(
    name="generalization loss",
    meaning="how wide the released cells are on average: 0 if every cell is one value, 1 if every cell could be anything",
    page=Page.LOSSES,
)
DISCERNIBILITY = Measure(
    name="discernibility",
    meaning="the mean share of the table that a row cannot be told from on its quasi-identifiers, suppressed rows from all",
    page=Page.LOSSES,
)
CLASS_SIZE = Measure(
    name="average class size",
    meaning="how many rows look alike on the quasi-identifiers, on average over the groups",
    page=Page.LOSSES,
    low=1.0,
    high=None,
)
SUPPRESSED_ROWS = Measure(
    name="rows missing", meaning="the share of training rows that the release has fewer of", page=Page.LOSSES, share=True
)
MISSING_COLUMNS = Measure(
    name="columns missing",
    meaning="the share of the columns that could be released (no identifiers, keys or texts) that the release has not",
    page=Page.LOSSES,
    share=True,
)
SUPPRESSED_CELLS = Measure(
    name="cells hidden",
    meaning="the share of cells that are *, newly missing, or of a column that was not released",
    page=Page.LOSSES,
    share=True,
)
VARIANCE = Measure(
    name="variance lost",
    meaning="the share of the variance of numbers that is gone: for averaged groups exactly the information loss SSE / SST",
    page=Page.LOSSES,
)

# Groups of people.
GROUP_TVD = Measure(
    name="TVD within a group",
    meaning="the mean total variation distance of the columns among the people of one group alone",
    page=Page.GROUPS,
)
GROUP_GAP = Measure(
    name="small groups against large",
    meaning="how much further small groups lie from their real selves than large ones do, beyond what their size explains",
    page=Page.GROUPS,
    low=-1.0,
)
GROUP_SHARE = Measure(
    name="group sizes",
    meaning="by how much the share of a group in the release differs from its real one, as a part of the latter, the worst group",
    page=Page.GROUPS,
    high=None,
    share=True,
)
GROUP_SCORE = Measure(
    name="downstream loss of a group",
    meaning="how much worse a model that learnt from the release predicts people of a group than one that learnt from real rows",
    page=Page.GROUPS,
    low=-1.0,
)

# Several in one.
G = Measure(
    name="G",
    meaning="correlations (mu) and performance of models (delta) apart, added up (Galloni): 0 is no difference",
    page=Page.COMPOSITE,
    high=None,
)
G_PLUS = Measure(
    name="G+",
    meaning="G and the mean distance of the columns (nu), which sees columns that were moved or turned; 0 is no difference",
    page=Page.COMPOSITE,
    high=None,
)

MEASURES = {measure.name: measure for measure in list(vars().values()) if isinstance(measure, Measure)}
MODEL_SCORES = frozenset(name for name, measure in MEASURES.items() if measure.page is Page.DOWNSTREAM)
"""What models that learnt from the release are judged by."""


def metric(name: str) -> Metric | None:
    """What is known about a metric, a measure of utility or a number of an attack; None for that of another package."""
    return MEASURES.get(name) or METRICS.get(name) or FAMILIES.get(family(name))


class Found(Protocol):
    """A finding, or how a report reads it."""

    @property
    def name(self) -> str:
        """What was measured."""

    @property
    def scope(self) -> str:
        """Of what."""

    @property
    def detail(self) -> Mapping[str, Any]:
        """What else is known."""


def main_model(found: Found) -> bool:
    """Whether it is a score of the main model: its scope is the target alone, that of another family names the family as well."""
    return found.name in MODEL_SCORES and found.detail.get("target", found.scope) == found.scope
