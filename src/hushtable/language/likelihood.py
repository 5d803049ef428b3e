"""How likely texts are to a model of language, where many of them begin alike."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, takewhile
from typing import Any

import torch  # noqa: TID253 - this module is imported only where it is used
from torch import Tensor  # noqa: TID253

from hushtable.language.corpus import Corpus
from hushtable.language.nets import Language
from hushtable.language.writing_net import Sequences
from hushtable.learn.loop import one_thread
from hushtable.table.table import Table

PART = 256
"""Texts at a time: of time and memory only."""


@torch.no_grad()
def log_likelihoods(language: Language, corpus: Corpus, texts: Sequence[str], rows: Table, length: int) -> list[float]:
    """The logarithm of the likelihood of each text after the prompt of the row beside it, in nats.

    What texts have in common from the beginning (a prompt, the same first words) is read once for those that stand next to one
    another in alphabetical order: a canary with thousands of ends takes little more time than the ends.
    """
    bare = rows.select(rows.schema.without_text().names)
    found = Sequences.of(language, corpus, length, bare.with_text(corpus.schema[corpus.texts[0]], texts))
    sums = [0.0] * len(texts)
    order = sorted((row for row in range(len(texts)) if any(found.written[row])), key=lambda row: found.tokens[row])
    with one_thread():
        for _, alike in groupby(order, key=lambda row: found.tokens[row][0]):
            own = list(alike)
            for part in (own[start : start + PART] for start in range(0, len(own), PART)):
                likely = _likely(language, [found.tokens[row] for row in part], [found.written[row] for row in part])
                for row, sum_ in zip(part, likely, strict=True):
                    sums[row] = sum_
    return sums


def _likely(language: Language, tokens: list[list[int]], written: list[list[bool]]) -> list[float]:
    """For each sequence, in alphabetical order and with one first token, the sum over the tokens that are written."""
    from transformers import DynamicCache

    cache = DynamicCache(config=language.net.config)  # type: ignore[arg-type]
    sums = torch.zeros(len(tokens))
    place = 0
    nodes = [0] * len(tokens)
    """For each sequence the beginning that it shares, by its number."""
    ids = torch.tensor([tokens[0][: max(1, _common(tokens[0], tokens[-1]))]])
    while True:
        states = _states(language, ids, cache)
        for step in range(ids.shape[1]):
            place += 1
            _add(language, states[:, step], nodes, place, tokens, written, sums)
        numbers: dict[tuple[int, int], int] = {}
        reached = [
            numbers.setdefault((node, own[place]), len(numbers)) if node >= 0 and len(own) > place + 1 else -1
            for node, own in zip(nodes, tokens, strict=True)
        ]
        if not numbers:
            return sums.tolist()
        # What is read next continues what was read before, one token each.
        cache.batch_select_indices(torch.tensor([node for node, _ in numbers]))
        ids, nodes = torch.tensor([[token] for _, token in numbers]), reached


def _add(
    language: Language,
    states: Tensor,
    nodes: list[int],
    place: int,
    tokens: list[list[int]],
    written: list[list[bool]],
    sums: Tensor,
) -> None:
    """Add what the tokens at a place say, of the sequences in which that is to be written, given the states before it."""
    rows = [row for row, node in enumerate(nodes) if node >= 0 and len(tokens[row]) > place and written[row][place]]
    if rows:
        needed = sorted({nodes[row] for row in rows})
        which = {node: number for number, node in enumerate(needed)}
        logits: Any = language.net.get_output_embeddings()(states[needed])  # type: ignore[operator]
        logs = logits.float().log_softmax(1)
        sums[rows] += logs[[which[nodes[row]] for row in rows], [tokens[row][place] for row in rows]]


def _common(one: list[int], other: list[int]) -> int:
    """How many tokens two sequences begin with alike: the first and the last of some in order have the fewest."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _states(language: Language, ids: Tensor, cache: object) -> Tensor:
    states: Tensor = language.net.base_model(  # type: ignore[operator]
        input_ids=ids, past_key_values=cache, use_cache=True
    ).last_hidden_state
    return states
