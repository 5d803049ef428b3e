"""What each metric means, in one line."""

from __future__ import annotations

from dataclasses import dataclass

from hushtable.measures.catalogue import MEASURES


@dataclass(frozen=True)
class Metric:
    """What a known metric means. Most run from 0 to 1, so that one rule says what is close."""

    meaning: str
    share: bool = False
    """Whether it is told in percent."""
    scaled: bool = True
    """Whether it runs from 0 to 1."""
    page: str = ""
    """The part of a report that it belongs to, if it is a measure of utility."""


METRICS = {
    "identical match share": Metric(
        "the share of released rows that equal a training row, beside the same share of fresh real rows", share=True
    ),
    "published in part": Metric(
        "the same for the quasi columns alone, or for all others: secrets may be copied beside the quasi values of somebody else",
        share=True,
    ),
    "identifiers published": Metric(
        "the share of people whose name or number, or a digest of it, stands in the release, beyond those who are not in the table",
        share=True,
    ),
    "identifier columns": Metric("how many released columns are identifiers of the training rows, or look like identifiers"),
    "texts published": Metric(
        "the share of people whose text, or words of it in a row, stands in the release, beyond those who are not in the table",
        share=True,
    ),
    "exposed records": Metric(
        "people whose row nobody else has and who stand in the release verbatim; those that chance explains least are tested",
        share=True,
    ),
    "rare values": Metric("people in the table, more than outside it, of whom a value that only they have stands in the release"),
    "rare pairs": Metric("the same for two values together in one released row"),
    "rare combinations": Metric("the same for three or four values together: rows copied in part"),
    "published verbatim": Metric(
        "the share of training rows that stand in the release as they are, beyond what chance repeats", share=True
    ),
    "closest record score": Metric(
        "0 if released rows lie no closer to training rows than fresh real rows do, 1 if every one lies suspiciously close"
    ),
    "k-nearest score": Metric("the closest record score, taken to the mean distance of several nearest training rows"),
    "near matches": Metric(
        "how many more people in the table than outside it have a released row suspiciously close; how close is chosen where "
        "the gap is widest, and the test allows for that choice",
    ),
    "distance ratio": Metric(
        "the same for people to whom one released row is much nearer than any other, which looks like a copy of them alone"
    ),
    "reconstruction": Metric(
        "how many more people in the table than outside it are rebuilt by the nearest released row, where the gap is widest"
    ),
    "mutual nearest": Metric(
        "how many more people in the table than outside it pair up with a released row as each other's nearest"
    ),
    "linkability": Metric(
        "two sources hold different columns of the same people; how often both lead to the same released row, which joins them"
    ),
    "inference": Metric("how often the released row nearest in what is known about a person gives away what is not"),
    "learned inference": Metric("how often a model that learnt from the release guesses a column of people from the others"),
    "learned inference NRMSE": Metric("how near such a model comes to a number: 1 less its root mean square error over the range"),
    "CAP": Metric(
        "correct attribution probability: how often a released row that agrees with a person in what is known tells the rest"
    ),
    "TCAP": Metric(
        "of how many people the released rows that agree in what is known all tell the same, and rightly (targeted CAP)"
    ),
    "GTCAP": Metric("the same with numbers that agree roughly instead of exactly"),
    "shadow membership": Metric(
        "the generator is run with and without a person many times, and a model learns to tell from a release which it was"
    ),
    "shadow membership AUC": Metric("how well that model ranks releases: 1 is perfect, 0.5 is guessing"),
    "shadow inference": Metric("the same done for every value that a person's secret could have; the likeliest is the guess"),
    "canary secrets": Metric(
        "secrets are drawn by lot and the generator is run again: what is then guessed beyond the lot was remembered, not learnt"
    ),
    "canaries copied": Metric("how many such records come back whole, beside twins that the generator never saw"),
    "injected points": Metric(
        "how many invented rows come back when the generator is run on them, beside invented rows it never saw"
    ),
    "control seen": Metric(
        "whether control rows stand in the release more often than chance allows: then the control is not fresh, and every "
        "comparison with it hides risk",
        share=True,
    ),
    "coverage": Metric("the share of the columns that the attacks could use", share=True),
    "k-anonymity": Metric("the fewest released rows that look alike on the quasi-identifiers"),
    "l-diversity": Metric("the fewest different values of a secret among released rows that look alike"),
    "t-closeness": Metric(
        "the largest distance between a secret's distribution among rows that look alike and in the whole release"
    ),
    "unique rows": Metric("the share of released rows that no other looks like on the quasi-identifiers", share=True),
    "prosecutor risk": Metric(
        "the best chance to pick a person's row for somebody who knows that the person is in the table", share=True
    ),
    "journalist risk": Metric(
        "the same for somebody who does not know that, taking all known people for the population", share=True
    ),
    "marketer risk": Metric("the share of rows that somebody gets right on average who links all of them", share=True),
    **{m.name: Metric(m.meaning, share=m.share, scaled=m.high == 1.0, page=m.page) for m in MEASURES.values()},
}
FAMILIES = {
    "singling out by": Metric(
        "descriptions that fit one released row alone (conditions on so many columns); how many of them fit exactly one person"
    ),
    "membership by": Metric(
        "how many people in the table are recognized as such by a score, if no more than the stated share of people outside "
        "is falsely accused; not the average matters but whether some are recognized for certain"
    ),
    "membership AUC by": Metric(
        "how well that score ranks people in the table above people outside, on average: 1 is perfect, 0.5 is guessing"
    ),
    "contrastive": Metric(
        "the same attack with nearness learnt by a neural network from the release, instead of counted column by column"
    ),
}
"""Metrics whose names go on with a number or a method."""


def metric(name: str) -> Metric | None:
    """What is known about a metric; None for a plugin's."""
    return METRICS.get(name) or FAMILIES.get(family(name))


def family(name: str) -> str:
    """The beginning that a name shares with others of its kind; the name itself if it stands alone."""
    return next((start for start in FAMILIES if name.startswith(f"{start} ")), name)
