"""Numbers as they are shown, and markup that cannot forget to escape."""

from __future__ import annotations

import math

import pytest

from hushtable.display import listed
from hushtable.report import words
from hushtable.report.html import Html, element, join


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"), (0, "0"), (0.0, "0"), (30000, "30,000"), (True, "yes"), (0.170133, "0.17"), (0.0001234, "0.000123"),
        (7.6e-5, "7.6 × 10⁻⁵"), (1e-6, "10⁻⁶"), (5887.78, "5,890"), (60001.0, "60,001"), (999.6, "1,000"), (-0.5, "−0.5"),
        (1e20, "10²⁰"),
        (math.inf, "infinite"), (math.nan, "not a number"), ("infinity", "infinity"), (100.0, "100"),
    ],
)  # fmt: skip
def test_numbers(value: object, text: str) -> None:
    assert words.number(value) == text


def test_shares_and_intervals() -> None:
    assert words.share(0.17013) == "17 %"
    assert words.share(None) == "–"
    assert words.interval(0.1, 0.25) == "0.1 to 0.25"
    assert words.interval(0.1, 0.25, percent=True) == "10 to 25 %"
    assert words.interval(None, 0.25) == ""


def test_lists() -> None:
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(list("abcdef"), 3) == "a, b, c and 3 more columns"
    assert listed(list("abcd"), 3) == "a, b, c and d"
    assert words.runs(["margin", "tree", "tree", 1, 1.5]) == "margin, tree × 2, 1, 1.5"
    assert words.runs([1, True]) == "1, yes"


def test_text_is_cut_to_its_room() -> None:
    assert words.fit("short", 100) == "short"
    cut = words.fit("a very long column name indeed", 60)
    assert cut.endswith("…")
    assert len(words.fit("診断コード名称がとても長い", 60)) < len(cut)


def test_plain_text_is_escaped_and_markup_is_not() -> None:
    assert element("p", "<b>", class_='"') == '<p class="&quot;">&lt;b&gt;</p>'
    assert element("p", element("b", "x")) == "<p><b>x</b></p>"
    assert element("p", f"{element('b', 'x')}") == "<p>&lt;b&gt;x&lt;/b&gt;</p>", "markup that became text is shown, never trusted"
    assert join(None, ["a", ["<"]], 3) == "a&lt;3"
    assert element("p", hidden=True, id=None, x=1.256) == '<p hidden x="1.26"></p>'
    assert isinstance(element("p"), Html)


def test_invisible_characters_become_visible() -> None:
    assert element("p", "a\u202eb\x00c\ud800d\n") == "<p>a\ufffdb\ufffdc\ufffdd\n</p>"
