"""What each metric means, in one line. A measure of utility brings its own meaning (``Measure``); those of attacks are here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """What a number means to a reader who knows none of the words."""

    meaning: str
    share: bool = False
    """Whether it is shown in percent."""


METRICS = {
    "identical match share": Metric(
        "the share of released rows that equal a training row, beside the same share of fresh real rows", share=True
    ),
    "unique exact matches": Metric(
        "the share of training people whose row nobody else has and that stands in the release, beside that of people outside",
        share=True,
    ),
    "apparent matches": Metric(
        "the share of training people who seem to be found: alone with their quasi-identifiers, which one released row has too",
        share=True,
    ),
    "apparent matches that are real": Metric(
        "of those who seem to be found by their quasi-identifiers, the share for whom all other columns agree as well", share=True
    ),
    "published in part": Metric(
        "the share of released rows that equal a training row in the quasi columns alone, or in all others: secrets may be copied "
        "beside the quasi values of somebody else",
        share=True,
    ),
    "identifiers published": Metric(
        "the share of people whose name or number, or a digest of it, was released, beyond those who are not in the table",
        share=True,
    ),
    "identifier columns": Metric("how many released columns are identifiers of the training rows, or have the form of identifiers"),
    "texts published": Metric(
        "the share of people whose text, or words of it in a row, was released, beyond those who are not in the table",
        share=True,
    ),
    "identifiers in texts": Metric(
        "of the people whose text holds a mail address, a link or a long number, the share for whom it was released, beyond those "
        "who are not in the table",
        share=True,
    ),
    "exposed records": Metric(
        "the share of people whose row nobody else has and was released unchanged; those that chance explains least are tested",
        share=True,
    ),
    "rare values": Metric(
        "how many more people in the table than outside it have a value that nobody else has and that was released"
    ),
    "rare pairs": Metric(
        "how many more people in the table than outside it have two values together that nobody else has, in one released row"
    ),
    "rare combinations": Metric("the rare pairs for three or four values together: rows copied in part"),
    "published verbatim": Metric(
        "the share of training rows that were released unchanged, beyond those that chance repeats", share=True
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
        "how many more people in the table than outside it have one released row much nearer than any other: a copy of them alone"
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
    "learned inference NRMSE": Metric(
        "how near a model that learnt from the release comes to a number: 1 less its root mean square error over the range"
    ),
    "CAP": Metric(
        "correct attribution probability: how often a released row that agrees with a person in what is known also has their secret"
    ),
    "TCAP": Metric(
        "targeted CAP: the share of people for whom all released rows that agree in what is known have one secret, the right one"
    ),
    "GTCAP": Metric("the targeted CAP with numbers that agree roughly instead of exactly"),
    "shadow membership": Metric(
        "the generator is run with and without a person many times, and a model learns to recognize from a release which it was"
    ),
    "shadow membership AUC": Metric(
        "how well the model of the shadow membership attack ranks releases: 1 is perfect, 0.5 is guessing"
    ),
    "shadow inference": Metric("the shadow attack for every value that a person's secret could have; the likeliest is the guess"),
    "canary secrets": Metric(
        "secrets are drawn at random and the generator is run again: what is then guessed beyond chance was remembered, not learnt"
    ),
    "canaries copied": Metric(
        "how many records with secrets drawn at random come back whole, beside twins that the generator never saw"
    ),
    "text canaries": Metric(
        "texts that end in words drawn at random, and the generator is run again: how often a model of the new release finds the "
        "words that were planted likelier than others that were not"
    ),
    "exposure": Metric(
        "bits by which the planted words rank before others drawn alike, to a model of the new release; 1.44 by chance on average"
    ),
    "injected points": Metric(
        "how many invented rows come back when the generator is run on them, beside invented rows it never saw"
    ),
    "control seen": Metric(
        "whether control rows were released more often than chance allows: then the control is not fresh, and every "
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
        "the best chance to pick a person's row for somebody who does not know that, among all known people",
        share=True,
    ),
    "marketer risk": Metric("the share of rows that somebody gets right on average who links all of them", share=True),
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
        "how well a score ranks people in the table above people outside, on average: 1 is perfect, 0.5 is guessing"
    ),
    "contrastive": Metric(
        "an attack by nearness, where nearness is learnt by a neural network from the release, instead of counted column by column"
    ),
}
"""Metrics whose names go on with a number or a method."""


def family(name: str) -> str:
    """The beginning that a name shares with others of its kind; the name itself if it stands alone."""
    return next((start for start in FAMILIES if name.startswith(f"{start} ")), name)
