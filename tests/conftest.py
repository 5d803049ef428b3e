"""Fixtures shared by all tests: real data when it is there, and small tables made on the spot."""

from __future__ import annotations

import os
from pathlib import Path

# Two workers run the tests: threads of their own would only wait for one another.
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")
# Compiled kernels keep their threads, so that tests see them; those that wait sleep, where by default they keep a core busy.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import pytest
from hypothesis import settings

from hushtable.checks import example
from hushtable.table.table import Table

# The same examples in every run: a failure is a failure of the code, never of the day.
settings.register_profile("steady", derandomize=True, deadline=None, database=None)
settings.load_profile("steady")

ROOT = Path(__file__).resolve().parent.parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that train networks come first: one worker gets them, and it alone loads what torch loads when first used.

    Then those on Spark, so that one worker starts it.
    """
    first = ("neural", "spark")
    items.sort(key=lambda item: next((place for place, name in enumerate(first) if item.get_closest_marker(name)), len(first)))


def data_folder() -> Path | None:
    """The folder of real data: from HUSHTABLE_DATA, or beside the project."""
    candidates = [Path(os.environ["HUSHTABLE_DATA"])] if "HUSHTABLE_DATA" in os.environ else [ROOT.parent / "shared" / "data"]
    return next((folder for folder in candidates if folder.is_dir()), None)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real tables; the test is skipped where it is absent."""
    folder = data_folder()
    if folder is None:
        pytest.skip("real data not found: set HUSHTABLE_DATA to the folder that holds adult/ and the others")
    return folder


@pytest.fixture(scope="session")
def adult(real_data: Path) -> Table:
    """All 48,842 rows of Adult under a declared schema."""
    from hushtable.data.datasets import load

    return load("adult", real_data)


@pytest.fixture
def small() -> Table:
    """120 rows of every kind, declared."""
    return example()


@pytest.fixture(scope="session")
def models_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tiny checkpoints with random weights, under the names of the models that can be installed."""
    pytest.importorskip("transformers", reason="models of language need the extra 'language'")
    from tests.language_models import tiny_causal, tiny_encoder

    folder = tmp_path_factory.mktemp("models")
    tiny_causal(folder / "smollm2")
    tiny_encoder(folder / "minilm")
    return folder


@pytest.fixture
def installed_models(models_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, found by their names."""
    monkeypatch.setenv("HUSHTABLE_MODELS", str(models_folder))
    return models_folder
