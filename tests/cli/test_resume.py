"""A release that is stopped: nothing half-written, exit code 130, and how to go on."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from hushtable.synthesize.sequential.sequential import Sequential


@pytest.fixture
def stopped(monkeypatch):
    """Trees that are interrupted once; what happens afterwards is as usual."""
    fit, calls = Sequential.fit, []

    def interrupted(self, vault, rng):
        calls.append(vault.work)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return fit(self, vault, rng)

    monkeypatch.setattr(Sequential, "fit", interrupted)


def command(town, out):
    return ("release", town / "people.csv", "--schema", town / "schema.yaml", "--recipe", "sequential", "--out", out)


def words(text):
    return " ".join(text.split())


def test_a_stop_says_that_nothing_was_released_and_how_to_go_on(hush, town, tmp_path, stopped):
    code, _, err = hush(*command(town, tmp_path / "out"))
    assert code == 130
    assert "nothing was released; with --resume DIR the training of a network goes on" in words(err)
    assert list(tmp_path.iterdir()) == []


def test_the_same_command_goes_on_from_the_folder(hush, town, tmp_path, stopped):
    code, _, err = hush(*command(town, tmp_path / "out"), "--resume", tmp_path / "work")
    assert code == 130
    assert f"is kept in {tmp_path / 'work'}: the same command goes on from there" in words(err)
    assert [path.name for path in tmp_path.iterdir()] == ["work"]
    code, out, _ = hush(*command(town, tmp_path / "out"), "--resume", tmp_path / "work")
    assert code == 0
    assert "holds what the run kept: delete it, or keep it private" in words(out)
    again, _, _ = hush(*command(town, tmp_path / "again"), "--resume", tmp_path / "work")
    assert again == 0
    assert (tmp_path / "out" / "data.csv").read_bytes() == (tmp_path / "again" / "data.csv").read_bytes()


def test_rows_that_are_held_out_are_the_same_after_a_stop(hush, town, tmp_path, stopped):
    hush(*command(town, tmp_path / "out"), "--resume", tmp_path / "work", "--hold-out", 0.2)
    splits = []
    for name in ("out", "again"):
        assert hush(*command(town, tmp_path / name), "--resume", tmp_path / "work", "--hold-out", 0.2)[0] == 0
        splits.append((tmp_path / f"{name}.private" / "control.csv").read_bytes())
    assert splits[0] == splits[1]


@pytest.mark.parametrize("place", ["out", "out/work"])
def test_the_folder_lies_beside_the_release(hush, town, tmp_path, place):
    code, _, err = hush(*command(town, tmp_path / "out"), "--resume", tmp_path / place)
    assert code == 2
    assert "name one outside of it" in words(err)
    assert not (tmp_path / "out").exists()


def test_a_budget_goes_on_with_what_it_has_paid_for(hush, town, tmp_path):
    made = []
    for name in ("out", "again"):
        words = [*command(town, tmp_path / name), "--resume", tmp_path / "work", "--epsilon", 1, "--delta", 1e-6, "--hold-out", 0.2]
        words[words.index("sequential")] = "mst"
        code, _, err = hush(*words)
        assert code == 0, err
        made.append([(tmp_path / place).read_bytes() for place in (f"{name}/data.csv", f"{name}.private/control.csv")])
    assert made[0] == made[1]


@pytest.mark.neural
def test_a_signal_in_the_middle_of_an_epoch_leaves_nothing_half_written(town, tmp_path):
    knobs = ("epochs=100000", "patience=100000", "hidden=4", "embedding=2")
    words = [*command(town, tmp_path / "out"), "--resume", tmp_path / "work", *(word for knob in knobs for word in ("--set", knob))]
    words[words.index("sequential")] = "argn"
    run = subprocess.Popen([sys.executable, "-m", "hushtable.cli", *map(str, words)], stderr=subprocess.PIPE, text=True)
    try:
        for _ in range(600):
            # A hidden file is one that is still written.
            if list((tmp_path / "work").glob("[!.]*.npz")) or run.poll() is not None:
                break
            time.sleep(0.1)
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=60)
    finally:
        run.kill()
    assert run.returncode == 130
    assert "nothing was released" in err
    assert "the same command goes on from there" in " ".join(err.split())
    assert [path.name for path in tmp_path.iterdir()] == ["work"]
    assert sorted(path.suffix for path in (tmp_path / "work").iterdir()) == [".json", ".npz"]
