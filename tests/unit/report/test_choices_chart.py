"""The drawing of judged choices: each has a mark of its kind, in its place, and says its numbers."""

import re

from hushtable.report.charts.choices import NAMES, Dot, key, scatter

DOTS = [Dot(0.5, 0.2, "unmet", "1 0"), Dot(0.25, 0.0, "here", "2 1"), Dot(0.3, 0.1, "searched")]


def test_every_choice_is_a_mark_that_says_its_numbers():
    drawn = scatter(DOTS, limit=0.05)
    titles = re.findall(r"<title>(.*?)</title>", drawn)
    assert f"{NAMES['unmet']} (levels 1 0): loss 0.5, 20 % suppressed" in titles
    assert f"{NAMES['searched']}: loss 0.3, 10 % suppressed" in titles
    assert "2 judged choices" in drawn


def test_what_is_looked_at_lies_uppermost_and_less_is_lower_and_to_the_left():
    drawn = scatter([*DOTS, Dot(0.1, 0.4, "met")], limit=0.05)
    assert drawn.rindex('class="hue1"') > drawn.rindex("<circle")
    (x, y), *_ = [(float(a), float(b)) for a, b in re.findall(r'class="ring stroke0" cx="([\d.]+)" cy="([\d.]+)"', drawn)]
    (right, low), *_ = [(float(a), float(b)) for a, b in re.findall(r'class="hue0" cx="([\d.]+)" cy="([\d.]+)"', drawn)]
    assert right > x
    assert low > y


def test_the_key_names_what_is_drawn_alone():
    named = key([dot.kind for dot in DOTS])
    assert [kind for kind, name in NAMES.items() if f"> {name}</li>" in named] == ["here", "unmet", "searched"]
