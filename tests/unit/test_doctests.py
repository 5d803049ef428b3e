"""The examples in the docstrings of the face run, and say what they say."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

FACE = ("hushtable", "hushtable.api.release", "hushtable.api.draw", "hushtable.notebook", "hushtable.estimators")


@pytest.mark.parametrize("name", FACE)
def test_the_examples_of_the_face_run(name):
    reported = doctest.testmod(import_module(name), optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert reported.attempted > 0
    assert reported.failed == 0
