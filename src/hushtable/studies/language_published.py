"""Numbers of the chapter on private language models, as printed: S. Garg 2025, tables 5.2 to 5.10."""

from __future__ import annotations

SOURCE = "S. Garg, Bridging AI and Privacy, thesis, Umea University 2025, chapter 5"
SST2, RTE, MRPC, COLA, QNLI = "SST-2", "RTE", "MRPC", "CoLA", "QNLI"
MAJORITY = {SST2: 50.92, RTE: 52.71, MRPC: 68.38, COLA: 69.13}
"""The share of the larger class of the development set, in percent; QNLI is not at hand."""
VOCABULARY = 30_522
"""Of BERT."""
Row = tuple[float | None, ...]

_FIRST, _SECOND = (SST2, RTE, QNLI, COLA), (SST2, RTE, MRPC, COLA)
TABLES: dict[str, tuple[tuple[str, ...], dict[str, Row]]] = {
    "Tables 5.2 and 5.3: a student, and the same trained directly": (
        _FIRST,
        {
            "BERT-base, DP": (92.20, 59.56, 87.8, 81.30),
            "BERT-tiny, DP": (78.89, 55.23, 81.42, 69.12),
            "BERT-tiny, TSKD": (86.23, 59.92, 83.17, 72.38),
            "BERT-base, no DP": (92.31, 61.01, 87.9, 80.72),
            "BERT-tiny, no DP": (79.93, 58.48, 81.96, 69.12),
        },
    ),
    "Table 5.4: a student that was distilled in public": (
        _FIRST,
        {
            "DistilBERT, no DP": (90.90, 59.12, 87.33, 81.49),
            "DistilBERT, DP": (90.71, 58.12, 88.46, 77.08),
            "DistilBERT, TSKD": (89.90, 60.35, 84.29, 68.16),
        },
    ),
    "Table 5.5: layers left out by the cosine of one neighbour or of both": (
        _SECOND,
        {
            "cosine, retrain": (88.75, 62.45, 80.21, 77.93),
            "pairwise, retrain": (91.05, 64.62, 82.84, 78.14),
            "cosine, LoRA": (89.33, 44.76, 82.34, 68.11),
            "pairwise, LoRA": (91.97, 47.29, 83.71, 69.12),
            "cosine, retrain, epsilon 1": (88.72, 46.93, 60.65, 62.48),
            "pairwise, retrain, epsilon 1": (90.11, 49.09, 63.33, 64.21),
            "cosine, LoRA, epsilon 1": (90.43, 47.32, 80.28, 76.15),
            "pairwise, LoRA, epsilon 1": (92.31, 49.45, 82.37, 79.70),
        },
    ),
    "Tables 5.6 to 5.8: more layers left out": (
        _SECOND,
        {
            "0.2, retrain": (88.79, 59.92, 84.06, 78.14),
            "0.3, retrain": (84.60, 61.73, 82.35, 73.92),
            "0.2, retrain, epsilon 1": (88.99, 50.54, 67.64, 54.74),
            "0.3, retrain, epsilon 1": (83.66, 61.73, 68.13, 65.12),
            "0.2, LoRA": (89.33, 46.93, 83.21, 68.42),
            "0.3, LoRA": (86.69, 46.57, 78.38, 68.05),
            "0.2, LoRA, epsilon 1": (89.44, 46.57, 80.72, 78.25),
            "0.3, LoRA, epsilon 1": (85.32, 48.73, 82.11, 76.63),
        },
    ),
    "Table 5.9: beside other methods": (
        (SST2, QNLI),
        {
            "1/2-BERT DPKD": (78.5, 80.10),
            "structured DPIMP": (83.3, 80.90),
            "SparseBERT": (83.7, 82.20),
            "PrunePrivyTune": (92.31, 86.51),
        },
    ),
}
"""Accuracies on the development sets of GLUE, in percent: columns, and a line for each method."""

BUDGETS = ("no DP", "epsilon 1", "epsilon 5", "epsilon 10")
PERPLEXITY: dict[str, Row] = {
    SST2: (6.32e5, 7.10e5, 6.83e5, 6.62e5),
    RTE: (5.27e6, 5.76e6, 5.52e6, 5.35e6),
    MRPC: (6.29e-3, 1.12e-2, 9.10e-3, 7.50e-3),
    COLA: (4.87e1, 5.22e4, 9.25e3, 1.40e3),
}
"""Table 5.10: of written text, by budget."""
SIMILARITY: dict[str, tuple[Row, Row, Row]] = {
    SST2: ((0.3701, 0.3536, 0.3573, 0.3694), (0.3698, 0.3500, 0.3509, 0.3690), (0.3697, 0.3512, 0.3523, 0.3702)),
    RTE: ((0.3931, 0.3613, 0.3754, 0.3879), (0.3940, 0.3679, 0.3848, 0.3885), (0.3935, 0.3646, 0.3800, 0.3882)),
    MRPC: ((0.3833, 0.3412, 0.3650, 0.3690), (0.3852, 0.3484, 0.3724, 0.3922), (0.3832, 0.3448, 0.3678, 0.3790)),
    COLA: ((0.3425, 0.3384, 0.3397, 0.3412), (0.3481, 0.3392, 0.3399, 0.3474), (0.3460, 0.3380, 0.3385, 0.3442)),
}
"""Table 5.10: precision, recall and F1 of BERTScore, by budget."""
ROUNDED = 1e-4
"""Of a printed score."""


def below_majority(task: str, accuracy: float) -> str:
    """What is wrong with an accuracy that a constant reaches; empty where nothing is."""
    most = MAJORITY.get(task)
    if most is None or accuracy > most + 0.01:
        return ""
    how = "is that of the majority class" if accuracy > most - 0.02 else "is below that of the majority class"
    return f"the published accuracy {how} ({most:g} %): a constant reaches it"


def impossible_perplexity(value: float) -> str:
    """Why no model has this perplexity, or none that learnt anything; empty where one may."""
    if value < 1:
        return "a perplexity below 1 is impossible"
    return "a perplexity above the size of the vocabulary is worse than guessing" if value > VOCABULARY else ""


def impossible_f1(precision: float, recall: float, f1: float) -> str:
    """A mean F1 is at most the mean of precision and recall."""
    return "a mean F1 above (P + R)/2 is impossible" if f1 > (precision + recall) / 2 + ROUNDED else ""
