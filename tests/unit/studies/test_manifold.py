"""The study of manifold anonymization: every method in both questions, published rows beside ours, and no data without a word."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.errors import InputError
from hushtable.studies import manifold as manifold_study
from hushtable.studies.manifold import METHODS, PUBLISHED, run, text


@pytest.mark.nightly
def test_rows_of_every_method_and_the_published_ones_beside_them(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    labels = np.arange(90) % 6
    values = rng.normal(size=(90, 4)) + labels[:, None]
    lines = [f"{','.join(map(str, v))},{label}" for v, label in zip(values, labels, strict=True)]
    (tmp_path / "small.csv").write_text("a,b,c,d,target\n" + "\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.setattr(manifold_study, "FILES", {"madelon": (("small.csv",), "target", ())})
    monkeypatch.setattr(manifold_study, "NAMES", ("madelon",))
    collected: list[str] = []
    rows = run(tmp_path, lambda what, done: collected.append(what))
    assert [(r.method, r.tested) for r in rows] == [
        ("none", "raw"),
        *((m, t) for m in METHODS for t in ("as published", "on real rows")),
    ]
    assert len(collected) == len(rows)
    assert all(0 <= r.accuracy <= 1 for r in rows)
    assert rows[0].accuracy > 0.3
    assert all(r.stress is not None and r.stress_scaled <= min(1, r.stress + 1e-9) for r in rows if r.tested == "as published")
    assert rows[5].published == PUBLISHED["Madelon"]["M-ISOMDAV"]
    page = text(rows)
    assert "Madelon: 62.18 62.25 62.19 0.28" in page
    assert len(page.splitlines()) == 1 + len(rows) + 1 + 4


def test_without_data_it_says_where_to_put_it(tmp_path, monkeypatch):
    monkeypatch.setattr(manifold_study, "NAMES", ("madelon",))
    with pytest.raises(InputError, match="HUSHTABLE_DATA"):
        run(tmp_path)
