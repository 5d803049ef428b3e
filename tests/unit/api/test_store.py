"""The store of long work: what is put is what is got, also after a stop, and a folder of other work is refused."""

from __future__ import annotations

import json

import pytest

from hushtable.api.store import Store
from hushtable.errors import InputError


def test_what_is_put_is_what_is_got_now_and_later(tmp_path):
    store = Store.open(tmp_path / "s", ["a setting"], [])
    assert not store.has("one")
    assert store.put("one", {"pair": (1, 2)}) == store.get("one") == {"pair": [1, 2]}
    assert json.loads((tmp_path / "s" / "cells" / "one.json").read_text()) == {"pair": [1, 2]}
    again = Store.open(tmp_path / "s", ["a setting"], [])
    assert again.has("one")
    assert again.get("one") == {"pair": [1, 2]}


@pytest.mark.parametrize("kept", [True, False])
def test_a_result_is_made_once(tmp_path, kept):
    store = Store.open(tmp_path / "s" if kept else None, [], [])
    calls = []

    def make():
        calls.append(1)
        return {"n": len(calls)}

    assert store.get_or_make("one", make) == store.get_or_make("one", make) == {"n": 1}
    with pytest.raises(InputError):
        store.get("two")


def test_a_folder_of_other_work_is_refused(tmp_path):
    Store.open(tmp_path / "s", ["a setting"], [])
    with pytest.raises(InputError, match="other rows, audits or settings"):
        Store.open(tmp_path / "s", ["another"], [])
