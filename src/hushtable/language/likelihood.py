"""How likely texts are to a model of language, where many of them begin alike."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

import torch  # noqa: TID253 - this module is imported only where it is used
from torch import Tensor  # noqa: TID253
from torch.nn import functional  # noqa: TID253

from hushtable.language.corpus import Corpus
from hushtable.language.nets import Language, padded
from hushtable.language.writing_net import Sequences
from hushtable.learn.loop import one_thread
from hushtable.table.table import Table

PART = 128
"""Texts at a time: of time and memory only."""


@torch.no_grad()
def log_likelihoods(language: Language, corpus: Corpus, texts: Sequence[str], rows: Table, length: int) -> list[float]:
    """The logarithm of the likelihood of each text after the prompt of the row beside it, in nats.

    What texts that stand next to one another in alphabetical order have in common (a prompt, the same first words) is read once for
    all of them: a canary with thousands of ends takes little more time than the ends.
    """
    bare = rows.select(rows.schema.without_text().names)
    found = Sequences.of(language, corpus, length, bare.with_text(corpus.schema[corpus.texts[0]], texts))
    order = sorted(range(len(texts)), key=lambda row: found.tokens[row])
    sums = [0.0] * len(texts)
    with one_thread():
        for start in range(0, len(order), PART):
            part = order[start : start + PART]
            likely = _likely(language, [found.tokens[row] for row in part], [found.written[row] for row in part])
            for row, own in zip(part, likely.tolist(), strict=True):
                sums[row] = own
    return sums


def _likely(language: Language, tokens: list[list[int]], written: list[list[bool]]) -> Tensor:
    """For each sequence, in alphabetical order, the sum over the tokens that are written."""
    # The last token of a sequence is given to nothing, and each has one of its own at least.
    shared = min(_common(tokens[0], tokens[-1]), min(map(len, tokens)) - 1)
    ids, shown = padded([own[shared:] for own in tokens], language.end)
    marks = torch.zeros(ids.shape, dtype=torch.bool)
    for row, own in enumerate(written):
        marks[row, : len(own) - shared] = torch.tensor(own[shared:], dtype=torch.bool)
    if not shared:
        return _sums(language, _states(language, ids[:, :-1], None), ids[:, 1:], marks[:, 1:])
    cache = _cache(language)
    first = torch.tensor([tokens[0][:shared]])
    before = _states(language, first, cache)
    likely = _sums(language, before[:, :-1], first[:, 1:], torch.tensor([written[0][1:shared]], dtype=torch.bool))
    last = before[:, -1:].expand(len(tokens), -1, -1)
    if ids.shape[1] > 1:
        cache.batch_repeat_interleave(len(tokens))
        last = torch.cat([last, _states(language, ids[:, :-1], cache)], dim=1)
    return likely + _sums(language, last, ids, marks & shown)


def _common(one: list[int], other: list[int]) -> int:
    """How many tokens two sequences begin with alike: the first and the last of some in order have the fewest."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _cache(language: Language):  # type: ignore[no-untyped-def]
    from transformers import DynamicCache

    return DynamicCache(config=language.net.config)  # type: ignore[arg-type]


def _states(language: Language, ids: Tensor, cache: object) -> Tensor:
    states: Tensor = language.net.base_model(  # type: ignore[operator]
        input_ids=ids, past_key_values=cache, use_cache=cache is not None
    ).last_hidden_state
    return states


def _sums(language: Language, states: Tensor, wanted: Tensor, marks: Tensor) -> Tensor:
    """The logarithms of the likelihood of the marked tokens, summed over each row."""
    logits = language.net.get_output_embeddings()(states[marks]).float()  # type: ignore[operator]
    rows = torch.arange(len(wanted))[:, None].expand(wanted.shape)[marks]
    return -torch.zeros(len(wanted)).index_add(0, rows, functional.cross_entropy(logits, wanted[marks], reduction="none"))
