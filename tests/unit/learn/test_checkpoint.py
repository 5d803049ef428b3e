"""A training that was stopped goes on where it was, to the same bits."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="networks need torch")

from hushtable.checks import example  # noqa: E402
from hushtable.learn.checkpoint import Checkpoint  # noqa: E402
from hushtable.learn.loop import Descent, seeded, split  # noqa: E402

pytestmark = pytest.mark.neural
TABLE = example(60)
HOW = Descent(rate=1e-2, batch=16, epochs=6, cycle=True, decay=1e-4)


class Stopped(KeyboardInterrupt):
    """Ctrl-C."""


def train(keep: Checkpoint | None, stop: int = 10**9, how: Descent = HOW):
    """A net with dropout, stopped before its so-manieth step; its weights and its curve."""
    taken = 0

    def loss(rows):
        nonlocal taken
        taken += net.training
        if taken > stop:
            raise Stopped
        return (net(given[rows]) - given[rows, :1]).square().mean()

    with seeded(3):
        net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Dropout(0.3), torch.nn.Linear(8, 1))
        given = torch.randn(80, 4)
        rows, held = split(80)
        curve = how.fit(net, loss, rows, held, keep=keep)
    return [p.detach().clone() for p in net.parameters()], curve, taken


def place(folder, step="step", table=TABLE, seed=3, name=""):
    return Checkpoint.of(folder, step, table, seed, name)


@pytest.mark.parametrize("stop", [0, 1, 7, 12, 23])
def test_it_ends_in_the_same_bits_wherever_it_was_stopped(tmp_path, stop):
    whole, curve, steps = train(None)
    keep = place(tmp_path / "work")
    with pytest.raises(Stopped):
        train(keep, stop)
    assert [path.suffix for path in (tmp_path / "work").iterdir()] in ([], [".npz"])  # nothing half-written
    again, same, taken = train(keep)
    assert same == curve
    assert all(torch.equal(one, two) for one, two in zip(whole, again, strict=True))
    assert taken == steps - stop // 5 * 5  # from the last finished epoch on
    finished, _, none = train(keep)
    assert none == 0
    assert all(torch.equal(one, two) for one, two in zip(whole, finished, strict=True))


def test_patience_is_kept_too(tmp_path):
    how = Descent(rate=0.5, batch=16, epochs=40, patience=2)
    whole, curve, _ = train(None, how=how)
    with pytest.raises(Stopped):
        train(place(tmp_path), 11, how)
    again, same, _ = train(place(tmp_path), how=how)
    assert same == curve
    assert all(torch.equal(one, two) for one, two in zip(whole, again, strict=True))


def test_only_the_same_training_goes_on(tmp_path):
    other = example(60, 1)
    places = [
        place(tmp_path),
        place(tmp_path, step="other"),
        place(tmp_path, table=other),
        place(tmp_path, table=TABLE.take(np.arange(59))),
        place(tmp_path, table=TABLE.select(TABLE.schema.names[:2])),
        place(tmp_path, seed=4),
        place(tmp_path, name="critic"),
    ]
    assert len({one.path for one in places}) == len(places)
    assert place(tmp_path) == places[0]
    assert place(None) is None


def test_the_folder_and_its_files_are_their_owners_alone(tmp_path):
    keep = place(tmp_path / "work")
    keep.save({"least": float("inf"), "curve": [[1.0, None]], "weights": {3: torch.arange(4)}, "betas": (0.9, 0.99)})
    assert keep.path.parent.stat().st_mode & 0o777 == 0o700
    assert keep.path.stat().st_mode & 0o777 == 0o600
    read = keep.load()
    assert read is not None
    assert torch.equal(read.pop("weights")[3], torch.arange(4))
    assert read == {"least": float("inf"), "curve": [[1.0, None]], "betas": (0.9, 0.99)}


@pytest.mark.parametrize("damage", [b"", b"PK", b"nonsense"])
def test_a_damaged_file_is_no_place_to_go_on_from(tmp_path, damage):
    keep = place(tmp_path)
    keep.path.write_bytes(damage)
    assert keep.load() is None
    assert len(train(keep)[1]) == 6
    assert keep.load() is not None
