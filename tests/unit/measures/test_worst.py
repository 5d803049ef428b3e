"""The worst part beside a mean: which one it is, and that none is invented."""

from __future__ import annotations

from typing import Any

import pytest

from hushtable.evidence.finding import Better, Finding
from hushtable.measures.worst import Worst, worst_part


def finding(name: str, value: float | None, scope: str = "", better: Better = Better.LOWER, **detail: Any) -> Finding:
    return Finding.from_json(
        {"name": name, "value": value, "scope": scope, "better": better, "subject": "utility", "detail": detail}
    )


def test_the_worst_column_of_a_mean_is_by_its_direction():
    columns = [finding("TVD", 0.1, "a"), finding("TVD", 0.3, "b"), finding("TVD", None, "c"), finding("KS", 0.9, "d")]
    assert worst_part(finding("mean TVD", 0.2), columns) == Worst("b", 0.3)
    kept = [finding("kept", 0.9, "a", Better.HIGHER), finding("kept", 0.4, "b", Better.HIGHER)]
    assert worst_part(finding("kept", 0.7, better=Better.HIGHER), kept) == Worst("b", 0.4)


def test_the_worst_pair_comes_from_what_the_mean_itself_brought():
    near = [[1.0, 0.2, 0.3], [0.2, 1.0, 0.9], [0.3, 0.9, 1.0]]
    far = [[1.0, 0.2, 0.3], [0.2, 1.0, 0.4], [0.3, 0.4, 1.0]]
    whole = finding("association difference", 0.2, columns=["a", "b", "c"], train=near, release=far)
    assert worst_part(whole, []) == Worst("b and c", pytest.approx(0.5))
    measured = finding("mean pair TVD", 0.2, columns=["a", "b"], distance=[[0.0, 0.3], [0.3, 0.0]])
    assert worst_part(measured, []) == Worst("a and b", 0.3)


@pytest.mark.parametrize(
    "detail", [{}, {"columns": ["a", "b"]}, {"columns": ["a", "b"], "distance": [[None], "x"]}, {"columns": 3}]
)
def test_where_no_part_is_known_there_is_none(detail):
    assert worst_part(finding("mean pair TVD", 0.2, **detail), [finding("TVD", 0.1, "a")]) is None
    assert worst_part(finding("TVD", 0.2, "a"), [finding("TVD", 0.3, "b")]) is None, "a part is no mean"
