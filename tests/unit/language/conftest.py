"""A tiny encoder and a file of public texts, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.language_models import sentences, tiny_encoder


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny encoder."""
    pytest.importorskip("transformers", reason="language models need transformers")
    return tiny_encoder(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty public sentences, one a line."""
    path = tmp_path_factory.mktemp("pool") / "public.txt"
    path.write_text("\n".join(sentences(60, seed=3)), encoding="utf-8")
    return path
