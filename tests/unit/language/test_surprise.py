"""Bits of texts under a causal model, and vectors of tokens under an encoder."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.language.models import Sort, checkpoint
from tests.language_models import sentences, tiny_causal

pytestmark = pytest.mark.neural


@pytest.fixture(scope="module")
def causal(tmp_path_factory):
    pytest.importorskip("transformers", reason="language models need transformers")
    from hushtable.language.nets import Language

    return Language.load(checkpoint(str(tiny_causal(tmp_path_factory.mktemp("models") / "tiny")), Sort.CAUSAL, "test"))


def test_bits_are_those_of_each_text_alone(causal):
    import torch

    from hushtable.language.surprise import bits

    texts = ["", "a", *sentences(20, seed=4), "日本語 😀"]
    found, sizes = bits(causal, texts)
    assert sizes.tolist() == [len(text.encode()) for text in texts]
    for text, own in zip(texts, found, strict=True):
        ids = torch.tensor([[causal.end, *causal.tokenizer.encode(text).ids]])
        with torch.no_grad():
            oracle = float(causal.net(input_ids=ids, labels=ids).loss) * (ids.shape[1] - 1) / np.log(2) if ids.shape[1] > 1 else 0
        assert own == pytest.approx(oracle, abs=1e-3)


def test_of_a_long_text_the_beginning_counts(causal):
    from hushtable.language.surprise import bits

    long = " ".join(sentences(40))
    found, sizes = bits(causal, [long], 10)
    begun = causal.text(causal.tokenizer.encode(long).ids[:10])
    assert sizes[0] == len(begun.encode())
    assert found[0] == pytest.approx(bits(causal, [begun], 10)[0][0], rel=1e-3)


def test_vectors_are_those_of_words_in_their_text(encoder):
    from hushtable.language.nets import Language

    language = Language.load(checkpoint(str(encoder), Sort.ENCODER, "test"))
    one = language.vectors("the letter in the ward")
    assert one.shape == (5, 32)
    assert not np.allclose(one[0], one[3])
    assert np.allclose(language.vectors("the letter in the ward"), one)
    assert language.vectors("").shape == (0, 32)
    assert len(language.vectors("the letter " * 100, 10)) == 9
