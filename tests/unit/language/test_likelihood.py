"""The likelihood of texts, worked out at once for many that begin alike, against one pass for each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="networks need torch")
pytest.importorskip("transformers", reason="language models need transformers")

from hushtable.language import likelihood  # noqa: E402
from hushtable.language.corpus import Corpus  # noqa: E402
from hushtable.language.models import Sort, checkpoint  # noqa: E402
from hushtable.language.nets import Language  # noqa: E402
from hushtable.language.writing_net import Sequences  # noqa: E402
from tests.language_models import labelled, tiny_causal  # noqa: E402

pytestmark = pytest.mark.neural


@pytest.fixture(scope="module")
def language(tmp_path_factory):
    return Language.load(checkpoint(str(tiny_causal(tmp_path_factory.mktemp("models") / "tiny")), Sort.CAUSAL, "test"))


def by_itself(language, prompt: str, text: str, length: int) -> float:
    """The textbook's sum, one pass for one text."""
    first, own = (language.tokens([part])[0] for part in (prompt, text))
    own = own[:length] if len(own) >= length else [*own, language.end]
    with torch.no_grad():
        logs = language.net(input_ids=torch.tensor([first + own])).logits[0].log_softmax(-1)
    return float(sum(logs[len(first) + place - 1, token] for place, token in enumerate(own)))


@pytest.mark.parametrize("part", [1, 3, 128])
def test_it_is_the_sum_over_the_tokens_of_the_text(language, monkeypatch, part):
    monkeypatch.setattr(likelihood, "PART", part)
    rows = labelled(12)
    corpus = Corpus(rows.schema, ("note",), chat=False)
    begun = "the lamp in the garden was"
    texts = [
        "",
        "",
        "a",
        f"{begun} calm",
        f"{begun} rude and old",
        begun,
        begun,
        "日本語 😀",
        "word " * 50,
        "zz",
        "good",
        "the train",
    ]
    found = likelihood.log_likelihoods(language, corpus, texts, rows, 16)
    expected = [by_itself(language, prompt, text, 16) for prompt, text in zip(corpus.prompts(rows), texts, strict=True)]
    assert np.allclose(found, expected, atol=1e-3)


def test_ends_of_one_text_are_read_with_their_beginning_once(language):
    rows = labelled(9).take(np.full(40, 5))
    corpus = Corpus(rows.schema, ("note",), chat=False)
    texts = [f"the lamp in the garden was {number}" for number in range(40)]
    read = []
    hook = language.net.base_model.register_forward_pre_hook(
        lambda net, args, given: read.append(given["input_ids"].numel()), with_kwargs=True
    )
    likelihood.log_likelihoods(language, corpus, texts, rows, 32)
    hook.remove()
    alone = sum(len(language.tokens([prompt + text])[0]) for prompt, text in zip(corpus.prompts(rows), texts, strict=True))
    assert sum(read) < alone / 5


def test_no_text_has_no_likelihood(language):
    rows = labelled(9)
    assert likelihood.log_likelihoods(language, Corpus(rows.schema, ("note",), chat=False), [], rows.take(np.arange(0)), 8) == []


def test_a_prompt_is_learnt_as_it_is_written_after_whatever_the_length_of_a_text(language):
    rows = labelled(12)
    corpus = Corpus(rows.schema, ("note",), chat=False)
    learnt = Sequences.of(language, corpus, 4, rows)
    for prompt, tokens, marks in zip(corpus.prompts(rows), learnt.tokens, learnt.written, strict=True):
        first = language.tokens([prompt])[0]
        assert tokens[: len(first)] == first
        assert sum(marks) == len(tokens) - len(first) <= 4


def test_a_row_that_is_too_long_loses_the_beginning_of_its_prompt(language):
    rows = labelled(12)
    corpus = Corpus(rows.schema, ("note",), chat=False)
    many = replace(rows.schema, title="words and " * 60)
    learnt = Sequences.of(language, replace(corpus, schema=many), 8, rows)
    for row, (tokens, marks) in enumerate(zip(learnt.tokens, learnt.written, strict=True)):
        assert len(tokens) == language.longest
        text = rows.strings("note")[row]
        assert marks == sorted(marks)
        assert any(marks) == (text is not None)
