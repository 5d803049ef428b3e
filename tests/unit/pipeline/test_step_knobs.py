"""A step checks its knobs, and so does one that is derived from it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from hushtable.errors import InputError
from hushtable.synthesize.marginal.aim import Aim
from hushtable.synthesize.marginal.independent import Margins


@dataclass(frozen=True, kw_only=True)
class Plainer(Aim):
    """The same with another name."""


@dataclass(frozen=True, kw_only=True)
class Bare(Margins):
    """A parent without checks."""


def test_a_derived_step_keeps_the_checks_of_its_parent():
    with pytest.raises(InputError, match=r"Plainer\.way"):
        Plainer(way=0)
    assert Bare(share=2.0).share == 2.0
