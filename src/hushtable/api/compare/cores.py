"""How many processes a comparison starts unless a number is asked for."""

from __future__ import annotations

import os

MOST = 4
"""Processes side by side unless more are asked for: each holds the split, a release and its models."""


def usual_workers() -> int:
    """One for each core that this process may use, and no more than ``MOST``."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(MOST, cores)
