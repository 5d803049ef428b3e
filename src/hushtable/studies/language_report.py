"""The report of the study of private language models: tables 5.2 to 5.10 beside ours, layers, texts, and what the source says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hushtable.evidence.finding import Better
from hushtable.language.prune import Rule
from hushtable.studies import language_statements as statements
from hushtable.studies import language_tasks as tasks
from hushtable.studies.language_filled import REWRITTEN
from hushtable.studies.language_pruned import CAUSAL, TENTHS
from hushtable.studies.language_published import (
    BUDGETS,
    MAJORITY,
    PERPLEXITY,
    SIMILARITY,
    SOURCE,
    TABLES,
    below_majority,
    impossible_f1,
    impossible_perplexity,
)  # fmt: skip
from hushtable.studies.language_results import NONE, Interval, Measured, bits_per_byte, gap
from hushtable.studies.report import Grid, Number, Numbers, Report, Section, Statements, refusals

TITLE = "Private language models"
OTHER = "another encoder (all-MiniLM-L6-v2: 6 layers, 22.7 million parameters), a part of the rows, delta 1e-6"
OTHER_TEXTS = (
    "ours is the pseudo-perplexity of training texts, each token masked in turn, and BERTScore of a written text with a training "
    "text of its class, by another encoder; the source's perplexity is none of a model that fills masks"
)
NOT_RUN = "no run of ours corresponds to it, as whole networks are not retrained, or the run was left out or refused"
ELSEWHERE = "this task is not at hand"
PARTS = ("precision", "recall", "f1")
NOTES = (
    "Two sentences are one text with [SEP] between them. The other texts of the training set are taken for public ones, also those "
    "that the head for filling masks is trained on.",
    "What the encoder and the causal model read in public is unknown, and may overlap with the tasks.",
    "Of six layers one left out is nearest to the source's sparsity of 0.1 and of 0.2, two to 0.3; of the 30 of the causal model "
    "it is 3, 6 and 9. Without privacy, layers are judged by both neighbours only.",
    "The plain cosine of the source is that of a layer's output and the next one's: how little the next layer does. Where it "
    "chooses worse layers than the pairwise one, that may be all the difference.",
    "Where there is one run, verdicts are tests over the texts of that one training (Welch's, or of differences where both are of "
    "the same texts): another training may differ more. With several runs classifiers are compared over runs.",
    "Without privacy the filling model is trained like the private one, and without coins, clipping and noise. Of a pair the first "
    "sentence is taken, of long ones the beginning.",
)


def report(found: Measured, lead: str, skipped: Sequence[str]) -> Report:
    """All published tables, ours beside the lines that they repeat."""
    sections = (_classifiers(found), _written(found), _pruned(found), _said(found))
    return Report(
        title=TITLE, source=SOURCE, lead=lead, sections=tuple(section for section in sections if section.parts), notes=NOTES,
        skipped=(*skipped, *refusals(found.results)),
    )  # fmt: skip


def named(task: str) -> str:
    """A task and its majority class."""
    return f"{task} (majority {MAJORITY[task]:g})" if task in MAJORITY else f"{task} (majority unknown here)"


def _classifiers(found: Measured) -> Section:
    alone = Numbers(title="Ours alone", numbers=tuple(_alone(found)))
    rows = [
        (task, line.name, layers)
        for task in tasks.TASKS
        for line in tasks.LINES
        if (layers := found.layers(task, line.name)) and len(layers.split(", ")) < 6
    ]
    grids = [Grid(title="Layers that were left in", heads=("task", "method", "layers"), rows=tuple(rows))] if rows else []
    return Section(
        title="Accuracy", parts=(*([alone] if alone.numbers else []), *_accuracies(found), *grids),
        lead="In percent, on the development sets. Beside each task stands its majority class: what a constant reaches.",
    )  # fmt: skip


def _alone(found: Measured) -> Iterator[Number]:
    for task in tasks.TASKS:
        most = found.majority(task)
        if most is not None:
            yield Number(data=named(task), method="always the larger class", measure="accuracy", ours=most, better=Better.HIGHER)
        for line in tasks.LINES:
            if (own := found.accuracy(task, line.name))[0] is not None:
                yield _number(own, data=named(task), method=line.name, measure="accuracy", better=Better.HIGHER)


def _accuracies(found: Measured) -> Iterator[Numbers]:
    for title, (columns, lines) in TABLES.items():
        numbers = []
        for method, values in lines.items():
            line = next((own for own in tasks.LINES if method in own.beside), None)
            for task, value in zip(columns, values, strict=True):
                ours = found.accuracy(task, line.name) if line is not None and task in tasks.TASKS else NONE
                why = ELSEWHERE if task not in tasks.TASKS else NOT_RUN if ours[0] is None else OTHER
                wrong = below_majority(task, value) if value is not None else ""
                own = _number(
                    ours, data=named(task), method=method, measure="accuracy", published=value, better=Better.HIGHER,
                    why_not=wrong or why,
                )  # fmt: skip
                numbers.append(own)
        yield Numbers(title=title, numbers=tuple(numbers))


def _written(found: Measured) -> Section:
    ours = Numbers(
        title="Training and held-out texts", numbers=tuple(_beside(found)),
        note="The gap is in nats a token, held-out less training texts; its interval is over texts. F1 is with the nearest text of "
        "each side. Of rewritten texts, which keep a part of their words, it is also given with their own originals.",
    )  # fmt: skip
    rows = [
        (task, budget, example)
        for task in tasks.TASKS
        for budget in (*BUDGETS, REWRITTEN)
        for one in found.filled(task, budget)[:1]
        for example in one["examples"]
    ]
    examples = [Grid(title="Texts as they were written", heads=("task", "budget", "class: text"), rows=tuple(rows))] if rows else []
    return Section(
        title="Written text",
        parts=(Numbers(title="Table 5.10", numbers=tuple(_table(found))), *([ours] if ours.numbers else []), *examples),
        lead="Texts are written from masks alone by an encoder that was adapted with each budget.",
    )


def _table(found: Measured) -> Iterator[Number]:
    for task, values in PERPLEXITY.items():
        for place, (budget, value) in enumerate(zip(BUDGETS, values, strict=True)):
            scores = [float(own[place] or 0) for own in SIMILARITY[task]]
            own, perplexity = found.perplexity(task, budget), float(value or 0)
            why = NOT_RUN if own[0] is None else OTHER_TEXTS
            wrong = impossible_perplexity(perplexity)
            yield _number(
                own, data=task, method=budget, measure="perplexity", published=perplexity, better=Better.LOWER, why_not=wrong or why
            )
            for part, score in zip(PARTS, scores, strict=True):
                wrong = impossible_f1(scores[0], scores[1], score) if part == "f1" else ""
                values_here = found.scores(task, budget, part)
                yield Number.over(
                    values_here, data=task, method=budget, measure=f"BERTScore {'F1' if part == 'f1' else part}", published=score,
                    better=Better.HIGHER, why_not=wrong or why,
                )  # fmt: skip


def _beside(found: Measured) -> Iterator[Number]:
    for task in tasks.TASKS:
        for budget in (*BUDGETS, REWRITTEN):
            if found.surprise(task, budget):
                held = found.perplexity(task, budget, "control")
                yield _number(held, data=task, method=budget, measure="perplexity of held-out texts", better=Better.LOWER)
                apart = gap(found.surprise(task, budget, "control"), found.surprise(task, budget))
                yield _number(apart, data=task, method=budget, measure="gap")
            for side, shown in (("train", "training"), ("control", "held-out")):
                if own := found.nearest(task, budget, side):
                    yield Number.over(own, data=task, method=budget, measure=f"F1, nearest {shown} text")
        if own := found.scores(task, REWRITTEN, "f1", "own"):
            yield Number.over(own, data=task, method=REWRITTEN, measure="F1 with the original")
            kept = [share for one in found.filled(task, REWRITTEN) for share in one["kept"]]
            yield Number.over(kept, data=task, method=REWRITTEN, measure="share of words of the original")


def _pruned(found: Measured) -> Section:
    rows = []
    for rule in Rule:
        for ten in TENTHS:
            if one := found.pruned(rule, ten):
                bits = [bits_per_byte(one[which], one["bytes"]) for which in ("whole", "left")]
                speed = one["seconds"][0] / max(one["seconds"][1], 1e-9)
                gone = ", ".join(map(str, one["gone"]))
                rows.append(
                    (f"{rule}", f"{len(one['gone'])} of {one['layers']}", gone, *(f"{b:.3f}" for b in bits), f"{speed:.2f}")
                )
    heads = ("rule", "left out", "which (from 0)", "bits a byte, whole", "what is left", "times as fast")
    grid = Grid(title=f"Layers left out of {CAUSAL}, not healed", heads=heads, rows=tuple(rows))
    return Section(
        title="Pruning of a causal model", parts=(grid,) if rows else (),
        lead="Layers are judged by the cosines of public texts; bits are those of sentences of the development set of SST-2.",
    )  # fmt: skip


def _said(found: Measured) -> Section:
    parts = [
        Statements(title=f"{what} {task}", statements=own)
        for what, about in (("Classifiers:", statements.about_classifiers), ("Table 5.10:", statements.about_filled))
        for task in tasks.TASKS
        if (own := tuple(about(found, task)))
    ]
    pruned = tuple(statements.about_pruned(found, TENTHS))
    return Section(
        title="What the source says",
        parts=(*parts, *([Statements(title=f"Pruning of {CAUSAL}", statements=pruned)] if pruned else [])),
    )


def _number(own: Interval, **named: object) -> Number:
    ours, low, high = own
    return Number(ours=ours, low=low, high=high, **named)  # type: ignore[arg-type]
