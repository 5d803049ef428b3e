"""What a user reads who loses a budget to an error, to an interrupt, or to a lack of memory."""

from __future__ import annotations

import json
import re

import pytest

from hushtable.errors import InputError
from hushtable.synthesize.marginal.independent import Margins

# Calibrated noise leaves up to 0.2 % of epsilon unspent.
SPENT = re.compile(r"The budget is spent although nothing was released: epsilon (1|0\.99[89]\d*) at delta")


@pytest.fixture
def failing(monkeypatch):
    """Margins that end in this error once they are paid for."""

    def with_error(error: BaseException) -> None:
        fit = Margins.fit

        def failed(self, vault, rng):
            fit(self, vault, rng)
            raise error

        monkeypatch.setattr(Margins, "fit", failed)

    return with_error


@pytest.mark.parametrize(
    ("error", "exit_code"), [(InputError("no model"), 2), (MemoryError("no room"), 2), (KeyboardInterrupt(), 130)]
)
def test_a_budget_that_is_lost_is_spoken_of(hush, town, failing, tmp_path, error, exit_code):
    failing(error)
    words = ["release", town / "people.csv", "--schema", town / "schema.yaml", "--out", tmp_path / "out"]
    code, _, err = hush(*words, "--recipe", "independent", "--epsilon", 1)
    assert code == exit_code
    assert SPENT.search(" ".join(err.split()))
    assert not (tmp_path / "out").exists()


def test_programs_find_it_among_the_notes(hush, town, failing, tmp_path):
    failing(InputError("no model"))
    words = ["release", town / "people.csv", "--schema", town / "schema.yaml", "--out", tmp_path / "out"]
    _, out, _ = hush(*words, "--recipe", "independent", "--epsilon", 1, "--json")
    (note,) = json.loads(out)["notes"]
    assert SPENT.match(note)
