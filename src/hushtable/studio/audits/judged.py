"""A number with its verdict, as shape and words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hushtable.report.html import Html, element, join


def judged(line: Mapping[str, Any], name: str) -> Html:
    """The name of a number, and under it the verdict."""
    shape = element("span", line["shape"], aria_hidden="true")
    return join(element("span", name), element("span", shape, f" {line['verdict']}", class_=f"verdict {line['tone']}"))
