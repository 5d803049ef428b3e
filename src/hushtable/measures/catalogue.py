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
    meaning="total variation distance of one column: the share of rows that would have to change to make the two columns alike",
    page=Page.MARGINS,
)
KS = Measure(
    name="KS",
    meaning="Kolmogorov-Smirnov distance of one column: the largest gap between the two cumulative distributions",
    page=Page.MARGINS,
)
WASSERSTEIN = Measure(
    name="Wasserstein",
    meaning="Wasserstein distance of one column: how far its values would have to move on average, as a share of its domain",
    page=Page.MARGINS,
)
JENSEN_SHANNON = Measure(
    name="Jensen-Shannon",
    meaning="Jensen-Shannon distance of one column: 0 is the same distribution, 1 is nothing in common",
    page=Page.MARGINS,
)
KL = Measure(
    name="KL",
    meaning="relative entropy of one column (Kullback-Leibler divergence, in nats): 0 is the same distribution",
    page=Page.MARGINS,
    high=None,
)
CHI_SQUARE = Measure(
    name="chi-square",
    meaning="the statistic of the chi-square test that one column has the same distribution in the release and in the real rows",
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
DISTINGUISHED = Measure(
    name="columns told apart",
    meaning="the share of columns in which a chi-square test, corrected for their number, distinguishes the release from real rows",
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
    meaning="the share of pairs of columns whose Cramer's V is of the same level (low, weak, middle, strong) in both tables",
    page=Page.ASSOCIATIONS,
    better=HIGHER,
    share=True,
)
PEARSON = Measure(
    name="Pearson similarity",
    meaning="the mean over pairs of numbers of 1 minus half the difference of their correlations: 1 is no difference",
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

# Rules that all real rows follow.
RULES_BROKEN = Measure(
    name="rules broken",
    meaning="the share of rows that break a rule which all real rows follow: rows that cannot be",
    page=Page.RULES,
    share=True,
)
RULE_BROKEN = Measure(
    name="rule broken",
    meaning="the share of rows that break one rule, which no real row breaks though by chance many would",
    page=Page.RULES,
    share=True,
)

# All columns together.
K_MARGINAL = Measure(
    name="k-marginal",
    meaning="how alike the margins of two and three columns are: 1,000 (1 - mean total variation distance), so 1,000 is the same "
    "and 0 is nothing in common; the baseline is the score of a bootstrap of the real rows",
    page=Page.JOINT,
    better=HIGHER,
    high=1000.0,
)
MMD = Measure(
    name="MMD",
    meaning="maximum mean discrepancy: how far the two tables lie apart as clouds of points; 0 is the same distribution",
    page=Page.JOINT,
    high=2.0**0.5,
)
FRECHET = Measure(
    name="Frechet distance",
    meaning="how far mean and covariance of all columns differ (the 2-Wasserstein distance of two normal distributions)",
    page=Page.JOINT,
    high=None,
)
DISCRIMINATOR = Measure(
    name="real or released: AUC",
    meaning="how well a trained model distinguishes released rows from real ones: 0.5 is guessing, and best; 1 is always right; "
    "well below 0.5 the release follows these very rows more closely than fresh rows do, as near-copies would",
    page=Page.JOINT,
    ideal=0.5,
)
PROPENSITY = Measure(
    name="propensity error",
    meaning="mean squared difference between that model's predicted probability and one half (pMSE): 0 is best, 0.25 is worst",
    page=Page.JOINT,
    high=0.25,
)
K_STRESS = Measure(
    name="K-Stress",
    meaning="how much the distances between records change when each is replaced by its released partner: 0 is not at all; "
    "where rows are sampled even a copy is above 0, because most rows have lost their own copy",
    page=Page.JOINT,
    high=None,
)
DISTANCES = Measure(
    name="distances between records",
    meaning="the largest gap between the cumulative distributions of the distances between records in the two tables",
    page=Page.JOINT,
)
AXES = Measure(
    name="principal axes kept",
    meaning="the variance of the real rows that the release's principal axes explain, over that which their own axes explain",
    page=Page.JOINT,
    better=HIGHER,
)
CLUSTERS_KEPT = Measure(
    name="clusters kept",
    meaning="how far clusters of the release group real people as clusters of the real rows do (NMI): 1 is complete agreement",
    page=Page.JOINT,
    better=HIGHER,
)
SILHOUETTE = Measure(
    name="silhouette difference",
    meaning="the difference between the two tables in how well separated their clusters are (silhouette)",
    page=Page.JOINT,
    high=2.0,
)
FRECHET_MEAN = Measure(
    name="Frechet mean distance",
    meaning="how far the Frechet mean of the release lies from that of the training rows, as points of a curved space",
    page=Page.JOINT,
    high=None,
)
BALL_CLUSTERS = Measure(
    name="clusters",
    meaning="how far clusters of the release agree with those of the training rows, in that space: 1 is complete agreement",
    page=Page.JOINT,
    better=HIGHER,
)

# Models that learn from the release.
_TEST = "train on release, test on real"
AUC = Measure(
    name=f"{_TEST}: AUC",
    meaning="how well a model trained on the release ranks real people it never saw: 1 is perfect, 0.5 is guessing",
    page=Page.DOWNSTREAM,
    better=HIGHER,
)
ACCURACY = Measure(
    name=f"{_TEST}: accuracy",
    meaning="the share of real people whose class a model trained on the release predicts correctly",
    page=Page.DOWNSTREAM,
    better=HIGHER,
)
F1 = Measure(
    name=f"{_TEST}: F1",
    meaning="how well a model trained on the release finds each class among real people, rare classes counting as much (macro F1)",
    page=Page.DOWNSTREAM,
    better=HIGHER,
)
R2 = Measure(
    name=f"{_TEST}: R2",
    meaning="the share of a number's variance that a model trained on the release explains for real people: 1 is all, 0 is none",
    page=Page.DOWNSTREAM,
    better=HIGHER,
    low=None,
)
RMSE = Measure(
    name=f"{_TEST}: RMSE",
    meaning="the error of a model trained on the release that predicts a number of real people, in its unit (root mean square)",
    page=Page.DOWNSTREAM,
    high=None,
)
DOWNSTREAM = Measure(
    name=_TEST, meaning="how well a model trained on the release predicts real people it never saw", page=Page.DOWNSTREAM,
    better=HIGHER,
)  # fmt: skip

# Questions that are asked of a table.
COUNTING_ABSOLUTE = Measure(
    name="counting queries: absolute error",
    meaning="the mean error of the share of rows that have given values in one to three columns",
    page=Page.QUERIES,
    share=True,
)
COUNTING_RELATIVE = Measure(
    name="counting queries: relative error",
    meaning="the median error of the share of rows that have given values in one to three columns, relative to the true share "
    "(to a thousandth of the rows where the true share is smaller)",
    page=Page.QUERIES,
    high=None,
    share=True,
)
RANGE_ABSOLUTE = Measure(
    name="range queries: absolute error",
    meaning="the mean error of the share of rows that lie in given ranges of one to three columns",
    page=Page.QUERIES,
    share=True,
)
RANGE_RELATIVE = Measure(
    name="range queries: relative error",
    meaning="the median error of the share of rows that lie in given ranges of one to three columns, relative to the true share "
    "(to a thousandth of the rows where the true share is smaller)",
    page=Page.QUERIES,
    high=None,
    share=True,
)

# What anonymization takes away.
GENERALIZATION = Measure(
    name="generalization loss",
    meaning="how wide the released cells are on average: 0 if every cell is one value, 1 if every cell could be any value",
    page=Page.LOSSES,
)
DISCERNIBILITY = Measure(
    name="discernibility",
    meaning="the mean share of rows that have the same quasi-identifiers as a row; a suppressed row counts as equal to all",
    page=Page.LOSSES,
)
CLASS_SIZE = Measure(
    name="average class size",
    meaning="how many rows have the same quasi-identifiers, on average over the classes of equal rows",
    page=Page.LOSSES,
    low=1.0,
    high=None,
)
SUPPRESSED_ROWS = Measure(
    name="rows missing", meaning="by what share the release has fewer rows than the training table", page=Page.LOSSES, share=True
)
MISSING_COLUMNS = Measure(
    name="columns missing",
    meaning="the share of columns that are not in the release (identifiers, keys and texts are not counted)",
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
    meaning="the share of the variance of numbers that is lost: for averaged groups exactly the information loss SSE / SST",
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
    meaning="how much further small groups lie from their real rows than large groups do, beyond what their size explains",
    page=Page.GROUPS,
    low=-1.0,
)
GROUP_SHARE = Measure(
    name="group sizes",
    meaning="by how much the share of a group in the release differs from its real share, relative to that; overall, the worst",
    page=Page.GROUPS,
    high=None,
    share=True,
)
K_MARGINAL_GROUP = Measure(
    name="k-marginal of a group",
    meaning="the k-marginal score (0 to 1,000) among the people of one group alone; overall, that of the worst group",
    page=Page.GROUPS,
    better=HIGHER,
    high=1000.0,
)
GROUP_SCORE = Measure(
    name="downstream loss of a group",
    meaning="how much worse a model trained on the release predicts people of a group than a model trained on real rows",
    page=Page.GROUPS,
    low=-1.0,
)

# Free text.
_TEXTS = "texts, train on release, test on real"
TEXT_AUC = Measure(
    name=f"{_TEXTS}: AUC",
    meaning="how well a model that learnt from released texts ranks real people by theirs: 1 is perfect, 0.5 is guessing",
    page=Page.TEXTS,
    better=HIGHER,
)
TEXT_ACCURACY = Measure(
    name=f"{_TEXTS}: accuracy",
    meaning="the share of real people whose class a model that learnt from released texts predicts correctly from theirs",
    page=Page.TEXTS,
    better=HIGHER,
)
TEXT_F1 = Measure(
    name=f"{_TEXTS}: F1",
    meaning="how well a model that learnt from released texts finds each class by the texts of real people, rare classes counting "
    "as much (macro F1)",
    page=Page.TEXTS,
    better=HIGHER,
)
TEXT_LENGTH = Measure(
    name="text length TVD",
    meaning="the share of texts whose number of words would have to change to make the lengths alike, missing texts among them",
    page=Page.TEXTS,
)
VOCABULARY = Measure(
    name="vocabulary TVD",
    meaning="the share of all words that would have to be others to make the frequencies of words alike; it falls with more texts",
    page=Page.TEXTS,
)
TEXT_MISSING = Measure(
    name="missing texts", meaning="by how much the share of rows without a text differs from the real share", page=Page.TEXTS,
    share=True,
)  # fmt: skip
REPEATED = Measure(
    name="repeated texts", meaning="the share of texts that equal an earlier one of the same table", page=Page.TEXTS, share=True
)
TEXT_JOINT = Measure(
    name="text length and column TVD",
    meaning="the total variation distance of the length of a text together with a column",
    page=Page.TEXTS,
)
TEXT_DISCRIMINATOR = Measure(
    name="real or released text: AUC",
    meaning="how well a model of their words distinguishes released texts from real ones: 0.5 is guessing, and best",
    page=Page.TEXTS,
    ideal=0.5,
)
TEXT_BITS = Measure(
    name="bits per byte",
    meaning="how many bits a byte of real text takes if it is encoded by a model of the released texts: fewer are better, and a "
    "model of as many real texts stands beside it",
    page=Page.TEXTS,
    high=None,
)

# Several in one.
G = Measure(
    name="G",
    meaning="difference of the correlations (mu) plus difference of the performance of models (delta; Galloni): 0 is no difference",
    page=Page.COMPOSITE,
    high=None,
)
G_PLUS = Measure(
    name="G+",
    meaning="G plus the mean distance of the columns (nu), which detects columns that were shifted or inverted: 0 is no difference",
    page=Page.COMPOSITE,
    high=None,
)

MEASURES = {measure.name: measure for measure in list(vars().values()) if isinstance(measure, Measure)}
MODEL_SCORES = frozenset(name for name, measure in MEASURES.items() if measure.page is Page.DOWNSTREAM)
"""The scores of models trained on the release."""


def metric(name: str) -> Metric | None:
    """What is known about a metric, a measure of utility or a number of an attack; None for that of another package."""
    return MEASURES.get(name) or METRICS.get(name) or FAMILIES.get(family(name))


class Named(Protocol):
    """A finding, or a report's reading of it."""

    @property
    def name(self) -> str:
        """What was measured."""

    @property
    def scope(self) -> str:
        """Of what."""

    @property
    def detail(self) -> Mapping[str, Any]:
        """What else is known."""


def main_model(finding: Named) -> bool:
    """Whether it is a score of the main model: its scope is the target alone, that of another family names the family as well."""
    return finding.name in MODEL_SCORES and finding.detail.get("target", finding.scope) == finding.scope
